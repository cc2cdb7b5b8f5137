/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.h: plans the segments of a filter from what a caller asks for. */
#pragma once

#include "catalog/record.h"
#include "hash/hash_set.h"
#include "sizing/sizing.h"

/* A spec with all that it left open filled in: geometry, rate and hash set, checked. */
struct tamis__plan {
    struct tamis_sizing sizing;
    const struct tamis__hash_set *hash_set;
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
    uint32_t bit_order; /* that of the hash set */
    uint64_t seed;
    bool any_secret;        /* no secret was given: if the filter exists, its own secret is right */
    bool explicit_geometry; /* m and k were given */
    bool owned;             /* TAMIS_FILTER_OWNED */
    struct tamis__policy policy;
};
/* Copies the spec of a caller, whose struct may be shorter.  Fails with TAMIS_EINVAL if its
 * reserved field is not 0: a later version may give it a meaning. */
int tamis__take_spec(const struct tamis_filter_spec *theirs, struct tamis_filter_spec *ours);
/* Gives the secret of a hash set that has one: `given`, or a random secret if `given` is all 0.
 * Fails with TAMIS_EINVAL if a secret is given to a hash set that has none. */
int tamis__plan_secret(const struct tamis__hash_set *set, const uint8_t given[TAMIS_SECRET_BYTES],
                       uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES]);
/* Puts the text of a key rule, such as a spec has it, into a policy. */
int tamis__plan_key_rule(const char *given, struct tamis__policy *policy);
int tamis__plan_filter(const struct tamis_filter_spec *spec, struct tamis__plan *plan);
void tamis__plan_describe(const struct tamis__plan *plan, struct tamis__listed_segment *segment);
