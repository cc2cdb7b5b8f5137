/* SPDX-License-Identifier: BSD-2-Clause */
/* fill.h: takes segments that a store lacks from a backup of it, at the start of a repair. */
#pragma once

#include "check/repair.h"

/*
 * Copies each segment that a list of the store needs, and that was not found, from the backup at
 * `path`.  A damaged file that has its place is put aside.  `lists_known`: the catalog is sound,
 * and says what is needed; otherwise the catalog of the backup does.  Call behind
 * tamis__repair_scan(), under the lock.
 *
 * Returns  how many were taken, or would be.  Errors before anything is changed have *changed
 * false: TAMIS_EINVAL, TAMIS_EFOREIGN: no backup of this store; those of reading the backup.
 */
int tamis__repair_fill(struct tamis__repair *repair, const char *path, bool lists_known,
                       bool *changed);
