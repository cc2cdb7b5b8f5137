/* SPDX-License-Identifier: BSD-2-Clause */
/* states.c: see states.h. */
#include "states.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A table of states is looked up all over: with large pages it takes a sixth less time. */
#define HUGE_PAGE ((size_t)2 << 20)

void *model_alloc(size_t count, size_t bytes)
{
    const size_t all = (count * bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const bool is_large = count * bytes >= 2 * HUGE_PAGE;
    void *memory = is_large ? aligned_alloc(HUGE_PAGE, all) : calloc(count, bytes);

    if (is_large && memory != NULL) {
        (void)madvise(memory, all, MADV_HUGEPAGE);
        memset(memory, 0, all);
    }
    if (memory == NULL) {
        fprintf(stderr, "out of memory for %zu times %zu bytes; close some programs\n", count,
                bytes);
        exit(2);
    }
    return memory;
}

void states_init(struct states *states, size_t bytes)
{
    *states = (struct states){.bytes = bytes, .slots = 1024};
    states->slot = model_alloc(states->slots, bytes);
}

void states_clear(struct states *states)
{
    free(states->slot);
    states->slot = NULL;
}

static uint64_t hash(const unsigned char *state, size_t bytes)
{
    uint64_t part, h = 0;
    for (size_t i = 0; i < bytes; i += sizeof part) {
        memcpy(&part, state + i, sizeof part);
        h = (h ^ part) * UINT64_C(0xbf58476d1ce4e5b9); /* the constants of splitmix64 */
        h ^= h >> 29;
        h *= UINT64_C(0x94d049bb133111eb);
        h ^= h >> 32;
    }
    return h;
}

/* The slot where the state is or would be. */
static unsigned char *find(const struct states *states, const unsigned char *state)
{
    const size_t bytes = states->bytes;
    size_t at = (size_t)hash(state, bytes) & (states->slots - 1);
    while (states->slot[at * bytes + bytes - 1] != 0 &&
           memcmp(&states->slot[at * bytes], state, bytes) != 0)
        at = (at + 1) & (states->slots - 1);
    return &states->slot[at * bytes];
}

bool states_enter(struct states *states, const void *state)
{
    const size_t bytes = states->bytes, old_slots = states->slots;
    unsigned char *slot = find(states, state), *old = states->slot;
    if (slot[bytes - 1] != 0) return false;
    memcpy(slot, state, bytes);
    if (++states->used * 2 < states->slots) return true;
    states->slots *= 2;
    states->slot = model_alloc(states->slots, bytes);
    for (size_t i = 0; i < old_slots; i++)
        if (old[i * bytes + bytes - 1] != 0)
            memcpy(find(states, &old[i * bytes]), &old[i * bytes], bytes);
    free(old);
    return true;
}

bool model_is_deep(int argc, char **argv)
{
    if (argc == 1) return false;
    if (argc == 2 && strcmp(argv[1], "--deep") == 0) return true;
    fprintf(stderr, "%s: unknown argument '%s'; usage: %s [--deep]\n", argv[0], argv[1], argv[0]);
    exit(2);
}

int model_end(bool good)
{
    printf("\n%s\n", good ? "All as expected." : "NOT as expected.");
    return good ? 0 : 1;
}
