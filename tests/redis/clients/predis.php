<?php
// SPDX-License-Identifier: BSD-2-Clause
/* predis.php PORT POSITIONS: the same as php_redis.php by php-predis, with pipelines. */
require 'Predis/autoload.php';
require __DIR__ . '/checks.php';

$redis = new Predis\Client(['host' => '127.0.0.1', 'port' => (int) $argv[1]], ['exceptions' => false]);

/** predis gives simple strings as objects. */
function plain($answer)
{
    if (is_array($answer)) {
        return array_map('plain', $answer);
    }
    return $answer instanceof Predis\Response\Status ? $answer->getPayload() : $answer;
}
function run(...$words)
{
    global $redis;
    return plain($redis->executeRaw($words, $error));
}
function refused(string $text, ...$words): void
{
    global $redis;
    same($redis->executeRaw($words, $error), $text, "the error of $words[0]");
    same($error, true, "$words[0] is refused");
}
all_commands();
same($redis->eval("return redis.call('BF.MADD', KEYS[1], ARGV[1], ARGV[2])", 1, 'seen', 'a', 'b'), [1, 1], 'EVAL');

final class CommentFilter
{
    public function __construct(private $redis, private string $bucket, private array $positions)
    {
    }

    public function add(string $key): array
    {
        return $this->redis->pipeline(function ($pipe) use ($key) {
            foreach ($this->positions[$key] as $position) {
                $pipe->setbit($this->bucket, $position, 1);
            }
        });
    }

    public function exists(string $key): bool
    {
        return !in_array(0, $this->redis->pipeline(function ($pipe) use ($key) {
            foreach ($this->positions[$key] as $position) {
                $pipe->getbit($this->bucket, $position);
            }
        }), true);
    }
}
$positions = json_decode($argv[2], true);
class_and_filter(new CommentFilter($redis, 'comments', $positions), array_keys($positions));
echo Predis\Client::VERSION, ": all commands\n";
