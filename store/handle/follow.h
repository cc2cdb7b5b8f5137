/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * follow.h: leads a handle from one view of its filter to the next.  A call enters the view of the
 * handle.  Two words of the newest segment tell it whether the list is still the same.  If not, the
 * call goes on to a new view.
 */
#pragma once

#include "handle/view.h"
#include "segment/broken.h"
#include "segment/live.h"

/* Enters the handle's view, up to date.  The caller leaves it, unless this fails. */
int tamis__visit(struct tamis_filter *filter, struct tamis__view **view);
/* As tamis__visit(), for a view that has a segment `index`: TAMIS_EINVAL past the last. */
int tamis__visit_segment(struct tamis_filter *filter, uint32_t index, struct tamis__view **view);

/*
 * As tamis__visit(), for callers that call back and so must not be in a view.  The view stays until
 * it is unpinned.  If a process forks while a thread has a view pinned, the child keeps that view's
 * memory for ever.
 */
int tamis__pin_current(struct tamis_filter *filter, struct tamis__view **view);
void tamis__unpin(struct tamis_filter *filter, struct tamis__view *view);

/* Returns 0 if the newest segment says what it said when the view was made.  What a broken mapping
 * says does not matter. */
static inline uint64_t tamis__view_moved(const struct tamis__view *view,
                                         const struct tamis__segment *newest)
{
    /* ORDER relaxed: see tamis__view_follow. */
    return (tamis__segment_epoch(newest) ^ __atomic_load_n(&view->epoch, __ATOMIC_RELAXED)) |
           (tamis__segment_next(newest) ^ __atomic_load_n(&view->next, __ATOMIC_RELAXED)) |
           (tamis__segment_exceptions(newest) ^ view->exceptions);
}

/* Is the view up to date, and the mapping of its newest segment whole? */
static inline bool tamis__view_is_current(const struct tamis__view *view,
                                          const struct tamis__segment *newest)
{
    const uint64_t moved =
        tamis__view_moved(view, newest) | (uint64_t)!tamis__segment_is_whole(newest);
    return __builtin_expect(moved == 0, 1) && (view->is_lone || tamis__view_is_whole(view));
}

/*
 * Called when the newest segment says that there is something new.  Brings the handle, and *view,
 * which the caller has entered, to what is in force now.  Returns 0, TAMIS_EDROPPED or an error of
 * opening.  If the catalog is locked, it is read without the lock.  Waits for the lock, up to the
 * busy timeout of the store (TAMIS_EBUSY), only if that cannot tell what is in force.
 */
int tamis__view_follow(struct tamis_filter *filter, struct tamis__view **view);
/* As tamis__view_follow(), but waits for the catalog.  For a caller that must know what comes after
 * its newest segment. */
int tamis__view_advance(struct tamis_filter *filter, struct tamis__view **view);

/* Brings the view that the caller has entered up to what is in force. */
static inline int tamis__view_current(struct tamis_filter *filter, struct tamis__view **view)
{
    return tamis__view_is_current(*view, &tamis__newest(*view)->segment)
               ? 0
               : tamis__view_follow(filter, view);
}
