/* SPDX-License-Identifier: BSD-2-Clause */
/* rescue.h: what the parts of a rescue share: the store and its names (rescue.c), a single filter
 * (rescue_filter.c), and what the old catalog knew (rescue_old.c); and adopt.c, which takes
 * segments into a sound catalog in the same way. */
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
    size_t left_over;            /* filters that are in the old catalog alone */
    bool revives;                /* a filter that was dropped is wanted again */
    struct tamis__numbers taken; /* files of the records that were made */
    struct tamis__record record; /* too large for the stack */
};

void tamis__rescue_free(struct tamis__rescue_work *rescue);

/* Describes the filter whose segments begin at `first`. */
void tamis__rescue_describe(const struct tamis__rescue_work *rescue, struct tamis__found *first,
                            struct tamis__lost_filter *filter);
/* Makes "<name>~<id>", with the name cut after a whole character so that it fits. */
void tamis__rescue_make_name(const char *base, uint64_t filter_id, char made[TAMIS_NAME_MAX + 1]);
/* Gives the filter another name if a filter of the catalog has its name, or if it has none. */
int tamis__rescue_find_name(struct tamis__catalog_txn *txn, struct tamis__lost_filter *filter);
/* Writes the live words.  If this fails, the next open of the filter does it. */
void tamis__rescue_tell(const struct tamis__rescue_work *rescue);

/* The publication as of which a list was last in force, as far as its newest segment knows. */
uint64_t tamis__rescue_rank(const struct tamis__found *newest);
/* Puts the filter into the new catalog (or only reports it), and notes the live words to be written
 * into its segments. */
int tamis__rescue_filter(struct tamis__rescue_work *rescue,
                         const struct tamis__lost_filter *filter);
/* Was the filter dropped?  Its newest segment says so. */
bool tamis__rescue_is_dropped(const struct tamis__rescue_work *rescue,
                              const struct tamis__lost_filter *filter);
/*
 * Puts segments of a filter that the catalog has into its lists, where they belong to one and are
 * not in it.  Notes their numbers in rescue->taken.  `txn` has the catalog; rescue->txn too, unless
 * nothing is to be written.
 */
int tamis__rescue_join(struct tamis__rescue_work *rescue, struct tamis__catalog_txn *txn,
                       const struct tamis__lost_filter *filter);

/* Takes the exceptions into rescue->record: 1.  Returns 0 if the index is not sound. */
int tamis__rescue_take_index(struct tamis__rescue_work *rescue, const struct tamis__found *index);
/* Behind a tamis__rescue_join() that has not taken the segment: makes its list a kept generation.
 * TAMIS_EEXIST if the filter has such a generation. */
int tamis__rescue_keep(struct tamis__rescue_work *rescue, struct tamis__catalog_txn *txn,
                       const struct tamis__lost_filter *filter, uint64_t number);

/* Compares the new catalog with the old one, which can be read: reports each filter that has fewer
 * segments or keys, and keeps the records of those that would be left out. */
int tamis__rescue_compare(struct tamis__rescue_work *rescue);
