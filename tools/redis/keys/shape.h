/* SPDX-License-Identifier: BSD-2-Clause */
/* shape.h: what a filter of BF.* is to be, and its making. */
#pragma once

#include "value/head.h"

struct bloom_shape {
    double rate;
    uint64_t capacity;
    uint32_t growth; /* the next layer is so many times as large as the last one */
    bool non_scaling;
    bool at_once; /* it is no draft (drafts.h) */
};

/* Makes the filter of a key from a head, with no bit set; a durable one if value->durable is set.
 */
int make_from_head(struct value *value, int db, const char *key, size_t key_bytes, const void *head,
                   size_t bytes);
/* Makes the filter of a key of BF.*, by tamis.exact and tamis.kind.  TAMIS_ENOMEM: it would be
 * larger than tamis.max-bytes.  Each of these may return MAKING_IS_PUT_OFF. */
int make_bloom(struct value *value, int db, const char *key, size_t key_bytes,
               const struct bloom_shape *shape);
