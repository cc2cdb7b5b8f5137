/* SPDX-License-Identifier: BSD-2-Clause */
/* states.c: see states.h. */
#include "states.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *new_slots(size_t slots, size_t bytes)
{
    unsigned char *slot = calloc(slots, bytes);
    if (slot == NULL) {
        fprintf(stderr, "out of memory for %zu states; close some programs\n", slots);
        exit(2);
    }
    return slot;
}

void states_init(struct states *states, size_t bytes)
{
    *states = (struct states){.bytes = bytes, .slots = 1024};
    states->slot = new_slots(states->slots, bytes);
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
    states->slot = new_slots(states->slots, bytes);
    for (size_t i = 0; i < old_slots; i++)
        if (old[i * bytes + bytes - 1] != 0)
            memcpy(find(states, &old[i * bytes]), &old[i * bytes], bytes);
    free(old);
    return true;
}
