/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c: see names.h.
 *
 * A store may have 100,000 filters, and a command asks of each whether it is meant.  So a hash
 * table finds a name: open addressing, linear probing, at most half full.  Seen before: 100,000
 * names that were compared one by one took 8 s of a processor.
 */
#include "names.h"

#define SLOTS_MIN 16u

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

/* The slot of the name, or the free slot where it would be. */
static size_t *slot_of(const struct names *names, const char *name)
{
    const size_t mask = names->slot_count - 1;
    size_t at = (size_t)hash_of(name) & mask;
    while (names->slots[at] != 0 && strcmp(names->names[names->slots[at] - 1], name) != 0)
        at = (at + 1) & mask;
    return &names->slots[at];
}

static void enter(struct names *names, size_t index)
{
    size_t *slot = slot_of(names, names->names[index]);
    if (*slot == 0) *slot = index + 1;
}

static void enter_all(struct names *names)
{
    free(names->slots);
    names->slots = cli_alloc(names->slot_count * sizeof *names->slots);
    memset(names->slots, 0, names->slot_count * sizeof *names->slots);
    for (size_t i = 0; i < names->count; i++)
        enter(names, i);
}

void names_add(struct names *names, const char *name)
{
    names->names = cli_grow(names->names, names->count + 1, &names->room, sizeof *names->names);
    names->names[names->count++] = cli_strdup(name);
    if (2 * names->count <= names->slot_count) {
        enter(names, names->count - 1);
        return;
    }
    names->slot_count = names->slot_count > 0 ? 2 * names->slot_count : SLOTS_MIN;
    enter_all(names);
}

size_t names_index(const struct names *names, const char *name)
{
    const size_t slot = names->count > 0 ? *slot_of(names, name) : 0;
    return slot > 0 ? slot - 1 : names->count;
}

bool names_have(const struct names *names, const char *name)
{
    return names_index(names, name) < names->count;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void names_sort(struct names *names)
{
    size_t kept = 0;
    if (names->count == 0) return;
    qsort(names->names, names->count, sizeof *names->names, compare_names);
    for (size_t i = 0; i < names->count; i++) {
        if (kept > 0 && strcmp(names->names[kept - 1], names->names[i]) == 0)
            free(names->names[i]);
        else
            names->names[kept++] = names->names[i];
    }
    names->count = kept;
    enter_all(names);
}

void names_clear(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    free(names->slots);
    *names = (struct names){0};
}
