/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c: checks catalog.mdb before LMDB does: is it a file of the store alone, is every page of it
 * sound, and does the path of the store lead to it?
 */
#include <fcntl.h>
#include <string.h>

#include "base/error.h"
#include "catalog/lmdb.h"
#include "catalog/pages.h"
#include "file/inside.h"

#define NAME "catalog.mdb"
#define ASIDE_NAME "catalog.mdb.damaged"

/* ---- Pages ----------------------------------------------------------------------------------- */

/* Turns a fault of a page into a sentence.  TAMIS_ECORRUPT too if a page could not be had. */
static int answer(const struct tamis__catalog_txn *txn, int rc,
                  const struct tamis__page_fault *fault)
{
    const char *what = txn->catalog->file_path;
    if (rc == TAMIS_ENOMEM)
        rc = tamis__fail(rc, "out of memory checking %s", what);
    else if (rc < 0)
        rc = tamis__fail(rc,
                         "the catalog %s is damaged at byte %llu: %s; 'tamis repair' makes it anew",
                         what, (unsigned long long)fault->offset, fault->reason);
    const int whole = tamis__map_check(txn->map, what);
    return whole < 0 ? whole : rc;
}

int tamis__txn_check_key(struct tamis__catalog_txn *txn, MDB_val key)
{
    struct tamis__page_fault fault = {0, ""};
    if (txn->pages == NULL || txn->is_checked) return 0;
    return answer(txn, tamis__pages_check_key(txn->pages, key.mv_data, key.mv_size, &fault),
                  &fault);
}

int tamis__txn_check_pages(struct tamis__catalog_txn *txn)
{
    struct tamis__page_fault fault = {0, ""};
    if (txn->pages == NULL || txn->is_checked) return 0;
    txn->is_checked = true;
    return answer(txn, tamis__pages_check_all(txn->pages, &fault), &fault);
}

void tamis__txn_unmap(struct tamis__catalog_txn *txn)
{
    tamis__pages_close(txn->pages);
    if (txn->map != NULL) tamis__unmap(txn->map, txn->map_bytes);
    txn->pages = NULL;
    txn->map = NULL;
}

static struct tamis__catalog_memory memory_of(const struct tamis__file_info *info,
                                              uint64_t transaction)
{
    return (struct tamis__catalog_memory){.device = info->device,
                                          .inode = info->inode,
                                          .bytes = info->bytes,
                                          .written_ns = (uint64_t)info->written_ns,
                                          .changed_ns = (uint64_t)info->changed_ns,
                                          .transaction = transaction};
}

void tamis__txn_remember(const struct tamis__catalog_txn *txn, int fd, uint64_t transaction)
{
    struct tamis__file_info info;
    *txn->catalog->memory = (struct tamis__catalog_memory){0};
    if (tamis__file_info(fd, txn->catalog->file_path, &info) == 0)
        *txn->catalog->memory = memory_of(&info, transaction);
}

/* Checks the pages that LMDB begins with; to write, all pages, unless they are known from
 * the last time. */
static int check_pages(struct tamis__catalog_txn *txn, int fd)
{
    struct tamis__file_info info;
    struct tamis__page_fault fault = {0, ""};
    int rc = tamis__file_info(fd, txn->catalog->file_path, &info);
    if (rc < 0) return rc;
    rc = tamis__map(fd, info.bytes, false, txn->catalog->file_path, &txn->map);
    if (rc < 0) return rc;
    txn->map_bytes = info.bytes;
    rc = answer(txn, tamis__pages_open(txn->map, (size_t)info.bytes, &txn->pages, &fault), &fault);
    if (rc < 0 || !txn->exclusive) return rc;
    struct tamis__catalog_memory *memory = txn->catalog->memory;
    const struct tamis__catalog_memory is = memory_of(&info, tamis__pages_transaction(txn->pages));
    if (memcmp(memory, &is, sizeof is) == 0) {
        txn->is_checked = true;
        return 0;
    }
    *memory = (struct tamis__catalog_memory){0};
    rc = tamis__txn_check_pages(txn);
    if (rc == 0) *memory = is;
    return rc;
}

/* ---- The file -------------------------------------------------------------------------------- */

struct names_of {
    const struct tamis__catalog *catalog;
    struct tamis__file_info file;
    uint64_t found;
};

static int count_name(void *context, const char *name)
{
    struct names_of *names = context;
    struct tamis__file_info info;
    const int root = names->catalog->root_fd;
    int fd = -1;
    if (strcmp(name, NAME) != 0 && strncmp(name, ASIDE_NAME, strlen(ASIDE_NAME)) != 0) return 0;
    if (tamis__open(root, name, O_RDONLY, 0, name, &fd) < 0) return 0;
    const int rc = tamis__file_info(fd, name, &info);
    tamis__close(fd);
    if (rc < 0) return rc;
    names->found += info.device == names->file.device && info.inode == names->file.inode;
    return 0;
}

/* Are all names of this file ours: that of the catalog, and the one under which a repair, which
 * died, was keeping it? */
static int is_aside(const struct tamis__catalog *catalog, int fd)
{
    struct names_of names = {.catalog = catalog};
    int rc = tamis__file_info(fd, catalog->file_path, &names.file);
    if (rc == 0) rc = tamis__each_name(catalog->root_fd, catalog->file_path, count_name, &names);
    return rc < 0 ? rc : names.found == names.file.links;
}

/* Is it a file of ours alone, and the one that the caller's path leads to? */
static int check_file(const struct tamis__catalog *catalog, int fd)
{
    struct tamis__file_info info;
    int rc = tamis__file_info(fd, catalog->file_path, &info);
    if (rc < 0) return rc;
    if (!info.is_regular || info.bytes == 0)
        return tamis__fail(TAMIS_EFOREIGN, "%s is %s and no catalog; 'tamis repair' makes it anew",
                           catalog->file_path, info.is_regular ? "empty" : "not a regular file");
    if (info.links > 1) {
        rc = is_aside(catalog, fd);
        if (rc < 0) return rc;
        if (rc > 0) return tamis__inside_check_owner(catalog->root_fd, fd, catalog->file_path);
    }
    return tamis__inside_check(catalog->root_fd, fd, catalog->file_path);
}

int tamis__catalog_open_file(struct tamis__catalog_txn *txn, int *fd)
{
    const struct tamis__catalog *catalog = txn->catalog;
    const char *what = catalog->file_path;
    int rc = tamis__open(catalog->root_fd, NAME, O_RDONLY, 0, what, fd);
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail(TAMIS_ENOSTORE,
                           "there is no store here: %s is missing; 'tamis create' makes a store",
                           what);
    if (rc < 0) return rc;
    rc = check_file(catalog, *fd);
    if (rc == 0) rc = check_pages(txn, *fd);
    if (rc == 0) rc = tamis__same_file(*fd, what);
    if (rc == 0)
        rc = tamis__fail(TAMIS_ENOSTORE, "the store of %s was moved or replaced; open it again",
                         what);
    if (rc > 0) return 0;
    tamis__close(*fd);
    *fd = -1;
    return rc;
}
