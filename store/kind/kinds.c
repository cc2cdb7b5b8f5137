/* SPDX-License-Identifier: BSD-2-Clause */
/* kinds.c: the table of kinds.  A new kind is a file of its own and a line here. */
#include "kind/kind.h"

static const struct tamis__kind *const kinds[] = {
    &tamis__kind_blocked,
    &tamis__kind_bloom,
    &tamis__kind_counting,
    &tamis__kind_fuse,
};

const struct tamis__kind *tamis__kind_by_id(uint32_t id)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i]->id == id) return kinds[i];
    return NULL;
}
