<?php
// SPDX-License-Identifier: BSD-2-Clause
/*
 * class_errors.php PORT STORE: what the classes of tools/php/classes refuse, and RedisBloom's commands on a server and on
 * a store.
 */
require __DIR__ . '/../../tools/php/classes/autoload.php';
require 'Predis/autoload.php';
require __DIR__ . '/../redis/clients/checks.php';

use Tamis\Buckets\Bucket;
use Tamis\Buckets\RandomBucket;
use Tamis\Buckets\RedisBloom;

[, $port, $path] = $argv;
$redis = new Redis();
$redis->connect('127.0.0.1', (int) $port);
$predis = new Predis\Client(['host' => '127.0.0.1', 'port' => (int) $port]);
$quiet = new Predis\Client(['host' => '127.0.0.1', 'port' => (int) $port], ['exceptions' => false]);
$store = new Tamis\Store($path);
$places = ['store' => $store, 'phpredis' => $redis, 'predis' => $predis, 'quiet predis' => $quiet];

/** What a call throws must be of that class and say that. */
function throws(string $class, string $text, callable $call): void
{
    try {
        $call();
    } catch (Throwable $e) {
        same(get_class($e), $class, $e->getMessage());
        same(str_contains($e->getMessage(), $text), true, "'$text' in '{$e->getMessage()}'");
        return;
    }
    same('nothing was thrown', $class, $text);
}

final class Few extends Bucket
{
    protected $bucket = 'few';
    protected $hashFunction = ['fnv', 'DJBHash'];
    protected $length = 4096;
}

final class Unnamed extends Bucket
{
    protected $hashFunction = ['fnv'];
}

final class Unhashed extends Bucket
{
    protected $bucket = 'unhashed';
}

final class Misspelt extends Bucket
{
    protected $bucket = 'misspelt';
    protected $hashFunction = ['FVNHash'];
}

throws(LogicException::class, 'names no bucket', fn() => new Unnamed($store));
throws(LogicException::class, 'names no hash function', fn() => new Unhashed($store));
throws(LogicException::class, 'no hash function FVNHash', fn() => new Misspelt($store));
throws(ValueError::class, 'm and n', fn() => new RandomBucket($store, 'r', 0, 1));
throws(TypeError::class, 'Tamis\Store|Redis|RedisCluster|Predis', fn() => new Few('a path'));

foreach ($places as $where => $place) {
    $name = strtr("few $where", ' ', '-');
    $few = new Few($place, $name);
    same([$few->exists('a'), $few->existsMany(['x' => 'a', 3 => 'b']), $few->existsMany([])],
         [false, ['x' => false, 3 => false], []], "$where: a bucket that is not there");
    same([$few->add('a'), $few->add('a'), $few->exists('a')], [true, false, true], "$where: it is made");
    same($few->addMany(['x' => 'b', 9 => 'a', 'y' => 7]), ['x' => true, 9 => false, 'y' => true], "$where: addMany");
    same($few->addMany([]), [], "$where: no keys");
    same($few->exists('7'), true, "$where: an int is its digits");
    $many = array_map(fn(int $i) => "a$i", range(0, 9999));
    $new = (new RandomBucket($place, "random $where", 10_000_000, 1_000_000))->addMany($many + ['b' => 'a0']);
    same([count($new), array_key_last($new), $new['b'], $new[0], $new[9999]], [10001, 'b', false, true, true],
         "$where: 10,001 keys");

    $bloom = new RedisBloom($place);
    $key = strtr("bloom $where", ' ', '-');
    $bloom->reserve($key, 0.001, 1000);
    same([$bloom->add($key, 'a'), $bloom->add($key, 'a'), $bloom->exists($key, 'a'), $bloom->exists($key, 'b')],
         [true, false, true, false], "$where: BF.ADD and BF.EXISTS");
    same($bloom->mAdd($key, ['p' => 'a', 'q' => 'c']), ['p' => false, 'q' => true], "$where: BF.MADD");
    same($bloom->mExists($key, ['d', 'c']), [false, true], "$where: BF.MEXISTS");
    same([$bloom->card($key), $bloom->card("none $key"), $bloom->exists("none $key", 'a')], [2, 0, false], "$where: BF.CARD");
    same($bloom->add("made $key", 'a'), true, "$where: a filter is made by the first item");
    $refused = $place === $store ? Tamis\Exception\ExistsException::class : Tamis\Buckets\ServerException::class;
    throws($refused, 'exists', fn() => $bloom->reserve($key, 0.001, 1000));
    $bloom->reserve("small $key", 0.001, 2, nonScaling: true);
    $refused = $place === $store ? Tamis\Exception\FullException::class : Tamis\Buckets\ServerException::class;
    throws($refused, $place === $store ? 'refuses more' : 'is full', fn() => $bloom->mAdd("small $key", ['a', 'b', 'c', 'd']));
}

$redis->set('string', 'bits that were not imported yet');
foreach ([$redis, $predis, $quiet] as $place) {
    $few = new Few($place, 'string');
    throws(Tamis\Buckets\ServerException::class, 'WRONGTYPE', fn() => $few->add('a'));
    throws(Tamis\Buckets\ServerException::class, 'WRONGTYPE', fn() => $few->exists('a'));
}
$pipe = $redis->multi();
throws(LogicException::class, 'MULTI', fn() => (new Few($pipe))->exists('a'));
$redis->discard();

/* A filter that was dropped, and one that another object has made meanwhile. */
$few = new Few($store);
$few->add('a');
$store->drop('few');
same([$few->exists('a'), $few->add('a')], [false, true], 'a bucket that was dropped');
$store->drop('few');
(new Few($store))->add('b');
same([$few->exists('b'), $few->exists('a')], [true, false], 'a bucket that was dropped and made again');

/* php-mt's own generator is not ours. */
mt_srand(5);
$wanted = mt_rand();
mt_srand(5);
(new RandomBucket($store, 'random', 1000, 100))->add('a');
same(mt_rand(), $wanted, 'the state of mt_rand()');
echo "all refused\n";
