/* SPDX-License-Identifier: BSD-2-Clause */
#include "small_disk.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"

const struct small_disk small_disks[] = {
    {"ext4", "truncate -s 48M \"$1\" && mkfs.ext4 -q -m 0 -O ^has_journal \"$1\"",
     "mount -o loop \"$1\" \"$2\"", 1},
    {"btrfs", "truncate -s 120M \"$1\" && mkfs.btrfs -q --mixed \"$1\"",
     "mount -o loop \"$1\" \"$2\"", 1},
    {"tmpfs", "true", "mount -t tmpfs -o size=32M tmpfs \"$2\"", 16},
};
const size_t small_disks_count = sizeof small_disks / sizeof small_disks[0];

static char filler[4096], mounted[4096];
static pid_t mounter;

static int run_shell(const char *command, const char *image, const char *directory)
{
    char line[1024];
    (void)snprintf(line, sizeof line,
                   "set -- '%s' '%s'; PATH=$PATH:/usr/sbin:/sbin; (%s) >/dev/null 2>&1", image,
                   directory, command);
    return system(line); // NOLINT(cert-env33-c): fixed commands
}

void small_disk_unmount(void)
{
    if (getpid() != mounter) return;
    if (*mounted != '\0' && umount2(mounted, MNT_DETACH) != 0) warn("umount %s", mounted);
    *mounted = '\0';
}

bool small_disk_mount(const struct small_disk *disk, const char *image, const char *root)
{
    if (mounter == 0) {
        (void)scratch_directory(); /* its end is registered first, so that it comes last */
        if (atexit(small_disk_unmount) != 0) err(1, "atexit");
    }
    mounter = getpid();
    if (mkdir(root, 0755) != 0) err(1, "%s", root);
    if (run_shell(disk->make, image, root) != 0 || run_shell(disk->mount, image, root) != 0)
        return false;
    (void)snprintf(filler, sizeof filler, "%s/filler", root);
    (void)snprintf(mounted, sizeof mounted, "%s", root);
    return true;
}

void small_disk_make_room(void)
{
    (void)unlink(filler);
}

void small_disk_fill(off_t spare)
{
    static char block[65536];
    const int fd = open(filler, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0) return; /* not even that: it is full */
    memset(block, 'x', sizeof block);
    off_t end = 0;
    for (off_t now = 64 << 20; now >= (off_t)sizeof block; now /= 2) /* most of it at once */
        while (fallocate(fd, 0, end, now) == 0)
            end += now;
    if (lseek(fd, end, SEEK_SET) != end) err(1, "%s", filler);
    for (size_t now = sizeof block; now >= 512; now /= 2)
        while (write(fd, block, now) == (ssize_t)now)
            continue;
    (void)fsync(fd); /* what is only promised is found out */
    struct stat st;
    if (fstat(fd, &st) == 0 && spare > 0)
        (void)ftruncate(fd, st.st_size > spare ? st.st_size - spare : 0);
    (void)fsync(fd);
    (void)close(fd);
}
