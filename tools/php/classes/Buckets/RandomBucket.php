<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

/**
 * A Bloom filter whose positions are drawn: mt_srand(crc32($key)), then k times mt_rand(0, m - 1).  PHP's own generator is
 * not touched.
 */
class RandomBucket extends Bucket
{
    private readonly int $k;

    /**
     * @param int $m bits
     * @param int $n keys; k is ceil(m / n * log(2)), as in the classes that this one replaces
     * @param bool $legacy the bits were set by PHP 5.2.1 to 7.0, or with MT_RAND_PHP
     */
    public function __construct(
        \Tamis\Store|\Redis|\RedisCluster|\Predis\ClientInterface|Filters $where,
        string $bucket,
        private readonly int $m,
        int $n,
        private readonly bool $legacy = false,
    ) {
        if ($m < 1 || $n < 1) {
            throw new \ValueError('m and n must be 1 or more');
        }
        $this->k = (int) ceil(($m / $n) * log(2));
        parent::__construct($where, $bucket);
    }

    protected function shape(): Shape
    {
        return new Shape(kind: 'bloom', hashSet: $this->legacy ? 'php-mt-legacy' : 'php-mt', mBits: $this->m, k: $this->k,
                         onFull: 'warn');
    }
}
