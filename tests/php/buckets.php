<?php
// SPDX-License-Identifier: BSD-2-Clause
/*
 * buckets.php WHERE AT CLASS BUCKET < LINES: a class of wild.php, or the one of tools/php/classes that takes its place.
 *
 * WHERE AT is `wild PORT`, the former by phpredis; or the latter: `store PATH`, `phpredis PORT`, `predis PORT` or `cluster PORT`.
 * A line is `add` or `exists` and keys in hexadecimal, separated by spaces; of several keys, our class gets an array.
 * Prints 1 (new; there) or 0 for each key, in one line.  For the line `items` it prints their number, and for a call of a
 * server that fails the server's words.
 */
require __DIR__ . '/wild.php';
require __DIR__ . '/../../tools/php/classes/autoload.php';

final class Comments extends Tamis\Buckets\Bucket
{
    protected $hashFunction = ['BKDRHash', 'SDBMHash', 'JSHash'];
    protected $length = 1000003;
}

final class Eight extends Tamis\Buckets\Bucket
{
    protected $hashFunction = ['JSHash', 'PJWHash', 'ELFHash', 'BKDRHash', 'SDBMHash', 'DJBHash', 'DEKHash', 'FNVHash'];
    protected $length = 8192;
}

function redis(int $port): Redis
{
    $redis = new Redis();
    $redis->connect('127.0.0.1', $port);
    $redis->setOption(Redis::OPT_PREFIX, 'app:');
    return $redis;
}

function predis(int $port): Predis\Client
{
    require 'Predis/autoload.php';
    return new Predis\Client(['host' => '127.0.0.1', 'port' => $port], ['prefix' => 'app:']);
}

function cluster(int $port): RedisCluster
{
    $cluster = new RedisCluster(null, ["127.0.0.1:$port"]);
    $cluster->setOption(Redis::OPT_PREFIX, 'app:');
    return $cluster;
}

[, $where, $at, $class, $bucket] = $argv;
if ($where === 'wild') {
    $class = "Wild$class";
    $filter = new $class(redis((int) $at), $bucket);
} else {
    $on = match ($where) {
        'store' => new Tamis\Store($at, create: false),
        'phpredis' => redis((int) $at),
        'predis' => predis((int) $at),
        'cluster' => cluster((int) $at),
    };
    if ($where === 'store') {
        $bucket = "app:$bucket";
    }
    $filter = $class === 'Random'
        ? new Tamis\Buckets\RandomBucket($on, $bucket, 10000, 1000)
        : new $class($on, $bucket);
}
while (($line = fgets(STDIN)) !== false) {
    $keys = explode(' ', rtrim($line, "\n"));
    $what = array_shift($keys);
    $keys = array_map(hex2bin(...), $keys);
    try {
        if ($what === 'items') {
            $answers = [$filter->items()];
        } elseif ($where === 'wild') {
            $answers = array_map(fn($key) => $what === 'add' ? in_array(0, $filter->add($key), true) : $filter->exists($key),
                                 $keys);
        } else {
            $answers = count($keys) === 1 ? [$filter->$what($keys[0])] : $filter->{$what . 'Many'}($keys);
        }
        echo implode(' ', array_map(intval(...), $answers)), "\n";
    } catch (Tamis\Buckets\ServerException $e) {
        echo $e->getMessage(), "\n";
    }
}
