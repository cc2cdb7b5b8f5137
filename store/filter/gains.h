/* SPDX-License-Identifier: BSD-2-Clause */
/* gains.h: what a watch remembers of each segment, so that it can tell how many keys were NEW
 * between two looks.  A difference of the filter's items does not tell it: a window forgets. */
#pragma once

#include "catalog/record.h"

/* A segment at the last look.  `number` 0 stands for the filter itself. */
struct tamis__seen {
    uint64_t filter_id, number, items, look;
};

/* All 0 at first. */
struct tamis__gains {
    struct tamis__seen *all; /* the first `sorted` are in order */
    size_t count, room, sorted;
    uint64_t look;
};

/* Begins a look. */
void tamis__gains_begin(struct tamis__gains *gains);
/* Returns whether the filter was there at an earlier look, and remembers it, or TAMIS_ENOMEM. */
int tamis__gains_filter(struct tamis__gains *gains, uint64_t filter_id);
/*
 * What a segment of the record has gained since the look before: never below 0.  `header`, or NULL
 * if it could not be read: then what was seen of it stays.
 *
 * All items of a segment that was not seen before are a gain, unless *anew: it belongs to a list
 * that was put in the place of another one by a build, a merge or a rollback.  That is set, for
 * those behind it too, by a segment that was not seen before and begins a list.
 *
 * TAMIS_ENOMEM: it could not be remembered.
 */
int64_t tamis__gains_segment(struct tamis__gains *gains, const struct tamis__record *record,
                             uint32_t index, const struct tamis__segment_header *header,
                             bool *anew);
/* Ends a look at all filters: those that were not looked at are forgotten.  Without it, as after a
 * look that was ended early, they stay. */
void tamis__gains_end(struct tamis__gains *gains, bool looked_at_all);
void tamis__gains_free(struct tamis__gains *gains);
