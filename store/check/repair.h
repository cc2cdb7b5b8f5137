/* SPDX-License-Identifier: BSD-2-Clause */
/* repair.h: the parts of tamis_store_repair(). */
#ifndef TAMIS_STORE_CHECK_REPAIR_H
#define TAMIS_STORE_CHECK_REPAIR_H

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
