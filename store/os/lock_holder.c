/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_holder.c: which process has a file locked, for a sentence to a user.
 *
 * The kernel lists all locks in /proc/locks, one in each line.  The line of a process that waits
 * for a lock has "->" in it:
 *
 *     12: FLOCK  ADVISORY  WRITE 4711 fd:01:1835021 0 EOF
 *     12: -> FLOCK  ADVISORY  WRITE 4712 fd:01:1835021 0 EOF
 *
 * The numbers of the device are hexadecimal.  A file system with devices of its own making (btrfs,
 * overlayfs) is listed under another device than stat(2) tells: there the holder stays unknown.
 *
 * A server has tens of thousands of locks, and the kernel gives some 70 lines at a read.  Between
 * two reads it counts the lines from the start.  So if others unlock meanwhile, a line may be left
 * out, and the list is read again if the holder was not in it.
 */
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/io.h"

#define LOCKS_PATH "/proc/locks"
#define READS 3u /* of the whole list */

struct search {
    struct tamis__file_info file;
    int64_t holder;
};

/* Notes the process that a line names, if it holds a lock on the file.  Returns 1 if it is another
 * process than this: another thread of ours may share a lock with the holder that keeps us out. */
static int look_at_line(void *context, const char *line)
{
    struct search *search = context;
    int64_t pid = 0;
    unsigned device_major = 0, device_minor = 0;
    uint64_t inode = 0;
    if (sscanf(line, "%*d: FLOCK %*s %*s %" SCNd64 " %x:%x:%" SCNu64, &pid, &device_major,
               &device_minor, &inode) != 4)
        return 0;
    const bool same = inode == search->file.inode && device_major == major(search->file.device) &&
                      device_minor == minor(search->file.device);
    if (!same || pid <= 0) return 0;
    search->holder = pid;
    return pid != getpid();
}

int64_t tamis__lock_holder(int fd)
{
    struct search search = {.holder = 0};
    if (fd < 0 || tamis__file_info(fd, LOCKS_PATH, &search.file) < 0) return 0;
    for (unsigned i = 0; i < READS && search.holder == 0; i++)
        if (tamis__each_line(LOCKS_PATH, look_at_line, &search) < 0) break;
    return search.holder;
}
