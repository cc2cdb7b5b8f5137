/* SPDX-License-Identifier: BSD-2-Clause */
/* key.h: keys as callers give them. */
#pragma once

#include "tamis.h"

int tamis__fail_null_key(size_t index); /* TAMIS_EINVAL */
int tamis__check_keys(const struct tamis_key *keys, size_t count);

/* Checks keys[from] to keys[end - 1]. */
static inline int tamis__check_some_keys(const struct tamis_key *keys, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (__builtin_expect(keys[i].data == NULL, 0) && keys[i].bytes > 0)
            return tamis__fail_null_key(i);
    return 0;
}
