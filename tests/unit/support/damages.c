/* SPDX-License-Identifier: BSD-2-Clause */
/* damages.c: see damages.h. */
#include "damages.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auto.h"
#include "random.h"

/* Within [begin, end), perhaps nothing; `unit`: of what is exchanged or zeroed. */
static void try_damage(struct bytes *b, size_t begin, size_t end, size_t unit, uint64_t *random)
{
    const size_t width = end - begin, at = begin + random_below(random, width);
    const size_t other = begin + random_below(random, width);
    size_t length = 1 + random_below(random, unit);
    unsigned char kept[4096];
    if (length > end - (at > other ? at : other)) length = end - (at > other ? at : other);
    switch (random_below(random, 6)) {
    case 0:
        b->data[at] ^= (unsigned char)(1u << random_below(random, 8));
        break;
    case 1:
        random_fill(random, b->data + at, length);
        break;
    case 2:
        memset(b->data + at / unit * unit, 0, end - at / unit * unit < unit ? length : unit);
        break;
    case 3:
        memcpy(kept, b->data + at, length);
        memmove(b->data + at, b->data + other, length);
        memcpy(b->data + other, kept, length);
        break;
    case 4:
        memmove(b->data + at, b->data + other, length);
        break;
    default:
        for (int i = 0; i < 20; i++)
            b->data[begin + random_below(random, width)] ^=
                (unsigned char)(1u << random_below(random, 8));
    }
}

/* The same, and something is not as it was. */
void damage(struct bytes *b, size_t begin, size_t end, size_t unit, uint64_t *random)
{
    AUTO_FREE unsigned char *before = malloc(b->count);
    if (before == NULL) err(1, "malloc");
    memcpy(before, b->data, b->count);
    do
        try_damage(b, begin, end, unit, random);
    while (memcmp(before, b->data, b->count) == 0);
}

/* Cut off, or longer by what has been seen before. */
void damage_length(struct bytes *b, uint64_t *random)
{
    if (random_below(random, 2) == 0) {
        b->count = random_below(random, b->count);
        return;
    }
    const size_t more = 1 + random_below(random, 8192);
    for (size_t i = 0; i < more; i++)
        b->data[b->count + i] = b->data[i % b->count];
    b->count += more;
}

void damage_write(const char *file, const struct bytes *b)
{
    FILE *out = fopen(file, "wb");
    if (out == NULL || fwrite(b->data, 1, b->count, out) != b->count || fclose(out) != 0)
        err(1, "%s", file);
}
