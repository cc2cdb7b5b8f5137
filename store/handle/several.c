/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * several.c: asks several filters for the same keys.
 *
 * Filters with one key rule and one way to hash are a group: the forms and the digests of a chunk
 * of keys are made at the first filter of a group, and used at the others.  Most callers have one
 * group.  A thread is in one view at a time, so it enters the filters one after the other.
 */
#include "exceptions/index.h"
#include "handle/chunk.h"
#include "handle/follow.h"
#include "key/form.h"

/* So many filters at once, and more than anybody has reason to ask. */
#define FILTERS_MAX 4096u

/* The filters of a call, and which of them have answered for the chunk. */
struct several {
    tamis_filter *const *filters;
    size_t filter_count;
    size_t key_count; /* of the whole call */
    uint8_t *answers;
    bool answered[FILTERS_MAX];
};

static bool same_rule(const struct tamis_filter *a, const struct tamis_filter *b)
{
    return strcmp(a->rule != NULL ? a->rule->text : "", b->rule != NULL ? b->rule->text : "") == 0;
}

static void hash_chunk(const struct tamis__view *view, struct tamis__hashed_keys *chunk)
{
    for (size_t i = 0; i < chunk->count; i++)
        chunk->digests[i] = tamis__digest_by(&view->by, chunk->keys[i].data, chunk->keys[i].bytes);
    tamis__rule_set(&chunk->rule, &view->by);
}

/* Asks one filter for the chunk.  Returns how many of the keys it has, or an error.  Sets *other,
 * and asks nothing, if the filter hashes otherwise than the digests of the chunk were made. */
static int64_t ask_one(struct tamis_filter *filter, struct tamis__hashed_keys *chunk,
                       uint8_t *answers, bool *other)
{
    struct tamis__view *view;
    int64_t rc = tamis__visit(filter, &view);
    *other = false;
    if (rc < 0) return rc;
    if (view->digested && !chunk->rule.is_made) hash_chunk(view, chunk);
    *other = view->digested && !tamis__is_hashed(chunk, view);
    if (*other) {
        tamis__leave(filter, view);
        return 0;
    }
    size_t found = tamis__contains_chunk(view, chunk, answers);
    if (found > 0 && view->index.segment.header != NULL)
        found -= tamis__index_strike(&view->index.segment, chunk->keys, chunk->count, answers);
    return tamis__leave_with(filter, view, (int64_t)found);
}

/* Asks the group that begins with filter `first`, for keys whose forms are those of its rule. */
static int64_t ask_group(struct several *all, size_t first, const struct tamis_key *forms,
                         size_t at, size_t count)
{
    struct tamis__digest digests[TAMIS__CHUNK];
    struct tamis__hashed_keys chunk = {.keys = forms, .digests = digests, .count = count};
    int64_t ones = 0, rc = 0;
    for (size_t i = first; rc >= 0 && i < all->filter_count; i++) {
        bool other;
        if (all->answered[i] || !same_rule(all->filters[first], all->filters[i])) continue;
        rc = ask_one(all->filters[i], &chunk, all->answers + i * all->key_count + at, &other);
        all->answered[i] = !other;
        if (rc > 0) ones += rc;
    }
    return rc < 0 ? rc : ones;
}

/* Asks all filters for the keys from number `at` on. */
static int64_t ask_all_for(struct several *all, const struct tamis_key *keys, size_t at,
                           size_t count)
{
    struct tamis_key forms[TAMIS__CHUNK];
    struct tamis__form_room room;
    int64_t ones = 0, rc = 0;
    memset(all->answered, 0, all->filter_count);
    tamis__form_room_init(&room);
    for (size_t i = 0; rc >= 0 && i < all->filter_count; i++) {
        const struct tamis__key_rule *rule = all->filters[i]->rule;
        if (all->answered[i]) continue;
        tamis__form_room_reuse(&room);
        rc = rule != NULL ? tamis__form_keys(rule, keys + at, count, &room, forms) : 0;
        if (rc == 0) rc = ask_group(all, i, rule != NULL ? forms : keys + at, at, count);
        if (rc > 0) ones += rc;
    }
    tamis__form_room_clear(&room);
    return rc < 0 ? rc : ones;
}

TAMIS_API int64_t tamis_filters_contains_batch(tamis_filter *const *filters, size_t filter_count,
                                               const struct tamis_key *keys, size_t count,
                                               uint8_t *answers)
{
    struct several all = {
        .filters = filters, .filter_count = filter_count, .key_count = count, .answers = answers};
    int64_t ones = 0, rc = tamis__check_keys(keys, count);
    if (rc < 0) return rc;
    if (filter_count > 0) TAMIS__REFUSE_NULL(filters, "filters");
    if (filter_count > 0 && count > 0) TAMIS__REFUSE_NULL(answers, "answers");
    for (size_t i = 0; i < filter_count && i < FILTERS_MAX; i++)
        TAMIS__REFUSE_NULL(filters[i], "a filter");
    if (filter_count > FILTERS_MAX)
        return tamis__fail(TAMIS_EINVAL, "%zu filters at once; give at most %u", filter_count,
                           FILTERS_MAX);
    for (size_t at = 0; rc >= 0 && at < count; at += TAMIS__CHUNK) {
        rc = ask_all_for(&all, keys, at, count - at < TAMIS__CHUNK ? count - at : TAMIS__CHUNK);
        if (rc > 0) ones += rc;
    }
    return rc < 0 ? rc : ones;
}
