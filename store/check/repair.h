/* SPDX-License-Identifier: BSD-2-Clause */
/* repair.h: the parts of tamis_store_repair(). */
#pragma once

#include "check/notes.h"

/* Opens a store that may be damaged, for a repair; and the same with the catalog's exclusive lock,
 * for what works on lost/ (repair.c). */
int tamis__repair_open(struct tamis__repair *repair, const char *path);
int tamis__repair_begin(struct tamis__repair *repair, const char *path,
                        struct tamis__private_fd *lock);
/* Ends what tamis__repair_begin() began, successful or not. */
void tamis__repair_end(struct tamis__repair *repair, struct tamis__private_fd *lock);

/* Reads the header of every file in segments/ (scan.c). */
int tamis__repair_scan(struct tamis__repair *repair);
void tamis__repair_clear_scan(struct tamis__repair *repair);

/*
 * Makes a catalog from what was found, in the place of the old one.  `why` is a sentence that says
 * what is wrong with the old one.  `old` is its counters if they could be read, else NULL
 * (rescue.c).
 */
int tamis__rescue(struct tamis__repair *repair, const char *why,
                  const struct tamis__store_record *old);

/* With a sound catalog: removes files that nobody needs, and reports missing ones (clean.c). */
int tamis__repair_clean(struct tamis__repair *repair);
