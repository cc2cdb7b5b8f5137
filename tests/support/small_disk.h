/* SPDX-License-Identifier: BSD-2-Clause */
/* small_disk.h: small file systems that a test mounts and fills to the last block.  Needs root. */
#ifndef TAMIS_SUPPORT_SMALL_DISK_H
#define TAMIS_SUPPORT_SMALL_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct small_disk {
    const char *name, *make, *mount; /* shell commands; $1 the image, $2 the directory */
    off_t sweep_blocks;              /* of room that is worth trying each of */
};
extern const struct small_disk small_disks[];
extern const size_t small_disks_count;

/* Mount one on the directory `root`, which is made; its image is made too.  false: not possible
 * here.  One is mounted at a time, and unmounted at exit at the latest. */
bool small_disk_mount(const struct small_disk *disk, const char *image, const char *root);
void small_disk_unmount(void);

/* Take all room of it but `spare` bytes; give that back. */
void small_disk_fill(off_t spare);
void small_disk_make_room(void);

#endif
