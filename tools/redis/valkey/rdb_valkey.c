/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb_valkey.c: values of the type bloomfltr in dumps, in the AOF and in DEBUG DIGEST.
 *
 *     encoding version 1   U layers, U expansion, D rate, D tightening ratio, U whether the seed
 *                          was drawn; of each layer S head and bits (valkey/valkey.h), U capacity,
 *                          and of the last one U items.  The layers before it are full.
 *     of Tamis             U 0, and what rdb.c writes of its filter
 *
 * So valkey-bloom reads what we write of its own filters, and refuses the others.  Nothing is
 * allocated but the strings that are there, which become the layers.
 */
#include "persist/rdb.h"
#include "valkey/guest_parts.h"
#include "valkey/valkey_blob.h"

#define ENCODING_VERSION 1

void valkey_save(RedisModuleIO *rdb, const struct valkey *valkey)
{
    const struct valkey_shape *shape = &valkey->shape;
    RedisModule_SaveUnsigned(rdb, valkey->count);
    RedisModule_SaveUnsigned(rdb, shape->expansion);
    RedisModule_SaveDouble(rdb, shape->rate);
    RedisModule_SaveDouble(rdb, shape->tightening);
    RedisModule_SaveUnsigned(rdb, shape->random);
    for (uint32_t i = 0; i < valkey->count; i++) {
        const struct valkey_layer *layer = &valkey->layers[i];
        RedisModule_SaveStringBuffer(rdb, (const char *)layer->data,
                                     VALKEY_HEAD_BYTES + (size_t)layer->bytes);
        RedisModule_SaveUnsigned(rdb, (uint64_t)layer->capacity);
        if (i + 1 == valkey->count) RedisModule_SaveUnsigned(rdb, (uint64_t)layer->items);
    }
}

static bool load_layer(RedisModuleIO *rdb, struct valkey *valkey, bool last)
{
    size_t bytes = 0;
    char *data = RedisModule_LoadStringBuffer(rdb, &bytes);
    const int64_t capacity = (int64_t)RedisModule_LoadUnsigned(rdb);
    const int64_t items = last ? (int64_t)RedisModule_LoadUnsigned(rdb) : capacity;
    if (!RedisModule_IsIOError(rdb) && data != NULL &&
        valkey_take_layer(valkey, (uint8_t *)data, bytes, items, capacity))
        return true;
    RedisModule_Free(data);
    return false;
}

static bool load_layers(RedisModuleIO *rdb, struct valkey *valkey, uint64_t layers)
{
    struct valkey_shape *shape = &valkey->shape;
    const uint64_t expansion = RedisModule_LoadUnsigned(rdb);
    shape->rate = RedisModule_LoadDouble(rdb);
    shape->tightening = RedisModule_LoadDouble(rdb);
    const uint64_t random = RedisModule_LoadUnsigned(rdb);
    if (RedisModule_IsIOError(rdb) || expansion > UINT32_MAX || random > 1 ||
        !valkey_shape_is_sound(shape))
        return false;
    shape->expansion = (uint32_t)expansion;
    shape->random = random == 1;
    for (; layers > 0; layers--)
        if (!load_layer(rdb, valkey, layers == 1)) return false;
    return true;
}

void *valkey_load(RedisModuleIO *rdb, int encver)
{
    const uint64_t layers = RedisModule_LoadUnsigned(rdb);
    if (encver == ENCODING_VERSION && layers == 0 && !RedisModule_IsIOError(rdb)) {
        const uint64_t version = RedisModule_LoadUnsigned(rdb);
        (void)RedisModule_LoadUnsigned(rdb);
        return RedisModule_IsIOError(rdb) ? NULL : rdb_load_own(rdb, version, true);
    }
    struct valkey *valkey = RedisModule_Calloc(1, sizeof *valkey);
    if (encver == ENCODING_VERSION && load_layers(rdb, valkey, layers)) {
        struct value *value = value_new(TYPE_BLOOM);
        value->as_valkey = true;
        value_settle(value, HOME_VALKEY, valkey);
        return value;
    }
    RedisModule_LogIOError(rdb, "warning",
                           "the dump of a filter of valkey-bloom is damaged, or of a version "
                           "that is not known here");
    valkey_free(valkey);
    return NULL;
}

/* ---- The AOF, and DEBUG DIGEST --------------------------------------------------------------- */

/* A filter of valkey-bloom, as its own AOF has it. */
bool valkey_emit(RedisModuleIO *aof, RedisModuleString *key, const struct valkey *valkey)
{
    size_t bytes = 0;
    char *blob = valkey_to_blob(valkey, &bytes);
    if (blob != NULL) RedisModule_EmitAOF(aof, "BF.LOAD", "sb", key, blob, bytes);
    RedisModule_Free(blob);
    return blob != NULL;
}

void valkey_digest(RedisModuleDigest *to, const struct valkey *valkey)
{
    const struct valkey_shape *shape = &valkey->shape;
    RedisModule_DigestAddLongLong(to, shape->expansion);
    RedisModule_DigestAddStringBuffer(to, (const char *)&shape->rate, sizeof shape->rate);
    RedisModule_DigestAddStringBuffer(to, (const char *)&shape->tightening,
                                      sizeof shape->tightening);
    for (uint32_t i = 0; i < valkey->count; i++) {
        const struct valkey_layer *layer = &valkey->layers[i];
        RedisModule_DigestAddStringBuffer(to, (const char *)layer->data,
                                          VALKEY_HEAD_BYTES + (size_t)layer->bytes);
        RedisModule_DigestAddLongLong(to, layer->items);
        RedisModule_DigestAddLongLong(to, layer->capacity);
    }
    RedisModule_DigestEndSequence(to);
}
