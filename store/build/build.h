/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build.h: a build under way, for the files of this folder.
 *
 *     build.c      the public calls; the steps in their order
 *     make_fuse.c  a segment of kind fuse from the keyset
 *     make_bits.c  one of any other kind, from the keys themselves
 *     verify.c     all keys, and some that are none, asked for; the keys known to be good
 *     unchanged.c  is what would be made in force already?
 */
#ifndef TAMIS_BUILD_BUILD_H
#define TAMIS_BUILD_BUILD_H

#include "build/keyset.h"
#include "build/spool.h"
#include "exceptions/set.h"
#include "filter/publish.h"
#include "hash/digester.h"
#include "kind/fuse.h"
#include "txn/draft.h"
#include "txn/plan.h"
#include "txn/store.h"

struct tamis_build {
    struct tamis_store *store; /* a reference */
    char name[TAMIS_NAME_MAX + 1];
    struct tamis_build_spec spec;    /* spec.filter is the caller's, and not looked at again */
    struct tamis_filter_spec filter; /* with no default left but capacity and keep */
    uint32_t fingerprint_bits;       /* 0: the kind is not fuse */
    struct tamis__digester by;       /* into filter.secret */
    struct tamis__plan
        plan; /* kind fuse: the hash set alone; another: the capacity follows from the keys */
    struct tamis__crew crew;
    struct tamis__keyset keyset;
    struct tamis__spool raw;     /* the keys; empty for kind fuse */
    struct tamis__spool against; /* keys known to be good */
    bool default_kind;           /* none was given: not one to replace another kind by */
    struct tamis__exceptions by_hand, found;
    struct tamis__keyset conflicts; /* keys of `against` that were added too */
    struct tamis__draft draft;
    struct tamis__segment segment; /* of the draft, while it is mapped */
    uint64_t *pieces; /* kind fuse: the rank of each piece's first digest, and the number of all */
    struct tamis_build_result result;
    int failed; /* not 0: what ended it */
    bool over;
};

static inline uint64_t tamis__build_digest(const struct tamis_build *build,
                                           const struct tamis_key *key)
{
    return tamis__fuse_digest(&build->by, key->data, key->bytes);
}

/* What can be known of the spec before the keys are.  0, TAMIS_EINVAL, TAMIS_EUNSUPPORTED. */
int tamis__build_plan_fuse(struct tamis_build *build);
int tamis__build_plan_bits(struct tamis_build *build);
/* All that there is to know, the keys being sorted: build->plan. */
int tamis__build_size_bits(struct tamis_build *build);

/* Make build->draft, staged, filled and settled, and map it.  What is made is the caller's to give
 * back after an error too. */
int tamis__build_make_fuse(struct tamis_build *build);
int tamis__build_make_bits(struct tamis_build *build);
/* Ask the mapped segment for all keys, and for some that were not added.  0 or TAMIS_ECORRUPT. */
int tamis__build_verify(struct tamis_build *build);
/* Ask a segment for the known good keys; sets found and the result's conflicts. */
int tamis__build_judge(struct tamis_build *build, const struct tamis__segment *segment);

/* 1: the generation in force is what would come out; the result says which it is.  0: it is not. */
int tamis__build_is_in_force(struct tamis_build *build);

#endif
