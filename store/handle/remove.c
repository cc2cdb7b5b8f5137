/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remove.c: removes and counts keys, in filters that can.
 *
 * A key must be removed from the segment where it was counted.  So such a filter has one segment
 * for life: it neither grows nor has a window.
 */
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/key.h"
#include "handle/checkpoint.h"
#include "handle/follow.h"
#include "txn/store.h"

/* As tamis__visit(), for a view whose segment has counters. */
static int visit(tamis_filter *filter, const char *verb, struct tamis__view **view)
{
    const int rc = tamis__visit(filter, view);
    if (rc < 0) return rc;
    const struct tamis__kind *kind = tamis__newest(*view)->kind;
    if ((*view)->count == 1 && kind->remove_batch != NULL) return 0;
    tamis__leave(filter, *view);
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "the filter '%s' is of kind %s, which cannot %s keys; make one of kind "
                       "counting and add them there",
                       filter->name, kind->name, verb);
}

static int64_t remove_in_pieces(const struct tamis__store_segment *s, const struct tamis_key *keys,
                                size_t count)
{
    uint8_t unasked[256];
    int64_t removed = 0;
    for (size_t done = 0; done < count; done += sizeof unasked) {
        const size_t left = count - done;
        const int64_t now = s->kind->remove_batch(
            &s->segment, keys + done, left < sizeof unasked ? left : sizeof unasked, unasked);
        if (now < 0) return now;
        removed += now;
    }
    return removed;
}

/* Is any of the keys there?  Removing an absent key writes nothing and needs no mark. */
static bool has_any(const struct tamis__store_segment *s, const struct tamis_key *keys,
                    size_t count)
{
    uint8_t answers[256];
    for (size_t done = 0; done < count; done += sizeof answers) {
        const size_t left = count - done;
        if (s->kind->contains_batch(&s->segment, keys + done,
                                    left < sizeof answers ? left : sizeof answers, answers) > 0)
            return true;
    }
    return false;
}

TAMIS_API int64_t tamis_filter_remove_batch(tamis_filter *filter, const struct tamis_key *keys,
                                            size_t count, uint8_t *answers)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__view *view;
    int64_t rc = tamis__check_keys(keys, count);
    if (rc < 0) return rc;
    if (filter->read_only) return tamis__fail_read_only(filter);
    rc = visit(filter, "remove", &view);
    if (rc < 0) return rc;
    const struct tamis__store_segment *s = tamis__newest(view);
    /* ORDER relaxed: see tamis__view_mark. */
    const bool unmarked = __atomic_load_n(&view->chores, __ATOMIC_RELAXED) & TAMIS__CHORE_MARK;
    const bool absent = unmarked && !has_any(s, keys, count);
    if (!absent) rc = tamis__view_mark(filter, view);
    if (absent && answers != NULL) memset(answers, 0, count);
    if (!absent && rc == 0)
        rc = answers != NULL ? s->kind->remove_batch(&s->segment, keys, count, answers)
                             : remove_in_pieces(s, keys, count);
    const int64_t answer = tamis__leave_with(filter, view, rc);
    if (answer < 0 && rc >= 0 && answers != NULL) memset(answers, TAMIS_ANSWER_REFUSED, count);
    return answer;
}

TAMIS_API int tamis_filter_remove(tamis_filter *filter, const void *key, size_t key_bytes)
{
    const struct tamis_key one = {.data = key, .bytes = key_bytes};
    uint8_t answer;
    return (int)tamis_filter_remove_batch(filter, &one, 1, &answer);
}

TAMIS_API int64_t tamis_filter_count_batch(tamis_filter *filter, const struct tamis_key *keys,
                                           size_t count, uint64_t *counts)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__view *view;
    int64_t rc = tamis__check_keys(keys, count);
    if (rc < 0) return rc;
    if (counts == NULL && count > 0)
        return tamis__fail(TAMIS_EINVAL, "tamis_filter_count_batch needs room for the counts");
    rc = visit(filter, "count", &view);
    if (rc < 0) return rc;
    const struct tamis__store_segment *s = tamis__newest(view);
    rc = s->kind->count_batch(&s->segment, keys, count, counts);
    return tamis__leave_with(filter, view, rc);
}

TAMIS_API int64_t tamis_filter_count(tamis_filter *filter, const void *key, size_t key_bytes)
{
    const struct tamis_key one = {.data = key, .bytes = key_bytes};
    uint64_t count = 0;
    const int64_t rc = tamis_filter_count_batch(filter, &one, 1, &count);
    return rc < 0 ? rc : (int64_t)count;
}
