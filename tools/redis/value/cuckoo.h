/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cuckoo.h: the shape of a cuckoo filter of RedisBloom, and the arithmetic of its sub-filters.
 *
 * RedisBloom makes a sub-filter when it finds no place for an item.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What a key of CF.* has beside its slots. */
struct cuckoo {
    uint64_t buckets; /* of the first sub-filter, */
    uint64_t items;   /* added and not deleted */
    uint64_t deletes; /* since the last compaction */
    uint32_t filters; /* sub-filters */
    uint32_t bucket_size, max_iterations, expansion;
};

/* The first bytes of a dump: RedisBloom's header of a cuckoo filter, packed. */
#define CUCKOO_HEAD_BYTES 38u
#define CUCKOO_FILTERS_MAX 65536u

/* Fills in a new, empty filter. */
void cuckoo_init(struct cuckoo *cuckoo, uint64_t capacity, uint32_t bucket_size,
                 uint32_t max_iterations, uint32_t expansion);
/* Slots of the first `filters` sub-filters; UINT64_MAX if they overflow. */
uint64_t cuckoo_slots_of(const struct cuckoo *cuckoo, uint32_t filters);
/* Slots of all sub-filters; UINT64_MAX if they overflow. */
uint64_t cuckoo_slots(const struct cuckoo *cuckoo);
/* What CF.INFO calls the size. */
uint64_t cuckoo_size_bytes(const struct cuckoo *cuckoo);
/* Is it a shape that a filter of RedisBloom can have? */
bool cuckoo_is_sound(const struct cuckoo *cuckoo);
void cuckoo_write_head(const struct cuckoo *cuckoo, unsigned char head[CUCKOO_HEAD_BYTES]);
/* Returns false if RedisBloom would refuse the head. */
bool cuckoo_read_head(const unsigned char head[CUCKOO_HEAD_BYTES], struct cuckoo *cuckoo);
