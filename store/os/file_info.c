/* SPDX-License-Identifier: BSD-2-Clause */
/* file_info.c: what the system tells of a file. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "os/io.h"

static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct tamis__file_info info_of(const struct stat *st)
{
    return (struct tamis__file_info){.bytes = (uint64_t)st->st_size,
                                     .allocated_bytes = (uint64_t)st->st_blocks * 512,
                                     .is_regular = S_ISREG(st->st_mode),
                                     .is_directory = S_ISDIR(st->st_mode),
                                     .mode = st->st_mode & 07777,
                                     .owner = st->st_uid,
                                     .group = st->st_gid,
                                     .device = st->st_dev,
                                     .inode = st->st_ino,
                                     .written_ns = ns_of(st->st_mtim),
                                     .changed_ns = ns_of(st->st_ctim),
                                     .links = (uint64_t)st->st_nlink};
}

int tamis__file_info(int fd, const char *what, struct tamis__file_info *info)
{
    struct stat st;
    if (tamis__may_fail("stat", what) || fstat(fd, &st) != 0)
        return tamis__fail_errno(errno, "examine", what);
    *info = info_of(&st);
    return 0;
}

int tamis__named_info(int dir_fd, const char *name, const char *what, struct tamis__file_info *info)
{
    struct stat st;
    if (tamis__may_fail("stat", what)) return tamis__fail_errno(errno, "examine", what);
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? TAMIS_ENOTFOUND : tamis__fail_errno(errno, "examine", what);
    *info = info_of(&st);
    return 0;
}
