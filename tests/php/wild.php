<?php
// SPDX-License-Identifier: BSD-2-Clause
/* wild.php: classes that keep a Bloom filter in a string of Redis, the way that they are written in the wild. */
require __DIR__ . '/../interop/string_hashes.php';

abstract class BloomFilterRedis
{
    protected $bucket;
    protected $hashFunction;
    protected $length = 0;
    private $redis;

    public function __construct($redis, $bucket)
    {
        $this->redis = $redis;
        $this->bucket = $bucket;
    }

    /** The bits before. */
    public function add($string)
    {
        $pipe = $this->redis->multi();
        foreach ($this->positions($string) as $position) {
            $pipe->setBit($this->bucket, $position, 1);
        }
        return $pipe->exec();
    }

    public function exists($string)
    {
        $pipe = $this->redis->multi();
        foreach ($this->positions($string) as $position) {
            $pipe->getBit($this->bucket, $position);
        }
        foreach ($pipe->exec() as $bit) {
            if ($bit == 0) {
                return false;
            }
        }
        return true;
    }

    protected function positions($string)
    {
        $positions = [];
        foreach ($this->hashFunction as $function) {
            $hash = StringHashes::$function($string);
            $positions[] = $this->length ? $hash % $this->length : $hash;
        }
        return $positions;
    }
}

class WildComments extends BloomFilterRedis
{
    protected $hashFunction = ['bkdr', 'sdbm', 'js'];
    protected $length = 1000003;
}

class WildEight extends BloomFilterRedis
{
    protected $hashFunction = ['js', 'pjw', 'elf', 'bkdr', 'sdbm', 'djb', 'dek', 'fnv'];
    protected $length = 8192;
}

class WildRandom extends BloomFilterRedis
{
    private $m = 10000;
    private $n = 1000;

    protected function positions($string)
    {
        $positions = [];
        mt_srand(crc32($string));
        for ($i = 0; $i < ceil(($this->m / $this->n) * log(2)); $i++) {
            $positions[] = mt_rand(0, $this->m - 1);
        }
        return $positions;
    }
}

/** Has its functions, key and length from the constructor, and the other names of calls. */
class WildKeyed extends BloomFilterRedis
{
    public function __construct($redis, $functions, $key, $length)
    {
        parent::__construct($redis, $key);
        $this->hashFunction = array_map(fn($function) => strtolower(substr($function, 0, -4)), $functions);
        $this->length = $length;
    }

    public function addKey($key)
    {
        return $this->add((string) $key);
    }

    public function existKey($key)
    {
        return $this->exists((string) $key);
    }

    /** The positions. */
    public function put($key)
    {
        $this->add((string) $key);
        return $this->positions((string) $key);
    }

    public function isExists($key)
    {
        return $this->exists((string) $key);
    }
}
