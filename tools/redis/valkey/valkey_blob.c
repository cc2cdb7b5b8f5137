/* SPDX-License-Identifier: BSD-2-Clause */
/* valkey_blob.c: see valkey_blob.h. */
#include "valkey/valkey_blob.h"

#include <string.h>

#include "server/system.h"

#define VERSION 1u
#define HEAD_BYTES (1u + 4 + 8 + 8 + 1 + 8)
#define LAYER_BYTES (8u + 8 + 8) /* beside head and bits */

/* A blob that is read, or written. */
struct cursor {
    unsigned char *at;
    size_t left;
};

/* Takes so many bytes.  Returns false if there are fewer. */
static bool take(struct cursor *from, void *to, size_t bytes)
{
    if (from->left < bytes) return false;
    memcpy(to, from->at, bytes);
    from->at += bytes;
    from->left -= bytes;
    return true;
}

static void put(struct cursor *to, const void *from, size_t bytes)
{
    memcpy(to->at, from, bytes);
    to->at += bytes;
    to->left -= bytes;
}

static bool take_layer(struct cursor *from, struct valkey *valkey)
{
    uint64_t bytes;
    int64_t items, capacity;
    if (!take(from, &bytes, 8) || from->left < bytes) return false;
    uint8_t *data = zeros(bytes > 0 ? bytes : 1);
    if (data == NULL) return false;
    if (take(from, data, (size_t)bytes) && take(from, &items, 8) && take(from, &capacity, 8) &&
        valkey_take_layer(valkey, data, (size_t)bytes, items, capacity))
        return true;
    RedisModule_Free(data);
    return false;
}

/* Reads what stands before the layers.  Returns how many those are; 0: it is damaged. */
static uint64_t take_shape(struct cursor *from, struct valkey_shape *shape)
{
    uint8_t random;
    uint64_t layers;
    if (!take(from, &shape->expansion, 4) || !take(from, &shape->rate, 8) ||
        !take(from, &shape->tightening, 8) || !take(from, &random, 1) || !take(from, &layers, 8))
        return 0;
    shape->random = random == 1;
    return random <= 1 ? layers : 0;
}

struct valkey *valkey_from_blob(const void *blob, size_t bytes, const char **error)
{
    struct cursor from = {(unsigned char *)(uintptr_t)blob, bytes};
    uint8_t version = 0;
    *error = "ERR bloom object decoding failed";
    if (!take(&from, &version, 1)) return NULL;
    if (version != VERSION) {
        *error = "ERR bloom object decoding failed. Unsupported version";
        return NULL;
    }
    struct valkey *valkey = RedisModule_Calloc(1, sizeof *valkey);
    uint64_t layers = take_shape(&from, &valkey->shape);
    if (layers > 0 && !valkey_shape_is_sound(&valkey->shape)) {
        *error = "ERR (0 < error rate range < 1)";
        layers = 0;
    }
    bool good = layers > 0;
    for (; good && layers > 0; layers--)
        good = take_layer(&from, valkey);
    if (good && from.left == 0) return valkey;
    valkey_free(valkey);
    return NULL;
}

char *valkey_to_blob(const struct valkey *valkey, size_t *bytes)
{
    const uint8_t version = VERSION, random = valkey->shape.random;
    const uint64_t layers = valkey->count;
    size_t all = HEAD_BYTES;
    for (uint32_t i = 0; i < valkey->count; i++)
        all += LAYER_BYTES + VALKEY_HEAD_BYTES + valkey->layers[i].bytes;
    char *blob = zeros(all);
    if (blob == NULL) return NULL;
    struct cursor to = {(unsigned char *)blob, all};
    put(&to, &version, 1);
    put(&to, &valkey->shape.expansion, 4);
    put(&to, &valkey->shape.rate, 8);
    put(&to, &valkey->shape.tightening, 8);
    put(&to, &random, 1);
    put(&to, &layers, 8);
    for (uint32_t i = 0; i < valkey->count; i++) {
        const struct valkey_layer *layer = &valkey->layers[i];
        const uint64_t length = VALKEY_HEAD_BYTES + layer->bytes;
        put(&to, &length, 8);
        put(&to, layer->data, (size_t)length);
        put(&to, &layer->items, 8);
        put(&to, &layer->capacity, 8);
    }
    *bytes = all;
    return blob;
}
