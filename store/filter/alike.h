/* SPDX-License-Identifier: BSD-2-Clause */
/* alike.h: filters whose bits mean the same (alike.c). */
#ifndef TAMIS_FILTER_ALIKE_H
#define TAMIS_FILTER_ALIKE_H

#include "handle/view.h"

/* A filter and the list of it that is worked on. */
struct tamis__side {
    struct tamis_filter *filter;
    struct tamis__view *view; /* pinned */
};

/* Is it the same filter, by whatever handle? */
bool tamis__same_filter(const struct tamis_filter *a, const struct tamis_filter *b);
/* Does each bit of the one list mean what the same bit of the other does?  0, or TAMIS_EMISMATCH:
 * the sentence has every field that differs, with both values. */
int tamis__check_alike(const struct tamis__side *a, const struct tamis__side *b);
/* Has the kind of its segments `merge` and `tally`?  TAMIS_EUNSUPPORTED if not. */
int tamis__check_mergeable(const struct tamis__side *side);
/* Of one segment alone?  `verb` says what cannot be done otherwise.  TAMIS_EUNSUPPORTED if not. */
int tamis__check_one_segment(const struct tamis__side *side, const char *verb);

/* Words of a segment that are merged or compared at once: few enough for the target's share to stay
 * in the cache from source to source. */
#define TAMIS__PIECE_WORDS ((uint64_t)1 << 17)

/* compare.c: the positions that are set in a, in b, in either, piece by piece; adds to ones. */
void tamis__tally(const struct tamis__kind *kind, const struct tamis__segment *a,
                  const struct tamis__segment *b, uint64_t ones[3]);

#endif
