/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c: see store.h. */
#include "kept/store.h"

#include "kept/leftovers.h"
#include "registry/registry.h"

tamis_store *store_open(void)
{
    if (registry_open() > 0) leftovers_read();
    return registry_store();
}
