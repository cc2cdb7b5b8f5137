/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repair.c: repairs a damaged store.
 *
 *     lock      exclusive, over all that follows: nobody makes, drops or publishes meanwhile
 *     catalog   can all of it be read?
 *     scan      read the headers of all segments (scan.c)
 *     fill      if the caller has a backup: take segments that are missing, or have rotted, from it
 *               (fill.c; rot.c looks for rot before the lock is taken)
 *     rescue    if the catalog cannot be read: make a new one from the segments, and put it in the
 *               place of the old one (rescue.c)
 *     clean     report files that are missing; take in, or put aside, files that are in no list
 *               (clean.c, adopt.c, lost.c)
 *
 * A file that cannot be read for no fault of its own (no permission, no descriptors, an error of
 * the disk) stops the repair before anything is changed.  No file that ever had a name in a catalog
 * is removed.  What goes are files that a process that died was making: those in staging/ without a
 * lock, and catalog.mdb.new, which is made under the lock that the repair holds.
 *
 * A dry run takes the shared lock, and goes the same way without changing anything.  If a repair is
 * killed, the next one finds the old catalog or the new one: the new one is renamed into place as a
 * whole.
 */
#include "check/repair.h"

#include <fcntl.h>

#include "check/fill.h"
#include "check/lost.h"
#include "check/rot.h"

#include "os/inside.h"
#include "os/network.h"
#include "os/private_fd.h"
#include "txn/wait.h"

/* ---- The catalog as it is -------------------------------------------------------------------- */

static int read_all(struct tamis__catalog_txn *txn)
{
    int rc = tamis__catalog_each(txn, "", NULL, NULL);
    if (rc == 0) rc = tamis__catalog_each_generation(txn, 0, NULL, NULL);
    return rc < 0 ? rc : tamis__catalog_each_garbage(txn, NULL, NULL);
}

/* Returns 0 if the catalog is sound; otherwise `why` says what is wrong. *known: its counters could
 * be read, into *store. */
static int look_at_catalog(struct tamis__repair *repair, char *why, size_t why_bytes, bool *known,
                           struct tamis__store_record *store)
{
    struct tamis__catalog_txn *txn;
    const struct tamis__catalog *catalog = &repair->store->catalog;
    int rc = tamis__exists(catalog->root_fd, "catalog.mdb", catalog->file_path);
    if (rc < 0) return rc;
    if (rc == 0) {
        (void)snprintf(why, why_bytes, "it was missing");
        return 0;
    }
    rc = tamis__catalog_begin_held(catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc == 0) {
        *known = true;
        *store = *tamis__catalog_store(txn);
        repair->store->store_id = store->store_id;
        rc = read_all(txn);
        tamis__catalog_end(txn);
    }
    if (rc != TAMIS_ECORRUPT && rc != TAMIS_EFOREIGN) return rc;
    struct tamis_error_details details = TAMIS_INIT(struct tamis_error_details);
    (void)tamis_last_error_details(&details);
    /* Without its mend, which is this repair. */
    const size_t mend = *details.mend == '\0' ? 0 : strlen(details.mend) + strlen("; ");
    size_t bytes = strlen(details.sentence);
    if (mend < bytes) bytes -= mend;
    (void)snprintf(why, why_bytes, "%.*s", (int)bytes, details.sentence);
    return 0;
}

/* ---- What dead makers have left -------------------------------------------------------------- */

static int tell_removed(struct tamis__repair *repair, const char *file, int rc)
{
    if (rc < 0) return tamis__repair_tell(repair, "", file, rc, "%s", tamis_last_error());
    return tamis__repair_tell(repair, "", file, 0, "%s: a process that died was making it",
                              repair->dry ? "would be removed" : "is removed");
}

static int remove_left(void *context, const char *name)
{
    struct tamis__repair *repair = context;
    struct tamis__private_fd held;
    const struct tamis__place *place = &repair->store->place;
    char file[TAMIS__FILE_BYTES];
    (void)snprintf(file, sizeof file, "staging/%s", name);
    int rc = tamis__private_open(place->staging_fd, name, repair->dry ? O_RDONLY : O_RDWR, 0, file,
                                 &held);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc == 0) {
        rc = tamis__try_lock(held.fd, TAMIS__LOCK_EXCLUSIVE, file);
        const bool ours = rc == 1;
        if (ours && !repair->dry) rc = tamis__unlink(place->staging_fd, name, file);
        tamis__private_close(&held);
        if (!ours && rc == 0) return 0; /* its maker lives */
    }
    return tell_removed(repair, file, rc);
}

static int sweep_new_catalog(struct tamis__repair *repair)
{
    static const char name[] = "catalog.mdb.new";
    int rc = tamis__exists(repair->store->root_fd, name, name);
    if (rc <= 0) return rc;
    if (!repair->dry) rc = tamis__unlink(repair->store->root_fd, name, name);
    return tell_removed(repair, name, rc);
}

static int sweep_staging(struct tamis__repair *repair)
{
    const struct tamis__place *place = &repair->store->place;
    int rc = sweep_new_catalog(repair);
    if (rc < 0 || place->staging_fd < 0) return rc;
    return tamis__each_name(place->staging_fd, place->path, remove_left, repair);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int open_for_repair(struct tamis__repair *repair, const char *name, int *fd)
{
    struct tamis_store *store = repair->store;
    if (!repair->dry) {
        const int rc = tamis__inside_make_directory(store->root_fd, name, 0, store->place.path);
        if (rc < 0) return rc;
    }
    const int rc =
        tamis__open(store->root_fd, name, O_RDONLY | O_DIRECTORY, 0, store->place.path, fd);
    if (rc == 0) return tamis__inside_check_owner(store->root_fd, *fd, store->place.path);
    return rc == TAMIS_ENOTFOUND ? 0 : rc;
}

/* Is there a catalog, or a directory of segments? */
static int find_store(const struct tamis_store *store)
{
    int rc = tamis__exists(store->root_fd, "catalog.mdb", store->place.path);
    if (rc == 0) rc = tamis__catalog_is_lost(&store->catalog);
    if (rc != 0) return rc < 0 ? rc : 0;
    return tamis__fail(TAMIS_ENOSTORE,
                       "there is no store at '%s', neither a catalog nor segments; name another "
                       "directory",
                       store->place.path);
}

int tamis__repair_open(struct tamis__repair *repair, const char *path)
{
    struct tamis_store *store = repair->store;
    int rc = tamis__absolute_path(path, &store->place.path);
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail(TAMIS_ENOSTORE, "there is no store at '%s'; name another directory",
                           path);
    if (rc == 0)
        rc = tamis__open(AT_FDCWD, store->place.path, O_RDONLY | O_DIRECTORY, 0, path,
                         &store->root_fd);
    if (rc == 0 && (repair->flags & TAMIS_REPAIR_FORCE_NETWORK_FS) == 0)
        rc = tamis__refuse_network(store->root_fd, store->place.path);
    store->place.root_fd = store->root_fd;
    if (rc == 0) rc = tamis__store_init_catalog(store, repair->dry);
    if (rc == 0) rc = find_store(store);
    if (rc == 0) rc = open_for_repair(repair, "segments", &store->place.segments_fd);
    if (rc == 0) rc = open_for_repair(repair, "staging", &store->place.staging_fd);
    if (rc == 0 && store->place.segments_fd < 0)
        rc = tamis__fail(TAMIS_ECORRUPT,
                         "the store's directory %s/segments is missing; restore it from a copy",
                         store->place.path);
    return rc;
}

/* Says after an error that nothing was changed. */
static int stop(int rc)
{
    char why[1024];
    if (rc == TAMIS_EVERSION) return rc; /* its mend is a newer Tamis */
    (void)snprintf(why, sizeof why, "%s", tamis_last_error());
    return tamis__fail(rc, "%s; nothing was changed: when that is mended, run 'tamis repair' again",
                       why);
}

int tamis__repair_begin(struct tamis__repair *repair, const char *path,
                        struct tamis__private_fd *lock)
{
    *lock = (struct tamis__private_fd){.fd = -1};
    *repair = (struct tamis__repair){.store = tamis__store_new(0)};
    if (repair->store == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening the store %s", path);
    const int rc = tamis__repair_open(repair, path);
    return rc < 0 ? rc : tamis__catalog_hold(&repair->store->catalog, TAMIS__LOCK_EXCLUSIVE, lock);
}

void tamis__repair_end(struct tamis__repair *repair, struct tamis__private_fd *lock)
{
    tamis__private_close(lock);
    tamis__repair_clear_scan(repair);
    (void)tamis__repair_tell_notes(repair, -1, NULL, NULL);
    tamis_store_close(repair->store);
}

/* Takes from the backup what is missing, and reads all headers again. */
static int fill(struct tamis__repair *repair, bool lists_known)
{
    bool changed = false;
    if (repair->from == NULL) return 0;
    const int rc = tamis__repair_fill(repair, repair->from, lists_known, &changed);
    if (rc == TAMIS_EIO || tamis__is_of_the_system(rc)) return changed ? rc : stop(rc);
    if (rc < 0) return rc;
    if (!changed) return 0;
    tamis__repair_clear_scan(repair);
    return tamis__repair_scan(repair);
}

/* Repairs, with the lock held. */
static int repair_held(struct tamis__repair *repair, bool *sound)
{
    char why[600] = "";
    bool known = false;
    struct tamis__store_record old;
    int rc = look_at_catalog(repair, why, sizeof why, &known, &old);
    if (rc == 0) rc = tamis__repair_scan(repair);
    if (rc < 0) return stop(rc);
    rc = fill(repair, *why == '\0');
    if (rc < 0) return rc;
    *sound = !repair->dry || *why == '\0';
    const bool anew = *why != '\0' || (repair->flags & TAMIS_REPAIR_REBUILD) != 0;
    if (anew) rc = tamis__rescue(repair, *why ? why : "as it was asked for", known ? &old : NULL);
    if (rc == 0 && !(anew && repair->dry)) rc = tamis__repair_clean(repair);
    return rc < 0 ? rc : sweep_staging(repair);
}

/* ---- What is left ---------------------------------------------------------------------------- */

static bool has_segment(const struct tamis__record *record, const char *file)
{
    const char *slash = strchr(file, '/');
    const uint64_t number = slash ? tamis__segment_number(slash + 1) : 0;
    for (uint32_t i = 0; i < record->segment_count; i++)
        if (record->segments[i].number == number) return true;
    return false;
}

struct kept_file {
    const char *file;
    bool is_kept;
};

static int note_kept_file(void *context, const struct tamis__record *generation)
{
    struct kept_file *kept = context;
    kept->is_kept = kept->is_kept || has_segment(generation, kept->file);
    return 0;
}

/* Says what can be done about a file of the list in force, or of a generation that is kept. */
static int find_mend(struct tamis__repair *repair, const struct tamis__finding *problem,
                     char mend[TAMIS__MEND_BYTES])
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    *mend = '\0';
    if (*problem->filter == '\0' || problem->says_mend) return 0;
    int rc = tamis__catalog_begin(&repair->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, problem->filter, &record);
    struct kept_file kept = {.file = problem->file};
    if (rc == 0 && has_segment(&record, problem->file))
        rc = tamis__check_mend(repair->store, txn, &record, mend);
    else if (rc == 0)
        rc = tamis__catalog_each_generation(txn, record.filter_id, note_kept_file, &kept);
    if (kept.is_kept)
        (void)snprintf(mend, TAMIS__MEND_BYTES,
                       TAMIS__MENDS
                       "wait until newer generations have taken its place ('tamis "
                       "build'), or restore a copy; the generation in force is not touched by it");
    tamis__catalog_end(txn);
    return rc == TAMIS_ENOTFOUND ? 0 : rc;
}

static int note_left(void *context, const struct tamis__finding *problem)
{
    struct tamis__repair *repair = context;
    char mend[TAMIS__MEND_BYTES];
    if (problem->error == 0 || tamis__repair_has_told(repair, problem)) return 0;
    const int rc = find_mend(repair, problem, mend);
    return rc < 0 ? rc
                  : tamis__repair_tell(repair, problem->filter, problem->file, problem->error,
                                       "%s%s", problem->text, mend);
}

static int progress(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    const struct tamis__repair *repair = context;
    return repair->progress(repair->context, done_bytes, all_bytes);
}

/* No repair brings lost bits back.  This looks for them, without the lock, and reports them. */
static int look_for_damage(struct tamis__repair *repair)
{
    const struct tamis__verifying how = {
        .fn = note_left, .progress = repair->progress ? progress : NULL, .context = repair};
    const int64_t rc = tamis__verify(repair->store, NULL, &how);
    return rc < 0 ? (int)rc : 0;
}

TAMIS_API int64_t tamis_store_repair(const char *path, uint32_t flags, tamis_repair_fn *fn,
                                     void *context)
{
    const struct tamis_repair_options options = {
        .size = sizeof options, .flags = flags, .fn = fn, .context = context};
    return tamis_store_repair_with(path, &options);
}

TAMIS_API int64_t tamis_store_repair_with(const char *path,
                                          const struct tamis_repair_options *options)
{
    TAMIS__REFUSE_NULL(path, "path");
    struct tamis_repair_options own;
    struct tamis__private_fd lock = {.fd = -1};
    int rc = tamis__take_struct(options, &own, sizeof own, "struct tamis_repair_options");
    if (rc < 0) return rc;
    const uint32_t flags = own.flags, known = TAMIS_REPAIR_DRY_RUN | TAMIS_REPAIR_REBUILD |
                                              TAMIS_REPAIR_FORCE_NETWORK_FS;
    if (*path == '\0' || (flags & ~known) != 0)
        return tamis__fail(TAMIS_EINVAL,
                           "tamis_store_repair needs a path, and flags TAMIS_REPAIR_*");
    struct tamis_store *store = tamis__store_new(flags & TAMIS_REPAIR_DRY_RUN);
    if (store == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory repairing the store %s", path);
    struct tamis__repair repair = {.store = store,
                                   .flags = flags,
                                   .dry = (flags & TAMIS_REPAIR_DRY_RUN) != 0,
                                   .from = own.from,
                                   .progress = own.progress,
                                   .context = own.context};
    rc = tamis__repair_open(&repair, path);
    if (rc == 0 && own.from != NULL) rc = tamis__rot_find(&repair);
    if (rc == 0)
        rc = tamis__catalog_hold(&store->catalog,
                                 repair.dry ? TAMIS__LOCK_SHARED : TAMIS__LOCK_EXCLUSIVE, &lock);
    bool sound = false; /* of the catalog as it is now */
    if (rc == TAMIS_EIO || tamis__is_of_the_system(rc)) rc = stop(rc);
    if (rc == 0) rc = repair_held(&repair, &sound);
    tamis__private_close(&lock);
    if (rc == 0 && sound) rc = look_for_damage(&repair);
    tamis__repair_clear_scan(&repair);
    free(repair.rotted.list);
    rc = tamis__repair_tell_notes(&repair, rc, own.fn, own.context);
    tamis_store_close(store);
    return rc != 0 ? rc : repair.done;
}
