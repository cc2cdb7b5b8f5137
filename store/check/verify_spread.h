/* SPDX-License-Identifier: BSD-2-Clause */
/* verify_spread.h: are the bits of a segment spread as keys spread them? */
#ifndef TAMIS_CHECK_VERIFY_SPREAD_H
#define TAMIS_CHECK_VERIFY_SPREAD_H

#include "check/check.h"

/* A single add counts its key and sets the bits then (file/room.h).  As many adders may stand
 * between the two, or have died there. */
#define TAMIS__ITEMS_AHEAD 64u

/* Bits that are set, or counters above 0, in each stretch of a segment and in all of it. */
struct tamis__ones {
    uint16_t *of;
    uint64_t count, all;
    uint64_t mixed; /* of the header, before the first was counted */
};

/* Reads all data, beside any writer.  TAMIS_ENOMEM; tamis__ones_clear() after it in any case. */
int tamis__ones_count(const struct tamis__store_segment *s, struct tamis__ones *ones);
void tamis__ones_clear(struct tamis__ones *ones);

/* Are the positions of its hash set uniform and independent? */
bool tamis__spread_is_even(const struct tamis__segment_header *h);

/*
 * 0, or 1 with the byte where bits are missing, or too many, and a clause about it; or
 * TAMIS_ENOMEM.  `ones` are what was counted, after `items` were read.  exact: these are keys that
 * have set bits, no other's count.
 */
int tamis__check_spread(const struct tamis__store_segment *s, struct tamis__ones *ones,
                        uint64_t items, bool exact, uint64_t *offset,
                        char reason[TAMIS__CHECK_BYTES]);

#endif
