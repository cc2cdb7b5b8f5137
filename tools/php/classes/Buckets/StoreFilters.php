<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

use Tamis\Exception\DroppedException;
use Tamis\Exception\ExistsException;
use Tamis\Exception\NotFoundException;
use Tamis\Filter;
use Tamis\Store;

/** Filters of a store, by the extension.  Each is opened at its first use; one that was dropped, anew. */
final class StoreFilters extends Filters
{
    /** @var array<string, Filter> */
    private array $open = [];

    public function __construct(private readonly Store $store)
    {
    }

    public function create(string $name, Shape $shape): void
    {
        $this->open[$name] = $this->store->create($name, ...get_object_vars($shape));
    }

    public function add(string $name, string $key, Shape $shape): bool
    {
        return $this->on($name, static fn(Filter $filter): bool => $filter->add($key), $shape);
    }

    public function has(string $name, string $key): bool
    {
        return $this->on($name, static fn(Filter $filter): bool => $filter->has($key)) ?? false;
    }

    public function addMany(string $name, array $keys, Shape $shape): array
    {
        return $this->on($name, static fn(Filter $filter): array => $filter->addMany($keys), $shape);
    }

    public function hasMany(string $name, array $keys): array
    {
        return $this->on($name, static fn(Filter $filter): array => $filter->hasMany($keys))
            ?? array_fill_keys(array_keys($keys), false);
    }

    public function items(string $name): int
    {
        return $this->on($name, static fn(Filter $filter): int => $filter->items()) ?? 0;
    }

    /** Calls with the filter; null if there is none and no shape to make it in. */
    private function on(string $name, \Closure $call, ?Shape $shape = null): mixed
    {
        if (isset($this->open[$name])) {
            try {
                return $call($this->open[$name]);
            } catch (DroppedException) {
                unset($this->open[$name]);
            }
        }
        $filter = $this->find($name, $shape);
        return $filter === null ? null : $call($this->open[$name] = $filter);
    }

    /** Any filter of that name is taken, as an imported one may have been sealed, or merged, or be of other functions. */
    private function find(string $name, ?Shape $shape): ?Filter
    {
        try {
            return $this->store->filter($name);
        } catch (NotFoundException) {
            if ($shape === null) {
                return null;
            }
        }
        try {
            return $this->store->create($name, ...get_object_vars($shape));
        } catch (ExistsException) { // another process was faster
            return $this->store->filter($name);
        }
    }
}
