/* SPDX-License-Identifier: BSD-2-Clause */
/* drop.c: drops a filter, or many at once, or gives a filter another name. */
#include "filter/points.h"
#include "segment/live.h"
#include "txn/files.h"
#include "txn/replay.h"
#include "txn/spares.h"
#include "txn/write.h"

/* What is to be done for a filter that is dropped, once that is committed. */
struct dropped {
    uint64_t filter_id;
    uint64_t newest; /* number of its last segment */
    bool is_durable;
};

/* Filters that are to be dropped. */
struct unwanted {
    const char *const *names;
    const int64_t *created_at; /* NULL: whenever they were created */
    size_t count;
};

/* Takes one of them out of the catalog; nothing is committed yet.  TAMIS_ENOTFOUND comes without a
 * sentence. */
static int forget(struct tamis_store *store, struct tamis__catalog_txn *txn,
                  const struct unwanted *unwanted, size_t index, struct tamis__numbers *files,
                  struct dropped *dropped)
{
    struct tamis__record record;
    int rc = tamis__store_get(store, txn, unwanted->names[index], &record);
    if (rc == 0 && unwanted->created_at != NULL && unwanted->created_at[index] != record.created_at)
        return TAMIS_ENOTFOUND;
    if (rc == 0) rc = tamis__spares_take_back(store, txn, &record, files);
    if (rc == 0) rc = tamis__forget_all(txn, &record, files);
    if (rc == 0) rc = tamis__raise_epochs(store, &record);
    if (rc == 0)
        *dropped = (struct dropped){.filter_id = record.filter_id,
                                    .newest = record.segments[record.segment_count - 1].number,
                                    .is_durable = record.policy.durable};
    return rc;
}

/* Commits that filters were forgotten, and tells their handles. */
static int commit(struct tamis_store *store, struct tamis__catalog_txn *txn,
                  const struct dropped *dropped, size_t count)
{
    TAMIS__POINT(TAMIS__POINT_DROP_EPOCH);
    const int rc = tamis__catalog_commit(txn);
    if (rc < 0) return rc;
    /* The epoch alone does not do: a handle that finds the lock taken by the next writer goes on.
     */
    for (size_t i = 0; i < count; i++)
        (void)tamis__segment_tell(&store->place, dropped[i].newest,
                                  offsetof(struct tamis__live, next), TAMIS__NEXT_DROPPED);
    TAMIS__POINT(TAMIS__POINT_DROP_UNLINK);
    /* Forgets the logs of dead handles; a live handle removes its own. */
    for (size_t i = 0; i < count; i++)
        if (dropped[i].is_durable) (void)tamis__logs_forget(store, dropped[i].filter_id);
    return 0;
}

/* Ends the transaction.  Removing the files may take long.  They are noted as garbage, so the next
 * writer may come first. */
static void end(struct tamis_store *store, struct tamis__catalog_txn *txn,
                struct tamis__numbers *files, int rc)
{
    tamis__catalog_end(txn);
    if (rc == 0) tamis__remove_files(store, files);
    free(files->list);
}

TAMIS_API int tamis_filter_drop(tamis_store *store, const char *name)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__numbers files = {0};
    struct tamis__catalog_txn *txn;
    struct dropped dropped;
    const struct unwanted unwanted = {.names = &name, .count = 1};
    int rc = tamis__check_name(name);
    if (rc < 0) return rc;
    rc = tamis__store_begin_write(store, &txn);
    if (rc < 0) return rc;
    rc = forget(store, txn, &unwanted, 0, &files, &dropped);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_no_filter(store, name);
    if (rc == 0) rc = commit(store, txn, &dropped, 1);
    end(store, txn, &files, rc);
    return rc;
}

/* Forgets the filters that are there.  Returns how many, or an error. */
static int forget_many(struct tamis_store *store, struct tamis__catalog_txn *txn,
                       const struct unwanted *unwanted, struct tamis__numbers *files,
                       struct dropped *dropped)
{
    int found = 0;
    for (size_t i = 0; i < unwanted->count; i++) {
        const int rc = forget(store, txn, unwanted, i, files, &dropped[found]);
        if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
        found += rc == 0;
    }
    return found;
}

/* How many are dropped in one change: other writers wait for as long. */
#define BATCH ((size_t)1000)

/* Drops a batch.  Returns how many were there. */
static int drop_batch(struct tamis_store *store, const struct unwanted *unwanted,
                      struct dropped *dropped)
{
    struct tamis__numbers files = {0};
    struct tamis__catalog_txn *txn;
    int rc = tamis__store_begin_write(store, &txn);
    if (rc < 0) return rc;
    const int found = forget_many(store, txn, unwanted, &files, dropped);
    rc = found > 0 ? commit(store, txn, dropped, (size_t)found) : found;
    end(store, txn, &files, rc);
    return rc < 0 ? rc : found;
}

TAMIS_API int64_t tamis_filter_drop_many(tamis_store *store, const char *const *names,
                                         const int64_t *created_at, size_t count)
{
    TAMIS__REFUSE_NULL(store, "store");
    if (count > 0) TAMIS__REFUSE_NULL(names, "names");
    int64_t all = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = tamis__check_name(names[i]);
    if (rc < 0 || count == 0) return rc;
    struct dropped *dropped = calloc(count < BATCH ? count : BATCH, sizeof *dropped);
    if (dropped == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory dropping filters");
    for (size_t from = 0; rc >= 0 && from < count; from += BATCH) {
        const struct unwanted batch = {.names = names + from,
                                       .created_at = created_at != NULL ? created_at + from : NULL,
                                       .count = count - from < BATCH ? count - from : BATCH};
        rc = drop_batch(store, &batch, dropped);
        all += rc;
    }
    free(dropped);
    return rc < 0 ? rc : all;
}

/* Writes the new name into the segments.  If this fails, the next open for writing does it. */
static void relabel(struct tamis_store *store, const struct tamis__record *record,
                    const struct tamis__numbers *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct tamis__segment segment;
        if (tamis__segment_open(&store->place, files->list[i], true, &segment) < 0) continue;
        (void)tamis__segment_relabel(&store->place, &segment, record->name_sequence, record->name);
        tamis__segment_close(&segment);
    }
}

static int rename_record(struct tamis_store *store, struct tamis__catalog_txn *txn,
                         struct tamis__record *record, const char *new_name)
{
    struct tamis__numbers files = {0};
    int rc = tamis__list_files(txn, record, &files);
    if (rc == 0) rc = tamis__catalog_forget(txn, record);
    record->name_sequence++;
    (void)snprintf(record->name, sizeof record->name, "%s", new_name);
    if (rc == 0) rc = tamis__catalog_put(txn, record);
    if (rc == 0) rc = tamis__catalog_commit(txn);
    if (rc == 0) {
        TAMIS__POINT(TAMIS__POINT_RENAME_LABEL);
        relabel(store, record, &files);
    }
    free(files.list);
    return rc;
}

TAMIS_API int tamis_filter_rename(tamis_store *store, const char *old_name, const char *new_name)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__catalog_txn *txn;
    struct tamis__record record, other;
    int rc = tamis__check_name(old_name);
    if (rc == 0) rc = tamis__check_name(new_name);
    if (rc == 0) rc = tamis__store_begin_write(store, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, txn, old_name, &record);
    if (rc == TAMIS_ENOTFOUND) {
        rc = tamis__fail_no_filter(store, old_name);
    } else if (rc == 0) {
        rc = tamis__catalog_get(txn, new_name, &other);
        if (rc == 0)
            rc = tamis__fail_exists(new_name);
        else if (rc == TAMIS_ENOTFOUND) /* what a server owns has the name of its key */
            rc = record.owned ? 0 : tamis__check_new_name(new_name);
        if (rc == 0) rc = rename_record(store, txn, &record, new_name);
    }
    tamis__catalog_end(txn);
    return rc;
}
