/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_attach.c: TAMIS.ATTACH, TAMIS.DETACH and TAMIS.ORPHANS: filters that are in the store
 * without a key. */
#include <string.h>

#include "commands/command.h"
#include "kept/leftovers.h"
#include "registry/registry.h"

static void attach_to_key(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                          const char *filter)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(name, &bytes);
    struct value *value = value_new(TYPE_BLOOM);
    int rc = make_of_stored(value, RedisModule_GetSelectedDb(ctx), text, bytes, filter);
    if (rc == 0) {
        key_set(ctx, key, name, value);
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        (void)RedisModule_ReplicateVerbatim(ctx);
        return;
    }
    value_free(value);
    if (rc == TAMIS_EINVAL)
        (void)RedisModule_ReplyWithError(ctx, "ERR the filter counts, and BF.* does not");
    else if (rc == TAMIS_EBUSY)
        (void)RedisModule_ReplyWithError(ctx, "ERR a key of this server has that filter");
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
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const enum held held = key_held(key, TYPE_BLOOM, &value);
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
