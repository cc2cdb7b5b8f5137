/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h: a hash table of which no call takes long, with however many entries.
 *
 * The server's commands wait for each call.  A table that doubles moves all of its entries at once,
 * which takes 50 ms for a million of them.  This one grows by one bucket for each entry that is
 * put, and shrinks by two at most for each that is taken (Litwin 1980, linear hashing).
 *
 *     buckets   0 ........ split ..... level ........ size
 *               |          |           |              '- level + split buckets are there
 *               |          |           '- a power of two: split + level is the next that comes
 *               |          '- this bucket is divided next: a part of it goes there
 *               '- buckets before `split` are divided already, so one more bit of the hash counts
 *
 * Buckets are made in pages, so there is no array of all of them that would have to move.
 *
 * An entry has a `struct node` for each table that it is in.  The caller sees to it that one thread
 * at a time uses a table.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct node {
    struct node *next; /* in its bucket */
    uint64_t hash;
};

struct table {
    struct node ***pages;
    size_t pages_room;
    size_t level, split; /* 0 and 0: there are no buckets yet */
    size_t count;        /* entries */
};

/* What contains a node. */
#define NODE_OF(type, member, node) ((type *)((uintptr_t)(node)-offsetof(type, member)))

void table_put(struct table *table, struct node *node, uint64_t hash);
/* Takes off a node that is in the table. */
void table_take(struct table *table, const struct node *node);
/* The newest node with that hash, and the one with the same hash that was put before another one;
 * NULL: there is none. */
struct node *table_find(const struct table *table, uint64_t hash);
struct node *table_find_next(const struct node *node);

/* Hashes.  Keys are short, and who makes keys collide gets a slower look-up and nothing else. */
uint64_t hash_of_bytes(const void *bytes, size_t count);
uint64_t hash_of_time(int64_t time);
