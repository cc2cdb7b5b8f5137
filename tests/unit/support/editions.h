/* SPDX-License-Identifier: BSD-2-Clause */
/* editions.h: generations without a build: segments of plain kinds, filled and published. */
#ifndef TAMIS_UNIT_EDITIONS_H
#define TAMIS_UNIT_EDITIONS_H

#include "filter/publish.h"

/* A blocked filter at 1e-6 of the keys from, from + 1, ... (as 8 bytes), put in force under that
 * name. */
int editions_publish(tamis_store *store, const char *name, uint64_t from, uint64_t count,
                     const struct tamis__exceptions *by_hand,
                     const struct tamis__exceptions *found);

#endif
