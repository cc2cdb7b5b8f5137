/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait.c: how long a call waits for another process, and who is told of it.
 *
 * A call may need a lock that another process holds: the lock of the catalog, or one for growth.
 * It tries the lock, and calls tamis__store_wait() between two tries.  That function pauses for
 * 1/16 of the time waited so far, within limits.  So a lock that is held for one sync of a disk is
 * taken soon after it is free, and waiting some seconds for a lock costs almost no processor time.
 */
#include "txn/wait.h"

#include <fcntl.h>

#include "base/thread.h"
#include "txn/store.h"

#define PAUSE_MIN_US 200
/* If many writers take turns, nobody works during a pause, so pauses are short.  Whoever has waited
 * longer waits for a process that hangs. */
#define PAUSE_MAX_US 500
#define LONG_NS 1000000000
#define LONG_PAUSE_US 5000
#define NS_PER_US 1000
#define NS_PER_MS 1000000
#define NS_PER_S 1000000000

int tamis__fail_busy_timeout(int64_t milliseconds)
{
    return tamis__fail(TAMIS_EINVAL,
                       "a busy timeout of %" PRId64
                       " ms is out of range; use 0 (do not wait) to %d (a day)",
                       milliseconds, TAMIS_BUSY_TIMEOUT_MAX);
}

TAMIS_API int tamis_store_set_busy_timeout(tamis_store *store, int64_t milliseconds)
{
    if (store == NULL)
        return tamis__fail(TAMIS_EINVAL, "tamis_store_set_busy_timeout needs a store");
    if (milliseconds < 0 || milliseconds > TAMIS_BUSY_TIMEOUT_MAX)
        return tamis__fail_busy_timeout(milliseconds);
    /* ORDER relaxed: a number by itself. */
    __atomic_store_n(&store->busy_timeout_ms, milliseconds, __ATOMIC_RELAXED);
    return 0;
}

TAMIS_API int tamis_store_set_busy_callback(tamis_store *store, tamis_busy_fn *fn, void *context)
{
    if (store == NULL)
        return tamis__fail(TAMIS_EINVAL, "tamis_store_set_busy_callback needs a store");
    store->busy_fn = fn;
    store->busy_context = context;
    return 0;
}

static int64_t lock_holder(const struct tamis_store *store, int lock_fd)
{
    int fd = -1;
    if (lock_fd >= 0) return tamis__lock_holder(lock_fd);
    if (tamis__open(store->root_fd, "catalog.lock", O_RDONLY, 0, store->catalog.lock_path, &fd) < 0)
        return 0;
    const int64_t holder = tamis__lock_holder(fd);
    tamis__close(fd);
    return holder;
}

/* True in the library's own threads: the busy function is for the caller's threads. */
static TAMIS__THREAD bool is_silent;

void tamis__wait_silently(void)
{
    is_silent = true;
}

/* Tells the busy function when another second, or what the options of the store have in place of
 * that, is over.  Returns false if it says to stop waiting. */
static bool tell_busy_fn(const struct tamis_store *store, int64_t started_ns, int64_t waited_ns,
                         int lock_fd)
{
    /* How often this thread has reported the waiting that began at told_start_ns. */
    static TAMIS__THREAD int64_t told_start_ns, told_times;
    const int64_t times = waited_ns / NS_PER_MS / store->busy_every_ms;
    if (told_start_ns != started_ns) {
        told_start_ns = started_ns;
        told_times = 0;
    }
    if (store->busy_fn == NULL || is_silent || times <= told_times) return true;
    told_times = times;
    return store->busy_fn(store->busy_context, waited_ns / NS_PER_MS,
                          lock_holder(store, lock_fd)) == 0;
}

int tamis__store_wait(struct tamis_store *store, int64_t started_ns, int lock_fd)
{
    const int64_t waited_ns = tamis__steady_ns() - started_ns;
    /* ORDER relaxed: a number by itself. */
    const int64_t left_ns =
        __atomic_load_n(&store->busy_timeout_ms, __ATOMIC_RELAXED) * NS_PER_MS - waited_ns;
    if (left_ns <= 0 || !tell_busy_fn(store, started_ns, waited_ns, lock_fd)) return 0;
    int64_t pause_us = waited_ns / NS_PER_US / 16;
    if (pause_us < PAUSE_MIN_US) pause_us = PAUSE_MIN_US;
    if (pause_us > PAUSE_MAX_US) pause_us = waited_ns < LONG_NS ? PAUSE_MAX_US : LONG_PAUSE_US;
    tamis__pause_us((unsigned)pause_us);
    return 1;
}

int tamis__fail_busy(const struct tamis_store *store, int64_t started_ns, int lock_fd,
                     const char *what)
{
    char holder[64] = "another process";
    const int64_t pid = lock_holder(store, lock_fd);
    if (pid > 0) (void)snprintf(holder, sizeof holder, "process %" PRId64, pid);
    return tamis__fail(TAMIS_EBUSY,
                       "%s: %s has held a lock of the store %s for %.1f s; try again, end that "
                       "process if it hangs, or wait longer (--wait, "
                       "tamis_store_set_busy_timeout())",
                       what, holder, store->place.path,
                       (double)(tamis__steady_ns() - started_ns) / NS_PER_S);
}

/* For struct tamis__catalog, which says what it does. */
static int wait_for_catalog(void *context, int64_t started_ns, int lock_fd)
{
    struct tamis_store *store = context;
    if (tamis__store_wait(store, started_ns, lock_fd)) return 1;
    return tamis__fail_busy(store, started_ns, lock_fd, "the catalog is locked");
}

int tamis__store_init_catalog(struct tamis_store *store, bool read_only)
{
    const int rc =
        tamis__catalog_init(&store->catalog, store->root_fd, store->place.path, read_only);
    store->catalog.wait = wait_for_catalog;
    store->catalog.wait_context = store;
    return rc;
}
