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
#ifndef TAMIS_HANDLE_VIEW_H
#define TAMIS_HANDLE_VIEW_H

#include <stdbool.h>

#include "file/guard.h"
#include "handle/visit.h"
#include "txn/mapped.h"
#include "txn/store.h"

/* What keeps adders from the short way: one look finds that there is none of it. */
#define TAMIS__CHORE_SPARE 1u   /* half of the newest segment is granted, and no spare was seen */
#define TAMIS__CHORE_DURABLE 4u /* always, of a durable filter: its adds go by durable.c */
/* This handle has not marked it yet, in this process (file/mark.h). */
#define TAMIS__CHORE_MARK 2u

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

static inline const struct tamis__store_segment *tamis__newest(const struct tamis__view *view)
{
    return &view->segments[view->count - 1];
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

/* Is its newest segment of a kind that is written to? */
static inline bool tamis__view_is_written(const struct tamis__view *view)
{
    return tamis__newest(view)->kind->merge != NULL; /* NULL: static */
}

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

/*
 * Constant after opening, but for the atomics: so any number of threads may use it, and a child
 * born by fork() finds no lock held.
 */
struct tamis_filter {
    struct tamis_store *store;     /* a reference */
    char name[TAMIS_NAME_MAX + 1]; /* when it was opened, for sentences */
    uint64_t filter_id;
    bool read_only;
    bool populate;               /* segments are brought into memory when they are mapped */
    bool no_sync;                /* closing it leaves the last checkpoint to others */
    bool dropped;                /* atomic: the catalog has this filter no more */
    uint64_t recorded_items;     /* atomic: what the catalog was last told or has told */
    struct tamis__view *view;    /* atomic: the list of segments that calls begin on */
    struct tamis__view *retired; /* atomic: those before it that somebody may still be in */
    struct tamis__interval
        *interval; /* NULL: it is synced when it is asked for (sync_interval.c) */
    struct tamis_filter *next_handle, **handle_link; /* of this process (fork.c) */
    struct tamis__journal
        *journal; /* atomic: of a durable filter, once it was added to (journal.c) */
    struct tamis__journal *inherited_journal; /* the parent process's, of no use but to be freed */
};

/* Leave the view that the thread has entered; the last to leave an old one gives it back. */
static inline void tamis__leave(struct tamis_filter *filter, const struct tamis__view *view)
{
    struct tamis__visitor *self = tamis__self;
    /* ORDER: as tamis__enter: either the exchanger finds us gone, or we find its view. */
    if (__builtin_expect(tamis__visit_is_light, 1)) {
        __atomic_store_n(&self->view, NULL, __ATOMIC_RELEASE);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } else {
        (void)__atomic_exchange_n(&self->view, NULL, __ATOMIC_SEQ_CST);
    }
    if (__builtin_expect((__atomic_load_n(&filter->view, __ATOMIC_SEQ_CST) != view) | self->passed,
                         0)) {
        self->passed = false;
        tamis__view_reclaim(filter);
    }
}

/* Of more than one segment, or where one look has found something. */
int64_t tamis__view_answer_of_all(const struct tamis__view *view, int64_t answer);

/*
 * Before anything is told that was read from the view: `answer`, or the error of a mapping of its
 * that broke (tamis__segment_check).
 */
static inline int64_t tamis__view_answer(const struct tamis__view *view, int64_t answer)
{
    tamis__guard_fence();
    const bool whole = tamis__segment_is_whole(&view->segments[0].segment);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* that look may have been the fault */
    /* ORDER relaxed: behind the fences. */
    const bool faultless = __atomic_load_n(&tamis__guard_faults, __ATOMIC_RELAXED) == 0;
    return __builtin_expect(view->is_lone & whole & faultless, 1)
               ? answer
               : tamis__view_answer_of_all(view, answer);
}

/* Leave with an answer, if it can be trusted. */
static inline int64_t tamis__leave_with(struct tamis_filter *filter, const struct tamis__view *view,
                                        int64_t answer)
{
    answer = tamis__view_answer(view, answer);
    tamis__leave(filter, view);
    return answer;
}

/* Is one of its segments dirty from a boot that is over? */
bool tamis__view_is_stale(const struct tamis__view *view);

/* The same of a view. */
struct tamis__trouble tamis__view_trouble(const struct tamis__view *view);

int tamis__fail_dropped(const struct tamis_filter *filter);   /* TAMIS_EDROPPED */
int tamis__fail_read_only(const struct tamis_filter *filter); /* TAMIS_EREADONLY */

/* ---- The making of views, for follow.c ------------------------------------------------------- */

/* Without segments yet, and with room for so many.  NULL: out of memory. */
struct tamis__view *tamis__view_new(uint32_t count, const struct tamis__policy *policy,
                                    double fp_rate);
/* The same mapping in another view. */
void tamis__segment_share(struct tamis__store_segment *to, const struct tamis__store_segment *from);
/* The index of exceptions of that number, from `old` (or NULL) where that has it; 0: none. */
int tamis__view_take_index(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                           const struct tamis__view *old, struct tamis__view *view);
/* What follows from policy and segments. */
void tamis__view_complete(struct tamis__view *view, bool read_only);
/* Does a newest segment whose `next` is this take keys? */
bool tamis__view_goes_on(uint64_t next);
/* It is the handle's no more: whoever leaves it last gives it back. */
void tamis__view_retire(struct tamis_filter *filter, struct tamis__view *view);

#endif
