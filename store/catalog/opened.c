/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opened.c: opens catalog.mdb with LMDB, and keeps it open from one transaction of a handle to the
 * next.
 *
 * To open it, to map it and to touch the pages of a new mapping costs more than most transactions.
 * So the end of a transaction leaves the file open in `idle` (catalog.h), and the next one takes it
 * if the path of the store still leads to this file:
 *
 *     begin     the file that the path leads to is the one that is open:  take it
 *               it is another, or it was opened to read and we write:     close it, open anew
 *     end       nothing failed:                                           leave it, close what is
 *                                                                         there already
 *               LMDB, a page or a check failed:                           close it
 *
 * Between transactions LMDB holds no lock and no snapshot.  So others may commit meanwhile, and
 * every transaction reads the meta pages again.
 *
 * What was checked of the pages is kept as well.  It holds as long as the file's size, its times
 * and both meta pages are the same, so not after a commit.  Times tell only some milliseconds apart
 * on some kernels, so what is checked right after a write is not kept.
 */
#include <fcntl.h>

#include "catalog/lmdb.h"
#include "os/inside.h"

#define STANDARD_TRIES 100u /* to open the file while others close the descriptors 0 to 2 */
#define RACY_NS 20000000    /* two writes so near to each other may have one time */

/*
 * LMDB does not tell where it has mapped the file.  But a value that it has given lies there, and
 * every page says its own number (docs/format.md, 2).  So the first page is that many pages before
 * the page of the value.
 */
int tamis__txn_watch(struct tamis__catalog_txn *txn, const void *value)
{
    struct tamis__opened *o = &txn->opened;
    MDB_stat stat;
    if (o->guard != NULL) return 0;
    const int error = mdb_stat(txn->txn, txn->dbi, &stat);
    if (error) return tamis__fail_mdb(txn->catalog, error, "read");
    const char *page = (const char *)value - (uintptr_t)value % stat.ms_psize;
    uint64_t number;
    memcpy(&number, page, sizeof number);
    if (number >= TAMIS__CATALOG_MAP_BYTES / stat.ms_psize)
        return 0; /* damage; the caller will hear of it */
    void *map = (void *)(uintptr_t)(page - number * stat.ms_psize);
    /* LMDB writes with pwrite(): the mapping is for reading. */
    o->guard = tamis__guard_add(map, TAMIS__CATALOG_MAP_BYTES, false);
    if (o->guard == NULL)
        return tamis__fail(TAMIS_ENOMEM, "out of memory opening %s", txn->catalog->file_path);
    tamis__pages_move(o->pages, map);
    tamis__unmap(o->view, o->file.bytes);
    o->view = map;
    o->is_own_view = false;
    return 0;
}

/*
 * LMDB takes a path, and opens the file twice.  The path that it gets leads to the file that is
 * open, not to a file that may have its name by now.  Where /proc is not mounted, the name is used,
 * and checked afterwards.
 */
static int check_opened(const struct tamis__catalog_txn *txn, int fd, const char *path)
{
    int opened = -1;
    struct tamis__file_info a, b = {0};
    const int error = mdb_env_get_fd(txn->opened.env, &opened);
    (void)fcntl(opened, F_SETFD, FD_CLOEXEC); /* LMDB 0.9 sets it for its other descriptor alone */
    if (error) return tamis__fail_mdb(txn->catalog, error, "open");
    int rc = tamis__file_info(fd, path, &a);
    if (rc == 0) rc = tamis__file_info(opened, path, &b);
    if (rc < 0 || (a.device == b.device && a.inode == b.inode)) return rc;
    return tamis__fail(TAMIS_EFOREIGN, "%s was replaced while it was opened; try again", path);
}

/* Has LMDB got a standard descriptor, which was closed?  What the program prints would come into
 * the catalog. */
static bool is_standard(MDB_env *env)
{
    int fd = -1;
    return mdb_env_get_fd(env, &fd) != 0 || tamis__is_at_standard(fd);
}

/* Makes LMDB's environment.  Returns 0 or LMDB's error. */
static int make_environment(struct tamis__catalog_txn *txn, const char *path)
{
    const unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS;
    int error = mdb_env_create(&txn->opened.env);
    if (error) return error;
    tamis__mdb_watch(txn);
    txn->opened.writable = txn->exclusive;
    error = mdb_env_set_mapsize(txn->opened.env, TAMIS__CATALOG_MAP_BYTES);
    if (error) return error;
    return mdb_env_open(txn->opened.env, path, flags | (txn->exclusive ? 0 : MDB_RDONLY), 0600);
}

static int open_environment(struct tamis__catalog_txn *txn, int fd, const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const bool by_descriptor = tamis__exists(AT_FDCWD, path, path) == 1;
    for (unsigned left = STANDARD_TRIES; left > 0; left--) {
        int error = tamis__fill_standard();
        if (!error) error = make_environment(txn, by_descriptor ? path : name);
        if (error) return tamis__fail_mdb(txn->catalog, error, "open");
        if (!is_standard(txn->opened.env)) break;
        mdb_env_close(txn->opened.env);
        txn->opened.env = NULL;
    }
    if (txn->opened.env != NULL) return check_opened(txn, fd, name);
    return tamis__fail(TAMIS_ESYSTEM,
                       "cannot open %s: the program keeps closing its descriptors 0 to 2; open "
                       "/dev/null there",
                       name);
}

int tamis__txn_open(struct tamis__catalog_txn *txn, int fd, const char *name)
{
    if (txn->opened.env == NULL) {
        const int rc = open_environment(txn, fd, name);
        if (rc < 0) return rc;
    }
    tamis__mdb_watch(txn);
    int error = tamis__mdb_begin(txn);
    if (!error) error = mdb_dbi_open(txn->txn, NULL, 0, &txn->dbi);
    if (error) txn->unsure = true;
    return tamis__fail_mdb(txn->catalog, error, "open");
}

/* ---- From one transaction to the next -------------------------------------------------------- */

void tamis__opened_close(struct tamis__opened *o)
{
    tamis__guard_remove(o->guard);
    if (o->env != NULL) mdb_env_close(o->env);
    tamis__pages_close(o->pages);
    if (o->is_own_view) tamis__unmap(o->view, o->file.bytes);
    *o = (struct tamis__opened){.env = NULL};
}

static void forget_pages(struct tamis__opened *o)
{
    tamis__pages_close(o->pages);
    o->pages = NULL;
    o->is_checked = false;
}

static bool is_same_state(const struct tamis__file_info *a, const struct tamis__file_info *b)
{
    return a->bytes == b->bytes && a->written_ns == b->written_ns && a->changed_ns == b->changed_ns;
}

void tamis__txn_take_opened(struct tamis__catalog_txn *txn, const struct tamis__file_info *file)
{
    struct tamis__opened *o = &txn->opened;
    struct tamis__opened *idle = __atomic_exchange_n(txn->catalog->idle, NULL, __ATOMIC_ACQ_REL);
    if (idle == NULL) return;
    *o = *idle;
    free(idle);
    if (o->file.device != file->device || o->file.inode != file->inode ||
        file->bytes > TAMIS__CATALOG_MAP_BYTES || (txn->exclusive && !o->writable))
        tamis__opened_close(o);
    else if (o->pages != NULL &&
             (!is_same_state(&o->file, file) || !tamis__pages_are_current(o->pages)))
        forget_pages(o);
}

bool tamis__catalog_is_racy(const struct tamis__file_info *file)
{
    const int64_t last = file->written_ns > file->changed_ns ? file->written_ns : file->changed_ns;
    return tamis__now_ns() - last < RACY_NS; /* also if that time is to come */
}

/* Leaves the file open.  Returns false if that cannot be. */
static bool leave(struct tamis__catalog_txn *txn)
{
    struct tamis__opened *o = &txn->opened;
    if (!txn->catalog->stays_open || o->guard == NULL || txn->broken || txn->unsure ||
        tamis__guard_is_broken(o->guard))
        return false;
    struct tamis__opened *idle = malloc(sizeof *idle);
    if (idle == NULL) return false;
    if (tamis__catalog_is_racy(&o->file)) forget_pages(o);
    *idle = *o;
    *o = (struct tamis__opened){.env = NULL};
    idle = __atomic_exchange_n(txn->catalog->idle, idle, __ATOMIC_ACQ_REL);
    if (idle != NULL) tamis__opened_close(idle); /* another thread's */
    free(idle);
    return true;
}

void tamis__txn_close(struct tamis__catalog_txn *txn)
{
    if (txn->txn != NULL) mdb_txn_abort(txn->txn);
    txn->txn = NULL;
    if (!leave(txn)) tamis__opened_close(&txn->opened);
}

void tamis__peek_close(struct tamis__peek *p)
{
    if (p == NULL) return;
    tamis__close(p->fd);
    free(p->metas);
    free(p->kept);
    free(p);
}
