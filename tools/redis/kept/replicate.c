/* SPDX-License-Identifier: BSD-2-Clause */
/* replicate.c: see replicate.h. */
#include "kept/replicate.h"

#include "server/resync.h"
#include "server/waiting.h"

static RedisModuleCtx *own; /* of the module, with a database to choose; NULL: there is none */

void replicate_prepare(RedisModuleCtx *ctx)
{
    if (own == NULL && RedisModule_GetDetachedThreadSafeContext != NULL &&
        RedisModule_SelectDb != NULL)
        own = RedisModule_GetDetachedThreadSafeContext(ctx);
}

bool replicate_is_prepared(void)
{
    return own != NULL;
}

/* Looks for the value under its key.  `takes`: deletes that key, if it has the value. */
static bool look(const struct value *value, bool takes)
{
    if (value_is_gone(value)) return false;
    /* A flush takes all keys, and their values are freed later. */
    if (own == NULL || RedisModule_SelectDb(own, value->db) != REDISMODULE_OK) return false;
    RedisModuleString *name = RedisModule_CreateString(NULL, value->key, value->key_bytes);
    RedisModuleKey *key =
        RedisModule_OpenKey(own, name, REDISMODULE_READ | (takes ? REDISMODULE_WRITE : 0));
    const bool has = RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_MODULE &&
                     RedisModule_ModuleTypeGetValue(key) == value;
    if (has && takes) (void)RedisModule_DeleteKey(key);
    RedisModule_CloseKey(key);
    RedisModule_FreeString(NULL, name);
    return has;
}

bool replicate_key_has(const struct value *value)
{
    return look(value, false);
}

void replicate_take_key(const struct value *value)
{
    (void)look(value, true);
}

/* The master lacks it.  A full sync that has begun takes it away. */
static void tell_that_master_lacks(const char *command, const RedisModuleString *key)
{
    const int loading = REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    if ((RedisModule_GetContextFlags(NULL) & loading) != 0) return;
    RedisModule_Log(NULL, "warning",
                    "%s has changed the filter of the key '%.256s' when the server was a replica "
                    "already: the filter may differ from the master's until a full sync",
                    command, RedisModule_StringPtrLen(key, NULL));
    resync_want();
}

void replicate_change(replicate_follow *follow, const void *kept, RedisModuleString **argv,
                      int *argc)
{
    const char *command = RedisModule_StringPtrLen(argv[0], NULL);
    const bool paused = waiting_is_paused(), replica = server_is_replica();
    const int db = own != NULL ? follow(kept, argv, argc) : FOLLOW_LOST;
    if (db == FOLLOW_GONE) return;
    if (replica) tell_that_master_lacks(command, argv[1]);
    if (!paused && db >= 0 && RedisModule_SelectDb(own, db) == REDISMODULE_OK)
        (void)RedisModule_Replicate(own, command, "v", argv + 1, (size_t)*argc - 1);
    else if (!replica)
        RedisModule_Log(
            NULL, "warning", "%s has changed a filter, and replicas and the AOF lack that: %s",
            command,
            paused ? "the server ends while its writes are paused"
                   : "its client is gone, or was told an error, and a filter that it read is gone");
}

void replicate_now(RedisModuleString *key)
{
    if (own != NULL)
        (void)RedisModule_NotifyKeyspaceEvent(own, REDISMODULE_NOTIFY_GENERIC, "tamis.replicated",
                                              key);
}
