<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

/**
 * A Bloom filter with a list of named hash functions, one bit for each.  A subclass names the bucket and the functions:
 *
 *     final class RepeatedComments extends Tamis\Buckets\Bucket
 *     {
 *         protected $bucket = 'rptc';
 *         protected $hashFunction = ['BKDRHash', 'SDBMHash', 'JSHash'];
 *     }
 *     $comments = new RepeatedComments(new Tamis\Store('/var/lib/tamis'));   // or: new RepeatedComments($redis)
 *
 * The bits are those that classes over SETBIT and GETBIT set, as PHP computes these functions.  They are computed in C, by
 * the store or by the server.
 */
abstract class Bucket
{
    /** The functions, as Tamis names them. */
    private const FUNCTIONS = ['js', 'pjw', 'elf', 'bkdr', 'sdbm', 'djb', 'dek', 'fnv'];

    /* Without types, so that subclasses of other classes need no change. */

    /** @var string name of the filter, or key */
    protected $bucket = '';

    /** @var list<string> of JSHash, PJWHash, ELFHash, BKDRHash, SDBMHash, DJBHash, DEKHash, FNVHash; "Hash" may be left out */
    protected $hashFunction = [];

    /** @var int what the functions are taken modulo; 0: nothing, they reach 2^32 */
    protected $length = 0;

    private readonly Filters $filters;
    private readonly Shape $shape;

    public function __construct(\Tamis\Store|\Redis|\RedisCluster|\Predis\ClientInterface|Filters $where, ?string $bucket = null)
    {
        $this->bucket = $bucket ?? $this->bucket;
        if ($this->bucket === '') {
            throw new \LogicException(static::class . ' names no bucket');
        }
        $this->filters = Filters::of($where);
        $this->shape = $this->shape();
    }

    /** Adds a key.  True: one of its bits was not set yet, so it is new. */
    public function add(string $key): bool
    {
        return $this->filters->add($this->bucket, $key, $this->shape);
    }

    public function exists(string $key): bool
    {
        return $this->filters->has($this->bucket, $key);
    }

    /**
     * @param array<string|int> $keys
     * @return array<bool> with the indexes of $keys
     */
    public function addMany(array $keys): array
    {
        return $this->filters->addMany($this->bucket, $keys, $this->shape);
    }

    /**
     * @param array<string|int> $keys
     * @return array<bool> with the indexes of $keys
     */
    public function existsMany(array $keys): array
    {
        return $this->filters->hasMany($this->bucket, $keys);
    }

    /* The same by other names that such classes have; without types, so that subclasses may have their own. */

    /** add() */
    public function put($key)
    {
        return $this->add((string) $key);
    }

    /** exists() */
    public function isExists($key)
    {
        return $this->exists((string) $key);
    }

    /** add() */
    public function addKey($key)
    {
        return $this->add((string) $key);
    }

    /** exists() */
    public function existKey($key)
    {
        return $this->exists((string) $key);
    }

    /** How many keys were new; 0 if there is no such bucket.  Of an imported bucket, an estimate is in it. */
    public function items(): int
    {
        return $this->filters->items($this->bucket);
    }

    /** What the filter is made with if it is not there. */
    protected function shape(): Shape
    {
        $names = array_map(self::nameOf(...), $this->hashFunction);
        if ($names === []) {
            throw new \LogicException(static::class . ' names no hash function');
        }
        return new Shape(kind: 'bloom', hashSet: 'php:' . implode(',', $names), mBits: $this->length ?: 1 << 32,
                         onFull: 'warn'); // as before: more keys go into the same bits
    }

    private static function nameOf(string $function): string
    {
        $name = preg_replace('/hash$/D', '', strtolower($function));
        if (!in_array($name, self::FUNCTIONS, true)) {
            throw new \LogicException("there is no hash function $function");
        }
        return $name;
    }
}
