/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb_draft.c: drafts (value/drafts.h) in dumps and in an AOF that is rewritten.
 *
 *     in a dump     U kind, U capacity, D rate, U what happens when it is full, U keys; S each key;
 *                   of RedisBloom's filters (tamis.exact): U EXACT, S its head, U keys; S each key
 *     in an AOF     BF.INSERT, or BF.RESERVE if there are no keys; of RedisBloom's filters
 *                   BF.LOADCHUNK of the head, and BF.MADD
 *
 * A draft has no filter yet whose bits could be saved.  What it has in memory makes the same
 * filter, so neither a child that saves nor the server waits until it is in the store.
 */
#include <stdio.h>
#include <string.h>

#include "kept/store.h"
#include "persist/load.h"
#include "persist/rdb_parts.h"
#include "server/args.h"
#include "server/config.h"
#include "value/drafts.h"
#include "value/handles.h"

/* In the place of a kind. */
#define EXACT ((uint64_t)1 << 32)

/* RedisBloom's head of the draft, without its frame; NULL: it is of another sort. */
static const char *exact_head(const struct value *value, size_t *bytes)
{
    const char *framed = draft_head(value, bytes);
    if (framed == NULL) return NULL;
    *bytes -= HEAD_FRAME_BYTES;
    return framed + HEAD_FRAME_BYTES;
}

void rdb_settle_draft(RedisModuleIO *io, const char *what, struct value *value)
{
    if (value->draft == NULL || draft_can_be_saved(value)) return;
    if (value_open(value) < 0) save_lacks(io, what, value);
}

void rdb_save_draft(RedisModuleIO *rdb, const struct value *value)
{
    size_t count, head_bytes;
    const struct tamis_filter_spec *spec = draft_spec(value);
    const struct tamis_key *keys = draft_keys(value, &count);
    const char *head = exact_head(value, &head_bytes);
    RedisModule_SaveUnsigned(rdb, head != NULL ? EXACT : spec->kind);
    if (head != NULL) {
        RedisModule_SaveStringBuffer(rdb, head, head_bytes);
    } else {
        RedisModule_SaveUnsigned(rdb, spec->capacity);
        RedisModule_SaveDouble(rdb, spec->fp_rate);
        RedisModule_SaveUnsigned(rdb, spec->on_full);
    }
    RedisModule_SaveUnsigned(rdb, count);
    for (size_t i = 0; i < count; i++)
        RedisModule_SaveStringBuffer(rdb, keys[i].data, keys[i].bytes);
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* Could a draft have this spec? */
static int check(const struct tamis_filter_spec *spec, uint64_t keys)
{
    struct tamis_sizing sizing = {.size = sizeof sizing,
                                  .kind = spec->kind,
                                  .capacity = spec->capacity,
                                  .fp_rate = spec->fp_rate};
    if (keys > DRAFT_KEYS_MAX || keys > spec->capacity || spec->capacity > CAPACITY_MAX ||
        tamis_kind_has(spec->kind, TAMIS_KIND_MAY_GROW) != 1 ||
        tamis_kind_has(spec->kind, TAMIS_KIND_COUNTS) != 0 ||
        !(spec->fp_rate > 0 && spec->fp_rate < 1) ||
        (spec->on_full != TAMIS_ON_FULL_GROW && spec->on_full != TAMIS_ON_FULL_REFUSE) ||
        tamis_size(&sizing) < 0)
        return TAMIS_ECORRUPT;
    return sizing.file_bytes > config_max_bytes() ? TAMIS_ENOMEM : 0;
}

/* Loads RedisBloom's head.  It is that of an empty layer. */
static int load_head(RedisModuleIO *rdb, struct dumped_draft *draft, uint64_t *keys)
{
    unsigned char framed[HEAD_FRAME_BYTES + HEAD_ROOM];
    size_t bytes;
    struct bloom_layer layer = {.capacity = 0};
    char *head = load_string(rdb, &bytes);
    *keys = load_number(rdb);
    bool sound =
        head != NULL && !load_has_failed(rdb) && bytes == BLOOM_HEAD_BYTES + BLOOM_LAYER_BYTES;
    if (sound) {
        bloom_head_layer((const unsigned char *)head, &layer);
        draft->head_bytes = head_frame(head, bytes, framed);
        memcpy(draft->head, framed, draft->head_bytes);
        sound =
            layer.items == 0 && *keys <= DRAFT_KEYS_MAX && *keys <= layer.capacity &&
            tamis_stream_fits("redisbloom", draft->head, draft->head_bytes) != TAMIS_STREAM_ALONE;
    }
    const bool large = sound && head_is_too_large(head, bytes);
    RedisModule_Free(head);
    return large ? TAMIS_ENOMEM : sound ? 0 : TAMIS_ECORRUPT;
}

static int load_spec(RedisModuleIO *rdb, struct tamis_filter_spec *spec, uint64_t kind,
                     uint64_t *keys)
{
    *spec = (struct tamis_filter_spec){.size = sizeof *spec,
                                       .flags = TAMIS_FILTER_OWNED | TAMIS_FILTER_IN_DRAWER};
    spec->capacity = load_number(rdb);
    spec->fp_rate = load_double(rdb);
    const uint64_t on_full = load_number(rdb);
    *keys = load_number(rdb);
    if (load_has_failed(rdb) || kind > UINT32_MAX || on_full > UINT32_MAX) return TAMIS_ECORRUPT;
    spec->kind = (uint32_t)kind;
    spec->on_full = (uint32_t)on_full;
    return check(spec, *keys);
}

int rdb_load_draft(RedisModuleIO *rdb, struct dumped_draft *draft)
{
    uint64_t keys = 0;
    const uint64_t kind = load_number(rdb);
    int rc =
        kind == EXACT ? load_head(rdb, draft, &keys) : load_spec(rdb, &draft->spec, kind, &keys);
    for (uint64_t i = 0; rc == 0 && i < keys; i++) {
        struct tamis_key *key = &draft->keys[draft->key_count];
        key->data = load_string(rdb, &key->bytes);
        if (key->data == NULL || load_has_failed(rdb)) rc = TAMIS_ECORRUPT;
        if (key->data != NULL) draft->key_count++;
    }
    return rc;
}

void rdb_forget_draft(struct dumped_draft *draft)
{
    for (size_t i = 0; i < draft->key_count; i++)
        RedisModule_Free((void *)(uintptr_t)draft->keys[i].data);
}

static int make_dumped(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    const struct dumped_draft *draft = context;
    struct tamis_filled filled = {.name = name,
                                  .keys = draft->keys,
                                  .key_count = draft->key_count,
                                  .created_at = draft->created_at};
    if (draft->head_bytes > 0) {
        filled.stream = draft->head;
        filled.stream_bytes = draft->head_bytes;
        filled.format = "redisbloom";
        filled.flags = TAMIS_IMPORT_HEAD | TAMIS_IMPORT_AS_THERE | TAMIS_IMPORT_OWNED;
    } else {
        filled.spec = &draft->spec;
    }
    const int rc = tamis_filter_create_filled(store, &filled, 1);
    return rc < 0 ? rc : tamis_filter_open(store, name, 0, filter);
}

struct maker rdb_draft_maker(struct dumped_draft *draft)
{
    return (struct maker){.make = make_dumped, .context = draft};
}

int rdb_add_dumped(struct value *value, const struct dumped_draft *draft)
{
    int rc = 0;
    if (draft->key_count > 0 && value->filter == NULL)
        rc = tamis_filter_open(store_open(), value->name, 0, &value->filter);
    for (size_t i = 0; rc >= 0 && i < draft->key_count; i++)
        rc = tamis_filter_add(value->filter, draft->keys[i].data, draft->keys[i].bytes);
    return rc < 0 ? rc : 0;
}

int rdb_draft_anew(struct value *value, int db, const char *key, size_t key_bytes,
                   struct dumped_draft *draft)
{
    struct tamis_sizing sizing = {.size = sizeof sizing,
                                  .kind = draft->spec.kind,
                                  .capacity = draft->spec.capacity,
                                  .fp_rate = draft->spec.fp_rate};
    const struct maker maker = rdb_draft_maker(draft);
    if (draft->head_bytes > 0) return make_filter(value, db, key, key_bytes, &maker);
    int rc = tamis_size(&sizing);
    if (rc == 0) rc = make_by_spec(value, db, key, key_bytes, &draft->spec, &sizing);
    if (rc < 0 || value->draft == NULL) return rc < 0 ? rc : rdb_add_dumped(value, draft);
    for (size_t i = 0; i < draft->key_count; i++)
        (void)draft_add(value, draft->keys[i].data, draft->keys[i].bytes);
    return 0;
}

/* ---- An AOF ---------------------------------------------------------------------------------- */

/* How it grows: one or two words. */
static size_t growth_words(const struct value *value, RedisModuleString **words)
{
    if (value->expansion == 0) {
        words[0] = RedisModule_CreateStringPrintf(NULL, "NONSCALING");
        return 1;
    }
    words[0] = RedisModule_CreateStringPrintf(NULL, "EXPANSION");
    words[1] = RedisModule_CreateStringPrintf(NULL, "%u", value->expansion);
    return 2;
}

/* As RedisBloom's filter, whatever tamis.exact says where the AOF is loaded. */
static bool emit_exact(RedisModuleIO *aof, RedisModuleString *key, const struct value *value)
{
    RedisModuleString *words[DRAFT_KEYS_MAX];
    size_t count, bytes;
    const struct tamis_key *items = draft_keys(value, &count);
    const char *head = exact_head(value, &bytes);
    if (head == NULL) return false;
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, 1LL, head, bytes);
    for (size_t i = 0; i < count; i++)
        words[i] = RedisModule_CreateString(NULL, items[i].data, items[i].bytes);
    if (count > 0) RedisModule_EmitAOF(aof, "BF.MADD", "sv", key, words, count);
    for (size_t i = 0; i < count; i++)
        RedisModule_FreeString(NULL, words[i]);
    return true;
}

void rdb_emit_draft(RedisModuleIO *aof, RedisModuleString *key, const struct value *value)
{
    if (emit_exact(aof, key, value)) return;
    RedisModuleString *words[8 + DRAFT_KEYS_MAX];
    size_t keys, count = 0;
    const struct tamis_filter_spec *spec = draft_spec(value);
    const struct tamis_key *items = draft_keys(value, &keys);
    if (keys > 0) words[count++] = RedisModule_CreateStringPrintf(NULL, "ERROR");
    words[count++] = RedisModule_CreateStringPrintf(NULL, "%.17g", spec->fp_rate);
    if (keys > 0) words[count++] = RedisModule_CreateStringPrintf(NULL, "CAPACITY");
    words[count++] =
        RedisModule_CreateStringPrintf(NULL, "%llu", (unsigned long long)spec->capacity);
    count += growth_words(value, words + count);
    if (keys > 0) words[count++] = RedisModule_CreateStringPrintf(NULL, "ITEMS");
    for (size_t i = 0; i < keys; i++)
        words[count++] = RedisModule_CreateString(NULL, items[i].data, items[i].bytes);
    RedisModule_EmitAOF(aof, keys > 0 ? "BF.INSERT" : "BF.RESERVE", "sv", key, words, count);
    for (size_t i = 0; i < count; i++)
        RedisModule_FreeString(NULL, words[i]);
}
