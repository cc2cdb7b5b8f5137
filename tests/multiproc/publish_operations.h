/* SPDX-License-Identifier: BSD-2-Clause */
/* publish_operations.h: what changes a store, each as a function that a child runs and dies in. */
#ifndef PUBLISH_OPERATIONS_H
#define PUBLISH_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

#define FIXED 40u
#define GENERATIONS 10u

/* Keys below FIXED are in every generation; 0 and 1 are exceptions now and then. */
struct seen {
    bool gone; /* dropped, or never there */
    uint64_t generation;
    bool excepted[2];
};

static inline uint64_t mark_of(uint64_t generation)
{
    return 1000 + generation;
}

/* Each in the child; the path is that of the store, which is open. */
typedef int64_t operation_fn(tamis_store *store, const char *path);
/* Before the operation, in the parent. */
typedef void prepare_fn(tamis_store *store, const char *path);

/* Of "list", as operations_make_model() leaves it. */
#define IN_FORCE                                                                                   \
    {                                                                                              \
        .generation = 3, .excepted = { true }                                                      \
    }

struct operation {
    const char *name;
    operation_fn *run;
    prepare_fn *prepare; /* NULL: nothing */
    const char *filter;  /* that a fresh handle is opened on, after it; also "list" */
    struct seen after;   /* of "list", by handles that were open */
    bool no_catalog;     /* there is none until it is done */
};
extern const struct operation operations_all[];
extern const size_t operations_count;

extern const struct tamis_build_spec operations_fuse;

int operations_publish(tamis_store *store, const char *name, uint64_t generation,
                       const struct tamis_build_spec *spec);
/*
 * A store at `path`: "list" has three generations, of which two are kept, and an exception; beside
 * it are "other", "small", which the next keys make grow, "windowed" and "bits".  If `takes_keys`,
 * keys can be added to each generation of "list", too.
 */
void operations_make_model(const char *path, bool takes_keys);
/* What they added before their operations is there, whatever came of these. */
void operations_check_others(tamis_store *store);

#endif
