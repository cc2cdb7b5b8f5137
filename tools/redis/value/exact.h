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

#include <stddef.h>

#include "value/cuckoo.h"

struct exact {
    struct cuckoo cuckoo;
    uint8_t **slots; /* of each sub-filter */
};

/* Makes a filter with the empty slots of a shape.  TAMIS_ENOMEM: more than tamis.max-bytes, or than
 * there is. */
int exact_make(const struct cuckoo *cuckoo, struct exact **made);
void exact_free(struct exact *value);
/* Makes a copy. */
int exact_copy(const struct exact *from, struct exact **made);

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
