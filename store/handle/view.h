/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view.h: the view: the list of mapped segments that a handle works on, and how it is exchanged
 * while calls are running.
 *
 * A view never changes (but for its atomics), so a call works on one list from begin to end.  When
 * the filter's list has changed, a thread that notices it makes another view and puts it in the
 * handle.  The last thread that leaves the old view gives it back, with the mappings that only it
 * has.
 *
 *     view = tamis__enter(&filter->view);      each thread has one slot that says where it is
 *     ...                                      no other call on any filter in between
 *     tamis__leave(filter, view);
 *
 * A caller that may call back, or takes long, pins the view instead.  None of this takes a lock.
 * It is not for signal handlers: a thread has only one slot.
 */
#pragma once

#include "handle/visit.h"
#include "os/guard.h"
#include "plan/policy.h"
#include "segment/broken.h"
#include "txn/mapped.h"
#include "txn/store.h"

/* Chores: what has to be done before an add.  One look at `chores` finds that there is none. */
#define TAMIS__CHORE_SPARE 1u   /* half of the newest segment is granted, and no spare was seen */
#define TAMIS__CHORE_DURABLE 4u /* always set for a durable filter: its adds go by durable.c */
/* This handle has not marked the newest segment in this process yet (segment/mark.h). */
#define TAMIS__CHORE_MARK 2u

/* The fields that every call reads come first, far from those that adders write. */
struct tamis__view {
    uint64_t epoch; /* atomic: the newest segment's, when the catalog was last looked at */
    uint64_t next;  /* atomic: `next` of the newest segment as long as this view is right */
    uint64_t
        exceptions; /* the index that the newest segment names, as long as this view is right */
    struct tamis__digester by; /* of all segments, if digested */
    bool digested;             /* all segments have one digest of a key, and calls for it */
    bool is_lone;              /* one segment, and no exceptions */
    bool is_short;        /* one segment, no exceptions, digested, no window and no key rule: a key
                             takes the short path */
    bool takes_short;     /* as is_short, and an add has nothing else to do */
    unsigned chores;      /* atomic: TAMIS__CHORE_*, to be done before the next key is added */
    int apart;            /* atomic: how the next chunk is asked for (chunk.c) */
    uint32_t first;       /* index of the first segment in the window, by its slices */
    uint32_t slice_first; /* index of the first segment of the newest slice */
    uint32_t count;

    double fp_rate;
    uint64_t publication; /* the publication of the filter that it shows */
    uint64_t limit;       /* items at which the newest segment is full; UINT64_MAX: never */
    int64_t rotate_at;    /* ns since 1970 when the newest slice is over; INT64_MAX: never */
    int64_t slice_ns;
    struct tamis__view *retired; /* the next view that waits for its last user */
    unsigned pins;               /* atomic */

    int64_t wait_until; /* atomic: no new try to rotate before this, steady ns; 0: try */
    int64_t spare_at;   /* atomic: no look for a spare before this, steady ns; 0: look */
    /* Of `auto`, for the newest segment (pages.c): the number of new keys that makes it busy,
     * UINT64_MAX if that makes no difference; atomics: when to look next, steady ns; and since
     * when, and from how many keys on, they are counted. */
    uint64_t busy_keys;
    int64_t look_at, counts_since;
    uint64_t counts_from, counts_syncs;
    int64_t made_at;        /* steady ns when this view was made */
    uint64_t left_at_first; /* room at that time (tamis__room_left) */
    struct tamis__policy policy;

    struct tamis__mapped_segment index;      /* of exceptions; all 0: there are none */
    struct tamis__mapped_segment segments[]; /* the newest last */
};

static inline const struct tamis__mapped_segment *tamis__newest(const struct tamis__view *view)
{
    return &view->segments[view->count - 1];
}

void tamis__view_reclaim(struct tamis_filter *filter);

/* Calls tamis__segment_check() for every mapping: is all of the view sound? */
int tamis__view_check(const struct tamis__view *view);

/* How a view is made. */
#define TAMIS__VIEW_READ_ONLY 1u
/* The record was read by tamis__store_peek(), without the catalog's lock.  So this writes no word
 * into the segments, and the next call looks at the catalog again. */
#define TAMIS__VIEW_UNLOCKED 2u

/* Makes a view of the segments of a record.  It shares those that `old` (or NULL) has. */
int tamis__view_make(struct tamis_store *store, const struct tamis__record *record, unsigned how,
                     const struct tamis__view *old, struct tamis__view **view);
/* The segment of that number; NULL if the view has none. */
const struct tamis__mapped_segment *tamis__view_find(const struct tamis__view *view,
                                                     uint64_t number);
/* Frees a view that no handle has (any more). */
void tamis__view_free(struct tamis__view *view);

/* Is the newest segment of a kind that is written to? */
static inline bool tamis__view_is_written(const struct tamis__view *view)
{
    return tamis__newest(view)->kind->merge != NULL; /* NULL: static */
}

/* Is the newest slice of the window over? */
static inline bool tamis__view_is_over(const struct tamis__view *view)
{
    if (view->rotate_at == INT64_MAX) return false;
    return tamis__policy_is_slice_over(view->slice_ns, view->rotate_at - view->slice_ns,
                                       tamis__clock_ns());
}

/* Brings all of the view into memory (tamis__segment_populate). */
int tamis__view_populate(const struct tamis__view *view);

/* Numbers of files of a view. */
struct tamis__view_numbers {
    uint64_t newest;  /* segment */
    uint64_t highest; /* of a file: the newest segment or the index */
};

static inline struct tamis__view_numbers tamis__view_numbers(const struct tamis__view *view)
{
    const uint64_t newest = tamis__newest(view)->segment.number, index = view->index.segment.number;
    return (struct tamis__view_numbers){.newest = newest,
                                        .highest = newest > index ? newest : index};
}

/*
 * For a filter that is to be in memory: brings into memory what a view with these numbers did not
 * have.  What cannot be read is reported by the calls that need it.  Runs without the catalog's
 * lock.
 */
void tamis__view_populate_new(const struct tamis_filter *filter, const struct tamis__view *view,
                              struct tamis__view_numbers before);

/* Items of all segments now. */
uint64_t tamis__view_items(const struct tamis__view *view);
/* Brings the items of a record up to date, and what follows from them.  Returns how many of its
 * segments the view has; the others stay as they are. */
uint32_t tamis__view_count_record(const struct tamis__view *view, struct tamis__record *record);

/* A handle.  It is constant after opening, but for the atomics.  So any number of threads may use
 * it, and a child born by fork() finds no lock held. */
struct tamis_filter {
    struct tamis_store *store;     /* a reference */
    char name[TAMIS_NAME_MAX + 1]; /* as it was when opened, for error sentences */
    uint64_t filter_id;
    int64_t created_at;
    bool read_only;
    bool populate;                      /* segments are brought into memory when they are mapped */
    bool no_sync;                       /* closing it leaves the last checkpoint to others */
    bool is_prepared;                   /* atomic: tamis_filter_may_wait() was asked */
    bool dropped;                       /* atomic: the filter is no longer in the catalog */
    uint64_t recorded_items;            /* atomic: what the catalog last had or was last told */
    const struct tamis__key_rule *rule; /* what is hashed of a key; NULL: the key as it is */
    struct tamis__view *view;           /* atomic: the list of segments that calls begin on */
    struct tamis__view *retired;        /* atomic: older views that somebody may still be in */
    struct tamis__interval *interval;   /* NULL: it is synced only on request (sync_interval.c) */
    struct tamis_filter *next_handle, **handle_link; /* of this process (fork.c) */
    struct tamis__journal
        *journal; /* atomic: for a durable filter, once it was added to (journal.c) */
    struct tamis__journal *inherited_journal; /* the parent process's; only kept to be freed */
};

/* Leaves the view that the thread has entered.  The last thread to leave an old view gives it
 * back. */
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

/* Checks every segment of the view.  Called when the view has several, or when a fault was already
 * noticed. */
int64_t tamis__view_answer_of_all(const struct tamis__view *view, int64_t answer);

/* Looks at all segments.  If one was cut within its header, the look at its end brings the
 * constants of the header back (os/guard.c), before anybody uses them. */
bool tamis__view_is_whole(const struct tamis__view *view);

/* Called before the caller is told what was read from the view.  Returns `answer`, or the error of
 * a mapping of the view that broke (tamis__segment_check). */
static inline int64_t tamis__view_answer(const struct tamis__view *view, int64_t answer)
{
    tamis__guard_fence();
    const bool whole = tamis__segment_is_whole(&view->segments[0].segment);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* that look may have been the fault */
    /* ORDER relaxed: the fences come before. */
    const bool faultless = __atomic_load_n(&tamis__guard_faults, __ATOMIC_RELAXED) == 0;
    return __builtin_expect(view->is_lone & whole & faultless, 1)
               ? answer
               : tamis__view_answer_of_all(view, answer);
}

/* Leaves with an answer, if it can be trusted. */
static inline int64_t tamis__leave_with(struct tamis_filter *filter, const struct tamis__view *view,
                                        int64_t answer)
{
    answer = tamis__view_answer(view, answer);
    tamis__leave(filter, view);
    return answer;
}

/* Is a segment of the view dirty from a boot that is over? */
bool tamis__view_is_stale(const struct tamis__view *view);

/* The index of the first segment that is still in the window.  It is view->count if all slices are
 * past: nobody has added for as long as the window is. */
static inline uint32_t tamis__first_alive(const struct tamis__view *view)
{
    uint32_t first = view->first;
    if (view->slice_ns == 0) return first;
    const int64_t now = tamis__clock_ns();
    while (first < view->count && view->segments[first].past_at <= now)
        first++;
    return first;
}

/* The trouble of all segments of a view. */
struct tamis__trouble tamis__view_trouble(const struct tamis__view *view);

int tamis__fail_dropped(const struct tamis_filter *filter);   /* TAMIS_EDROPPED */
int tamis__fail_read_only(const struct tamis_filter *filter); /* TAMIS_EREADONLY */

/* ---- The making of views, for follow.c ------------------------------------------------------- */

/* Makes a view with places for `count` segments, which has none yet.  NULL: out of memory. */
struct tamis__view *tamis__view_new(uint32_t count, const struct tamis__policy *policy,
                                    double fp_rate);
/* Puts the same mapping into another view. */
void tamis__segment_share(struct tamis__mapped_segment *to,
                          const struct tamis__mapped_segment *from);
/* Takes the index of exceptions of that number, from `old` (or NULL) if that has it; 0: there is
 * none. */
int tamis__view_take_index(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                           const struct tamis__view *old, struct tamis__view *view);
/* Sets what follows from policy and segments. */
void tamis__view_complete(struct tamis__view *view, bool read_only);
/* Does a newest segment take keys if its word `next` is this? */
bool tamis__view_goes_on(uint64_t next);
/* Retires a view that the handle no longer has: whoever leaves it last gives it back. */
void tamis__view_retire(struct tamis_filter *filter, struct tamis__view *view);
