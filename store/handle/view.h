/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view.h: the list of segments that a handle works on, and how it is exchanged under running calls.
 *
 * A view never changes (but for its atomics), so a call works on one from begin to end.  When the
 * filter's list has changed, a thread that notices makes another view and puts it in the handle;
 * the old one, and the mappings that only it has, are given back by the last thread that leaves it.
 *
 *     view = tamis__enter(&filter->view);      each thread has one slot that says where it is
 *     ...                                      no other call on any filter in between
 *     tamis__leave(filter, view);
 *
 * What may call back, or lasts, pins the view instead.  None of this takes a lock.  It is not for
 * signal handlers: there is one slot a thread.
 */
#ifndef TAMIS_STORE_VIEW_H
#define TAMIS_STORE_VIEW_H

#include <stdbool.h>

#include "catalog/record.h"
#include "file/io.h"
#include "kind/kind.h"

struct tamis_store;
struct tamis_filter;

/* What keeps adders from the short way: one look finds that there is none of it. */
#define TAMIS__CHORE_SPARE 1u   /* half of the newest segment is granted, and no spare was seen */
#define TAMIS__CHORE_DURABLE 4u /* always, of a durable filter: its adds go by durable.c */
/* This handle has not marked it yet, in this process (file/mark.h). */
#define TAMIS__CHORE_MARK 2u

/* A segment in a view; copies in several views share one mapping. */
struct tamis__store_segment {
    struct tamis__segment segment;
    const struct tamis__kind *kind;
    const struct tamis__by_digest *calls; /* of the kind; NULL where its hash set has no digests */
    unsigned *references;                 /* atomic: views that have the mapping */
};

/* What every call reads comes first, far from what adders write. */
struct tamis__view {
    uint64_t epoch; /* atomic: the newest segment's, when the catalog was last looked at */
    uint64_t next;  /* atomic: what the newest segment's next says as long as this view is right */
    uint64_t exceptions;       /* the same of its exceptions */
    struct tamis__digester by; /* of all segments, if digested */
    bool digested;             /* all have one digest of a key, and calls for it */
    bool is_lone;              /* one segment, and no exceptions */
    bool is_short;             /* that, digested by XXH3: one key needs no other way */
    bool takes_short;          /* and that is all there is to adding */
    unsigned chores;           /* atomic: TAMIS__CHORE_*, to be done before the next key is added */
    uint32_t first;            /* index of the first segment that the window has, by its slices */
    uint32_t slice_first;      /* index of the first segment of the newest slice */
    uint32_t count;

    struct tamis__policy policy;
    double fp_rate;
    uint64_t publication; /* of the filter, as of which it is right */
    uint64_t limit;       /* items of the newest segment at which it is full; UINT64_MAX: never */
    int64_t rotate_at;    /* ns since 1970, when the newest slice is over; INT64_MAX: never */
    int64_t slice_ns;
    struct tamis__view *retired; /* the next one that waits for its last user */
    unsigned pins;               /* atomic */

    int64_t wait_until;     /* atomic: do not try to rotate again before, ns; 0: do */
    int64_t spare_at;       /* atomic: do not look for a spare again before, steady ns; 0: do */
    int64_t made_at;        /* steady ns: when this view was made, and how much room */
    uint64_t left_at_first; /* was left then (tamis__room_left) */

    struct tamis__store_segment index;      /* of exceptions; all 0: there are none */
    struct tamis__store_segment segments[]; /* the newest last */
};

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

static inline const struct tamis__store_segment *tamis__newest(const struct tamis__view *view)
{
    return &view->segments[view->count - 1];
}

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

void tamis__view_reclaim(struct tamis_filter *filter);

/* Is every mapping of it sound?  tamis__segment_check() of each. */
int tamis__view_check(const struct tamis__view *view);

/* A view of these segments of a record, those that `old` (or NULL) has taken over from it. */
int tamis__view_make(struct tamis_store *store, const struct tamis__record *record, bool read_only,
                     const struct tamis__view *old, struct tamis__view **view);
/* The segment of that number; NULL if the view has none. */
const struct tamis__store_segment *tamis__view_find(const struct tamis__view *view,
                                                    uint64_t number);
/* Of a view that no handle has (any more): give it back. */
void tamis__view_free(struct tamis__view *view);

/*
 * The newest segment says that there is something new.  Brings the handle, and *view, which the
 * caller has entered, to what is in force now.  0, or TAMIS_EDROPPED and what opening can give.
 * Never waits: where the catalog is locked the caller goes on with what it has.
 */
int tamis__view_follow(struct tamis_filter *filter, struct tamis__view **view);
/* The same for one that must know what comes after its newest segment: waits for the catalog. */
int tamis__view_advance(struct tamis_filter *filter, struct tamis__view **view);

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

/* Is its newest segment of a kind that is written to? */
static inline bool tamis__view_is_written(const struct tamis__view *view)
{
    return tamis__newest(view)->kind->merge != NULL; /* NULL: static */
}

/* The chore TAMIS__CHORE_MARK, where it is one: after it the newest segment may be written to. */
int tamis__view_mark(struct tamis_filter *filter, struct tamis__view *view);

/* Is the newest slice of the window over? */
static inline bool tamis__view_is_over(const struct tamis__view *view)
{
    return view->rotate_at != INT64_MAX && tamis__clock_ns() >= view->rotate_at;
}

/* open.c: bring all of it into memory (tamis__segment_populate). */
int tamis__view_populate(const struct tamis__view *view);

/* Numbers of files of a view. */
struct tamis__view_numbers {
    uint64_t newest;  /* segment */
    uint64_t highest; /* file: that, or the index */
};

static inline struct tamis__view_numbers tamis__view_numbers(const struct tamis__view *view)
{
    const uint64_t newest = tamis__newest(view)->segment.number, index = view->index.segment.number;
    return (struct tamis__view_numbers){.newest = newest,
                                        .highest = newest > index ? newest : index};
}

/* Of a filter that is to be in memory: bring what a view with these numbers had not, as far as that
 * can be had: what cannot is told by the calls that need it.  Without the catalog's lock. */
void tamis__view_populate_new(const struct tamis_filter *filter, const struct tamis__view *view,
                              struct tamis__view_numbers before);

/* Items of all segments now. */
uint64_t tamis__view_items(const struct tamis__view *view);
/* Bring the items of a record up to now, and what follows from them.  Returns how many of its
 * segments the view has; the others stay as they are. */
uint32_t tamis__view_count_record(const struct tamis__view *view, struct tamis__record *record);

#endif
