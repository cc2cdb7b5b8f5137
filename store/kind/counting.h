/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counting.h: what the files of kind counting share.  counting_key.h has what happens to the cells
 * of one key, counting_run.h the loops over many keys, counting.c the rest.
 */
#pragma once

#include "kind/block.h"
#include "kind/cells.h"
#include "kind/kind.h"

/* The cells of a key: of the 64 cells from 64 * word[i] on, those in mask[i], for i below z.  They
 * are a set: a place that was picked twice is one cell.  Their order is that of i, then of the bits
 * from the lowest on; all adders of a key visit them in this order. */
struct tamis__key_cells {
    uint64_t word[4];
    uint64_t mask[4];
};

enum tamis__counting_op {
    TAMIS__COUNTING_ADD,
    TAMIS__COUNTING_CONTAINS,
    TAMIS__COUNTING_REMOVE,
    TAMIS__COUNTING_COUNT,
};

/* What a batch call gets, and where its results go. */
struct tamis__counting_call {
    enum tamis__counting_op op;
    const struct tamis_key *keys; /* one of these two is NULL */
    const struct tamis__digest *digests;
    struct tamis__digest *kept; /* NULL, or where the digests of the keys go */
    size_t count;
    uint8_t *answers; /* NULL for COUNT */
    uint64_t *counts; /* NULL for the others */
};

/* Returns the number of answers, or of counts, above 0.  It ends at the first error; the keys that
 * are not done get TAMIS_ANSWER_REFUSED. */
typedef int64_t tamis__counting_run_fn(const struct tamis__segment *segment,
                                       const struct tamis__counting_call *call);

/* The reference first, then the variants for machines with more instructions, for fewer than 2^32
 * blocks. */
tamis__counting_run_fn tamis__counting_run_portable, tamis__counting_run_avx2,
    tamis__counting_run_avx512;

/* Removers of a key hold the lock of its block. */
int tamis__counting_lock(const struct tamis__cells *cells, const struct tamis__key_cells *key);
void tamis__counting_unlock(const struct tamis__cells *cells, const struct tamis__key_cells *key);

/* The least of the counts of a key, one of whose cells is marked. */
uint64_t tamis__counting_least(const struct tamis__segment *segment,
                               const struct tamis__key_cells *key, unsigned z);

/* Makes slots for the cells in `full`, of word `word`, that cannot be raised once more without one.
 * Sets in *zero those of them that are marked and count 0.  Returns TAMIS_ENOSPACE and the like. */
int tamis__counting_take_slots(const struct tamis__cells *cells, uint64_t word, uint64_t full,
                               uint64_t *zero);

/* Takes back an add that found no room for cell `failed`: lowers the cells before it. */
void tamis__counting_take_back(const struct tamis__cells *cells, const struct tamis__key_cells *key,
                               unsigned z, uint64_t failed);
