/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * set.c: the set of exceptions in memory (keys that must answer "absent" whatever the bits say).
 *
 * Keys are added at the end and sorted once, so that ten million keys cost one sort and not ten
 * million insertions.  Their bytes lie in blocks that never move; entries point into the blocks.
 */
#include "exceptions/set.h"

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

static int fail_exceptions_memory(const struct tamis__exceptions *set)
{
    return tamis__fail(TAMIS_ENOMEM, "out of memory for %zu exception%s", set->count + 1,
                       tamis__plural(set->count + 1));
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

static int make_room_for_exception(struct tamis__exceptions *set)
{
    if (set->count < set->room) return 0;
    const size_t room = set->room ? 2 * set->room : FIRST_ROOM;
    struct tamis__exception *entries = realloc(set->entries, room * sizeof *entries);
    if (entries == NULL) return fail_exceptions_memory(set);
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
    const int rc = make_room_for_exception(set);
    if (rc < 0) return rc;
    uint8_t *copy = arena_take(set, bytes);
    if (copy == NULL) return fail_exceptions_memory(set);
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

int tamis__exceptions_compare(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const size_t common = a_bytes < b_bytes ? a_bytes : b_bytes;
    const int order = common ? memcmp(a, b, common) : 0;
    return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

bool tamis__exceptions_end_before(const struct tamis__exceptions *set, const void *key,
                                  size_t bytes)
{
    if (set->count == 0) return true;
    const struct tamis__exception *last = &set->entries[set->count - 1];
    return tamis__exceptions_compare(last->key, last->bytes, key, bytes) < 0;
}

/* For one key, the entry by hand comes before those that builds found, then
 * the highest generation. */
static int by_key_and_rank(const void *a, const void *b)
{
    const struct tamis__exception *x = a, *y = b;
    const int order = tamis__exceptions_compare(x->key, x->bytes, y->key, y->bytes);
    if (order != 0) return order;
    const uint64_t x_rank = x->generation - 1, y_rank = y->generation - 1; /* 0 becomes the most */
    return (x_rank < y_rank) - (x_rank > y_rank);
}

static bool same_key(const struct tamis__exception *a, const struct tamis__exception *b)
{
    return a->bytes == b->bytes && (a->bytes == 0 || memcmp(a->key, b->key, a->bytes) == 0);
}

/* Closes the gaps that removed entries leave. */
static size_t compact(struct tamis__exceptions *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++)
        if (!set->entries[i].gone) set->entries[kept++] = set->entries[i];
    const size_t removed = set->count - kept;
    set->count = set->sorted = kept;
    return removed;
}

/* Makes one entry of two for the same key. */
static void merge_exceptions(struct tamis__exception *kept, const struct tamis__exception *other)
{
    const bool by_hand = tamis__exception_by_hand(kept) || tamis__exception_by_hand(other);
    const uint64_t a = tamis__exception_found_by(kept), b = tamis__exception_found_by(other);
    const uint64_t found = a > b ? a : b;
    kept->generation = by_hand && found != 0 ? found | TAMIS__BY_HAND_TOO : found;
}

/* Merges the entries of each key; they stand next to each other. */
static void merge_same(struct tamis__exceptions *set)
{
    struct tamis__exception *first = set->entries;
    for (size_t i = 1; i < set->count; i++) {
        struct tamis__exception *entry = &set->entries[i];
        entry->gone = same_key(first, entry);
        if (entry->gone)
            merge_exceptions(first, entry);
        else
            first = entry;
    }
}

int tamis__exceptions_sort(struct tamis__exceptions *set)
{
    bool ordered = true;
    for (size_t i = set->sorted ? set->sorted : 1; ordered && i < set->count; i++)
        ordered = by_key_and_rank(&set->entries[i - 1], &set->entries[i]) < 0;
    if (!ordered) qsort(set->entries, set->count, sizeof *set->entries, by_key_and_rank);
    merge_same(set);
    (void)compact(set);
    if (set->count <= TAMIS_EXCEPTIONS_MAX) return 0;
    return tamis__fail(TAMIS_ELIMIT, "%zu exceptions are more than the %d that a filter can have",
                       set->count, TAMIS_EXCEPTIONS_MAX);
}

const struct tamis__exception *tamis__exceptions_find(const struct tamis__exceptions *set,
                                                      const void *key, size_t bytes)
{
    size_t low = 0, high = set->sorted;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct tamis__exception *entry = &set->entries[middle];
        const int order = tamis__exceptions_compare(entry->key, entry->bytes, key, bytes);
        if (order == 0) return entry;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool tamis__exceptions_all_in(const struct tamis__exceptions *a, const struct tamis__exceptions *b,
                              bool by_hand)
{
    bool all = true;
    for (size_t i = 0; all && i < a->count; i++) {
        const struct tamis__exception *e =
            tamis__exceptions_find(b, a->entries[i].key, a->entries[i].bytes);
        all = e != NULL &&
              (by_hand ? tamis__exception_by_hand(e) : tamis__exception_found_by(e) != 0);
    }
    return all;
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
    for (size_t i = 0; i < set->count; i++) {
        struct tamis__exception *entry = &set->entries[i];
        entry->gone = !tamis__exception_by_hand(entry);
        entry->generation = 0;
    }
    return compact(set);
}

size_t tamis__exceptions_drop_by_hand(struct tamis__exceptions *set)
{
    for (size_t i = 0; i < set->count; i++) {
        struct tamis__exception *entry = &set->entries[i];
        entry->generation = tamis__exception_found_by(entry);
        entry->gone = entry->generation == 0;
    }
    return compact(set);
}

size_t tamis__exceptions_count_by_hand(const struct tamis__exceptions *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++)
        count += tamis__exception_by_hand(&set->entries[i]);
    return count;
}

size_t tamis__exceptions_count_found(const struct tamis__exceptions *set)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++)
        count += tamis__exception_found_by(&set->entries[i]) != 0;
    return count;
}
