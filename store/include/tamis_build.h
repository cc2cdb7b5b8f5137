/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_build.h: filters that are made anew as a whole, under readers that never stop.
 *
 *     struct tamis_filter_spec filter = {.size = sizeof filter, .fp_rate = 0.001};
 *     struct tamis_build_spec spec = {.size = sizeof spec, .filter = &filter};
 *     tamis_build *build;
 *     if (tamis_build_begin(store, "blacklist", &spec, &build) < 0) ...
 *     while (...) tamis_build_add(build, keys, count);         // as many as there are
 *     rc = tamis_build_publish(build, &result);                // 1: in force; 0: nothing was new
 *     tamis_build_close(build);
 *
 * A build makes the next GENERATION of a filter, that is, the next version of its list of segments,
 * beside the one in force.  It asks the new generation for every key, and publishes it in one step.
 * Every open handle, in whatever process, answers from the old generation or from the new one,
 * never from both in one call.  It answers from the new one in each call that begins after
 * tamis_build_publish() has returned.  Of the generations before it, as many as `keep` says are
 * kept, and can be put in force again.  The conventions are those of tamis.h.
 */
#ifndef TAMIS_BUILD_H
#define TAMIS_BUILD_H

#include "tamis.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAMIS_KEEP_DEFAULT 1 /* older generations of a new filter that are kept */
#define TAMIS_KEEP_MAX 1000

/* ---- Builds --------------------------------------------------------------------------------- */

typedef struct tamis_build tamis_build;

#define TAMIS_BUILD_IF_CHANGED 1u /* publish nothing if nothing has changed */
#define TAMIS_BUILD_KEEP 2u       /* `keep` is given; else it stays as it is */
#define TAMIS_BUILD_MAX_SHRINK 4u /* `max_shrink` is given; else any number of keys will do */

enum tamis_build_phase {
    TAMIS_BUILD_READING = 0,   /* done: keys added so far; all: 0, as nobody knows */
    TAMIS_BUILD_SORTING = 1,   /* done, all: keys that are brought in order, duplicates taken out */
    TAMIS_BUILD_MAKING = 2,    /* done, all: distinct keys that are in the new generation */
    TAMIS_BUILD_VERIFYING = 3, /* done, all: keys asked for */
    TAMIS_BUILD_PUBLISHING = 4, /* done, all: 0 and 1, then 1 and 1 */
};

/*
 * What to build.  All zero but filter.fp_rate is a good default.  If the filter is there already, a
 * fp_rate of 0 means the rate that it was made for.  What else is left at 0 is as it was asked for
 * then: hash set (with its seed and secret, where the kind has that set), durable, on_full
 * TAMIS_ON_FULL_REFUSE (with the capacity), and if the filter was built, kind and every on_full.
 */
struct tamis_build_spec {
    size_t size;                            /* sizeof(struct tamis_build_spec) */
    const struct tamis_filter_spec *filter; /* what it is to be, NULL: the default; kind 0:
                                               TAMIS_KIND_FUSE; capacity 0: as many as there are
                                               distinct keys, more: at least those */
    uint64_t memory_bytes; /* that a build may use for the keys, 1 MiB or more; what does not fit
                              goes through a file in the store; 0: a quarter of what is free.
                              Besides that each thread takes some 70 MB for what it makes */
    uint32_t threads;      /* 0: as many as processors; fewer make pieces at a time if half of what
                              is free is too little for all of them */
    uint32_t flags;        /* TAMIS_BUILD_* */
    uint32_t keep;         /* with TAMIS_BUILD_KEEP: so many generations before it are kept, 0 to
                              TAMIS_KEEP_MAX */
    /* NULL, or called now and then by the thread that called the library.  It returns 0 to go on,
     * or a TAMIS_E* code to end the call, which then returns it. */
    int (*progress)(void *context, uint32_t phase, uint64_t done, uint64_t all);
    void *context;
    /* Guards against a list that is much too short.  Both are compared before anything is made, and
     * again in the step in which the generation comes into force. */
    uint64_t at_least; /* the fewest distinct keys; 0: any number */
    double max_shrink; /* with TAMIS_BUILD_MAX_SHRINK: so many percent fewer keys than are in force
                          there may be, 0 to 100 */
};

/* What a build did. */
struct tamis_build_result {
    size_t size;         /* sizeof(struct tamis_build_result) */
    uint64_t keys;       /* keys that were added, with those that came again */
    uint64_t distinct;   /* distinct keys among them */
    uint64_t generation; /* the generation that is in force now */
    uint64_t exceptions; /* the exceptions that are in force with it */
    uint64_t found;      /* known good keys that answered yes, and became exceptions */
    uint64_t conflicts;  /* known good keys that were added too; they stay in, and answer yes */
    uint64_t sampled;    /* keys that were not added, asked for to see the rate */
    uint64_t sampled_yes;
    uint64_t size_bytes;    /* of the new generation's files */
    uint8_t key_digest[16]; /* the same for the same set of keys, whatever their order */
};

/*
 * Begins a build of the filter `name`, which need not exist yet.
 *
 * spec     NULL for all zero.  spec->filter is copied, but its hash_set must live until the build
 *          is closed.
 * Returns  0.  TAMIS_EINVAL: name or spec; TAMIS_EUNSUPPORTED: a window, kind counting, a hash set
 *          that does not go with the kind, a rate below 2^-32 for kind fuse; TAMIS_EREADONLY,
 *          TAMIS_ENOMEM.
 * Threads  only one at a time may use a build.  There may be any number of builds, also of one
 *          filter: the last to publish wins.
 * Killed   what is left is removed by the next process that makes a file in the store.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_build_begin(tamis_store *store, const char *name,
                                                 const struct tamis_build_spec *spec,
                                                 tamis_build **build);

/* Adds keys that the generation is to have; they are not needed after the call.  Returns 0,
 * TAMIS_ENOMEM, TAMIS_ENOSPACE, TAMIS_EIO, TAMIS_EINVAL, or what progress returned. */
TAMIS_API TAMIS_MUST_CHECK int tamis_build_add(tamis_build *build, const struct tamis_key *keys,
                                               size_t count);

/* Gives keys that are known to be good.  Those to which the generation would answer yes although
 * they were not added become exceptions of this generation.  Returns as tamis_build_add(). */
TAMIS_API TAMIS_MUST_CHECK int tamis_build_against(tamis_build *build, const struct tamis_key *keys,
                                                   size_t count);

/* Gives keys that must answer absent whatever was added, as with tamis_filter_except().  This is in
 * force with the new generation, and with those after it.  Returns as tamis_build_add(). */
TAMIS_API TAMIS_MUST_CHECK int tamis_build_except(tamis_build *build, const struct tamis_key *keys,
                                                  size_t count);

/*
 * Makes the generation, verifies it and publishes it.
 *
 * Verified  Every key that was added answers yes.  Of made-up keys that were not added, no more
 *           answer yes than the rate allows (with a hash set other than xxh3 they are counted,
 *           not judged).  If this is not so: TAMIS_ECORRUPT, and nothing is published (the
 *           memory is faulty).
 * result    NULL, or filled in.
 * Returns   1: the new generation is in force.  0: TAMIS_BUILD_IF_CHANGED was given, and the
 *           generation in force has the same keys, spec and exceptions.  TAMIS_EMISMATCH: the
 *           filter counts, or has a window; or there are too few keys (at_least, max_shrink).
 *           TAMIS_ENOSPACE, TAMIS_ENOMEM, TAMIS_EIO, what progress
 *           returned.  On any error the old generation stays in force and nothing is left behind.
 * Adders    Kinds other than fuse have adders: what they add to the old generation meanwhile is not
 *           in the new one.
 * Same      The same keys, seed and spec give the same bytes of data, whatever the order,
 *           threads and memory.
 * Durable   when it returns 1 the generation survives a power cut.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_build_publish(tamis_build *build,
                                                   struct tamis_build_result *result);

/* Gives the build back, published or not.  NULL is allowed, the same build twice is not. */
TAMIS_API void tamis_build_close(tamis_build *build);

/* ---- Generations ---------------------------------------------------------------------------- */

/* One generation: the one in force, or one that is kept. */
struct tamis_generation_stat {
    size_t size; /* sizeof(struct tamis_generation_stat) */
    uint64_t generation;
    uint32_t in_force; /* 1: it answers; 0: it is kept */
    uint32_t kind;
    uint32_t segment_count;
    uint64_t items;
    uint64_t size_bytes;
    double fp_rate;
    uint64_t exceptions; /* found by tamis_build_against() for this generation */
    int64_t published_at;
    uint8_t key_digest[16]; /* 0: not of a build */
};

/* Called once for each generation, the oldest first.  A value other than 0 ends this
 * and is returned. */
typedef int tamis_generation_fn(void *context, const struct tamis_generation_stat *stat);

/* Returns 0, TAMIS_ENOTFOUND, or what fn returned.  No lock is held while fn runs. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_generations(tamis_store *store, const char *name,
                                                        tamis_generation_fn *fn, void *context);

/*
 * Puts a kept generation in force again; the one that was in force is kept instead.
 *
 * generation  0: the newest of those before the one in force.
 * Returns     0.  TAMIS_ENOTFOUND: no such filter, or (the sentence lists those that are kept) no
 *             such generation.  TAMIS_EREADONLY, TAMIS_EIO.  Open handles follow as after a build.
 * Durable     when it returns 0.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_rollback(tamis_store *store, const char *name,
                                                     uint64_t generation);

/* ---- Exceptions ------------------------------------------------------------------------------ */

/*
 * Keys that answer absent whatever the bits say.  They are kept exactly, byte for byte, in the
 * catalog; a query consults them, in a mapped index, only where the bits say yes.  They belong to
 * the filter and outlast its generations.  A filter has at most TAMIS_EXCEPTIONS_MAX, each of at
 * most TAMIS_EXCEPTION_BYTES_MAX bytes.
 */
#define TAMIS_EXCEPTIONS_MAX 10000000
#define TAMIS_EXCEPTION_BYTES_MAX 65535

/* Adds keys to the exceptions: all of them, or none on an error.  Returns how many were no
 * exceptions yet; open handles follow within one call.  TAMIS_ENOTFOUND, TAMIS_EINVAL,
 * TAMIS_ELIMIT, TAMIS_ENOSPACE, TAMIS_EREADONLY. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_except(tamis_store *store, const char *name,
                                                       const struct tamis_key *keys, size_t count);
/* Takes keys off the exceptions, also those that a build found.  answers: NULL, or answers[i]
 * becomes 1 if the key was an exception.  Returns how many were; the others change nothing.
 * Errors as above. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_unexcept(tamis_store *store, const char *name,
                                                         const struct tamis_key *keys, size_t count,
                                                         uint8_t *answers);

/* One exception; the key lives only during the call.  generation: 0, or the one whose
 * build found it. */
typedef int tamis_exception_fn(void *context, const struct tamis_key *key, uint64_t generation);
/* Calls fn for each exception, in order of their bytes.  Returns 0, or what fn returned, which ends
 * this.  No lock is held while fn runs. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_exceptions(tamis_store *store, const char *name,
                                                       tamis_exception_fn *fn, void *context);

/* As above, for the filter of an open handle, whatever its name is now.  Returns TAMIS_EDROPPED
 * too, and TAMIS_ECORRUPT if the exceptions are damaged.  fn may not close the handle. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_each_exception(tamis_filter *filter,
                                                           tamis_exception_fn *fn, void *context);

/* ---- Repair and backup ----------------------------------------------------------------------- */

/* What a repair did, or found and left alone (error != 0).  Strings live only during the call. */
struct tamis_repair_step {
    size_t size;        /* sizeof(struct tamis_repair_step) */
    const char *filter; /* name, or "" */
    const char *file;   /* path inside the store */
    int error;          /* 0: done; else TAMIS_E*: it could not be, or must not be */
    const char *what;   /* a sentence */
};
typedef int tamis_repair_fn(void *context, const struct tamis_repair_step *step);

#define TAMIS_REPAIR_DRY_RUN 1u /* say what would be done, change nothing */
#define TAMIS_REPAIR_REBUILD                                                                       \
    2u /* make the catalog anew although it can be read: it is older than the segments */

/*
 * Repairs a damaged store.  A catalog that is lost or cannot be read is made anew from the segments
 * (the old file is kept beside it).  A segment that is in no list is taken into its filter again,
 * or put aside in lost/, where tamis_store_lost() finds it; no repair removes one.  A filter that
 * has fewer segments or keys than before gets a step with an error.  Safe beside running processes:
 * they wait, or go on with what they have open.
 *
 * path     of the store's directory.
 * flags    TAMIS_REPAIR_*; TAMIS_FORCE_NETWORK_FS as for tamis_store_open().
 * fn       NULL, or called once for each step, with no lock held.
 * Returns  the number of steps done; TAMIS_ENOSTORE: neither catalog nor segments there;
 *          TAMIS_EREADONLY, TAMIS_ENOSPACE.  TAMIS_EACCESS, TAMIS_EIO, TAMIS_ELIMIT, TAMIS_ENOMEM:
 * a file could not be read, and nothing was changed.  Killed: run it again.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_repair(const char *path, unsigned flags,
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
     * then the filter is unclean, and a second step has an error. */
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

/* The copy is a store to work with, as for a restore: nothing may be at its path, and no later
 * backup replaces it. */
#define TAMIS_BACKUP_FOR_USE 1u

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

/* ---- Looking at a filter as a whole ---------------------------------------------------------- */

/*
 * How full each of `count` equal parts of a segment is, by the bits that are not 0 (kind counting:
 * counters, kind fuse: fingerprints).  Reads the whole segment, as tamis_filter_fill() does.
 *
 * index    0 is the oldest segment.
 * fill     room for `count` shares, 0 to 1, one for each part in the order of their places in the
 *          file.  If there are more parts than bits, some parts have the same bit.
 * Returns  0.  TAMIS_EINVAL: past the last segment, NULL, count 0; TAMIS_EDROPPED, TAMIS_ENOMEM.
 * Safe     beside any other call; bits that are set meanwhile may be counted or not.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_fill_map(tamis_filter *filter, uint32_t index,
                                                     double *fill, size_t count);

#ifdef __cplusplus
}
#endif

#endif
