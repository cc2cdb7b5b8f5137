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
 */
#include <sys/sysmacros.h>
#include <unistd.h>

#include "file/io.h"

#define LOCKS_PATH "/proc/locks"
/* Enough for some 4,000 locks.  A holder behind them stays unknown. */
#define LOCKS_BYTES ((size_t)256 * 1024)

/* Returns the process that a line names if it holds a lock on that file; else 0. */
static int64_t holder_of_line(const char *line, const struct tamis__file_info *file)
{
    int64_t pid = 0;
    unsigned device_major = 0, device_minor = 0;
    uint64_t inode = 0;
    if (sscanf(line, "%*d: FLOCK %*s %*s %" SCNd64 " %x:%x:%" SCNu64, &pid, &device_major,
               &device_minor, &inode) != 4)
        return 0;
    const bool same = inode == file->inode && device_major == major(file->device) &&
                      device_minor == minor(file->device);
    return same && pid > 0 ? pid : 0;
}

int64_t tamis__lock_holder(int fd)
{
    struct tamis__file_info file;
    int64_t holder = 0;
    if (fd < 0 || tamis__file_info(fd, LOCKS_PATH, &file) < 0) return 0;
    char *text = malloc(LOCKS_BYTES);
    if (text == NULL) return 0;
    char *rest = text;
    if (tamis__read_text(LOCKS_PATH, text, LOCKS_BYTES) < 0) *text = '\0';
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        const int64_t pid = holder_of_line(line, &file);
        if (pid == 0) continue;
        holder = pid;
        if (pid != getpid())
            break; /* another thread of ours may share a lock with the holder that keeps us out */
    }
    free(text);
    return holder;
}
