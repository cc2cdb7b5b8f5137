/* SPDX-License-Identifier: BSD-2-Clause */
/* repair.h: the parts of tamis_store_repair(). */
#ifndef TAMIS_CHECK_REPAIR_H
#define TAMIS_CHECK_REPAIR_H

#include "check/notes.h"

/* scan.c: look at every file in segments/. */
int tamis__repair_scan(struct tamis__repair *repair);
void tamis__repair_clear_scan(struct tamis__repair *repair);

/* rescue.c: a catalog from what was found, in the place of the one that is there; `why` is what is
 * wrong with that, a sentence, and `old` its counters where they could be read, else NULL. */
int tamis__rescue(struct tamis__repair *repair, const char *why,
                  const struct tamis__store_record *old);

/* clean.c: with a sound catalog: files that nobody needs go, those that are missed are told. */
int tamis__repair_clean(struct tamis__repair *repair);

#endif
