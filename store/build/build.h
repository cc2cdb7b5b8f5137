/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build.h: a build under way, for the files of this folder.
 *
 *     build.c      the public calls; the steps in their order
 *     make_fuse.c  makes a segment of kind fuse from the keyset
 *     make_bits.c  makes a segment of any other kind, from the keys themselves
 *     verify.c     asks for all keys and for some that were not added; then for the keys known
 *                  to be good
 *     unchanged.c  is what would be made in force already?
 */
#pragma once

#include "build/keyset.h"
#include "build/spool.h"
#include "exceptions/set.h"
#include "hash/digester.h"
#include "kind/fuse.h"
#include "plan/plan.h"
#include "txn/draft.h"
#include "txn/store.h"

struct tamis_build {
    struct tamis_store *store; /* a reference */
    char name[TAMIS_NAME_MAX + 1];
    struct tamis_build_spec spec;    /* spec.filter belongs to the caller, and is not read again */
    struct tamis_filter_spec filter; /* with all defaults filled in but capacity and keep */
    uint32_t fingerprint_bits;       /* 0: the kind is not fuse */
    struct tamis__digester by;       /* its secret is that of `filter` */
    struct tamis__plan
        plan; /* kind fuse: only the hash set; other kinds: the capacity follows from the keys */
    struct tamis__crew crew;
    struct tamis__keyset keyset;
    struct tamis__spool raw;                    /* the keys; empty for kind fuse */
    struct tamis__spool against;                /* keys known to be good */
    struct tamis__key_rule rule;                /* all keys below are forms by it */
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1]; /* that of the filter in force, if it is taken */
    bool default_kind; /* no kind was given: must not replace another kind */
    struct tamis__exceptions by_hand, found;
    struct tamis__keyset conflicts; /* keys of `against` that were added too */
    struct tamis__draft draft;
    struct tamis__segment segment; /* of the draft, while it is mapped */
    uint64_t *pieces; /* kind fuse: rank of each piece's first digest, and of the end */
    struct tamis_build_result result;
    int failed; /* not 0: the error that ended the build */
    bool over;
};

static inline uint64_t tamis__build_digest(const struct tamis_build *build,
                                           const struct tamis_key *key)
{
    return tamis__fuse_digest(&build->by, key->data, key->bytes);
}

/* Plans what can be known of the spec before the keys are.  0, TAMIS_EINVAL, TAMIS_EUNSUPPORTED. */
int tamis__build_plan_fuse(struct tamis_build *build);
int tamis__build_plan_bits(struct tamis_build *build);
/* Completes build->plan when the keys are sorted. */
int tamis__build_size_bits(struct tamis_build *build);

/* Makes build->draft, staged and filled, and maps it.  After an error too, the caller gives
 * back what was made. */
int tamis__build_make_fuse(struct tamis_build *build);
int tamis__build_make_bits(struct tamis_build *build);
/* Reads a spool to its end.  `fn` is called with each batch of keys, and returns how many of them
 * count for the crew's progress, or an error. */
typedef int64_t tamis__batch_fn(struct tamis_build *build, const struct tamis__segment *segment,
                                const struct tamis_key *keys, size_t count);
int tamis__build_each_batch(struct tamis_build *build, struct tamis__spool *spool,
                            const struct tamis__segment *segment, tamis__batch_fn *fn);
/* Asks the mapped segment for all keys, and for some that were not added.  0 or TAMIS_ECORRUPT. */
int tamis__build_verify(struct tamis_build *build);
/* Asks a segment for the keys known to be good; sets `found` and the conflicts of the result. */
int tamis__build_judge(struct tamis_build *build, const struct tamis__segment *segment);

/* Returns 1 if the generation in force is what the build would make; the result says which one it
 * is.  Otherwise 0. */
int tamis__build_is_in_force(struct tamis_build *build);
