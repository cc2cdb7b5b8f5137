/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nosync.c: linked into a test that makes ten thousand transactions and cuts no power: fsync and
 * its kin do nothing, in LMDB too, as the program's symbols come before libc's.
 */
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

int fsync(int fd)
{
    (void)fd;
    return 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

int msync(void *address, size_t bytes, int flags)
{
    (void)address;
    (void)bytes;
    (void)flags;
    return 0;
}
