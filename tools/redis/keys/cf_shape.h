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

#include "value/value.h"

/* Fills in what CF.INFO tells of a filter of kind counting that no CF.* made. */
int cuckoo_of_counts(struct value *value);
/* Makes the filter of a key: RedisBloom's own with tamis.exact (exact.h).  TAMIS_ENOMEM: it
 * would be larger than tamis.max-bytes. */
int make_cuckoo(struct value *value, int db, const char *key, size_t key_bytes,
                const struct cuckoo *cuckoo);
