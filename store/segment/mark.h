/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark.h: the mark: what the header of a segment says about the disk.  It says whether the segment
 * was written to since it was last synced, and under which boot.
 *
 *     begin        before a handle's first write: the disk knows that the segment is dirty
 *     checkpoint   brings all of it to the disk; clears the mark if nobody is left who may write
 *     recover      the machine went down under a dirty mark: notes since when keys may be missing
 *
 * docs/durability.md has the protocol, and why a cleared mark means that no bit is missing.  The
 * words are in shared memory; none of this takes a lock that another waits for.
 */
#pragma once

#include "segment/segment.h"

#define TAMIS__MARK_DIRTY ((uint64_t)1)     /* somebody may have written since clean_until */
#define TAMIS__MARK_ON_DISK ((uint64_t)2)   /* the disk knows that too, with this boot_id */
#define TAMIS__MARK_UNWATCHED ((uint64_t)4) /* a writer had no lock: only a recovery clears it */
#define TAMIS__MARK_BITS ((uint64_t)7)
#define TAMIS__MARK_WRITER ((uint64_t)8) /* each adds one when it begins */
/* While no other bit says that somebody may have written: the segment has a table of checksums, and
 * the data and the table are on the disk (sums.h). */
#define TAMIS__MARK_SEALED ((uint64_t)1 << 63)

/* How many handles have begun to write. */
static inline uint64_t tamis__mark_writers(uint64_t mark)
{
    return (mark & ~TAMIS__MARK_SEALED) / TAMIS__MARK_WRITER;
}

/* Is the segment dirty from another boot than this one?  Then the machine went down, or the file
 * is a copy. */
bool tamis__mark_is_stale(const struct tamis__live *live);

/* Is every bit of the segment on the disk, as far as the mark says? */
bool tamis__mark_is_clean(const struct tamis__live *live);

/* Since when keys may be missing from the segment, as it is now: unclean_since, or what a recovery
 * would make of a stale mark; 0: none is missing. */
int64_t tamis__mark_unclean_since(const struct tamis__segment *segment);
int64_t tamis__unclean_since_of(const struct tamis__live *live, int64_t created_at);

/*
 * Call before the first write of a handle in this process: the handle becomes a writer.  Once
 * this has returned 0, the disk has the mark.  Returns TAMIS__MARK_STALE, and does nothing, if
 * the segment must be recovered first, unless that was `tried`.  Any number of threads may
 * call it together.
 */
#define TAMIS__MARK_STALE 1
int tamis__mark_begin(const struct tamis__segment *segment, bool tried);
/* Has this handle become a writer, in this process and through this mapping? */
bool tamis__mark_is_writer(const struct tamis__segment *segment);
/* Has it ever become one, though it may have let go since? */
bool tamis__mark_was_writer(const struct tamis__segment *segment);
/*
 * The handle writes no more, as its list has gone on, and no call of it can be among the adders of
 * the segment any more: it is no writer from now on.  So the next checkpoint, by anybody, may clear
 * the mark.  Nothing happens while a change is under way.
 */
void tamis__mark_let_go(const struct tamis__segment *segment);
/* A call writes into a segment that need not be the newest.  Put these around tamis__mark_begin()
 * and the writing. */
void tamis__mark_begin_change(const struct tamis__segment *segment);
void tamis__mark_end_change(const struct tamis__segment *segment);
/* Has the disk the mark of this boot?  Then a writer begins without a sync. */
bool tamis__mark_is_on_disk(const struct tamis__segment *segment);

/*
 * Brings the segment to the disk.  Returns 1 if the mark is clear then, so that no bit is missing;
 * 0 if others may be writing.  An error stays: the segment is degraded, in all processes, until a
 * later checkpoint has ended well.
 */
int tamis__mark_checkpoint(const struct tamis__segment *segment);
/* The same for a handle that writes no more and is then closed.  If others write, it syncs nothing
 * and returns 0. */
int tamis__mark_leave(const struct tamis__segment *segment);

/* Is the segment at rest without a table of checksums that it could have?  The next checkpoint that
 * finds no writer makes the table. */
bool tamis__mark_may_seal(const struct tamis__segment_header *header);

/* Does any living process write to the segment?  Returns 1, 0 or an error. */
int tamis__mark_has_writer(const struct tamis__place *place, uint64_t number);

/* Ends a stale mark and returns 1; returns 0 if the mark is not stale, or if a writer with a lock
 * is alive.  Call under the catalog's exclusive lock.  `whole`: nothing is missing, because the
 * logs have brought it back. */
int tamis__mark_recover(const struct tamis__place *place, uint64_t number, bool whole);

/* When the whole segment was last brought to the disk, or if never, when it was made. */
int64_t tamis__clean_until_of(const struct tamis__live *live, int64_t created_at);
/* Notes that keys that were added after `since` may be missing: the segment is unclean since then,
 * or since an earlier time.  When this returns 0, the disk knows it.  A file that does not exist
 * is no error. */
int tamis__mark_miss(const struct tamis__place *place, uint64_t number, int64_t since);

/* Notes that the segment is degraded: a sync of its bits, or of a log that they rest on, has
 * failed.  Returns `rc`. */
int tamis__mark_degrade(const struct tamis__segment *segment, int rc);

/* Notes that the keys that may be missing were dealt with: the segment is no longer unclean.  Call
 * under the catalog's exclusive lock. */
int tamis__mark_accept(const struct tamis__segment *segment);
