/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb_draft.c: drafts (value/drafts.h) in dumps and in an AOF that is rewritten.
 *
 *     in a dump     U kind, U capacity, D rate, U what happens when it is full, U keys; S each key
 *     in an AOF     BF.INSERT, or BF.RESERVE if there are no keys
 *
 * A draft has no filter yet whose bits could be saved.  What it has in memory makes the same
 * filter, so neither a child that saves nor the server waits until it is in the store.
 */
#include <stdio.h>

#include "kept/store.h"
#include "persist/load.h"
#include "persist/rdb_parts.h"
#include "server/args.h"
#include "server/config.h"
#include "value/drafts.h"

void rdb_save_draft(RedisModuleIO *rdb, const struct value *value)
{
    size_t count;
    const struct tamis_filter_spec *spec = draft_spec(value);
    const struct tamis_key *keys = draft_keys(value, &count);
    RedisModule_SaveUnsigned(rdb, spec->kind);
    RedisModule_SaveUnsigned(rdb, spec->capacity);
    RedisModule_SaveDouble(rdb, spec->fp_rate);
    RedisModule_SaveUnsigned(rdb, spec->on_full);
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

int rdb_load_draft(RedisModuleIO *rdb, struct dumped_draft *draft)
{
    struct tamis_filter_spec *spec = &draft->spec;
    *spec = (struct tamis_filter_spec){.size = sizeof *spec,
                                       .flags = TAMIS_FILTER_OWNED | TAMIS_FILTER_IN_DRAWER};
    const uint64_t kind = load_number(rdb);
    spec->capacity = load_number(rdb);
    spec->fp_rate = load_double(rdb);
    const uint64_t on_full = load_number(rdb), keys = load_number(rdb);
    if (load_has_failed(rdb) || kind > UINT32_MAX || on_full > UINT32_MAX) return TAMIS_ECORRUPT;
    spec->kind = (uint32_t)kind;
    spec->on_full = (uint32_t)on_full;
    int rc = check(spec, keys);
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
    const struct tamis_filled filled = {.name = name,
                                        .spec = &draft->spec,
                                        .keys = draft->keys,
                                        .key_count = draft->key_count,
                                        .created_at = draft->created_at};
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

void rdb_emit_draft(RedisModuleIO *aof, RedisModuleString *key, const struct value *value)
{
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
