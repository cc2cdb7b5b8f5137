/* SPDX-License-Identifier: BSD-2-Clause */
/* bf_read.c: BF.INFO, BF.CARD and BF.DEBUG. */
#include <inttypes.h>
#include <stdio.h>

#include "commands/bf_parts.h"
#include "server/config.h"
#include "value/homes.h"

int bf_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    int64_t items = 0;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const enum held held = key_held(key, TYPE_BLOOM, &value);
    if (held == HELD_VALUE) items = value_items(value);
    RedisModule_CloseKey(key);
    if (held == HELD_OTHER || held == HELD_CLOSED)
        return RedisModule_ReplyWithError(ctx, held_error(held));
    return items < 0 ? reply_failure(ctx, "the filter cannot be asked")
                     : RedisModule_ReplyWithLongLong(ctx, items);
}

/* ---- Layers ---------------------------------------------------------------------------------- */

static bool segment_of(const struct value *value, uint32_t i, struct told *layer)
{
    struct tamis_segment_stat s = {.size = sizeof s};
    if (tamis_filter_segment(value->stored->filter, i, &s) < 0) return false;
    *layer = (struct told){.bytes = s.data_bytes,
                           .bits = s.m_bits,
                           .capacity = s.capacity,
                           .items = s.items,
                           .hashes = s.k,
                           .rate = s.fp_rate};
    return true;
}

/* What there is to tell of a layer.  False: the filter has fewer. */
static bool layer_of(const struct value *value, uint32_t i, struct told *layer)
{
    if (value->home == HOME_VALKEY) return guest->layer(value->valkey, i, layer);
    if (value->home != HOME_MEMORY) return segment_of(value, i, layer);
    if (i >= value->memory->count) return false;
    const struct layer *l = &value->memory->layers[i];
    *layer = (struct told){.bytes = layer_bytes(value->memory, l),
                           .bits = l->bits.m_bits,
                           .capacity = l->bits.capacity,
                           .items = l->bits.items,
                           .hashes = l->bits.k,
                           .rate = l->bits.fp_rate};
    return true;
}

/* ---- BF.INFO --------------------------------------------------------------------------------- */

/* The fields, in valkey-bloom's order; RedisBloom has those that are so marked, and tells the
 * others only if they are asked for. */
enum field {
    FIELD_CAPACITY,
    FIELD_SIZE,
    FIELD_FILTERS,
    FIELD_ITEMS,
    FIELD_ERROR,
    FIELD_EXPANSION,
    FIELD_TIGHTENING,
    FIELD_MOST,
    FIELDS
};

static const struct {
    const char *asked, *name;
    bool redisbloom, growing; /* only a filter that grows has it */
} fields[FIELDS] = {
    [FIELD_CAPACITY] = {"CAPACITY", "Capacity", true, false},
    [FIELD_SIZE] = {"SIZE", "Size", true, false},
    [FIELD_FILTERS] = {"FILTERS", "Number of filters", true, false},
    [FIELD_ITEMS] = {"ITEMS", "Number of items inserted", true, false},
    [FIELD_ERROR] = {"ERROR", "Error rate", false, false},
    [FIELD_EXPANSION] = {"EXPANSION", "Expansion rate", true, false},
    [FIELD_TIGHTENING] = {"TIGHTENING", "Tightening ratio", false, true},
    [FIELD_MOST] = {"MAXSCALEDCAPACITY", "Max scaled capacity", false, true},
};

/* What the fields hold. */
struct figures {
    long long numbers[FIELDS]; /* where they are no ratios */
    struct valkey_shape shape; /* of a filter of the store: the one that it would have there */
    const char *error;         /* instead of FIELD_MOST */
};

/* What else there is to tell of the whole filter. */
static struct valkey_shape shape_of(const struct value *value, const struct told *first)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    struct valkey_shape shape = {.capacity = (int64_t)first->capacity,
                                 .expansion = value->expansion,
                                 .tightening = config.tightening.value};
    if (value->home == HOME_MEMORY)
        shape.rate = value->memory->rate;
    else if (tamis_filter_stat(value->stored->filter, &stat) == 0)
        shape.rate = stat.fp_rate;
    return shape;
}

static void measure(const struct value *value, struct figures *f)
{
    struct told layer, first = {0};
    *f = (struct figures){.error = NULL};
    for (uint32_t i = 0; layer_of(value, i, &layer); i++) {
        if (i == 0) first = layer;
        f->numbers[FIELD_CAPACITY] =
            (long long)((uint64_t)f->numbers[FIELD_CAPACITY] + layer.capacity);
        f->numbers[FIELD_FILTERS]++;
    }
    f->shape = value->home == HOME_VALKEY ? guest->shape(value->valkey) : shape_of(value, &first);
    f->numbers[FIELD_SIZE] = (long long)value_size_bytes(value);
    f->numbers[FIELD_ITEMS] = value_items(value);
    f->numbers[FIELD_EXPANSION] = f->shape.expansion;
}

/* The most keys take a while to compute, so they are only if they are told. */
static void measure_most(struct figures *f)
{
    if (f->shape.expansion != 0) f->numbers[FIELD_MOST] = guest->most_keys(&f->shape, 0, &f->error);
}

static void reply_field(RedisModuleCtx *ctx, enum field field, const struct figures *f, bool named)
{
    if (named) (void)RedisModule_ReplyWithSimpleString(ctx, fields[field].name);
    if (field == FIELD_ERROR || field == FIELD_TIGHTENING)
        (void)RedisModule_ReplyWithDouble(ctx, field == FIELD_ERROR ? f->shape.rate
                                                                    : f->shape.tightening);
    else if (field == FIELD_MOST && f->error != NULL)
        (void)RedisModule_ReplyWithError(ctx, f->error);
    else if (field == FIELD_EXPANSION && f->shape.expansion == 0)
        (void)RedisModule_ReplyWithNull(ctx);
    else
        (void)RedisModule_ReplyWithLongLong(ctx, f->numbers[field]);
}

/* One field: RedisBloom answers an array of one, or a map, and valkey-bloom the bare value. */
static int reply_one(RedisModuleCtx *ctx, enum field field, struct figures *f)
{
    const bool bare = config.like == LIKE_VALKEY, named = !bare && reply_is_resp3(ctx);
    if (field == FIELDS || (fields[field].growing && f->shape.expansion == 0) ||
        (field == FIELD_MOST && guest == NULL))
        return RedisModule_ReplyWithError(ctx, bare ? "ERR invalid information value"
                                                    : "Invalid information value");
    if (field == FIELD_MOST) measure_most(f);
    if (named)
        (void)RedisModule_ReplyWithMap(ctx, 1);
    else if (!bare)
        (void)RedisModule_ReplyWithArray(ctx, 1);
    reply_field(ctx, field, f, named);
    return REDISMODULE_OK;
}

static bool is_told(enum field field, const struct figures *f)
{
    if (config.like == LIKE_REDISBLOOM) return fields[field].redisbloom;
    return !fields[field].growing || f->shape.expansion != 0;
}

/* All fields: a map, and with valkey-bloom an array by RESP3 too. */
static int reply_all(RedisModuleCtx *ctx, struct figures *f)
{
    long count = 0;
    for (enum field i = 0; i < FIELDS; i++)
        count += is_told(i, f);
    if (config.like == LIKE_VALKEY) measure_most(f);
    if (f->error != NULL) return RedisModule_ReplyWithError(ctx, f->error);
    if (config.like == LIKE_VALKEY)
        (void)RedisModule_ReplyWithArray(ctx, 2 * count);
    else
        (void)RedisModule_ReplyWithMap(ctx, count);
    for (enum field i = 0; i < FIELDS; i++)
        if (is_told(i, f)) reply_field(ctx, i, f, true);
    return REDISMODULE_OK;
}

int bf_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct figures figures;
    RedisModuleKey *key;
    enum field field = FIELDS;
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    for (enum field i = 0; argc == 3 && i < FIELDS; i++)
        if (arg_is(argv[2], fields[i].asked)) field = i;
    const struct value *value = key_open(ctx, argv[1], TYPE_BLOOM, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    measure(value, &figures);
    RedisModule_CloseKey(key);
    return argc == 3 ? reply_one(ctx, field, &figures) : reply_all(ctx, &figures);
}

/* ---- BF.DEBUG -------------------------------------------------------------------------------- */

static void reply_layer(RedisModuleCtx *ctx, const struct told *line)
{
    char text[256];
    (void)snprintf(text, sizeof text,
                   "bytes:%" PRIu64 " bits:%" PRIu64 " hashes:%u hashwidth:64 capacity:%" PRIu64
                   " size:%" PRIu64 " ratio:%g",
                   line->bytes, line->bits, line->hashes, line->capacity, line->items, line->rate);
    (void)RedisModule_ReplyWithCString(ctx, text);
}

int bf_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct told layer;
    char text[64];
    if (argc != 2) return RedisModule_WrongArity(ctx);
    const struct value *value = key_open(ctx, argv[1], TYPE_BLOOM, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    (void)RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
    (void)snprintf(text, sizeof text, "size:%" PRId64, value_items(value));
    (void)RedisModule_ReplyWithCString(ctx, text);
    long lines = 1;
    for (; layer_of(value, (uint32_t)lines - 1, &layer); lines++)
        reply_layer(ctx, &layer);
    RedisModule_ReplySetArrayLength(ctx, lines);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
