/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs.h: a keyset's digests in its temporary file; for keyset.c.
 *
 * A run is in order and has each digest once.  Of every 1024 one, a mark, stays in memory: so a
 * digest is found by one read of 8 KiB, and ranges that hold about equal parts of all runs,
 * whatever the digests are, by the marks alone.
 */
#ifndef TAMIS_BUILD_RUNS_H
#define TAMIS_BUILD_RUNS_H

#include "build/keyset.h"

/* The digests in memory, in order, become one more run; they stay in memory too. */
int tamis__runs_write(struct tamis__keyset *keyset);
/* All runs become one, in a file that takes the old one's place; sets distinct and sum. */
int tamis__runs_merge(struct tamis__keyset *keyset);
/* How many digests of the run are below this one; is it there? */
int tamis__run_find(const struct tamis__keyset *keyset, const struct tamis__run *run,
                    uint64_t digest, uint64_t *below, bool *is_there);

#endif
