<?php
// SPDX-License-Identifier: BSD-2-Clause
/*
 * measure.php STORE PORT MODULE-PORT KEYS FEW: one round for bench_php.py.  PORT is of a plain redis-server, MODULE-PORT of
 * one with the module.  KEYS keys for the store, FEW for the servers.  Prints {what: nanoseconds a key} as JSON: by the
 * clock for servers, of the processor for the store.
 */
require __DIR__ . '/../../php/wild.php';
require __DIR__ . '/../../../tools/php/classes/autoload.php';

const BATCH = 1000;

final class Wild extends BloomFilterRedis
{
    protected $hashFunction = ['bkdr', 'sdbm', 'js'];
    protected $length = 1 << 27;
}

/** The same, but for one MULTI for many keys instead of one for each. */
final class WildPipelined extends BloomFilterRedis
{
    protected $hashFunction = ['bkdr', 'sdbm', 'js'];
    protected $length = 1 << 27;

    public function __construct(private Redis $client, $bucket)
    {
        parent::__construct($client, $bucket);
    }

    private function send(array $keys, string $command, ...$more): array
    {
        $pipe = $this->client->multi(Redis::PIPELINE);
        foreach ($keys as $key) {
            foreach ($this->positions($key) as $position) {
                $pipe->$command($this->bucket, $position, ...$more);
            }
        }
        return $pipe->exec();
    }

    public function addMany(array $keys): array
    {
        return array_map(fn(array $bits) => in_array(0, $bits, true),
                         array_chunk($this->send($keys, 'setBit', true), count($this->hashFunction)));
    }

    public function existsMany(array $keys): array
    {
        return array_map(fn(array $bits) => !in_array(0, $bits, true),
                         array_chunk($this->send($keys, 'getBit'), count($this->hashFunction)));
    }
}

final class Ours extends Tamis\Buckets\Bucket
{
    protected $bucket = 'ours';
    protected $hashFunction = ['BKDRHash', 'SDBMHash', 'JSHash'];
    protected $length = 1 << 27;
}

function connect(string $port): Redis
{
    $redis = new Redis();
    $redis->connect('127.0.0.1', (int) $port);
    $redis->flushAll();
    return $redis;
}

/** Nanoseconds a key by the clock, of a call with all of them that waits for a server. */
function per_key(array $keys, Closure $call): float
{
    $begin = hrtime(true);
    $call($keys);
    return (hrtime(true) - $begin) / count($keys);
}

function processor_ns(): float
{
    $used = getrusage();
    return ($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']) * 1e9
        + ($used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']) * 1e3;
}

/** Nanoseconds of the processor a key, of a call that waits for nobody: other programs do not count then. */
function own_per_key(array $keys, Closure $call): float
{
    $begin = processor_ns();
    $call($keys);
    return (processor_ns() - $begin) / count($keys);
}

function in_batches(Closure $call): Closure
{
    return function (array $keys) use ($call) {
        foreach (array_chunk($keys, BATCH) as $some) {
            $call($some);
        }
    };
}

[, $path, $port, $module_port, $count, $few] = $argv;
$keys = array_map(fn(int $i) => "https://example.com/$i", range(1, (int) $count));
$some = array_slice($keys, 0, (int) $few);
$store = new Tamis\Store($path);
$filter = $store->create('measured', (int) $count, 0.01);
$single = $store->create('single', (int) $count, 0.01);
$plain = connect($port);
$server = connect($module_port);
$server->rawCommand('BF.RESERVE', 'seen', '0.01', $count);
$wild = new Wild($plain, 'rptc');
$pipelined = new WildPipelined($plain, 'rptc-too');
$ours = new Ours($store);
$on_server = new Ours($server);
$ours->add('the filter is made');
$on_server->add('the filter is made');

/* Calls for one key are written into the loops, as a closure around each would be measured too. */
$each = [
    'add' => function (array $keys) use ($single) {
        foreach ($keys as $key) {
            $single->add($key);
        }
    },
    'has' => function (array $keys) use ($filter) {
        foreach ($keys as $key) {
            $filter->has($key);
        }
    },
    'nothing' => function (array $keys) {
        foreach ($keys as $key) {
        }
    },
    'open' => function (array $keys) use ($path) {
        foreach ($keys as $_) {
            (new Tamis\Store($path))->filter('measured');
        }
    },
    'wild add' => function (array $keys) use ($wild) {
        foreach ($keys as $key) {
            $wild->add($key);
        }
    },
    'wild has' => function (array $keys) use ($wild) {
        foreach ($keys as $key) {
            $wild->exists($key);
        }
    },
];
$figures = [
    'wild add' => per_key($some, $each['wild add']),
    'wild has' => per_key($some, $each['wild has']),
    'pipelined add' => per_key($some, in_batches($pipelined->addMany(...))),
    'pipelined has' => per_key($some, in_batches($pipelined->existsMany(...))),
    'server class add' => per_key($some, in_batches($on_server->addMany(...))),
    'server class has' => per_key($some, in_batches($on_server->existsMany(...))),
    'BF.MADD' => per_key($some, in_batches(fn(array $keys) => $server->rawCommand('BF.MADD', 'seen', ...$keys))),
    'BF.MEXISTS' => per_key($some, in_batches(fn(array $keys) => $server->rawCommand('BF.MEXISTS', 'seen', ...$keys))),
    'store class add' => own_per_key($some, in_batches($ours->addMany(...))),
    'store class has' => own_per_key($some, in_batches($ours->existsMany(...))),
    'addMany' => own_per_key($keys, in_batches($filter->addMany(...))),
    'hasMany' => own_per_key($keys, in_batches($filter->hasMany(...))),
    'add' => own_per_key($keys, $each['add']),
    'has' => own_per_key($keys, $each['has']),
    'nothing' => own_per_key($keys, $each['nothing']),
    'open' => own_per_key($some, $each['open']),
];
foreach ([$wild->exists($some[5]), $pipelined->existsMany([$some[5]])[0], $ours->exists($some[5]), $on_server->exists($some[5]),
          $filter->has($keys[5]), $single->has($keys[5])] as $found) {
    if (!$found) {
        throw new Exception('a key was not found, so something else was measured');
    }
}
$store->drop('single');
$store->drop('ours');
echo json_encode($figures), "\n";
