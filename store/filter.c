/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.c: adding to open filters and asking them.
 *
 * A call enters the handle's view (view.h), a list of mapped segments that does not change.  It
 * compares what the newest segment says with what the view remembers, two loads of a line that is
 * almost never written; when that has moved somebody changed the filter, and the view is exchanged.
 *
 * An add goes to the newest segment, after the others were asked.  Where the list went on meanwhile,
 * who won there goes on in the new newest one as if it had not won: docs/concurrency.md, "The list
 * goes on".
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/point.h"
#include "durable.h"
#include "exceptions.h"

/* ---- Before anything is asked or added ------------------------------------------------------- */

int tamis__fail_null_key(size_t index)
{
    return tamis__fail(TAMIS_EINVAL, "key %zu is NULL with a length above 0; pass its bytes",
                       index);
}

int tamis__fail_read_only(const struct tamis_filter *filter)
{
    return tamis__fail(TAMIS_EREADONLY,
                       "the filter '%s' of the store %s is open read-only; open it for writing",
                       filter->name, filter->store->place.path);
}

int tamis__fail_full(const struct tamis_filter *filter, const struct tamis__view *view)
{
    return tamis__fail(TAMIS_EFULL,
                       "the filter '%s' holds the %llu keys that it was made for and refuses more; "
                       "make a larger one, or one that grows (--on-full grow)",
                       filter->name, (unsigned long long)view->policy.capacity);
}

/* The first segment that the window still has; what is older is on its way out. */
static uint32_t first_alive(const struct tamis__view *view)
{
    uint32_t first = 0;
    if (view->slice_ns == 0) return 0;
    const int64_t dead = tamis__clock_ns() - view->slice_ns - view->policy.window_ns;
    while (first + 1 < view->count && view->segments[first].segment.header->slice_start <= dead)
        first++;
    return first;
}

/* By the segment itself: the view learns of it under the catalog's lock, which may take long. */
static inline bool refuses(const struct tamis__view *view)
{
    return tamis__segment_next(&tamis__newest(view)->segment) == TAMIS__NEXT_REFUSE;
}

/* ---- One key --------------------------------------------------------------------------------- */

/* A key that is asked for, with its digest where the view is digested. */
struct asked {
    const void *key;
    size_t bytes;
    struct tamis__digest digest;
};

static inline void ask_for(const struct tamis__view *view, const void *key, size_t key_bytes,
                           struct asked *asked)
{
    asked->key = key;
    asked->bytes = key_bytes;
    if (view->digested) asked->digest = tamis__digest_by(&view->by, key, key_bytes);
}

static inline int has_key(const struct tamis__view *view, const struct tamis__store_segment *s,
                          const struct asked *asked)
{
    return view->digested ? s->calls->contains(&s->segment, asked->digest)
                          : s->kind->contains(&s->segment, asked->key, asked->bytes);
}

/* The newest of segments from .. end - 1 that has the key, plus 1; 0: none has. */
static uint32_t find_key(const struct tamis__view *view, uint32_t from, uint32_t end,
                         const struct asked *asked)
{
    for (uint32_t i = end; i-- > from;)
        if (has_key(view, &view->segments[i], asked)) return i + 1;
    return 0;
}

/* Of a view of any sort, and one that may have moved. */
static __attribute__((noinline)) int contains_anyhow(struct tamis_filter *filter,
                                                     struct tamis__view *view, const void *key,
                                                     size_t key_bytes)
{
    struct asked asked;
    int rc = tamis__view_current(filter, &view);
    if (rc == 0) {
        ask_for(view, key, key_bytes, &asked);
        rc = has_key(view, tamis__newest(view), &asked);
        if (rc == 0 && view->count > 1)
            rc = find_key(view, first_alive(view), view->count - 1, &asked) > 0;
        if (rc > 0 && view->index.segment.header != NULL)
            rc = !tamis__index_has(&view->index.segment, key, key_bytes);
    }
    return (int)tamis__leave_with(filter, view, rc);
}

TAMIS_API int tamis_filter_contains(tamis_filter *filter, const void *key, size_t key_bytes)
{
    if (__builtin_expect(key == NULL && key_bytes > 0, 0)) return tamis__fail_null_key(0);
    struct tamis__view *view = tamis__enter(&filter->view);
    if (__builtin_expect(view == NULL, 0)) return TAMIS_ENOMEM;
    /* Whether the mapping is whole is looked at in the end. */
    const struct tamis__store_segment *only = &view->segments[0];
    if (__builtin_expect(!view->is_short || tamis__view_moved(view, &only->segment) != 0, 0))
        return contains_anyhow(filter, view, key, key_bytes);
    const struct tamis__digest digest = tamis__digest_at_once(key, key_bytes, view->by.seed);
    const int rc = only->calls->contains(&only->segment, digest);
    return (int)tamis__leave_with(filter, view, rc);
}

static void count_one(struct tamis__view *view)
{
    TAMIS__POINT(TAMIS__POINT_COUNT);
    const uint64_t before = tamis__segment_count(&tamis__newest(view)->segment, 1);
    /* ORDER relaxed: a hint. */
    const uint64_t stride = __atomic_load_n(&view->stride, __ATOMIC_RELAXED);
    if (__builtin_expect(((before ^ (before + 1)) & ~stride) != 0, 0)) tamis__view_count(view);
}

/* A segment was won: is the list still the one that ends there? */
static inline bool won_in_vain(const struct tamis__view *view)
{
    TAMIS__POINT(TAMIS__POINT_ADD_WON);
    if (TAMIS__NO_RECHECK) return false;
    tamis__fence_after_rmw();
    return __builtin_expect(tamis__segment_is_left(&tamis__newest(view)->segment), 0);
}

/* To the segment that comes after the newest one of the view, which is ready to be written to then. */
static int go_further(struct tamis_filter *filter, struct tamis__view **at,
                      struct tamis__flight *flight)
{
    int rc = tamis__view_advance(filter, at);
    if (rc == 0) rc = tamis__view_mark(filter, *at);
    if (rc == 0 && flight != NULL) rc = tamis__flight_enter(flight, *at);
    return rc;
}

/*
 * Add one key.  `won` is the number of the segment that it has been won in already and that was left
 * meanwhile, or 0: that segment, and those before it, say nothing about it any more.
 */
static int add_key(struct tamis_filter *filter, struct tamis__view **at,
                   struct tamis__flight *flight, uint64_t won, bool counted, const void *key,
                   size_t key_bytes)
{
    bool fresh = true;
    for (;;) {
        struct tamis__view *view = *at;
        const struct tamis__store_segment *newest = tamis__newest(view);
        const struct tamis__store_segment *behind = won ? tamis__view_find(view, won) : NULL;
        const uint32_t from = behind ? (uint32_t)(behind - view->segments) + 1 : first_alive(view);
        struct asked asked;
        ask_for(view, key, key_bytes, &asked);
        /* Most are in the newest.  In a window that may be left meanwhile: their life goes on below. */
        if (view->count > 1 && view->policy.slices == 0 && has_key(view, newest, &asked)) return 0;
        const uint32_t found = find_key(view, from, view->count - 1, &asked);
        if (found > view->slice_first) return 0;
        fresh &= found == 0;
        if (refuses(view) && !has_key(view, newest, &asked)) return tamis__fail_full(filter, view);
        /* In an older slice only: it is not new, but its life begins again. */
        const int added = view->digested ? newest->calls->add(&newest->segment, asked.digest)
                                         : newest->kind->add(&newest->segment, key, key_bytes);
        if (added < 0) return added;
        const bool flipped = added > 0;
        if (!flipped && view->policy.slices == 0) return 0;
        fresh &= flipped; /* who won it may have been told so, and this one never is */
        if (!won_in_vain(view)) {
            if (!flipped) return 0;
            if (!counted) count_one(view);
            return fresh;
        }
        won = newest->segment.header->number;
        const int rc = go_further(filter, at, flight);
        if (rc < 0) return rc;
    }
}

/* Is there something to do before the next key: is the newest segment unmarked, full, or over? */
static inline bool has_chores(const struct tamis__view *view)
{
    /* ORDER relaxed: a hint, looked at again where they are done. */
    return __builtin_expect(__atomic_load_n(&view->chores, __ATOMIC_RELAXED) != 0, 0) ||
           tamis__view_is_over(view);
}

static inline bool is_durable(const struct tamis__view *view)
{
    /* ORDER relaxed: never changed. */
    return (__atomic_load_n(&view->chores, __ATOMIC_RELAXED) & TAMIS__CHORE_DURABLE) != 0;
}

/* Does a key that is in write nothing? */
static bool ignores_known(const struct tamis__view *view)
{
    return !tamis__view_is_over(view) && tamis__newest(view)->kind->count_batch == NULL;
}

static int do_chores(struct tamis_filter *filter, struct tamis__view **view)
{
    const int rc = tamis__view_renew(filter, view);
    return rc < 0 ? rc : tamis__view_mark(filter, *view);
}

/* Keys that are in need no room, and are no write. */
static int do_chores_for_key(struct tamis_filter *filter, struct tamis__view **view,
                             const void *key, size_t key_bytes)
{
    const struct tamis__view *v = *view;
    struct asked asked;
    ask_for(v, key, key_bytes, &asked);
    if (ignores_known(v) && find_key(v, v->slice_first, v->count, &asked) > 0) return 0;
    return do_chores(filter, view);
}

/* In a view of any sort, and one that may have moved. */
static __attribute__((noinline)) int
add_anyhow(struct tamis_filter *filter, struct tamis__view *view, const void *key, size_t key_bytes)
{
    if (filter->read_only) {
        tamis__leave(filter, view);
        return tamis__fail_read_only(filter);
    }
    int rc = tamis__view_current(filter, &view);
    if (rc == 0 && has_chores(view)) {
        if (is_durable(view)) {
            rc = tamis__durable_add(filter, &view, key, key_bytes);
            return (int)tamis__leave_with(filter, view, rc);
        }
        rc = do_chores_for_key(filter, &view, key, key_bytes);
    }
    if (rc == 0) rc = add_key(filter, &view, NULL, 0, false, key, key_bytes);
    return (int)tamis__leave_with(filter, view, rc);
}

/* Won in the only segment, which somebody has left meanwhile. */
static __attribute__((noinline)) int add_further(struct tamis_filter *filter,
                                                 struct tamis__view *view, const void *key,
                                                 size_t key_bytes)
{
    const uint64_t won = tamis__newest(view)->segment.header->number;
    int rc = go_further(filter, &view, NULL);
    if (rc == 0) rc = add_key(filter, &view, NULL, won, false, key, key_bytes);
    return (int)tamis__leave_with(filter, view, rc);
}

TAMIS_API int tamis_filter_add(tamis_filter *filter, const void *key, size_t key_bytes)
{
    if (__builtin_expect(key == NULL && key_bytes > 0, 0)) return tamis__fail_null_key(0);
    struct tamis__view *view = tamis__enter(&filter->view);
    if (__builtin_expect(view == NULL, 0)) return TAMIS_ENOMEM;
    const struct tamis__store_segment *only = &view->segments[0];
    /* ORDER relaxed: as has_chores(). */
    if (__builtin_expect(!view->takes_short ||
                             __atomic_load_n(&view->chores, __ATOMIC_RELAXED) != 0 ||
                             !tamis__view_is_current(view, &only->segment),
                         0))
        return add_anyhow(filter, view, key, key_bytes);
    const struct tamis__digest digest = tamis__digest_at_once(key, key_bytes, view->by.seed);
    const int added = only->calls->add(&only->segment, digest);
    if (added > 0) {
        if (won_in_vain(view)) return add_further(filter, view, key, key_bytes);
        count_one(view);
    }
    return (int)tamis__leave_with(filter, view, added);
}

/* ---- Batches --------------------------------------------------------------------------------- */

static inline int check_keys(const struct tamis_key *keys, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (__builtin_expect(keys[i].data == NULL, 0) && keys[i].bytes > 0)
            return tamis__fail_null_key(i);
    return 0;
}

int tamis__check_keys(const struct tamis_key *keys, size_t count)
{
    return check_keys(keys, 0, count);
}

/* The keys of a chunk that no segment has answered yes to, moved together: their digests, where all
 * segments have the same. */
struct open_keys {
    union {
        struct tamis_key keys[TAMIS__CHUNK];
        struct tamis__digest digests[TAMIS__CHUNK];
    };
    uint16_t index[TAMIS__CHUNK];
    uint8_t answers[TAMIS__CHUNK];
    size_t count;
    bool digested;
};
static_assert(sizeof(struct tamis_key) == sizeof(struct tamis__digest), "moved alike");

static void keep_open(struct open_keys *open, uint8_t *answers)
{
    size_t kept = 0;
    for (size_t i = 0; i < open->count; i++) {
        const uint8_t answer = open->answers[i]; /* no branch: half of them are, half are not */
        answers[open->index[i]] = answer;
        open->digests[kept] = open->digests[i];
        open->index[kept] = open->index[i];
        kept += !answer;
    }
    open->count = kept;
}

/* Ask segments `end` - 1 down to `from`; answers of keys found become 1, the others stay open. */
static void ask_segments(const struct tamis__view *view, uint32_t from, uint32_t end,
                         struct open_keys *open, uint8_t *answers)
{
    for (uint32_t i = end; i-- > from && open->count > 0;) {
        const struct tamis__store_segment *s = &view->segments[i];
        const size_t found =
            open->digested
                ? s->kind->contains_digests(&s->segment, open->digests, open->count, open->answers)
                : s->kind->contains_batch(&s->segment, open->keys, open->count, open->answers);
        if (found > 0) keep_open(open, answers);
    }
}

static void open_all(const struct tamis__view *view, struct open_keys *open,
                     const struct tamis_key *keys, size_t count)
{
    open->digested = view->digested;
    if (!view->digested)
        memcpy(open->keys, keys, count * sizeof *keys);
    else if (view->by.secret != NULL)
        for (size_t i = 0; i < count; i++)
            open->digests[i] = tamis__digest_by(&view->by, keys[i].data, keys[i].bytes);
    else
        for (size_t i = 0; i < count; i++)
            open->digests[i] = tamis__digest(keys[i].data, keys[i].bytes, view->by.seed);
    for (size_t i = 0; i < count; i++)
        open->index[i] = (uint16_t)i;
    open->count = count;
}

/* Add those that are open to the newest segment. */
static int64_t add_open(const struct tamis__store_segment *newest, struct open_keys *open)
{
    return open->digested
               ? newest->kind->add_digests(&newest->segment, open->digests, open->count,
                                           open->answers)
               : newest->kind->add_batch(&newest->segment, open->keys, open->count, open->answers);
}

static size_t contains_chunk(const struct tamis__view *view, const struct tamis_key *keys,
                             size_t count, uint8_t *answers)
{
    const struct tamis__store_segment *newest = tamis__newest(view);
    struct open_keys open;
    if (view->count == 1)
        return newest->kind->contains_batch(&newest->segment, keys, count, answers);
    open_all(view, &open, keys, count);
    memset(answers, 0, count);
    ask_segments(view, first_alive(view), view->count, &open, answers);
    return count - open.count;
}

/* Which of the open keys older slices of the window have; they stay open. */
static void ask_older_slices(const struct tamis__view *view, const struct open_keys *open,
                             uint8_t *older)
{
    struct open_keys asked = *open;
    memset(older, 0, TAMIS__CHUNK);
    ask_segments(view, first_alive(view), view->slice_first, &asked, older);
}

/*
 * Keys that the newest slice has are not new (most are in the newest segment: it is asked first); the
 * others are added to that, and are new where no older slice has them.
 */
static int64_t add_to_list(const struct tamis__view *view, const struct tamis_key *keys,
                           size_t count, uint8_t *answers)
{
    const struct tamis__store_segment *newest = tamis__newest(view);
    const bool windowed = view->slice_first > 0;
    struct open_keys open;
    uint8_t older[TAMIS__CHUNK];
    open_all(view, &open, keys, count);
    ask_segments(view, view->slice_first, view->count, &open, answers);
    memset(answers, 0, count);
    if (windowed) ask_older_slices(view, &open, older);
    int64_t fresh = add_open(newest, &open);
    if (fresh < 0) return fresh;
    keep_open(&open, answers);
    for (size_t i = 0; windowed && i < count; i++)
        if (answers[i] && older[i]) {
            answers[i] = 0;
            fresh--;
        }
    return fresh;
}

/* Full, and no more are taken: those that are in are answered. */
static void refuse_chunk(const struct tamis__view *view, const struct tamis_key *keys, size_t count,
                         uint8_t *answers)
{
    (void)contains_chunk(view, keys, count, answers);
    for (size_t i = 0; i < count; i++)
        answers[i] = answers[i] ? 0 : TAMIS_ANSWER_REFUSED;
}

static bool is_refused(const uint8_t *answers, size_t count)
{
    return memchr(answers, TAMIS_ANSWER_REFUSED, count) != NULL;
}

/* Those that were won in a segment that had been left go on after it, one by one: it is rare. */
static int64_t go_on(struct tamis_filter *filter, struct tamis__view **at,
                     struct tamis__flight *flight, const struct tamis_key *keys, size_t count,
                     uint8_t *answers)
{
    const uint64_t won = tamis__newest(*at)->segment.header->number;
    int64_t fresh = 0;
    int rc = go_further(filter, at, flight);
    for (size_t i = 0; rc >= 0 && i < count; i++) {
        if (!answers[i]) continue;
        rc = add_key(filter, at, flight, won, true, keys[i].data, keys[i].bytes);
        answers[i] = rc > 0;
        fresh += rc > 0;
        if (rc == TAMIS_EFULL) {
            answers[i] = TAMIS_ANSWER_REFUSED;
            rc = 0;
        }
    }
    return rc < 0 ? rc : fresh;
}

int64_t tamis__add_chunk(struct tamis_filter *filter, struct tamis__view **at,
                         struct tamis__flight *flight, const struct tamis_key *keys, size_t count,
                         uint8_t *answers)
{
    struct tamis__view *view = *at;
    const struct tamis__store_segment *newest = tamis__newest(view);
    int64_t fresh;
    if (refuses(view)) {
        refuse_chunk(view, keys, count, answers);
        return 0;
    }
    if (view->count > 1)
        fresh = add_to_list(view, keys, count, answers);
    else
        fresh = newest->kind->add_batch(&newest->segment, keys, count, answers);
    if (fresh <= 0) return fresh;
    if (won_in_vain(view)) return go_on(filter, at, flight, keys, count, answers);
    /* ORDER relaxed: a hint. */
    if (__atomic_add_fetch(&view->uncounted, (uint64_t)fresh, __ATOMIC_RELAXED) >
        __atomic_load_n(&view->stride, __ATOMIC_RELAXED))
        tamis__view_count(view);
    return fresh;
}

void tamis__ask_newest_slice(const struct tamis__view *view, const struct tamis_key *keys,
                             size_t count, uint8_t *answers)
{
    struct open_keys open;
    open_all(view, &open, keys, count);
    memset(answers, 0, count);
    ask_segments(view, view->slice_first, view->count, &open, answers);
}

/* Are all of them in the newest slice? */
static bool are_known(const struct tamis__view *view, const struct tamis_key *keys, size_t count)
{
    uint8_t answers[TAMIS__CHUNK];
    tamis__ask_newest_slice(view, keys, count, answers);
    return memchr(answers, 0, count) == NULL;
}

int tamis__do_chores_for_chunk(struct tamis_filter *filter, struct tamis__view **view,
                               const struct tamis_key *keys, size_t count)
{
    if (!has_chores(*view)) return 0;
    return ignores_known(*view) && are_known(*view, keys, count) ? 0 : do_chores(filter, view);
}

/* Fewer where few are left, so that several adders together do not go far past the limit. */
size_t tamis__chunk_of(const struct tamis__view *view, size_t wanted)
{
    /* ORDER relaxed: a hint. */
    const uint64_t part = __atomic_load_n(&view->left, __ATOMIC_RELAXED) / 16;
    const size_t most = part == 0 ? 1 : part < TAMIS__CHUNK ? (size_t)part : TAMIS__CHUNK;
    return wanted < most ? wanted : most;
}

/* Keys that are handed to the kind at once where no list of segments wants them in chunks. */
#define PIECE 4096u

/* Of a list, or where adders must not go far past a limit, no more than a chunk. */
static size_t piece_of(const struct tamis__view *view, size_t wanted)
{
    /* ORDER relaxed: a hint. */
    const uint64_t part = __atomic_load_n(&view->left, __ATOMIC_RELAXED) / 16;
    if (view->count > 1 || part < PIECE || view->policy.on_full == TAMIS_ON_FULL_REFUSE)
        return tamis__chunk_of(view, wanted);
    return wanted < PIECE ? wanted : PIECE;
}

/* What was added to a mapping that broke is not. */
static int64_t answer_chunk(const struct tamis__view *view, int64_t rc, uint8_t *told, size_t count)
{
    const int64_t answer = tamis__view_answer(view, rc);
    if (answer < 0 && rc >= 0) memset(told, TAMIS_ANSWER_REFUSED, count);
    return answer;
}

static int64_t add_batch(struct tamis_filter *filter, struct tamis__view **view,
                         const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    uint8_t unasked[PIECE], *told;
    bool refused = false;
    int64_t fresh = 0, rc = 0;
    size_t done = 0;
    while (rc >= 0 && done < count) {
        rc = tamis__view_current(filter, view);
        size_t now = piece_of(*view, count - done);
        if (rc == 0 && has_chores(*view)) {
            now = tamis__chunk_of(*view, now);
            rc = tamis__do_chores_for_chunk(filter, view, keys + done, now);
            now = tamis__chunk_of(*view, now);
        }
        if (rc < 0) break;
        told = answers ? answers + done : unasked;
        rc = tamis__add_chunk(filter, view, NULL, keys + done, now, told);
        rc = answer_chunk(*view, rc, told, now);
        if (rc > 0) fresh += rc;
        refused |= is_refused(told, now);
        done += now;
    }
    if (rc < 0 && answers != NULL) memset(answers + done, TAMIS_ANSWER_REFUSED, count - done);
    if (rc >= 0 && refused) rc = tamis__fail_full(filter, *view);
    return rc < 0 ? rc : fresh;
}

TAMIS_API int64_t tamis_filter_add_batch(tamis_filter *filter, const struct tamis_key *keys,
                                         size_t count, uint8_t *answers)
{
    int64_t rc = tamis__check_keys(keys, count);
    if (rc < 0) return rc;
    if (filter->read_only) return tamis__fail_read_only(filter);
    struct tamis__view *view = tamis__enter(&filter->view);
    if (view == NULL) return TAMIS_ENOMEM;
    rc = is_durable(view) ? tamis__durable_add_batch(filter, &view, keys, count, answers)
                          : add_batch(filter, &view, keys, count, answers);
    tamis__leave(filter, view);
    return rc;
}

static int64_t contains_batch(const struct tamis__view *view, const struct tamis_key *keys,
                              size_t count, uint8_t *answers)
{
    const size_t most = view->count == 1 ? PIECE : TAMIS__CHUNK;
    uint8_t unasked[PIECE];
    int64_t ones = 0;
    for (size_t done = 0; done < count;) {
        const size_t now = count - done < most ? count - done : most;
        uint8_t *told = answers ? answers + done : unasked;
        const int rc = check_keys(keys, done, done + now);
        if (rc < 0) return rc;
        size_t found = contains_chunk(view, keys + done, now, told);
        if (found > 0 && view->index.segment.header != NULL)
            found -= tamis__index_strike(&view->index.segment, keys + done, now, told);
        ones += (int64_t)found;
        done += now;
    }
    return ones;
}

TAMIS_API int64_t tamis_filter_contains_batch(tamis_filter *filter, const struct tamis_key *keys,
                                              size_t count, uint8_t *answers)
{
    struct tamis__view *view = tamis__enter(&filter->view);
    if (view == NULL) return TAMIS_ENOMEM;
    int64_t rc = tamis__view_current(filter, &view);
    if (rc == 0) rc = contains_batch(view, keys, count, answers);
    return tamis__leave_with(filter, view, rc);
}
