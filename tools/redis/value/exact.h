/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exact.h: the cuckoo filter of RedisBloom itself, slot for slot, in the server's memory.
 *
 * CF.* makes these, and RedisBloom's own dumps become them.  A sub-filter has buckets of a few
 * slots; a slot has a fingerprint of one byte, 0 where it is empty.  An item has two buckets.  If
 * both are full, the item takes a slot, and what was there moves to its own other bucket, and so
 * on; if that ends nowhere, another sub-filter is made.
 *
 *     h             MurmurHash64A of the item, seed 0
 *     fingerprint   h mod 255 + 1
 *     buckets       h and (h xor fingerprint * 0x5bd1e995), each mod the number of buckets
 *
 * Local processes do not see them: they are in no store.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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
/* Slots of all sub-filters; UINT64_MAX if they overflow. */
uint64_t cuckoo_slots(const struct cuckoo *cuckoo);
/* What CF.INFO calls the size. */
uint64_t cuckoo_size_bytes(const struct cuckoo *cuckoo);
/* Is it a shape that a filter of RedisBloom can have? */
bool cuckoo_is_sound(const struct cuckoo *cuckoo);
void cuckoo_write_head(const struct cuckoo *cuckoo, unsigned char head[CUCKOO_HEAD_BYTES]);
/* Returns false if RedisBloom would refuse the head. */
bool cuckoo_read_head(const unsigned char head[CUCKOO_HEAD_BYTES], struct cuckoo *cuckoo);

struct exact {
    struct cuckoo cuckoo;
    uint8_t **slots; /* of each sub-filter */
};

/* Makes a filter with the empty slots of a shape.  TAMIS_ENOMEM: more than tamis.max-bytes, or than
 * there is. */
int exact_make(const struct cuckoo *cuckoo, struct exact **made);
void exact_free(struct exact *value);

/* Slots of sub-filter i. */
uint64_t exact_slots(const struct cuckoo *cuckoo, uint32_t i);

bool exact_contains(const struct exact *value, const char *item, size_t bytes);
/* How many slots have the item's fingerprint; a slot counts twice if both buckets are one. */
uint64_t exact_count(const struct exact *value, const char *item, size_t bytes);
/* Returns 1: added; TAMIS_EFULL: no place, and it must not grow; TAMIS_ENOMEM. */
int exact_add(struct exact *value, const char *item, size_t bytes);
/* Returns whether the item was there.  Too many deletes compact the filter. */
bool exact_remove(struct exact *value, const char *item, size_t bytes);
/* Moves fingerprints into older sub-filters, and takes off the newest ones if they are empty. */
void exact_compact(struct exact *value);

/* A part of the data, which is the slots of all sub-filters, oldest first. */
struct part {
    uint8_t *slots;
    uint64_t left; /* in its sub-filter */
};
/* Finds the part from a position on; false: it is past the end. */
bool exact_find(const struct exact *value, uint64_t position, struct part *part);
