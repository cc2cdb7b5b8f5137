/* SPDX-License-Identifier: BSD-2-Clause */
/* pile.c: see pile.h. */
#include "pile.h"

#include "command.h"

void pile_add(struct pile *pile, const struct tamis_key *key)
{
    pile->bytes = cli_grow(pile->bytes, pile->used + key->bytes, &pile->room, 1);
    pile->ends = cli_grow(pile->ends, pile->count + 1, &pile->ends_room, sizeof *pile->ends);
    if (key->bytes > 0) memcpy(pile->bytes + pile->used, key->data, key->bytes);
    pile->used += key->bytes;
    pile->ends[pile->count++] = pile->used;
}

struct tamis_key *pile_keys(const struct pile *pile)
{
    struct tamis_key *keys = cli_alloc(pile->count * sizeof *keys);
    size_t start = 0;
    for (size_t i = 0; i < pile->count; start = pile->ends[i++])
        keys[i] = (struct tamis_key){.data = pile->bytes + start, .bytes = pile->ends[i] - start};
    return keys;
}

void pile_clear(struct pile *pile)
{
    free(pile->bytes);
    free(pile->ends);
}
