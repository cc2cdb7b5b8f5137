/* SPDX-License-Identifier: BSD-2-Clause */
/* alike.h: compares filters: do their bits mean the same? (alike.c) */
#pragma once

#include "handle/view.h"

/* A filter and the list of it that a call works on. */
struct tamis__side {
    struct tamis_filter *filter;
    struct tamis__view *view; /* pinned */
};

/* Are these two handles on the same filter? */
bool tamis__same_filter(const struct tamis_filter *a, const struct tamis_filter *b);
/* Does each bit of one list mean the same as that bit of the other list?  Returns 0 or
 * TAMIS_EMISMATCH: the sentence has every field that differs, with both values. */
int tamis__check_alike(const struct tamis__side *a, const struct tamis__side *b);
/* Does the kind of its segments have `merge` and `tally`?  TAMIS_EUNSUPPORTED if not. */
int tamis__check_mergeable(const struct tamis__side *side);
/* Does the filter have a single segment?  `verb` says what cannot be done otherwise.
 * TAMIS_EUNSUPPORTED if not. */
int tamis__check_one_segment(const struct tamis__side *side, const char *verb);

/* The number of words of a segment that are merged or compared at once.  It is so small that the
 * target's share stays in the cache from source to source. */
#define TAMIS__PIECE_WORDS ((uint64_t)1 << 17)

/* Counts the positions that are set in a, in b and in either, piece by piece, and adds them to ones
 * (compare.c). */
void tamis__tally(const struct tamis__kind *kind, const struct tamis__segment *a,
                  const struct tamis__segment *b, uint64_t ones[3]);
