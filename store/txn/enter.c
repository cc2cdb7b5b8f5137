/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * enter.c: see enter.h.
 *
 *     tamis__draft_init      a header from a description
 *     tamis__draft_stage     its file, allocated in full, in staging/
 *     (an import writes the data into it)
 *     tamis__drafts_enter    under the catalog's exclusive lock: one commit (commit.h)
 *
 * What may take long is done before the lock is taken.  Whatever fails, nothing is left behind: the
 * files that were staged go, and so do those that had got their names.  What a crash leaves in
 * staging/ is swept by the next maker (segment.h), what it leaves in segments/ by the next writer.
 */
#include "txn/enter.h"

#include <stdio.h>

#include "base/error.h"
#include "txn/write.h"

/* Under the lock. */
static int enter(struct tamis_store *store, struct tamis__catalog_txn *txn,
                 const struct tamis__entry *entry)
{
    struct tamis__record record;
    int rc = tamis__catalog_get(txn, entry->name, &record);
    if (rc == 0) return tamis__fail_exists(entry->name);
    if (rc != TAMIS_ENOTFOUND) return rc;
    record = (struct tamis__record){.name_sequence = 1,
                                    .generation = 1,
                                    .last_generation = 1,
                                    .keep = TAMIS_KEEP_DEFAULT,
                                    .capacity = entry->capacity,
                                    .fp_rate = entry->fp_rate,
                                    .created_at = tamis__now_ns(),
                                    .published_at = tamis__now_ns(),
                                    .policy = entry->policy};
    (void)snprintf(record.name, sizeof record.name, "%s", entry->name);
    struct tamis__commit commit = {.store = store,
                                   .txn = txn,
                                   .after = &record,
                                   .come = TAMIS__COME_LIST,
                                   .drafts = entry->drafts,
                                   .count = entry->count,
                                   .filled = entry->filled,
                                   .opened = entry->opened,
                                   .context = entry->context};
    return tamis__commit(&commit);
}

int tamis__drafts_enter(struct tamis_store *store, const struct tamis__entry *entry)
{
    struct tamis__catalog_txn *txn;
    int rc = tamis__store_begin_write(store, &txn);
    if (rc == 0) {
        rc = enter(store, txn, entry);
        tamis__catalog_end(txn);
    }
    tamis__drafts_discard(store, entry->drafts, entry->count);
    return rc;
}

int tamis__check_absent(struct tamis_store *store, const char *name)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    tamis__catalog_end(txn);
    if (rc == TAMIS_ENOTFOUND) return 0;
    return rc < 0 ? rc : tamis__fail_exists(name);
}
