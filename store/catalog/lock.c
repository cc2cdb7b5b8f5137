/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock.c: how a transaction gets the catalog's lock, and how a writer gets it among readers.
 *
 * The lock is flock(2) on catalog.lock.  It is only ever tried.  Who does not get it pauses, and
 * tries again.  flock alone is not fair: eight processes that kept reading kept a writer out for
 * 40 s, as there was always a reader inside.  So a writer that waits announces itself, and readers
 * that come let it go first:
 *
 *     writer    the lock is not free:  write the time into catalog.lock; pause; try again
 *               it has the lock, or gives up:  wipe the time, if it wrote one
 *     reader    the time is less than LEASE_NS old:  pause, as if a writer had the lock
 *               it has let writers go first for YIELD_NS, or its patience ends:  try all the same
 *
 * The time is a lease: a writer that waits renews it between its tries.  Nothing else is held while
 * one waits.  So a process that is stopped or killed while it waits keeps readers out for LEASE_NS
 * and writers not at all, and nobody who cannot write to the store can keep anybody waiting by
 * this.
 *
 * Writers pay no heed to the announcement: of those that wait, one gets the lock by chance.  Nor
 * does a call that does not want to wait: it asks once a publication, or once a refresh, and that
 * is too seldom to keep a writer out.
 *
 * The time is that of CLOCK_MONOTONIC.  Where it makes no sense (a container with a clock of its
 * own, a note from before a boot) it counts as none, and then a lock is got by chance, as flock
 * gives it.
 */
#include <fcntl.h>

#include "catalog/lmdb.h"
#include "os/inside.h"

#define PAUSE_US 1000
/* Longer than a pause and than a busy machine keeps a process from running; seldom longer. */
#define LEASE_NS 200000000
#define YIELD_NS 1000000000
/* Where the announcement stands in catalog.lock, behind the note (file.c). */
#define ANNOUNCEMENT_AT 512u

static int open_lock(const struct tamis__catalog *catalog, struct tamis__private_fd *held)
{
    static const char name[] = "catalog.lock";
    const char *what = catalog->lock_path;
    const int root = catalog->root_fd, flags = catalog->read_only ? O_RDONLY : O_RDWR;
    int rc = tamis__private_open(root, name, flags, 0, what, held);
    if (rc == TAMIS_ENOTFOUND && !catalog->read_only) {
        rc = tamis__inside_make_once(root, name, catalog->mode, what);
        if (rc == 0) rc = tamis__private_open(root, name, flags, 0, what, held);
    }
    if (rc == TAMIS_EACCESS) return tamis__inside_fail_denied(root, catalog->read_only, what);
    return rc < 0 ? rc : tamis__inside_check(root, held->fd, what);
}

/* Somebody who takes the lock. */
struct taking {
    const struct tamis__catalog *catalog;
    enum tamis__lock lock;
    int fd;
    int64_t started_ns; /* when the waiting began */
    bool has_announced;
};

static bool is_announced(int fd, uint64_t lease_ns)
{
    uint64_t at; /* anything may stand there */
    return tamis__read_hint(fd, &at, sizeof at, ANNOUNCEMENT_AT) &&
           (uint64_t)tamis__steady_ns() - at < lease_ns;
}

/* Renews the lease, also that of another writer, which may wipe it at any moment. */
static void announce(struct taking *taking)
{
    const uint64_t now = (uint64_t)tamis__steady_ns();
    if (!is_announced(taking->fd, LEASE_NS / 4))
        (void)tamis__write_hint(taking->fd, &now, sizeof now, ANNOUNCEMENT_AT);
    taking->has_announced = true;
}

static void withdraw(const struct taking *taking)
{
    const uint64_t none = 0;
    if (taking->has_announced)
        (void)tamis__write_hint(taking->fd, &none, sizeof none, ANNOUNCEMENT_AT);
}

/* Does a reader let a writer go first? */
static bool yields(const struct taking *taking)
{
    return taking->lock == TAMIS__LOCK_SHARED && is_announced(taking->fd, LEASE_NS) &&
           tamis__steady_ns() - taking->started_ns < YIELD_NS;
}

/* Returns 1 if the lock is ours, 0 if it is not free. */
static int try_lock(const struct taking *taking)
{
    return tamis__try_lock(taking->fd, taking->lock, taking->catalog->lock_path);
}

/* Pauses before the next try.  Returns 0, or an error if the caller's patience is at its end. */
static int pause_once(const struct taking *taking)
{
    const struct tamis__catalog *catalog = taking->catalog;
    if (catalog->wait == NULL) {
        tamis__pause_us(PAUSE_US);
        return 0;
    }
    const int rc = catalog->wait(catalog->wait_context, taking->started_ns, taking->fd);
    return rc < 0 ? rc : 0;
}

static int wait_for_lock(struct taking *taking)
{
    int rc;
    taking->started_ns = tamis__steady_ns();
    for (;;) {
        rc = yields(taking) ? 0 : try_lock(taking);
        if (rc != 0) break;
        if (taking->lock == TAMIS__LOCK_EXCLUSIVE) announce(taking);
        rc = pause_once(taking);
        if (rc < 0 && try_lock(taking) > 0)
            rc = 1; /* a lock that is free is not said to be taken */
        if (rc != 0) break;
    }
    withdraw(taking);
    return rc;
}

int tamis__catalog_lock(const struct tamis__catalog *catalog, enum tamis__lock lock, bool if_free,
                        struct tamis__private_fd *held)
{
    const char *what = catalog->lock_path;
    struct taking taking = {.catalog = catalog, .lock = lock};
    const int rc = open_lock(catalog, held);
    if (rc == TAMIS_ENOTFOUND && catalog->read_only) return 1; /* a copy without it has no writer */
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail_at(TAMIS_ENOSTORE, what, "the store of %s was removed; open it again",
                              what);
    if (rc < 0) return rc;
    taking.fd = held->fd;
    return if_free ? try_lock(&taking) : wait_for_lock(&taking);
}

int tamis__catalog_hold(const struct tamis__catalog *catalog, enum tamis__lock lock,
                        struct tamis__private_fd *held)
{
    const int rc = tamis__catalog_lock(catalog, lock, false, held);
    if (rc < 0) tamis__private_close(held);
    return rc < 0 ? rc : 0;
}
