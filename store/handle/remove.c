/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remove.c: removes and counts keys, in filters that can.
 *
 * A key must be removed from the segment where it was counted.  So such a filter has one segment
 * for life: it neither grows nor has a window.
 */
#include "handle/checkpoint.h"
#include "handle/follow.h"
#include "handle/forms.h"

/* As tamis__visit(), for a view whose segment has counters. */
static int visit_counters(tamis_filter *filter, const char *verb, struct tamis__view **view)
{
    const int rc = tamis__visit(filter, view);
    if (rc < 0) return rc;
    const struct tamis__kind *kind = tamis__newest(*view)->kind;
    if ((*view)->count == 1 && kind->remove_batch != NULL) return 0;
    tamis__leave(filter, *view);
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "the filter '%s' is of kind %s, which cannot %s keys; make one of kind "
                       "counting and add them there",
                       filter->name, tamis_kind_name(kind->id), verb);
}

/* A handle that has not marked the segment asks for this many keys before it removes them.  If the
 * caller wants no answers, this many are removed at once, as their answers stand on the stack. */
#define PIECE 256u

/* What is to be removed, and from where. */
struct removal {
    struct tamis_filter *filter;
    struct tamis__view *view;
    const struct tamis_key *keys;
    size_t count;
    uint8_t *answers; /* may be NULL */
};

static size_t piece_of(const struct removal *r, size_t done)
{
    return r->count - done < PIECE ? r->count - done : PIECE;
}

/* Removes the keys from number `done` on. */
static int64_t remove_rest(const struct removal *r, size_t done)
{
    const struct tamis__mapped_segment *s = tamis__newest(r->view);
    uint8_t unasked[PIECE];
    int64_t removed = 0;
    if (r->answers != NULL)
        return s->kind->remove_batch(&s->segment, r->keys + done, r->count - done,
                                     r->answers + done);
    for (; done < r->count; done += PIECE) {
        const int64_t now =
            s->kind->remove_batch(&s->segment, r->keys + done, piece_of(r, done), unasked);
        if (now < 0) return now;
        removed += now;
    }
    return removed;
}

/*
 * Removes the keys by a handle that has not marked the segment yet.  Removing an absent key writes
 * nothing and needs no mark, so the keys are asked for, piece by piece.  The first piece with a key
 * that is there is removed by the digests of that question: a key is hashed once.
 */
static __attribute__((noinline)) int64_t remove_unmarked(const struct removal *r)
{
    const struct tamis__mapped_segment *s = tamis__newest(r->view);
    struct tamis__digest digests[PIECE];
    uint8_t unasked[PIECE];
    size_t done = 0;
    for (; done < r->count; done += PIECE) {
        const size_t now = piece_of(r, done);
        uint8_t *told = r->answers != NULL ? r->answers + done : unasked;
        if (s->kind->contains_keeping(&s->segment, r->keys + done, now, digests, told) == 0)
            continue;
        const int rc = tamis__view_mark(r->filter, r->view);
        if (rc < 0) {
            memset(told, TAMIS_ANSWER_REFUSED, now);
            return rc;
        }
        const int64_t removed = s->kind->remove_digests(&s->segment, digests, now, told);
        const int64_t rest = removed < 0 ? removed : remove_rest(r, done + now);
        return rest < 0 ? rest : removed + rest;
    }
    return 0;
}

static int64_t remove_batch(struct tamis_filter *filter, const struct tamis__batch *batch)
{
    struct tamis__view *view;
    const size_t count = batch->count;
    uint8_t *answers = batch->answers;
    int64_t rc = visit_counters(filter, "remove", &view);
    if (rc < 0) return rc;
    const struct removal r = {filter, view, batch->keys, count, answers};
    /* ORDER relaxed: see tamis__view_mark. */
    const bool unmarked = __atomic_load_n(&view->chores, __ATOMIC_RELAXED) & TAMIS__CHORE_MARK;
    if (unmarked && answers != NULL) memset(answers, TAMIS_ANSWER_REFUSED, count);
    rc = unmarked ? remove_unmarked(&r) : remove_rest(&r, 0);
    const int64_t answer = tamis__leave_with(filter, view, rc);
    if (answer < 0 && rc >= 0 && answers != NULL) memset(answers, TAMIS_ANSWER_REFUSED, count);
    return answer;
}

TAMIS_API int64_t tamis_filter_remove_batch(tamis_filter *filter, const struct tamis_key *keys,
                                            size_t count, uint8_t *answers)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    const int rc = tamis__check_keys(keys, count);
    if (rc < 0) return rc;
    if (filter->read_only) return tamis__fail_read_only(filter);
    const struct tamis__batch batch = {.keys = keys, .count = count, .answers = answers};
    return tamis__batch_by_forms(filter, &batch, remove_batch);
}

TAMIS_API int tamis_filter_remove(tamis_filter *filter, const void *key, size_t key_bytes)
{
    const struct tamis_key one = {.data = key, .bytes = key_bytes};
    uint8_t answer;
    return (int)tamis_filter_remove_batch(filter, &one, 1, &answer);
}

static int64_t count_batch(struct tamis_filter *filter, const struct tamis__batch *batch)
{
    struct tamis__view *view;
    int64_t rc = visit_counters(filter, "count", &view);
    if (rc < 0) return rc;
    const struct tamis__mapped_segment *s = tamis__newest(view);
    rc = s->kind->count_batch(&s->segment, batch->keys, batch->count, batch->counts);
    return tamis__leave_with(filter, view, rc);
}

TAMIS_API int64_t tamis_filter_count_batch(tamis_filter *filter, const struct tamis_key *keys,
                                           size_t count, uint64_t *counts)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    const int rc = tamis__check_keys(keys, count);
    if (rc < 0) return rc;
    if (counts == NULL && count > 0)
        return tamis__fail(TAMIS_EINVAL, "tamis_filter_count_batch needs room for the counts");
    const struct tamis__batch batch = {.keys = keys, .count = count, .counts = counts};
    return tamis__batch_by_forms(filter, &batch, count_batch);
}

TAMIS_API int64_t tamis_filter_count(tamis_filter *filter, const void *key, size_t key_bytes)
{
    const struct tamis_key one = {.data = key, .bytes = key_bytes};
    uint64_t count = 0;
    const int64_t rc = tamis_filter_count_batch(filter, &one, 1, &count);
    return rc < 0 ? rc : (int64_t)count;
}
