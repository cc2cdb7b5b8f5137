<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

/** Where the filters are: in a store of this machine, or on a Redis server with the module. */
abstract class Filters
{
    /** Wraps what the constructors of this package take. */
    public static function of(\Tamis\Store|\Redis|\RedisCluster|\Predis\ClientInterface|self $where): self
    {
        return match (true) {
            $where instanceof self => $where,
            $where instanceof \Tamis\Store => new StoreFilters($where),
            default => new RedisFilters($where),
        };
    }

    /** Makes a filter.  It is an error if one of that name is there. */
    abstract public function create(string $name, Shape $shape): void;

    /** Adds a key; true if it was new.  A filter that is not there is made in that shape. */
    abstract public function add(string $name, string $key, Shape $shape): bool;

    /** False also if there is no such filter. */
    abstract public function has(string $name, string $key): bool;

    /**
     * @param array<string|int> $keys
     * @return array<bool> with the indexes of $keys
     */
    abstract public function addMany(string $name, array $keys, Shape $shape): array;

    /**
     * @param array<string|int> $keys
     * @return array<bool> with the indexes of $keys
     */
    abstract public function hasMany(string $name, array $keys): array;

    /** How many keys were new; 0 if there is no such filter. */
    abstract public function items(string $name): int;
}
