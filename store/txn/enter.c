/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * enter.c: see enter.h.  These calls make a filter:
 *
 *     tamis__draft_init      makes a header from a description
 *     tamis__draft_stage     makes its file in staging/, allocated in full
 *                            (an import writes the data into it)
 *     tamis__drafts_enter    makes one commit under the catalog's exclusive lock (commit.h)
 *
 * What may take long is done before the lock is taken.  Whatever fails, nothing is left behind: the
 * staged files are removed, and so are those that had got their names.  What a crash leaves in
 * staging/ is removed by the next maker (segment.h).  What it leaves in segments/ is removed by the
 * next writer.
 */
#include "txn/enter.h"

#include "txn/write.h"

/* Makes the record of the new filter, and the commit of it, under the lock. */
static int describe(struct tamis_store *store, struct tamis__catalog_txn *txn,
                    const struct tamis__entry *entry, struct tamis__record *record,
                    struct tamis__commit *commit)
{
    int rc = tamis__catalog_get(txn, entry->name, record);
    if (rc == 0) return tamis__fail_exists(entry->name);
    if (rc != TAMIS_ENOTFOUND) return rc;
    const int64_t now = tamis__now_ns();
    *record = (struct tamis__record){.name_sequence = 1,
                                     .generation = 1,
                                     .last_generation = 1,
                                     .keep = TAMIS_KEEP_DEFAULT,
                                     .capacity = entry->capacity,
                                     .fp_rate = entry->fp_rate,
                                     .created_at = entry->created_at ? entry->created_at : now,
                                     .published_at = now,
                                     .policy = entry->policy,
                                     .owned = entry->owned};
    if (entry->index != NULL) record->exception_count = tamis__header_items(&entry->index->header);
    memcpy(record->key_digest, entry->key_digest, sizeof record->key_digest);
    (void)snprintf(record->name, sizeof record->name, "%s", entry->name);
    *commit = (struct tamis__commit){.store = store,
                                     .txn = txn,
                                     .after = record,
                                     .come = TAMIS__COME_LIST,
                                     .drafts = entry->drafts,
                                     .count = entry->count,
                                     .filled = entry->filled,
                                     .index = entry->index,
                                     .opened = entry->opened,
                                     .context = entry->context};
    return 0;
}

static int enter_under_lock(struct tamis_store *store, struct tamis__catalog_txn *txn,
                            const struct tamis__entry *entry)
{
    struct tamis__record record;
    struct tamis__commit commit;
    const int rc = describe(store, txn, entry, &record, &commit);
    return rc < 0 ? rc : tamis__commit(&commit);
}

int tamis__drafts_enter(struct tamis_store *store, const struct tamis__entry *entry)
{
    struct tamis__catalog_txn *txn;
    int rc = tamis__store_begin_write(store, &txn);
    if (rc == 0) {
        rc = enter_under_lock(store, txn, entry);
        tamis__catalog_end(txn);
    }
    tamis__drafts_discard(store, entry->drafts, entry->count);
    if (entry->index != NULL) tamis__drafts_discard(store, entry->index, 1);
    return rc;
}

static int enter_many_under_lock(struct tamis_store *store, struct tamis__catalog_txn *txn,
                                 const struct tamis__entry *entries, uint32_t count)
{
    struct tamis__record *records = malloc(count * sizeof *records); /* describe() fills them */
    struct tamis__commit *commits = calloc(count, sizeof *commits);
    int rc = records != NULL && commits != NULL
                 ? 0
                 : tamis__fail(TAMIS_ENOMEM, "out of memory making %u filters", (unsigned)count);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        rc = describe(store, txn, &entries[i], &records[i], &commits[i]);
        commits[i].filled = true;
    }
    if (rc == 0) rc = tamis__commit_many(commits, count);
    free(records);
    free(commits);
    return rc;
}

int tamis__drafts_enter_many(struct tamis_store *store, const struct tamis__entry *entries,
                             uint32_t count)
{
    struct tamis__catalog_txn *txn;
    int rc = tamis__store_begin_write(store, &txn);
    if (rc == 0) {
        rc = enter_many_under_lock(store, txn, entries, count);
        tamis__catalog_end(txn);
    }
    for (uint32_t i = 0; i < count; i++)
        tamis__drafts_discard(store, entries[i].drafts, entries[i].count);
    return rc;
}

int tamis__look_up_name(const struct tamis_store *store, const char *name)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    tamis__catalog_end(txn);
    return rc;
}

int tamis__check_absent(struct tamis_store *store, const char *name)
{
    const int rc = tamis__look_up_name(store, name);
    if (rc == TAMIS_ENOTFOUND) return 0;
    return rc < 0 ? rc : tamis__fail_exists(name);
}
