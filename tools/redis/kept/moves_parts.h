/* SPDX-License-Identifier: BSD-2-Clause */
/* moves_parts.h: the file of moves, as moves.c writes it and moves_read.c reads it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 *     0       struct moves_head
 *     4096    entries, each a multiple of 16 bytes: head, time, name and zeros
 *
 * `control` says how much of it counts: an offset in units, an epoch, and how many moves are under
 * way.  Whoever appends adds to the first and the last of them, writes its entry, and its head
 * last.  When nothing is under way any more, the offset is 0 again and the epoch another one, so
 * what is left in the file means nothing.
 */
#define MOVES_MAGIC "TAMISMV1"
#define MOVES_ENTRIES_AT 4096u
#define MOVES_UNIT 16u
#define MOVES_ROOM ((uint64_t)64 << 20) /* of entries, at most */

struct moves_head {
    char magic[8];
    uint64_t control;   /* atomic */
    uint64_t confirmed; /* atomic; offset and epoch of `control`: up to there the AOF has all */
};

/* control: pending << 40 | offset << 16 | epoch */
#define MOVES_PENDING_ONE ((uint64_t)1 << 40)
#define MOVES_UNIT_ONE ((uint64_t)1 << 16)
#define MOVES_PENDING(control) ((control) >> 40)
#define MOVES_OFFSET(control) ((control) >> 16 & 0xFFFFFFu)
#define MOVES_EPOCH(control) ((control)&0xFFFFu)
#define MOVES_PLACE(control) ((control) & (MOVES_PENDING_ONE - 1))

enum moves_type {
    MOVES_GONE = 1,
    MOVES_NAME,  /* the filter is to get the name */
    MOVES_KEY,   /* it has got a key, whose name that is */
    MOVES_ADDS,  /* it is to get items */
    MOVES_FLUSH, /* the database of that number is emptied of all that was created up to then */
    MOVES_SWAP,  /* the databases of those two numbers change places */
    MOVES_LOAD,  /* a load begins: what it makes is created at that time or later */
    MOVES_DONE,  /* and what it made is its keys' */
};

struct moves_entry {
    uint64_t head; /* atomic: MOVES_MARK << 40 | flags and type << 32 | units << 16 | epoch */
    int64_t created_at;
    char name[];
};
#define MOVES_MARK ((uint64_t)0x00C5A3)
#define MOVES_HEAD(type, units, epoch)                                                             \
    (MOVES_MARK << 40 | (uint64_t)(type) << 32 | (uint64_t)(units) << 16 | (epoch))
#define MOVES_TYPE(head) ((head) >> 32 & 0x3Fu)
/* Whatever `confirmed` says: it was noted before the keys had their filters after a load, where no
 * AOF is written; and it was not confirmed when a server was killed, and what the next one confirms
 * is its own. */
#define MOVES_SURE ((uint64_t)0x40 << 32)
#define MOVES_UNSURE ((uint64_t)0x80 << 32)
#define MOVES_UNITS(head) ((head) >> 16 & 0xFFFFu)

/* moves_read.c.  Reads what counts of `bytes` of a file, and marks what is not confirmed. */
void moves_read(void *file, size_t bytes);
