/* SPDX-License-Identifier: BSD-2-Clause */
/* shard.h: how many shards a filter gets, for how many keys each, and in which slot of a cluster it
 * is; tamis_shard() says which shard a key belongs to.  See docs/cluster.md. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tamis_keys.h"

#define SHARDS_MAX 65536u
#define SHARD_BYTES_MAX ((uint64_t)128 << 20) /* so that a shard can migrate as one value */
#define SLOTS 16384u                          /* of Redis Cluster */

/* The slot of a Redis key, by its hash tag if it has one. */
uint32_t shard_slot(const char *redis_key, size_t bytes);

/* How many keys each shard is made for, in a filter for `capacity` keys. */
uint64_t shard_capacity(uint64_t capacity, uint32_t shards);

/* Returns the least power of two for which no shard is larger than SHARD_BYTES_MAX; 0 if there is
 * none, or the library refuses the size. */
struct tamis_filter_spec;
uint32_t shard_count_for(const struct tamis_filter_spec *spec);
