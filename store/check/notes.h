/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notes.h: what the parts of a repair share: the segments that were found, and notes of the steps,
 * which are told to the caller when no lock is held.
 */
#ifndef TAMIS_CHECK_NOTES_H
#define TAMIS_CHECK_NOTES_H

#include "check/check.h"

/* A file in segments/ whose header is sound: what it says, as it was when it was looked at. */
struct tamis__found {
    struct tamis__record_segment entry; /* with the items that it has counted */
    struct tamis__policy policy;
    uint64_t store_id, filter_id, generation, publication;
    uint64_t next, in_force, exceptions; /* live */
    uint64_t name_sequence;              /* 0: it has no name that can be read */
    uint32_t keep, list;                 /* list: rescue.c numbers them, of one filter */
    bool list_start;
    bool kept;           /* an index of exceptions: a generation that is kept has it (rescue.c) */
    bool is_blank_spare; /* it was made ahead, and nobody has written to it */
    uint8_t key_digest[TAMIS__KEY_DIGEST_BYTES];
    char name[TAMIS_NAME_MAX + 1];
};

/* One that is not, or is no segment at all (number 0). */
struct tamis__bad {
    uint64_t number;
    int error;
    char *file, *reason; /* owned */
};

struct tamis__repair_note;

struct tamis__repair {
    struct tamis_store *store; /* its store_id is 0 until it is known */
    unsigned flags;
    bool dry;
    struct tamis__found *found; /* by filter, then by number */
    struct tamis__bad *bad;
    size_t found_count, found_room, bad_count, bad_room;
    uint64_t highest; /* of the numbers in segments/, those of bad files too */
    int64_t done;     /* steps */
    struct tamis__repair_note *notes, **end;
};

/* Note a step; it is told when no lock is held. */
int tamis__repair_tell(struct tamis__repair *repair, const char *filter, const char *file,
                       int error, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Has a step told of the problem's file, or of what could not be mended of its filter, already? */
bool tamis__repair_has_told(const struct tamis__repair *repair,
                            const struct tamis_problem *problem);

/* Tell all steps, unless `rc` is an error, and free the notes.  Returns rc, or what fn returned. */
int tamis__repair_tell_notes(struct tamis__repair *repair, int rc, tamis_repair_fn *fn,
                             void *context);

#endif
