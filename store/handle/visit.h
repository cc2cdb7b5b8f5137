/* SPDX-License-Identifier: BSD-2-Clause */
/* visit.h: where each thread is.  A thread that works in a view says so in a slot of its own, so
 * that nobody frees that view meanwhile (view.h).  This takes no lock. */
#pragma once

#include "base/base.h"
#include "base/hidden.h"
#include "base/thread.h"

struct tamis__view;

/* The slot of a thread.  The thread writes here in every call, so no cache line of it is shared. */
struct tamis__visitor {
    char before[64];
    const struct tamis__view *view; /* atomic */
    unsigned used;                  /* atomic */
    /* This thread's alone: its slot named a view that it did not work in, because the place had
     * changed meanwhile.  Another thread may therefore have left that view unfreed, so this one
     * reclaims views when it leaves. */
    bool passed;
    struct tamis__visitor *next;
    char behind[64];
};

extern TAMIS__THREAD struct tamis__visitor *tamis__self TAMIS__HIDDEN;
extern bool tamis__visit_is_light TAMIS__HIDDEN;
struct tamis__visitor *tamis__visitor_register(void);

/*
 * Enters the view at *place: names it in this thread's slot, then looks whether the place has
 * changed.  A thread that exchanges the view first puts the new one in the place, and then reads
 * the slots.  So either it finds our slot, or we find its view.  This takes a full barrier here,
 * unless the exchanger's membarrier(2) makes one in every thread: then it takes two plain moves.
 */
static inline struct tamis__view *tamis__enter(struct tamis__view *const *place)
{
    struct tamis__visitor *self = tamis__self;
    if (__builtin_expect(self == NULL, 0)) {
        self = tamis__visitor_register();
        if (self == NULL) return NULL;
    }
    /* ORDER acquire: pairs with the exchanger's release, so the contents of the view are
     * complete. */
    struct tamis__view *view = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    for (;;) {
        if (__builtin_expect(tamis__visit_is_light, 1)) {
            /* ORDER release: what was done in the view before comes before it is freed. */
            __atomic_store_n(&self->view, view, __ATOMIC_RELEASE);
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
        } else {
            (void)__atomic_exchange_n(&self->view, view, __ATOMIC_SEQ_CST); /* ORDER: see above */
        }
        struct tamis__view *again = __atomic_load_n(place, __ATOMIC_SEQ_CST);
        if (__builtin_expect(again == view, 1)) return view;
        self->passed = true;
        view = again;
    }
}

/* Is a thread in that view?  Only the address is compared: the view may already be freed. */
bool tamis__has_visitor(const struct tamis__view *view);
