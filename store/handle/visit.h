/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * visit.h: where each thread is.  A thread that works in a view says so in a slot of its own, so
 * that nobody gives that view back meanwhile (view.h).  This takes no lock.
 */
#ifndef TAMIS_HANDLE_VISIT_H
#define TAMIS_HANDLE_VISIT_H

#include <stdbool.h>
#include <stddef.h>

struct tamis__view;

/* Where a thread is.  It writes here in every call, so no line of it is anybody else's. */
struct tamis__visitor {
    char before[64];
    const struct tamis__view *view; /* atomic */
    unsigned used;                  /* atomic */
    bool passed;                    /* its own: it has seemed to be in a view that it was not in */
    struct tamis__visitor *next;
    char behind[64];
};

extern _Thread_local struct tamis__visitor *tamis__self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern bool tamis__visit_is_light __attribute__((visibility("hidden")));
struct tamis__visitor *tamis__visitor_register(void);

/*
 * Say where we are, then look whether that is still where to be.  The exchanger puts a new view in,
 * then reads the slots; so either it finds our slot, or we find its view.  That takes a full
 * barrier here, unless the exchanger's membarrier(2) makes one in every thread: then this is two
 * plain moves.
 */
static inline struct tamis__view *tamis__enter(struct tamis__view *const *place)
{
    struct tamis__visitor *self = tamis__self;
    if (__builtin_expect(self == NULL, 0)) {
        self = tamis__visitor_register();
        if (self == NULL) return NULL;
    }
    /* ORDER acquire: pairs with the exchanger's release; the view's contents. */
    struct tamis__view *view = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    for (;;) {
        if (__builtin_expect(tamis__visit_is_light, 1)) {
            /* ORDER release: what was done in the one before comes before it is given back. */
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

/* Is a thread in that view?  By its address alone: what it points to may be gone. */
bool tamis__has_visitor(const struct tamis__view *view);

#endif
