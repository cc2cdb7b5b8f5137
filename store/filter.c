/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.c: open filters.
 *
 * A handle maps the filter's segments and remembers the newest one's epoch.  Each call compares it,
 * one load of a line that is almost never written; when it has moved somebody changed the filter,
 * and the handle goes to the catalog under its lock, so waits for the commit or for the publisher's
 * death. Nothing here is locked, and nothing but the three atomics of the handle is written after
 * opening.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/point.h"
#include "store.h"

/* Keys of a batch that are handled together; what goes on the stack for a list of segments. */
#define CHUNK 1024u

/* ---- Opening and closing --------------------------------------------------------------------- */

int tamis__open_segment(struct tamis_store *store, const struct tamis__record *record,
                        uint32_t index, bool writable, struct tamis__store_segment *out)
{
    const struct tamis__record_segment *entry = &record->segments[index];
    const char *reason = "is of a kind that this library does not have; use a newer Tamis";
    char name[TAMIS__SEGMENT_NAME_BYTES];
    int rc = tamis__segment_open(&store->place, entry->number, writable, &out->segment);
    if (rc < 0) return rc;
    const struct tamis__segment_header *header = out->segment.header;
    tamis__segment_name(entry->number, name);
    out->kind = tamis__kind_by_id(header->kind);
    rc = out->kind ? out->kind->check(header, &reason) : TAMIS_EVERSION;
    if (rc < 0) {
        rc = tamis__fail(rc, "%s/segments/%s %s", store->place.path, name, reason);
    } else if (header->store_id != store->store_id || header->filter_id != record->filter_id) {
        rc = tamis__fail(
            TAMIS_EFOREIGN, "%s/segments/%s belongs to another %s; restore the right file",
            store->place.path, name, header->store_id != store->store_id ? "store" : "filter");
    } else if ((reason = tamis__record_contradiction(entry, header)) != NULL) {
        rc = tamis__fail(TAMIS_ECORRUPT,
                         "%s/segments/%s contradicts the catalog in its %s; restore both from one "
                         "copy",
                         store->place.path, name, reason);
    } else if (writable && (header->compat_flags & ~TAMIS__COMPAT_KNOWN) != 0) {
        rc = tamis__fail(TAMIS_EVERSION,
                         "%s/segments/%s was extended by a newer version of Tamis; open it "
                         "read-only, or use that version",
                         store->place.path, name);
    } else if (writable) {
        rc = tamis__segment_relabel(&store->place, &out->segment, record->name_sequence,
                                    record->name);
    }
    if (rc < 0) tamis__segment_close(&out->segment);
    return rc;
}

static uint64_t items_of(const struct tamis_filter *filter)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < filter->segment_count; i++)
        items += tamis__segment_items(&filter->segments[i].segment);
    return items;
}

static void filter_free(struct tamis_filter *filter)
{
    for (uint32_t i = 0; i < filter->segment_count; i++)
        tamis__segment_close(&filter->segments[i].segment);
    tamis_store_close(filter->store);
    free(filter);
}

int tamis__filter_open_record(struct tamis_store *store, const struct tamis__record *record,
                              bool read_only, tamis_filter **out)
{
    struct tamis_filter *filter =
        calloc(1, sizeof *filter + record->segment_count * sizeof filter->segments[0]);
    if (filter == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening the filter '%s'", record->name);
    filter->store = tamis__store_reference(store);
    memcpy(filter->name, record->name, sizeof filter->name);
    filter->filter_id = record->filter_id;
    filter->generation = record->generation;
    filter->read_only = read_only;
    for (uint32_t i = 0; i < record->segment_count; i++) {
        const int rc = tamis__open_segment(store, record, i, !read_only, &filter->segments[i]);
        if (rc < 0) {
            filter_free(filter);
            return rc;
        }
        filter->segment_count++;
        filter->recorded_items += record->segments[i].items;
    }
    filter->epoch = tamis__segment_epoch(&filter->segments[filter->segment_count - 1].segment);
    *out = filter;
    return 0;
}

void tamis__filter_mark_in_force(const struct tamis_filter *filter)
{
    for (uint32_t i = 0; i < filter->segment_count; i++)
        tamis__segment_mark_in_force(&filter->segments[i].segment);
}

TAMIS_API int tamis_filter_open(tamis_store *store, const char *name, unsigned flags,
                                tamis_filter **filter)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    if ((flags & ~TAMIS_READ_ONLY) != 0)
        return tamis__fail(TAMIS_EINVAL, "tamis_filter_open flags %#x: use 0 or TAMIS_READ_ONLY",
                           flags);
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    if (rc == TAMIS_ENOTFOUND)
        rc = tamis__fail_no_filter(store, name);
    else if (rc == 0) /* under the lock, so that no drop can take the files away in between */
        rc = tamis__filter_open_record(store, &record,
                                       store->read_only || (flags & TAMIS_READ_ONLY), filter);
    tamis__catalog_end(txn);
    if (rc == 0 && !(*filter)->read_only) tamis__filter_mark_in_force(*filter);
    return rc;
}

int tamis__fail_dropped(const struct tamis_filter *filter)
{
    return tamis__fail(TAMIS_EDROPPED,
                       "the filter '%s' of the store %s was dropped while it was open; close this "
                       "handle",
                       filter->name, filter->store->place.path);
}

/*
 * Record the counts, read under the exclusive lock so that they never go back; and the checkpoint's
 * time, unless it is 0.
 */
static int record_items(struct tamis_filter *filter, int64_t checkpointed_at)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    uint64_t sum = 0;
    int rc = tamis__store_begin_write(filter->store, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get_by_id(txn, filter->filter_id, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_dropped(filter);
    if (rc == 0 && record.generation == filter->generation) {
        for (uint32_t i = 0; i < filter->segment_count; i++) {
            record.segments[i].items = tamis__segment_items(&filter->segments[i].segment);
            sum += record.segments[i].items;
        }
        if (checkpointed_at > record.checkpointed_at) record.checkpointed_at = checkpointed_at;
        rc = tamis__catalog_put(txn, &record);
        if (rc == 0) rc = tamis__catalog_commit(txn);
        /* ORDER relaxed: a hint that saves a commit; the catalog is the truth. */
        if (rc == 0) __atomic_store_n(&filter->recorded_items, sum, __ATOMIC_RELAXED);
    }
    tamis__catalog_end(txn);
    return rc;
}

TAMIS_API int tamis_filter_close(tamis_filter *filter)
{
    if (filter == NULL) return 0;
    int rc = 0;
    /* ORDER relaxed: see record_items. */
    const bool changed =
        items_of(filter) != __atomic_load_n(&filter->recorded_items, __ATOMIC_RELAXED);
    if (!filter->read_only && changed) rc = record_items(filter, 0);
    if (rc == TAMIS_EDROPPED) rc = 0; /* no catalog entry is left to be wrong */
    filter_free(filter);
    return rc;
}

/* ---- Following the catalog ------------------------------------------------------------------- */

/* The epoch has moved: what became of the filter? */
static int follow(struct tamis_filter *filter, uint64_t epoch)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    /* ORDER relaxed: set once, and only ever to true. */
    if (__atomic_load_n(&filter->dropped, __ATOMIC_RELAXED)) return tamis__fail_dropped(filter);
    /* While the publisher, or anybody, has the lock, nothing new is in force that it has told of: go on
     * with what we have, and look again at the next call.  So not even a stopped one keeps us waiting. */
    int rc = tamis__catalog_begin_if_free(&filter->store->catalog, &txn);
    if (rc <= 0) return rc;
    rc = tamis__catalog_get_by_id(txn, filter->filter_id, &record);
    tamis__catalog_end(txn);
    if (rc == TAMIS_ENOTFOUND) {
        __atomic_store_n(&filter->dropped, true, __ATOMIC_RELAXED);
        return tamis__fail_dropped(filter);
    }
    if (rc < 0) return rc;
    if (record.generation != filter->generation)
        return tamis__fail(TAMIS_EVERSION,
                           "a newer version of Tamis changed the filter '%s'; open it again",
                           record.name);
    /* The publisher died before its commit.  ORDER relaxed: an older value only means another look.
     */
    __atomic_store_n(&filter->epoch, epoch, __ATOMIC_RELAXED);
    return 0;
}

static const struct tamis__store_segment *newest_of(const struct tamis_filter *filter)
{
    return &filter->segments[filter->segment_count - 1];
}

/* Once a call or batch: is the list of segments still in force? */
static inline int check_epoch(struct tamis_filter *filter)
{
    const uint64_t epoch = tamis__segment_epoch(&newest_of(filter)->segment);
    /* ORDER relaxed: see follow(). */
    if (__builtin_expect(epoch == __atomic_load_n(&filter->epoch, __ATOMIC_RELAXED), 1)) return 0;
    return follow(filter, epoch);
}

static int fail_null_key(size_t index)
{
    return tamis__fail(TAMIS_EINVAL, "key %zu is NULL with a length above 0; pass its bytes",
                       index);
}

static int fail_read_only(const struct tamis_filter *filter)
{
    return tamis__fail(TAMIS_EREADONLY,
                       "the filter '%s' of the store %s is open read-only; open it for writing",
                       filter->name, filter->store->place.path);
}

/* ---- One key --------------------------------------------------------------------------------- */

/* Is the key in a segment other than the newest?  Newer ones first: they hold more. */
static int in_older(const struct tamis_filter *filter, const void *key, size_t key_bytes)
{
    for (uint32_t i = filter->segment_count - 1; i-- > 0;) {
        const struct tamis__store_segment *s = &filter->segments[i];
        if (s->kind->contains(&s->segment, key, key_bytes)) return 1;
    }
    return 0;
}

TAMIS_API int tamis_filter_contains(tamis_filter *filter, const void *key, size_t key_bytes)
{
    if (__builtin_expect(key == NULL && key_bytes > 0, 0)) return fail_null_key(0);
    const int rc = check_epoch(filter);
    if (__builtin_expect(rc < 0, 0)) return rc;
    const struct tamis__store_segment *newest = newest_of(filter);
    if (newest->kind->contains(&newest->segment, key, key_bytes)) return 1;
    return filter->segment_count > 1 ? in_older(filter, key, key_bytes) : 0;
}

TAMIS_API int tamis_filter_add(tamis_filter *filter, const void *key, size_t key_bytes)
{
    if (__builtin_expect(key == NULL && key_bytes > 0, 0)) return fail_null_key(0);
    if (__builtin_expect(filter->read_only, 0)) return fail_read_only(filter);
    const int rc = check_epoch(filter);
    if (__builtin_expect(rc < 0, 0)) return rc;
    const struct tamis__store_segment *newest = newest_of(filter);
    if (filter->segment_count > 1 && in_older(filter, key, key_bytes)) return 0;
    if (!newest->kind->add(&newest->segment, key, key_bytes)) return 0;
    TAMIS__POINT(TAMIS__POINT_COUNT);
    tamis__segment_count(&newest->segment, 1);
    return 1;
}

/* ---- Batches --------------------------------------------------------------------------------- */

static int check_keys(const struct tamis_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (__builtin_expect(keys[i].data == NULL && keys[i].bytes > 0, 0)) return fail_null_key(i);
    return 0;
}

/* The keys of a chunk that no segment has answered yes to, moved together. */
struct open_keys {
    struct tamis_key keys[CHUNK];
    uint16_t index[CHUNK];
    uint8_t answers[CHUNK];
    size_t count;
};

static void keep_open(struct open_keys *open, uint8_t *answers)
{
    size_t kept = 0;
    for (size_t i = 0; i < open->count; i++) {
        if (open->answers[i]) {
            answers[open->index[i]] = 1;
            continue;
        }
        open->keys[kept] = open->keys[i];
        open->index[kept++] = open->index[i];
    }
    open->count = kept;
}

/* Ask segments `from` - 1 down to 0; answers of keys found become 1, the others stay in `open`. */
static void ask_older(const struct tamis_filter *filter, uint32_t from, struct open_keys *open,
                      uint8_t *answers)
{
    for (uint32_t i = from; i-- > 0 && open->count > 0;) {
        const struct tamis__store_segment *s = &filter->segments[i];
        if (s->kind->contains_batch(&s->segment, open->keys, open->count, open->answers) > 0)
            keep_open(open, answers);
    }
}

static void open_all(struct open_keys *open, const struct tamis_key *keys, size_t count)
{
    memcpy(open->keys, keys, count * sizeof *keys);
    for (size_t i = 0; i < count; i++)
        open->index[i] = (uint16_t)i;
    open->count = count;
}

static size_t contains_in_list(const struct tamis_filter *filter, const struct tamis_key *keys,
                               size_t count, uint8_t *answers)
{
    struct open_keys open;
    open_all(&open, keys, count);
    memset(answers, 0, count);
    ask_older(filter, filter->segment_count, &open, answers);
    return count - open.count;
}

/* Keys that an older segment has are not new; the others are added to the newest. */
static size_t add_to_list(const struct tamis_filter *filter, const struct tamis_key *keys,
                          size_t count, uint8_t *answers)
{
    const struct tamis__store_segment *newest = newest_of(filter);
    struct open_keys open;
    open_all(&open, keys, count);
    memset(answers, 0, count);
    ask_older(filter, filter->segment_count - 1, &open, answers);
    memset(answers, 0, count);
    const size_t fresh =
        newest->kind->add_batch(&newest->segment, open.keys, open.count, open.answers);
    keep_open(&open, answers);
    return fresh;
}

static size_t contains_chunk(const struct tamis_filter *filter, const struct tamis_key *keys,
                             size_t count, uint8_t *answers)
{
    const struct tamis__store_segment *newest = newest_of(filter);
    if (filter->segment_count > 1) return contains_in_list(filter, keys, count, answers);
    return newest->kind->contains_batch(&newest->segment, keys, count, answers);
}

static size_t add_chunk(const struct tamis_filter *filter, const struct tamis_key *keys,
                        size_t count, uint8_t *answers)
{
    const struct tamis__store_segment *newest = newest_of(filter);
    if (filter->segment_count > 1) return add_to_list(filter, keys, count, answers);
    return newest->kind->add_batch(&newest->segment, keys, count, answers);
}

typedef size_t chunk_fn(const struct tamis_filter *filter, const struct tamis_key *keys,
                        size_t count, uint8_t *answers);

static int64_t run_batch(struct tamis_filter *filter, const struct tamis_key *keys, size_t count,
                         uint8_t *answers, chunk_fn *chunk)
{
    uint8_t unasked[CHUNK];
    int64_t ones = 0;
    int rc = check_keys(keys, count);
    if (rc == 0) rc = check_epoch(filter);
    if (rc < 0) return rc;
    for (size_t done = 0; done < count;) {
        const size_t now = count - done < CHUNK ? count - done : CHUNK;
        ones += (int64_t)chunk(filter, keys + done, now, answers ? answers + done : unasked);
        done += now;
    }
    return ones;
}

TAMIS_API int64_t tamis_filter_contains_batch(tamis_filter *filter, const struct tamis_key *keys,
                                              size_t count, uint8_t *answers)
{
    return run_batch(filter, keys, count, answers, contains_chunk);
}

TAMIS_API int64_t tamis_filter_add_batch(tamis_filter *filter, const struct tamis_key *keys,
                                         size_t count, uint8_t *answers)
{
    if (filter->read_only) return fail_read_only(filter);
    return run_batch(filter, keys, count, answers, add_chunk);
}

/* ---- Checkpoint ------------------------------------------------------------------------------ */

TAMIS_API int tamis_filter_sync(tamis_filter *filter)
{
    const int64_t now =
        tamis__now_ns(); /* before the writes: what comes later may not be in them */
    if (filter->read_only) return fail_read_only(filter);
    int rc = check_epoch(filter);
    for (uint32_t i = 0; rc == 0 && i < filter->segment_count; i++)
        rc = tamis__segment_sync(&filter->store->place, &filter->segments[i].segment);
    return rc == 0 ? record_items(filter, now) : rc;
}
