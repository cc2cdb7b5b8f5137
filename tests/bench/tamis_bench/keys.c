/* SPDX-License-Identifier: BSD-2-Clause */
#include "keys.h"

#include <string.h>

#include "random.h"

#define URL "https://www.example-00000000.com/catalogue/2026/item-0000000000000000?"
#define URL_BYTES (sizeof URL - 1)
#define URL_HOST 20 /* where the digits of the host begin */
#define URL_ITEM 53 /* and those of the item */

_Static_assert(URL_BYTES == 70, "URLs of 70 bytes");

const char *const key_set_names[KEY_SETS] = {"8", "url"};
const char *const key_set_titles[KEY_SETS] = {"8-byte keys", "70-byte URLs"};

static void put_hex(char *out, uint64_t value, unsigned digits)
{
    for (unsigned i = digits; i-- > 0; value >>= 4)
        out[i] = "0123456789abcdef"[value & 15];
}

/* A bijection of the number, so that keys differ. */
static uint64_t mix(uint64_t seed, uint64_t number)
{
    uint64_t state = number * 0x9E3779B97F4A7C15u + seed;
    return random_next(&state);
}

static void put_key(struct stream *stream, enum key_set set, uint64_t mixed, size_t i)
{
    if (set == KEYS_8_BYTES) {
        char *key = stream->bytes + i * sizeof mixed;
        memcpy(key, &mixed, sizeof mixed);
        stream->keys[i] = (struct tamis_key){key, sizeof mixed};
        return;
    }
    char *key = stream->bytes + i * (URL_BYTES + 1);
    memcpy(key, URL "\n", URL_BYTES + 1);
    put_hex(key + URL_HOST, mixed >> 40, 8);
    put_hex(key + URL_ITEM, mixed, 16);
    stream->keys[i] = (struct tamis_key){key, URL_BYTES};
}

void keys_in_order(struct stream *stream, enum key_set set, uint64_t seed, uint64_t first,
                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_key(stream, set, mix(seed, first + i), i);
}

void keys_at_random(struct stream *stream, enum key_set set, uint64_t seed, uint64_t *state,
                    uint64_t range, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_key(stream, set, mix(seed, random_below(state, range)), i);
}
