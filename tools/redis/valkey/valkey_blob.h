/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * valkey_blob.h: the blob of BF.LOAD, which the rewrite of valkey-bloom's AOF has of a filter.
 *
 *     u8 1, u32 expansion, f64 rate, f64 tightening ratio, u8 whether the seed was drawn,
 *     u64 layers; of each u64 bytes, head and bits (valkey.h), i64 items, i64 capacity
 */
#pragma once

#include "valkey/valkey.h"

/* Makes the filter.  Returns NULL and, in *error, what is wrong.  Nothing is allocated but what is
 * there. */
struct valkey *valkey_from_blob(const void *blob, size_t bytes, const char **error);
/* The blob of a filter, in memory that RedisModule_Free() frees; NULL: there is no memory. */
char *valkey_to_blob(const struct valkey *valkey, size_t *bytes);
