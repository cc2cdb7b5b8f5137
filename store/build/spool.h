/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spool.h: keys that are stored, to be read again in their order, any number of times.
 *
 * A key is stored as its length and its bytes.  The length has 7 bits in each byte, the least
 * first, and the highest bit is set in all bytes but the last.  The keys are in memory up to a
 * bound; beyond it all of them go to a temporary file.
 */
#pragma once

#include "segment/temporary.h"

struct tamis__spool {
    struct tamis__temporary file;
    unsigned char *buffer; /* the keys that come after those in the file */
    size_t used, room, most;
    uint64_t keys;
};

void tamis__spool_init(struct tamis__spool *spool, const struct tamis__place *place,
                       size_t memory_bytes);
/* Adds keys.  0, TAMIS_ENOMEM, TAMIS_ENOSPACE, TAMIS_EIO. */
int tamis__spool_add(struct tamis__spool *spool, const struct tamis_key *keys, size_t count);
void tamis__spool_clear(struct tamis__spool *spool);

#define TAMIS__SPOOL_BATCH 1024u

/* Reads from the first key on.  Nothing may be added to the spool meanwhile. */
struct tamis__spool_reader {
    const struct tamis__spool *spool;
    unsigned char *buffer; /* NULL: the spool's memory is read in place */
    size_t begin, end, room;
    uint64_t offset; /* in the file: where the bytes after the buffer are */
    struct tamis_key keys[TAMIS__SPOOL_BATCH];
};
/* Begins to read.  What is in memory goes to the file, if there is one. */
int tamis__spool_open(struct tamis__spool *spool, struct tamis__spool_reader *reader);
/* Gives the next keys, at most TAMIS__SPOOL_BATCH, valid until the next call.  Returns their
 * number, 0 at the end, or an error. */
int tamis__spool_next(struct tamis__spool_reader *reader);
void tamis__spool_close(struct tamis__spool_reader *reader);
