/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.h: in which pages the segments of a view are mapped (docs/decisions/0027-pages.md). */
#pragma once

#include "handle/view.h"

/* Advises the kernel for all segments of a fresh view. */
void tamis__view_choose_pages(struct tamis__view *view, bool read_only);

/*
 * Looks, now and then, whether so many keys come that huge pages cost the disk little, or no longer
 * so many.  Adders call this at each batch, and single adds now and then.
 */
void tamis__view_look_at_pages(struct tamis__view *view, int64_t now);
static inline void tamis__view_watch_pages(struct tamis__view *view)
{
    if (view->busy_keys == UINT64_MAX) return;
    const int64_t now = tamis__steady_ns();
    /* ORDER relaxed: a hint. */
    if (now >= __atomic_load_n(&view->look_at, __ATOMIC_RELAXED))
        tamis__view_look_at_pages(view, now);
}

/* What the last handle does that wrote: the fill is over, and what is added later may be little. */
void tamis__view_calm_pages(struct tamis__view *view);

/* So many new keys are about to come (tamis_filter_prepare()). */
void tamis__view_expect_keys(struct tamis__view *view, uint64_t keys);
