/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prepare.c: for a program whose thread must not wait for the disk when it adds: it asks whether an
 * add may have to, and lets another thread do what the adds would wait for.
 *
 *     what an add waits for                       who does it, once tamis_filter_may_wait() was
 * asked the mark of the newest segment, a sync      prepare, or an add that may wait a spare, while
 * there is room                prepare the next segment, where there is no room    an add that may
 * wait a slice of a window that is over            prepare, or an add that may wait
 */
#include "handle/add_key.h"
#include "handle/checkpoint.h"
#include "handle/follow.h"
#include "handle/grow.h"
#include "handle/pages.h"
#include "segment/mark.h"

/* Has the newest segment room for so many keys?  What is granted to a stripe, and not used, is
 * looked at last. */
static bool has_room(const struct tamis__view *view, size_t keys)
{
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    if (!tamis__view_is_limited(view) || tamis__view_refuses(view)) return true;
    if (view->policy.on_full == TAMIS_ON_FULL_REFUSE && view->policy.window_items == 0) return true;
    return tamis__room_is_enough(newest, view->limit, keys);
}

/* Is a spare wanted, and worth a try now? */
static bool wants_spare(const struct tamis__view *view)
{
    /* ORDER relaxed: these are hints. */
    if ((__atomic_load_n(&view->chores, __ATOMIC_RELAXED) & TAMIS__CHORE_SPARE) == 0) return false;
    const int64_t again_at = __atomic_load_n(&view->spare_at, __ATOMIC_RELAXED);
    return again_at == 0 || tamis__steady_ns() >= again_at;
}

static int may_wait(const struct tamis__view *view, size_t keys)
{
    /* ORDER relaxed: a hint, as in tamis__has_chores(). */
    const unsigned chores = __atomic_load_n(&view->chores, __ATOMIC_RELAXED);
    if (!tamis__view_is_current(view, &tamis__newest(view)->segment) ||
        (chores & TAMIS__CHORE_DURABLE) != 0 ||
        ((chores & TAMIS__CHORE_MARK) != 0 &&
         !tamis__mark_is_on_disk(&tamis__newest(view)->segment)) ||
        tamis__view_is_over(view) || !has_room(view, keys))
        return TAMIS_ADD_MAY_WAIT;
    return wants_spare(view) ? TAMIS_ADD_WANTS_PREPARE : TAMIS_ADD_AT_ONCE;
}

TAMIS_API int tamis_filter_may_wait(tamis_filter *filter, size_t keys)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (filter->read_only) return tamis__fail_read_only(filter);
    /* ORDER relaxed: who misses it makes a spare by itself.  Load first: the store would take the
     * cache line at each question. */
    if (!__atomic_load_n(&filter->is_prepared, __ATOMIC_RELAXED))
        __atomic_store_n(&filter->is_prepared, true, __ATOMIC_RELAXED);
    struct tamis__view *view = tamis__enter(&filter->view);
    if (view == NULL) return TAMIS_ENOMEM;
    const int rc = may_wait(view, keys);
    tamis__leave(filter, view);
    return rc;
}

TAMIS_API int tamis_filter_prepare(tamis_filter *filter, uint64_t keys)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (filter->read_only) return tamis__fail_read_only(filter);
    struct tamis__view *view;
    int rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    if (keys > 0) tamis__view_expect_keys(view, keys);
    if (tamis__view_is_written(view)) {
        if (!view->policy.durable) rc = tamis__do_chores(filter, &view);
        if (rc == 0 && wants_spare(view)) tamis__view_look_for_spare(filter, view);
        if (rc == 0) rc = tamis__view_current(filter, &view); /* the adders need not look at it */
    }
    return (int)tamis__leave_with(filter, view, rc);
}
