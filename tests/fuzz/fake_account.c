/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_account.c: what the module allocates, in memory and on the disk (fake_server.h). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_parts.h"
#include "fuzz.h"

/* A fuzzer must not fill the disk: nobody gets more at once. */
#define DISK_MOST ((uint64_t)64 << 20)

static uint64_t held, most, disk;

#define HEAD 16u /* keeps what follows aligned */

void *fake_Alloc(size_t bytes)
{
    uint64_t *block = malloc(HEAD + bytes);
    FUZZ_CHECK(block != NULL);
    *block = bytes;
    held += bytes;
    if (held > most) most = held;
    return (char *)block + HEAD;
}

void fake_Free(void *memory)
{
    if (memory == NULL) return;
    uint64_t *block = (uint64_t *)(void *)((char *)memory - HEAD);
    held -= *block;
    free(block);
}

void *fake_Calloc(size_t count, size_t each)
{
    void *memory = fake_Alloc(count * each);
    memset(memory, 0, count * each);
    return memory;
}

void *fake_Realloc(void *memory, size_t bytes)
{
    void *other = fake_Alloc(bytes);
    if (memory != NULL) {
        const uint64_t before = *(uint64_t *)(void *)((char *)memory - HEAD);
        memcpy(other, memory, before < bytes ? before : bytes);
    }
    fake_Free(memory);
    return other;
}

char *fake_Strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    return memcpy(fake_Alloc(bytes), text, bytes);
}

/* These two stand before libc's: what a segment takes of the disk is asked for by them. */
int fallocate64(int fd, int mode, off64_t offset, off64_t bytes)
{
    disk += (uint64_t)bytes;
    if ((uint64_t)bytes > DISK_MOST) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
}

int posix_fallocate64(int fd, off64_t offset, off64_t bytes)
{
    return fallocate64(fd, 0, offset, bytes) == 0 ? 0 : errno;
}

uint64_t fake_held_bytes(void)
{
    return held;
}

uint64_t fake_most_bytes(void)
{
    return most;
}

uint64_t fake_disk_bytes(void)
{
    return disk;
}

void fake_account_begin(void)
{
    most = held;
    disk = 0;
}
