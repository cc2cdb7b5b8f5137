/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_attach.c: TAMIS.ATTACH, TAMIS.DETACH and TAMIS.ORPHANS: filters that are in the store
 * without a key. */
#include <string.h>

#include "commands/command.h"
#include "kept/leftovers.h"
#include "kept/naming.h"
#include "keys/cf_shape.h"
#include "persist/cuckoo_data.h"
#include "registry/registry.h"
#include "value/pieces.h"

/*
 * Describes a filter that counts to CF.*, and replicates what it has, as CF.SCANDUMP would tell it.
 * Replicas need not have the filter then.  And an AOF that is loaded makes the filter anew: behind
 * a TAMIS.ATTACH, its commands would count once more in the store's filter, which has counted them
 * already.  Returns false if the filter cannot be read.
 */
static bool replicate_counts(RedisModuleCtx *ctx, RedisModuleString *name, struct value *value)
{
    unsigned char head[CUCKOO_HEAD_BYTES];
    size_t bytes = 0;
    char *data = cuckoo_of_counts(value) == 0 ? cuckoo_data(value, &bytes) : NULL;
    if (data == NULL) return false;
    cuckoo_write_head(&value->cuckoo, head);
    (void)RedisModule_Replicate(ctx, "CF.LOADCHUNK", "slb", name, 1LL, (const char *)head,
                                sizeof head);
    for (size_t at = 0; at < bytes;) {
        const size_t left = bytes - at, now = left < PIECE_BYTES ? left : (size_t)PIECE_BYTES;
        at += now;
        (void)RedisModule_Replicate(ctx, "CF.LOADCHUNK", "slb", name, (long long)at + 1,
                                    data + at - now, now);
    }
    RedisModule_Free(data);
    return true;
}

static const char *refusal_of(int rc)
{
    if (rc == TAMIS_EBUSY) return "ERR a key of this server has that filter";
    return rc != TAMIS_EINVAL
               ? NULL
               : "ERR the filter counts and was not made by this server, whose AOF would count "
                 "again what it has; copy it by 'tamis export' and TAMIS.LOAD";
}

static void attach_to_key(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                          const char *filter)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    const int db = RedisModule_GetSelectedDb(ctx);
    struct value *value = value_new(TYPE_BLOOM);
    const int rc = open_stored(value, db, text, bytes, filter);
    const bool is_cuckoo = rc == 0 && value->type == TYPE_CUCKOO;
    if (rc == 0 && (!is_cuckoo || replicate_counts(ctx, name, value))) {
        adopt_stored(value, db, text, bytes);
        key_set(ctx, key, name, value);
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        naming_wait(value);
        if (!is_cuckoo) /* a filter of ours has the name of its key now */
            (void)RedisModule_Replicate(ctx, "TAMIS.ATTACH", "sc", name, value->name);
        return;
    }
    (void)tamis_filter_close(value->filter);
    value_free(value);
    if (refusal_of(rc) != NULL)
        (void)RedisModule_ReplyWithError(ctx, refusal_of(rc));
    else
        (void)reply_failure(ctx, "the filter cannot be attached");
}

int tamis_attach(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    size_t bytes;
    char own[NAME_ROOM];
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    const char *filter = RedisModule_StringPtrLen(argv[argc - 1], &bytes);
    if (argc == 2) {
        name_of_key(RedisModule_GetSelectedDb(ctx), filter, bytes, own);
        filter = own;
    }
    if (bytes > TAMIS_NAME_MAX || (argc == 3 && strlen(filter) != bytes))
        return RedisModule_ReplyWithError(ctx, "ERR no filter can have that name");
    naming_wait(NULL);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const enum held held = key_look(key, TYPE_BLOOM, &value);
    if (held == HELD_NONE)
        attach_to_key(ctx, key, argv[1], filter);
    else
        (void)RedisModule_ReplyWithError(ctx, held == HELD_OTHER ? WRONG_TYPE : "ERR item exists");
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int tamis_detach(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    struct value *value = key_open(ctx, argv[1], TYPE_BLOOM, READ_WRITE, &key);
    if (value == NULL) return REDISMODULE_OK;
    naming_wait(value); /* the filter stays under the name of the key */
    if (registry_give_away(value) < 0) {
        (void)reply_failure(ctx, "the filter cannot be detached");
    } else {
        (void)RedisModule_ReplyWithCString(ctx, value->name);
        (void)RedisModule_DeleteKey(key);
        (void)RedisModule_ReplicateVerbatim(ctx);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- Orphans --------------------------------------------------------------------------------- */

struct listing {
    RedisModuleCtx *ctx;
    long count;
};

static void list_orphan(void *context, const char *name, const char *was)
{
    struct listing *listing = context;
    (void)RedisModule_ReplyWithArray(listing->ctx, 2);
    (void)RedisModule_ReplyWithCString(listing->ctx, name);
    (void)RedisModule_ReplyWithCString(listing->ctx, was);
    listing->count++;
}

int tamis_orphans(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct listing listing = {.ctx = ctx};
    if (argc == 2 && arg_is(argv[1], "LIST")) {
        (void)RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
        orphans_each(list_orphan, &listing);
        RedisModule_ReplySetArrayLength(ctx, listing.count);
        return REDISMODULE_OK;
    }
    if (argc != 3 || !arg_is(argv[1], "DROP")) return RedisModule_WrongArity(ctx);
    const int rc = orphans_drop(RedisModule_StringPtrLen(argv[2], NULL));
    if (rc == TAMIS_ENOTFOUND)
        return RedisModule_ReplyWithError(ctx, "ERR no orphan has that name");
    return rc < 0 ? reply_failure(ctx, "the orphan cannot be dropped")
                  : RedisModule_ReplyWithSimpleString(ctx, "OK");
}
