<?php
// SPDX-License-Identifier: BSD-2-Clause
declare(strict_types=1);

namespace Tamis\Buckets;

/** The rule by which a key of a filter in shards belongs to one of them; docs/cluster.md has it in words. */
final class Shards
{
    /** The number, from 0, of a key's shard.  There are at most 65,536, so the product is an int. */
    public static function of(string $key, int $count): int
    {
        return (hexdec(substr(hash('xxh3', $key), 0, 8)) * $count) >> 32;
    }

    /** The key of a server that has the shard. */
    public static function name(string $filter, int $shard): string
    {
        return $filter . ':{' . $shard . '}';
    }

    /**
     * @param array<string|int> $keys
     * @return array<int, array<string|int>> those of each shard that has any, with their indexes
     */
    public static function split(array $keys, int $count): array
    {
        $parts = [];
        foreach ($keys as $index => $key) {
            $parts[self::of((string) $key, $count)][$index] = $key;
        }
        return $parts;
    }
}
