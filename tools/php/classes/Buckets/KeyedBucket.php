<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

/**
 * A bucket whose functions, key and length are given to the constructor, and not to a subclass:
 *
 *     $filter = new Tamis\Buckets\KeyedBucket($redis, ['BKDRHash', 'SDBMHash', 'JSHash'], 'rptc', 100003);
 *
 * A program that has such a class of its own changes its `use` line: use Tamis\Buckets\KeyedBucket as BloomFilter.
 */
class KeyedBucket extends Bucket
{
    /**
     * @param list<string> $functions as $hashFunction of a Bucket
     * @param int $length what the functions are taken modulo; 0: nothing
     */
    public function __construct(
        \Tamis\Store|\Redis|\RedisCluster|\Predis\ClientInterface|Filters $where,
        array $functions,
        string $key,
        int $length = 0,
    ) {
        if ($length < 0) {
            throw new \ValueError('length must be 0 or more');
        }
        $this->hashFunction = $functions;
        $this->length = $length;
        parent::__construct($where, $key);
    }
}
