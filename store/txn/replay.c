/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay.c: replays logs whose owners are dead.  A log is the file with the keys that one handle
 * added to a durable filter; a frame is one record of it.
 *
 *     take      lock the log, so that only one process replays it
 *     replay    add each key to the segment that its frame names, if that segment still exists
 *     sync      bring the segments that were written to to the disk
 *     remove    unlink the log
 *
 * A frame names the segment that was the newest when the frame was written.  It may hold keys that
 * older segments of the list already had: while another adder is in flight, an adder also logs the
 * keys that it finds, as these may not be on the disk yet.  So a key is looked up in the older
 * segments first, and is added only if none of them has it.  The segments that have it are synced
 * too.  Otherwise each killed process would bring known keys into the newest segment once more.
 *
 * If the replay is killed, the log is still there, and the next one begins again.  A replay changes
 * nothing that is there already.  So it does not matter whether the machine went down, only the
 * owner died, or the store is a copy.  Frames that a checkpoint had made needless do no harm.
 *
 * A damaged log may lack frames, so its filter is unclean since its last checkpoint.  If only one
 * frame is damaged, it looks like one that its owner did not finish, and is passed over silently.
 */
#include "txn/replay.h"

#include "hash/hash_set.h"
#include "plan/policy.h"
#include "segment/live.h"
#include "segment/mark.h"
#include "segment/room.h"
#include "txn/mapped.h"
#include "txn/points.h"

/* All segments of a list, and some that are no longer in it. */
#define SEGMENTS_AT_ONCE (TAMIS__SEGMENTS_MAX + 8u)

struct replay {
    struct tamis_store *store;
    uint64_t filter_id;
    const uint64_t *list; /* numbers of the filter's segments, oldest first */
    uint32_t list_count;
    struct tamis__mapped_segment segments[SEGMENTS_AT_ONCE];
    uint64_t numbers[SEGMENTS_AT_ONCE]; /* header NULL: the segment is gone */
    uint32_t count;
};

/* ---- Segments -------------------------------------------------------------------------------- */

/* Brings all replayed keys to the disk, and closes the segments. */
static int sync_and_close(struct replay *replay, int rc)
{
    for (uint32_t i = 0; i < replay->count; i++) {
        struct tamis__mapped_segment *s = &replay->segments[i];
        if (s->segment.header == NULL) continue;
        int synced = tamis__mark_is_writer(&s->segment) ? tamis__mark_leave(&s->segment) : 0;
        /* 0: another process writes the segment, or its mark is stale.  The mark is left to the
         * recovery that calls us. */
        if (rc >= 0 && synced == 0) synced = tamis__mark_checkpoint(&s->segment);
        if (rc >= 0 && synced < 0) rc = synced;
        tamis__close_segment(s);
    }
    replay->count = 0;
    return rc;
}

/* Finds a segment by its number, and opens it if need be.  *found is NULL if the segment is gone,
 * or belongs to another filter by now. */
static int find_replayed_segment(struct replay *replay, uint64_t number,
                                 struct tamis__mapped_segment **found)
{
    *found = NULL;
    for (uint32_t i = 0; i < replay->count; i++)
        if (replay->numbers[i] == number) {
            if (replay->segments[i].segment.header != NULL) *found = &replay->segments[i];
            return 0;
        }
    int rc = replay->count < SEGMENTS_AT_ONCE ? 0 : sync_and_close(replay, 0);
    if (rc < 0) return rc;
    struct tamis__mapped_segment *s = &replay->segments[replay->count];
    memset(s, 0, sizeof *s);
    replay->numbers[replay->count] = number;
    rc = tamis__map_segment(replay->store, number, replay->filter_id, true, s);
    if (rc < 0) memset(s, 0, sizeof *s);
    if (rc < 0 && rc != TAMIS_EFOREIGN && tamis__segment_exists(&replay->store->place, number) != 0)
        return rc;
    replay->count++;
    if (rc < 0) return 0;
    rc = tamis__mark_begin(&s->segment, false);
    if (rc < 0) return rc;
    *found = s;
    return 0;
}

/* ---- Replay ---------------------------------------------------------------------------------- */

/* The keys of a frame that no segment has so far. */
struct lacking {
    union {
        struct tamis_key keys[TAMIS__FRAME_KEYS_MAX];
        struct tamis__digest digests[TAMIS__FRAME_KEYS_MAX];
    };
    uint8_t answers[TAMIS__FRAME_KEYS_MAX];
    uint32_t count;
    bool digested;
};

static void read_frame(const struct tamis__frame *frame, struct lacking *lacking)
{
    size_t offset = 0;
    lacking->digested = frame->type == TAMIS__FRAME_DIGESTS;
    lacking->count = frame->count;
    for (uint32_t i = 0; i < frame->count; i++) {
        if (lacking->digested)
            lacking->digests[i] = tamis__frame_digest(frame, i);
        else
            lacking->keys[i] = tamis__frame_next_key(frame, &offset);
    }
}

/* Does a key have the same digest in both segments? */
static bool have_same_digests(const struct tamis__segment_header *a,
                              const struct tamis__segment_header *b)
{
    return a->hash_set == b->hash_set && a->seed == b->seed &&
           memcmp(a->parameters, b->parameters, sizeof a->parameters) == 0;
}

static void drop_known(const struct tamis__mapped_segment *s, struct lacking *lacking)
{
    uint32_t kept = 0;
    if (lacking->digested)
        (void)s->kind->contains_digests(&s->segment, lacking->digests, lacking->count,
                                        lacking->answers);
    else
        (void)s->kind->contains_batch(&s->segment, lacking->keys, lacking->count, lacking->answers);
    for (uint32_t i = 0; i < lacking->count; i++)
        if (!lacking->answers[i]) lacking->digests[kept++] = lacking->digests[i];
    lacking->count = kept;
}

/* Drops the keys that an older segment of the same slice has, or of any slice if the window counts
 * from the first add. */
static int ask_older(struct replay *replay, const struct tamis__segment_header *header,
                     struct lacking *lacking)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && lacking->count > 0 && i < replay->list_count; i++) {
        struct tamis__mapped_segment *s;
        if (replay->list[i] == header->number) break;
        rc = find_replayed_segment(replay, replay->list[i], &s);
        if (rc < 0 || s == NULL ||
            (s->segment.header->slice != header->slice && header->window_from == 0))
            continue;
        if (!lacking->digested || have_same_digests(s->segment.header, header))
            drop_known(s, lacking);
    }
    return rc;
}

static bool is_of_list(const struct replay *replay, uint64_t number)
{
    for (uint32_t i = 0; i < replay->list_count; i++)
        if (replay->list[i] == number) return true;
    return false;
}

/* Adds the first `count` lacking keys, for which there is a hold or whose room is written off, and
 * takes them off `lacking`.  Returns the number of new keys, or an error. */
static int64_t add_first(const struct tamis__mapped_segment *s, struct lacking *lacking,
                         struct tamis__hold hold, uint32_t count)
{
    tamis__room_begin(&hold);
    const int64_t rc =
        lacking->digested
            ? s->kind->add_digests(&s->segment, lacking->digests, count, lacking->answers)
            : s->kind->add_batch(&s->segment, lacking->keys, count, lacking->answers);
    tamis__room_end(&s->segment, hold);
    lacking->count -= count;
    memmove(lacking->digests, lacking->digests + count,
            lacking->count * sizeof lacking->digests[0]);
    return rc;
}

/*
 * Adds the lacking keys.  The room that the dead adder held for them is lost, so they take other
 * room while there is some.  When there is none, nobody else has room either: the keys that remain
 * use the room that the dead adder held.
 */
static int add_replayed(const struct tamis__mapped_segment *s, struct lacking *lacking)
{
    const struct tamis__policy policy = tamis__header_policy(s->segment.header);
    const uint64_t limit = tamis__policy_limit(&policy, s->segment.header);
    int64_t rc = 0;
    bool passed_half;
    while (rc >= 0 && limit != UINT64_MAX && lacking->count > 0) {
        struct tamis__hold hold;
        tamis__room_take(&s->segment, limit, lacking->count, &hold, &passed_half);
        if (hold.keys == 0) break;
        rc = add_first(s, lacking, hold, hold.keys);
    }
    if (rc >= 0 && lacking->count > 0) {
        const struct tamis__hold none = tamis__room_no_hold(&s->segment);
        const uint32_t rest = lacking->count;
        tamis__room_write_off(&s->segment, rest);
        rc = add_first(s, lacking, none, rest);
        tamis__room_cover(&s->segment, none, rest, rc > 0 ? (uint64_t)rc : 0);
    }
    return rc < 0 ? (int)rc : 0;
}

static int replay_frame(void *context, const struct tamis__frame *frame)
{
    struct replay *replay = context;
    struct tamis__mapped_segment *s;
    struct lacking lacking;
    int rc = find_replayed_segment(replay, frame->segment, &s);
    if (rc < 0 || s == NULL) return rc;
    const struct tamis__hash_set *set = tamis__hash_set_by_id(s->segment.header->hash_set);
    const bool digests = frame->type == TAMIS__FRAME_DIGESTS;
    if (s->kind->add_digests == NULL || digests != (set->digest != NULL))
        return tamis__fail(TAMIS_ECORRUPT,
                           "a log of the store %s has keys for segment %llu that its kind does not "
                           "take; restore both from one copy",
                           replay->store->place.path, (unsigned long long)frame->segment);
    read_frame(frame, &lacking);
    /* Looking up older segments may empty the cache that `s` points into, so find it again. */
    if (is_of_list(replay, frame->segment)) rc = ask_older(replay, s->segment.header, &lacking);
    if (rc == 0) rc = find_replayed_segment(replay, frame->segment, &s);
    if (rc < 0 || s == NULL) return rc;
    drop_known(s, &lacking); /* known keys need no room */
    return lacking.count > 0 ? add_replayed(s, &lacking) : 0;
}

/* ---- Logs ------------------------------------------------------------------------------------ */

struct replaying {
    struct tamis_store *store;
    struct tamis__logs logs;
    const uint64_t *numbers; /* of the segments; NULL: no filter, forget its logs */
    uint32_t count;
    int64_t whole_until; /* least time until which they were clean */
    bool any, damaged;
};

static int64_t find_whole_until(const struct replaying *replaying)
{
    int64_t least = tamis__now_ns();
    for (uint32_t i = 0; i < replaying->count; i++) {
        struct tamis__segment_header header;
        if (tamis__segment_peek(&replaying->store->place, replaying->numbers[i], &header) < 0)
            continue;
        const int64_t until = tamis__clean_until_of(&header.live, header.created_at);
        if (until < least) least = until;
    }
    return least;
}

static int replay_log(struct replaying *replaying, struct tamis__log *log)
{
    struct replay replay = {.store = replaying->store,
                            .filter_id = log->filter_id,
                            .list = replaying->numbers,
                            .list_count = replaying->count};
    int rc = 0;
    if (replaying->numbers != NULL) {
        rc = tamis__log_each_frame(&replaying->logs, log, replay_frame, &replay);
        TAMIS__POINT(TAMIS__POINT_LOG_REPLAYED);
        rc = sync_and_close(&replay, rc);
        replaying->damaged = replaying->damaged || log->damaged;
        if (rc >= 0 && log->damaged)
            rc = tamis__mark_miss(&replaying->store->place,
                                  replaying->numbers[replaying->count - 1], replaying->whole_until);
    }
    TAMIS__POINT(TAMIS__POINT_LOG_SYNCED);
    return rc < 0 ? rc : tamis__log_remove(&replaying->logs, log);
}

static int take_log(void *context, uint64_t filter_id, const char *name)
{
    struct replaying *replaying = context;
    struct tamis__log log;
    (void)filter_id;
    int rc = tamis__log_take(&replaying->logs, name, &log);
    if (rc <= 0) return rc;
    if (!replaying->any && replaying->numbers != NULL)
        replaying->whole_until = find_whole_until(replaying);
    replaying->any = true;
    rc = replay_log(replaying, &log);
    tamis__log_close(&log);
    return rc;
}

int tamis__logs_replay(struct tamis_store *store, uint64_t filter_id, const uint64_t *numbers,
                       uint32_t count)
{
    struct replaying replaying = {
        .store = store, .logs = tamis__store_logs(store), .numbers = numbers, .count = count};
    const int rc = tamis__logs_each(&replaying.logs, filter_id, take_log, &replaying);
    if (rc < 0) return rc;
    return replaying.damaged ? TAMIS__LOGS_DAMAGED : replaying.any;
}

int tamis__logs_forget(struct tamis_store *store, uint64_t filter_id)
{
    return tamis__logs_replay(store, filter_id, NULL, 0);
}
