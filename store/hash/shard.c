/* SPDX-License-Identifier: BSD-2-Clause */
/* shard.c: which shard of a filter a key belongs to; docs/cluster.md has the rule and why it is so.
 */
#include "hash/digest.h"

#include "tamis_keys.h"

/* The top half of the hash, as a fraction of 2^32, times the number of shards (Lemire 2019, "Fast
 * random integer generation in an interval"). */
TAMIS_API uint32_t tamis_shard(const void *key, size_t key_bytes, uint32_t shards)
{
    const uint64_t hash = XXH3_64bits(key_bytes > 0 ? key : "", key_bytes);
    return (uint32_t)(((hash >> 32) * shards) >> 32);
}
