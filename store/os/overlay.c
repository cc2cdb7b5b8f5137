/* SPDX-License-Identifier: BSD-2-Clause */
/* overlay.c: see overlay.h. */
#include "os/overlay.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/io.h"

#define HANDLE_FID 0x200 /* AT_HANDLE_FID: any file system has one, and it opens nothing */
#define OVERLAY_HANDLE 0xF8
#define OVERLAY_HANDLE_MAGIC 0xFB
#define OVERLAY_HANDLE_UPPER 0x04

int tamis__is_overlay(int fd, const char *what, bool *is)
{
    uint32_t type = 0;
    const int rc = tamis__file_system_type(fd, what, &type);
    *is = type == OVERLAYFS_SUPER_MAGIC;
    return rc;
}

/*
 * Was the file made in the upper layer?  From Linux 6.6 on, the handle of a file on overlayfs says
 * so, to anybody (struct ovl_fb of fs/overlayfs/overlayfs.h: type 0xF8, three bytes and the version
 * before the magic number 0xFB, then length and flags).  A file that was copied up has the same
 * handle as one in a lower layer.
 */
static bool is_of_upper(int dir_fd, const char *name)
{
    union {
        struct file_handle handle;
        unsigned char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } file = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
    int mount_id;
    if (name_to_handle_at(dir_fd, name, &file.handle, &mount_id, HANDLE_FID) != 0) return false;
    const unsigned char *bytes = file.room + sizeof(struct file_handle);
    return file.handle.handle_type == OVERLAY_HANDLE && file.handle.handle_bytes > 6 &&
           bytes[4] == OVERLAY_HANDLE_MAGIC && (bytes[6] & OVERLAY_HANDLE_UPPER) != 0;
}

int tamis__overlay_copy_up(int dir_fd, const char *name, const char *what)
{
    int fd = -1;
    const int rc = tamis__open(dir_fd, name, O_RDWR, 0, what, &fd);
    if (rc == 0) {
        tamis__close(fd);
        return 0;
    }
    struct statfs fs;
    if (rc == TAMIS_ENOTFOUND ||
        (fstatfs(dir_fd, &fs) == 0 && ((unsigned long)fs.f_flags & 1 /* ST_RDONLY */) != 0))
        return 0;
    if (rc != TAMIS_EACCESS) return rc;
    if (is_of_upper(dir_fd, name)) return 0;
    return tamis__fail_at(
        TAMIS_EUNSUPPORTED, what,
        "%s is on overlayfs, perhaps in a layer of a container image, and user %u "
        "may not write to it: a "
        "process that may would go on in a copy of it, and what that adds would be "
        "absent here; have the "
        "store on a volume, or in a directory that is copied when the container "
        "starts, or run that risk "
        "with --force-network-fs (TAMIS_OPEN_FORCE_NETWORK_FS)",
        what, geteuid());
}
