<?php
// SPDX-License-Identifier: BSD-2-Clause
/*
 * php_redis.php PORT: BF.*, CF.* and TAMIS.* by php-redis (rawCommand), and a class that keeps its bits by SETBIT
 * in MULTI, on a key that is a filter.
 */
require __DIR__ . '/checks.php';
require __DIR__ . '/../../php/wild.php';

$redis = new Redis();
$redis->connect('127.0.0.1', (int) $argv[1]);
$redis->setOption(Redis::OPT_REPLY_LITERAL, true);

function run(...$words)
{
    global $redis;
    return $redis->rawCommand(...$words);
}
/** phpredis answers false for an error, and keeps the text; one that does not begin with ERR it throws. */
function refused(string $text, ...$words): void
{
    global $redis;
    $redis->clearLastError();
    try {
        same(run(...$words), false, "$words[0] is refused");
        same($redis->getLastError(), $text, "the error of $words[0]");
    } catch (RedisException $thrown) {
        same($thrown->getMessage(), $text, "the error of $words[0]");
    }
}
all_commands();
same($redis->eval("return redis.call('BF.MADD', KEYS[1], ARGV[1], ARGV[2])", ['seen', 'a', 'b'], 1), [1, 1], 'EVAL');

/** With the positions of the command `explain`. */
final class CommentFilter extends BloomFilterRedis
{
    public function __construct(Redis $redis, string $bucket, private array $positions)
    {
        parent::__construct($redis, $bucket);
    }

    protected function positions($string)
    {
        return $this->positions[$string];
    }
}
$positions = json_decode($argv[2], true);
class_and_filter(new CommentFilter($redis, 'comments', $positions), array_keys($positions));
same(run('TAMIS.INFO', 'comments')[3], 'bloom', 'the kind');
echo phpversion('redis'), ": all commands\n";
