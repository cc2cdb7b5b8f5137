/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * temporary.h: a file of a store without a name, for what does not fit into memory.
 *
 * The file is made in staging/, on the file system that has to hold the result too, and is unlinked
 * at once.  So it goes away with the process, however the process dies.  A process that is killed
 * in between leaves an unlocked file there, which the next maker removes.  Children of fork() close
 * the file (private_fd.h).
 */
#pragma once

#include "segment/segment.h"

/* It must not be moved once it is made: the list of descriptors points to it. */
struct tamis__temporary {
    const struct tamis__place *place;
    struct tamis__private_fd file; /* not open: not made yet */
    uint64_t bytes;
};

void tamis__temporary_init(struct tamis__temporary *temporary, const struct tamis__place *place);
/* Makes the file if needed, and room for `bytes` more bytes at its end; *offset is where they
 * begin. */
int tamis__temporary_extend(struct tamis__temporary *temporary, uint64_t bytes, uint64_t *offset);
/* Writes within what it was extended to.  Any number of threads may write at different places. */
int tamis__temporary_write(const struct tamis__temporary *temporary, uint64_t offset,
                           const void *buffer, size_t bytes);
int tamis__temporary_read(const struct tamis__temporary *temporary, uint64_t offset, void *buffer,
                          size_t bytes);
/* Drops the file for good; it may be extended anew. */
void tamis__temporary_clear(struct tamis__temporary *temporary);
