/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add.c: the public calls that add keys to an open filter and that ask for them.
 *
 * A call enters the view of the handle (view.h), a list of mapped segments that does not change.
 * It compares two words of the newest segment with what the view remembers of them; these are in a
 * cache line that is almost never written.  If they differ, somebody changed the filter, and the
 * handle gets another view.
 */
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/key.h"
#include "exceptions/index.h"
#include "handle/add_key.h"
#include "handle/chunk.h"
#include "handle/durable.h"
#include "handle/follow.h"
#include "handle/forms.h"

/* The digest of a key for the short path. */
static inline __attribute__((always_inline)) struct tamis__digest
digest_of(const struct tamis__view *view, const void *key, size_t key_bytes)
{
    const struct tamis__digester *by = &view->by;
    if (__builtin_expect(by->other != NULL, 0)) return by->other(key, key_bytes, by->secret);
    return tamis__digest_at_once(key, key_bytes, by->seed);
}

/* ---- Asking for one key ---------------------------------------------------------------------- */

/* Asks a view that may be out of date and may have any number of segments and any hash set. */
static int ask_for_key(struct tamis_filter *filter, struct tamis__view *view, const void *key,
                       size_t key_bytes)
{
    struct tamis__hashed_key hashed;
    int rc = tamis__view_current(filter, &view);
    if (rc == 0) {
        hashed.key = key;
        hashed.bytes = key_bytes;
        if (view->digested) hashed.digest = tamis__digest_by(&view->by, key, key_bytes);
        rc = tamis__find_key(view, tamis__first_alive(view), view->count, &hashed) > 0;
        if (rc > 0 && view->index.segment.header != NULL)
            rc = !tamis__index_has(&view->index.segment, key, key_bytes);
    }
    return (int)tamis__leave_with(filter, view, rc);
}

static __attribute__((noinline)) int contains_long_path(struct tamis_filter *filter,
                                                        struct tamis__view *view, const void *key,
                                                        size_t key_bytes)
{
    if (filter->rule == NULL) return ask_for_key(filter, view, key, key_bytes);
    struct tamis__form_room room;
    struct tamis_key form;
    tamis__form_room_init(&room);
    int rc = tamis__form_key(filter->rule, key, key_bytes, &room, &form);
    if (rc == 0)
        rc = ask_for_key(filter, view, form.data, form.bytes);
    else
        tamis__leave(filter, view);
    tamis__form_room_clear(&room);
    return rc;
}

TAMIS_API int tamis_filter_contains(tamis_filter *filter, const void *key, size_t key_bytes)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (__builtin_expect(key == NULL && key_bytes > 0, 0)) return tamis__fail_null_key(0);
    struct tamis__view *view = tamis__enter(&filter->view);
    if (__builtin_expect(view == NULL, 0)) return TAMIS_ENOMEM;
    /* Whether the mapping is whole is checked at the end. */
    const struct tamis__mapped_segment *only = &view->segments[0];
    if (__builtin_expect(!view->is_short || tamis__view_moved(view, &only->segment) != 0, 0))
        return contains_long_path(filter, view, key, key_bytes);
    const struct tamis__digest digest = digest_of(view, key, key_bytes);
    const int rc = only->calls->contains(&only->segment, digest);
    return (int)tamis__leave_with(filter, view, rc);
}

/* The older segments of a list are small beside the newest one, or asked seldom. */
TAMIS_API int tamis_filter_prefetch(tamis_filter *filter, const void *key, size_t key_bytes)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (__builtin_expect(key == NULL && key_bytes > 0, 0)) return tamis__fail_null_key(0);
    struct tamis__view *view = tamis__enter(&filter->view);
    if (__builtin_expect(view == NULL, 0)) return TAMIS_ENOMEM;
    const struct tamis__mapped_segment *newest = tamis__newest(view);
    struct tamis_key form = {.data = key, .bytes = key_bytes};
    struct tamis__form_room room;
    tamis__form_room_init(&room);
    const int rc =
        filter->rule != NULL ? tamis__form_key(filter->rule, key, key_bytes, &room, &form) : 0;
    if (rc == 0) newest->kind->fetch(&newest->segment, form.data, form.bytes);
    tamis__form_room_clear(&room);
    tamis__leave(filter, view);
    return rc;
}

/* ---- Adding one key -------------------------------------------------------------------------- */

static inline bool is_durable(const struct tamis__view *view)
{
    /* ORDER relaxed: the bit never changes. */
    return (__atomic_load_n(&view->chores, __ATOMIC_RELAXED) & TAMIS__CHORE_DURABLE) != 0;
}

/* Does the chores of the view, unless the filter has the key: such a key needs no room and writes
 * nothing. */
static int do_chores_for_key(struct tamis_filter *filter, struct tamis__view **view,
                             struct tamis__hashed_key *key)
{
    const struct tamis__view *v = *view;
    if (!tamis__ignores_known(v)) return tamis__do_chores(filter, view);
    tamis__hash_key(v, key);
    if (tamis__find_key(v, tamis__first_known(v), v->count, key) > 0) return 0;
    return tamis__do_chores(filter, view);
}

/* Adds to a view that may be out of date and may have any number of segments and any hash set. */
static inline __attribute__((always_inline)) int
add_long_path(struct tamis_filter *filter, struct tamis__view *view, struct tamis__hashed_key *key)
{
    if (filter->read_only) {
        tamis__leave(filter, view);
        return tamis__fail_read_only(filter);
    }
    int rc = tamis__view_current(filter, &view);
    if (rc == 0 && tamis__has_chores(view)) {
        if (is_durable(view)) {
            rc = tamis__durable_add(filter, &view, key);
            return (int)tamis__leave_with(filter, view, rc);
        }
        rc = do_chores_for_key(filter, &view, key);
    }
    if (rc == 0) rc = tamis__add_key(filter, &view, NULL, 0, false, key);
    return (int)tamis__leave_with(filter, view, rc);
}

/* Adds a key that has no digest yet. */
static __attribute__((noinline)) int add_unhashed(struct tamis_filter *filter,
                                                  struct tamis__view *view, const void *key,
                                                  size_t key_bytes)
{
    struct tamis__hashed_key hashed;
    struct tamis__form_room room;
    struct tamis_key form = {.data = key, .bytes = key_bytes};
    tamis__form_room_init(&room);
    int rc = filter->rule != NULL ? tamis__form_key(filter->rule, key, key_bytes, &room, &form) : 0;
    hashed.key = form.data;
    hashed.bytes = form.bytes;
    hashed.rule.is_made = false;
    if (rc == 0)
        rc = add_long_path(filter, view, &hashed);
    else
        tamis__leave(filter, view);
    tamis__form_room_clear(&room);
    return rc;
}

static void take_digest(const struct tamis__view *view, const void *key, size_t key_bytes,
                        struct tamis__digest digest, struct tamis__hashed_key *hashed)
{
    hashed->key = key;
    hashed->bytes = key_bytes;
    hashed->digest = digest;
    tamis__rule_set(&hashed->rule, &view->by);
}

/* Adds a key that the only segment does not have, and for which it has no room. */
static __attribute__((noinline)) int add_hashed(struct tamis_filter *filter,
                                                struct tamis__view *view, const void *key,
                                                size_t key_bytes, struct tamis__digest digest)
{
    struct tamis__hashed_key hashed;
    take_digest(view, key, key_bytes, digest, &hashed);
    return add_long_path(filter, view, &hashed);
}

/* Adds a key that was won in vain in the only segment to the segment after it. */
static __attribute__((noinline)) int add_vain_key(struct tamis_filter *filter,
                                                  struct tamis__view *view, const void *key,
                                                  size_t key_bytes, struct tamis__digest digest)
{
    const uint64_t won = tamis__newest(view)->segment.header->number;
    const bool counted = tamis__view_is_limited(view); /* was it counted when it took room? */
    struct tamis__hashed_key hashed;
    take_digest(view, key, key_bytes, digest, &hashed);
    int rc = tamis__go_to_next(filter, &view, NULL);
    if (rc == 0) rc = tamis__add_key(filter, &view, NULL, won, counted, &hashed);
    return (int)tamis__leave_with(filter, view, rc);
}

/* Takes the short path in a view whose segment has a limit: a known key needs no room. */
static inline int add_within_limit(struct tamis_filter *filter, struct tamis__view *view,
                                   struct tamis__digest digest, const void *key, size_t key_bytes)
{
    const struct tamis__mapped_segment *only = &view->segments[0];
    struct tamis__hold hold;
    if (only->calls->contains(&only->segment, digest))
        return (int)tamis__leave_with(filter, view, 0);
    if (__builtin_expect(!tamis__room_take_one(&only->segment, &hold), 0))
        return add_hashed(filter, view, key, key_bytes, digest);
    const int added = only->calls->add(&only->segment, digest);
    if (__builtin_expect(added <= 0, 0))
        tamis__room_return_one(&only->segment, hold);
    else if (tamis__won_in_vain(view))
        return add_vain_key(filter, view, key, key_bytes, digest);
    return (int)tamis__leave_with(filter, view, added);
}

TAMIS_API int tamis_filter_add(tamis_filter *filter, const void *key, size_t key_bytes)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (__builtin_expect(key == NULL && key_bytes > 0, 0)) return tamis__fail_null_key(0);
    struct tamis__view *view = tamis__enter(&filter->view);
    if (__builtin_expect(view == NULL, 0)) return TAMIS_ENOMEM;
    const struct tamis__mapped_segment *only = &view->segments[0];
    /* ORDER relaxed: see tamis__has_chores(). */
    if (__builtin_expect(!view->takes_short ||
                             __atomic_load_n(&view->chores, __ATOMIC_RELAXED) != 0 ||
                             !tamis__view_is_current(view, &only->segment),
                         0))
        return add_unhashed(filter, view, key, key_bytes);
    const struct tamis__digest digest = digest_of(view, key, key_bytes);
    if (tamis__view_is_limited(view)) return add_within_limit(filter, view, digest, key, key_bytes);
    const int added = only->calls->add(&only->segment, digest);
    if (added > 0) {
        if (tamis__won_in_vain(view)) return add_vain_key(filter, view, key, key_bytes, digest);
        tamis__count_one(view);
    }
    return (int)tamis__leave_with(filter, view, added);
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* The number of keys that are handed to the kind at once if the view has one segment. */
#define PIECE 4096u

static size_t piece_for(const struct tamis__view *view, size_t wanted)
{
    const bool whole =
        view->count == 1 && (!tamis__view_is_limited(view) || tamis__has_plenty(view, PIECE));
    const size_t most = whole ? PIECE : TAMIS__CHUNK;
    return wanted < most ? wanted : most;
}

static bool is_refused(const uint8_t *answers, size_t count)
{
    return memchr(answers, TAMIS_ANSWER_REFUSED, count) != NULL;
}

/* Returns `rc`, or the error of a mapping that broke: then the keys that were added to it are not
 * in the filter, and their answers say so. */
static int64_t answer_chunk(const struct tamis__view *view, int64_t rc, uint8_t *told, size_t count)
{
    const int64_t answer = tamis__view_answer(view, rc);
    if (answer < 0 && rc >= 0) memset(told, TAMIS_ANSWER_REFUSED, count);
    return answer;
}

static int64_t add_in_pieces(struct tamis_filter *filter, struct tamis__view **view,
                             const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    uint8_t unasked[PIECE], *told;
    struct tamis__digest digests[TAMIS__CHUNK];
    bool refused = false;
    int64_t fresh = 0, rc = 0;
    size_t done = 0;
    while (rc >= 0 && done < count) {
        int stopped;
        rc = tamis__view_current(filter, view);
        size_t now = piece_for(*view, count - done);
        struct tamis__hashed_keys chunk = {.keys = keys + done, .digests = digests, .count = now};
        if (rc == 0 && tamis__has_chores(*view)) {
            if (now > TAMIS__CHUNK) now = chunk.count = TAMIS__CHUNK;
            rc = tamis__do_chores_for_chunk(filter, view, &chunk);
        }
        if (rc < 0) break;
        told = answers ? answers + done : unasked;
        rc = tamis__add_chunk(filter, view, NULL, &chunk, told, &stopped);
        rc = answer_chunk(*view, rc, told, now);
        if (rc > 0) fresh += rc;
        if (rc >= 0 && stopped < 0) rc = stopped;
        refused |= is_refused(told, now);
        done += now;
    }
    if (rc < 0 && answers != NULL) memset(answers + done, TAMIS_ANSWER_REFUSED, count - done);
    if (rc >= 0 && refused) rc = tamis__fail_full(filter, *view);
    return rc < 0 ? rc : fresh;
}

static int64_t add_batch(struct tamis_filter *filter, const struct tamis__batch *batch)
{
    struct tamis__view *view = tamis__enter(&filter->view);
    if (view == NULL) return TAMIS_ENOMEM;
    /* The generation in force decides which way the keys go: one of kind fuse takes none. */
    int64_t rc = tamis__view_current(filter, &view);
    if (rc == 0 && is_durable(view))
        rc = tamis__durable_add_batch(filter, &view, batch->keys, batch->count, batch->answers);
    else if (rc == 0)
        rc = add_in_pieces(filter, &view, batch->keys, batch->count, batch->answers);
    tamis__leave(filter, view);
    return rc;
}

TAMIS_API int64_t tamis_filter_add_batch(tamis_filter *filter, const struct tamis_key *keys,
                                         size_t count, uint8_t *answers)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (answers != NULL) memset(answers, TAMIS_ANSWER_REFUSED, count); /* for every early return */
    int64_t rc = tamis__check_keys(keys, count);
    if (rc < 0) return rc;
    if (filter->read_only) return tamis__fail_read_only(filter);
    const struct tamis__batch batch = {.keys = keys, .count = count, .answers = answers};
    return tamis__batch_by_forms(filter, &batch, add_batch);
}

static int64_t ask_in_pieces(struct tamis__view *view, const struct tamis_key *keys, size_t count,
                             uint8_t *answers)
{
    const size_t most = view->count == 1 ? PIECE : TAMIS__CHUNK;
    uint8_t unasked[PIECE];
    struct tamis__digest digests[TAMIS__CHUNK];
    int64_t ones = 0;
    for (size_t done = 0; done < count;) {
        const size_t now = count - done < most ? count - done : most;
        uint8_t *told = answers ? answers + done : unasked;
        const int rc = tamis__check_some_keys(keys, done, done + now);
        if (rc < 0) return rc;
        struct tamis__hashed_keys chunk = {.keys = keys + done, .digests = digests, .count = now};
        size_t found = tamis__contains_chunk(view, &chunk, told);
        if (found > 0 && view->index.segment.header != NULL)
            found -= tamis__index_strike(&view->index.segment, keys + done, now, told);
        ones += (int64_t)found;
        done += now;
    }
    return ones;
}

static int64_t ask_batch(struct tamis_filter *filter, const struct tamis__batch *batch)
{
    struct tamis__view *view = tamis__enter(&filter->view);
    if (view == NULL) return TAMIS_ENOMEM;
    int64_t rc = tamis__view_current(filter, &view);
    if (rc == 0) rc = ask_in_pieces(view, batch->keys, batch->count, batch->answers);
    return tamis__leave_with(filter, view, rc);
}

TAMIS_API int64_t tamis_filter_contains_batch(tamis_filter *filter, const struct tamis_key *keys,
                                              size_t count, uint8_t *answers)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (keys == NULL && count > 0) return tamis__fail_null(__func__, "keys");
    const struct tamis__batch batch = {.keys = keys, .count = count, .answers = answers};
    return tamis__batch_by_forms(filter, &batch, ask_batch);
}
