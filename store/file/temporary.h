/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * temporary.h: a file of a store without a name, for what does not fit into memory.
 *
 * It is made in staging/, on the file system that has to hold the result too, and is unlinked at
 * once, so it goes with the process, by whatever death.  Who is killed in between leaves an
 * unlocked file there, which the next maker removes.  Children of fork() close it (private_fd.h).
 */
#ifndef TAMIS_FILE_TEMPORARY_H
#define TAMIS_FILE_TEMPORARY_H

#include <stddef.h>
#include <stdint.h>

#include "file/segment.h"

/* Not to be moved once it is made: the list of descriptors points to it. */
struct tamis__temporary {
    const struct tamis__place *place;
    struct tamis__private_fd file; /* file.link NULL: not made yet */
    uint64_t bytes;
};

void tamis__temporary_init(struct tamis__temporary *temporary, const struct tamis__place *place);
/* The file and the room for so many bytes more at its end; *offset is where they are. */
int tamis__temporary_extend(struct tamis__temporary *temporary, uint64_t bytes, uint64_t *offset);
/* Within what it was extended to; at different places by any number of threads. */
int tamis__temporary_write(const struct tamis__temporary *temporary, uint64_t offset,
                           const void *buffer, size_t bytes);
int tamis__temporary_read(const struct tamis__temporary *temporary, uint64_t offset, void *buffer,
                          size_t bytes);
/* Gone for good; it may be extended anew. */
void tamis__temporary_clear(struct tamis__temporary *temporary);

#endif
