/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.c: stores, and what is done to filters by name: list, drop, rename.
 *
 * A change is made under the catalog's exclusive lock, in this order: raise the epoch of the
 * segments concerned, so that open handles come and wait for the lock; commit the catalog; then
 * remove files. A crash in between leaves the old state (handles look, and find nothing changed) or
 * the new one with files noted as garbage, which the next writer removes.
 */
#include "txn/store.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/point.h"
#include "file/inside.h"
#include "file/network.h"
#include "file/overlay.h"
#include "filter/publish.h"
#include "handle/journal.h"
#include "hash/hash_set.h"
#include "txn/policy.h"
#include "txn/spares.h"

/* ---- Opening and closing --------------------------------------------------------------------- */

static void store_free(struct tamis_store *store)
{
    tamis__catalog_clear(&store->catalog);
    tamis__close(store->place.segments_fd);
    tamis__close(store->place.staging_fd);
    tamis__close(store->root_fd);
    free(store->place.path);
    free(store);
}

struct tamis_store *tamis__store_reference(struct tamis_store *store)
{
    /* ORDER relaxed: the caller has a reference already. */
    (void)__atomic_add_fetch(&store->references, 1, __ATOMIC_RELAXED);
    return store;
}

TAMIS_API void tamis_store_close(tamis_store *store)
{
    if (store == NULL) return;
    /* ORDER acq_rel: the last one to leave sees all that the others did to it. */
    if (__atomic_sub_fetch(&store->references, 1, __ATOMIC_ACQ_REL) == 0) store_free(store);
}

struct tamis_store *tamis__store_new(bool read_only)
{
    struct tamis_store *store = calloc(1, sizeof *store);
    if (store == NULL) return NULL;
    store->references = 1;
    store->read_only = read_only;
    store->busy_timeout_ms = TAMIS_BUSY_TIMEOUT_DEFAULT;
    store->root_fd = store->place.root_fd = -1;
    store->place.segments_fd = store->place.staging_fd = -1;
    return store;
}

static int open_directory(const struct tamis_store *store, const char *name, int *fd)
{
    char *what;
    if (asprintf(&what, "%s/%s", store->place.path, name) < 0)
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening the store %s", store->place.path);
    int rc = tamis__open(store->root_fd, name, O_RDONLY | O_DIRECTORY, 0, what, fd);
    if (rc == TAMIS_ENOTFOUND)
        rc = tamis__fail(TAMIS_ECORRUPT, "the store's directory %s is missing; restore it", what);
    else if (rc == 0)
        rc = tamis__inside_check_owner(store->root_fd, *fd, what);
    free(what);
    return rc;
}

/* Make what is missing of an empty store; each step is harmless where another process was first. */
static int make_store(struct tamis_store *store)
{
    unsigned mode = store->catalog.mode;
    int rc = mode == 0 ? tamis__inside_mode(store->root_fd, store->place.path, &mode) : 0;
    if (rc < 0) return rc;
    rc = tamis__inside_make_directory(store->root_fd, "segments", mode, store->place.path);
    if (rc == 0)
        rc = tamis__inside_make_directory(store->root_fd, "staging", mode, store->place.path);
    TAMIS__POINT(TAMIS__POINT_STORE_MADE);
    if (rc == 0) rc = tamis__catalog_create(&store->catalog);
    return rc;
}

static int fail_no_store(const char *path)
{
    char quoted[TAMIS__QUOTED_BYTES];
    return tamis__fail(
        TAMIS_ENOSTORE,
        "there is no store at %s; 'tamis create' makes one with its first filter, or "
        "name another directory",
        tamis__quote(quoted, path));
}

/* The root directory.  It is somebody else's unless `is_new`. */
static int open_root(struct tamis_store *store, const struct tamis_store_options *options,
                     bool is_new)
{
    const char *path = store->place.path;
    int rc = tamis__open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0, path, &store->root_fd);
    if (rc == 0 && (options->flags & TAMIS_FORCE_NETWORK_FS) == 0)
        rc = tamis__refuse_network(store->root_fd, path);
    store->place.root_fd = store->root_fd;
    if (rc == 0 && (options->flags & TAMIS_FORCE_NETWORK_FS) == 0)
        rc = tamis__is_overlay(store->root_fd, path, &store->place.overlay);
    if (rc == 0 && store->place.overlay)
        rc = tamis__overlay_copy_up(store->root_fd, "catalog.lock", path);
    if (rc == 0 && is_new && options->mode != 0)
        rc = tamis__inside_set_root(store->root_fd, options->mode, path);
    if (rc == 0) rc = tamis__store_init_catalog(store, store->read_only);
    if (rc == 0) store->catalog.mode = options->mode;
    return rc;
}

/* Is the mode that was asked for the one that the store has? */
static int check_mode(const struct tamis_store *store, unsigned wanted)
{
    const char *path = store->place.path;
    unsigned mode = 0;
    const int rc = tamis__inside_mode(store->root_fd, path, &mode);
    if (rc < 0 || wanted == 0 || mode == wanted) return rc < 0 ? rc : 0;
    const unsigned directory = wanted | ((wanted & 0444) >> 2) | (wanted & 020 ? 02000 : 0);
    return tamis__fail(TAMIS_EMISMATCH,
                       "the store %s has mode 0%03o, not 0%03o; change it with 'chmod %04o %s/*.* "
                       "%s/*/*' and 'chmod %04o %s %s/*/', or do not ask for a mode",
                       path, mode, wanted, wanted, path, path, directory, path, path);
}

/* Everything beneath the root directory. */
static int open_parts(struct tamis_store *store, const char *path, bool create)
{
    struct tamis__catalog_txn *txn;
    int rc = create ? make_store(store) : 0;
    if (rc == 0) rc = tamis__exists(store->root_fd, "catalog.mdb", path);
    if (rc == 0) {
        rc = tamis__catalog_is_lost(&store->catalog);
        return rc < 0 ? rc : rc > 0 ? tamis__fail_lost(&store->catalog) : fail_no_store(path);
    }
    if (rc > 0) rc = open_directory(store, "segments", &store->place.segments_fd);
    if (rc == 0 && !store->read_only) {
        /* An empty directory is easily lost in copying. */
        rc = tamis__inside_make_directory(store->root_fd, "staging", 0, path);
        if (rc == 0) rc = open_directory(store, "staging", &store->place.staging_fd);
    }
    if (rc == 0) rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    store->store_id = tamis__catalog_store(txn)->store_id;
    tamis__catalog_end(txn);
    return 0;
}

static int check_options(const char *path, const struct tamis_store_options *options)
{
    const unsigned known = TAMIS_READ_ONLY | TAMIS_CREATE | TAMIS_FORCE_NETWORK_FS;
    const unsigned mode = options->mode, both = TAMIS_READ_ONLY | TAMIS_CREATE;
    if (path == NULL || *path == '\0')
        return tamis__fail(TAMIS_EINVAL, "a store needs a path; pass that of its directory");
    if ((options->flags & ~known) != 0 || (options->flags & both) == both)
        return tamis__fail(TAMIS_EINVAL,
                           "tamis_store_open flags %#x: use 0, TAMIS_READ_ONLY or TAMIS_CREATE",
                           options->flags);
    if (options->busy_timeout_ms > TAMIS_BUSY_TIMEOUT_MAX)
        return tamis__fail_busy_timeout(options->busy_timeout_ms);
    /* Who may write must be able to read, and the owner both. */
    if (mode != 0 &&
        ((mode & ~0666u) != 0 || (mode & 0600) != 0600 || ((mode & 0222) << 1 & ~mode) != 0))
        return tamis__fail(TAMIS_EINVAL,
                           "a store cannot have the mode 0%o; give 6 for the owner, and 6, 4 or 0 "
                           "each for the group and for others, such as 0660 or 0644",
                           mode);
    return 0;
}

/* Make the directory: 1 if it was not there.  Not on a file system that a store is refused on. */
static int make_root(const char *path, const struct tamis_store_options *options)
{
    int fd = -1, rc = 0;
    if ((options->flags & TAMIS_CREATE) == 0) return 0;
    if ((options->flags & TAMIS_FORCE_NETWORK_FS) == 0) {
        rc = tamis__open_nearest(path, &fd);
        if (rc == 0) rc = tamis__refuse_network(fd, path);
        tamis__close(fd);
    }
    return rc < 0 ? rc : tamis__make_path(path);
}

static int open_with(const char *path, const struct tamis_store_options *options, tamis_store **out)
{
    int rc = check_options(path, options);
    if (rc < 0) return rc;
    struct tamis_store *store = tamis__store_new((options->flags & TAMIS_READ_ONLY) != 0);
    if (store == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory opening the store %s", path);
    if (options->busy_timeout_ms != 0)
        store->busy_timeout_ms = options->busy_timeout_ms < 0 ? 0 : options->busy_timeout_ms;
    store->busy_fn = options->busy_fn;
    store->busy_context = options->busy_context;
    rc = make_root(path, options);
    const bool is_new = rc > 0;
    if (rc >= 0) {
        rc = tamis__absolute_path(path, &store->place.path);
        if (rc == TAMIS_ENOTFOUND) rc = fail_no_store(path);
    }
    if (rc == 0) rc = open_root(store, options, is_new);
    if (rc == 0) rc = open_parts(store, path, (options->flags & TAMIS_CREATE) != 0);
    if (rc == 0) rc = check_mode(store, options->mode);
    if (rc < 0) {
        store_free(store);
        return rc;
    }
    *out = store;
    return 0;
}

TAMIS_API int tamis_store_open_with(const char *path, const struct tamis_store_options *given,
                                    tamis_store **out)
{
    struct tamis_store_options options = {.size = sizeof options};
    TAMIS__REFUSE_NULL(out, "store");
    int rc = 0;
    if (given != NULL)
        rc = tamis__take_struct(given, &options, sizeof options, "struct tamis_store_options");
    return rc < 0 ? rc : open_with(path, &options, out);
}

TAMIS_API int tamis_store_open(const char *path, unsigned flags, tamis_store **out)
{
    const struct tamis_store_options options = {.size = sizeof options, .flags = flags};
    TAMIS__REFUSE_NULL(out, "store");
    return open_with(path, &options, out);
}

/* ---- Names ----------------------------------------------------------------------------------- */

int tamis__check_name(const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES];
    if (name == NULL || *name == '\0')
        return tamis__fail(TAMIS_EINVAL, "a filter's name cannot be empty; give 1 to %d bytes",
                           TAMIS_NAME_MAX);
    const size_t bytes = strlen(name);
    if (bytes > TAMIS_NAME_MAX)
        return tamis__fail(TAMIS_EINVAL, "the name %s has %zu bytes; the most is %d",
                           tamis__quote(quoted, name), bytes, TAMIS_NAME_MAX);
    for (const unsigned char *s = (const unsigned char *)name; *s != '\0';) {
        const size_t length = tamis__utf8_length(s);
        if (length == 0)
            return tamis__fail(TAMIS_EINVAL, "the name %s is not UTF-8; use another encoding of it",
                               tamis__quote(quoted, name));
        if (*s < 0x20 || *s == 0x7F || (s[0] == 0xC2 && s[1] < 0xA0))
            return tamis__fail(TAMIS_EINVAL,
                               "the name %s has a control character; use letters, digits, "
                               "punctuation and spaces",
                               tamis__quote(quoted, name));
        s += length;
    }
    return 0;
}

int tamis__fail_no_filter(const struct tamis_store *store, const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES];
    return tamis__fail(TAMIS_ENOTFOUND,
                       "no such filter: %s in the store %s; 'tamis list' shows what is there",
                       tamis__quote(quoted, name), store->place.path);
}

/* ---- Writing --------------------------------------------------------------------------------- */

int tamis__check_writable(const struct tamis_store *store)
{
    if (!store->read_only) return 0;
    return tamis__fail(TAMIS_EREADONLY, "the store %s is open read-only; open it for writing",
                       store->place.path);
}

#define GARBAGE_A_TIME 64

struct garbage {
    uint64_t numbers[GARBAGE_A_TIME];
    size_t count;
};

static int collect_garbage(void *context, uint64_t number)
{
    struct garbage *garbage = context;
    garbage->numbers[garbage->count++] = number;
    return garbage->count == GARBAGE_A_TIME; /* the rest is the next writer's */
}

/*
 * A file is gone from the disk when its last holder closes it, which takes long where it is large
 * (70 ms for 1 GiB): so it is held open, without need, until the lock is given back.
 */
static void remove_after_lock(struct tamis_store *store, struct tamis__catalog_txn *txn,
                              uint64_t number)
{
    int fd = -1;
    if (tamis__segment_hold(&store->place, number, &fd) == 0) tamis__catalog_close_after(txn, fd);
}

/* What cannot be removed (another user's, say) stays noted for the next writer. */
static int remove_garbage(struct tamis_store *store, struct tamis__catalog_txn *txn,
                          struct garbage *garbage)
{
    size_t removed = 0;
    for (size_t i = 0; i < garbage->count; i++) {
        remove_after_lock(store, txn, garbage->numbers[i]);
        if (tamis__segment_remove(&store->place, garbage->numbers[i]) == 0)
            garbage->numbers[removed++] = garbage->numbers[i];
    }
    /* Gone for good before they are forgotten, or a power cut could bring one back unnoted. */
    int rc = removed > 0 ? tamis__sync_file(store->place.segments_fd, store->place.path) : 0;
    for (size_t i = 0; rc == 0 && i < removed; i++)
        rc = tamis__catalog_forget_garbage(txn, garbage->numbers[i]);
    return rc;
}

/* What a maker that died between its renames and its commit left has the next numbers. */
static int remove_orphans(struct tamis_store *store, struct tamis__catalog_txn *txn)
{
    const uint64_t next = tamis__catalog_store(txn)->next_segment;
    uint64_t filter_id;
    int rc = 0;
    for (uint64_t number = next; rc >= 0 && number < next + TAMIS__SPARES_MAX; number++)
        rc = tamis__segment_vacate(&store->place, number, &filter_id);
    return rc < 0 ? rc : 0;
}

static int clean(struct tamis_store *store, struct tamis__catalog_txn *txn)
{
    struct garbage garbage = {.count = 0};
    int rc = tamis__catalog_each_garbage(txn, collect_garbage, &garbage);
    if (rc >= 0) rc = remove_garbage(store, txn, &garbage);
    if (rc == 0) rc = remove_orphans(store, txn);
    if (rc == 0) rc = tamis__recover_store(store, txn);
    if (rc < 0) tamis__catalog_end(txn);
    return rc;
}

int tamis__store_begin_write(struct tamis_store *store, struct tamis__catalog_txn **txn)
{
    const int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_EXCLUSIVE, txn);
    return rc < 0 ? rc : clean(store, *txn);
}

int tamis__store_begin_write_if_free(struct tamis_store *store, struct tamis__catalog_txn **txn)
{
    int rc = tamis__catalog_begin_if_free(&store->catalog, TAMIS__LOCK_EXCLUSIVE, txn);
    if (rc <= 0) return rc;
    rc = clean(store, *txn);
    return rc < 0 ? rc : 1;
}

/* ---- Listing --------------------------------------------------------------------------------- */

/* One that goes on in a further segment is never full, unless there can be none. */
static bool is_full(const struct tamis__record *record, const uint64_t *segment_items,
                    const struct tamis_filter_stat *stat)
{
    const uint32_t newest = record->segment_count - 1;
    const struct tamis__record_segment *s = &record->segments[newest];
    if (s->kind == TAMIS_KIND_FUSE) return false; /* static: nothing is ever added */
    if (record->policy.window_items > 0) return false;
    if (tamis__policy_grows(&record->policy, s->step, record->segment_count)) return false;
    if (record->policy.slices > 0)
        return segment_items[newest] >= s->capacity &&
               tamis__clock_ns() - s->slice_start < tamis__policy_slice_ns(&record->policy);
    return stat->items >= stat->capacity;
}

static double predict_rate(const struct tamis__record_segment *s, uint64_t items)
{
    if (s->kind != TAMIS_KIND_FUSE) return tamis_predict_rate(s->kind, s->m_bits, s->k, items);
    return items == 0 ? 0 : exp2(-(double)s->fingerprint_bits);
}

/* By more than rounding and what is in flight make of it. */
#define OVER 1.02

/* A filter at its capacity is full; of one that grows, or forgets, any segment may hold too many.
 * */
static bool is_over(const struct tamis__record *record, const struct tamis_filter_stat *stat)
{
    const struct tamis__record_segment *s = &record->segments[record->segment_count - 1];
    if (s->kind == TAMIS_KIND_FUSE || !(stat->predicted_rate > OVER * stat->fp_rate)) return false;
    return stat->items > stat->capacity || record->policy.slices > 0 || record->segment_count > 1;
}

void tamis__stat_set_items(struct tamis_filter_stat *stat, const struct tamis__record *record,
                           const uint64_t *segment_items)
{
    const int64_t now = tamis__clock_ns();
    stat->items = 0;
    stat->predicted_rate = 0;
    stat->live_slices = 0;
    for (uint32_t i = 0; i < record->segment_count; i++) {
        const struct tamis__record_segment *s = &record->segments[i];
        if (tamis__policy_is_past(&record->policy, s->slice_start, now)) continue;
        if (record->policy.slices > 0 &&
            (i == 0 || s->slice != s[-1].slice || stat->live_slices == 0))
            stat->live_slices++;
        stat->items += segment_items[i];
        stat->predicted_rate =
            tamis__either_rate(stat->predicted_rate, predict_rate(s, segment_items[i]));
    }
    stat->state = is_full(record, segment_items, stat) ? TAMIS_STATE_FULL : 0;
    if (is_over(record, stat)) stat->state |= TAMIS_STATE_OVER;
}

void tamis__stat_from_record(const struct tamis__record *record, struct tamis_filter_stat *stat)
{
    const struct tamis__record_segment *newest = &record->segments[record->segment_count - 1];
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
        .flags = record->policy.durable ? TAMIS_FILTER_DURABLE : 0,
    };
    memcpy(stat->name, record->name, sizeof stat->name);
    tamis__hash_set_name(newest->hash_set, newest->parameters, stat->hash_set);
    for (uint32_t i = 0; i < record->segment_count; i++) {
        const struct tamis__record_segment *s = &record->segments[i];
        stat->m_bits += s->m_bits;
        bits += (double)s->m_bits * (s->counter_bits != 0 ? s->counter_bits : 1);
        places += s->capacity;
        stat->size_bytes += record->segments[i].file_bytes;
        items[i] = record->segments[i].items;
    }
    /* The capacity of a window is that of all its slices, of which there may be fewer yet. */
    stat->bits_per_key = bits / (double)(record->policy.slices > 0 ? places : stat->capacity);
    tamis__stat_set_items(stat, record, items);
}

struct listing {
    struct tamis_store *store;
    struct tamis__catalog_txn *txn;
    bool looks; /* into the headers: since the machine went down nobody has */
    struct tamis_filter_stat *stats;
    size_t count, room;
};

static int list_one(void *context, const struct tamis__record *record)
{
    struct listing *listing = context;
    if (listing->count == listing->room) {
        const size_t room = listing->room ? 2 * listing->room : 64;
        struct tamis_filter_stat *stats = reallocarray(listing->stats, room, sizeof *stats);
        if (stats == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory listing the filters");
        listing->stats = stats;
        listing->room = room;
    }
    struct tamis_filter_stat *stat = &listing->stats[listing->count++];
    struct tamis__trouble trouble;
    const int rc = tamis__catalog_get_trouble(listing->txn, record->filter_id, &trouble);
    if (rc < 0) return rc;
    struct tamis__record now = *record;
    tamis__record_promote(&listing->store->place, &now);
    if (listing->looks) tamis__look_for_trouble(listing->store, &now, &trouble);
    tamis__stat_from_record(&now, stat);
    tamis__stat_set_trouble(stat, trouble);
    return 0;
}

TAMIS_API int tamis_store_list(tamis_store *store, const char *prefix, tamis_list_fn *fn,
                               void *context)
{
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(fn, "fn");
    struct tamis__catalog_txn *txn;
    struct listing listing = {.store = store};
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    uint8_t boot[TAMIS__BOOT_ID_BYTES];
    listing.txn = txn;
    listing.looks = tamis__boot_id(boot) && tamis__catalog_is_of_boot(txn, boot) == 0;
    rc = tamis__catalog_each(txn, prefix ? prefix : "", list_one, &listing);
    tamis__catalog_end(txn); /* before fn: it may be slow, and others wait for the lock */
    for (size_t i = 0; rc == 0 && i < listing.count; i++)
        rc = fn(context, &listing.stats[i]);
    free(listing.stats);
    return rc;
}

/* ---- Drop and rename ------------------------------------------------------------------------- */

int tamis__raise_epochs(struct tamis_store *store, const struct tamis__record *record)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < record->segment_count; i++)
        rc = tamis__segment_raise_epoch(&store->place, record->segments[i].number);
    return rc;
}

TAMIS_API int tamis_filter_drop(tamis_store *store, const char *name)
{
    TAMIS__REFUSE_NULL(store, "store");
    struct tamis__numbers files = {0};
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__check_name(name);
    if (rc < 0) return rc;
    rc = tamis__store_begin_write(store, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(store, txn, name, &record);
    if (rc == TAMIS_ENOTFOUND) rc = tamis__fail_no_filter(store, name);
    if (rc == 0) rc = tamis__spares_take_back(store, txn, &record, &files);
    if (rc == 0) rc = tamis__forget_all(txn, &record, &files);
    if (rc == 0) rc = tamis__raise_epochs(store, &record);
    if (rc == 0) {
        TAMIS__POINT(TAMIS__POINT_DROP_EPOCH);
        rc = tamis__catalog_commit(txn);
    }
    if (rc == 0) {
        /* Not by the epoch alone: a handle that finds the lock taken by the next writer goes on. */
        (void)tamis__segment_tell(&store->place, record.segments[record.segment_count - 1].number,
                                  offsetof(struct tamis__segment_header, next),
                                  TAMIS__NEXT_DROPPED);
        TAMIS__POINT(TAMIS__POINT_DROP_UNLINK);
        /* Of handles that are dead; one that lives takes its own away. */
        if (record.policy.durable) (void)tamis__logs_forget(store, record.filter_id);
    }
    tamis__catalog_end(txn);
    /* Which may take long.  They are noted as garbage, and the next writer may come first. */
    if (rc == 0) tamis__remove_files(store, &files);
    free(files.list);
    return rc;
}

int tamis__fail_exists(const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES];
    return tamis__fail(TAMIS_EEXIST, "a filter %s exists already; choose another name, or drop it",
                       tamis__quote(quoted, name));
}

/* Let the segments carry the new name; what fails here is mended by the next open for writing. */
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
        else if (rc == TAMIS_ENOTFOUND)
            rc = rename_record(store, txn, &record, new_name);
    }
    tamis__catalog_end(txn);
    return rc;
}
