/* SPDX-License-Identifier: BSD-2-Clause */
/* kinds.c: the table of kinds.  A new kind is a file of its own and a line of TAMIS__KINDS. */
#include "kind/kind.h"

#define ROW(number, name, properties) &tamis__kind_##name,
static const struct tamis__kind *const kinds[] = {TAMIS__KINDS(ROW)};
#undef ROW

const struct tamis__kind *tamis__kind_by_id(uint32_t id)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i]->id == id) return kinds[i];
    return NULL;
}
