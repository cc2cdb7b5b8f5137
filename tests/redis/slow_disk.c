/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow_disk.c: loaded before redis-server, this makes the disk of a store slow, or sick.  The file
 * that the environment variable TAMIS_SLOW_DISK names says how: milliseconds that each sync of a
 * file of the store takes, -1 for a sync that fails, or -2 for a disk that stands still until the
 * file says something else; -3: each child of a fork() stands still where it begins, until then;
 * -4: the thread that drops and renames filters (kept.c) stands still between two of its works.
 * The test may change it at any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
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

/* Allocates nothing: a child of a process with threads calls it. */
static int milliseconds(void)
{
    const char *path = getenv("TAMIS_SLOW_DISK");
    char text[16] = "";
    const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    if (read(fd, text, sizeof text - 1) < 0) *text = '\0';
    (void)close(fd);
    return (int)strtol(text, NULL, 10);
}

#define FAILS (-1)
#define STANDS_STILL (-2)
#define CHILDREN_STAND_STILL (-3)
#define THREAD_STANDS_STILL (-4)
#define PAUSE_NS 1000000 /* of that thread, and of no other one */

static void child_begins(void)
{
    while (milliseconds() == CHILDREN_STAND_STILL)
        (void)usleep(1000);
}

/* Handlers of a child run in the order of their registration: this is the first one. */
__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, child_begins);
}

/* Returns false for a sync that is to fail. */
static int may_sync(void)
{
    int wanted = milliseconds();
    while (wanted == STANDS_STILL) {
        (void)usleep(1000);
        wanted = milliseconds();
    }
    if (wanted == FAILS) errno = EIO;
    if (wanted > 0) (void)usleep((useconds_t)wanted * 1000);
    return wanted != FAILS;
}

static int sync_by(long call, int fd)
{
    return is_of_store(fd) && !may_sync() ? -1 : (int)syscall(call, (long)fd);
}

int fsync(int fd)
{
    return sync_by(SYS_fsync, fd);
}

/* The server itself maps no file. */
int msync(void *address, size_t bytes, int flags)
{
    return may_sync() ? (int)syscall(SYS_msync, address, bytes, (long)flags) : -1;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    const int rc = (int)syscall(SYS_nanosleep, time, left);
    while (time->tv_sec == 0 && time->tv_nsec == PAUSE_NS && milliseconds() == THREAD_STANDS_STILL)
        (void)usleep(1000);
    return rc;
}

int fdatasync(int fd)
{
    return sync_by(SYS_fdatasync, fd);
}
