<?php
// SPDX-License-Identifier: BSD-2-Clause
/*
 * buckets.php: two programs that keep a Bloom filter in a string of Redis, as people write them.
 *
 *     php buckets.php PORT comments KEY add|exists < KEYS         three named functions, no modulus;
 *                                                                 SETBITs and GETBITs in MULTI
 *     php buckets.php PORT length:N KEY add|exists < KEYS         two functions modulo N (0: none)
 *     php buckets.php PORT eight:N KEY add|exists < KEYS          all eight, likewise
 *
 * Keys are in hexadecimal, one a line.  add prints what the program's add() or put() returns, exists
 * prints 1 or 0.
 */
require __DIR__ . '/string_hashes.php';

/** A bucket and a list of functions are the subclass's; the rest is common. */
abstract class FilterRedis
{
    protected $redis;
    protected $bucket;
    protected $functions;

    public function __construct(Redis $redis, string $bucket)
    {
        $this->redis = $redis;
        $this->bucket = $bucket;
    }

    public function add($string)
    {
        $pipe = $this->redis->multi();
        foreach ($this->functions as $function) {
            $pipe->setBit($this->bucket, StringHashes::$function($string), true);
        }
        return $pipe->exec();
    }

    public function exists($string)
    {
        $pipe = $this->redis->multi();
        foreach ($this->functions as $function) {
            $pipe->getBit($this->bucket, StringHashes::$function($string));
        }
        foreach ($pipe->exec() as $bit) {
            if ($bit == 0) {
                return false;
            }
        }
        return true;
    }
}

final class RepeatedComments extends FilterRedis
{
    protected $functions = ['bkdr', 'sdbm', 'js'];
}

/** Offsets are taken modulo a length that the caller chooses. */
final class LengthFilter
{
    private $redis;
    private $key;
    private $functions;
    private $length;

    public function __construct(Redis $redis, string $key, array $functions, int $length)
    {
        $this->redis = $redis;
        $this->key = $key;
        $this->functions = $functions;
        $this->length = $length;
    }

    private function offsets(string $string): array
    {
        $offsets = [];
        foreach ($this->functions as $function) {
            $hash = StringHashes::$function($string);
            $offsets[] = $this->length > 0 ? $hash % $this->length : $hash;
        }
        return $offsets;
    }

    public function add(string $string): array
    {
        $offsets = $this->offsets($string);
        foreach ($offsets as $offset) {
            $this->redis->setBit($this->key, $offset, true);
        }
        return $offsets;
    }

    public function exists(string $string): bool
    {
        foreach ($this->offsets($string) as $offset) {
            if (!$this->redis->getBit($this->key, $offset)) {
                return false;
            }
        }
        return true;
    }
}

[, $port, $program, $key, $what] = $argv;
$redis = new Redis();
$redis->connect('127.0.0.1', (int) $port);
[$name, $length] = explode(':', $program . ':');
$lists = ['length' => ['js', 'pjw'],
          'eight' => ['js', 'pjw', 'elf', 'bkdr', 'sdbm', 'djb', 'dek', 'fnv']];
$filter = $name === 'comments'
    ? new RepeatedComments($redis, $key)
    : new LengthFilter($redis, $key, $lists[$name], (int) $length);
while (($line = fgets(STDIN)) !== false) {
    $string = hex2bin(rtrim($line, "\n"));
    echo $what === 'add' ? implode(',', $filter->add($string)) : (int) $filter->exists($string), "\n";
}
