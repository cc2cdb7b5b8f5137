/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * add.c: adding to open filters and asking them.
 *
 * A call enters the handle's view (view.h), a list of mapped segments that does not change.  It
 * compares what the newest segment says with what the view remembers, two loads of a line that is
 * almost never written; when that has moved somebody changed the filter, and the view is exchanged.
 *
 * An add goes to the newest segment, after the others were asked.  Where the list went on
 * meanwhile, who won there goes on in the new newest one as if it had not won: docs/concurrency.md,
 * "The list goes on".
 */
#include <string.h>
#include <time.h>

#include "base/arguments.h"
#include "base/error.h"
#include "exceptions/set.h"
#include "handle/adding.h"

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

/* The window in time moves on, and has room again when the next slice begins. */
static int fail_full_slice(const struct tamis_filter *filter, const struct tamis__view *view)
{
    const struct tamis__segment_header *newest = tamis__newest(view)->segment.header;
    const time_t next = (time_t)((newest->slice_start + view->slice_ns) / 1000000000 + 1);
    struct tm utc;
    char when[32] = "the next slice";
    if (gmtime_r(&next, &utc) != NULL)
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return tamis__fail(TAMIS_EFULL,
                       "the newest slice of the filter '%s' holds its share of %llu of the %llu "
                       "keys of a window and refuses more until %s; wait until then, or make a "
                       "filter of a greater capacity, or one that grows (--on-full grow)",
                       filter->name, (unsigned long long)newest->capacity,
                       (unsigned long long)view->policy.capacity, when);
}

int tamis__fail_full(const struct tamis_filter *filter, const struct tamis__view *view)
{
    if (view->slice_ns > 0) return fail_full_slice(filter, view);
    return tamis__fail(
        TAMIS_EFULL,
        "the filter '%s' holds the %llu key%s that it was made for and refuses more; "
        "make a larger one, or one that grows (--on-full grow)",
        filter->name, (unsigned long long)view->policy.capacity,
        tamis__plural(view->policy.capacity));
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
        rc = find_key(view, tamis__first_alive(view), view->count, &asked) > 0;
        if (rc > 0 && view->index.segment.header != NULL)
            rc = !tamis__index_has(&view->index.segment, key, key_bytes);
    }
    return (int)tamis__leave_with(filter, view, rc);
}

TAMIS_API int tamis_filter_contains(tamis_filter *filter, const void *key, size_t key_bytes)
{
    TAMIS__REFUSE_NULL(filter, "filter");
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

static void count_one(const struct tamis__view *view)
{
    TAMIS__POINT(TAMIS__POINT_COUNT);
    (void)tamis__segment_count(&tamis__newest(view)->segment, 1);
}

/* ---- Room ------------------------------------------------------------------------------------ */

/* Half of it is granted: the next one is to be made, by who adds next, unless it is there. */
static void want_spare(struct tamis__view *view)
{
    if (view->policy.on_full == TAMIS_ON_FULL_REFUSE && view->policy.window_items == 0) return;
    if (tamis__next_spare(tamis__segment_next(&tamis__newest(view)->segment)) != 0) return;
    /* ORDER relaxed: a hint. */
    (void)__atomic_fetch_or(&view->chores, TAMIS__CHORE_SPARE, __ATOMIC_RELAXED);
}

/* Room for one key in the newest segment: it is counted, unless this is false. */
static bool take_one(struct tamis__view *view, struct tamis__hold *hold)
{
    bool passed_half = false;
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    if (tamis__room_take_one(newest, hold)) return true;
    const bool found = tamis__room_find_one(newest, view->limit, hold, &passed_half);
    if (passed_half) want_spare(view);
    return found;
}

void tamis__take_many(struct tamis__view *view, uint32_t wanted, struct tamis__hold *hold)
{
    bool passed_half = false;
    tamis__room_take(&tamis__newest(view)->segment, view->limit, wanted, hold, &passed_half);
    if (passed_half) want_spare(view);
}

/* The same for a key that is `counted` in another segment. */
static bool take(struct tamis__view *view, bool counted, struct tamis__hold *hold)
{
    if (!counted) return take_one(view, hold);
    tamis__take_many(view, 1, hold);
    return hold->keys > 0;
}

static void give_back(const struct tamis__view *view, bool counted, struct tamis__hold hold)
{
    const struct tamis__segment *newest = &tamis__newest(view)->segment;
    if (counted)
        tamis__room_return(newest, hold);
    else
        tamis__room_return_one(newest, hold);
}

int tamis__go_further(struct tamis_filter *filter, struct tamis__view **at,
                      struct tamis__flight *flight)
{
    int rc = tamis__view_advance(filter, at);
    if (rc == 0) rc = tamis__view_mark(filter, *at);
    if (rc == 0 && flight != NULL) rc = tamis__flight_enter(flight, *at);
    return rc;
}

int tamis__make_room(struct tamis_filter *filter, struct tamis__view **at,
                     struct tamis__flight *flight)
{
    int rc = tamis__view_make_room(filter, at);
    if (rc == 0) rc = tamis__view_mark(filter, *at);
    if (rc == 0 && flight != NULL) rc = tamis__flight_enter(flight, *at);
    return rc;
}

/*
 * Ask for a key where it may be, before it is added: `from` is the first segment that says
 * something about it. 0: some segment of the newest slice has it, and nothing is to be done; else
 * 1, and *fresh is cleared where an older slice has it.
 */
static int find_first(const struct tamis__view *view, uint32_t from, const struct asked *asked,
                      bool in_newest, bool *fresh)
{
    /* Most are in the newest.  In a window that may be left meanwhile: their life goes on below. */
    if (in_newest && view->policy.slices == 0) return 0;
    const uint32_t found = find_key(view, from, view->count - 1, asked);
    if (found > view->slice_first) return 0;
    if (found != 0) *fresh = false;
    return 1;
}

int tamis__add_key(struct tamis_filter *filter, struct tamis__view **at,
                   struct tamis__flight *flight, uint64_t won, bool counted, const void *key,
                   size_t key_bytes)
{
    bool fresh = true;
    for (;;) {
        struct tamis__view *view = *at;
        const struct tamis__store_segment *newest = tamis__newest(view);
        const struct tamis__store_segment *behind = won ? tamis__view_find(view, won) : NULL;
        const uint32_t from =
            behind ? (uint32_t)(behind - view->segments) + 1 : tamis__first_alive(view);
        struct tamis__hold hold = {0, 0};
        struct asked asked;
        ask_for(view, key, key_bytes, &asked);
        const bool in_newest =
            (tamis__view_is_limited(view) || view->count > 1) && has_key(view, newest, &asked);
        if (find_first(view, from, &asked, in_newest, &fresh) == 0) return 0;
        if (tamis__view_refuses(view) && !in_newest) return tamis__fail_full(filter, view);
        if (tamis__view_is_limited(view) && !in_newest && !take(view, counted, &hold)) {
            const int rc = tamis__make_room(filter, at, flight);
            if (rc < 0) return rc;
            continue;
        }
        /* In an older slice only: it is not new, but its life begins again. */
        const int added = in_newest        ? 0
                          : view->digested ? newest->calls->add(&newest->segment, asked.digest)
                                           : newest->kind->add(&newest->segment, key, key_bytes);
        if (added <= 0 && hold.keys > 0) give_back(view, counted, hold);
        if (added < 0) return added;
        const bool flipped = added > 0;
        if (!flipped && view->policy.slices == 0) return 0;
        fresh &= flipped; /* who won it may have been told so, and this one never is */
        if (!tamis__won_in_vain(view)) {
            if (!flipped) return 0;
            if (!counted && hold.keys == 0) count_one(view);
            return fresh;
        }
        counted |= flipped && hold.keys > 0;
        won = newest->segment.header->number;
        const int rc = tamis__go_further(filter, at, flight);
        if (rc < 0) return rc;
    }
}

static inline bool is_durable(const struct tamis__view *view)
{
    /* ORDER relaxed: never changed. */
    return (__atomic_load_n(&view->chores, __ATOMIC_RELAXED) & TAMIS__CHORE_DURABLE) != 0;
}

bool tamis__ignores_known(const struct tamis__view *view)
{
    return !tamis__view_is_over(view) && tamis__newest(view)->kind->count_batch == NULL;
}

/* Has time passed by all slices?  Nobody would find a key in the last one any more. */
static bool is_past(const struct tamis__view *view)
{
    return tamis__first_alive(view) == view->count;
}

int tamis__do_chores(struct tamis_filter *filter, struct tamis__view **view)
{
    const int64_t started_ns = tamis__steady_ns();
    int rc = is_past(*view) ? 0 : tamis__view_renew(filter, view);
    while (rc == 0 && is_past(*view)) {
        rc = tamis__view_begin_slice(filter, view, started_ns);
        if (rc == 0 && is_past(*view) && !tamis__store_wait(filter->store, started_ns, -1))
            rc = tamis__fail_no_slice(filter, started_ns);
    }
    return rc < 0 ? rc : tamis__view_mark(filter, *view);
}

/* Keys that are in need no room, and are no write. */
static int do_chores_for_key(struct tamis_filter *filter, struct tamis__view **view,
                             const void *key, size_t key_bytes)
{
    const struct tamis__view *v = *view;
    struct asked asked;
    ask_for(v, key, key_bytes, &asked);
    if (tamis__ignores_known(v) && find_key(v, v->slice_first, v->count, &asked) > 0) return 0;
    return tamis__do_chores(filter, view);
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
    if (rc == 0 && tamis__has_chores(view)) {
        if (is_durable(view)) {
            rc = tamis__durable_add(filter, &view, key, key_bytes);
            return (int)tamis__leave_with(filter, view, rc);
        }
        rc = do_chores_for_key(filter, &view, key, key_bytes);
    }
    if (rc == 0) rc = tamis__add_key(filter, &view, NULL, 0, false, key, key_bytes);
    return (int)tamis__leave_with(filter, view, rc);
}

/* Won in the only segment, which somebody has left meanwhile. */
static __attribute__((noinline)) int add_further(struct tamis_filter *filter,
                                                 struct tamis__view *view, bool counted,
                                                 const void *key, size_t key_bytes)
{
    const uint64_t won = tamis__newest(view)->segment.header->number;
    int rc = tamis__go_further(filter, &view, NULL);
    if (rc == 0) rc = tamis__add_key(filter, &view, NULL, won, counted, key, key_bytes);
    return (int)tamis__leave_with(filter, view, rc);
}

/* The short way where the only segment has a limit: what is known needs no room. */
static inline int add_within_limit(struct tamis_filter *filter, struct tamis__view *view,
                                   struct tamis__digest digest, const void *key, size_t key_bytes)
{
    const struct tamis__store_segment *only = &view->segments[0];
    struct tamis__hold hold;
    if (only->calls->contains(&only->segment, digest))
        return (int)tamis__leave_with(filter, view, 0);
    if (__builtin_expect(!tamis__room_take_one(&only->segment, &hold), 0))
        return add_anyhow(filter, view, key, key_bytes);
    const int added = only->calls->add(&only->segment, digest);
    if (__builtin_expect(added <= 0, 0))
        tamis__room_return_one(&only->segment, hold);
    else if (tamis__won_in_vain(view))
        return add_further(filter, view, true, key, key_bytes);
    return (int)tamis__leave_with(filter, view, added);
}

TAMIS_API int tamis_filter_add(tamis_filter *filter, const void *key, size_t key_bytes)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (__builtin_expect(key == NULL && key_bytes > 0, 0)) return tamis__fail_null_key(0);
    struct tamis__view *view = tamis__enter(&filter->view);
    if (__builtin_expect(view == NULL, 0)) return TAMIS_ENOMEM;
    const struct tamis__store_segment *only = &view->segments[0];
    /* ORDER relaxed: as tamis__has_chores(). */
    if (__builtin_expect(!view->takes_short ||
                             __atomic_load_n(&view->chores, __ATOMIC_RELAXED) != 0 ||
                             !tamis__view_is_current(view, &only->segment),
                         0))
        return add_anyhow(filter, view, key, key_bytes);
    const struct tamis__digest digest = tamis__digest_at_once(key, key_bytes, view->by.seed);
    if (tamis__view_is_limited(view)) return add_within_limit(filter, view, digest, key, key_bytes);
    const int added = only->calls->add(&only->segment, digest);
    if (added > 0) {
        if (tamis__won_in_vain(view)) return add_further(filter, view, false, key, key_bytes);
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
    if (keys == NULL && count > 0) return tamis__fail_null("a batch", "keys");
    return check_keys(keys, 0, count);
}

/* Keys that are handed to the kind at once where no list of segments wants them in chunks. */
#define PIECE 4096u

static size_t piece_of(const struct tamis__view *view, size_t wanted)
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
        int stopped;
        rc = tamis__view_current(filter, view);
        size_t now = piece_of(*view, count - done);
        if (rc == 0 && tamis__has_chores(*view)) {
            now = now < TAMIS__CHUNK ? now : TAMIS__CHUNK;
            rc = tamis__do_chores_for_chunk(filter, view, keys + done, now);
            if (now > piece_of(*view, now)) now = piece_of(*view, now);
        }
        if (rc < 0) break;
        told = answers ? answers + done : unasked;
        rc = tamis__add_chunk(filter, view, NULL, keys + done, now, told, &stopped);
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

TAMIS_API int64_t tamis_filter_add_batch(tamis_filter *filter, const struct tamis_key *keys,
                                         size_t count, uint8_t *answers)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    if (answers != NULL) memset(answers, TAMIS_ANSWER_REFUSED, count); /* whatever happens */
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
        size_t found = tamis__contains_chunk(view, keys + done, now, told);
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
    TAMIS__REFUSE_NULL(filter, "filter");
    if (keys == NULL && count > 0) return tamis__fail_null(__func__, "keys");
    struct tamis__view *view = tamis__enter(&filter->view);
    if (view == NULL) return TAMIS_ENOMEM;
    int64_t rc = tamis__view_current(filter, &view);
    if (rc == 0) rc = contains_batch(view, keys, count, answers);
    return tamis__leave_with(filter, view, rc);
}
