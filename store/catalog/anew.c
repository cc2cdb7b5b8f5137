/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * anew.c: makes a whole catalog: the first one of a store, one that is made again from the
 * segments, or that of a copy.
 *
 * It is built under the exclusive lock beside its place, in catalog.mdb.new.  The rename makes it
 * appear whole.  If a maker dies, the next maker removes the file.
 */
#include <fcntl.h>

#include "catalog/lmdb.h"
#include "catalog/points.h"
#include "os/inside.h"
#include "segment/segment.h"

#define NAME "catalog.mdb"
#define NEW_NAME "catalog.mdb.new"

int tamis__catalog_begin_new(const struct tamis__catalog *catalog,
                             const struct tamis__store_record *store,
                             struct tamis__catalog_txn **out)
{
    char *path = NULL;
    int fd = -1, rc = tamis__unlink(catalog->root_fd, NEW_NAME, catalog->file_path);
    if (rc < 0) return rc;
    struct tamis__catalog_txn *txn = calloc(1, sizeof *txn);
    if (txn == NULL || asprintf(&path, "%s.new", catalog->file_path) < 0) {
        free(txn);
        return tamis__fail(TAMIS_ENOMEM, "out of memory making %s", catalog->file_path);
    }
    *txn = (struct tamis__catalog_txn){
        .catalog = catalog, .lock = {.fd = -1}, .exclusive = true, .store = *store};
    rc = tamis__inside_make(catalog->root_fd, catalog->root_fd, NEW_NAME, path, &fd);
    if (rc == 0) rc = tamis__txn_open(txn, fd, path);
    tamis__close(fd);
    free(path);
    if (rc < 0) {
        tamis__catalog_end(txn);
        return rc;
    }
    *out = txn;
    return 0;
}

int tamis__catalog_install_new(struct tamis__catalog_txn *txn)
{
    const struct tamis__catalog *catalog = txn->catalog;
    int rc = tamis__catalog_commit(txn);
    tamis__txn_close(txn);
    TAMIS__POINT(TAMIS__POINT_CATALOG_WRITTEN);
    if (rc == 0)
        rc = tamis__rename(catalog->root_fd, NEW_NAME, catalog->root_fd, NAME, catalog->file_path);
    return rc < 0 ? rc : tamis__sync_file(catalog->root_fd, catalog->file_path);
}

static int find_segment(void *context, const char *name)
{
    (void)context;
    return tamis__segment_number(name) != 0 || tamis__is_drawer(name);
}

int tamis__catalog_is_lost(const struct tamis__catalog *catalog)
{
    int fd = -1, rc = tamis__exists(catalog->root_fd, NAME, catalog->file_path);
    if (rc != 0) return rc < 0 ? rc : 0;
    rc = tamis__open(catalog->root_fd, "segments", O_RDONLY | O_DIRECTORY, 0, catalog->file_path,
                     &fd);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc < 0) return rc;
    rc = tamis__each_name(fd, catalog->file_path, find_segment, NULL);
    tamis__close(fd);
    return rc;
}

int tamis__fail_lost(const struct tamis__catalog *catalog)
{
    return tamis__fail(TAMIS_ECORRUPT,
                       "the catalog %s is missing, though there are segments; 'tamis repair' makes "
                       "it anew from them",
                       catalog->file_path);
}

static int make_first(const struct tamis__catalog *catalog, const struct tamis__private_fd *lock)
{
    struct tamis__catalog_txn *txn;
    struct tamis__store_record store = {
        .next_filter_id = 1, .next_segment = 1, .created_at = tamis__now_ns()};
    int rc = tamis__catalog_is_lost(catalog);
    /* An empty catalog would not know these segments, and would give their numbers out again. */
    if (rc > 0) return tamis__fail_lost(catalog);
    if (rc < 0) return rc;
    tamis__random_bytes(&store.store_id, sizeof store.store_id);
    if (catalog->mode != 0) /* the lock may be from a maker that asked for another mode and died */
        rc = tamis__inside_set_mode(lock->fd, catalog->mode, catalog->lock_path);
    if (rc < 0) return rc;
    rc = tamis__catalog_begin_new(catalog, &store, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_install_new(txn);
    tamis__catalog_end(txn);
    return rc;
}

int tamis__catalog_create(const struct tamis__catalog *catalog)
{
    struct tamis__private_fd lock = {.fd = -1};
    int rc = tamis__exists(catalog->root_fd, NAME, catalog->file_path);
    if (rc < 0) return rc;
    if (rc == 0) {
        rc = tamis__catalog_hold(catalog, TAMIS__LOCK_EXCLUSIVE, &lock);
        if (rc == 0) rc = tamis__exists(catalog->root_fd, NAME, catalog->file_path);
        /* The store's directories come first: after a power cut no catalog is there without them.
         */
        if (rc == 0) rc = tamis__sync_file(catalog->root_fd, catalog->file_path);
        if (rc == 0) rc = make_first(catalog, &lock);
        tamis__private_close(&lock);
    }
    /* The maker may have died before its sync, and we are about to rely on the name. */
    return rc < 0 ? rc : tamis__sync_file(catalog->root_fd, catalog->file_path);
}
