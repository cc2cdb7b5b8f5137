/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_store.h: a store: opening and closing it, how long calls wait for other processes, the list
 * of its filters.
 */
#ifndef TAMIS_STORE_H
#define TAMIS_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_stat.h"
#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Stores ------------------------------------------------------------------------------- */

/*
 * Opens the store in a directory.
 *
 * path     the directory; made absolute now, so a later chdir() does no harm.  No URL.
 * flags    0, TAMIS_OPEN_CREATE, or TAMIS_OPEN_READ_ONLY (then every filter opens read-only).
 * store    *store receives the handle; the caller closes it.
 * Returns  0.  TAMIS_ENOSTORE: no store there and TAMIS_OPEN_CREATE not given.  TAMIS_EUNSUPPORTED:
 * on a network file system.  TAMIS_EFOREIGN: a link, a pipe or the like in it.  TAMIS_EINVAL: no
 * path, or a URL such as redis://host.  TAMIS_EACCESS, TAMIS_ECORRUPT, TAMIS_EVERSION, TAMIS_EIO,
 * TAMIS_ENOSPACE, TAMIS_ENOMEM, TAMIS_ELIMIT. Process  any number of processes may open (and
 * create) one store at once.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_open(const char *path, uint32_t flags,
                                                tamis_store **store);

/*
 * Called while a call waits for another process: after a second, and then once a second, or as
 * often as busy_every_ms of struct tamis_store_options says.
 *
 * waited_ms  how long the call has waited.
 * holder     the process that has the lock, 0 where the system does not tell.
 * Returns    0: go on waiting.  Another value: wait no more, the call fails with TAMIS_EBUSY.
 * It runs in the thread that waits, one of the caller's, and must not call the library.
 */
typedef int tamis_busy_fn(void *context, int64_t waited_ms, int64_t holder);

/* How tamis_store_open_with() opens a store; zero is the default. */
struct tamis_store_options {
    size_t size;    /* sizeof(struct tamis_store_options) */
    uint32_t flags; /* as tamis_store_open() */
    uint32_t mode;  /* 0, or the store's mode: 0600 to 0666, in each place 6, 4 or 0 */
    /* These hold for the opening too.  The timeout is that of tamis_store_set_busy_timeout(),
     * but 0 means TAMIS_BUSY_TIMEOUT_DEFAULT, and below 0 means not to wait.  The callback is
     * that of tamis_store_set_busy_callback(). */
    int64_t busy_timeout_ms;
    tamis_busy_fn *busy_fn;
    void *busy_context;
    int64_t busy_every_ms; /* after how long, and how often, busy_fn is called, as nearly as the
                            * wait looks itself: each 5 ms; 0: 1000; up to TAMIS_BUSY_TIMEOUT_MAX */
};

/*
 * The same, with the mode that the store is made with, whatever the umask.  The mode of a store is
 * that of its catalog.mdb.  Each file that anybody makes in the store later, by whatever call, gets
 * the mode and the group of catalog.mdb, and each directory gets x where the mode has r.  If the
 * mode lets the group write, directories hand their group on (setgid).  A mode of 0 means 0666 less
 * umask for a new store, and otherwise the mode that the store has.
 *
 * options  NULL for all zero; read during the call only.
 * Returns  as tamis_store_open().  TAMIS_EINVAL: no such mode, or time.  TAMIS_EMISMATCH: the
 *          store is there and has another mode; nothing is changed.  TAMIS_EACCESS: also if the
 *          group cannot be kept.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_open_with(const char *path,
                                                     const struct tamis_store_options *options,
                                                     tamis_store **store);

#define TAMIS_BUSY_TIMEOUT_DEFAULT 10000 /* milliseconds */
#define TAMIS_BUSY_TIMEOUT_MAX 86400000  /* a day */

/*
 * Sets how long a call waits for another process that has a lock of the store.  Two sorts of calls
 * may wait: an add that needs room, when the filter has to grow and cannot now, or that needs the
 * next slice of a window; and every call that reads or changes the catalog (opening a store,
 * creating, listing, syncing, publishing, closing after adding).  After that time the call fails
 * with TAMIS_EBUSY, and may be tried again.  An add that finds room never waits, a query never
 * does, and tamis_filter_open() and tamis_filter_stat() do where only the lock can tell what is in
 * force.
 *
 * milliseconds  0: do not wait.  At most TAMIS_BUSY_TIMEOUT_MAX.  Until this is called, calls
 *               wait for TAMIS_BUSY_TIMEOUT_DEFAULT.  The time holds for this handle and all
 *               filters opened from it.
 * Returns       0.  TAMIS_EINVAL: below 0, or more than a day.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_set_busy_timeout(tamis_store *store,
                                                            int64_t milliseconds);

/*
 * Has `fn` called while a call waits; NULL ends this.  Call it before another thread uses the store
 * or a filter of it.
 *
 * Returns  0.  TAMIS_EINVAL: no store.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_set_busy_callback(tamis_store *store, tamis_busy_fn *fn,
                                                             void *context);

/* What happens to a filter while a program uses it. */
enum tamis_event_type {
    TAMIS_EVENT_GREW = 1,      /* it goes on in another segment, because the one before is full */
    TAMIS_EVENT_ROTATED = 2,   /* a new slice of its window has begun */
    TAMIS_EVENT_UNCLEAN = 3,   /* it was opened, and keys may be missing (TAMIS_STATE_UNCLEAN) */
    TAMIS_EVENT_SLOW_SYNC = 4, /* a checkpoint has taken TAMIS_SLOW_SYNC_NS or longer */
};

#define TAMIS_SLOW_SYNC_NS 1000000000 /* a second */

/* An event.  The strings live only during the call of the function. */
struct tamis_event {
    size_t size;        /* sizeof(struct tamis_event) */
    const char *filter; /* its name, as it was when the handle was opened */
    int64_t ns;         /* SLOW_SYNC: how long it took; UNCLEAN: since when keys may be missing, in
                           ns since 1970; else 0 */
    uint32_t type;      /* enum tamis_event_type; later versions may have more */
    uint32_t segments;  /* that the filter has now */
};
typedef void tamis_event_fn(void *context, const struct tamis_event *event);

/*
 * Has `fn` called for each event that a handle of this store meets; NULL ends this.  Growth and
 * rotation are told once for each handle that notices them, whichever process has made them.  Call
 * it before another thread uses the store or a filter of it.
 *
 * fn runs in the thread that meets the event, in the middle of an add, a query, a sync or an open,
 * perhaps with a lock of the store held: it must be quick, and must not call the library.
 *
 * Returns  0.  TAMIS_EINVAL: no store.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_set_event_callback(tamis_store *store,
                                                              tamis_event_fn *fn, void *context);

/* Gives the handle back.  NULL is allowed, the same handle twice is not.  Filters opened from the
 * store stay usable until they are closed. */
TAMIS_API void tamis_store_close(tamis_store *store);

/* ---- What is known of a store ------------------------------------------------------------- */

/* What is known of a store: the sum of what tamis_store_list() tells of its filters, and its files.
 * Times are in nanoseconds since 1970-01-01 UTC. */
struct tamis_store_stat {
    size_t size;            /* sizeof(struct tamis_store_stat) */
    const char *path;       /* absolute; lives as long as the store */
    uint64_t id;            /* drawn when the store was made */
    uint64_t filters;       /* number of filters */
    uint64_t segments;      /* of all filters, without generations that are kept */
    uint64_t items;         /* keys, as of each filter's last checkpoint */
    uint64_t size_bytes;    /* of the files of these segments */
    uint64_t catalog_bytes; /* of catalog.mdb */
    uint64_t free_bytes;    /* that the file system has for this user */
    int64_t created_at;
    uint32_t state;     /* TAMIS_STATE_* bits that any filter has */
    uint32_t mode;      /* permission bits, of catalog.mdb */
    uint32_t read_only; /* 1: this handle is for reading only */
    uint32_t format;    /* the number of the store's format (docs/format.md) */
};

/* Gets it.  Reads the catalog only, under its shared lock: some microseconds for each filter.
 * Returns 0, TAMIS_EINVAL, or an error of tamis_store_list(). */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_stat(tamis_store *store, struct tamis_store_stat *stat);

/* ---- The list of filters ------------------------------------------------------------------ */

/* Called once for each filter.  A value other than 0 ends the listing, which returns it. */
typedef int tamis_list_fn(void *context, const struct tamis_filter_stat *stat);

/*
 * Calls `fn` for each filter whose name begins with `prefix` (NULL: all), in byte order of the
 * names.  Reads the catalog only: items and states are those of the last close or sync.  The list
 * is one consistent snapshot, and no lock is held while `fn` runs.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_list(tamis_store *store, const char *prefix,
                                                tamis_list_fn *fn, void *context);

/*
 * The same with items, sizes and states as they are now: the header of each segment is read too,
 * without mapping it.  This costs some 5 us more for each segment, and a read of the disk if its
 * first page is not in memory.  The list is a snapshot, the counts are not: they are read one after
 * the other, after the catalog's lock was given back.  For a filter that cannot be read, the values
 * are those of tamis_store_list().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_list_live(tamis_store *store, const char *prefix,
                                                     tamis_list_fn *fn, void *context);

/*
 * A cursor: the filters one after the other, for a store that may have millions of them.  It reads
 * the catalog some filters at a time, so its memory does not depend on how many there are, and no
 * lock is held between two calls.  What it tells of a filter is as tamis_store_list() has it.  The
 * names come in byte order, none twice.  A filter that is made, dropped or renamed meanwhile may be
 * among them or not.
 *
 * store    stays open until the cursor is closed, though its handle may be closed before.
 * prefix   as for tamis_store_list(); copied.
 * cursor   *cursor receives it; the caller closes it.  One thread at a time may use it.
 * Returns  0, TAMIS_EINVAL, TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_cursor_open(tamis_store *store, const char *prefix,
                                                 tamis_cursor **cursor);
/* Gets the next filter.  Returns 1, or 0 after the last; TAMIS_EINVAL, or an error of
 * tamis_store_list(), after which the call can be made again. */
TAMIS_API TAMIS_MUST_CHECK int tamis_cursor_next(tamis_cursor *cursor,
                                                 struct tamis_filter_stat *stat);
/* Gives the cursor back.  NULL is allowed. */
TAMIS_API void tamis_cursor_close(tamis_cursor *cursor);

/* Called once for each filter that could not be brought to the disk, with the error.
 * tamis_last_error() says why.  A value other than 0 ends the call, which returns it. */
typedef int tamis_unsynced_fn(void *context, const char *name, int error);

/*
 * Brings filters to the disk, as tamis_filter_sync() does each.  Filters to which nobody has
 * written since they were brought there cost one read each, and their checkpointed_at stays; the
 * others are written one after the other, with one change of the catalog for each 64 of them.
 *
 * names    `count` names of filters; NULL: all filters of the store.
 * fn       NULL: the first filter that fails ends the call.
 * Returns  how many filters could not be brought to the disk; 0: every key whose add had returned
 *          before the call now survives a power cut.  What fn returned.  Without fn the error of
 *          the filter, else errors of the catalog: TAMIS_EBUSY, TAMIS_EIO, TAMIS_ENOMEM,
 *          TAMIS_EREADONLY.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_sync(tamis_store *store, const char *const *names,
                                                    size_t count, tamis_unsynced_fn *fn,
                                                    void *context);

/*
 * A watch: a list that is looked at again and again, as `tamis top` does, at no cost to the
 * processes that use the store.  The catalog is read, under its shared lock, only if its file has
 * changed since the last look; what changes all the time is in the headers, which need no lock.
 *
 * store    stays open until the watch is freed, though its handle may be closed before.
 * prefix   as for tamis_store_list(); copied.
 * watch    *watch receives it; the caller frees it.  One thread at a time may use it.
 * Returns  0, TAMIS_EINVAL, TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_watch_new(tamis_store *store, const char *prefix,
                                               tamis_watch **watch);

/*
 * Calls `fn` as tamis_store_list_live() does.  The first look waits for the catalog's lock as that
 * does.  Later ones wait for nobody: while another process has the lock, the filters are those of
 * the look before, with what their headers say now.  new_keys of each filter tells how many keys
 * were NEW since the look before; the keys of a segment that a window takes out between two looks
 * count as far as the earlier one saw them.
 *
 * Returns  0, what fn returned, or an error of tamis_store_list().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_watch_look(tamis_watch *watch, tamis_list_fn *fn,
                                                void *context);

/* Gives the watch back.  NULL is allowed. */
TAMIS_API void tamis_watch_free(tamis_watch *watch);

#ifdef __cplusplus
}
#endif

#endif
