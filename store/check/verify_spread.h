/* SPDX-License-Identifier: BSD-2-Clause */
/* verify_spread.h: are the bits of a segment spread as keys spread them? */
#pragma once

#include "check/check.h"
#include "segment/room.h"

/* Can adders and removers that were killed, or are stopped, explain that `items` items lack their
 * bits?  The mark of a segment says how many handles have written to it, in its whole life. */
bool tamis__is_only_odd(const struct tamis__segment *segment, double items);
/* Says that the items and the bits look odd beside each other, and returns 1. */
int tamis__say_odd(struct tamis__damage *damage, uint64_t items, double told);

/* The bits that are set, or the counters above 0, in each stretch of a segment and in all of it. */
struct tamis__ones {
    uint16_t *of;
    uint64_t count, all;
    uint64_t mixed;                   /* of the header, read before the first stretch was counted */
    const struct tamis__meter *meter; /* told while they are counted; may be NULL */
};

/* Reads all data, beside any writer.  TAMIS_ENOMEM, or what the meter returned.  The caller calls
 * tamis__ones_clear() in any case. */
int tamis__ones_count(const struct tamis__mapped_segment *s, struct tamis__ones *ones);
void tamis__ones_clear(struct tamis__ones *ones);

/* Are the positions of its hash set uniform and independent? */
bool tamis__spread_is_even(const struct tamis__segment_header *h);

/*
 * Returns 0, TAMIS_ENOMEM, or 1 with *damage: where bits are missing or too many.  `ones` were
 * counted after `items` were read. exact: the items are keys that have set bits, and not a count
 * from elsewhere.
 */
int tamis__check_spread(const struct tamis__mapped_segment *s, struct tamis__ones *ones,
                        uint64_t items, bool exact, struct tamis__damage *damage);
