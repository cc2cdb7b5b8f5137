/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.c: tells what is known of a filter and of its segments, as the public structs. */
#include "filter/stat.h"

#include <math.h>

#include "handle/follow.h"
#include "handle/view.h"
#include "log/log.h"
#include "os/io.h"
#include "plan/policy.h"
#include "segment/room.h"
#include "segment/sums.h"
#include "sizing/fuse.h"
#include "sizing/sizing.h"
#include "txn/spares.h"

/* Is the newest slice of a window in time over?  Then the next add begins another one. */
static bool is_slice_over(const struct tamis__record *record)
{
    return tamis__policy_is_slice_over(tamis__policy_slice_ns(&record->policy),
                                       tamis__record_newest(record)->slice_start,
                                       tamis__clock_ns());
}

/* Can the filter go on in a further segment of the newest slice? */
static bool grows(const struct tamis__record *record)
{
    const struct tamis__policy_list list =
        tamis__policy_list_of(record, tamis__policy_first(record, tamis__clock_ns()));
    return tamis__policy_grows(&record->policy, tamis__record_newest(record)->step, &list);
}

static bool is_static(const struct tamis__listed_segment *s)
{
    return tamis_kind_has(s->kind, TAMIS_KIND_IS_STATIC);
}

/* By the item counts: is the filter full?  If it can go on in another segment, it is not. */
static bool is_full(const struct tamis__record *record, const uint64_t *segment_items,
                    const struct tamis_filter_stat *stat)
{
    const uint32_t newest = record->segment_count - 1;
    const struct tamis__listed_segment *s = &record->segments[newest];
    if (is_static(s)) return false; /* nothing is ever added */
    if (record->policy.window_items > 0) return false;
    if (grows(record)) return false;
    if (record->policy.slices > 0)
        return segment_items[newest] >= s->capacity && !is_slice_over(record);
    return stat->items >= stat->capacity;
}

/* The rate with that many keys, with what the hash set of the segment repeats. */
static double rate_of(const struct tamis__listed_segment *s, uint64_t keys)
{
    if (!tamis_kind_has(s->kind, TAMIS_KIND_IS_PLAIN) || s->m_bits == 0 || s->k == 0)
        return tamis_predict_rate(s->kind, s->m_bits, s->k, keys);
    const struct tamis__hashing hashing = {.set = tamis__hash_set_by_id(s->hash_set),
                                           .parameters = s->parameters,
                                           .seed = s->seed,
                                           .m_bits = s->m_bits,
                                           .k = s->k};
    return fmin(1, tamis__independent_rate(s->m_bits, s->k, keys) +
                       tamis__hashing_repeats(&hashing, tamis__load_of(s->m_bits, s->k, keys)));
}

/* Above this rate the keys that seemed to be there already are worth looking at. */
#define CROWDED 0.02
#define CROWDED_STEPS 32

/*
 * Estimates how many keys were added if `items` of them were NEW.  A key that seemed to be there
 * set no bit and was not counted, and each that was counted found a bit unset: so in a crowded
 * segment the counted ones have set more bits than as many keys do.  With the rate p(n) of n keys,
 * one more key is counted with probability 1 - p(n): dn / d items = 1 / (1 - p(n)), by the midpoint
 * rule.
 */
static uint64_t keys_behind(const struct tamis__listed_segment *s, uint64_t items)
{
    const double step = (double)items / CROWDED_STEPS, most = (double)TAMIS__CAPACITY_MAX / 2;
    double keys = 0;
    for (unsigned i = 0; i < CROWDED_STEPS && keys < most; i++) {
        const double p = tamis_predict_rate(s->kind, s->m_bits, s->k, (uint64_t)keys);
        const double middle = keys + step / 2 / fmax(1 - p, 1e-3);
        const double q = tamis_predict_rate(s->kind, s->m_bits, s->k, (uint64_t)middle);
        keys += step / fmax(1 - q, 1e-3);
    }
    return (uint64_t)fmin(keys, most);
}

/* `counted`: the items are NEW answers, and not an estimate from the bits. */
static double predict_rate(const struct tamis__listed_segment *s, uint64_t items, bool counted)
{
    if (is_static(s)) return tamis__static_rate(s->fingerprint_bits, items);
    const double rate = rate_of(s, items);
    if (!counted || !(rate > CROWDED)) return rate;
    return rate_of(s, keys_behind(s, items));
}

static double sized_rate(const struct tamis__listed_segment *s, uint64_t items)
{
    if (is_static(s)) return tamis__static_rate(s->fingerprint_bits, items);
    if (tamis_kind_has(s->kind, TAMIS_KIND_IS_PLAIN))
        return tamis__independent_rate(s->m_bits, s->k, items);
    return tamis_predict_rate(s->kind, s->m_bits, s->k, items);
}

/* A segment may pass its capacity by so much through rounding and adders in progress. */
#define OVER 1.02

/* A filter at its capacity is full.  In a filter that grows or forgets, any segment may hold too
 * many keys. */
static bool is_over(const struct tamis__record *record, const uint64_t *segment_items,
                    const struct tamis_filter_stat *stat)
{
    const struct tamis__listed_segment *s = &record->segments[record->segment_count - 1];
    const uint32_t first = tamis__policy_first(record, tamis__clock_ns());
    double rate = 0; /* as filters are sized: without what a hash set repeats */
    if (is_static(s)) return false;
    for (uint32_t i = first; i < record->segment_count; i++)
        rate = tamis__either_rate(rate, sized_rate(&record->segments[i], segment_items[i]));
    if (!(rate > OVER * stat->fp_rate)) return false;
    return stat->items > stat->capacity || record->policy.slices > 0 || record->segment_count > 1;
}

/* Fills in the fields that follow from the item count. */
static void set_items(struct tamis_filter_stat *stat, const struct tamis__record *record,
                      const uint64_t *segment_items, bool counted)
{
    const uint32_t first = tamis__policy_first(record, tamis__clock_ns());
    stat->items = 0;
    stat->predicted_rate = 0;
    stat->live_slices = record->policy.slices > 0 ? tamis__policy_list_of(record, first).slices : 0;
    for (uint32_t i = first; i < record->segment_count; i++) {
        const struct tamis__listed_segment *s = &record->segments[i];
        stat->items += segment_items[i];
        stat->predicted_rate =
            tamis__either_rate(stat->predicted_rate, predict_rate(s, segment_items[i], counted));
    }
    stat->state = is_full(record, segment_items, stat) ? TAMIS_STATE_FULL : 0;
    if (is_over(record, segment_items, stat)) stat->state |= TAMIS_STATE_OVER;
}

/* ---- Does it take keys? ---------------------------------------------------------------------- */

#ifdef TAMIS_TEST_POINTS
int64_t tamis__stat_disk_room = -1;
#define TEST_DISK_ROOM tamis__stat_disk_room
#else
#define TEST_DISK_ROOM (-1)
#endif

static int disk_room(const struct tamis_store *store, uint64_t *bytes)
{
    *bytes = (uint64_t)TEST_DISK_ROOM;
    if (TEST_DISK_ROOM >= 0) return 0;
    return tamis__disk_room(store->place.segments_fd, store->place.path, bytes);
}

static int is_there(void *context, uint64_t filter_id, const char *name)
{
    (void)context, (void)filter_id, (void)name;
    return 1;
}

/*
 * The bytes that the file system lacks for the log without which nothing is added to a durable
 * filter; 0 if there is a log: its process goes on with it, and a log that was left is taken over.
 */
static uint64_t log_lacking_bytes(const struct tamis_store *store,
                                  const struct tamis__record *record)
{
    const struct tamis__logs logs = tamis__store_logs(store);
    uint64_t available;
    if (!record->policy.durable || is_static(tamis__record_newest(record))) return 0;
    if (disk_room(store, &available) < 0 || available >= TAMIS__LOG_FIRST_BYTES) return 0;
    if (tamis__logs_each(&logs, record->filter_id, is_there, NULL) != 0) return 0;
    return TAMIS__LOG_FIRST_BYTES - available;
}

/* The bytes that the file system lacks for the file that an adder without room would make now. */
static uint64_t lacking_bytes(const struct tamis_store *store, const struct tamis__record *record)
{
    const struct tamis__listed_segment *s = tamis__record_newest(record);
    const struct tamis__policy *policy = &record->policy;
    const struct tamis__policy_list list =
        tamis__policy_list_of(record, tamis__policy_first(record, tamis__clock_ns()));
    struct tamis_sizing next = {.kind = s->kind, .counter_bits = s->counter_bits};
    uint64_t available;
    int rc = policy->window_items > 0
                 ? tamis__policy_size_first(policy, &next)
                 : tamis__policy_size_next(policy, &list, s->capacity,
                                           tamis__policy_left(policy, s->step), &next);
    if (rc == 0) rc = disk_room(store, &available);
    return rc == 0 && next.file_bytes > available ? next.file_bytes - available : 0;
}

/*
 * Does the filter take no further key, by its header?  The items say less: room may be lost with
 * adders that were killed.  `header` is that of the newest segment.  A moment at which adders hold
 * the last of the room looks the same.
 */
static bool is_stuck(const struct tamis_store *store, const struct tamis__record *record,
                     const struct tamis__segment_header *header, struct tamis_filter_stat *stat)
{
    const struct tamis__policy *policy = &record->policy;
    const struct tamis__listed_segment *s = tamis__record_newest(record);
    const uint64_t limit = tamis__policy_limit(policy, header);
    /* ORDER acquire: as tamis__segment_next(). */
    const uint64_t next = __atomic_load_n(&header->live.next, __ATOMIC_ACQUIRE);
    if (is_static(s) || limit == UINT64_MAX) return false;
    stat->room = next == TAMIS__NEXT_REFUSE ? 0 : tamis__room_of(header, limit);
    if (stat->room > 0 || is_slice_over(record)) return false;
    if (next == TAMIS__NEXT_REFUSE) return true;
    if (next != 0) return false; /* it has gone on, or there is a spare */
    if (policy->window_items > 0 || grows(record))
        stat->lacks_bytes = lacking_bytes(store, record);
    else
        return true;
    return stat->lacks_bytes > 0;
}

/* ---- A filter -------------------------------------------------------------------------------- */

void tamis__stat_from_record(const struct tamis_store *store, const struct tamis__record *record,
                             const struct tamis__segment_header *header,
                             struct tamis_filter_stat *stat)
{
    const struct tamis__listed_segment *newest = &record->segments[record->segment_count - 1];
    uint64_t items[TAMIS__SEGMENTS_MAX], places = 0;
    double bits = 0;
    *stat = (struct tamis_filter_stat){
        .size = sizeof *stat,
        .kind = newest->kind,
        .k = newest->k,
        .seed = newest->seed,
        .counter_bits = newest->counter_bits,
        .fingerprint_bits = newest->fingerprint_bits,
        .exceptions = record->exception_count,
        .keep = record->keep,
        .capacity = record->policy.slices > 0 ? record->policy.capacity : record->capacity,
        .fp_rate = record->fp_rate,
        .generation = record->generation,
        .segment_count = record->segment_count,
        .created_at = record->created_at,
        .published_at = record->published_at,
        .checkpointed_at = record->checkpointed_at,
        .window_ns = record->policy.window_ns,
        .window_items = record->policy.window_items,
        .slices = record->policy.slices,
        .on_full = tamis__policy_on_full(&record->policy),
        .flags = tamis__policy_flags(&record->policy) | (record->owned ? TAMIS_FILTER_OWNED : 0),
        .room = UINT64_MAX,
        .pages = record->policy.pages,
    };
    memcpy(stat->name, record->name, sizeof stat->name);
    tamis__hash_set_name(newest->hash_set, newest->parameters, stat->hash_set);
    (void)snprintf(stat->key_rule, sizeof stat->key_rule, "%s",
                   tamis__key_rule_name(record->policy.key_rule));
    for (uint32_t i = 0; i < record->segment_count; i++) {
        const struct tamis__listed_segment *s = &record->segments[i];
        stat->m_bits += s->m_bits;
        bits += (double)s->m_bits * (s->counter_bits != 0 ? s->counter_bits : 1);
        places += s->capacity;
        stat->size_bytes += record->segments[i].file_bytes;
        items[i] = record->segments[i].items;
    }
    /* The capacity of a window is that of all its slices; there may be fewer slices yet. */
    stat->bits_per_key = bits / (double)(record->policy.slices > 0 ? places : stat->capacity);
    set_items(stat, record, items,
              header == NULL || (header->flags & TAMIS_SEGMENT_ITEMS_ESTIMATED) == 0);
    if (header == NULL) return;
    if (is_stuck(store, record, header, stat)) stat->state |= TAMIS_STATE_FULL;
    if (stat->room == 0) return;
    stat->lacks_bytes = log_lacking_bytes(store, record);
    if (stat->lacks_bytes > 0) stat->state |= TAMIS_STATE_FULL;
}

void tamis__stat_set_trouble(struct tamis_filter_stat *stat, struct tamis__trouble trouble)
{
    stat->unclean_since = trouble.unclean_since;
    stat->degraded_since = trouble.degraded_since;
    if (trouble.unclean_since != 0) {
        stat->state |= TAMIS_STATE_UNCLEAN;
        stat->missing_keys = trouble.missing_keys;
    }
    if (trouble.degraded_since != 0) stat->state |= TAMIS_STATE_DEGRADED;
    if (trouble.damaged_since != 0) stat->state |= TAMIS_STATE_DAMAGED;
}

/* What the import of a list has noted in its first segment. */
static void stat_import(const struct tamis__segment_header *first, struct tamis_filter_stat *stat)
{
    stat->imported_at = first->imported_at;
    if (first->imported_at == 0) return;
    memcpy(stat->imported_from, first->imported_from, sizeof stat->imported_from - 1);
    for (size_t i = 0; i < sizeof first->imported_digest; i++)
        (void)snprintf(stat->imported_digest + 2 * i, 3, "%02x", first->imported_digest[i]);
    stat->imported_signed_at = first->imported_signed_at;
    tamis__attachment_signer(&first->attachment, stat->imported_signed_by,
                             stat->imported_signed_comment);
}

TAMIS_API int64_t tamis_filter_items(tamis_filter *filter)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__view *view;
    int rc = tamis__visit(filter, &view);
    if (rc == TAMIS_EDROPPED) { /* the mapping is still there */
        view = tamis__enter(&filter->view);
        rc = view ? 0 : TAMIS_ENOMEM;
    }
    if (rc < 0) return rc;
    uint64_t items = 0;
    for (uint32_t i = tamis__first_alive(view); i < view->count; i++)
        items += tamis__segment_items(&view->segments[i].segment);
    return tamis__leave_with(filter, view, (int64_t)items);
}

TAMIS_API char *tamis_segment_file(uint64_t number, char text[TAMIS_SEGMENT_FILE_BYTES])
{
    char name[TAMIS__SEGMENT_NAME_BYTES];
    tamis__segment_name(number, name);
    (void)snprintf(text, TAMIS_SEGMENT_FILE_BYTES, "segments/%s", name);
    return text;
}

/* What the catalog says of the filter.  If somebody else has the lock, who may be waiting for the
 * disk, that is read without it. */
static int look_up(const struct tamis_filter *filter, struct tamis__record *record,
                   struct tamis__trouble *trouble)
{
    const struct tamis_store *store = filter->store;
    struct tamis__catalog_txn *txn;
    const bool waits = !store->catalog.stays_open;
    int rc = tamis__catalog_try_begin(&store->catalog, TAMIS__LOCK_SHARED, waits, &txn);
    if (rc == 0) {
        rc = tamis__store_peek(store, filter->filter_id, record, trouble);
        if (rc != TAMIS__PEEK_UNSURE) return rc;
        rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    }
    if (rc < 0) return rc;
    rc = tamis__store_get_by_id(store, txn, filter->filter_id, record);
    if (rc == 0) rc = tamis__catalog_get_trouble(txn, filter->filter_id, trouble);
    tamis__catalog_end(txn);
    return rc;
}

TAMIS_API int tamis_filter_stat(tamis_filter *filter, struct tamis_filter_stat *stat)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__record record;
    struct tamis__view *view;
    struct tamis__trouble trouble, known = {0};
    struct tamis_filter_stat own;
    int rc = tamis__check_struct(stat, "struct tamis_filter_stat");
    if (rc == 0) rc = look_up(filter, &record, &known);
    if (rc == TAMIS_ENOTFOUND) return tamis__fail_dropped(filter);
    if (rc == 0) rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    (void)tamis__view_count_record(view, &record); /* the others are counted in the catalog */
    for (uint32_t i = 0; i < record.segment_count; i++) {
        const struct tamis__mapped_segment *s = tamis__view_find(view, record.segments[i].number);
        if (s != NULL) record.segments[i].file_bytes = tamis__header_file_bytes(s->segment.header);
    }
    const struct tamis__mapped_segment *newest =
        tamis__view_find(view, tamis__record_newest(&record)->number);
    trouble = tamis__view_trouble(view);
    trouble.damaged_since = known.damaged_since;
    trouble.missing_keys = known.missing_keys;
    tamis__stat_from_record(filter->store, &record, newest ? newest->segment.header : NULL, &own);
    if (view->segments[0].segment.header->number == record.segments[0].number)
        stat_import(view->segments[0].segment.header, &own);
    rc = (int)tamis__leave_with(filter, view, 0);
    if (rc < 0) return rc;
    tamis__stat_set_trouble(&own, trouble);
    tamis__give_struct(&own, sizeof own, stat);
    return 0;
}

/* Has the segment checksums by which each changed byte is found? */
static bool is_sealed(const struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = segment->header;
    /* ORDER relaxed: it tells of a moment that may be over. */
    const uint64_t mark = __atomic_load_n(&segment->live->mark, __ATOMIC_RELAXED);
    return h->data_checksum != 0 || (tamis__mark_is_sealed(mark) && tamis__sums_have_room(h));
}

static void stat_segment(const struct tamis__segment *segment, bool past,
                         struct tamis_segment_stat *stat)
{
    const struct tamis__segment_header *h = segment->header;
    *stat = (struct tamis_segment_stat){
        .size = sizeof *stat,
        .number = h->number,
        .kind = h->kind,
        .k = h->k,
        .words = h->words,
        .bit_order = h->bit_order,
        .m_bits = h->m_bits,
        .seed = h->seed,
        .capacity = h->capacity,
        .fp_rate = tamis__double_from_bits(h->fp_rate),
        .items = tamis__segment_items(segment),
        .file_bytes = tamis__header_file_bytes(h),
        .data_offset = h->data_offset,
        .data_bytes = h->data_bytes,
        .created_at = h->created_at,
        .flags = (h->flags & TAMIS__SEGMENT_FLAGS_KNOWN) | (past ? TAMIS_SEGMENT_PAST : 0) |
                 (is_sealed(segment) ? TAMIS_SEGMENT_SEALED : 0),
        .slice = h->slice,
        .slice_start = h->slice_start,
        .step = h->step,
        .counter_bits = h->counter_bits,
        .fingerprint_bits = h->fingerprint_bits,
        .pieces = h->pieces,
    };
    tamis__hash_set_name(h->hash_set, h->parameters, stat->hash_set);
}

static void measure_segment(const struct tamis__mapped_segment *s, struct tamis_segment_stat *stat)
{
    s->kind->measure(&s->segment, &stat->ones, &stat->fp_rate_now);
    /* For a static segment, the fingerprints are counted and its keys are known. */
    const uint64_t places = stat->m_bits / (stat->fingerprint_bits ? stat->fingerprint_bits : 1);
    stat->fill = (double)stat->ones / (double)places;
    stat->items_estimated = stat->fingerprint_bits
                                ? stat->items
                                : (uint64_t)llround(tamis__estimate_items(stat->kind, stat->m_bits,
                                                                          stat->k, stat->ones));
}

static int tell_segment(struct tamis_filter *filter, uint32_t index, bool measured,
                        struct tamis_segment_stat *stat)
{
    struct tamis_segment_stat own;
    struct tamis__view *view;
    int rc = tamis__check_struct(stat, "struct tamis_segment_stat");
    if (rc == 0) rc = tamis__visit_segment(filter, index, &view);
    if (rc < 0) return rc;
    stat_segment(&view->segments[index].segment, index < tamis__first_alive(view), &own);
    if (measured) measure_segment(&view->segments[index], &own);
    rc = (int)tamis__leave_with(filter, view, 0);
    if (rc == 0) tamis__give_struct(&own, sizeof own, stat);
    return rc;
}

TAMIS_API int tamis_filter_segment(tamis_filter *filter, uint32_t index,
                                   struct tamis_segment_stat *stat)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    return tell_segment(filter, index, false, stat);
}

TAMIS_API int tamis_filter_fill(tamis_filter *filter, uint32_t index,
                                struct tamis_segment_stat *stat)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    return tell_segment(filter, index, true, stat);
}
