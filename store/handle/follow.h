/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * follow.h: from one view of a filter to the next.  A call enters the handle's view, sees by two
 * words of its newest segment whether the list is still that, and goes on to the new one where it
 * is not.
 */
#ifndef TAMIS_HANDLE_FOLLOW_H
#define TAMIS_HANDLE_FOLLOW_H

#include "handle/view.h"

/* Enter the handle's view, up to date; the caller leaves it unless this fails. */
int tamis__visit(struct tamis_filter *filter, struct tamis__view **view);
/* The same, where it has a segment `index`: TAMIS_EINVAL past the last. */
int tamis__visit_segment(struct tamis_filter *filter, uint32_t index, struct tamis__view **view);

/*
 * The same for what calls back, and so must not be in a view: it stays until it is unpinned.  A
 * child that is born while a thread of its parent has one pinned keeps that one's memory for ever.
 */
int tamis__pin_current(struct tamis_filter *filter, struct tamis__view **view);
void tamis__unpin(struct tamis_filter *filter, struct tamis__view *view);

/* 0 if its newest segment says what it said when the view was made; what a broken mapping says is
 * no matter. */
static inline uint64_t tamis__view_moved(const struct tamis__view *view,
                                         const struct tamis__segment *newest)
{
    /* ORDER relaxed: see tamis__view_follow. */
    return (tamis__segment_epoch(newest) ^ __atomic_load_n(&view->epoch, __ATOMIC_RELAXED)) |
           (tamis__segment_next(newest) ^ __atomic_load_n(&view->next, __ATOMIC_RELAXED)) |
           (tamis__segment_exceptions(newest) ^ view->exceptions);
}

/* The same, and its mapping is whole. */
static inline bool tamis__view_is_current(const struct tamis__view *view,
                                          const struct tamis__segment *newest)
{
    const uint64_t moved =
        tamis__view_moved(view, newest) | (uint64_t)!tamis__segment_is_whole(newest);
    return __builtin_expect(moved == 0, 1);
}

/*
 * The newest segment says that there is something new.  Brings the handle, and *view, which the
 * caller has entered, to what is in force now.  0, or TAMIS_EDROPPED and what opening can give.
 * Never waits: where the catalog is locked the caller goes on with what it has.
 */
int tamis__view_follow(struct tamis_filter *filter, struct tamis__view **view);
/* The same for one that must know what comes after its newest segment: waits for the catalog. */
int tamis__view_advance(struct tamis_filter *filter, struct tamis__view **view);

/* Bring the view that the caller has entered up to what is in force. */
static inline int tamis__view_current(struct tamis_filter *filter, struct tamis__view **view)
{
    return tamis__view_is_current(*view, &tamis__newest(*view)->segment)
               ? 0
               : tamis__view_follow(filter, view);
}

#endif
