/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create_many.c: makes many filters, a batch at a time.
 *
 * To make a filter takes some five syncs, each of which may wait for the disk.  The files of a
 * batch go through one transaction of the file system's log, a few threads wait for them, and the
 * batch has two commits of the catalog (txn/commit.c: the files are noted as garbage first, so that
 * nothing is left of a maker that dies).
 */
#include <stdlib.h>

#include "filter/create.h"
#include "hash/hash_set.h"
#include "txn/spares.h"
#include "txn/store.h"

/* A batch holds a descriptor for each file that it stages, and the store's lock while it names
 * them. */
#define BATCH 256u

struct batch {
    struct tamis_store *store;
    const char *const *names;
    uint32_t count;
    const struct tamis_filter_spec *spec;
    unsigned flags;
    /* The plan of the last filter, which is that of the next one too. */
    bool has_plan;
    struct tamis__plan plan;
    /* Of those that are to be made. */
    uint32_t made;
    struct tamis__draft *drafts;
    struct tamis__entry *entries;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Neither name is in the catalog yet, so the transaction would not notice. */
static int check_twins(const struct batch *b)
{
    const char *sorted[BATCH] = {NULL};
    char quoted[TAMIS__QUOTED_BYTES];
    for (uint32_t i = 0; i < b->count; i++)
        sorted[i] = b->names[i];
    qsort(sorted, b->count, sizeof *sorted, compare_names);
    for (uint32_t i = 1; i < b->count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return tamis__fail(TAMIS_EINVAL, "the name %s comes twice; give each name once",
                               tamis__quote(quoted, sorted[i]));
    return 0;
}

/* Makes a plan, by a computation that takes some 10 us, or takes the last one.  A plan with a
 * secret that it drew is for one filter. */
static int plan_one(struct batch *b, const char *name)
{
    if (b->has_plan) return tamis__check_name(name);
    const int rc = tamis__create_plan(name, b->spec, &b->plan);
    b->has_plan = rc == 0 && !(b->plan.hash_set->keyed && b->plan.any_secret);
    return rc;
}

/* Plans and describes a filter, if it is to be made: it is not if it is there already, and may
 * be. */
static int describe_one(struct batch *b, struct tamis__catalog_txn *txn, const char *name)
{
    struct tamis__record record;
    int rc = plan_one(b, name);
    if (rc < 0) return rc;
    rc = tamis__store_get(b->store, txn, name, &record);
    if (rc == 0)
        return (b->flags & TAMIS_MANY_IF_MISSING) != 0
                   ? tamis__create_compare(name, &b->plan, &record)
                   : tamis__fail_exists(name);
    if (rc != TAMIS_ENOTFOUND) return rc;
    rc = b->plan.owned ? 0 : tamis__check_new_name(name);
    if (rc < 0) return rc;
    tamis__create_describe(b->store, name, &b->plan, &b->drafts[b->made], &b->entries[b->made]);
    b->made++;
    return 0;
}

/* Plans and describes all that are to be made. */
static int plan_batch(struct batch *b)
{
    struct tamis__catalog_txn *txn;
    uint64_t bytes = 0;
    int rc = tamis__catalog_begin(&b->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    b->made = 0;
    for (uint32_t i = 0; rc == 0 && i < b->count; i++)
        rc = describe_one(b, txn, b->names[i]);
    tamis__catalog_end(txn);
    if (rc < 0 || b->made == 0) return rc;
    for (uint32_t i = 0; i < b->made; i++)
        if (__builtin_add_overflow(bytes, b->drafts[i].header.file_bytes, &bytes))
            bytes = UINT64_MAX;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the caller has refused NULL
    return tamis__create_check_room(b->store->root_fd, bytes, b->entries[b->made - 1].name);
}

static int stage_batch(struct batch *b)
{
    int rc = 0;
    uint32_t staged = 0;
    while (rc == 0 && staged < b->made) {
        struct tamis__draft *draft = &b->drafts[staged];
        rc = staged == 0 ? tamis__draft_stage(b->store, draft)
                         : tamis__draft_stage_more(b->store, draft);
        staged += rc == 0;
    }
    if (rc < 0) tamis__drafts_discard(b->store, b->drafts, staged);
    return rc;
}

static int make_batch(struct batch *b)
{
    int rc = check_twins(b);
    do { /* again if another process made one of them in between */
        if (rc == 0 || rc == TAMIS_EEXIST) rc = plan_batch(b);
        if (rc == 0 && b->made > 0) rc = stage_batch(b);
        if (rc == 0 && b->made > 0) rc = tamis__drafts_enter_many(b->store, b->entries, b->made);
    } while (rc == TAMIS_EEXIST && (b->flags & TAMIS_MANY_IF_MISSING) != 0);
    return rc;
}

/* `is_ours`: no server owns the filters, whose names are those of its keys. */
static int check_arguments(tamis_store *store, const char *const *names, size_t count, bool is_ours,
                           unsigned flags)
{
    TAMIS__REFUSE_NULL(store, "store");
    if ((flags & ~(uint32_t)TAMIS_MANY_IF_MISSING) != 0)
        return tamis__fail(TAMIS_EINVAL,
                           "tamis_filter_create_many flags %#x: use 0 or TAMIS_MANY_IF_MISSING",
                           flags);
    if (count > 0) TAMIS__REFUSE_NULL(names, "names");
    int rc = tamis__check_writable(store);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        TAMIS__REFUSE_NULL(names[i], "a name");
        /* Before the first batch is made.  What is there already may have any name. */
        rc = is_ours && flags == 0 ? tamis__check_new_name(names[i]) : tamis__check_name(names[i]);
    }
    return rc;
}

TAMIS_API int64_t tamis_filter_create_many(tamis_store *store, const char *const *names,
                                           size_t count, const struct tamis_filter_spec *spec,
                                           uint32_t flags)
{
    int64_t made = 0;
    const bool is_ours = spec == NULL || (spec->flags & TAMIS_FILTER_OWNED) == 0;
    int rc = check_arguments(store, names, count, is_ours, flags);
    if (rc < 0 || count == 0) return rc;
    struct batch b = {.store = store,
                      .spec = spec,
                      .flags = flags,
                      .drafts = calloc(BATCH, sizeof *b.drafts),
                      .entries = calloc(BATCH, sizeof *b.entries)};
    if (b.drafts == NULL || b.entries == NULL)
        rc = tamis__fail(TAMIS_ENOMEM, "out of memory making many filters");
    for (size_t at = 0; rc == 0 && at < count; at += b.count) {
        b.names = names + at;
        b.count = count - at < BATCH ? (uint32_t)(count - at) : BATCH;
        rc = make_batch(&b);
        if (rc == 0) made += b.made;
    }
    free(b.drafts);
    free(b.entries);
    return rc < 0 ? rc : made;
}
