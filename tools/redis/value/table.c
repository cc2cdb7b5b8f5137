/* SPDX-License-Identifier: BSD-2-Clause */
/* table.c: see table.h. */
#include "value/table.h"

#include "server/redis_api.h"

#define PAGE_BITS 9
#define PAGE                                                                                       \
    ((size_t)1 << PAGE_BITS) /* buckets of a page, 4 KiB; a table has this many at least           \
                              */

/* ---- Hashes ---------------------------------------------------------------------------------- */

uint64_t hash_of_bytes(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t hash = 0xCBF29CE484222325; /* FNV-1a */
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * 0x100000001B3;
    return hash ^ hash >> 32;
}

uint64_t hash_of_time(int64_t time)
{
    const uint64_t hash = (uint64_t)time * 0x9E3779B97F4A7C15; /* 2^64 / golden ratio (Knuth) */
    return hash ^ hash >> 32;
}

/* ---- Buckets --------------------------------------------------------------------------------- */

static struct node **bucket_at(const struct table *table, size_t index)
{
    return &table->pages[index >> PAGE_BITS][index & (PAGE - 1)];
}

static size_t buckets(const struct table *table)
{
    return table->level + table->split;
}

static struct node **bucket_of(const struct table *table, uint64_t hash)
{
    const size_t index = (size_t)hash & (table->level - 1);
    if (index >= table->split) return bucket_at(table, index);
    return bucket_at(table, (size_t)hash & (2 * table->level - 1));
}

/* Makes place for the bucket at `index`, the first that is not there. */
static void make_bucket(struct table *table, size_t index)
{
    const size_t page = index >> PAGE_BITS;
    if ((index & (PAGE - 1)) != 0) return;
    if (page == table->pages_room) {
        table->pages_room = page == 0 ? 8 : 2 * page;
        table->pages =
            RedisModule_Realloc(table->pages, table->pages_room * sizeof(struct node **));
    }
    table->pages[page] = RedisModule_Calloc(PAGE, sizeof(struct node *));
}

/* Frees the page of the bucket at `index`, the last one, if it is the only one there. */
static void free_bucket(struct table *table, size_t index)
{
    if ((index & (PAGE - 1)) == 0) RedisModule_Free(table->pages[index >> PAGE_BITS]);
}

/* Divides a bucket: those of its nodes go to the new one in whose hash the next bit is set. */
static void grow(struct table *table)
{
    make_bucket(table, buckets(table));
    struct node **from = bucket_at(table, table->split), **to = bucket_at(table, buckets(table));
    while (*from != NULL) {
        struct node *node = *from;
        if ((node->hash & table->level) == 0) {
            from = &node->next;
        } else {
            *from = node->next;
            node->next = NULL;
            *to = node;
            to = &node->next;
        }
    }
    if (++table->split == table->level) {
        table->level *= 2;
        table->split = 0;
    }
}

/* Undoes grow(). */
static void shrink(struct table *table)
{
    if (table->split == 0) {
        table->level /= 2;
        table->split = table->level;
    }
    table->split--;
    struct node **to = bucket_at(table, table->split);
    while (*to != NULL)
        to = &(*to)->next;
    struct node **from = bucket_at(table, buckets(table));
    *to = *from;
    *from = NULL; /* grow() finds it as make_bucket() leaves one */
    free_bucket(table, buckets(table));
}

/* The first buckets; they stay. */
static void begin(struct table *table)
{
    make_bucket(table, 0);
    table->level = PAGE;
}

/* ---- Entries --------------------------------------------------------------------------------- */

void table_put(struct table *table, struct node *node, uint64_t hash)
{
    if (table->level == 0) begin(table);
    if (table->count++ >= buckets(table)) grow(table);
    struct node **bucket = bucket_of(table, hash);
    node->hash = hash;
    node->next = *bucket;
    *bucket = node;
}

void table_take(struct table *table, const struct node *node)
{
    struct node **link = bucket_of(table, node->hash);
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    table->count--;
    for (int i = 0; i < 2 && buckets(table) > PAGE && table->count < buckets(table) / 2; i++)
        shrink(table);
}

static struct node *with_hash(struct node *node, uint64_t hash)
{
    while (node != NULL && node->hash != hash)
        node = node->next;
    return node;
}

struct node *table_find(const struct table *table, uint64_t hash)
{
    return table->count == 0 ? NULL : with_hash(*bucket_of(table, hash), hash);
}

struct node *table_find_next(const struct node *node)
{
    return with_hash(node->next, node->hash);
}
