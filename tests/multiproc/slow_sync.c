/* SPDX-License-Identifier: BSD-2-Clause */
/* slow_sync.c: functions of libc's names in the program, which come before libc's. */
#include "slow_sync.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

unsigned slow_sync_ms;

static void delay(void)
{
    if (slow_sync_ms > 0) (void)usleep(slow_sync_ms * 1000);
}

int fsync(int fd)
{
    delay();
    return (int)syscall(SYS_fsync, (long)fd);
}

int fdatasync(int fd)
{
    delay();
    return (int)syscall(SYS_fdatasync, (long)fd);
}

int msync(void *address, size_t bytes, int flags)
{
    if (flags & MS_SYNC) delay();
    return (int)syscall(SYS_msync, address, bytes, (long)flags);
}
