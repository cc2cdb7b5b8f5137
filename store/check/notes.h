/* SPDX-License-Identifier: BSD-2-Clause */
/* notes.h: a list of findings, and how far they have come, for verify and for repair; and what the
 * parts of a repair share. */
#pragma once

#include "check/check.h"

/* A problem, or a step of a repair.  It is noted while a lock is held, and the caller is told of it
 * when none is. */
struct tamis__finding {
    struct tamis__finding *next;
    uint64_t offset;
    int error;      /* 0: a step that was done */
    bool says_mend; /* the text says what mends it, as well as that can be said */
    bool of_count;  /* a count that the catalog has otherwise; a step mends that alone */
    char filter[TAMIS_NAME_MAX + 1], file[TAMIS__FILE_BYTES], text[1024];
};

struct tamis__findings {
    struct tamis__finding *first, *last;
};

/* Adds one, which is the last then. */
int tamis__findings_add(struct tamis__findings *findings, const char *filter, const char *file,
                        uint64_t offset, int error, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Writes the reason of *damage, and returns 1. */
int tamis__say_damage(struct tamis__damage *damage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes the oldest one off the list.  The caller frees it.  NULL: there is none. */
struct tamis__finding *tamis__findings_take(struct tamis__findings *findings);

/* verify.c: as tamis_store_verify_with(), for a repair.  fn gets each finding; context is of both
 * functions.  Returns the number of problems. */
typedef int tamis__finding_fn(void *context, const struct tamis__finding *finding);
struct tamis__verifying {
    tamis__finding_fn *fn; /* NULL: nobody is told */
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes);
    void *context;
};
int64_t tamis__verify(struct tamis_store *store, const char *name,
                      const struct tamis__verifying *how);

/* How much of the data was read, and who is told.  Files may grow meanwhile: what is told never
 * passes all_bytes. */
struct tamis__meter {
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes); /* NULL: nobody */
    void *context;
    uint64_t done_bytes, all_bytes; /* done: of the segments before this one */
};

/* Tells the caller's progress function that segment_bytes bytes of this segment were read.  meter
 * may be NULL.  Returns what the function returned. */
int tamis__meter_tell(const struct tamis__meter *meter, uint64_t segment_bytes);

/* A file in segments/ whose header is sound, with what the header said when it was read. */
struct tamis__found {
    struct tamis__listed_segment entry; /* with the items that it has counted */
    struct tamis__policy policy;
    uint64_t store_id, filter_id, generation, publication;
    uint64_t next, in_force, exceptions; /* live */
    uint64_t name_sequence;              /* 0: it has no label that can be read */
    uint32_t keep, list;                 /* list: its number within the filter (rescue.c) */
    bool list_start;
    bool kept;           /* an index of exceptions that a kept generation has (rescue.c) */
    bool is_blank_spare; /* it was made ahead, and nobody has written to it */
    bool left_out;       /* it belongs to no list: it is garbage, or of a newer catalog */
    uint8_t key_digest[TAMIS__KEY_DIGEST_BYTES];
    char name[TAMIS_NAME_MAX + 1];
};

/* A file in segments/ that is damaged, or is no segment at all (number 0). */
struct tamis__bad {
    uint64_t number;
    int error;
    char *file, *reason; /* owned */
};

struct tamis__repair {
    struct tamis_store *store; /* its store_id is 0 until it is known */
    unsigned flags;
    bool dry;
    const char *from; /* the path of a backup, or NULL */
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes); /* the caller's */
    void *context;
    struct tamis__found *found; /* by filter, then by number */
    struct tamis__bad *bad;
    size_t found_count, found_room, bad_count, bad_room;
    uint64_t highest;             /* highest number of a file in segments/, bad files included */
    struct tamis__numbers rotted; /* segments that had rotted before the lock was taken (rot.c) */
    int64_t done;                 /* number of steps */
    struct tamis__findings notes;
};

/* Notes a step. */
int tamis__repair_tell(struct tamis__repair *repair, const char *filter, const char *file,
                       int error, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Notes that a file was put aside, or would be, and why; or, with an rc below 0, the last error. */
int tamis__repair_tell_aside(struct tamis__repair *repair, const char *filter, const char *file,
                             int rc, const char *why);

/* Has a step already told of the file that it could not be mended, or in a dry run that it would
 * be there? */
bool tamis__repair_has_told_of(const struct tamis__repair *repair, const char *file);

/* Has a step already told of the problem's file, or of damage of its filter that cannot be
 * repaired? */
bool tamis__repair_has_told(const struct tamis__repair *repair,
                            const struct tamis__finding *problem);

/* Tells the caller of all steps, unless `rc` is an error, and frees the notes.  Returns rc, or what
 * fn returned. */
int tamis__repair_tell_notes(struct tamis__repair *repair, int rc, tamis_repair_fn *fn,
                             void *context);
