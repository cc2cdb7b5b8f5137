/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chunk.c: adds many keys, or asks for them, in chunks of up to TAMIS__CHUNK.  A key is open as
 * long as no segment was found to have it and it was not added.  It is won in vain if it was new in
 * a segment that had been left by then.
 *
 *     ask      the segments of the newest slice; keys that are found are done
 *     take     room in the newest segment for the open keys, a part of it at a time
 *     add      the keys that have room, and look whether the segment was left meanwhile
 *     go on    if it was left, or there is no room: the rest goes to the next segment
 *
 * If there is plenty of room, it is taken for all keys at once, without asking for them first.  A
 * view without a limit takes no room.
 */
#include "handle/chunk.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "handle/add_key.h"
#include "handle/pages.h"

/* The open keys of a chunk, one behind the other.  They are kept as digests if all segments have
 * the same digest of a key. */
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
        const uint8_t answer = open->answers[i]; /* no branch: half of the keys may be open */
        answers[open->index[i]] = answer;
        open->digests[kept] = open->digests[i];
        open->index[kept] = open->index[i];
        kept += !answer;
    }
    open->count = kept;
}

/* Returns how many segments, from `from` on and before `end`, are asked at once: those that are of
 * one kind and small, if there are two or more.  These are the older segments of the list; where a
 * filter has grown, most of its segments are small. */
static uint32_t count_together(const struct tamis__view *view, uint32_t from, uint32_t end)
{
    const struct tamis__kind *kind = view->segments[from].kind;
    uint32_t count = 0;
    uint64_t bytes = 0;
    if (!view->digested || kind->contains_together == NULL) return 0;
    while (from + count < end && count < TAMIS__TOGETHER_MAX &&
           view->segments[from + count].kind == kind) {
        bytes += view->segments[from + count].segment.header->data_bytes;
        if (bytes > TAMIS__TOGETHER_BYTES) break;
        count++;
    }
    return count > 1 ? count : 0;
}

/* What segments are asked together: for `count` keys or digests, of which the other pointer is
 * NULL. */
struct question {
    const struct tamis_key *keys;
    const struct tamis__digest *digests;
    size_t count;
    uint8_t *answers;
    struct tamis__digest *kept; /* receives the digests of the keys; or NULL */
};

/* Asks `together` segments from `from` on, all at once. */
static size_t ask_together(const struct tamis__view *view, uint32_t from, uint32_t together,
                           const struct question *question)
{
    const struct tamis__segment *segments[TAMIS__TOGETHER_MAX];
    for (uint32_t i = 0; i < together; i++)
        segments[i] = &view->segments[from + i].segment;
    return view->segments[from].kind->contains_together(segments, together, question->keys,
                                                        question->digests, question->count,
                                                        question->answers, question->kept);
}

/* Asks segments `end` - 1 down to `from` for the open keys.  The answer of a key that one of them
 * has becomes 1; the other keys stay open.  `apart`: one segment after the other. */
static void ask_segments(const struct tamis__view *view, uint32_t from, uint32_t end, bool apart,
                         struct open_keys *open, uint8_t *answers)
{
    const uint32_t together = from < end && !apart ? count_together(view, from, end) : 0;
    for (uint32_t i = end; i-- > from + together && open->count > 0;) {
        const struct tamis__mapped_segment *s = &view->segments[i];
        const size_t found =
            open->digested
                ? s->kind->contains_few(&s->segment, open->digests, open->count, open->answers)
                : s->kind->contains_batch(&s->segment, open->keys, open->count, open->answers);
        if (found > 0) keep_open(open, answers);
    }
    const struct question rest = {
        .digests = open->digests, .count = open->count, .answers = open->answers};
    if (together > 0 && open->count > 0 && ask_together(view, from, together, &rest) > 0)
        keep_open(open, answers);
}

/* Asks `together` segments from `from` on, all at once, for all keys of a chunk.  If their digests
 * are not made yet, the chunk gets them only if `keep`. */
static size_t ask_chunk_together(const struct tamis__view *view, uint32_t from, uint32_t together,
                                 struct tamis__hashed_keys *chunk, bool keep, uint8_t *answers)
{
    struct question question = {.count = chunk->count, .answers = answers};
    if (tamis__is_hashed(chunk, view)) {
        question.digests = chunk->digests;
    } else {
        question.keys = chunk->keys;
        question.kept = keep ? chunk->digests : NULL;
        if (keep) tamis__rule_set(&chunk->rule, &view->by);
    }
    return ask_together(view, from, together, &question);
}

/* Asks the first segments for all keys of a chunk: `together` segments from `from` on, or only the
 * last before `end` if `together` is 0.  Makes the digests of the keys on the way, if the view has
 * digests and they are not made yet. */
static size_t ask_first(const struct tamis__view *view, uint32_t from, uint32_t together,
                        uint32_t end, struct tamis__hashed_keys *chunk, uint8_t *answers)
{
    const struct tamis__mapped_segment *s = &view->segments[end - 1];
    if (together > 0) return ask_chunk_together(view, from, together, chunk, true, answers);
    if (!view->digested)
        return s->kind->contains_batch(&s->segment, chunk->keys, chunk->count, answers);
    if (tamis__is_hashed(chunk, view))
        return s->kind->contains_digests(&s->segment, chunk->digests, chunk->count, answers);
    tamis__rule_set(&chunk->rule, &view->by);
    return s->kind->contains_keeping(&s->segment, chunk->keys, chunk->count, chunk->digests,
                                     answers);
}

/* Puts the keys of a chunk whose answer is 0 behind the open keys. */
static void open_lacking(const struct tamis__hashed_keys *chunk, const uint8_t *answers,
                         struct open_keys *open)
{
    for (size_t i = 0; i < chunk->count; i++) {
        if (open->digested) /* the only branch: half of the keys may be known */
            open->digests[open->count] = chunk->digests[i];
        else
            open->keys[open->count] = chunk->keys[i];
        open->index[open->count] = (uint16_t)i;
        open->count += !answers[i];
    }
}

/* Asks segments `end` - 1 down to `from`, at least one, for all keys of a chunk.  answers[i]
 * becomes 1 if one of them has the key; the other keys are open then.  If `apart`, the newest
 * segment is asked by itself first.  If the first question finds most keys, few are open, and the
 * other segments are asked one after the other.  Returns how many keys the first question found. */
static size_t ask_all(const struct tamis__view *view, uint32_t from, uint32_t end, bool apart,
                      struct tamis__hashed_keys *chunk, struct open_keys *open, uint8_t *answers)
{
    const uint32_t together = apart ? 0 : count_together(view, from, end);
    const bool all = together == end - from;
    open->digested = view->digested;
    open->count = 0;
    const size_t found = ask_first(view, from, all ? together : 0, end, chunk, answers);
    if (found == chunk->count) return found;
    open_lacking(chunk, answers, open);
    if (!all) ask_segments(view, from, end - 1, 2 * found > chunk->count, open, answers);
    return found;
}

/* Adds the open keys to the newest segment. */
static int64_t add_open(const struct tamis__mapped_segment *newest, struct open_keys *open)
{
    return open->digested
               ? newest->kind->add_digests(&newest->segment, open->digests, open->count,
                                           open->answers)
               : newest->kind->add_batch(&newest->segment, open->keys, open->count, open->answers);
}

/* Chunks of fewer keys are always asked together, and show nothing. */
#define TELLING 256u
/* How many chunks are asked together after one that was asked apart in vain. */
#define TOGETHER_AGAIN 16

/*
 * Asks segments that may be asked at once for a chunk.  If the newest segment has most of the keys,
 * it is better asked by itself: the other segments are then asked for few keys.  What is asked for
 * next is mostly like what was asked for last.  So the view keeps in `apart` what the last chunk
 * has shown:
 *
 *     1    most keys were found: the newest segment is asked by itself
 *     0    fewer were found: all segments are asked together
 *    -n    most keys are in older segments: the same, for n chunks
 */
static size_t ask_list(struct tamis__view *view, uint32_t from, struct tamis__hashed_keys *chunk,
                       uint8_t *answers)
{
    /* ORDER relaxed: a hint; the answers are the same in either way. */
    const int apart = __atomic_load_n(&view->apart, __ATOMIC_RELAXED);
    const bool alone = apart > 0 && chunk->count >= TELLING;
    struct open_keys open;
    int next = apart;
    size_t found = alone
                       ? ask_all(view, from, view->count, true, chunk, &open, answers)
                       : ask_chunk_together(view, from, view->count - from, chunk, false, answers);
    const bool in_newest = alone && 2 * found > chunk->count;
    if (alone) found = chunk->count - open.count;
    const bool most = 2 * found > chunk->count;
    if (alone && !in_newest)
        next = most ? -TOGETHER_AGAIN : 0;
    else if (!alone && chunk->count >= TELLING)
        next = apart < 0 ? apart + 1 : most;
    if (next != apart) __atomic_store_n(&view->apart, next, __ATOMIC_RELAXED);
    return found;
}

size_t tamis__contains_chunk(struct tamis__view *view, struct tamis__hashed_keys *chunk,
                             uint8_t *answers)
{
    const struct tamis__mapped_segment *newest = tamis__newest(view);
    const uint32_t first = tamis__first_alive(view);
    struct open_keys open;
    if (first == view->count) {
        memset(answers, 0, chunk->count);
        return 0;
    }
    if (view->count == 1 && !tamis__is_hashed(chunk, view))
        return newest->kind->contains_batch(&newest->segment, chunk->keys, chunk->count, answers);
    if (count_together(view, first, view->count) == view->count - first)
        return ask_list(view, first, chunk, answers);
    (void)ask_all(view, first, view->count, false, chunk, &open, answers);
    return chunk->count - open.count;
}

/* Tells which of the open keys the older slices of the window have.  The keys stay open. */
static void ask_older_slices(const struct tamis__view *view, const struct open_keys *open,
                             uint8_t *older)
{
    struct open_keys asked = *open;
    memset(older, 0, TAMIS__CHUNK);
    ask_segments(view, tamis__first_alive(view), view->slice_first, false, &asked, older);
}

/* Keys that the newest slice has are not new.  Most of them are in the newest segment, so it is
 * asked first.  The others are added to it, and are new if no older slice has them.  If the window
 * counts from the first add, all slices are asked first. */
static int64_t add_to_list(const struct tamis__view *view, struct tamis__hashed_keys *chunk,
                           uint8_t *answers)
{
    const size_t count = chunk->count;
    const struct tamis__mapped_segment *newest = tamis__newest(view);
    const bool renews = tamis__view_renews(view) && view->slice_first > 0;
    struct open_keys open;
    uint8_t older[TAMIS__CHUNK];
    (void)ask_all(view, tamis__first_known(view), view->count, false, chunk, &open, answers);
    memset(answers, 0, count);
    if (renews) ask_older_slices(view, &open, older);
    const int64_t rc = add_open(newest, &open);
    keep_open(&open, answers);
    if (rc < 0) return rc;
    int64_t fresh = rc;
    for (size_t i = 0; renews && i < count; i++)
        if (answers[i] && older[i]) {
            answers[i] = 0;
            fresh--;
        }
    return fresh;
}

/*
 * Answers for a full filter, which takes no more keys: known keys are SEEN, the others refused.  A
 * known key may be that of an older slice.  It is not logged if it is on the disk: the replay of
 * the log would add it to the newest segment, which has no room for it.  `index` has the places of
 * the keys in the flight; NULL: they are the same.
 */
static void refuse_chunk(struct tamis__view *view, struct tamis__flight *flight,
                         struct tamis__hashed_keys *chunk, const uint16_t *index, uint8_t *answers)
{
    (void)tamis__contains_chunk(view, chunk, answers);
    const bool on_disk = flight != NULL && tamis__flight_is_alone(flight, view);
    for (size_t i = 0; i < chunk->count; i++) {
        if (answers[i] && on_disk)
            flight->where[index != NULL ? index[i] : i] = TAMIS__FLIGHT_NOWHERE;
        answers[i] = answers[i] ? 0 : TAMIS_ANSWER_REFUSED;
    }
}

/* The answer, inside of this file, of a key that was won in a segment that had been left. */
#define WON_IN_VAIN 3u
static_assert(WON_IN_VAIN != TAMIS_ANSWER_REFUSED, "told apart");

/*
 * Adds the keys that were won in vain in the newest segment of *at to the segments after it, one by
 * one.  This is rare.  So a key that only a kind's own loop has hashed, which keeps no digests, may
 * be hashed again here.
 */
static int64_t add_vain_keys(struct tamis_filter *filter, struct tamis__view **at,
                             struct tamis__flight *flight, const struct tamis__hashed_keys *chunk,
                             const uint16_t *index, uint8_t *answers, int *stopped)
{
    const uint64_t won = tamis__newest(*at)->segment.header->number;
    int64_t fresh = 0;
    int rc = tamis__go_to_next(filter, at, flight);
    for (size_t i = 0; i < chunk->count; i++) {
        if (answers[i] != WON_IN_VAIN) continue;
        struct tamis__hashed_key key = {
            .key = chunk->keys[i].data, .bytes = chunk->keys[i].bytes, .rule = chunk->rule};
        if (key.rule.is_made) key.digest = chunk->digests[i];
        if (rc >= 0) rc = tamis__add_key(filter, at, flight, won, true, &key);
        answers[i] = rc < 0 ? TAMIS_ANSWER_REFUSED : rc > 0;
        if (flight != NULL) flight->where[index != NULL ? index[i] : i] = flight->current;
        fresh += rc > 0;
        if (rc == TAMIS_EFULL) rc = 0;
    }
    if (rc < 0) *stopped = rc;
    return fresh;
}

/* ---- Within a limit -------------------------------------------------------------------------- */

/* The room that is taken at once is only a part of what is left.  Adders of the same keys give most
 * of it back, and must not drive each other on to the next segment. */
#define HOLD_PART 16u
#define HOLD_MIN 16u
/*
 * If a segment has this many times the room that a batch needs, room is taken for all keys, known
 * or not.  As long as fewer adders than this do so together, nobody finds the segment full because
 * of it.
 */
#define PLENTY 128u

bool tamis__has_plenty(const struct tamis__view *view, size_t keys)
{
    return tamis__room_left(&tamis__newest(view)->segment, view->limit) / PLENTY >= keys;
}

static uint32_t part_of(const struct tamis__view *view, size_t wanted)
{
    const uint64_t left = tamis__room_left(&tamis__newest(view)->segment, view->limit);
    const uint64_t part = left / HOLD_PART > HOLD_MIN ? left / HOLD_PART : HOLD_MIN;
    return (uint32_t)(wanted < part ? wanted : part);
}

static void mark_vain(uint8_t *answers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (answers[i] == 1) answers[i] = WON_IN_VAIN;
}

/* Adds the first hold.keys keys, and looks whether the segment was left.  Returns the number of new
 * keys, or an error; if the new keys were won in vain, returns 0 and sets *vain. */
static int64_t add_held(const struct tamis__view *view, struct tamis__hold hold,
                        const struct tamis_key *keys, const struct tamis__digest *digests,
                        uint8_t *answers, bool *vain)
{
    const struct tamis__mapped_segment *newest = tamis__newest(view);
    tamis__room_begin(&hold);
    const int64_t rc =
        digests ? newest->kind->add_digests(&newest->segment, digests, hold.keys, answers)
                : newest->kind->add_batch(&newest->segment, keys, hold.keys, answers);
    tamis__room_end(&newest->segment, hold);
    if (rc <= 0 || !tamis__won_in_vain(view)) return rc;
    mark_vain(answers, hold.keys);
    *vain = true;
    return 0;
}

static void drop_first(struct open_keys *open, size_t count)
{
    open->count -= count;
    memmove(open->digests, open->digests + count, open->count * sizeof open->digests[0]);
    memmove(open->index, open->index + count, open->count * sizeof open->index[0]);
}

/* Adds open keys while there is room, the segment is not left, and nothing fails.  The rest stays
 * open. */
static int64_t add_while_room(struct tamis__view *view, struct open_keys *open, uint8_t *answers,
                              bool *vain, int *stopped)
{
    int64_t fresh = 0;
    while (open->count > 0 && !*vain && *stopped == 0) {
        struct tamis__hold hold;
        tamis__take_many(view, part_of(view, open->count), &hold);
        if (hold.keys == 0) break;
        const int64_t now = add_held(view, hold, open->keys, open->digested ? open->digests : NULL,
                                     open->answers, vain);
        for (size_t i = 0; i < hold.keys; i++)
            answers[open->index[i]] = open->answers[i];
        drop_first(open, hold.keys);
        if (now < 0)
            *stopped = (int)now;
        else
            fresh += now;
    }
    return fresh;
}

/* Adds a chunk to the newest segment of a view with a limit.  Keys without room stay open, with the
 * answer TAMIS_ANSWER_REFUSED.  Keys that were won in vain are marked so. */
static int64_t add_round(struct tamis__view *view, struct tamis__hashed_keys *chunk,
                         uint8_t *answers, struct open_keys *open, bool *vain, int *stopped)
{
    const bool renews = tamis__view_renews(view) && view->slice_first > 0;
    const size_t count = chunk->count;
    uint8_t older[TAMIS__CHUNK];
    (void)ask_all(view, tamis__first_known(view), view->count, false, chunk, open, answers);
    memset(answers, 0, count);
    if (renews) ask_older_slices(view, open, older);
    int64_t fresh = add_while_room(view, open, answers, vain, stopped);
    for (size_t i = 0; i < open->count; i++)
        answers[open->index[i]] = TAMIS_ANSWER_REFUSED;
    for (size_t i = 0; renews && i < count; i++) {
        if (!older[i] || (answers[i] != 1 && answers[i] != WON_IN_VAIN)) continue;
        fresh -= answers[i] == 1;
        answers[i] = 0;
    }
    return fresh;
}

/* The keys that stay open after a round, and the places of their answers. */
struct rest {
    struct tamis__hashed_keys chunk; /* points to keys and digests below */
    struct tamis_key keys[TAMIS__CHUNK];
    struct tamis__digest digests[TAMIS__CHUNK];
    uint16_t index[TAMIS__CHUNK];
    uint8_t answers[TAMIS__CHUNK];
};

/* Keeps the open keys of a chunk.  The chunk may be that of *rest: no key moves to a higher
 * index. */
static void keep_rest(struct rest *rest, const struct tamis__hashed_keys *chunk,
                      const uint16_t *index, const struct open_keys *open)
{
    for (size_t i = 0; i < open->count; i++) {
        const uint16_t from = open->index[i];
        rest->keys[i] = chunk->keys[from];
        if (chunk->rule.is_made) rest->digests[i] = chunk->digests[from];
        rest->index[i] = index != NULL ? index[from] : from;
    }
    rest->chunk = (struct tamis__hashed_keys){
        .keys = rest->keys, .digests = rest->digests, .count = open->count, .rule = chunk->rule};
}

/* Adds the rest round by round, until all keys are added or no room can be had. */
static int64_t add_rest(struct tamis_filter *filter, struct tamis__view **at,
                        struct tamis__flight *flight, struct rest *rest, uint8_t *answers,
                        int *stopped)
{
    int64_t fresh = 0;
    while (rest->chunk.count > 0 && *stopped == 0) {
        struct open_keys open;
        bool vain = false;
        const int rc = tamis__go_to_room(filter, at, flight);
        if (rc < 0) *stopped = rc;
        if (rc < 0) break;
        for (size_t i = 0; flight != NULL && i < rest->chunk.count; i++)
            flight->where[rest->index[i]] = flight->current;
        if (tamis__view_refuses(*at)) {
            refuse_chunk(*at, flight, &rest->chunk, rest->index, rest->answers);
            open.count = 0;
        } else {
            fresh += add_round(*at, &rest->chunk, rest->answers, &open, &vain, stopped);
        }
        if (vain)
            fresh += add_vain_keys(filter, at, flight, &rest->chunk, rest->index, rest->answers,
                                   stopped);
        for (size_t i = 0; i < rest->chunk.count; i++)
            answers[rest->index[i]] = rest->answers[i];
        keep_rest(rest, &rest->chunk, rest->index, &open);
    }
    return fresh;
}

/* Adds more keys than a chunk holds, chunk by chunk, when plenty of room has just been used up. */
static int64_t add_by_chunks(struct tamis_filter *filter, struct tamis__view **at,
                             const struct tamis__hashed_keys *keys, uint8_t *answers, int *stopped)
{
    const size_t count = keys->count;
    int64_t fresh = 0;
    memset(answers, TAMIS_ANSWER_REFUSED, count);
    for (size_t done = 0; done < count && *stopped == 0; done += TAMIS__CHUNK) {
        const size_t now = count - done < TAMIS__CHUNK ? count - done : TAMIS__CHUNK;
        struct tamis__hashed_keys chunk = {
            .keys = keys->keys + done, .digests = keys->digests, .count = now};
        const int64_t rc = tamis__add_chunk(filter, at, NULL, &chunk, answers + done, stopped);
        if (rc < 0) return rc;
        fresh += rc;
    }
    return fresh;
}

static int64_t add_within_limits(struct tamis_filter *filter, struct tamis__view **at,
                                 struct tamis__flight *flight, struct tamis__hashed_keys *chunk,
                                 uint8_t *answers, int *stopped)
{
    struct tamis__view *view = *at;
    const size_t count = chunk->count;
    struct open_keys open;
    struct tamis__hold hold = {0, 0};
    int64_t rc;
    bool vain = false;
    open.count = 0;
    if (view->count == 1 && tamis__has_plenty(view, count))
        tamis__take_many(view, (uint32_t)count, &hold);
    if (hold.keys == count) {
        rc = add_held(view, hold, chunk->keys,
                      tamis__is_hashed(chunk, view) ? chunk->digests : NULL, answers, &vain);
    } else {
        if (hold.keys > 0) tamis__room_return(&tamis__newest(view)->segment, hold);
        if (count > TAMIS__CHUNK) return add_by_chunks(filter, at, chunk, answers, stopped);
        rc = add_round(view, chunk, answers, &open, &vain, stopped);
    }
    if (rc < 0) return rc;
    int64_t fresh = rc;
    if (vain) fresh += add_vain_keys(filter, at, flight, chunk, NULL, answers, stopped);
    if (open.count > 0 && *stopped == 0) {
        struct rest rest;
        keep_rest(&rest, chunk, NULL, &open);
        memset(rest.answers, 0, open.count);
        fresh += add_rest(filter, at, flight, &rest, answers, stopped);
    }
    return fresh;
}

int64_t tamis__add_chunk(struct tamis_filter *filter, struct tamis__view **at,
                         struct tamis__flight *flight, struct tamis__hashed_keys *chunk,
                         uint8_t *answers, int *stopped)
{
    struct tamis__view *view = *at;
    const struct tamis__mapped_segment *newest = tamis__newest(view);
    int64_t rc;
    *stopped = 0;
    tamis__view_watch_pages(view);
    if (tamis__view_refuses(view)) {
        refuse_chunk(view, flight, chunk, NULL, answers);
        return 0;
    }
    if (tamis__view_is_limited(view))
        return add_within_limits(filter, at, flight, chunk, answers, stopped);
    if (view->count > 1)
        rc = add_to_list(view, chunk, answers);
    else if (tamis__is_hashed(chunk, view))
        rc = newest->kind->add_digests(&newest->segment, chunk->digests, chunk->count, answers);
    else
        rc = newest->kind->add_batch(&newest->segment, chunk->keys, chunk->count, answers);
    if (rc <= 0 || !tamis__won_in_vain(view)) return rc;
    mark_vain(answers, chunk->count);
    return add_vain_keys(filter, at, flight, chunk, NULL, answers, stopped);
}

void tamis__ask_known(const struct tamis__view *view, struct tamis__hashed_keys *chunk,
                      uint8_t *answers)
{
    struct open_keys open;
    (void)ask_all(view, tamis__first_known(view), view->count, false, chunk, &open, answers);
}

/* Is every key of the chunk one that need not be added? */
static bool are_known(const struct tamis__view *view, struct tamis__hashed_keys *chunk)
{
    uint8_t answers[TAMIS__CHUNK];
    tamis__ask_known(view, chunk, answers);
    return memchr(answers, 0, chunk->count) == NULL;
}

int tamis__do_chores_for_chunk(struct tamis_filter *filter, struct tamis__view **view,
                               struct tamis__hashed_keys *chunk)
{
    if (!tamis__has_chores(*view)) return 0;
    return tamis__ignores_known(*view) && are_known(*view, chunk) ? 0
                                                                  : tamis__do_chores(filter, view);
}
