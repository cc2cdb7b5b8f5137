/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge.c: puts the keys of several filters into one.
 *
 *     into an existing filter    words of the sources --atomic OR--> its mapping, beside adders
 *     into a new filter          the same into staged files, which enter the store in one commit
 *                                (txn/commit.c), as those of an import do: whole, or not at all
 *
 * An intersection clears bits, so its result is always a new filter: in a filter that is in use, a
 * cleared bit could be one that an adder has set a moment ago.
 *
 * Lists of segments are merged in pairs, oldest with oldest.  A key may be in the second segment of
 * one filter and in the first of the other.  Then it is in both segments of the result, which is
 * still a union.  An intersection would lose the key, and is refused for lists.
 *
 * Counters are added, which must not be done twice.  So before counters are added to an existing
 * filter, a first pass finds what would fail, and makes the room.  Until its end the merge can be
 * refused or stopped, and nothing was changed.  After it the merge is not stopped.
 *
 * If the process is killed, an existing filter has what it had and perhaps more.  Its count is
 * behind until the next merge, which raises it to what the bits tell.  Of a new filter nothing is
 * left.
 */
#include <math.h>

#include "filter/alike.h"
#include "filter/points.h"
#include "handle/checkpoint.h"
#include "handle/durable.h"
#include "handle/follow.h"
#include "handle/open.h"
#include "plan/policy.h"
#include "segment/room.h"
#include "sizing/sizing.h"
#include "txn/draft.h"
#include "txn/enter.h"
#include "txn/store.h"

struct merging {
    struct tamis_merge merge;
    enum tamis__merge_rule rule;
    struct tamis__side *sources;
    size_t count;
    const struct tamis__segment **from; /* of each source: the segment in hand */
    bool goes_on;                       /* ignores what progress returns */
    uint64_t done_bytes, all_bytes;
};

/* ---- The sources ----------------------------------------------------------------------------- */

static int check_arguments(const struct tamis_merge *merge)
{
    if ((merge->flags & ~(uint32_t)TAMIS_MERGE_INTERSECT) != 0)
        return tamis__fail(TAMIS_EINVAL, "merge flags %#x: use 0 or TAMIS_MERGE_INTERSECT",
                           merge->flags);
    if (merge->count == 0)
        return tamis__fail(TAMIS_EINVAL, "there is nothing to merge; give at least one source");
    for (size_t i = 0; i < merge->count; i++)
        if (merge->sources == NULL || merge->sources[i] == NULL)
            return tamis__fail(TAMIS_EINVAL, "source %zu of the merge is NULL; pass open filters",
                               i);
    return 0;
}

static bool is_source(const struct merging *m, const struct tamis_filter *filter)
{
    for (size_t i = 0; i < m->count; i++)
        if (tamis__same_filter(m->sources[i].filter, filter)) return true;
    return false;
}

static int take_source(struct merging *m, struct tamis_filter *filter)
{
    struct tamis__side *side = &m->sources[m->count];
    if (is_source(m, filter)) return 0;
    const int rc = tamis__pin_current(filter, &side->view);
    if (rc < 0) return rc;
    side->filter = filter;
    m->count++;
    return tamis__check_mergeable(side);
}

static void merging_close(struct merging *m)
{
    for (size_t i = 0; i < m->count; i++)
        tamis__unpin(m->sources[i].filter, m->sources[i].view);
    free(m->sources);
    free(m->from);
}

/* Pins all sources, each once.  The caller must call merging_close(), whatever this returns. */
static int merging_open(struct merging *m, const struct tamis_merge *given)
{
    const struct tamis_merge *merge = &m->merge;
    *m = (struct merging){.count = 0};
    int rc = tamis__take_struct(given, &m->merge, sizeof m->merge, "struct tamis_merge");
    if (rc == 0) rc = check_arguments(merge);
    if (rc < 0) return rc;
    m->rule = merge->flags & TAMIS_MERGE_INTERSECT ? TAMIS__MERGE_INTERSECTION : TAMIS__MERGE_UNION;
    m->sources = calloc(merge->count, sizeof *m->sources);
    m->from = calloc(merge->count, sizeof *m->from);
    if (m->sources == NULL || m->from == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory merging %zu filter%s", merge->count,
                           tamis__plural(merge->count));
    for (size_t i = 0; rc == 0 && i < merge->count; i++)
        rc = take_source(m, merge->sources[i]);
    return rc;
}

/* Checks that all sources have the shape of `model`, and counts what is to be read. */
static int check_sources(struct merging *m, const struct tamis__side *model)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->count; i++)
        if (!tamis__same_filter(m->sources[i].filter, model->filter))
            rc = tamis__check_alike(&m->sources[i], model);
    for (uint32_t i = 0; i < model->view->count; i++)
        m->all_bytes += model->view->segments[i].segment.header->data_bytes * m->count;
    return rc;
}

/* ---- The words ------------------------------------------------------------------------------- */

/* Works on one piece of a segment. */
typedef int piece_fn(struct merging *m, const struct tamis__kind *kind,
                     const struct tamis__segment *to, struct tamis__words words);

/* Merges a piece from all sources.  In a new filter, which is all zeros, the first source is
 * copied. */
static int merge_piece(struct merging *m, const struct tamis__kind *kind,
                       const struct tamis__segment *to, struct tamis__words words)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->count; i++) {
        rc = kind->merge(to, m->from[i], i == 0 ? TAMIS__MERGE_UNION : m->rule, words);
        tamis__segment_release(m->from[i], words.first * 8, words.count * 8);
    }
    return rc;
}

static int reserve_piece(struct merging *m, const struct tamis__kind *kind,
                         const struct tamis__segment *to, struct tamis__words words)
{
    const int rc = kind->reserve(to, m->from, m->count, words);
    for (size_t i = 0; i < m->count; i++)
        tamis__segment_release(m->from[i], words.first * 8, words.count * 8);
    return rc;
}

static int do_piece(struct merging *m, piece_fn *piece, const struct tamis__kind *kind,
                    const struct tamis__segment *to, struct tamis__words words)
{
    tamis__segment_want(to, words.first * 8, words.count * 8);
    for (size_t i = 0; i < m->count; i++)
        tamis__segment_want(m->from[i], words.first * 8, words.count * 8);
    int rc = piece(m, kind, to, words);
    tamis__segment_release(to, words.first * 8, words.count * 8);
    m->done_bytes += words.count * 8 * m->count;
    if (rc < 0 || m->merge.progress == NULL) return rc;
    rc = m->merge.progress(m->merge.context, m->done_bytes, m->all_bytes);
    return m->goes_on ? 0 : rc;
}

/* Calls `piece` for all pieces of segment `index`. */
static int each_piece(struct merging *m, piece_fn *piece, uint32_t index,
                      const struct tamis__segment *to)
{
    const struct tamis__kind *kind = m->sources[0].view->segments[index].kind;
    const uint64_t all = to->header->data_bytes / 8;
    int rc = 0;
    for (size_t i = 0; i < m->count; i++)
        m->from[i] = &m->sources[i].view->segments[index].segment;
    for (uint64_t first = 0; rc == 0 && first < all; first += TAMIS__PIECE_WORDS) {
        const uint64_t count = all - first < TAMIS__PIECE_WORDS ? all - first : TAMIS__PIECE_WORDS;
        rc = do_piece(m, piece, kind, to, (struct tamis__words){.first = first, .count = count});
    }
    return rc;
}

/* Were all mappings whole while they were read? */
static int check_mappings(const struct merging *m)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->count; i++)
        rc = tamis__view_check(m->sources[i].view);
    return rc;
}

static uint64_t items_by_bits(const struct tamis__kind *kind, const struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = segment->header;
    uint64_t ones[3] = {0};
    tamis__tally(kind, segment, segment, ones);
    return (uint64_t)llround(tamis__estimate_items(h->kind, h->m_bits, h->k, ones[0]));
}

/* ---- Into a filter that is there ------------------------------------------------------------- */

static void charge(const struct tamis__segment *segment, uint64_t items)
{
    const struct tamis__policy policy = tamis__header_policy(segment->header);
    const uint64_t limit = tamis__policy_limit(&policy, segment->header);
    if (limit == UINT64_MAX)
        (void)tamis__segment_count(segment, items);
    else
        tamis__room_charge(segment, limit, items);
}

/* Raises the counts to what the bits tell.  Runs under the exclusive lock, so that two merges do
 * not both raise a count: the later one measures what both have set. */
static int raise_items(struct tamis_filter *filter, struct tamis__view *view)
{
    uint64_t items[TAMIS__SEGMENTS_MAX];
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    for (uint32_t i = 0; i < view->count; i++)
        items[i] = items_by_bits(view->segments[i].kind, &view->segments[i].segment);
    int rc = tamis__catalog_begin(&filter->store->catalog, TAMIS__LOCK_EXCLUSIVE, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get_by_id(txn, filter->filter_id, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_dropped(filter);
    for (uint32_t i = 0; rc == 0 && i < view->count; i++) {
        const uint64_t counted = tamis__segment_items(&view->segments[i].segment);
        if (items[i] > counted) charge(&view->segments[i].segment, items[i] - counted);
    }
    tamis__catalog_end(txn);
    return rc == 0 ? tamis__view_check(view) : rc;
}

/* Reserves room.  After it, the merge can only fail if adders meanwhile take the last room. */
static int reserve(struct merging *m, const struct tamis__view *to)
{
    bool needed = false;
    int rc = 0;
    for (uint32_t i = 0; i < to->count; i++)
        needed |= to->segments[i].kind->reserve != NULL;
    if (!needed) return 0;
    m->all_bytes *= 2;
    for (uint32_t i = 0; rc == 0 && i < to->count; i++)
        if (to->segments[i].kind->reserve != NULL)
            rc = each_piece(m, reserve_piece, i, &to->segments[i].segment);
    if (rc < 0) return rc;
    TAMIS__POINT(TAMIS__POINT_MERGE_RESERVED);
    m->goes_on = true;
    return 0;
}

/* Adds to the last error's sentence what it means for counters. */
static int fail_half_way(const struct tamis_filter *filter, int rc)
{
    char cause[768];
    (void)snprintf(cause, sizeof cause, "%s", tamis_last_error());
    return tamis__fail(rc,
                       "%s; counters of the filter '%s' were raised by then, some or all, and the "
                       "same merge again would raise them twice: counts may be too high from now "
                       "on, never too low; make it anew where they must be right",
                       cause, filter->name);
}

/* Merges into segment `index`.  While it runs, and for good if it does not end, some pages have
 * keys that others lack. */
static int merge_segment(struct merging *m, const struct tamis__view *to, uint32_t index)
{
    const struct tamis__segment *segment = &to->segments[index].segment;
    uint64_t *mixed = &segment->live->mixed;
    /* ORDER seq_cst: whoever sees a bit of the merge sees that it has begun; whoever sees that it
     * has ended sees all of its bits. */
    (void)__atomic_fetch_add(mixed, TAMIS__MIXED_BEGUN, __ATOMIC_SEQ_CST);
    const int rc = each_piece(m, merge_piece, index, segment);
    if (rc == 0) (void)__atomic_fetch_add(mixed, TAMIS__MIXED_ENDED, __ATOMIC_SEQ_CST);
    return rc;
}

static int merge_marked(struct merging *m, const struct tamis__side *to)
{
    int rc = reserve(m, to->view);
    if (rc < 0) return rc;
    if (to->view->policy.durable) tamis__durable_begin_merge(to->view);
    for (uint32_t i = 0; rc == 0 && i < to->view->count; i++)
        rc = merge_segment(m, to->view, i);
    if (rc == 0) rc = check_mappings(m);
    if (to->view->policy.durable) rc = tamis__durable_end_merge(to->view, rc);
    if (rc == 0) {
        TAMIS__POINT(TAMIS__POINT_MERGE_DONE);
        rc = raise_items(to->filter, to->view);
    }
    return rc < 0 && m->goes_on ? fail_half_way(to->filter, rc) : rc;
}

static int merge_into_side(struct merging *m, const struct tamis__side *to)
{
    const struct tamis__view *view = to->view;
    uint32_t begun = 0;
    int rc = tamis__check_mergeable(to);
    if (rc == 0) rc = check_sources(m, to);
    for (; rc == 0 && begun < view->count; begun += rc == 0)
        rc = tamis__begin_change(to->filter, &view->segments[begun].segment);
    if (rc == 0) rc = merge_marked(m, to);
    while (begun > 0)
        tamis__end_change(&view->segments[--begun].segment);
    return rc;
}

TAMIS_API int tamis_filter_merge(tamis_filter *filter, const struct tamis_merge *merge)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct merging m;
    struct tamis__side to = {.filter = filter};
    if (filter->read_only) return tamis__fail_read_only(filter);
    int rc = merging_open(&m, merge);
    if (rc == 0 && m.rule == TAMIS__MERGE_INTERSECTION)
        rc = tamis__fail(TAMIS_EUNSUPPORTED,
                         "the filter '%s' is there, and an intersection would take keys out of it; "
                         "make a new filter of it, and drop or rename the old one",
                         filter->name);
    if (rc == 0 && is_source(&m, filter))
        rc = tamis__fail(TAMIS_EINVAL,
                         "the filter '%s' would be merged into itself; leave it out of the sources",
                         filter->name);
    if (rc == 0) rc = tamis__pin_current(filter, &to.view);
    if (rc == 0) {
        rc = merge_into_side(&m, &to);
        tamis__unpin(filter, to.view);
    }
    merging_close(&m);
    return rc;
}

/* ---- Into a new one -------------------------------------------------------------------------- */

/* Stages and fills segment `index` of the new filter. */
static int make_segment(struct merging *m, struct tamis_store *store, uint32_t index,
                        struct tamis__draft *draft)
{
    const struct tamis__kind *kind = m->sources[0].view->segments[index].kind;
    struct tamis__segment to = {0};
    int rc = tamis__draft_stage(store, draft);
    if (rc == 0) rc = tamis__segment_map_staged(&store->place, &draft->staged, &draft->header, &to);
    if (rc < 0 || to.header == NULL) return rc;
    rc = each_piece(m, merge_piece, index, &to);
    draft->header.live.overflow_levels = to.header->live.overflow_levels;
    if (rc == 0) tamis__header_set_items(&draft->header, items_by_bits(kind, &to));
    if (rc == 0) rc = check_mappings(m);
    if (rc == 0) rc = tamis__segment_check(&to);
    tamis__segment_close(&to);
    /* This runs without the catalog's lock, as it may take long. */
    return rc < 0 ? rc : tamis__segment_sync_staged(&store->place, &draft->staged, &draft->header);
}

/* Makes the drafts like the segments of the first source, and sums up their bytes. */
static uint64_t init_drafts(const struct merging *m, struct tamis_store *store, const char *name,
                            struct tamis__draft *drafts)
{
    const struct tamis__view *model = m->sources[0].view;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        const struct tamis__segment_header *like = model->segments[i].segment.header;
        struct tamis__listed_segment segment;
        tamis__listed_segment_from_header(like, &segment);
        segment.created_at = 0; /* 0: the draft is made now */
        tamis__draft_init(store, name, &segment, &drafts[i]);
        drafts[i].header.flags = TAMIS_SEGMENT_ITEMS_ESTIMATED;
        /* The common keys of two filters are not spread as the keys of a single filter are. */
        if (m->rule == TAMIS__MERGE_INTERSECTION) drafts[i].header.live.mixed = TAMIS__MIXED_BEGUN;
        memcpy(drafts[i].header.kept, like->kept, sizeof like->kept);
        if (__builtin_add_overflow(bytes, drafts[i].header.file_bytes, &bytes)) bytes = UINT64_MAX;
    }
    return bytes;
}

static int make_merged(struct merging *m, struct tamis_store *store, const char *name,
                       struct tamis__draft *drafts, tamis_filter **filter)
{
    const struct tamis__view *model = m->sources[0].view;
    struct tamis__entry entry = {.name = name,
                                 .drafts = drafts,
                                 .count = model->count,
                                 .capacity = tamis__newest(model)->segment.header->capacity,
                                 .fp_rate = model->fp_rate,
                                 .policy = model->policy,
                                 .filled = true,
                                 .opened = filter ? tamis__open_entered : NULL,
                                 .context = filter};
    const uint64_t bytes = init_drafts(m, store, name, drafts);
    int rc = tamis__check_room(store->root_fd, bytes, name);
    for (uint32_t i = 0; rc == 0 && i < entry.count; i++)
        rc = make_segment(m, store, i, &drafts[i]);
    for (uint32_t i = 0; i + 1 < entry.count; i++) /* older segments count with what they hold */
        entry.capacity += tamis__header_items(&drafts[i].header);
    if (rc == 0) {
        TAMIS__POINT(TAMIS__POINT_MERGE_DONE);
        rc = tamis__drafts_enter(store, &entry);
    }
    tamis__drafts_discard(store, drafts, entry.count);
    return rc;
}

static int check_new(struct merging *m)
{
    int rc = check_sources(m, &m->sources[0]);
    for (size_t i = 0; rc == 0 && m->rule == TAMIS__MERGE_INTERSECTION && i < m->count; i++)
        rc = tamis__check_one_segment(&m->sources[i], "intersected");
    return rc;
}

TAMIS_API int tamis_filter_create_merged(tamis_store *store, const char *name,
                                         const struct tamis_merge *merge, tamis_filter **filter)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct merging m;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__check_writable(store);
    if (rc < 0) return rc;
    rc = merging_open(&m, merge);
    if (rc == 0) rc = tamis__check_absent(store, name);
    if (rc == 0) rc = check_new(&m);
    struct tamis__draft *drafts = NULL;
    if (rc == 0) {
        drafts = calloc(m.sources[0].view->count, sizeof *drafts);
        rc = drafts ? make_merged(&m, store, name, drafts, filter)
                    : tamis__fail(TAMIS_ENOMEM, "out of memory making the filter '%s'", name);
    }
    free(drafts);
    merging_close(&m);
    return rc;
}
