/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exceptions.c: the set of exceptions in memory, and its chunks in the catalog.
 *
 * Keys are added at the end and brought in order once, so that ten million cost a sort and not ten
 * million insertions.  Their bytes lie in blocks that never move; entries point into them.
 */
#include "exceptions.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define BLOCK_BYTES ((size_t)1 << 20)
#define FIRST_ROOM 64u

struct tamis__arena_block {
    struct tamis__arena_block *next;
    size_t used, room;
    uint8_t bytes[];
};

void tamis__exceptions_clear(struct tamis__exceptions *set)
{
    while (set->arena != NULL) {
        struct tamis__arena_block *block = set->arena;
        set->arena = block->next;
        free(block);
    }
    free(set->entries);
    *set = (struct tamis__exceptions){0};
}

static int fail_memory(const struct tamis__exceptions *set)
{
    return tamis__fail(TAMIS_ENOMEM, "out of memory for %zu exceptions", set->count + 1);
}

static uint8_t *arena_take(struct tamis__exceptions *set, size_t bytes)
{
    struct tamis__arena_block *block = set->arena;
    if (block == NULL || block->room - block->used < bytes) {
        const size_t room = set->arena == NULL ? 4096 + bytes : BLOCK_BYTES;
        block = malloc(sizeof *block + room);
        if (block == NULL) return NULL;
        *block = (struct tamis__arena_block){.next = set->arena, .room = room};
        set->arena = block;
    }
    uint8_t *place = block->bytes + block->used;
    block->used += bytes;
    return place;
}

static int make_room(struct tamis__exceptions *set)
{
    if (set->count < set->room) return 0;
    const size_t room = set->room ? 2 * set->room : FIRST_ROOM;
    struct tamis__exception *entries = realloc(set->entries, room * sizeof *entries);
    if (entries == NULL) return fail_memory(set);
    set->entries = entries;
    set->room = room;
    return 0;
}

int tamis__exceptions_add(struct tamis__exceptions *set, const void *key, size_t bytes,
                          uint64_t generation)
{
    if (key == NULL && bytes > 0) return tamis__fail_null_key(set->count);
    if (bytes > TAMIS_EXCEPTION_BYTES_MAX)
        return tamis__fail(TAMIS_EINVAL,
                           "a key of %zu bytes cannot be an exception: they have at most %d", bytes,
                           TAMIS_EXCEPTION_BYTES_MAX);
    const int rc = make_room(set);
    if (rc < 0) return rc;
    uint8_t *copy = arena_take(set, bytes);
    if (copy == NULL) return fail_memory(set);
    if (bytes > 0) memcpy(copy, key, bytes);
    set->entries[set->count++] =
        (struct tamis__exception){.key = copy, .generation = generation, .bytes = (uint32_t)bytes};
    return 0;
}

int tamis__exceptions_add_set(struct tamis__exceptions *set, const struct tamis__exceptions *other)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < other->count; i++) {
        const struct tamis__exception *entry = &other->entries[i];
        rc = tamis__exceptions_add(set, entry->key, entry->bytes, entry->generation);
    }
    return rc;
}

static int compare_keys(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const size_t common = a_bytes < b_bytes ? a_bytes : b_bytes;
    const int order = common ? memcmp(a, b, common) : 0;
    return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

/* By hand before all that was found, then the highest generation. */
static int by_key_and_rank(const void *a, const void *b)
{
    const struct tamis__exception *x = a, *y = b;
    const int order = compare_keys(x->key, x->bytes, y->key, y->bytes);
    if (order != 0) return order;
    const uint64_t x_rank = x->generation - 1, y_rank = y->generation - 1; /* 0 becomes the most */
    return (x_rank < y_rank) - (x_rank > y_rank);
}

static bool same_key(const struct tamis__exception *a, const struct tamis__exception *b)
{
    return a->bytes == b->bytes && (a->bytes == 0 || memcmp(a->key, b->key, a->bytes) == 0);
}

/* Close the gaps that entries leave which are gone. */
static size_t compact(struct tamis__exceptions *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++)
        if (!set->entries[i].gone) set->entries[kept++] = set->entries[i];
    const size_t removed = set->count - kept;
    set->count = set->settled = kept;
    return removed;
}

int tamis__exceptions_settle(struct tamis__exceptions *set)
{
    bool ordered = true;
    for (size_t i = set->settled ? set->settled : 1; ordered && i < set->count; i++)
        ordered = by_key_and_rank(&set->entries[i - 1], &set->entries[i]) < 0;
    if (!ordered) qsort(set->entries, set->count, sizeof *set->entries, by_key_and_rank);
    for (size_t i = 1; i < set->count; i++)
        set->entries[i].gone = same_key(&set->entries[i - 1], &set->entries[i]);
    (void)compact(set);
    if (set->count <= TAMIS_EXCEPTIONS_MAX) return 0;
    return tamis__fail(TAMIS_ELIMIT, "%zu exceptions are more than the %d that a filter can have",
                       set->count, TAMIS_EXCEPTIONS_MAX);
}

const struct tamis__exception *tamis__exceptions_find(const struct tamis__exceptions *set,
                                                      const void *key, size_t bytes)
{
    size_t low = 0, high = set->settled;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct tamis__exception *entry = &set->entries[middle];
        const int order = compare_keys(entry->key, entry->bytes, key, bytes);
        if (order == 0) return entry;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

size_t tamis__exceptions_remove(struct tamis__exceptions *set, const struct tamis_key *keys,
                                size_t count, uint8_t *answers)
{
    for (size_t i = 0; i < count; i++) {
        const struct tamis__exception *found =
            tamis__exceptions_find(set, keys[i].data, keys[i].bytes);
        const bool answer = found != NULL && !found->gone;
        if (answer) set->entries[found - set->entries].gone = 1;
        if (answers != NULL) answers[i] = answer;
    }
    return compact(set);
}

size_t tamis__exceptions_drop_found(struct tamis__exceptions *set)
{
    for (size_t i = 0; i < set->count; i++)
        set->entries[i].gone = set->entries[i].generation != 0;
    return compact(set);
}

bool tamis__exceptions_equal(const struct tamis__exceptions *a, const struct tamis__exceptions *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = a->entries[i].generation == b->entries[i].generation &&
                same_key(&a->entries[i], &b->entries[i]);
    return equal;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

#define CHUNK_BYTES 65536u
#define CHUNK_HEAD_BYTES 8u   /* u32 entries, u32 0 */
#define CHUNK_ENTRY_BYTES 12u /* u64 generation, u32 bytes; then the key */

_Static_assert(CHUNK_HEAD_BYTES + CHUNK_ENTRY_BYTES + TAMIS_EXCEPTION_BYTES_MAX <=
                   TAMIS__CHUNK_BYTES_MAX,
               "a chunk holds the longest key");

size_t tamis__exceptions_encode(const struct tamis__exceptions *set, size_t *next,
                                uint8_t chunk[TAMIS__CHUNK_BYTES_MAX])
{
    uint32_t entries = 0;
    size_t used = CHUNK_HEAD_BYTES;
    for (; *next < set->count; (*next)++, entries++) {
        const struct tamis__exception *entry = &set->entries[*next];
        if (entries > 0 && used + CHUNK_ENTRY_BYTES + entry->bytes > CHUNK_BYTES) break;
        memcpy(chunk + used, &entry->generation, 8);
        memcpy(chunk + used + 8, &entry->bytes, 4);
        if (entry->bytes > 0) memcpy(chunk + used + CHUNK_ENTRY_BYTES, entry->key, entry->bytes);
        used += CHUNK_ENTRY_BYTES + entry->bytes;
    }
    memcpy(chunk, &entries, 4);
    memset(chunk + 4, 0, 4);
    return entries ? used : 0;
}

/* Append the entry that begins at *at.  0, TAMIS_ENOMEM, TAMIS_ECORRUPT. */
static int decode_entry(struct tamis__exceptions *set, const uint8_t *chunk, size_t bytes,
                        size_t *at, const char **reason)
{
    *reason = "has an exception that ends past its chunk";
    if (bytes - *at < CHUNK_ENTRY_BYTES) return TAMIS_ECORRUPT;
    const uint64_t generation = tamis__get64(chunk + *at);
    const uint32_t key_bytes = tamis__get32(chunk + *at + 8);
    *at += CHUNK_ENTRY_BYTES;
    if (key_bytes > TAMIS_EXCEPTION_BYTES_MAX || key_bytes > bytes - *at) return TAMIS_ECORRUPT;
    const int rc = tamis__exceptions_add(set, chunk + *at, key_bytes, generation);
    if (rc < 0) return rc;
    *at += key_bytes;
    *reason = "has exceptions out of order";
    const struct tamis__exception *last = &set->entries[set->count - 1];
    if (set->count > 1 && compare_keys(last[-1].key, last[-1].bytes, last->key, last->bytes) >= 0)
        return TAMIS_ECORRUPT;
    *reason = "has more exceptions than a filter can have";
    return set->count <= TAMIS_EXCEPTIONS_MAX ? 0 : TAMIS_ECORRUPT;
}

int tamis__exceptions_decode(struct tamis__exceptions *set, const void *chunk, size_t bytes,
                             const char **reason)
{
    const size_t before = set->count;
    size_t at = CHUNK_HEAD_BYTES;
    int rc = 0;
    *reason = "has a chunk of exceptions without any";
    if (bytes < CHUNK_HEAD_BYTES || tamis__get32(chunk) == 0 ||
        tamis__get32((const uint8_t *)chunk + 4) != 0)
        return TAMIS_ECORRUPT;
    const uint32_t entries = tamis__get32(chunk);
    for (uint32_t i = 0; rc == 0 && i < entries; i++)
        rc = decode_entry(set, chunk, bytes, &at, reason);
    if (rc == 0 && at != bytes) {
        *reason = "has bytes behind the exceptions of a chunk";
        rc = TAMIS_ECORRUPT;
    }
    if (rc < 0) set->count = before;
    set->settled = set->count;
    return rc;
}
