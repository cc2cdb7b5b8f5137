/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file.c: catalog.mdb, looked at before LMDB does: is it a file of the store alone, is every page
 * of it sound, is it where the path of the store leads?
 */
#include <fcntl.h>
#include <string.h>

#include "base/error.h"
#include "catalog/lmdb.h"
#include "catalog/pages.h"
#include "file/inside.h"

#define NAME "catalog.mdb"
#define ASIDE_NAME "catalog.mdb.damaged"

/* Check the file's pages before LMDB follows them; see pages.h. */
static int check_pages(const struct tamis__catalog *catalog, int fd)
{
    struct tamis__file_info info;
    struct tamis__page_fault fault = {0, ""};
    void *map = NULL;
    int rc = tamis__file_info(fd, catalog->file_path, &info);
    if (rc < 0) return rc;
    rc = tamis__map(fd, info.bytes, false, catalog->file_path, &map);
    if (rc < 0) return rc;
    rc = tamis__pages_check(map, (size_t)info.bytes, &fault);
    if (rc == TAMIS_ENOMEM)
        rc = tamis__fail(rc, "out of memory checking %s", catalog->file_path);
    else if (rc < 0)
        rc = tamis__fail(rc,
                         "the catalog %s is damaged at byte %llu: %s; 'tamis repair' makes it anew",
                         catalog->file_path, (unsigned long long)fault.offset, fault.reason);
    const int whole = tamis__map_check(map, catalog->file_path);
    tamis__unmap(map, info.bytes);
    return whole < 0 ? whole : rc;
}

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

/* Are all names of this file ours: that of the catalog, and one that a repair, which died, was
 * putting it aside under? */
static int is_aside(const struct tamis__catalog *catalog, int fd)
{
    struct names_of names = {.catalog = catalog};
    int rc = tamis__file_info(fd, catalog->file_path, &names.file);
    if (rc == 0) rc = tamis__each_name(catalog->root_fd, catalog->file_path, count_name, &names);
    return rc < 0 ? rc : names.found == names.file.links;
}

/* Is it a file of ours alone, and the one that the path leads to, which the caller gave? */
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

int tamis__catalog_open_file(const struct tamis__catalog *catalog, int *fd)
{
    const char *what = catalog->file_path;
    int rc = tamis__open(catalog->root_fd, NAME, O_RDONLY, 0, what, fd);
    if (rc == TAMIS_ENOTFOUND)
        return tamis__fail(TAMIS_ENOSTORE,
                           "there is no store here: %s is missing; 'tamis create' makes a store",
                           what);
    if (rc < 0) return rc;
    rc = check_file(catalog, *fd);
    if (rc == 0) rc = check_pages(catalog, *fd);
    if (rc == 0) rc = tamis__same_file(*fd, what);
    if (rc == 0)
        rc = tamis__fail(TAMIS_ENOSTORE, "the store of %s was moved or replaced; open it again",
                         what);
    if (rc > 0) return 0;
    tamis__close(*fd);
    *fd = -1;
    return rc;
}
