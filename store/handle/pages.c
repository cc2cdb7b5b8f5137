/* SPDX-License-Identifier: BSD-2-Clause */
/* pages.c: see pages.h. */
#include "handle/pages.h"

#include "segment/pages.h"

#define LOOK_NS ((int64_t)50000000)
/* The kernel writes a dirty page back after 30 seconds, and looks every 5. */
#define WRITE_BACK_NS ((int64_t)30000000000)
/* Tenths of busy_keys: with fewer, huge pages cost the disk more than half as much again: 1 / (1 -
 * e^(-0.7 ln 5)) is 1.48.  What is between that and busy_keys stays as it is. */
#define CALM_TENTHS 7

static const struct tamis__segment *newest_of(const struct tamis__view *view)
{
    return &tamis__newest(view)->segment;
}

/* A segment that follows one to which very many keys came gets as many.  It is empty, so its pages
 * come huge from the first on. */
static void inherit(const struct tamis__view *view)
{
    const struct tamis__segment *newest = newest_of(view);
    if (view->count < 2 || tamis__segment_items(newest) != 0) return;
    const struct tamis__live *before = view->segments[view->count - 2].segment.live;
    /* ORDER relaxed: a hint. */
    if (__atomic_load_n(&before->pages, __ATOMIC_RELAXED) == TAMIS_PAGES_HUGE)
        tamis__pages_note(newest, TAMIS_PAGES_HUGE);
}

static void advise(const struct tamis__view *view, uint32_t index)
{
    const struct tamis__segment *segment = &view->segments[index].segment;
    const struct tamis__pages_case known = {.setting = view->policy.pages,
                                            .takes_keys = index + 1 == view->count};
    tamis__pages_advise(segment, tamis__pages_wanted(segment, known));
}

void tamis__view_choose_pages(struct tamis__view *view, bool read_only)
{
    if (view->policy.pages == TAMIS_PAGES_AUTO && !read_only) inherit(view);
    for (uint32_t i = 0; i < view->count; i++)
        advise(view, i);
    view->busy_keys =
        view->policy.pages == TAMIS_PAGES_AUTO && !read_only && tamis__view_is_written(view)
            ? tamis__pages_keys(newest_of(view)->header)
            : UINT64_MAX;
}

void tamis__view_look_at_pages(struct tamis__view *view, int64_t now)
{
    const struct tamis__segment *newest = newest_of(view);
    int64_t look_at = __atomic_load_n(&view->look_at, __ATOMIC_RELAXED);
    /* ORDER relaxed, here and below: hints.  One thread looks. */
    if (!__atomic_compare_exchange_n(&view->look_at, &look_at, now + LOOK_NS, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    const uint64_t items = tamis__segment_items(newest);
    const int64_t since = __atomic_load_n(&view->counts_since, __ATOMIC_RELAXED);
    const uint64_t from = __atomic_load_n(&view->counts_from, __ATOMIC_RELAXED);
    const uint64_t came = items > from ? items - from : 0;
    const uint64_t syncs = __atomic_load_n(&newest->live->syncs_begun, __ATOMIC_RELAXED);
    /* Whatever writes the pages back ends what is counted: the kernel, or a sync of any process. */
    const bool over = now - since > WRITE_BACK_NS ||
                      syncs != __atomic_load_n(&view->counts_syncs, __ATOMIC_RELAXED);
    if (since != 0 && came >= view->busy_keys && now - since <= WRITE_BACK_NS)
        tamis__pages_note(newest, TAMIS_PAGES_HUGE);
    else if (since != 0 && over && came < view->busy_keys / 10 * CALM_TENTHS)
        tamis__pages_note(newest, TAMIS_PAGES_SMALL);
    if (since == 0 || over) {
        __atomic_store_n(&view->counts_from, items, __ATOMIC_RELAXED);
        __atomic_store_n(&view->counts_syncs, syncs, __ATOMIC_RELAXED);
        __atomic_store_n(&view->counts_since, now, __ATOMIC_RELAXED);
    }
    advise(view, view->count - 1); /* another process may have noted it */
}

void tamis__view_expect_keys(struct tamis__view *view, uint64_t keys)
{
    if (keys < view->busy_keys || view->busy_keys == UINT64_MAX) return;
    tamis__pages_note(newest_of(view), TAMIS_PAGES_HUGE);
    advise(view, view->count - 1);
}

void tamis__view_calm_pages(struct tamis__view *view)
{
    const struct tamis__segment *newest = newest_of(view);
    if (view->busy_keys == UINT64_MAX || /* ORDER relaxed: a hint. */
        __atomic_load_n(&newest->live->pages, __ATOMIC_RELAXED) != TAMIS_PAGES_HUGE)
        return;
    tamis__pages_note(newest, TAMIS_PAGES_SMALL);
    advise(view, view->count - 1);
    tamis__pages_anew(newest);
}
