/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cuckoo_data.h: the data of a CF.* filter of kind counting, as CF.SCANDUMP and the AOF have them:
 * a mark, the number of bytes that follow (u64), and the filter as a stream.
 */
#pragma once

#include "value/value.h"

#define CUCKOO_MARK_BYTES 16u /* with the number of bytes */

/* All data of a filter, which the caller frees by RedisModule_Free(); NULL if that failed. */
char *cuckoo_data(const struct value *value, size_t *bytes);
/* Do the data begin with the mark? */
bool cuckoo_is_mark(const char *data, size_t bytes);
