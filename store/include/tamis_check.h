/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_check.h: is a store sound?  Verify, repair, the files that repairs have put aside, and
 * backups.
 */
#ifndef TAMIS_CHECK_H
#define TAMIS_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Verify ------------------------------------------------------------------------------- */

/* One problem that verify found.  The strings live only during the call of the function. */
struct tamis_problem {
    size_t size;        /* sizeof(struct tamis_problem) */
    const char *filter; /* name, or "" if the file belongs to no filter    */
    const char *file;   /* path inside the store                           */
    uint64_t offset;    /* byte in that file; 0 for the file as a whole    */
    int error;          /* TAMIS_E*; 0: it only looks odd                  */
    const char *reason; /* a sentence                                      */
};

/* What looks odd is no proof of damage: it is told, but not counted or remembered as a problem, and
 * a repair leaves it, but for an empty file that a process which died was making.  Called once for
 * each problem, and for what looks odd.  A value other than 0 ends the check, which returns it. */
typedef int tamis_problem_fn(void *context, const struct tamis_problem *problem);

/*
 * Checks the catalog against the segments: headers, sizes, names, lists, kept generations,
 * exceptions, missing files and files without a filter.  Also checks what is in the segments:
 * the checksum of static data, counters and their overflow, set bits against the items that were
 * counted, and how the set bits are spread.  Reads all of it, once, beside any writer and
 * without making a writer wait.  A name of NULL means the whole store.  A store that is open for
 * writing remembers which filters are damaged (TAMIS_STATE_DAMAGED), until they are found sound;
 * nothing else changes.
 *
 * fn       may be NULL (count only); no lock is held while it runs.
 * Returns  the number of problems told to `fn`, or an error where checking could not go on
 *          (a catalog that cannot be read; TAMIS_ENOTFOUND).
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_verify(tamis_store *store, const char *name,
                                                      tamis_problem_fn *fn, void *context);

/* What tamis_store_verify_with() tells, and whom. */
struct tamis_verify_options {
    size_t size; /* sizeof(struct tamis_verify_options) */
    tamis_problem_fn *fn;
    /* NULL, or called now and then with no lock held, with the bytes of segments that were read
     * and those of all: 0 to go on, a TAMIS_E* code to end. */
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes);
    void *context; /* of both */
};

/* The same, and tells how far it is.  options may be NULL.  Returns what progress returned, too. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_verify_with(
    tamis_store *store, const char *name, const struct tamis_verify_options *options);

/* ---- Repair and backup ----------------------------------------------------------------------- */

/* What a repair did, or found and left alone (error != 0).  Strings live only during the call. */
struct tamis_repair_step {
    size_t size;        /* sizeof(struct tamis_repair_step) */
    const char *filter; /* name, or "" */
    const char *file;   /* path inside the store */
    int error;          /* 0: done; else TAMIS_E*: it could not be, or must not be */
    const char *what;   /* a sentence */
    const char
        *mend; /* what mends it, which ends the sentence; NULL: it is done, or nothing does */
};
typedef int tamis_repair_fn(void *context, const struct tamis_repair_step *step);

/* Flags of a repair. */
enum tamis_repair_flag {
    TAMIS_REPAIR_DRY_RUN = 0x2000000, /* say what would be done, change nothing */
    TAMIS_REPAIR_REBUILD = 0x4000000, /* make the catalog anew although it can be read: it is older
                                         than the segments */
    TAMIS_REPAIR_FORCE_NETWORK_FS = 0x8000000, /* as TAMIS_OPEN_FORCE_NETWORK_FS */
};

/*
 * Repairs a damaged store.  A catalog that is lost or cannot be read is made anew from the segments
 * (the old file is kept beside it).  A segment that is in no list is taken into its filter again,
 * or put aside in lost/, where tamis_store_lost() finds it; no repair removes one.  A filter that
 * has fewer segments or keys than before gets a step with an error.  Safe beside running processes:
 * they wait, or go on with what they have open.
 *
 * path     of the store's directory.
 * flags    TAMIS_REPAIR_*.
 * fn       NULL, or called once for each step, with no lock held.
 * Returns  the number of steps done; TAMIS_ENOSTORE: neither catalog nor segments there;
 *          TAMIS_EREADONLY, TAMIS_ENOSPACE.  TAMIS_EACCESS, TAMIS_EIO, TAMIS_ELIMIT, TAMIS_ENOMEM:
 * a file could not be read, and nothing was changed.  Killed: run it again.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_repair(const char *path, uint32_t flags,
                                                      tamis_repair_fn *fn, void *context);

/* How tamis_store_repair_with() repairs, and whom it tells. */
struct tamis_repair_options {
    size_t size;    /* sizeof(struct tamis_repair_options) */
    uint32_t flags; /* as tamis_store_repair() */
    tamis_repair_fn *fn;
    /* NULL, or called now and then while the segments are read to look for damage, when the rest is
     * done, with no lock held: 0 to go on, a TAMIS_E* code to end. */
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes);
    void *context; /* of both */
    /* NULL, or the directory of a backup of this store: segments that the store lacks are taken
     * from it, with a step for each.  What was added to a filter after the backup is not in them:
     * then the filter is unclean, and a second step has an error.  Sealed segments that have other
     * bytes than when they were sealed are mended, if the backup has those bytes; else a step has
     * an error. */
    const char *from;
};

/* The same, and tells how far it is.  Returns what progress returned, too. */
TAMIS_API TAMIS_MUST_CHECK int64_t
tamis_store_repair_with(const char *path, const struct tamis_repair_options *options);

/* A file that a repair has put aside.  Strings live only during the call. */
struct tamis_lost_file {
    size_t size;      /* sizeof(struct tamis_lost_file) */
    const char *name; /* in lost/; for tamis_store_restore_lost() */
    const char *from; /* path inside the store where it was; "": its note cannot be read */
    const char *why;  /* a clause */
    int64_t put_at;   /* when, in ns since 1970 UTC */
    uint64_t bytes;
};
typedef int tamis_lost_fn(void *context, const struct tamis_lost_file *file);

/* Calls fn, unless it is NULL, for each file that repairs have put aside in the store at `path`; a
 * value other than 0 ends this and is returned.  Returns how many there are; 0 too if there is no
 * store.  Changes nothing. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_lost(const char *path, tamis_lost_fn *fn,
                                                    void *context);

/*
 * Puts a file back that a repair has put aside, and enters it into the catalog: a segment into its
 * filter, or the filter itself if it was dropped; a segment of an older generation as a generation
 * that is kept; an index of exceptions into a filter that has none.
 *
 * Returns  0; TAMIS_ENOTFOUND: no such file in lost/, or the filter of a log is not there;
 *          TAMIS_EEXIST: its place is taken; TAMIS_ECORRUPT and the like: it is damaged.  After an
 *          error it is in lost/ as before.
 * Durable  when it returns.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_restore_lost(const char *path, const char *name);

/* Removes, for good, the files that were put aside longer than age_ns ago; 0: all.  Returns how
 * many. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_forget_lost(const char *path, int64_t age_ns);

/*
 * Copies a store, while it is in use.  Each filter of the copy has every key whose add had returned
 * before this call.
 *
 * path      of a directory that does not exist yet, or is empty; or where an earlier backup of this
 *           store is, which the copy replaces in one step.  Files that have not changed since are
 *           not written again.  Killed at any instant, the earlier backup or the new one is there.
 * progress  NULL, or called now and then with no lock held: 0 to go on, a TAMIS_E* code to end.
 * Returns   the number of filters; TAMIS_EEXIST: there is something else at path, or a backup that
 *           was written to since; TAMIS_ECORRUPT and the like: a filter is damaged; TAMIS_ENOSPACE,
 *           TAMIS_EIO; TAMIS_EUNSUPPORTED: the file system cannot swap directories; what progress
 *           returned.  After an error there is what was there before.
 * Durable   when it returns.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_backup(
    tamis_store *store, const char *path,
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes), void *context);

/* Flags of struct tamis_backup_options. */
enum tamis_backup_flag {
    TAMIS_BACKUP_FOR_USE =
        0x10000000, /* the copy is a store to work with, as for a restore: nothing
                       may be at its path, and no later backup replaces it */
};

struct tamis_backup_options {
    size_t size;    /* sizeof(struct tamis_backup_options) */
    uint32_t flags; /* TAMIS_BACKUP_* */
    /* NULL: a filter that is damaged ends the backup, with an error.  Else it is called for each of
     * them, with the name, the error and the reason, and the others are copied.  The copy keeps
     * what an earlier backup at path has of such a filter.  Called with no lock held, but for kept
     * generations: 0 to go on. */
    tamis_problem_fn *fn;
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes); /* as above */
    void *context;                                                           /* of both */
};

/* What a backup did. */
struct tamis_backup_result {
    size_t size;      /* sizeof(struct tamis_backup_result) */
    uint64_t filters; /* in the copy */
    uint64_t
        left_out; /* damaged filters (the copy may have them as of before), and kept generations */
    uint64_t written_bytes; /* of segments; the catalog of the copy is written each time */
    uint64_t kept_bytes;    /* of segments that an earlier backup had already */
};

/* The same with options, which may be NULL.  result: NULL, or filled in.  Returns what fn returned,
 * too. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_backup_with(
    tamis_store *store, const char *path, const struct tamis_backup_options *options,
    struct tamis_backup_result *result);

#ifdef __cplusplus
}
#endif

#endif
