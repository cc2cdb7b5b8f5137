/* SPDX-License-Identifier: BSD-2-Clause */
/* valkey.c: see valkey.h. */
#include "valkey/valkey.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "server/config.h"
#include "server/system.h"

#define LN2 0.693147180559945309417232121458
#define LAYER_VERSION 1u
#define PRIME (UINT64_MAX - 58) /* 2^64 - 59, the largest prime below 2^64 */
/* The sizes of valkey-bloom's structures, of which its BF.INFO SIZE is the sum: a filter, a place
 * in its list of layers, and a layer. */
#define FILTER_SIZE 48u
#define PLACE_SIZE 8u
#define LAYER_SIZE (24u + 184u)
/* A tightening ratio near 1 and EXPANSION 1 have layers without end: valkey_most_keys() takes the
 * limits for reached at this one, so that BF.INFO never keeps the server. */
#define LAYERS_LOOKED 65536u

const uint8_t valkey_fixed_seed[VALKEY_SEED_BYTES] = {
    0x59, 0x0f, 0xf5, 0x22, 0xea, 0x78, 0x11, 0xda, 0xa7, 0x14, 0xd8, 0x09, 0x3b, 0x3e, 0x7b, 0xd9,
    0x1d, 0x89, 0x8a, 0x73, 0x3e, 0x98, 0x88, 0x87, 0x30, 0x7f, 0x97, 0xcd, 0x28, 0x07, 0x33, 0x83};

/* ---- Positions ------------------------------------------------------------------------------- */

static uint64_t get64(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t rotated(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* The state of SipHash (Aumasson and Bernstein 2012). */
struct sip {
    uint64_t v[4];
};

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotated(v[1], 13) ^ v[0];
    v[3] = rotated(v[3], 16) ^ v[2];
    v[0] = rotated(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotated(v[1], 17) ^ v[2];
    v[3] = rotated(v[3], 21) ^ v[0];
    v[2] = rotated(v[2], 32);
}

static struct sip sip_begin(const uint8_t key[16])
{
    const uint64_t k0 = get64(key), k1 = get64(key + 8);
    return (struct sip){{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                         k1 ^ 0x7465646279746573}};
}

static void sip_word(struct sip *sip, uint64_t word)
{
    sip->v[3] ^= word;
    sip_round(sip->v);
    sip->v[0] ^= word;
}

static uint64_t sip_end(struct sip *sip)
{
    sip->v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(sip->v);
    return sip->v[0] ^ sip->v[1] ^ sip->v[2] ^ sip->v[3];
}

/* The two hash values of an item, by one walk over it. */
static void hash_item(const uint8_t seed[VALKEY_SEED_BYTES], const char *item, size_t bytes,
                      uint64_t hashes[2])
{
    struct sip one = sip_begin(seed), two = sip_begin(seed + 16);
    uint64_t last = (uint64_t)(bytes + 8) << 56; /* the message is the item and its length */
    sip_word(&one, bytes);
    sip_word(&two, bytes);
    for (; bytes >= 8; item += 8, bytes -= 8) {
        sip_word(&one, get64(item));
        sip_word(&two, get64(item));
    }
    if (bytes > 0) memcpy(&last, item, bytes);
    sip_word(&one, last);
    sip_word(&two, last);
    hashes[0] = sip_end(&one);
    hashes[1] = sip_end(&two);
}

static uint64_t position_of(const uint64_t hashes[2], uint32_t i, uint64_t bits)
{
    if (i < 2) return hashes[i] % bits;
    const uint64_t sum = hashes[0] + i * hashes[1];
    return (sum >= PRIME ? sum - PRIME : sum) % bits;
}

static bool layer_has(const struct valkey_layer *layer, const uint64_t hashes[2])
{
    const uint8_t *bits = layer->data + VALKEY_HEAD_BYTES;
    for (uint32_t i = 0; i < layer->hashes; i++) {
        const uint64_t at = position_of(hashes, i, layer->bytes * 8);
        if ((bits[at / 8] >> at % 8 & 1) == 0) return false;
    }
    return true;
}

static void layer_set(struct valkey_layer *layer, const uint64_t hashes[2])
{
    uint8_t *bits = layer->data + VALKEY_HEAD_BYTES;
    for (uint32_t i = 0; i < layer->hashes; i++) {
        const uint64_t at = position_of(hashes, i, layer->bytes * 8);
        bits[at / 8] |= (uint8_t)(1u << at % 8);
    }
    layer->items++;
}

static bool any_layer_has(const struct valkey *valkey, const uint64_t hashes[2])
{
    for (uint32_t i = valkey->count; i > 0; i--)
        if (layer_has(&valkey->layers[i - 1], hashes)) return true;
    return false;
}

bool valkey_contains(const struct valkey *valkey, const char *item, size_t bytes)
{
    uint64_t hashes[2];
    hash_item(valkey->shape.seed, item, bytes, hashes);
    return any_layer_has(valkey, hashes);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* The bytes of the bits of a layer; what no memory has is cut short. */
static uint64_t bytes_for(int64_t capacity, double rate)
{
    const double bytes = ceil((double)capacity * log(rate) / (-8.0 * (LN2 * LN2)));
    return !(bytes <= 1e18) ? (uint64_t)1 << 60 : bytes < 1 ? 1 : (uint64_t)bytes;
}

static uint32_t hashes_for(uint64_t bytes, int64_t capacity)
{
    const double hashes = round((double)(bytes * 8) / (double)capacity * LN2);
    return hashes < 1 ? 1 : (uint32_t)hashes;
}

/* The rate of layer i; 0: it would be too small for a number.  The powers are made by the same
 * multiplications as in valkey-bloom, so that the sizes are the same. */
static double rate_of(const struct valkey_shape *shape, uint32_t i)
{
    double power = 1, square = shape->tightening;
    for (; i > 0; i /= 2, square *= square)
        if (i % 2 == 1) power *= square;
    const double rate = shape->rate * power;
    return rate > DBL_MIN ? rate : 0;
}

/* The places of valkey-bloom's list of so many layers: one at first, four when it grows, then twice
 * as many each time. */
static uint64_t places_for(uint64_t layers)
{
    uint64_t places = layers > 1 ? 4 : 1;
    while (places < layers)
        places *= 2;
    return places;
}

static uint64_t size_with(uint64_t layers, uint64_t bytes)
{
    return FILTER_SIZE + PLACE_SIZE * places_for(layers) + LAYER_SIZE * layers + bytes;
}

static uint64_t bytes_of_all(const struct valkey *valkey)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < valkey->count; i++)
        sum += valkey->layers[i].bytes;
    return sum;
}

uint64_t valkey_size_bytes(const struct valkey *valkey)
{
    return size_with(valkey->count, bytes_of_all(valkey));
}

/* The same whether there are limits now or not: BF.INFO tells it on a replica as on its master. */
static bool is_over_limits(uint64_t size_bytes)
{
    return size_bytes > (uint64_t)config.memory_limit || size_bytes > (uint64_t)config.max_bytes;
}

bool valkey_is_too_large(uint64_t size_bytes)
{
    return is_over_limits(size_bytes) && config_has_limits();
}

int64_t valkey_items(const struct valkey *valkey)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < valkey->count; i++)
        sum += (uint64_t)valkey->layers[i].items;
    return (int64_t)sum;
}

/* Why a filter of that shape ends before layer i, which would bring it to so many bytes; or NULL.
 */
static const char *end_before(const struct valkey_shape *shape, uint32_t i, uint64_t bytes)
{
    if (rate_of(shape, i) == 0)
        return "ERR provided VALIDATESCALETO causes false positive to degrade to 0";
    if (i == LAYERS_LOOKED || is_over_limits(size_with(i + 1, bytes)))
        return "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit";
    return NULL;
}

int64_t valkey_most_keys(const struct valkey_shape *shape, int64_t wanted, const char **error)
{
    int64_t capacity = shape->capacity, sum = 0;
    uint64_t bytes = 0;
    *error = NULL;
    for (uint32_t i = 0; wanted <= 0 || sum < wanted; i++) {
        bytes += bytes_for(capacity, rate_of(shape, i));
        const char *end = end_before(shape, i, bytes);
        if (end != NULL && wanted > 0) *error = end;
        if (end != NULL) break;
        if (__builtin_add_overflow(sum, capacity, &sum) ||
            __builtin_mul_overflow(capacity, (int64_t)shape->expansion, &capacity)) {
            *error = VALKEY_BAD_CAPACITY;
            break;
        }
    }
    return sum;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

/* Counts a layer in, whose fields are all there. */
static void append_layer(struct valkey *valkey, const struct valkey_layer *layer)
{
    if (valkey->count == valkey->room) {
        valkey->room = 2 * valkey->room + 1;
        valkey->layers = RedisModule_Realloc(valkey->layers, valkey->room * sizeof *valkey->layers);
    }
    valkey->layers[valkey->count++] = *layer;
}

static const char *make_layer(struct valkey *valkey, int64_t capacity)
{
    const double rate = rate_of(&valkey->shape, valkey->count);
    if (rate == 0) return VALKEY_NO_RATE;
    struct valkey_layer layer = {.capacity = capacity, .bytes = bytes_for(capacity, rate)};
    layer.hashes = hashes_for(layer.bytes, capacity);
    /* The list grows only when there is a layer for it: what is asked first is the list of now. */
    const uint64_t size = size_with(valkey->count, bytes_of_all(valkey)) + layer.bytes + LAYER_SIZE;
    if (valkey_is_too_large(size)) return VALKEY_TOO_LARGE;
    layer.data = zeros(VALKEY_HEAD_BYTES + layer.bytes);
    if (layer.data == NULL) return VALKEY_NO_MEMORY;
    layer.data[0] = LAYER_VERSION;
    memcpy(layer.data + 1, &layer.bytes, 8);
    memcpy(layer.data + 9, &layer.hashes, 4);
    memcpy(layer.data + 13, valkey->shape.seed, VALKEY_SEED_BYTES);
    append_layer(valkey, &layer);
    return NULL;
}

struct valkey *valkey_new(const struct valkey_shape *shape, const char **error)
{
    struct valkey *valkey = RedisModule_Calloc(1, sizeof *valkey);
    valkey->shape = *shape;
    *error = make_layer(valkey, shape->capacity);
    if (*error == NULL) return valkey;
    valkey_free(valkey);
    return NULL;
}

void valkey_free(struct valkey *valkey)
{
    if (valkey == NULL) return;
    for (uint32_t i = 0; i < valkey->count; i++)
        RedisModule_Free(valkey->layers[i].data);
    RedisModule_Free(valkey->layers);
    RedisModule_Free(valkey);
}

struct valkey *valkey_copy(const struct valkey *from)
{
    struct valkey *to = RedisModule_Calloc(1, sizeof *to);
    to->shape = from->shape;
    for (uint32_t i = 0; i < from->count; i++) {
        struct valkey_layer layer = from->layers[i];
        layer.data = zeros(VALKEY_HEAD_BYTES + layer.bytes);
        if (layer.data == NULL) {
            valkey_free(to);
            return NULL;
        }
        memcpy(layer.data, from->layers[i].data, VALKEY_HEAD_BYTES + layer.bytes);
        append_layer(to, &layer);
    }
    return to;
}

bool valkey_shape_is_sound(const struct valkey_shape *shape)
{
    return shape->rate > 0 && shape->rate < 1 && shape->tightening > 0 && shape->tightening < 1;
}

bool valkey_take_layer(struct valkey *valkey, uint8_t *data, size_t bytes, int64_t items,
                       int64_t capacity)
{
    struct valkey_layer layer = {.data = data, .items = items, .capacity = capacity};
    if (bytes <= VALKEY_HEAD_BYTES || data[0] != LAYER_VERSION || items < 0 || capacity < 1)
        return false;
    layer.bytes = get64(data + 1);
    memcpy(&layer.hashes, data + 9, 4);
    if (layer.bytes != bytes - VALKEY_HEAD_BYTES || layer.hashes < 1 ||
        layer.hashes > VALKEY_HASHES_MAX)
        return false;
    if (valkey->count == 0) {
        memcpy(valkey->shape.seed, data + 13, VALKEY_SEED_BYTES);
        valkey->shape.capacity = capacity;
    }
    if (memcmp(valkey->shape.seed, data + 13, VALKEY_SEED_BYTES) != 0) return false;
    append_layer(valkey, &layer);
    return true;
}

/* ---- Adds ------------------------------------------------------------------------------------ */

static const char *grow(struct valkey *valkey, int64_t capacity)
{
    const uint32_t expansion = valkey->shape.expansion;
    if (expansion == 0) return VALKEY_FULL;
    if (valkey->count == INT32_MAX) return "ERR bloom object reached max number of filters";
    if (__builtin_mul_overflow(capacity, (int64_t)expansion, &capacity)) return VALKEY_BAD_CAPACITY;
    return make_layer(valkey, capacity);
}

int valkey_add(struct valkey *valkey, const char *item, size_t bytes, const char **error)
{
    uint64_t hashes[2];
    const struct valkey_layer *newest = &valkey->layers[valkey->count - 1];
    *error = NULL;
    hash_item(valkey->shape.seed, item, bytes, hashes);
    if (any_layer_has(valkey, hashes)) return 0;
    if (newest->items >= newest->capacity) *error = grow(valkey, newest->capacity);
    if (*error != NULL) return -1;
    layer_set(&valkey->layers[valkey->count - 1], hashes);
    return 1;
}
