/* SPDX-License-Identifier: BSD-2-Clause */
/* grow.h: a filter goes on in a further segment (grow.c). */
#ifndef TAMIS_HANDLE_GROW_H
#define TAMIS_HANDLE_GROW_H

#include "handle/view.h"

/* Something is to be done to the list: it wants a spare, or its time is over (grow.c).  Waits a
 * second at the most.  As above. */
int tamis__view_renew(struct tamis_filter *filter, struct tamis__view **view);
/* Time has passed by all slices: wait for the locks that a further one needs, since started_ns and
 * for as long as the busy timeout says.  As above; 0 also where they are not to be had. */
int tamis__view_begin_slice(struct tamis_filter *filter, struct tamis__view **view,
                            int64_t started_ns);
int tamis__fail_no_slice(const struct tamis_filter *filter, int64_t started_ns); /* TAMIS_EBUSY */
/*
 * The newest segment has no room (grow.c).  0: there is some, or *view has another newest segment,
 * or refuses; TAMIS_EBUSY after the store's busy timeout, and what keeps a segment from being made.
 */
int tamis__view_make_room(struct tamis_filter *filter, struct tamis__view **view);

#endif
