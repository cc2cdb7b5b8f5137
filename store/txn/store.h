/* SPDX-License-Identifier: BSD-2-Clause */
/* store.h: what is behind tamis_store and tamis_filter, for the files of this folder and check/. */
#ifndef TAMIS_STORE_STORE_H
#define TAMIS_STORE_STORE_H

#include <stdbool.h>

#include "catalog/catalog.h"
#include "handle/view.h"
#include "kind/kind.h"
#include "sizing/fuse.h"

struct tamis_store {
    unsigned references; /* atomic: the handle's and each open filter's */
    bool read_only;
    int root_fd;
    uint64_t store_id;
    struct tamis__place place;
    struct tamis__catalog catalog;
    int64_t busy_timeout_ms; /* atomic: see wait.c */
    tamis_busy_fn *busy_fn;  /* NULL: nobody is told; set while no other thread uses the store */
    void *busy_context;
};

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

/* Bring the view that the caller has entered up to what is in force. */
static inline int tamis__view_current(struct tamis_filter *filter, struct tamis__view **view)
{
    return tamis__view_is_current(*view, &tamis__newest(*view)->segment)
               ? 0
               : tamis__view_follow(filter, view);
}

/* ---- fork.c: what fork() changes ----------------------------------------------------------- */

/* A handle that may write: its child is another writer.  Until handles_leave, harmless where it is
 * not in. */
void tamis__handles_enter(struct tamis_filter *filter);
void tamis__handles_leave(struct tamis_filter *filter);

/* ---- checkpoint.c, recover.c: what the disk has (docs/durability.md) ------------------------- */

/* Before the first write to a segment of it: 0, once it is marked on the disk.  May wait for the
 * catalog. */
int tamis__begin_writing(struct tamis_filter *filter, const struct tamis__segment *segment);

/* Record the counts, and what trouble the view's segments have; and the checkpoint's time, unless
 * it is 0 or the list has gone on since `view`, which was written to the disk. */
int tamis__record_items(struct tamis_filter *filter, const struct tamis__view *view,
                        int64_t checkpointed_at);

/* sync_interval.c: no checkpoints by itself any more. */
void tamis__interval_end(struct tamis_filter *filter);
/* In the child of a fork(), which has not got the thread. */
void tamis__interval_forget(struct tamis_filter *filter);

/* Is one of its segments dirty from a boot that is over? */
bool tamis__view_is_stale(const struct tamis__view *view);
/* Recover what is stale of a filter, and let the catalog know.  It waits for the catalog's lock. */
int tamis__recover(struct tamis_store *store, uint64_t filter_id);
/* The same for the record, under the exclusive lock; the caller commits. */
int tamis__recover_filter(struct tamis_store *store, struct tamis__catalog_txn *txn,
                          const struct tamis__record *record);
/* All filters, at the first write after a boot.  Under the exclusive lock. */
int tamis__recover_store(struct tamis_store *store, struct tamis__catalog_txn *txn);
/* Take up what the header of one more segment says. */
void tamis__add_trouble(struct tamis__trouble *trouble, const struct tamis__segment_header *header);
/* What is wrong with the segments of a record, as their headers say; what cannot be read is left
 * out. */
void tamis__look_for_trouble(const struct tamis_store *store, const struct tamis__record *record,
                             struct tamis__trouble *trouble);
/* The same of a view. */
struct tamis__trouble tamis__view_trouble(const struct tamis__view *view);
void tamis__stat_set_trouble(struct tamis_filter_stat *stat, struct tamis__trouble trouble);

/* ---- wait.c: how long a call waits for another process --------------------------------------- */

/*
 * To be called again and again by who waits for another process: pauses, longer the longer it has
 * waited, and tells the store's busy function once a second.
 *
 * started_ns  tamis__steady_ns() when the waiting began; the same in each call.
 * lock_fd     the file whose lock is waited for, to name its holder; -1: the lock of the catalog.
 * Returns     1: try again.  0: the busy timeout is over, or the busy function says so; the caller
 *             fails with tamis__fail_busy().
 */
int tamis__fail_busy_timeout(int64_t milliseconds); /* TAMIS_EINVAL */
int tamis__store_wait(struct tamis_store *store, int64_t started_ns, int lock_fd);
/* TAMIS_EBUSY: `what`, such as "the filter 'a' cannot grow", with the holder of the lock and the
 * mend. */
int tamis__fail_busy(const struct tamis_store *store, int64_t started_ns, int lock_fd,
                     const char *what);

/* In a thread of the library: it waits without the busy function, which is for the caller's. */
void tamis__wait_silently(void);
/* tamis__catalog_init(), in the store's place, to wait as the store does. */
int tamis__store_init_catalog(struct tamis_store *store, bool read_only);

/* With nothing open yet; NULL where memory is short.  tamis_store_close() gives back what is open
 * by then. */
struct tamis_store *tamis__store_new(bool read_only);
struct tamis_store *tamis__store_reference(struct tamis_store *store);

/* Open the directory, or the nearest above it that is there. */
int tamis__open_nearest(const char *path, int *fd);

/* Exclusive transaction, after removing what earlier ones left (catalog.h, garbage). */
int tamis__store_begin_write(struct tamis_store *store, struct tamis__catalog_txn **txn);
/* The same without waiting: 1 if begun, 0 if the lock is not free. */
int tamis__store_begin_write_if_free(struct tamis_store *store, struct tamis__catalog_txn **txn);

/* Send the open handles of a filter to the catalog; one that missed it would go on for ever.  Under
 * the exclusive lock, before the commit. */
int tamis__raise_epochs(struct tamis_store *store, const struct tamis__record *record);

/* Sets the sentence for a name that is not in the catalog; returns TAMIS_ENOTFOUND. */
int tamis__fail_no_filter(const struct tamis_store *store, const char *name);
int tamis__fail_dropped(const struct tamis_filter *filter);   /* TAMIS_EDROPPED */
int tamis__fail_read_only(const struct tamis_filter *filter); /* TAMIS_EREADONLY */
int tamis__fail_exists(const char *name);                     /* TAMIS_EEXIST */
int tamis__fail_null_key(size_t index);                       /* TAMIS_EINVAL */
int tamis__check_keys(const struct tamis_key *keys, size_t count);
int tamis__check_name(const char *name);
int tamis__check_writable(const struct tamis_store *store); /* 0 or TAMIS_EREADONLY */

/* What the catalog knows of a filter, as the public struct. */
void tamis__stat_from_record(const struct tamis__record *record, struct tamis_filter_stat *stat);
/* The fields that follow from the item count. */
void tamis__stat_set_items(struct tamis_filter_stat *stat, const struct tamis__record *record,
                           const uint64_t *segment_items);

/* Map one segment of a record and hold it against the catalog.  TAMIS_ECORRUPT and the like. */
int tamis__open_segment(struct tamis_store *store, const struct tamis__record *record,
                        uint32_t index, bool writable, struct tamis__store_segment *segment);

/* Give it back, when no other view has it. */
void tamis__close_segment(struct tamis__store_segment *segment);
/* What is mapped is a view's from now on, if it is of the filter, and `rc`, what is known of it, is
 * 0.  Else it is closed, and that, or TAMIS_EFOREIGN, returned. */
int tamis__adopt_segment(struct tamis_store *store, uint64_t filter_id, int rc,
                         struct tamis__store_segment *segment);
/* The same by number alone. */
int tamis__map_segment(struct tamis_store *store, uint64_t number, uint64_t filter_id,
                       bool writable, struct tamis__store_segment *segment);

/* A handle on the filter of a record; the caller holds the catalog's lock. */
int tamis__filter_open_record(struct tamis_store *store, const struct tamis__record *record,
                              bool read_only, tamis_filter **filter);

/* After that, without the lock, of one that may write: what the machine or other handles left when
 * they went down is brought back.  Where that fails the handle is given back. */
int tamis__filter_come_up(struct tamis_store *store, tamis_filter **filter);

/* Give a handle back as it is; what closing has to do was done. */
void tamis__filter_free(struct tamis_filter *filter);

/* A spec made whole: geometry, rate and hash set, checked. */
struct tamis__plan {
    struct tamis_sizing sizing;
    const struct tamis__hash_set *hash_set;
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
    uint32_t bit_order; /* that of the hash set */
    uint64_t seed;
    bool any_secret;        /* none was given: where the filter is there, its own will do */
    bool explicit_geometry; /* m and k were given */
    struct tamis__policy policy;
};
/* The secret of a hash set that has one: `given`, or where that is all 0 a random one.
 * TAMIS_EINVAL for one that is given to another set. */
int tamis__plan_secret(const struct tamis__hash_set *set, const uint8_t given[TAMIS_SECRET_BYTES],
                       uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES]);
int tamis__plan_filter(const struct tamis_filter_spec *spec, struct tamis__plan *plan);
void tamis__plan_describe(const struct tamis__plan *plan, struct tamis__record_segment *segment);

/* ---- draft.c: segments on their way into the store ---------------------------------------------
 */

/* A segment whose file is in staging/, or not made yet (staged.file.link NULL).  Until it is
 * entered, its header is here alone and may be added to. */
struct tamis__draft {
    struct tamis__segment_header header;
    struct tamis__staged staged;
};

/* The list of segments, oldest first, that shall be the filter `name`. */
struct tamis__entry {
    const char *name;
    struct tamis__draft *drafts;
    uint32_t count;
    uint64_t capacity;
    double fp_rate;
    struct tamis__policy policy;
    bool filled; /* with contents: an orphan of these cannot be told from a filter's by looking */
};

/* TAMIS_EEXIST now rather than after allocating gigabytes. */
int tamis__check_absent(struct tamis_store *store, const char *name);
/* A header for what is described: number, filter_id and file_bytes of it are not looked at. */
void tamis__draft_init(const struct tamis_store *store, const char *name,
                       const struct tamis__record_segment *segment, struct tamis__draft *draft);
/* The same for kind fuse: of *segment kind, m, k, words, bit order, and what else follows from the
 * shape are not looked at.  data_checksum is the caller's to set, when there are data. */
void tamis__draft_init_fuse(const struct tamis_store *store, const char *name,
                            const struct tamis__record_segment *segment,
                            const struct tamis__fuse_shape *shape, struct tamis__draft *draft);
/* Make its file, allocated and zero. */
int tamis__draft_stage(struct tamis_store *store, struct tamis__draft *draft);
void tamis__draft_set_policy(struct tamis__draft *draft, const struct tamis__policy *policy);
/* Under the exclusive lock: the number that the next segment gets. */
int tamis__take_segment_number(struct tamis_store *store, struct tamis__store_record *counters,
                               uint64_t *number);
/* Publish all of them in one commit; filter may be NULL.  On any error nothing of them is left. */
int tamis__drafts_enter(struct tamis_store *store, const struct tamis__entry *entry,
                        tamis_filter **filter);
/* Remove what was staged and not entered; harmless on what is not staged. */
void tamis__drafts_discard(struct tamis_store *store, struct tamis__draft *drafts, uint32_t count);

/* ---- alike.c: filters whose bits mean the same ----------------------------------------------- */

/* A filter and the list of it that is worked on. */
struct tamis__side {
    struct tamis_filter *filter;
    struct tamis__view *view; /* pinned */
};

/* Is it the same filter, by whatever handle? */
bool tamis__same_filter(const struct tamis_filter *a, const struct tamis_filter *b);
/* Does each bit of the one list mean what the same bit of the other does?  0, or TAMIS_EMISMATCH:
 * the sentence has every field that differs, with both values. */
int tamis__check_alike(const struct tamis__side *a, const struct tamis__side *b);
/* Has the kind of its segments `merge` and `tally`?  TAMIS_EUNSUPPORTED if not. */
int tamis__check_mergeable(const struct tamis__side *side);
/* Of one segment alone?  `verb` says what cannot be done otherwise.  TAMIS_EUNSUPPORTED if not. */
int tamis__check_one_segment(const struct tamis__side *side, const char *verb);

/* Words of a segment that are merged or compared at once: few enough for the target's share to stay
 * in the cache from source to source. */
#define TAMIS__PIECE_WORDS ((uint64_t)1 << 17)

/* compare.c: the positions that are set in a, in b, in either, piece by piece; adds to ones. */
void tamis__tally(const struct tamis__kind *kind, const struct tamis__segment *a,
                  const struct tamis__segment *b, uint64_t ones[3]);

#endif
