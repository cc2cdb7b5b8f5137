/* SPDX-License-Identifier: BSD-2-Clause */
/* builds.h: sets of keys, builds of them, and what comes out, for the tests of builds. */
#ifndef TAMIS_UNIT_BUILDS_H
#define TAMIS_UNIT_BUILDS_H

#include "fixture.h"
#include "tamis.h"

/* Key `number` of a family: families have no key in common. */
#define BUILDS_KEY_BYTES 16u
struct builds_key {
    unsigned char bytes[BUILDS_KEY_BYTES];
};
struct builds_key builds_key(char family, uint64_t number);

/* Numbers first .. first + count - 1 of a family, each `times` times, in an order that `shuffle`
 * chooses (0: rising). */
struct builds_keys {
    char family;
    uint64_t first, count;
    unsigned times;
    uint64_t shuffle;
};

typedef int builds_fn(tamis_build *build, const struct tamis_key *keys, size_t count);
/* Hand them to tamis_build_add() and the like, in batches.  The first error. */
int builds_give(tamis_build *build, builds_fn *fn, const struct builds_keys *keys);

/* A build of `name` with these keys, published and closed: what publishing returned. */
int builds_run(tamis_store *store, const char *name, const struct tamis_build_spec *spec,
               const struct builds_keys *keys, struct tamis_build_result *result);

/* Of these keys, how many does the filter answer yes to? */
uint64_t builds_count_yes(tamis_store *store, const char *name, const struct builds_keys *keys);

/* Number of the one segment that is in force. */
uint64_t builds_segment(tamis_store *store, const char *name);

#endif
