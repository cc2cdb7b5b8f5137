/* SPDX-License-Identifier: BSD-2-Clause */
/* rescue.h: what the two halves of a rescue share: the store and its names, and a single filter. */
#pragma once

#include "check/repair.h"

struct tamis__lost_filter {
    struct tamis__found *first; /* its first one in the array of those found, which is sorted */
    size_t count;
    uint64_t name_sequence;
    char name[TAMIS_NAME_MAX + 1];
    bool renamed;
};

/* A live word that is to be changed once the new catalog is in its place. */
struct tamis__word_to_tell {
    uint64_t number, value;
    size_t offset;
};

struct tamis__rescue_work {
    struct tamis__repair *repair;
    struct tamis__catalog_txn *txn; /* NULL: nothing is written */
    struct tamis__store_record store;
    struct tamis__lost_filter *filters;
    size_t count;
    struct tamis__word_to_tell *told;
    size_t told_count, told_room;
    struct tamis__record record; /* too large for the stack */
};

/* Puts the filter into the new catalog (or only reports it), and notes the live words to be written
 * into its segments. */
int tamis__rescue_filter(struct tamis__rescue_work *rescue,
                         const struct tamis__lost_filter *filter);
