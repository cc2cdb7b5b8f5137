/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runs.h: the digests of a keyset in its temporary file, for keyset.c.
 *
 * A run is sorted and has each digest once.  One of every 1024 digests, a mark, stays in memory.
 * So one read of 8 KiB finds a digest.  The marks alone also give ranges that hold about equal
 * parts of all runs, whatever the digests are.
 */
#pragma once

#include "build/keyset.h"

/* Writes the sorted digests in memory as one more run; they stay in memory too. */
int tamis__runs_write(struct tamis__keyset *keyset);
/* Merges all runs into one, in a file that takes the place of the old one; sets distinct and
 * sum. */
int tamis__runs_merge(struct tamis__keyset *keyset);
/* Counts the digests of the run that are below this one, and says whether it is there. */
int tamis__run_find(const struct tamis__keyset *keyset, const struct tamis__run *run,
                    uint64_t digest, uint64_t *below, bool *is_there);
