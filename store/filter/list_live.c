/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_live.c: lists filters with what their segments say now.
 *
 * tamis_store_list() tells what the catalog has, and adders bring their counts to the catalog only
 * at a checkpoint.  Here the headers are read too, with one pread for each segment.  No file is
 * mapped, and the catalog's lock is given back before, so that nobody waits for 10,000 files.  A
 * filter whose headers cannot be read is listed as the catalog has it.  Its headers are then read
 * once more under the lock; if they are damaged, the filter is listed as damaged.
 *
 * A watch does this again and again.  It keeps the records, and reads the catalog only when its
 * file has changed.  It also keeps what it saw of each segment, so that it can tell how many keys
 * were NEW since the look before, whatever a window has forgotten meanwhile.
 */
#include "filter/gains.h"
#include "filter/stat.h"
#include "txn/recover.h"
#include "txn/spares.h"
#include "txn/store.h"

/* A filter of the catalog.  A record with its longest name and key rule has a kilobyte, so it is
 * kept as the catalog has it: some 370 bytes. */
struct listed {
    struct listed *next;
    struct tamis__trouble trouble;
    size_t name_bytes, value_bytes;
    char name_and_value[];
};

struct tamis_watch {
    struct tamis_store *store;
    char *prefix;
    struct listed *first, **end;
    struct tamis__catalog_txn *txn; /* while they are collected */
    bool is_filled;                 /* the catalog was read */
    bool is_sure;                   /* ... and `file` is not the state before a later change, too */
    struct tamis__file_info file;   /* of the catalog, when it was read */
    struct tamis__gains gains;
};

static int collect_record(void *context, const struct tamis__record *record)
{
    struct tamis_watch *watch = context;
    unsigned char value[TAMIS__RECORD_BYTES_MAX];
    const struct tamis__bytes name = {record->name, strlen(record->name)};
    const size_t bytes = tamis__record_encode(record, name, value);
    struct listed *listed = malloc(sizeof *listed + name.count + bytes);
    if (listed == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory listing the filters");
    listed->next = NULL;
    listed->name_bytes = name.count;
    listed->value_bytes = bytes;
    memcpy(listed->name_and_value, record->name, name.count);
    memcpy(listed->name_and_value + name.count, value, bytes);
    *watch->end = listed;
    watch->end = &listed->next;
    return tamis__catalog_get_trouble(watch->txn, record->filter_id, &listed->trouble);
}

static int unpack_record(const struct listed *listed, struct tamis__record *record)
{
    const char *reason = "";
    const struct tamis__bytes name = {listed->name_and_value, listed->name_bytes};
    const struct tamis__bytes value = {listed->name_and_value + name.count, listed->value_bytes};
    memcpy(record->name, name.data, name.count);
    record->name[name.count] = '\0';
    const int rc = tamis__record_decode(name, value, record, &reason);
    return rc < 0 ? tamis__fail(rc, "the record of filter '%s' %s", record->name, reason) : 0;
}

/* Does this error tell of damage, and not only that a file could not be read? */
static bool is_damage(int error)
{
    return error == TAMIS_ECORRUPT || error == TAMIS_EFOREIGN || error == TAMIS_ENOTFOUND;
}

static int judge_filter(const struct tamis_store *store, const struct tamis__record *record,
                        uint32_t index, struct tamis__segment_header *header)
{
    const struct tamis__listed_segment *segment = &record->segments[index];
    const int rc = tamis__segment_judge(&store->place, segment->number, header);
    if (rc < 0) return rc;
    return header->filter_id != record->filter_id ||
                   tamis__record_contradiction(segment, header) != NULL
               ? TAMIS_ECORRUPT
               : 0;
}

/* Is a segment of the filter damaged?  Looks under the catalog's lock, under which none of them
 * goes away.  Without waiting, "no" may mean that somebody else has the lock. */
static bool is_damaged(struct tamis_store *store, uint64_t filter_id, bool waits)
{
    struct tamis__segment_header header;
    struct tamis__catalog_txn *txn;
    bool damaged = false;
    struct tamis__record *record = malloc(sizeof *record); /* too large for the stack */
    if (record == NULL ||
        tamis__catalog_try_begin(&store->catalog, TAMIS__LOCK_SHARED, waits, &txn) <= 0) {
        free(record);
        return false;
    }
    const int rc = tamis__store_get_by_id(store, txn, filter_id, record);
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++)
        damaged = damaged || is_damage(judge_filter(store, record, i, &header));
    tamis__catalog_end(txn);
    free(record);
    return damaged;
}

/* Brings the record up to what the headers say, and the trouble too if all of them can be read.
 * Fills in *stat from both. */
static int refresh_record(struct tamis_watch *watch, struct tamis__record *record,
                          struct tamis__trouble *trouble, bool waits,
                          struct tamis_filter_stat *stat)
{
    struct tamis_store *store = watch->store;
    struct tamis__segment_header header;
    uint64_t new_keys = 0;
    const int seen = tamis__gains_filter(&watch->gains, record->filter_id);
    bool anew = seen != 1; /* what it has when it is seen first was not added since */
    int64_t gain = seen < 0 ? seen : 0;
    int rc = 0;
    struct tamis__trouble now = {.damaged_since = trouble->damaged_since,
                                 .missing_keys = trouble->missing_keys};
    bool all = true, damaged = false;
    tamis__record_promote(&store->place, record);
    for (uint32_t i = 0; gain >= 0 && i < record->segment_count; i++) {
        struct tamis__listed_segment *segment = &record->segments[i];
        rc = judge_filter(store, record, i, &header);
        all = all && rc == 0;
        damaged = damaged || is_damage(rc);
        if (rc == 0) {
            segment->items = tamis__header_items(&header);
            segment->file_bytes = tamis__header_file_bytes(&header);
            tamis__add_trouble(&now, &header);
        }
        gain = tamis__gains_segment(&watch->gains, record, i, rc == 0 ? &header : NULL, &anew);
        new_keys += gain > 0 ? (uint64_t)gain : 0;
    }
    if (gain < 0) return (int)gain;
    if (all) *trouble = now;
    if (damaged && trouble->damaged_since == 0 && is_damaged(store, record->filter_id, waits))
        trouble->damaged_since = tamis__now_ns();
    tamis__stat_from_record(store, record, rc == 0 ? &header : NULL,
                            stat); /* the newest was last */
    stat->new_keys = new_keys;
    return 0;
}

/* ---- A watch --------------------------------------------------------------------------------- */

static void forget(struct tamis_watch *watch)
{
    for (struct listed *next, *listed = watch->first; listed != NULL; listed = next) {
        next = listed->next;
        free(listed);
    }
    watch->first = NULL;
    watch->end = &watch->first;
}

static bool has_changed(const struct tamis_watch *watch)
{
    struct tamis__file_info now;
    if (!watch->is_sure || tamis__catalog_file(&watch->store->catalog, &now) < 0) return true;
    return now.device != watch->file.device || now.inode != watch->file.inode ||
           now.bytes != watch->file.bytes || now.written_ns != watch->file.written_ns ||
           now.changed_ns != watch->file.changed_ns;
}

/* Reads the records anew.  With the lock no writer changes the file meanwhile. */
static int collect_all(struct tamis_watch *watch)
{
    const int begun = tamis__catalog_try_begin(&watch->store->catalog, TAMIS__LOCK_SHARED,
                                               !watch->is_filled, &watch->txn);
    if (begun <= 0) return begun;
    forget(watch);
    int rc = tamis__catalog_file(&watch->store->catalog, &watch->file);
    watch->is_sure = rc == 0 && !tamis__catalog_is_racy(&watch->file);
    rc = tamis__catalog_each(watch->txn, watch->prefix, collect_record, watch);
    tamis__catalog_end(watch->txn);
    watch->is_filled = rc == 0;
    watch->is_sure = watch->is_sure && rc == 0;
    return rc;
}

static int look_at_all(struct tamis_watch *watch, bool waits, tamis_list_fn *fn, void *context)
{
    int rc = has_changed(watch) ? collect_all(watch) : 0;
    struct tamis__record *record = malloc(sizeof *record); /* too large for the stack */
    if (record == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory listing the filters");
    tamis__gains_begin(&watch->gains);
    for (const struct listed *listed = watch->first; rc == 0 && listed != NULL;
         listed = listed->next) {
        struct tamis_filter_stat stat;
        struct tamis__trouble trouble = listed->trouble;
        rc = unpack_record(listed, record);
        if (rc == 0) rc = refresh_record(watch, record, &trouble, waits, &stat);
        if (rc < 0) break;
        tamis__stat_set_trouble(&stat, trouble);
        rc = fn(context, &stat);
    }
    tamis__gains_end(&watch->gains, rc == 0);
    free(record);
    return rc;
}

TAMIS_API int tamis_watch_new(tamis_store *store, const char *prefix, tamis_watch **watch)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(watch, "watch");
    struct tamis_watch *made = calloc(1, sizeof *made);
    if (made != NULL) made->prefix = strdup(prefix ? prefix : "");
    if (made == NULL || made->prefix == NULL) {
        free(made);
        return tamis__fail(TAMIS_ENOMEM, "out of memory for a watch");
    }
    made->store = tamis__store_reference(store);
    made->end = &made->first;
    *watch = made;
    return 0;
}

TAMIS_API int tamis_watch_look(tamis_watch *watch, tamis_list_fn *fn, void *context)
{
    TAMIS__REFUSE_NULL(watch, "watch");
    TAMIS__REFUSE_NULL(fn, "fn");
    return look_at_all(watch, !watch->is_filled, fn, context);
}

TAMIS_API void tamis_watch_free(tamis_watch *watch)
{
    if (watch == NULL) return;
    forget(watch);
    tamis__gains_free(&watch->gains);
    tamis_store_close(watch->store);
    free(watch->prefix);
    free(watch);
}

TAMIS_API int tamis_store_list_live(tamis_store *store, const char *prefix, tamis_list_fn *fn,
                                    void *context)
{
    tamis_watch *watch;
    if (store == NULL || fn == NULL)
        return tamis__fail(TAMIS_EINVAL, "tamis_store_list_live needs a store and a function");
    int rc = tamis_watch_new(store, prefix, &watch);
    if (rc < 0) return rc;
    rc = look_at_all(watch, true, fn, context);
    tamis_watch_free(watch);
    return rc;
}
