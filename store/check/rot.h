/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rot.h: segments that are static or sealed, and have other bytes than when they were made.
 *
 * The bytes that rotted are nowhere in the store.  A backup that was made since the segment was
 * sealed has them, and a repair with such a backup takes them (fill.c).
 */
#pragma once

#include "check/notes.h"

/* What a segment says of its bytes. */
struct tamis__resting {
    struct tamis__sums_verdict verdict;
    bool is_accepted; /* by its kind */
    uint64_t store_id, filter_id, items, file_bytes;
    uint64_t mark;     /* goes on with each time that somebody begins to write */
    uint64_t constant; /* the checksum of what never changes in its header */
};

/* Reads all data of a segment.  Returns 0, or an error: the segment cannot be opened. */
int tamis__rest_look(const struct tamis__place *place, uint64_t number,
                     struct tamis__resting *rest);

/* Do both say that they were sealed with the same bytes? */
bool tamis__rest_is_same(const struct tamis__resting *a, const struct tamis__resting *b);

/* Writes into a rotted segment of the store, in place, what the checksums cover and the same
 * segment of the backup has otherwise.  Readers go on meanwhile: what they see is right or not yet
 * right. The file as it was is put aside before, with `why`.  If the process dies, the segment
 * still looks rotted, and the next repair mends it.  Call under the catalog's exclusive lock. */
int tamis__rot_mend(const struct tamis_store *store, const struct tamis__place *backup,
                    uint64_t number, const char *why);

/* Reads all data of the store without a lock, and notes the numbers of rotted segments in
 * repair->rotted, sorted.  A file that cannot be read is left to the scan.  TAMIS_ENOMEM. */
int tamis__rot_find(struct tamis__repair *repair);
