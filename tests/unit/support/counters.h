/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters.h: a counting filter in a store of its own, and a model of it: for each cell a plain
 * number, without limit, that each add of a key raises in the cells that the kind names.
 */
#ifndef TAMIS_UNIT_COUNTERS_H
#define TAMIS_UNIT_COUNTERS_H

#include "fixture.h"
#include "kind/cells.h"
#include "kind/kind.h"
#include "txn/store.h"

struct counters {
    char *path;
    tamis_store *store;
    tamis_filter *filter;
    const struct tamis__segment *segment; /* of the filter */
    const struct tamis__kind *kind;
    struct tamis__cells cells;
    uint64_t *model; /* m numbers */
};

void counters_make(struct counters *c, uint64_t capacity, double fp_rate, uint32_t counter_bits);
void counters_free(struct counters *c);
/* Freed at the end of its block, see auto.h. */
#define AUTO_COUNTERS __attribute__((cleanup(counters_free))) struct counters

/* Close the filter and open it again. */
void counters_reopen(struct counters *c);

/* The cells of a key, each once; returns how many. */
unsigned counters_cells(const struct counters *c, const void *key, size_t key_bytes,
                        uint64_t *cells);

/* What the calls must return; the first two change the model. */
int counters_model_add(struct counters *c, const void *key, size_t key_bytes);
int counters_model_remove(struct counters *c, const void *key, size_t key_bytes);
uint64_t counters_model_count(const struct counters *c, const void *key, size_t key_bytes);

/* Let a cell of the filter hold that number, below its greatest, and the model too. */
void counters_set(struct counters *c, uint64_t cell, uint64_t number);

/* Every cell is what the model says, verify finds nothing, and the file is as long as it must be.
 * */
void counters_check(const struct counters *c);

#endif
