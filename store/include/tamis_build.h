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
 * A build makes the next GENERATION of a filter beside the one in force.  A generation is a version
 * of the filter's list of segments.  The build asks the new generation for every key, and publishes
 * it in one step. Every open handle, in whatever process, answers from the old generation or from
 * the new one, never from both in one call.  It answers from the new one in each call that begins
 * after tamis_build_publish() has returned.  Of the generations before it, as many as `keep` says
 * are kept, and can be put in force again.
 */
#ifndef TAMIS_BUILD_H
#define TAMIS_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_filter.h"
#include "tamis_keys.h"
#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAMIS_KEEP_DEFAULT 1 /* older generations of a new filter that are kept */
#define TAMIS_KEEP_MAX 1000

/* ---- Builds --------------------------------------------------------------------------------- */

typedef struct tamis_build tamis_build;

/* Flags of struct tamis_build_spec. */
enum tamis_build_flag {
    TAMIS_BUILD_IF_CHANGED = 0x400, /* publish nothing if nothing has changed */
    TAMIS_BUILD_KEEP = 0x800,       /* `keep` is given; else the filter's own value stays */
    TAMIS_BUILD_MAX_SHRINK =
        0x1000, /* `max_shrink` is given; else the list may shrink by any number */
};

enum tamis_build_phase {
    TAMIS_BUILD_READING = 0,    /* done: keys added so far; all: 0, because it is not known */
    TAMIS_BUILD_SORTING = 1,    /* done, all: keys that are sorted, to remove duplicates */
    TAMIS_BUILD_MAKING = 2,     /* done, all: distinct keys that are in the new generation */
    TAMIS_BUILD_VERIFYING = 3,  /* done, all: keys asked for */
    TAMIS_BUILD_PUBLISHING = 4, /* done, all: 0 and 1, then 1 and 1 */
};

/*
 * What to build.  All zero but filter.fp_rate is a good default.  If the filter exists, members of
 * `filter` that are 0 take the values of the filter in force: fp_rate; hash_set with its seed and
 * secret, if the kind can have that hash set; durable; on_full, if that is TAMIS_ON_FULL_REFUSE,
 * and the capacity with it.  If the filter in force was built, kind and any on_full are taken, too.
 */
struct tamis_build_spec {
    size_t size;                            /* sizeof(struct tamis_build_spec) */
    const struct tamis_filter_spec *filter; /* what the filter is to be; NULL: all 0.  kind 0:
                                               TAMIS_KIND_FUSE.  capacity 0: the number of distinct
                                               keys; else there is room for at least so many */
    uint64_t memory_bytes; /* memory for the keys, 1 MiB or more; keys that do not fit go through a
                              file in the store; 0: a quarter of the free memory.  Each thread takes
                              some 70 MB besides */
    uint32_t threads; /* 0: as many as there are processors.  Fewer work at a time if half of the
                         free memory is too little for all of them */
    uint32_t flags;   /* TAMIS_BUILD_* */
    uint32_t keep;    /* with TAMIS_BUILD_KEEP: how many generations before the new one are
                         kept, 0 to TAMIS_KEEP_MAX */
    /* NULL, or called now and then by the thread that called the library.  It returns 0 to go on,
     * or a TAMIS_E* code to end the call, which then returns it. */
    int (*progress)(void *context, uint32_t phase, uint64_t done, uint64_t all);
    void *context;
    /* Guards against a list that is much too short.  Both are compared before anything is made, and
     * again in the step in which the generation comes into force. */
    uint64_t at_least; /* the least number of distinct keys; 0: no least number */
    double max_shrink; /* with TAMIS_BUILD_MAX_SHRINK: there may be at most so many percent fewer
                          keys than in force, 0 to 100 */
};

/* What a build did. */
struct tamis_build_result {
    size_t size;         /* sizeof(struct tamis_build_result) */
    uint64_t keys;       /* keys that were added, counting duplicates */
    uint64_t distinct;   /* distinct keys among them */
    uint64_t generation; /* the generation that is in force now */
    uint64_t exceptions; /* the exceptions that are in force with it */
    uint64_t found;     /* keys of tamis_build_against() that answered yes, and became exceptions */
    uint64_t conflicts; /* keys of tamis_build_against() that were added, too; they answer yes */
    uint64_t sampled;   /* made-up keys that were asked for, to measure the rate */
    uint64_t sampled_yes;   /* how many of these answered yes */
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
 * Killed   the next process that makes a file in the store removes what is left.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_build_begin(tamis_store *store, const char *name,
                                                 const struct tamis_build_spec *spec,
                                                 tamis_build **build);

/* Adds `count` keys to the new generation.  The library copies them.  A key may come any number of
 * times.  Returns 0, TAMIS_ENOMEM, TAMIS_ENOSPACE, TAMIS_EIO, TAMIS_EINVAL, or the code by which
 * progress ended the call. */
TAMIS_API TAMIS_MUST_CHECK int tamis_build_add(tamis_build *build, const struct tamis_key *keys,
                                               size_t count);

/* Gives keys that must not seem present.  If the generation would answer yes to such a key although
 * it was not added, the key becomes an exception of this generation.  Returns as tamis_build_add().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_build_against(tamis_build *build, const struct tamis_key *keys,
                                                   size_t count);

/* Gives keys that must answer absent whatever was added, as with tamis_filter_except().  They are
 * exceptions of the new generation and of all later ones.  Returns as tamis_build_add(). */
TAMIS_API TAMIS_MUST_CHECK int tamis_build_except(tamis_build *build, const struct tamis_key *keys,
                                                  size_t count);

/*
 * Makes the generation, verifies it and publishes it.
 *
 * Verified  The call asks the new generation for each key that was added; each must answer yes.  It
 *           also asks for made-up keys; no more of them may answer yes than the rate allows (with a
 *           hash set other than xxh3 they are counted, not judged).  Otherwise the memory is
 *           faulty: the call returns TAMIS_ECORRUPT, and publishes nothing.
 * result    NULL, or receives what the build did.
 * Returns   1: the new generation is in force.  0: TAMIS_BUILD_IF_CHANGED was given, and the
 *           generation in force has the same keys, spec and exceptions.  TAMIS_EMISMATCH: the
 *           filter in force is of kind counting, or has a window; or the spec names no kind, and
 *           that filter is of another kind than fuse; or there are too few keys (at_least,
 *           max_shrink).  TAMIS_ENOSPACE, TAMIS_ENOMEM, TAMIS_EIO, TAMIS_EBUSY.  The code by which
 *           progress ended the call.  On any error the old generation stays in force, and nothing
 *           is left behind.
 * Adders    of kinds other than fuse: keys that are added to the old generation during the call are
 *           not in the new one.
 * Same      The same keys, seed and spec give the same bytes of data, whatever the order,
 *           threads and memory.
 * Durable   when it returns 1 the generation survives a power cut.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_build_publish(tamis_build *build,
                                                   struct tamis_build_result *result);

/* Frees a build, published or not.  NULL is allowed, the same build twice is not. */
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
    uint64_t exceptions;    /* that tamis_build_against() has found for this generation */
    int64_t published_at;   /* in ns since 1970 UTC */
    uint8_t key_digest[16]; /* zeros: no build has made this generation */
};

/* The library calls this function once for each generation, the oldest first.  A value other than 0
 * ends the call, which returns the value. */
typedef int tamis_generation_fn(void *context, const struct tamis_generation_stat *stat);

/* Lists the generation in force and the kept ones.  Returns 0; the value by which fn ended the
 * call; or TAMIS_ENOTFOUND, TAMIS_ECORRUPT, TAMIS_EBUSY, TAMIS_EIO, TAMIS_ENOMEM.  No lock is held
 * while fn runs. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_generations(tamis_store *store, const char *name,
                                                        tamis_generation_fn *fn, void *context);

/*
 * Puts a kept generation in force again.  The generation that was in force is kept instead.  Each
 * open handle answers from the other generation in each call that begins after this one has
 * returned.
 *
 * generation  its number; 0: the newest kept generation before the one in force.
 * Returns     0.  TAMIS_ENOTFOUND: there is no such filter, or no such generation; then the
 *             sentence lists the generations that are kept.  TAMIS_EREADONLY, TAMIS_EBUSY,
 *             TAMIS_EIO, TAMIS_ENOSPACE.
 * Durable     when it returns 0.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_rollback(tamis_store *store, const char *name,
                                                     uint64_t generation);

#ifdef __cplusplus
}
#endif

#endif
