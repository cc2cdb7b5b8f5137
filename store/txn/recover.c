/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recover.c: recovers filters that were written to when the machine went down.
 *
 * A segment is stale if its mark was set under another boot of the machine.  It may lack keys.  The
 * next process that opens the filter for writing, or that first writes to the store after the boot,
 * recovers it.  From then on the filter is unclean, until somebody says that the missing keys were
 * dealt with.  The catalog holds the boot under which all filters were checked, so that this
 * happens once.  It also holds the filters in trouble, so that a listing opens none.
 */
#include "txn/recover.h"

#include <math.h>

#include "hash/hash_set.h"
#include "kind/kind.h"
#include "plan/policy.h"
#include "segment/broken.h"
#include "segment/live.h"
#include "segment/mark.h"
#include "segment/room.h"
#include "sizing/sizing.h"
#include "txn/points.h"
#include "txn/replay.h"
#include "txn/spares.h"
#include "txn/store.h"

/* ---- What is wrong --------------------------------------------------------------------------- */

/* The earlier of two times; 0 means none. */
static int64_t earlier(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

void tamis__add_trouble(struct tamis__trouble *trouble, const struct tamis__segment_header *header)
{
    trouble->unclean_since =
        earlier(trouble->unclean_since, tamis__unclean_since_of(&header->live, header->created_at));
    /* ORDER relaxed: a time that is read by itself. */
    trouble->degraded_since = earlier(
        trouble->degraded_since, __atomic_load_n(&header->live.degraded_since, __ATOMIC_RELAXED));
}

bool tamis__look_for_trouble(const struct tamis_store *store, const struct tamis__record *record,
                             struct tamis__trouble *trouble)
{
    struct tamis__segment_header header;
    bool stale = false;
    *trouble = (struct tamis__trouble){0};
    for (uint32_t i = 0; i < record->segment_count; i++) {
        if (tamis__segment_peek(&store->place, record->segments[i].number, &header) < 0) continue;
        tamis__add_trouble(trouble, &header);
        stale = stale || tamis__mark_is_stale(&header.live);
    }
    return stale;
}

int tamis__put_trouble(struct tamis__catalog_txn *txn, uint64_t filter_id, struct tamis__trouble is)
{
    struct tamis__trouble was;
    const int rc = tamis__catalog_get_trouble(txn, filter_id, &was);
    if (rc < 0) return rc;
    is.damaged_since = was.damaged_since;
    is.missing_keys = is.unclean_since != 0 ? was.missing_keys : 0;
    if (is.unclean_since == was.unclean_since && is.degraded_since == was.degraded_since) return 0;
    return tamis__catalog_put_trouble(txn, filter_id, is);
}

int tamis__note_missing(const struct tamis_store *store, struct tamis__catalog_txn *txn,
                        const struct tamis__missing *missing)
{
    struct tamis__trouble trouble;
    int rc = tamis__mark_miss(&store->place, missing->segment, missing->since);
    if (rc == 0) rc = tamis__catalog_get_trouble(txn, missing->filter_id, &trouble);
    if (rc < 0) return rc;
    trouble.unclean_since = earlier(trouble.unclean_since, missing->since);
    trouble.missing_keys += missing->keys;
    return tamis__catalog_put_trouble(txn, missing->filter_id, trouble);
}

uint64_t tamis__missing_items(const struct tamis__listed_segment *recorded,
                              const struct tamis__segment *segment)
{
    const uint64_t items = tamis__segment_items(segment);
    const bool counts_down = recorded->counter_bits != 0;
    const bool is_static = recorded->fingerprint_bits != 0; /* its data have a checksum */
    if (counts_down || is_static || recorded->items <= items + TAMIS__ITEMS_AHEAD ||
        tamis__segment_check(segment) != 0)
        return 0;
    return recorded->items - items;
}

/* ---- One filter ------------------------------------------------------------------------------ */

/*
 * Repairs data of a segment that belong together, if only a part of them came to the disk.  The
 * repair is on the disk before the mark is cleared.  Otherwise the next power cut would leave a
 * segment that is marked clean and is broken.
 */
static int mend_segment(const struct tamis_store *store, uint64_t number)
{
    struct tamis__segment segment = {0};
    uint64_t file_bytes = 0;
    int rc = tamis__segment_open(&store->place, number, true, &segment);
    if (rc < 0) return rc;
    const struct tamis__kind *kind = tamis__kind_by_id(segment.header->kind);
    if (kind != NULL && kind->mend != NULL && tamis__mark_is_stale(segment.live)) {
        rc = tamis__mark_has_writer(&store->place, number);
        if (rc == 0) rc = tamis__segment_file_bytes(&segment, &file_bytes);
        if (rc == 0) rc = kind->mend(&segment, file_bytes);
        if (rc == 0) {
            rc = tamis__segment_sync(&store->place, &segment);
            if (rc < 0) rc = tamis__mark_degrade(&segment, rc); /* a retry finds no damage */
        }
    }
    tamis__segment_close(&segment);
    return rc < 0 ? rc : 0;
}

/*
 * Pages come to the disk in any order, so the counts of the newest segment may be older than its
 * bits.  Then the segment has less room than its counts say.  The keys that the bits show and the
 * counts lack are written off, so that the segment is not filled over.  This reads the whole
 * segment, once after the machine went down.
 */
static int write_off_uncounted(const struct tamis_store *store, const struct tamis__record *record)
{
    struct tamis__segment segment = {0};
    const uint64_t number = record->segments[record->segment_count - 1].number;
    int rc = tamis__segment_open(&store->place, number, true, &segment);
    if (rc < 0) return rc;
    const struct tamis__segment_header *header = segment.header;
    const struct tamis__kind *kind = tamis__kind_by_id(header->kind);
    const struct tamis__hash_set *set = tamis__hash_set_by_id(header->hash_set);
    const char *reason;
    if (kind != NULL && kind->check(header, &reason) == 0 && set != NULL && set->any_kind &&
        tamis__mark_is_stale(segment.live) &&
        tamis__policy_limit(&record->policy, header) != UINT64_MAX) {
        uint64_t ones;
        double rate;
        kind->measure(&segment, &ones, &rate);
        rc = tamis__segment_check(&segment);
        if (rc == 0)
            tamis__room_write_off_lost(
                &segment, (uint64_t)llround(tamis__estimate_items(header->kind, header->m_bits,
                                                                  header->k, ones)));
    }
    tamis__segment_close(&segment);
    return rc < 0 ? rc : 0;
}

/*
 * The counts of a segment may also be newer than its bits.  The logs bring the bits back, and
 * count their keys, so those must not be counted yet: the counts become what the bits show, if they
 * are more by what chance does not explain.  After the machine went down nobody has room in hands.
 */
static int forget_counts_without_bits(const struct tamis_store *store, uint64_t number)
{
    struct tamis__segment segment = {0};
    int rc = tamis__segment_open(&store->place, number, true, &segment);
    if (rc < 0) return rc;
    struct tamis__segment_header *header = segment.header;
    const struct tamis__kind *kind = tamis__kind_by_id(header->kind);
    const struct tamis__hash_set *set = tamis__hash_set_by_id(header->hash_set);
    const char *reason;
    if (kind != NULL && kind->check(header, &reason) == 0 &&
        !tamis_kind_has(kind->id, TAMIS_KIND_IS_STATIC) && set != NULL &&
        (set->weakness == NULL || set->weakness(header->parameters) == NULL) &&
        tamis__mark_is_stale(segment.live)) {
        const double items = (double)tamis__segment_items(&segment);
        uint64_t ones;
        double rate;
        kind->measure(&segment, &ones, &rate);
        const double shown = tamis__estimate_items(header->kind, header->m_bits, header->k, ones);
        const double chance =
            4 * tamis__estimate_error(header->kind, header->m_bits, header->k, items);
        rc = tamis__segment_check(&segment);
        if (rc == 0) rc = tamis__mark_has_writer(&store->place, number);
        if (rc == 0 && items > shown + chance + 64)
            tamis__header_set_items(header, (uint64_t)llround(shown));
    }
    tamis__segment_close(&segment);
    return rc < 0 ? rc : 0;
}

static int replay_logs(struct tamis_store *store, const struct tamis__record *record)
{
    uint64_t numbers[TAMIS__SEGMENTS_MAX];
    for (uint32_t i = 0; i < record->segment_count; i++)
        numbers[i] = record->segments[i].number;
    return tamis__logs_replay(store, record->filter_id, numbers, record->segment_count);
}

int tamis__recover_filter(struct tamis_store *store, struct tamis__catalog_txn *txn,
                          const struct tamis__record *record)
{
    struct tamis__trouble now;
    if (tamis__look_for_trouble(store, record, &now)) {
        const bool whole = record->policy.durable;
        int rc = 0;
        for (uint32_t i = 0; rc >= 0 && i < record->segment_count; i++)
            rc = mend_segment(store, record->segments[i].number);
        for (uint32_t i = 0; rc >= 0 && whole && i < record->segment_count; i++)
            rc = forget_counts_without_bits(store, record->segments[i].number);
        if (rc >= 0 && whole) rc = replay_logs(store, record);
        if (rc >= 0) rc = write_off_uncounted(store, record);
        for (uint32_t i = 0; rc >= 0 && i < record->segment_count; i++)
            rc = tamis__mark_recover(&store->place, record->segments[i].number, whole);
        if (rc < 0) return rc;
        TAMIS__POINT(TAMIS__POINT_RECOVERED);
        (void)tamis__look_for_trouble(store, record, &now);
    }
    return tamis__put_trouble(txn, record->filter_id, now);
}

/* ---- Room that was lost ---------------------------------------------------------------------- */

/* Returns by how many keys the number may be wrong that the bits of a segment show. */
static double estimate_doubt(const struct tamis__segment_header *h, uint64_t limit)
{
    return 64 + 2 * tamis__estimate_error(h->kind, h->m_bits, h->k, (double)limit);
}

bool tamis__may_regain(const struct tamis__policy *policy,
                       const struct tamis__segment_header *newest)
{
    const uint64_t limit = tamis__policy_limit(policy, newest);
    const struct tamis__hash_set *set = tamis__hash_set_by_id(newest->hash_set);
    /* ORDER acquire: as tamis__segment_next(). */
    const uint64_t next = __atomic_load_n(&newest->live.next, __ATOMIC_ACQUIRE);
    if (limit == UINT64_MAX) return false;
    const uint64_t room = tamis__room_of(newest, limit);
    /* The next add will be refused, though none was yet. */
    const bool will_refuse = next == 0 && room == 0 && policy->on_full == TAMIS_ON_FULL_REFUSE;
    if (next != TAMIS__NEXT_REFUSE && !will_refuse) return false;
    if (room > 0) return true;
    return set != NULL && set->any_kind &&
           (double)tamis__room_in_hands(newest) > estimate_doubt(newest, limit);
}

/*
 * Returns the room that was granted to adders that are dead.  A writer locks its byte, then raises
 * the mark, and only then takes room.  So if the mark was the same before and after the look, and
 * nobody had the lock at either time, no writer had room in hands during the look.
 */
static uint64_t lost_room(const struct tamis_store *store, const struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = segment->header;
    const uint64_t *place = &segment->live->mark;
    const uint64_t mark = __atomic_load_n(place, __ATOMIC_SEQ_CST); /* ORDER: as said above */
    if ((mark & TAMIS__MARK_UNWATCHED) != 0 || tamis__mark_is_stale(segment->live) ||
        tamis__mark_has_writer(&store->place, h->number) != 0)
        return 0;
    const uint64_t lost = tamis__room_in_hands(segment->header);
    const bool alone = tamis__mark_has_writer(&store->place, h->number) == 0;
    return alone && __atomic_load_n(place, __ATOMIC_SEQ_CST) == mark ? lost : 0;
}

/* Makes lost room free again, but for the keys of killed adders that have their bits and are not
 * counted among the items. */
static int regain_lost(const struct tamis_store *store, const struct tamis__segment *segment,
                       uint64_t limit)
{
    const struct tamis__segment_header *h = segment->header;
    const uint64_t lost = lost_room(store, segment);
    uint64_t ones;
    double rate;
    if ((double)lost <= estimate_doubt(h, limit)) return 0;
    tamis__kind_by_id(h->kind)->measure(segment, &ones, &rate);
    const int rc = tamis__segment_check(segment);
    const double uncounted = tamis__estimate_items(h->kind, h->m_bits, h->k, ones) +
                             estimate_doubt(h, limit) - (double)tamis__segment_items(segment);
    if (rc == 0 && uncounted < (double)lost)
        tamis__room_regain(segment, lost - (uint64_t)fmax(uncounted, 0));
    return rc;
}

int tamis__recover_room(const struct tamis_store *store, const struct tamis__record *record)
{
    struct tamis__segment segment = {0};
    const uint64_t number = record->segments[record->segment_count - 1].number;
    int rc = tamis__segment_open(&store->place, number, true, &segment);
    if (rc < 0) return rc;
    const struct tamis__kind *kind = tamis__kind_by_id(segment.header->kind);
    const uint64_t limit = tamis__policy_limit(&record->policy, segment.header);
    const char *reason;
    if (kind != NULL && kind->check(segment.header, &reason) == 0 &&
        tamis__may_regain(&record->policy, segment.header)) {
        rc = regain_lost(store, &segment, limit);
        if (rc == 0 && tamis__room_of(segment.header, limit) > 0)
            tamis__segment_take_again(&segment);
    }
    tamis__segment_close(&segment);
    return rc;
}

/* ---- All filters ----------------------------------------------------------------------------- */

struct scan {
    const struct tamis_store *store;
    uint64_t *ids; /* ids of filters that the catalog must be told of */
    size_t count, room;
};

static int scan_one(void *context, const struct tamis__record *record)
{
    struct scan *scan = context;
    struct tamis__trouble trouble;
    struct tamis__record now = *record;
    tamis__record_promote(&scan->store->place, &now);
    const bool stale = tamis__look_for_trouble(scan->store, &now, &trouble);
    if (!stale && trouble.unclean_since == 0 && trouble.degraded_since == 0) return 0;
    uint64_t *id = tamis__array_add(&scan->ids, &scan->count, &scan->room, sizeof *id,
                                    "recovering the filters");
    if (id == NULL) return TAMIS_ENOMEM;
    *id = record->filter_id;
    return 0;
}

/* Returns 0 if all filters were recovered. */
static int recover_all(struct tamis_store *store, struct tamis__catalog_txn *txn)
{
    struct scan scan = {.store = store};
    struct tamis__record record;
    int rc = tamis__catalog_each(txn, "", scan_one, &scan);
    for (size_t i = 0; rc == 0 && i < scan.count; i++) {
        rc = tamis__store_get_by_id(store, txn, scan.ids[i], &record);
        if (rc == 0) rc = tamis__recover_filter(store, txn, &record);
    }
    const bool any = scan.count > 0;
    free(scan.ids);
    return rc < 0 ? rc : any;
}

int tamis__recover_store(struct tamis_store *store, struct tamis__catalog_txn *txn)
{
    uint8_t boot[TAMIS__BOOT_ID_BYTES];
    if (!tamis__boot_id(boot)) return 0;
    int rc = tamis__catalog_is_of_boot(txn, boot);
    if (rc != 0) return rc < 0 ? rc : 0;
    rc = recover_all(store, txn);
    /* A filter that cannot be recovered must not stop writes to the others.  The error is returned
     * when that filter is opened, and the next writer tries again. */
    if (rc < 0) return 0;
    const int put = tamis__catalog_put_boot(txn, boot);
    /* The headers have it on the disk already; the caller may still give up its own changes. */
    return put < 0 || rc == 0 ? put : tamis__catalog_commit_part(txn);
}
