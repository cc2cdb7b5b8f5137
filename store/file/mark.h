/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark.h: what the header of a segment says of the disk: was it written to since it was last
 * synced, and under which boot.
 *
 *     begin        before a handle's first write: the disk knows that the segment is dirty
 *     checkpoint   all of it to the disk; the mark is cleared where nobody is left who may write
 *     recover      the machine went down under a dirty mark: since when keys may be missing
 *
 * docs/durability.md has the protocol, and why a cleared mark means that no bit is missing.  The
 * words are in shared memory; none of this takes a lock that another waits for.
 */
#ifndef TAMIS_FILE_MARK_H
#define TAMIS_FILE_MARK_H

#include "file/segment.h"

#define TAMIS__MARK_DIRTY ((uint64_t)1)     /* somebody may have written since clean_until */
#define TAMIS__MARK_ON_DISK ((uint64_t)2)   /* and the disk knows that, with this boot_id */
#define TAMIS__MARK_UNWATCHED ((uint64_t)4) /* a writer had no lock: only a recovery clears it */
#define TAMIS__MARK_BITS ((uint64_t)7)
#define TAMIS__MARK_WRITER ((uint64_t)8) /* each adds one when it begins */

/* Is it dirty from another boot than this one?  Then the machine went down, or it is a copy. */
bool tamis__mark_is_stale(const struct tamis__segment_header *header);

/* Is every bit of it on the disk, as far as anybody has said? */
bool tamis__mark_is_clean(const struct tamis__segment_header *header);

/* Since when keys may be missing from it, as it is now: unclean_since, or what a recovery would
 * make of a stale mark; 0: none is. */
int64_t tamis__mark_unclean_since(const struct tamis__segment_header *header);

/*
 * Before the first write of a handle in this process: become a writer.  Once it has returned 0 the
 * disk has the mark.  TAMIS__MARK_STALE, and nothing done, where the segment must be recovered
 * first, unless that was `tried`.  Any number of threads may call it together.
 */
#define TAMIS__MARK_STALE 1
int tamis__mark_begin(const struct tamis__segment *segment, bool tried);
/* Has it, in this process, through this mapping? */
bool tamis__mark_is_writer(const struct tamis__segment *segment);

/*
 * Bring the segment to the disk.  1: and its mark is clear, no bit is missing; 0: others may be
 * writing.  An error is sticky: the segment is degraded, in all processes, until another of these
 * has ended well.
 */
int tamis__mark_checkpoint(const struct tamis__segment *segment);
/* The same of a handle that writes no more, to be closed then.  Where others write it syncs
 * nothing: 0. */
int tamis__mark_leave(const struct tamis__segment *segment);

/* Does any process that lives write to it?  1, 0 or an error. */
int tamis__mark_has_writer(const struct tamis__place *place, uint64_t number);

/* Make an end of a stale mark: 1, or 0 where it is none (or a writer with a lock is alive).  Under
 * the catalog's exclusive lock.  `whole`: nothing is missing, as the logs have brought it back. */
int tamis__mark_recover(const struct tamis__place *place, uint64_t number, bool whole);

/* When all of it was last brought to the disk; when it was made, if never. */
int64_t tamis__mark_clean_until(const struct tamis__segment_header *header);
/* Keys that were added after `since` may be missing: unclean since then, if not from earlier on.
 * The disk knows it when this returns 0; so it does where there is no such file. */
int tamis__mark_miss(const struct tamis__place *place, uint64_t number, int64_t since);

/* What its bits rest on, a sync of them or of a log, has failed: it is degraded.  Returns `rc`. */
int tamis__mark_degrade(const struct tamis__segment *segment, int rc);

/* What may be missing was dealt with: unclean no more.  Under the catalog's exclusive lock. */
int tamis__mark_accept(const struct tamis__segment *segment);

#endif
