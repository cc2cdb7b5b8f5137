/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow_disk.c: loaded before redis-server, this makes the disk of a store slow, or sick.  The file
 * that the environment variable TAMIS_SLOW_DISK names says how: milliseconds that each sync of a
 * file of the store takes, -1 for a sync that fails, or -2 for a disk that stands still until the
 * file says something else.  The test may change it at any time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_of_store(int fd)
{
    char link[64], path[4096];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t bytes = readlink(link, path, sizeof path - 1);
    if (bytes < 0) return 0;
    path[bytes] = '\0';
    return strstr(path, "/tamis/") != NULL;
}

static int milliseconds(void)
{
    const char *path = getenv("TAMIS_SLOW_DISK");
    int wanted = 0;
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    if (file == NULL) return 0;
    if (fscanf(file, "%d", &wanted) != 1) wanted = 0;
    (void)fclose(file);
    return wanted;
}

#define FAILS (-1)
#define STANDS_STILL (-2)

static int sync_by(long call, int fd)
{
    int wanted = is_of_store(fd) ? milliseconds() : 0;
    while (wanted == STANDS_STILL) {
        (void)usleep(1000);
        wanted = milliseconds();
    }
    if (wanted == FAILS) {
        errno = EIO;
        return -1;
    }
    if (wanted > 0) (void)usleep((useconds_t)wanted * 1000);
    return (int)syscall(call, (long)fd);
}

int fsync(int fd)
{
    return sync_by(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return sync_by(SYS_fdatasync, fd);
}
