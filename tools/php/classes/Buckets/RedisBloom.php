<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

/**
 * RedisBloom's commands BF.* as methods.  On Redis each sends its command.  On a store each does the same to the filter
 * that has the key as its name, so that a program can leave the server.
 */
class RedisBloom
{
    private readonly Filters $filters;

    /**
     * @param int $capacity of filters that add() and mAdd() make, with $errorRate; RedisBloom's defaults.  A server has
     *     settings of its own for these.
     */
    public function __construct(
        \Tamis\Store|\Redis|\RedisCluster|\Predis\ClientInterface|Filters $where,
        private readonly int $capacity = 100,
        private readonly float $errorRate = 0.01,
    ) {
        $this->filters = Filters::of($where);
    }

    /** BF.RESERVE.  An error if the key is there. */
    public function reserve(string $key, float $errorRate, int $capacity, bool $nonScaling = false): void
    {
        if ($this->filters instanceof RedisFilters) {
            $this->filters->send('BF.RESERVE', $this->filters->key($key), $errorRate, $capacity,
                                 ...($nonScaling ? ['NONSCALING'] : []));
            return;
        }
        $this->filters->create($key, new Shape($capacity, $errorRate, onFull: $nonScaling ? 'refuse' : 'grow'));
    }

    /** BF.ADD */
    public function add(string $key, string $item): bool
    {
        return $this->mAdd($key, [$item])[0];
    }

    /** BF.EXISTS */
    public function exists(string $key, string $item): bool
    {
        return $this->mExists($key, [$item])[0];
    }

    /**
     * BF.MADD
     *
     * @param array<string|int> $items
     * @return array<bool> with the indexes of $items
     */
    public function mAdd(string $key, array $items): array
    {
        if ($this->filters instanceof RedisFilters) {
            return $this->filters->sendMany('BF.MADD', $key, $items);
        }
        return $this->filters->addMany($key, $items, new Shape($this->capacity, $this->errorRate));
    }

    /**
     * BF.MEXISTS
     *
     * @param array<string|int> $items
     * @return array<bool> with the indexes of $items
     */
    public function mExists(string $key, array $items): array
    {
        if ($this->filters instanceof RedisFilters) {
            return $this->filters->sendMany('BF.MEXISTS', $key, $items);
        }
        return $this->filters->hasMany($key, $items);
    }

    /** BF.CARD: how many items were new. */
    public function card(string $key): int
    {
        return $this->filters->items($key);
    }
}
