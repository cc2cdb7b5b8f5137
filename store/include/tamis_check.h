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
    int error;          /* TAMIS_E*; 0: odd, but no proof of damage        */
    const char *reason; /* a sentence                                      */
};

/* The library calls this function once for each problem, and once for each odd thing (error is 0).
 * An odd thing is no proof of damage.  It is not counted as a problem, and a repair leaves it,
 * except an empty file that a process was making when it died.  A value other than 0 ends the
 * check, which returns the value. */
typedef int tamis_problem_fn(void *context, const struct tamis_problem *problem);

/*
 * Checks the catalog against the segments: headers, sizes, names, lists, kept generations,
 * exceptions, missing files and files without a filter.  Also checks the data of segments: the
 * checksums of sealed segments and of static data, counters and their overflow, set bits against
 * the items that were counted, and how the set bits are spread.  Reads all data once, beside any
 * writer; no writer waits longer than some milliseconds.  If the store is open for writing, the
 * catalog remembers which filters are damaged (TAMIS_STATE_DAMAGED) until a check finds them sound.
 * The call changes nothing else.
 *
 * name     of one filter; NULL: the whole store.
 * fn       NULL: count only.  No lock is held while fn runs.
 * Returns  the number of problems; the value other than 0 by which fn ended the check; or an error
 *          if the check could not go on: TAMIS_ENOTFOUND (there is no such filter), TAMIS_ECORRUPT
 *          (the catalog cannot be read), TAMIS_EBUSY, TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_verify(tamis_store *store, const char *name,
                                                      tamis_problem_fn *fn, void *context);

/* The functions that tamis_store_verify_with() calls. */
struct tamis_verify_options {
    size_t size; /* sizeof(struct tamis_verify_options) */
    tamis_problem_fn *fn;
    /* NULL, or called now and then with no lock held, with the bytes of segments that were read
     * and those of all: 0 to go on, a TAMIS_E* code to end. */
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes);
    void *context; /* of both */
};

/* Checks as tamis_store_verify() does, and also tells how far the check is.  options may be NULL.
 * Returns as tamis_store_verify(), or the code by which progress ended the check. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_verify_with(
    tamis_store *store, const char *name, const struct tamis_verify_options *options);

/* ---- Repair and backup ----------------------------------------------------------------------- */

/* What a repair did, or found and left alone (error != 0).  Strings live only during the call. */
struct tamis_repair_step {
    size_t size;        /* sizeof(struct tamis_repair_step) */
    const char *filter; /* name, or "" */
    const char *file;   /* path inside the store */
    int error;          /* 0: done; TAMIS_E*: the step could not, or must not, be done */
    const char *what;   /* a sentence */
    const char
        *mend; /* the end of `what`: what mends the damage; NULL: the step did, or nothing does */
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
 * Repairs a damaged store.  If the catalog is lost or cannot be read, the call makes it anew from
 * the segments, and puts the old file aside in lost/.  If a segment is in no list, the call takes
 * it into its filter again, or puts it aside in lost/, where tamis_store_lost() finds it.  No
 * repair deletes a file of a filter.  A filter that has fewer segments or keys than before gets a
 * step with an error.  Other processes may use the store meanwhile: their calls that need the
 * catalog wait, and the others go on with the files that they have open.
 *
 * path     of the store's directory.
 * flags    0, or bits TAMIS_REPAIR_*.
 * fn       NULL, or called once for each step, with no lock held; a value other than 0 ends the
 *          repair, which returns the value.
 * Returns  the number of steps done.  TAMIS_ENOSTORE: neither a catalog nor segments are there.
 *          TAMIS_EREADONLY, TAMIS_ENOSPACE, TAMIS_EBUSY.  TAMIS_EACCESS, TAMIS_EIO, TAMIS_ELIMIT,
 *          TAMIS_ENOMEM: a file could not be read, and nothing was changed.
 * Killed   each step is done or not; run the repair again.
 * Durable  when it returns.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_repair(const char *path, uint32_t flags,
                                                      tamis_repair_fn *fn, void *context);

/* How tamis_store_repair_with() repairs, and the functions that it calls. */
struct tamis_repair_options {
    size_t size;    /* sizeof(struct tamis_repair_options) */
    uint32_t flags; /* as tamis_store_repair() */
    tamis_repair_fn *fn;
    /* NULL, or called now and then, with no lock held, while the repair reads the segments to look
     * for damage, which is its last part.  It returns 0 to go on, or a TAMIS_E* code to end. */
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes);
    void *context; /* of both */
    /* NULL, or the directory of a backup of this store.  The repair takes segments that the store
     * lacks from the backup, with a step for each.  If keys may have been added to the filter after
     * the backup, the filter becomes unclean, and a second step has an error.  If the bytes of a
     * sealed segment have changed, the repair takes the sealed bytes from the backup; if the backup
     * does not have them, a step has an error. */
    const char *from;
};

/* Repairs as tamis_store_repair() does.  options may be NULL.  Returns as tamis_store_repair(), or
 * the code by which progress ended the repair. */
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

/* Calls fn, unless it is NULL, for each file that repairs have put aside in the store at `path`.  A
 * value other than 0 ends the call, which returns the value.  Returns how many such files there
 * are; 0 also if there is no store.  Changes nothing. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_lost(const char *path, tamis_lost_fn *fn,
                                                    void *context);

/*
 * Puts back a file that a repair has put aside, and enters it into the catalog.  A segment becomes
 * a part of its filter again.  If the filter was dropped, the segment becomes that filter.  A
 * segment of an older generation becomes a kept generation.  An index of exceptions goes to its
 * filter, if the filter has no exceptions.
 *
 * name     of the file in lost/, as struct tamis_lost_file has it.
 * Returns  0.  TAMIS_ENOTFOUND: there is no such file in lost/, or a log's filter does not exist.
 *          TAMIS_EEXIST: another file has its place.  TAMIS_ECORRUPT and the like: the file is
 *          damaged.  After an error the file is still in lost/.
 * Durable  when it returns.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_restore_lost(const char *path, const char *name);

/* Deletes for good the files in lost/ that were put aside more than age_ns nanoseconds ago; 0: all.
 * Returns how many files it deleted, or an error. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_forget_lost(const char *path, int64_t age_ns);

/*
 * Copies a store, while it is in use.  Each filter of the copy has every key whose add had returned
 * before this call.
 *
 * path      of a directory that does not exist yet, or is empty, or has an earlier backup of this
 *           store.  The copy replaces an earlier backup in one step.  A file that has not changed
 *           since is not written again.
 * progress  NULL, or called now and then with no lock held: 0 to go on, a TAMIS_E* code to end.
 * Returns   the number of filters.  TAMIS_EEXIST: something else is at path, or a backup that was
 *           written to.  TAMIS_ECORRUPT and the like: a filter is damaged.  TAMIS_EUNSUPPORTED: the
 *           file system cannot swap directories.  TAMIS_EBUSY, TAMIS_ENOSPACE, TAMIS_EIO,
 *           TAMIS_EACCESS, TAMIS_ELIMIT, TAMIS_ENOMEM.  The code that progress returned.  After an
 *           error path has what it had before.
 * Killed    path has the earlier backup or the new one.
 * Durable   when it returns 0 or more.
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
    /* NULL: a damaged filter ends the backup with an error.  Otherwise the backup calls fn for each
     * damaged filter, with the name, the error and the reason, and copies the others.  If an
     * earlier backup at path has such a filter sound, the copy has that one; else it has the filter
     * with its damage, if the file can be read at all.  No lock is held while fn runs, except for
     * kept generations.  fn returns 0 to go on, and another value to end the backup, which returns
     * it. */
    tamis_problem_fn *fn;
    int (*progress)(void *context, uint64_t done_bytes, uint64_t all_bytes); /* as above */
    void *context;                                                           /* of both */
};

/* What a backup did. */
struct tamis_backup_result {
    size_t size;       /* sizeof(struct tamis_backup_result) */
    uint64_t filters;  /* in the copy */
    uint64_t left_out; /* filters and kept generations that are damaged, for which fn was called */
    uint64_t written_bytes; /* of segments; the catalog of the copy is written each time */
    uint64_t kept_bytes;    /* of segments that an earlier backup had already */
};

/* Copies a store as tamis_store_backup() does.  options may be NULL.  result: NULL, or receives
 * what the backup did.  Returns as tamis_store_backup(), or the value by which fn ended the backup.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_backup_with(
    tamis_store *store, const char *path, const struct tamis_backup_options *options,
    struct tamis_backup_result *result);

#ifdef __cplusplus
}
#endif

#endif
