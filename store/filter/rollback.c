/* SPDX-License-Identifier: BSD-2-Clause */
/* rollback.c: goes back to a generation that is kept beside the one in force, and lists the kept
 * generations. txn/files.h says where they are. */
#include "exceptions/index.h"
#include "filter/change.h"
#include "segment/mark.h"
#include "txn/exceptions.h"
#include "txn/spares.h"

/* ---- Rollback -------------------------------------------------------------------------------- */

/* Sets the sentence for a generation that does not exist.  It names those that do. */
static int fail_no_generation(const struct tamis__record *record, uint64_t wanted,
                              struct tamis__kept *kept)
{
    char list[200] = "", text[24];
    for (size_t i = 0; i < kept->count; i++) {
        (void)snprintf(text, sizeof text, "%s%llu", i ? ", " : "",
                       (unsigned long long)kept->list[i].generation);
        if (strlen(list) + strlen(text) + 5 > sizeof list) {
            (void)strcat(list, " ...");
            break;
        }
        (void)strcat(list, text);
    }
    if (wanted != 0)
        return tamis__fail(
            TAMIS_ENOTFOUND,
            "the filter '%s' has no generation %llu to go back to; in force is %llu, "
            "kept: %s",
            record->name, (unsigned long long)wanted, (unsigned long long)record->generation,
            kept->count ? list : "none");
    return tamis__fail(TAMIS_ENOTFOUND,
                       "the filter '%s' has no generation before %llu, which is in force; kept: %s",
                       record->name, (unsigned long long)record->generation,
                       kept->count ? list : "none");
}

/* Reads the record of the generation to go back to. */
static int choose_generation(struct tamis__catalog_txn *txn, const struct tamis__record *before,
                             uint64_t wanted, struct tamis__record *target)
{
    struct tamis__kept kept = {0};
    uint64_t chosen = 0;
    int rc = tamis__catalog_each_generation(txn, before->filter_id, tamis__note_kept, &kept);
    for (size_t i = 0; i < kept.count; i++) /* the oldest first */
        if (wanted != 0 ? kept.list[i].generation == wanted
                        : kept.list[i].generation < before->generation)
            chosen = kept.list[i].generation;
    if (rc == 0)
        rc = chosen ? tamis__catalog_get_generation(txn, before->filter_id, chosen, target)
                    : fail_no_generation(before, wanted, &kept);
    free(kept.list);
    return rc;
}

/* Describes the kept list as it would be in force now: name, counters and exceptions by hand are
 * those of today. */
static int describe_target(struct tamis__change *change, uint64_t wanted)
{
    const struct tamis__record *before = &change->before;
    struct tamis__exceptions found = {0};
    struct tamis__exceptions_source source = {.open = false};
    struct tamis__catalog_txn *txn;
    int rc = tamis__catalog_begin(&change->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = choose_generation(txn, before, wanted, &change->after);
    if (rc == 0) rc = tamis__exceptions_open(change->store, &change->after, &source);
    tamis__catalog_end(txn);
    if (rc == 0) rc = tamis__exceptions_read(change->store, &source, &found);
    (void)tamis__exceptions_drop_by_hand(&found);
    (void)tamis__exceptions_drop_found(&change->set);
    if (rc == 0) rc = tamis__exceptions_add_set(&change->set, &found);
    if (rc == 0) rc = tamis__exceptions_sort(&change->set);
    tamis__exceptions_clear(&found);
    memcpy(change->after.name, before->name, sizeof before->name);
    change->after.created_at = before->created_at;
    change->after.published_at = tamis__now_ns();
    return rc;
}

/* Checks that the files are there and sound, before they are put in force. */
static int check_kept_list(struct tamis_store *store, const struct tamis__record *record)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++) {
        struct tamis__mapped_segment segment;
        rc = tamis__open_segment(store, record, i, true, &segment);
        if (rc == 0) tamis__close_segment(&segment);
    }
    return rc;
}

/* Syncs the list.  Keys that were added before it was left may only be in memory: a sync since then
 * was for other segments. */
static int sync_list(struct tamis_store *store, const struct tamis__record *record)
{
    int rc = 0;
    for (uint32_t i = 0; rc >= 0 && i < record->segment_count; i++) {
        struct tamis__mapped_segment segment;
        if (record->segments[i].fingerprint_bits != 0) continue; /* never written to */
        if (tamis__open_segment(store, record, i, true, &segment) < 0)
            continue; /* check_kept_list() */
        rc = tamis__mark_checkpoint(&segment.segment);
        tamis__close_segment(&segment);
    }
    return rc < 0 ? rc : 0;
}

static int roll_back_once(struct tamis_store *store, const char *name, uint64_t generation)
{
    struct tamis__change change = {.store = store};
    struct tamis__record kept;
    int rc = tamis__change_load(&change, name);
    if (rc == 0 && change.is_new) rc = tamis__fail_no_filter(store, name);
    if (rc == 0) rc = describe_target(&change, generation);
    if (rc == 0) rc = tamis__change_stage(&change, false);
    if (rc == 0) rc = sync_list(store, &change.after);
    if (rc == 0) rc = tamis__change_lock(&change);
    if (rc == 0) {
        rc = tamis__catalog_get_generation(change.txn, change.before.filter_id,
                                           change.after.generation, &kept);
        if (rc == TAMIS_ENOTFOUND) rc = TAMIS__AGAIN;
    }
    if (rc == 0) {
        change.after.name_sequence = change.before.name_sequence;
        change.after.last_generation = change.before.last_generation;
        change.after.keep = change.before.keep;
        /* What was set of the filter, and not of a generation, is as it is today. */
        change.after.owned = change.before.owned;
        change.after.policy.pages = change.before.policy.pages;
        change.comes_back_with = kept.exceptions;
        change.after.exceptions = 0;
        (void)tamis__change_count(change.store, &change.before);
        rc = check_kept_list(store, &change.after);
    }
    if (rc == 0) rc = tamis__change_commit(&change);
    tamis__change_end(&change);
    return rc;
}

TAMIS_API int tamis_filter_rollback(tamis_store *store, const char *name, uint64_t generation)
{
    TAMIS__REFUSE_NULL(store, "store");
    unsigned tries = 0;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__check_writable(store);
    if (rc < 0) return rc;
    do {
        rc = tamis__change_tried(name, roll_back_once(store, name, generation), &tries);
    } while (rc == TAMIS__AGAIN);
    return rc;
}

/* ---- Listing --------------------------------------------------------------------------------- */

struct listing {
    struct tamis_store *store;
    struct tamis__catalog_txn *txn;
    struct tamis_generation_stat *stats;
    size_t count, room;
    uint64_t in_force;
};

static int list_generation(void *context, const struct tamis__record *record)
{
    struct listing *listing = context;
    struct tamis__exceptions_source source;
    struct tamis_generation_stat *added = tamis__array_add(
        &listing->stats, &listing->count, &listing->room, sizeof *added, "for the generations");
    if (added == NULL) return TAMIS_ENOMEM;
    const int rc = tamis__exceptions_open(listing->store, record, &source);
    struct tamis_generation_stat stat = {.size = sizeof stat,
                                         .generation = record->generation,
                                         .in_force = record->generation == listing->in_force,
                                         .kind = tamis__record_newest(record)->kind,
                                         .segment_count = record->segment_count,
                                         .fp_rate = record->fp_rate,
                                         .published_at = record->published_at};
    if (source.open) stat.exceptions = tamis__index_found(&source.index.segment);
    tamis__exceptions_leave(&source);
    memcpy(stat.key_digest, record->key_digest, sizeof stat.key_digest);
    for (uint32_t i = 0; i < record->segment_count; i++) {
        stat.items += record->segments[i].items;
        stat.size_bytes += record->segments[i].file_bytes;
    }
    *added = stat;
    return rc;
}

static int by_stat(const void *a, const void *b)
{
    const struct tamis_generation_stat *x = a, *y = b;
    return (x->generation > y->generation) - (x->generation < y->generation);
}

TAMIS_API int tamis_filter_generations(tamis_store *store, const char *name,
                                       tamis_generation_fn *fn, void *context)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(fn, "fn");
    struct listing listing = {.store = store};
    struct tamis__record record;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &listing.txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, listing.txn, name, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_no_filter(store, name);
    if (rc == 0) {
        listing.in_force = record.generation;
        rc = list_generation(&listing, &record);
    }
    if (rc == 0)
        rc = tamis__catalog_each_generation(listing.txn, record.filter_id, list_generation,
                                            &listing);
    tamis__catalog_end(listing.txn);
    if (rc == 0) qsort(listing.stats, listing.count, sizeof *listing.stats, by_stat);
    for (size_t i = 0; rc == 0 && i < listing.count; i++)
        rc = fn(context, &listing.stats[i]);
    free(listing.stats);
    return rc;
}
