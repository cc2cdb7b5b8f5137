/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spool.h: keys put by, to be read again in their order, any number of times.
 *
 * Each as its length, 7 bits a byte with the least first and the highest bit on all but the last,
 * and its bytes.  In memory up to a bound; then all goes on in a temporary file.
 */
#ifndef TAMIS_BUILD_SPOOL_H
#define TAMIS_BUILD_SPOOL_H

#include "file/temporary.h"

struct tamis__spool {
    struct tamis__temporary file;
    unsigned char *buffer; /* what comes after the file */
    size_t used, room, most;
    uint64_t keys;
};

void tamis__spool_init(struct tamis__spool *spool, const struct tamis__place *place,
                       size_t memory_bytes);
/* 0, TAMIS_ENOMEM, TAMIS_ENOSPACE, TAMIS_EIO. */
int tamis__spool_add(struct tamis__spool *spool, const struct tamis_key *keys, size_t count);
void tamis__spool_clear(struct tamis__spool *spool);

#define TAMIS__SPOOL_BATCH 1024u

/* Reads from the first key on.  Nothing is added to the spool meanwhile. */
struct tamis__spool_reader {
    const struct tamis__spool *spool;
    unsigned char *buffer; /* NULL: what is read is in the spool's memory */
    size_t begin, end, room;
    uint64_t offset; /* of the file: what comes after the buffer */
    struct tamis_key keys[TAMIS__SPOOL_BATCH];
};
/* What is in memory goes to the file, if there is one. */
int tamis__spool_open(struct tamis__spool *spool, struct tamis__spool_reader *reader);
/* The next keys, at most TAMIS__SPOOL_BATCH, good until the next call: their number, 0 at the end,
 * or an error. */
int tamis__spool_next(struct tamis__spool_reader *reader);
void tamis__spool_close(struct tamis__spool_reader *reader);

#endif
