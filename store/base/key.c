/* SPDX-License-Identifier: BSD-2-Clause */
/* key.c: see key.h. */
#include "base/base.h"

int tamis__fail_null_key(size_t index)
{
    return tamis__fail(TAMIS_EINVAL, "key %zu is NULL with a length above 0; pass its bytes",
                       index);
}

int tamis__check_keys(const struct tamis_key *keys, size_t count)
{
    if (keys == NULL && count > 0) return tamis__fail_null("a batch", "keys");
    return tamis__check_some_keys(keys, 0, count);
}
