/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * restore.c: lists what repairs have put aside (lost.h), puts it back, and forgets it.
 *
 * To put a segment back: its file gets its old name, then the catalog gets the segment, then the
 * note goes.  A process that dies before the commit leaves a file that is in no list, which the
 * next repair finds.
 */
#include "check/lost.h"
#include "check/rescue.h"
#include "segment/live.h"

/* ---- Listing --------------------------------------------------------------------------------- */

struct listing {
    tamis_lost_fn *fn;
    void *context;
    int64_t count;
};

static int tell_lost(void *context, const struct tamis__lost *lost)
{
    struct listing *listing = context;
    const struct tamis_lost_file file = {.size = sizeof file,
                                         .name = lost->name,
                                         .from = lost->from,
                                         .why = lost->why,
                                         .put_at = lost->at,
                                         .bytes = lost->bytes};
    listing->count++;
    return listing->fn != NULL ? listing->fn(listing->context, &file) : 0;
}

TAMIS_API int64_t tamis_store_lost(const char *path, tamis_lost_fn *fn, void *context)
{
    TAMIS__REFUSE_NULL(path, "path");
    struct tamis__repair repair = {.store = tamis__store_new(TAMIS_OPEN_READ_ONLY), .dry = true};
    struct listing listing = {.fn = fn, .context = context};
    int lost_fd = -1;
    if (repair.store == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening the store %s", path);
    repair.flags = TAMIS_REPAIR_FORCE_NETWORK_FS; /* nothing is written */
    int rc = tamis__repair_open(&repair, path);
    if (rc == 0) rc = tamis__lost_open(repair.store, false, &lost_fd);
    if (rc == 0) rc = tamis__lost_each(repair.store, lost_fd, tell_lost, &listing);
    tamis__close(lost_fd);
    tamis_store_close(repair.store);
    if (rc == TAMIS_ENOTFOUND || rc == TAMIS_ENOSTORE) rc = 0;
    return rc != 0 ? rc : listing.count;
}

/* ---- Forgetting ------------------------------------------------------------------------------ */

struct forgetting {
    const struct tamis_store *store;
    int lost_fd;
    int64_t before, count;
};

static int forget_old(void *context, const struct tamis__lost *lost)
{
    struct forgetting *f = context;
    if (lost->at > f->before) return 0;
    f->count++;
    return tamis__lost_forget(f->store, f->lost_fd, lost->name);
}

TAMIS_API int64_t tamis_store_forget_lost(const char *path, int64_t age_ns)
{
    TAMIS__REFUSE_NULL(path, "path");
    if (age_ns < 0) return tamis__fail(TAMIS_EINVAL, "an age is not below 0");
    struct tamis__repair repair;
    struct tamis__private_fd lock;
    struct forgetting f = {.lost_fd = -1, .before = tamis__now_ns() - age_ns};
    int rc = tamis__repair_begin(&repair, path, &lock);
    f.store = repair.store;
    if (rc == 0) rc = tamis__lost_open(repair.store, false, &f.lost_fd);
    if (rc == 0) rc = tamis__lost_each(repair.store, f.lost_fd, forget_old, &f);
    tamis__close(f.lost_fd);
    tamis__repair_end(&repair, &lock);
    if (rc == TAMIS_ENOTFOUND) rc = 0; /* nothing was ever put aside */
    return rc < 0 ? rc : f.count;
}

/* ---- Putting back ---------------------------------------------------------------------------- */

struct restoring {
    struct tamis__repair *repair;
    struct tamis__catalog_txn *txn;
    struct tamis__rescue_work *rescue;
    struct tamis__lost lost;
};

/* Leaves the other strays of the filter out of its lists: nobody has asked for them. */
static int leave_out_others(const struct restoring *r, const struct tamis__lost_filter *filter,
                            uint64_t number)
{
    struct tamis__numbers files = {0};
    int rc = tamis__list_files(r->txn, &r->rescue->record, &files);
    tamis__numbers_sort(&files);
    for (size_t i = 0; rc == 0 && i < filter->count; i++)
        filter->first[i].left_out = filter->first[i].entry.number != number &&
                                    !tamis__numbers_have(&files, filter->first[i].entry.number);
    free(files.list);
    return rc;
}

/* Gives the filter its exceptions back, if it has none. */
static int enter_index(struct restoring *r, const struct tamis__found *found)
{
    struct tamis__rescue_work *rescue = r->rescue;
    struct tamis__record *record = &rescue->record;
    if (record->exceptions != 0)
        return tamis__fail(TAMIS_EEXIST,
                           "filter '%s' has other exceptions by now; the file stays in lost/",
                           record->name);
    const int rc = tamis__rescue_take_index(rescue, found);
    if (rc == 0)
        return tamis__fail(TAMIS_ECORRUPT, "%s is damaged; it stays in lost/", r->lost.name);
    record->publication++;
    return rc < 0 ? rc : tamis__catalog_put(r->txn, record);
}

static int enter_segment(struct restoring *r, struct tamis__found *first,
                         const struct tamis__found *found)
{
    struct tamis__rescue_work *rescue = r->rescue;
    struct tamis__lost_filter filter;
    const uint64_t number = found->entry.number;
    tamis__rescue_describe(rescue, first, &filter);
    int rc = tamis__catalog_get_by_id(r->txn, found->filter_id, &rescue->record);
    if (rc == TAMIS_ENOTFOUND) {
        rc = tamis__rescue_find_name(r->txn, &filter);
        return rc < 0 ? rc : tamis__rescue_filter(rescue, &filter);
    }
    if (rc == 0) rc = leave_out_others(r, &filter, number);
    if (rc == 0 && found->entry.kind == TAMIS__KIND_EXCEPTIONS) return enter_index(r, found);
    if (rc == 0) rc = tamis__rescue_join(rescue, r->txn, &filter);
    if (rc < 0) return rc;
    tamis__numbers_sort(&rescue->taken);
    return tamis__numbers_have(&rescue->taken, number)
               ? 0
               : tamis__rescue_keep(rescue, r->txn, &filter, number);
}

/* Enters the file, which has its old name again, into the catalog. */
static int enter(struct restoring *r, uint64_t number)
{
    struct tamis__repair *repair = r->repair;
    struct tamis__found *first = NULL, *found = NULL;
    int rc = tamis__repair_scan(repair);
    for (size_t i = 0; rc == 0 && found == NULL && i < repair->found_count; i++) {
        struct tamis__found *one = &repair->found[i];
        if (one->store_id != r->rescue->store.store_id) continue;
        if (first == NULL || first->filter_id != one->filter_id) first = one;
        if (one->entry.number == number) found = one;
    }
    for (size_t i = 0; rc == 0 && i < repair->bad_count; i++)
        if (repair->bad[i].number == number)
            rc = tamis__fail(repair->bad[i].error, "%s %s", r->lost.name, repair->bad[i].reason);
    if (rc == 0 && found == NULL)
        rc = tamis__fail(TAMIS_EFOREIGN, "%s is not a segment of this store", r->lost.name);
    if (rc == 0) rc = enter_segment(r, first, found);
    for (size_t i = 0; rc == 0 && i < repair->found_count; i++)
        if (repair->found[i].filter_id == found->filter_id)
            (void)tamis__segment_raise_epoch(&repair->store->place, repair->found[i].entry.number);
    if (rc == 0) rc = tamis__catalog_commit(r->txn);
    if (rc == 0) tamis__rescue_tell(r->rescue);
    return rc;
}

static int restore_segment(struct restoring *r, int lost_fd)
{
    const struct tamis_store *store = r->repair->store;
    const char *name = strchr(r->lost.from, '/') + 1;
    const uint64_t number = tamis__segment_number(name);
    char why[1024];
    r->rescue->store = *tamis__catalog_store(r->txn);
    r->rescue->revives = true;
    int rc = tamis__lost_put_back(store, lost_fd, &r->lost);
    if (rc < 0) return rc;
    rc = enter(r, number);
    if (rc == 0) return 0;
    (void)snprintf(why, sizeof why, "%s", tamis_last_error());
    const int undone = tamis__lost_put(store, "segments", name, r->lost.why);
    return undone < 0 ? undone : tamis__fail(rc, "%s", why);
}

/* A catalog does not go back: what is in force was made from it, or without it. */
static int refuse_catalog(const struct restoring *r)
{
    return tamis__fail(TAMIS_EEXIST,
                       "%s is an older catalog, and the store has another by now; to see what it "
                       "had, copy it over catalog.mdb in a copy of the store",
                       r->lost.name);
}

/* A log belongs where its filter is. */
static int restore_log(struct restoring *r, int lost_fd)
{
    struct tamis__record record;
    uint64_t filter_id = 0, nonce = 0;
    if (!tamis__log_parse_name(strchr(r->lost.from, '/') + 1, &filter_id, &nonce) ||
        tamis__catalog_get_by_id(r->txn, filter_id, &record) < 0)
        return tamis__fail(TAMIS_ENOTFOUND,
                           "the filter of the log %s is not in the catalog; restore that first",
                           r->lost.name);
    return tamis__lost_put_back(r->repair->store, lost_fd, &r->lost);
}

static int restore(struct restoring *r, const char *name)
{
    int lost_fd = -1;
    const struct tamis_store *store = r->repair->store;
    int rc = tamis__lost_open(store, false, &lost_fd);
    if (rc == 0 && strchr(name, '/') == NULL && *name != '.')
        rc = tamis__lost_look(store, lost_fd, name, &r->lost);
    else if (rc == 0)
        rc = TAMIS_ENOTFOUND;
    if (rc == TAMIS_ENOTFOUND)
        rc =
            tamis__fail(rc, "there is no '%s' in %s/lost; 'tamis repair --list-lost' names what is",
                        name, store->place.path);
    else if (rc == 0 && r->lost.from[0] == '\0')
        rc = tamis__fail(TAMIS_ECORRUPT,
                         "the note of %s is missing or damaged; move the file to where it belongs, "
                         "and run 'tamis repair'",
                         name);
    if (rc == 0 && strcmp(r->lost.from, TAMIS__LOST_CATALOG) == 0) rc = refuse_catalog(r);
    if (rc == 0)
        rc = strncmp(r->lost.from, "logs/", 5) == 0 ? restore_log(r, lost_fd)
                                                    : restore_segment(r, lost_fd);
    if (rc == 0) rc = tamis__lost_forget(store, lost_fd, name);
    tamis__close(lost_fd);
    return rc;
}

TAMIS_API int tamis_store_restore_lost(const char *path, const char *name)
{
    TAMIS__REFUSE_NULL(path, "path");
    TAMIS__REFUSE_NULL(name, "name");
    struct tamis__repair repair;
    struct tamis__private_fd lock;
    struct restoring r = {.repair = &repair, .rescue = calloc(1, sizeof *r.rescue)};
    int rc = tamis__repair_begin(&repair, path, &lock);
    if (rc == 0 && r.rescue == NULL)
        rc = tamis__fail(TAMIS_ENOMEM, "out of memory restoring %s", name);
    if (rc == 0)
        rc = tamis__catalog_begin_held(&repair.store->catalog, TAMIS__LOCK_EXCLUSIVE, &r.txn);
    if (rc == 0) {
        r.rescue->repair = &repair;
        r.rescue->txn = r.txn;
        repair.store->store_id = tamis__catalog_store(r.txn)->store_id;
        rc = restore(&r, name);
        tamis__catalog_end(r.txn);
    }
    tamis__rescue_free(r.rescue);
    tamis__repair_end(&repair, &lock);
    return rc;
}
