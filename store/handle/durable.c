/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * durable.c: adds keys to a durable filter: no answer is given before the disk has them.  A flight
 * is an add between its first bit and the sync of its log.  `unlogged` in the header of a segment
 * counts the flights that are in the air.
 *
 *     ask        for the keys; a key that is found while no other adder is in flight is on the
 *                disk, and needs nothing more
 *     reserve    room in this handle's log for the other keys
 *     in flight  unlogged of the newest segment + 1
 *     add        as in any filter
 *     log        a frame of these keys, in the log's file
 *     sync       fdatasync() of the log, once for the whole batch
 *     landed     unlogged - 1; the answers
 *
 * All keys that were found lacking are logged, new or not.  Between the look and the add, the adder
 * of another key may set the last bit that a key lacked.  Then the adder of this key is told SEEN,
 * but it may have set bits of the key too, and only its own log has them.
 *
 * Claim: if a key is found whole, and after that `unlogged` of all segments is found 0, the key is
 * on the disk.  Proof: each of its bits was set by an adder that had raised `unlogged` before.  As
 * `unlogged` was 0 later, that adder has landed.  So its key, which it had found lacking, is in a
 * log that was synced.  An adder that dies in flight never lands: until a checkpoint takes its
 * count off, others also log the keys that they find.
 */
#include "handle/durable.h"

#include "handle/add_key.h"
#include "handle/checkpoint.h"
#include "handle/chunk.h"
#include "handle/follow.h"
#include "handle/journal.h"
#include "handle/points.h"
#include "hash/hash_set.h"
#include "segment/mark.h"

/* The most bytes of raw keys that a frame holds, unless it has only one key. */
#define PAYLOAD_BYTES ((size_t)256 << 10)

/* ---- Frames ---------------------------------------------------------------------------------- */

/* A batch of keys on its way into the filter and its log. */
struct sortie {
    struct tamis_filter *filter;
    struct tamis__view **view;
    struct tamis__journal *journal;
    struct tamis__flight flight;
    uint64_t ticket;         /* of the last frame */
    struct tamis__rule rule; /* the rule of digests[0], if that is made before the call */
    bool refused;
    int stopped; /* below 0: why no more can be added; added keys are logged all the same */
    bool lost;   /* bits may be set that no frame has */
    unsigned char *buffer;
    size_t buffer_bytes;
    struct tamis__hashed_keys lacking; /* the keys of a chunk that were found lacking; points to: */
    struct tamis_key keys[TAMIS__CHUNK];
    struct tamis__digest digests[TAMIS__CHUNK]; /* at first: of all keys of the chunk */
    uint16_t index[TAMIS__CHUNK];
    uint8_t answers[TAMIS__CHUNK];
};

static bool has_digests(const struct tamis__segment_header *header)
{
    return tamis__hash_set_by_id(header->hash_set)->digest != NULL;
}

/* The bytes of payload of a frame of these keys for a segment. */
static size_t payload_bytes(const struct tamis__segment_header *header,
                            const struct tamis_key *keys, size_t count)
{
    size_t bytes = 0;
    if (has_digests(header)) return count * 16;
    for (size_t i = 0; i < count; i++)
        bytes += 4 + keys[i].bytes;
    return bytes;
}

/* Returns how many of the keys fit into a frame, at least 1. */
static size_t keys_that_fit(const struct tamis__view *view, const struct tamis_key *keys,
                            size_t count)
{
    size_t bytes = 0, fitting = 0;
    if (has_digests(tamis__newest(view)->segment.header)) return count;
    while (fitting < count && bytes < PAYLOAD_BYTES)
        bytes += 4 + keys[fitting++].bytes;
    return bytes > PAYLOAD_BYTES && fitting > 1 ? fitting - 1 : fitting;
}

static int reserve_frame(struct sortie *sortie, const struct tamis__mapped_segment *s,
                         size_t *bytes)
{
    const size_t payload = payload_bytes(s->segment.header, sortie->keys, sortie->lacking.count);
    if (payload > TAMIS__FRAME_PAYLOAD_MAX)
        return tamis__fail(TAMIS_ELIMIT,
                           "a key of %zu bytes is too long for the log of the durable filter '%s'; "
                           "the most is %zu, or any with a hash set that has digests",
                           sortie->keys[0].bytes, sortie->filter->name,
                           TAMIS__FRAME_PAYLOAD_MAX - 4);
    *bytes = tamis__frame_bytes(payload);
    if (*bytes > sortie->buffer_bytes) {
        unsigned char *buffer = realloc(sortie->buffer, *bytes);
        if (buffer == NULL)
            return tamis__fail(TAMIS_ENOMEM, "out of memory adding to the filter '%s'",
                               sortie->filter->name);
        sortie->buffer = buffer;
        sortie->buffer_bytes = *bytes;
    }
    return tamis__journal_reserve(sortie->journal, *sortie->view, *bytes);
}

/* Fills a frame with the keys that were added to segment `s`, which has number `index` in the
 * flight. */
static void fill_frame(const struct sortie *sortie, const struct tamis__mapped_segment *s,
                       uint32_t index, struct tamis__frame *frame)
{
    const struct tamis__hashing hashing = tamis__header_hashing(s->segment.header);
    const struct tamis__digester by = tamis__header_digester(s->segment.header);
    const bool is_hashed = tamis__rule_is(&sortie->lacking.rule, &by);
    unsigned char *at = tamis__frame_payload(sortie->buffer);
    *frame = (struct tamis__frame){.type = hashing.set->digest ? TAMIS__FRAME_DIGESTS
                                                               : TAMIS__FRAME_KEYS,
                                   .segment = s->segment.header->number};
    for (size_t i = 0; i < sortie->lacking.count; i++) {
        const struct tamis_key *key = &sortie->keys[i];
        if (sortie->answers[i] == TAMIS_ANSWER_REFUSED || sortie->flight.where[i] != index)
            continue;
        frame->count++;
        if (hashing.set->digest == NULL)
            at = tamis__frame_put_key(at, key->data, (uint32_t)key->bytes);
        else
            at = tamis__frame_put_digest(
                at, is_hashed ? sortie->digests[i] : tamis__digest_by(&by, key->data, key->bytes));
    }
    frame->payload_bytes = (size_t)(at - tamis__frame_payload(sortie->buffer));
}

/* Appends a frame for each segment that this chunk was written to, from number `first` of the
 * flight on. */
static int log_chunk(struct sortie *sortie, uint32_t first, size_t reserved)
{
    const struct tamis__view *view = *sortie->view;
    int rc = 0;
    for (uint32_t i = first; rc == 0 && i < sortie->flight.count; i++) {
        const struct tamis__mapped_segment *s = tamis__view_find(view, sortie->flight.numbers[i]);
        struct tamis__frame frame = {.count = 0};
        if (s != NULL && reserved == 0) rc = reserve_frame(sortie, s, &reserved);
        if (s != NULL && rc == 0) fill_frame(sortie, s, i, &frame);
        if (frame.count == 0) continue; /* no key was added to it, or the window has left it */
        rc = tamis__journal_append(sortie->journal, view, &frame, sortie->buffer, reserved,
                                   &sortie->ticket);
        reserved = 0;
    }
    if (reserved > 0) tamis__journal_release(sortie->journal, reserved);
    return rc;
}

/* ---- A chunk --------------------------------------------------------------------------------- */

/* Takes the keys of the chunk that must be added, and those that must be logged because another
 * adder is in flight. */
static void take_lacking(struct sortie *sortie, struct tamis__hashed_keys *chunk)
{
    size_t lacking = 0;
    tamis__ask_known(*sortie->view, chunk, sortie->answers);
    TAMIS__POINT(TAMIS__POINT_DURABLE_ASKED);
    const bool alone = tamis__flight_is_alone(&sortie->flight, *sortie->view);
    for (size_t i = 0; i < chunk->count; i++) {
        if (alone && sortie->answers[i]) continue;
        sortie->keys[lacking] = chunk->keys[i];
        if (chunk->rule.is_made) sortie->digests[lacking] = sortie->digests[i];
        sortie->index[lacking++] = (uint16_t)i;
    }
    sortie->lacking = (struct tamis__hashed_keys){
        .keys = sortie->keys, .digests = sortie->digests, .count = lacking, .rule = chunk->rule};
}

/* Takes room for the lacking keys of a chunk, sets their bits and appends their frames. */
static int64_t add_lacking(struct sortie *sortie)
{
    size_t reserved = 0;
    int64_t rc = reserve_frame(sortie, tamis__newest(*sortie->view), &reserved);
    if (rc < 0) return rc;
    rc = tamis__flight_enter(&sortie->flight, *sortie->view);
    /* The newest segment was in the flight, or it has been entered now. */
    uint32_t first = 0;
    const uint64_t newest = tamis__newest(*sortie->view)->segment.header->number;
    while (first < sortie->flight.count && sortie->flight.numbers[first] != newest)
        first++;
    memset(sortie->flight.where, sortie->flight.current, sortie->lacking.count);
    if (rc == 0)
        rc = tamis__add_chunk(sortie->filter, sortie->view, &sortie->flight, &sortie->lacking,
                              sortie->answers, &sortie->stopped);
    rc = tamis__view_answer(*sortie->view, rc); /* the error of a mapping that broke */
    TAMIS__POINT(TAMIS__POINT_DURABLE_SET);
    if (rc < 0) tamis__journal_release(sortie->journal, reserved);
    const int logged = rc < 0 ? (int)rc : log_chunk(sortie, first, reserved);
    sortie->lost |= logged < 0;
    return logged < 0 ? logged : rc;
}

/* Syncs the frames that were written.  The flight is over then, even after an error. */
static int land(struct sortie *sortie)
{
    if (sortie->flight.count == 0) return 0;
    const int rc = tamis__journal_sync(sortie->journal, *sortie->view, sortie->ticket);
    TAMIS__POINT(TAMIS__POINT_DURABLE_SYNCED);
    sortie->lost |= rc < 0;
    tamis__flight_end(&sortie->flight, *sortie->view, !sortie->lost);
    return rc;
}

static int64_t add_durable_chunk(struct sortie *sortie, struct tamis__hashed_keys *chunk,
                                 uint8_t *answers)
{
    take_lacking(sortie, chunk);
    if (answers != NULL) memset(answers, 0, chunk->count);
    if (sortie->lacking.count == 0) return 0;
    int64_t rc = tamis__do_chores_for_chunk(sortie->filter, sortie->view, &sortie->lacking);
    /* The segment is marked even if it has all keys: others must see that an adder which counts in
     * `unlogged` is alive. */
    if (rc == 0) rc = tamis__view_mark(sortie->filter, *sortie->view);
    if (rc == 0) rc = add_lacking(sortie);
    for (size_t i = 0; rc >= 0 && i < sortie->lacking.count; i++) {
        sortie->refused |= sortie->answers[i] == TAMIS_ANSWER_REFUSED;
        if (answers != NULL) answers[sortie->index[i]] = sortie->answers[i];
    }
    return rc;
}

/* ---- The calls ------------------------------------------------------------------------------- */

/* Adds chunk after chunk until one fails.  *done is the number of keys that were added and
 * logged. */
static int64_t add_chunks(struct sortie *sortie, const struct tamis_key *keys, size_t count,
                          uint8_t *answers, size_t *done)
{
    int64_t fresh = 0;
    while (*done < count) {
        int64_t rc = tamis__view_current(sortie->filter, sortie->view);
        size_t now = count - *done < TAMIS__CHUNK ? count - *done : TAMIS__CHUNK;
        now = keys_that_fit(*sortie->view, keys + *done, now);
        struct tamis__hashed_keys chunk = {
            .keys = keys + *done, .digests = sortie->digests, .count = now, .rule = sortie->rule};
        sortie->rule.is_made = false;
        /* A key of a slice that is over is added again, to the next slice. */
        if (rc == 0 && tamis__view_is_over(*sortie->view))
            rc = tamis__do_chores_for_chunk(sortie->filter, sortie->view, &chunk);
        if (rc == 0) rc = add_durable_chunk(sortie, &chunk, answers ? answers + *done : NULL);
        if (rc < 0) return rc;
        fresh += rc;
        *done += now;
        if (sortie->stopped < 0) return sortie->stopped;
        if (sortie->flight.count <= TAMIS__FLIGHT_MAX / 2) continue;
        rc = land(sortie);
        if (rc < 0) return rc;
    }
    return fresh;
}

static int64_t add_all(struct sortie *sortie, const struct tamis_key *keys, size_t count,
                       uint8_t *answers)
{
    size_t done = 0;
    int64_t rc = add_chunks(sortie, keys, count, answers, &done);
    const int landed = land(sortie);
    if (landed < 0) rc = landed;
    if (sortie->lost) done = 0;
    if (answers != NULL && rc < 0) memset(answers + done, TAMIS_ANSWER_REFUSED, count - done);
    if (rc >= 0 && sortie->refused) rc = tamis__fail_full(sortie->filter, *sortie->view);
    return rc;
}

/* Adds a batch by one sortie.  `hashed` is the only key, if its digest is already made; else
 * NULL. */
static int64_t add_by_sortie(struct tamis_filter *filter, struct tamis__view **view,
                             const struct tamis_key *keys, size_t count, uint8_t *answers,
                             const struct tamis__hashed_key *hashed)
{
    struct sortie sortie;
    sortie.filter = filter;
    sortie.rule.is_made = false;
    if (hashed != NULL) {
        sortie.rule = hashed->rule;
        sortie.digests[0] = hashed->digest;
    }
    sortie.view = view;
    sortie.flight.count = 0;
    sortie.ticket = 0;
    sortie.refused = sortie.lost = false;
    sortie.stopped = 0;
    sortie.buffer = NULL;
    sortie.buffer_bytes = 0;
    int64_t rc = tamis__journal_of(filter, &sortie.journal);
    if (rc == 0)
        rc = add_all(&sortie, keys, count, answers);
    else if (answers != NULL)
        memset(answers, TAMIS_ANSWER_REFUSED, count);
    free(sortie.buffer);
    return rc;
}

int64_t tamis__durable_add_batch(struct tamis_filter *filter, struct tamis__view **view,
                                 const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    return add_by_sortie(filter, view, keys, count, answers, NULL);
}

int tamis__durable_add(struct tamis_filter *filter, struct tamis__view **view,
                       struct tamis__hashed_key *key)
{
    static const struct tamis__flight none;
    const struct tamis__view *v = *view;
    const struct tamis_key one = {.data = key->key, .bytes = key->bytes};
    uint8_t answer;
    tamis__hash_key(v, key);
    if (tamis__find_key(v, tamis__first_known(v), v->count, key) > 0 &&
        tamis__flight_is_alone(&none, v) && !tamis__view_is_over(v))
        return 0;
    return (int)add_by_sortie(filter, view, &one, 1, &answer, key);
}

/* ---- Merges ---------------------------------------------------------------------------------- */

void tamis__durable_begin_merge(const struct tamis__view *view)
{
    for (uint32_t i = 0; i < view->count; i++)
        tamis__unlogged_raise(&view->segments[i].segment);
}

int tamis__durable_end_merge(const struct tamis__view *view, int rc)
{
    int synced = 0;
    for (uint32_t i = 0; synced >= 0 && i < view->count; i++)
        synced = tamis__mark_checkpoint(&view->segments[i].segment);
    for (uint32_t i = 0; i < view->count; i++) {
        if (synced >= 0)
            tamis__unlogged_lower(&view->segments[i].segment);
        else
            tamis__unlogged_crash(&view->segments[i].segment);
    }
    return rc < 0 || synced >= 0 ? rc : synced;
}
