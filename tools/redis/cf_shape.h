/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_shape.h: a cuckoo filter of RedisBloom as clients see it, on a filter of kind counting.
 *
 * RedisBloom keeps fingerprints in buckets, and makes sub-filters when it finds no place.  Here
 * keys are counted, in one filter for the slots of all sub-filters that RedisBloom could make,
 * where that is cheap, else for twice those of the first.  What CF.INFO tells of buckets and
 * sub-filters is computed: a sub-filter is full when there are as many items as slots.  Past its
 * capacity a filter takes keys on, and its rate gets worse.
 */
#pragma once

#include "keeper.h"

/* The first bytes of a dump: RedisBloom's header of a cuckoo filter, packed. */
#define CUCKOO_HEAD_BYTES 38u
#define CUCKOO_FILTERS_MAX 65536u

/* Fills in a new, empty filter. */
void cuckoo_init(struct cuckoo *cuckoo, uint64_t capacity, uint32_t bucket_size,
                 uint32_t max_iterations, uint32_t expansion);
/* Fills in what CF.INFO tells of a filter of kind counting that no CF.* made. */
int cuckoo_of_counts(struct value *value);
/* Slots of all sub-filters; UINT64_MAX if they overflow. */
uint64_t cuckoo_slots(const struct cuckoo *cuckoo);
/* What CF.INFO calls the size. */
uint64_t cuckoo_size_bytes(const struct cuckoo *cuckoo);
/* Makes place for an item: another sub-filter, if need be.  False: it is full and does not grow. */
bool cuckoo_make_place(struct cuckoo *cuckoo);
/* An item was deleted; too many deletes compact the filter. */
void cuckoo_deleted(struct cuckoo *cuckoo);
/* Takes off the sub-filters that the others have the room for. */
void cuckoo_compact(struct cuckoo *cuckoo);

/* Is it a shape that a filter of RedisBloom can have? */
bool cuckoo_is_sound(const struct cuckoo *cuckoo);
void cuckoo_write_head(const struct cuckoo *cuckoo, unsigned char head[CUCKOO_HEAD_BYTES]);
/* Returns false if RedisBloom would refuse the head. */
bool cuckoo_read_head(const unsigned char head[CUCKOO_HEAD_BYTES], struct cuckoo *cuckoo);

/* Makes the filter of a key: RedisBloom's own with tamis.exact (cf_exact.h).  TAMIS_ENOMEM: it
 * would be larger than tamis.max-bytes. */
int make_cuckoo(struct value *value, int db, const char *key, size_t key_bytes,
                const struct cuckoo *cuckoo);
