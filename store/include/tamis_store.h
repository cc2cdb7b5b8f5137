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
 * path     the directory.  The call makes the path absolute, so a later chdir() does no harm.
 * flags    0, TAMIS_OPEN_CREATE, or TAMIS_OPEN_READ_ONLY (then each filter opens read-only, too);
 *          and TAMIS_OPEN_FORCE_NETWORK_FS.
 * store    *store receives the handle; the caller closes it.
 * Returns  0.  TAMIS_ENOSTORE: no store is there, and TAMIS_OPEN_CREATE was not given.
 *          TAMIS_EUNSUPPORTED: the file system is a network file system.  TAMIS_EFOREIGN: a file
 *          of the store is a link, a pipe or the like.  TAMIS_EINVAL: the path is NULL, empty, or
 *          a URL such as redis://host.  TAMIS_EBUSY: another process held the store's lock for
 *          longer than the busy timeout.  TAMIS_EACCESS, TAMIS_ECORRUPT, TAMIS_EVERSION,
 *          TAMIS_EIO, TAMIS_ENOSPACE, TAMIS_ENOMEM, TAMIS_ELIMIT.
 * Process  any number of processes may open (and create) one store at once.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_open(const char *path, uint32_t flags,
                                                tamis_store **store);

/*
 * The library calls this function while one of its calls waits for another process: after a second
 * and then once a second, or at the interval busy_every_ms of struct tamis_store_options.
 *
 * waited_ms  how long the call has waited.
 * holder     process id of the process that has the lock; 0 if the system does not tell.
 * Returns    0: the call goes on waiting.  Another value: the call fails with TAMIS_EBUSY.
 * Thread     the function runs in the caller's thread that waits.  It must not call the library.
 */
typedef int tamis_busy_fn(void *context, int64_t waited_ms, int64_t holder);

/* How tamis_store_open_with() opens a store; zero is the default. */
struct tamis_store_options {
    size_t size;    /* sizeof(struct tamis_store_options) */
    uint32_t flags; /* as tamis_store_open() */
    uint32_t mode;  /* 0, or the store's mode: 0600 to 0666, in each place 6, 4 or 0 */
    /* The opening obeys the following four members, too. */
    int64_t busy_timeout_ms; /* as for tamis_store_set_busy_timeout(), but 0 means
                                TAMIS_BUSY_TIMEOUT_DEFAULT, and below 0 means not to wait */
    tamis_busy_fn *busy_fn;  /* as for tamis_store_set_busy_callback() */
    void *busy_context;
    int64_t busy_every_ms; /* the interval of the calls of busy_fn, and the time before the first,
                              with an error of 5 ms; 0: 1000; at most TAMIS_BUSY_TIMEOUT_MAX */
};

/*
 * Opens a store with options.  The umask does not change a mode that the options have.  The mode of
 * a store is that of its catalog.mdb.  Each file that anybody makes in the store later, by whatever
 * call, gets the mode and the group of catalog.mdb, and each directory gets x where the mode has r.
 * If the mode lets the group write, directories hand their group on (setgid).  A mode of 0 means
 * 0666 less umask for a new store, and otherwise the mode that the store has.
 *
 * options  NULL for all zero; read during the call only.
 * Returns  as tamis_store_open().  TAMIS_EINVAL: a store cannot have the mode, or a time is out of
 *          range.  TAMIS_EMISMATCH: the store exists and has another mode; nothing was changed.
 *          TAMIS_EACCESS: also if the process may not give files the store's group.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_open_with(const char *path,
                                                     const struct tamis_store_options *options,
                                                     tamis_store **store);

#define TAMIS_BUSY_TIMEOUT_DEFAULT 10000 /* milliseconds */
#define TAMIS_BUSY_TIMEOUT_MAX 86400000  /* a day */

/*
 * Sets how long a call waits for another process that has a lock of the store.  After that time
 * the call fails with TAMIS_EBUSY, and can be made again.  These calls may wait:
 *
 * - an add whose filter has to grow, or to begin the next slice of its window;
 * - each call that reads or changes the catalog: opening a store, creating, listing, syncing,
 *   publishing, closing after adding;
 * - tamis_filter_open() and tamis_filter_stat(), but only while a writer changes the catalog.
 *
 * An add that finds room never waits, and a query never waits.
 *
 * milliseconds  0: do not wait.  At most TAMIS_BUSY_TIMEOUT_MAX.  Until this is called, calls
 *               wait for TAMIS_BUSY_TIMEOUT_DEFAULT.  The time holds for this handle and all
 *               filters opened from it.
 * Returns       0.  TAMIS_EINVAL: below 0, or more than a day.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_set_busy_timeout(tamis_store *store,
                                                            int64_t milliseconds);

/*
 * Sets the function that the library calls while a call waits; NULL: none.  Set it before another
 * thread uses the store or a filter of it.
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
    int64_t ns;         /* SLOW_SYNC: how long the sync took, in ns; UNCLEAN: keys that were added
                           since this time, in ns since 1970, may be missing; else 0 */
    uint32_t type;      /* enum tamis_event_type; later versions may have more */
    uint32_t segments;  /* how many segments the filter has now */
};
typedef void tamis_event_fn(void *context, const struct tamis_event *event);

/*
 * Sets the function that the library calls for each event that a handle of this store notices;
 * NULL: none.  Each handle tells of a growth or a rotation once, whichever process has made it. Set
 * it before another thread uses the store or a filter of it.
 *
 * fn runs in the thread that notices the event, in the middle of an add, a query, a sync or an
 * open, perhaps with a lock of the store held.  So fn must be quick, and must not call the library.
 *
 * Returns  0.  TAMIS_EINVAL: no store.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_set_event_callback(tamis_store *store,
                                                              tamis_event_fn *fn, void *context);

/* Gives the handle back.  NULL is allowed, the same handle twice is not.  Filters opened from the
 * store stay usable until they are closed. */
TAMIS_API void tamis_store_close(tamis_store *store);

/* ---- What is known of a store ------------------------------------------------------------- */

/* What is known of a store: sums over its filters as tamis_store_list() tells them, and its files.
 * Times are in nanoseconds since 1970-01-01 UTC. */
struct tamis_store_stat {
    size_t size;            /* sizeof(struct tamis_store_stat) */
    const char *path;       /* absolute; lives as long as the store */
    uint64_t id;            /* a random number, drawn when the store was made */
    uint64_t filters;       /* number of filters */
    uint64_t segments;      /* of the lists that are in force, without kept generations */
    uint64_t items;         /* keys, as of each filter's last checkpoint */
    uint64_t size_bytes;    /* of the files of these segments */
    uint64_t catalog_bytes; /* of catalog.mdb */
    uint64_t free_bytes;    /* bytes that the file system has left for this user */
    int64_t created_at;
    uint32_t state;     /* the TAMIS_STATE_* bits that at least one filter has */
    uint32_t mode;      /* permission bits of catalog.mdb */
    uint32_t read_only; /* 1: this handle only reads */
    uint32_t format;    /* the number of the store's format (docs/format.md) */
};

/* Fills in *stat.  Reads the catalog only, under its shared lock: some microseconds for each
 * filter. Returns 0, TAMIS_EINVAL, or an error of tamis_store_list(). */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_stat(tamis_store *store, struct tamis_store_stat *stat);

/* ---- The list of filters ------------------------------------------------------------------ */

/* Called once for each filter.  A value other than 0 ends the listing, which returns it. */
typedef int tamis_list_fn(void *context, const struct tamis_filter_stat *stat);

/*
 * Calls `fn` for each filter whose name begins with `prefix` (NULL: all), in byte order of the
 * names.  Reads the catalog only: items and states are as of each filter's last checkpoint.  The
 * list is one consistent snapshot, and no lock is held while `fn` runs, so `fn` may call the
 * library.  The snapshot takes some 400 bytes of memory for each filter; a cursor takes a constant
 * amount.
 *
 * Returns  0, or the value other than 0 that fn returned.  TAMIS_EINVAL: store or fn is NULL.
 *          TAMIS_EBUSY, TAMIS_ECORRUPT, TAMIS_EVERSION, TAMIS_ENOSTORE: the store was removed,
 *          TAMIS_EACCESS, TAMIS_EIO, TAMIS_ENOMEM, TAMIS_ELIMIT.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_list(tamis_store *store, const char *prefix,
                                                tamis_list_fn *fn, void *context);

/*
 * Lists filters as tamis_store_list() does, with items, sizes and states as they are now: the call
 * reads the header of each segment, without mapping it.  This costs some 5 us more for each
 * segment, and a read of the disk if the header is not in memory.  The list of filters is a
 * snapshot; their counts are not, because the call reads one header after the other, without a
 * lock.  A filter whose headers cannot be read is told as the catalog has it, which is no error.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_store_list_live(tamis_store *store, const char *prefix,
                                                     tamis_list_fn *fn, void *context);

/*
 * Opens a cursor, which tells of one filter after the other, for a store that may have millions.  A
 * cursor reads the catalog 32 filters at a time, so its memory is constant, and no lock is held
 * between two calls.  It tells of a filter what tamis_store_list() tells.  The names come in byte
 * order, and no name comes twice.  The cursor is no snapshot: a filter that is made, dropped or
 * renamed meanwhile may come or not.
 *
 * store    its handle may be closed before the cursor; the store then stays open for the cursor.
 * prefix   as for tamis_store_list(); copied.
 * cursor   *cursor receives it; the caller closes it.  One thread at a time may use it.
 * Returns  0, TAMIS_EINVAL, TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_cursor_open(tamis_store *store, const char *prefix,
                                                 tamis_cursor **cursor);
/* Fills in *stat with the next filter.  Returns 1; 0 after the last filter; TAMIS_EINVAL; or an
 * error of tamis_store_list(), after which the call can be made again for the same filter. */
TAMIS_API TAMIS_MUST_CHECK int tamis_cursor_next(tamis_cursor *cursor,
                                                 struct tamis_filter_stat *stat);
/* Gives the cursor back.  NULL is allowed. */
TAMIS_API void tamis_cursor_close(tamis_cursor *cursor);

/* The library calls this function once for each filter that it could not sync, with a TAMIS_E*
 * code. tamis_last_error() says why.  A value other than 0 ends the call, which returns the value.
 */
typedef int tamis_unsynced_fn(void *context, const char *name, int error);

/*
 * Makes a checkpoint of many filters, as tamis_filter_sync() does of one.  A clean filter, to which
 * nobody has written since its last checkpoint, costs one read, and its checkpointed_at stays.  The
 * others are written one after the other, with one change of the catalog for each 64 of them.
 *
 * names    `count` names of filters; NULL: all filters of the store.
 * fn       NULL: the first filter that fails ends the call, which returns its error.
 * Returns  0: every key whose add had returned before the call now survives a power cut.  Above 0:
 *          how many filters could not be synced.  The value by which fn ended the call.  An error
 *          of the catalog: TAMIS_EBUSY, TAMIS_EIO, TAMIS_ENOMEM, TAMIS_EREADONLY.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_store_sync(tamis_store *store, const char *const *names,
                                                    size_t count, tamis_unsynced_fn *fn,
                                                    void *context);

/*
 * Makes a watch, with which a program lists the filters again and again, as `tamis top` does, at no
 * cost to the processes that use the store.  A look reads the catalog, under its shared lock, only
 * if its file has changed since the look before.  What changes all the time is in the headers of
 * segments, which need no lock.
 *
 * store    its handle may be closed before the watch; the store then stays open for the watch.
 * prefix   as for tamis_store_list(); copied.
 * watch    *watch receives the watch; the caller frees it.  One thread at a time may use it.
 * Returns  0, TAMIS_EINVAL, TAMIS_ENOMEM.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_watch_new(tamis_store *store, const char *prefix,
                                               tamis_watch **watch);

/*
 * Calls `fn` as tamis_store_list_live() does.  The first look waits for the catalog's lock.  Later
 * looks wait for nobody: while another process has the lock, a look tells of the filters of the
 * look before, with what their headers say now.  The member new_keys tells how many keys of a
 * filter were NEW since the look before.  If a window takes out a segment between two looks, the
 * keys that came to the segment after the earlier look are not counted.
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
