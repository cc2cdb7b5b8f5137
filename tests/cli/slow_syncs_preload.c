/* SPDX-License-Identifier: BSD-2-Clause */
/* slow_syncs_preload.c: each fdatasync() takes a quarter of a second more, as on a disk that is
 * busy. */
#include <time.h>
#include <unistd.h>

int fdatasync(int fd)
{
    const struct timespec pause = {.tv_nsec = 250000000};
    (void)nanosleep(&pause, NULL);
    return fsync(fd);
}
