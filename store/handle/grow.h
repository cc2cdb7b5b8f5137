/* SPDX-License-Identifier: BSD-2-Clause */
/* grow.h: a filter goes on in another segment (grow.c). */
#pragma once

#include "handle/view.h"

/* Called when the list needs a spare, or when the time of its newest slice is over.  Waits for a
 * second at most.  After it *view is up to date. */
int tamis__view_renew(struct tamis_filter *filter, struct tamis__view **view);
/* Makes the spare that TAMIS__CHORE_SPARE asks for.  If that cannot be done now, the next call
 * before view->spare_at does nothing. */
void tamis__view_look_for_spare(struct tamis_filter *filter, struct tamis__view *view);
/*
 * Called when all slices are past.  Waits for the locks that a new slice needs, since started_ns
 * and for as long as the busy timeout says.  Also returns 0 if it cannot have them; *view then has
 * the old slice.
 */
int tamis__view_begin_slice(struct tamis_filter *filter, struct tamis__view **view,
                            int64_t started_ns);
int tamis__fail_no_slice(const struct tamis_filter *filter, int64_t started_ns); /* TAMIS_EBUSY */
/*
 * Called when the newest segment has no room.  Returns 0 if there is room now, or *view has another
 * newest segment, or refuses keys.  Returns TAMIS_EBUSY after the store's busy timeout, or the
 * error that kept a segment from being made.
 */
int tamis__view_room_for_keys(struct tamis_filter *filter, struct tamis__view **view);
