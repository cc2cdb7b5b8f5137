/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exact.h: the cuckoo filter of RedisBloom itself, slot for slot, in the server's memory.
 *
 * CF.* makes these with tamis.exact, and RedisBloom's own dumps become them.  A sub-filter has
 * buckets of a few slots; a slot has a fingerprint of one byte, 0 where it is empty.  An item has
 * two buckets.  If both are full, the item takes a slot, and what was there moves to its own other
 * bucket, and so on; if that ends nowhere, another sub-filter is made.
 *
 *     h             MurmurHash64A of the item, seed 0
 *     fingerprint   h mod 255 + 1
 *     buckets       h and (h xor fingerprint * 0x5bd1e995), each mod the number of buckets
 *
 * The shape is in value->cuckoo (value.h), the slots of each sub-filter in value->slots.  Such a
 * value has no filter in the store.
 */
#pragma once

#include "value/value.h"

static inline bool is_exact_cuckoo(const struct value *value)
{
    return value->slots != NULL;
}

/* Gives a value the empty slots of a shape.  TAMIS_ENOMEM: more than tamis.max-bytes, or than there
 * is. */
int exact_make(struct value *value, const struct cuckoo *cuckoo);
void exact_free(struct value *value);
/* Gives `to` the slots of another. */
int exact_copy(struct value *to, const struct value *from);

/* Slots of sub-filter i. */
uint64_t exact_slots(const struct cuckoo *cuckoo, uint32_t i);

bool exact_contains(const struct value *value, const char *item, size_t bytes);
/* Has the processor fetch the buckets of an item in the newest sub-filter, and does not wait. */
void exact_fetch(const struct value *value, const char *item, size_t bytes);
/* How many slots have the item's fingerprint; a slot counts twice if both buckets are one. */
uint64_t exact_count(const struct value *value, const char *item, size_t bytes);
/* Returns 1: added; TAMIS_EFULL: no place, and it must not grow; TAMIS_ENOMEM. */
int exact_add(struct value *value, const char *item, size_t bytes);
/* Returns whether the item was there.  Too many deletes compact the filter. */
bool exact_remove(struct value *value, const char *item, size_t bytes);
/* Moves fingerprints into older sub-filters, and takes off the newest ones if they are empty. */
void exact_compact(struct value *value);

/* A part of the data, which is the slots of all sub-filters, oldest first. */
struct part {
    uint8_t *slots;
    uint64_t left; /* in its sub-filter */
};
/* Finds the part from a position on; false: it is past the end. */
bool exact_find(const struct value *value, uint64_t position, struct part *part);
