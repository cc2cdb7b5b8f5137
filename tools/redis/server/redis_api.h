/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis_api.h: the part of Redis' module interface that this module uses: names, signatures and
 * constants of Redis 7.0, and of Valkey, which kept them.
 *
 * A server hands its functions out at load, by name (redis_api_resolve()).  One that it does not
 * have stays NULL: those marked OPTIONAL are looked at before they are called, the others are
 * needed, and loading fails with their name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleCallReply RedisModuleCallReply;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;
typedef struct RedisModuleKeyOptCtx RedisModuleKeyOptCtx;
typedef struct RedisModuleServerInfoData RedisModuleServerInfoData;
typedef struct RedisModuleBlockedClient RedisModuleBlockedClient;
typedef struct RedisModuleUser RedisModuleUser;
typedef struct RedisModuleCommandFilter RedisModuleCommandFilter;
typedef struct RedisModuleCommandFilterCtx RedisModuleCommandFilterCtx;

#define REDISMODULE_OK 0
#define REDISMODULE_ERR 1
#define REDISMODULE_APIVER_1 1

#define REDISMODULE_READ (1 << 0)
#define REDISMODULE_WRITE (1 << 1)
#define REDISMODULE_OPEN_KEY_NOTOUCH (1 << 16)

#define REDISMODULE_KEYTYPE_EMPTY 0
#define REDISMODULE_KEYTYPE_STRING 1

#define REDISMODULE_POSTPONED_LEN (-1)

#define REDISMODULE_CTX_FLAGS_SLAVE (1 << 3)
#define REDISMODULE_CTX_FLAGS_READONLY (1 << 4)
#define REDISMODULE_CTX_FLAGS_CLUSTER (1 << 5)
#define REDISMODULE_CTX_FLAGS_AOF (1 << 6)
#define REDISMODULE_CTX_FLAGS_RDB (1 << 7)
#define REDISMODULE_CTX_FLAGS_REPLICATED (1 << 12)
#define REDISMODULE_CTX_FLAGS_LOADING (1 << 13)
#define REDISMODULE_CTX_FLAGS_ACTIVE_CHILD (1 << 18)
#define REDISMODULE_CTX_FLAGS_DENY_BLOCKING (1 << 21)
#define REDISMODULE_CTX_FLAGS_RESP3 (1 << 22)
#define REDISMODULE_CTX_FLAGS_ASYNC_LOADING (1 << 23)

#define REDISMODULE_NOTIFY_GENERIC (1 << 2)
#define REDISMODULE_NOTIFY_MODULE (1 << 13)

#define REDISMODULE_OPTIONS_HANDLE_IO_ERRORS (1 << 0)
#define REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD (1 << 2)
#define VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION (1 << 5) /* Valkey 9; of no other */

#define REDISMODULE_CMDFILTER_NOSELF (1 << 0)

#define REDISMODULE_CONFIG_IMMUTABLE (1 << 0)
#define REDISMODULE_CONFIG_UNPREFIXED (1 << 9) /* Redis 8; others refuse it */

/* Events of the server: what is asked for, and what has happened. */
typedef struct RedisModuleEvent {
    uint64_t id;
    uint64_t dataver;
} RedisModuleEvent;

#define REDISMODULE_EVENT_PERSISTENCE 1
#define REDISMODULE_EVENT_LOADING 3
#define REDISMODULE_EVENT_SHUTDOWN 5
#define REDISMODULE_EVENT_CRON_LOOP 8
#define REDISMODULE_EVENT_SWAPDB 11
#define REDISMODULE_EVENT_FORK_CHILD 13
#define REDISMODULE_EVENT_EVENTLOOP 15

#define REDISMODULE_SUBEVENT_PERSISTENCE_RDB_START 0
#define REDISMODULE_SUBEVENT_PERSISTENCE_AOF_START 1
#define REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_RDB_START 2
#define REDISMODULE_SUBEVENT_PERSISTENCE_ENDED 3
#define REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_AOF_START 5
#define REDISMODULE_SUBEVENT_LOADING_RDB_START 0
#define REDISMODULE_SUBEVENT_LOADING_AOF_START 1
#define REDISMODULE_SUBEVENT_LOADING_REPL_START 2
#define REDISMODULE_SUBEVENT_LOADING_ENDED 3
#define REDISMODULE_SUBEVENT_FORK_CHILD_BORN 0
#define REDISMODULE_SUBEVENT_EVENTLOOP_BEFORE_SLEEP 0

struct RedisModuleSwapDbInfo {
    uint64_t version;
    int32_t dbnum_first;
    int32_t dbnum_second;
};

/* What a data type does, as version 4 of the interface has it. */
#define REDISMODULE_TYPE_METHOD_VERSION 4
typedef struct RedisModuleTypeMethods {
    uint64_t version;
    void *(*rdb_load)(RedisModuleIO *rdb, int encver);
    void (*rdb_save)(RedisModuleIO *rdb, void *value);
    void (*aof_rewrite)(RedisModuleIO *aof, RedisModuleString *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(RedisModuleDigest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(RedisModuleIO *rdb, int encver, int when);
    void (*aux_save)(RedisModuleIO *rdb, int when);
    int aux_save_triggers;
    size_t (*free_effort)(RedisModuleString *key, const void *value);
    void (*unlink)(RedisModuleString *key, const void *value);
    void *(*copy)(RedisModuleString *from, RedisModuleString *to, const void *value);
    int (*defrag)(void *context, RedisModuleString *key, void **value);
    size_t (*mem_usage2)(RedisModuleKeyOptCtx *ctx, const void *value, size_t sample_size);
    size_t (*free_effort2)(RedisModuleKeyOptCtx *ctx, const void *value);
    void (*unlink2)(RedisModuleKeyOptCtx *ctx, const void *value);
    void *(*copy2)(RedisModuleKeyOptCtx *ctx, const void *value);
} RedisModuleTypeMethods;

/* What COMMAND INFO and COMMAND DOCS tell of a command.  The sizes let a server of another version
 * read the tables. */
typedef struct RedisModuleCommandHistoryEntry {
    const char *since;
    const char *changes;
} RedisModuleCommandHistoryEntry;

#define REDISMODULE_KSPEC_BS_INDEX 2
#define REDISMODULE_KSPEC_BS_KEYWORD 3
#define REDISMODULE_KSPEC_FK_RANGE 2
#define REDISMODULE_CMD_KEY_RO (1ULL << 0)
#define REDISMODULE_CMD_KEY_RW (1ULL << 1)
#define REDISMODULE_CMD_KEY_ACCESS (1ULL << 4)
#define REDISMODULE_CMD_KEY_UPDATE (1ULL << 5)
#define REDISMODULE_CMD_KEY_INSERT (1ULL << 6)
#define REDISMODULE_CMD_KEY_DELETE (1ULL << 7)

typedef struct RedisModuleCommandKeySpec {
    const char *notes;
    uint64_t flags;
    int begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } bs;
    int find_keys_type;
    union {
        struct {
            int lastkey;
            int keystep;
            int limit;
        } range;
        struct {
            int keynumidx;
            int firstkey;
            int keystep;
        } keynum;
    } fk;
} RedisModuleCommandKeySpec;

#define REDISMODULE_ARG_TYPE_STRING 0
#define REDISMODULE_ARG_TYPE_INTEGER 1
#define REDISMODULE_ARG_TYPE_DOUBLE 2
#define REDISMODULE_ARG_TYPE_KEY 3
#define REDISMODULE_ARG_TYPE_PURE_TOKEN 6
#define REDISMODULE_ARG_TYPE_ONEOF 7
#define REDISMODULE_CMD_ARG_OPTIONAL (1 << 0)
#define REDISMODULE_CMD_ARG_MULTIPLE (1 << 1)

typedef struct RedisModuleCommandArg {
    const char *name;
    int type;
    int key_spec_index;
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct RedisModuleCommandArg *subargs;
} RedisModuleCommandArg;

typedef struct RedisModuleCommandInfoVersion {
    int version;
    size_t sizeof_historyentry;
    size_t sizeof_keyspec;
    size_t sizeof_arg;
} RedisModuleCommandInfoVersion;

typedef struct RedisModuleCommandInfo {
    const RedisModuleCommandInfoVersion *version;
    const char *summary;
    const char *complexity;
    const char *since;
    RedisModuleCommandHistoryEntry *history;
    const char *tips;
    int arity;
    RedisModuleCommandKeySpec *key_specs;
    RedisModuleCommandArg *args;
} RedisModuleCommandInfo;

typedef int RedisModuleCmdFunc(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
typedef void RedisModuleEventCallback(RedisModuleCtx *ctx, RedisModuleEvent event,
                                      uint64_t subevent, void *data);
typedef int RedisModuleNotificationFunc(RedisModuleCtx *ctx, int type, const char *event,
                                        RedisModuleString *key);
typedef void RedisModuleInfoFunc(RedisModuleInfoCtx *ctx, int for_crash_report);
typedef int RedisModuleReplyFunc(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
typedef void RedisModuleEventLoopOneShotFunc(void *context);
typedef void RedisModuleFreePrivDataFunc(RedisModuleCtx *ctx, void *data);
typedef void RedisModuleFilterFunc(RedisModuleCommandFilterCtx *filter);
typedef int RedisModuleApplyFunc(RedisModuleCtx *ctx, void *data, RedisModuleString **err);
typedef RedisModuleString *RedisModuleGetStringFunc(const char *name, void *data);
typedef int RedisModuleSetStringFunc(const char *name, RedisModuleString *value, void *data,
                                     RedisModuleString **err);

/* clang-format off */
/* X(result, name, arguments): the functions that the module cannot do without. */
#define REDIS_API_NEEDED(X)                                                                        \
    X(void, SetModuleAttribs, (RedisModuleCtx *, const char *, int, int))                          \
    X(int, IsModuleNameBusy, (const char *))                                                       \
    X(void, SetModuleOptions, (RedisModuleCtx *, int))                                             \
    X(int, CreateCommand, (RedisModuleCtx *, const char *, RedisModuleCmdFunc *, const char *,     \
                           int, int, int))                                                         \
    X(RedisModuleType *, CreateDataType, (RedisModuleCtx *, const char *, int,                     \
                                          RedisModuleTypeMethods *))                               \
    X(void *, Alloc, (size_t))                                                                     \
    X(void *, Calloc, (size_t, size_t))                                                            \
    X(void *, Realloc, (void *, size_t))                                                           \
    X(void, Free, (void *))                                                                        \
    X(char *, Strdup, (const char *))                                                              \
    X(void, Log, (RedisModuleCtx *, const char *, const char *, ...))                              \
    X(int, GetContextFlags, (RedisModuleCtx *))                                                    \
    X(int, GetSelectedDb, (RedisModuleCtx *))                                                      \
    X(RedisModuleKey *, OpenKey, (RedisModuleCtx *, RedisModuleString *, int))                     \
    X(void, CloseKey, (RedisModuleKey *))                                                          \
    X(int, KeyType, (RedisModuleKey *))                                                            \
    X(long long, GetAbsExpire, (RedisModuleKey *))                                                 \
    X(int, DeleteKey, (RedisModuleKey *))                                                          \
    X(RedisModuleType *, ModuleTypeGetType, (RedisModuleKey *))                                    \
    X(void *, ModuleTypeGetValue, (RedisModuleKey *))                                              \
    X(int, ModuleTypeSetValue, (RedisModuleKey *, RedisModuleType *, void *))                      \
    X(const char *, StringPtrLen, (const RedisModuleString *, size_t *))                           \
    X(char *, StringDMA, (RedisModuleKey *, size_t *, int))                                        \
    X(int, StringToLongLong, (const RedisModuleString *, long long *))                             \
    X(int, StringToDouble, (const RedisModuleString *, double *))                                  \
    X(RedisModuleString *, CreateString, (RedisModuleCtx *, const char *, size_t))                 \
    X(RedisModuleString *, CreateStringPrintf, (RedisModuleCtx *, const char *, ...))              \
    X(void, FreeString, (RedisModuleCtx *, RedisModuleString *))                                   \
    X(void, RetainString, (RedisModuleCtx *, RedisModuleString *))                                 \
    X(int, WrongArity, (RedisModuleCtx *))                                                         \
    X(int, ReplyWithError, (RedisModuleCtx *, const char *))                                       \
    X(int, ReplyWithSimpleString, (RedisModuleCtx *, const char *))                                \
    X(int, ReplyWithLongLong, (RedisModuleCtx *, long long))                                       \
    X(int, ReplyWithDouble, (RedisModuleCtx *, double))                                            \
    X(int, ReplyWithBool, (RedisModuleCtx *, int))                                                 \
    X(int, ReplyWithNull, (RedisModuleCtx *))                                                      \
    X(int, ReplyWithArray, (RedisModuleCtx *, long))                                               \
    X(int, ReplyWithMap, (RedisModuleCtx *, long))                                                 \
    X(int, ReplyWithStringBuffer, (RedisModuleCtx *, const char *, size_t))                        \
    X(int, ReplyWithCString, (RedisModuleCtx *, const char *))                                     \
    X(void, ReplySetArrayLength, (RedisModuleCtx *, long))                                         \
    X(int, Replicate, (RedisModuleCtx *, const char *, const char *, ...))                         \
    X(int, ReplicateVerbatim, (RedisModuleCtx *))                                                  \
    X(int, NotifyKeyspaceEvent, (RedisModuleCtx *, int, const char *, RedisModuleString *))        \
    X(int, SubscribeToKeyspaceEvents, (RedisModuleCtx *, int, RedisModuleNotificationFunc *))      \
    X(int, SubscribeToServerEvent, (RedisModuleCtx *, RedisModuleEvent,                            \
                                    RedisModuleEventCallback *))                                   \
    X(void, SaveUnsigned, (RedisModuleIO *, uint64_t))                                             \
    X(uint64_t, LoadUnsigned, (RedisModuleIO *))                                                   \
    X(double, LoadDouble, (RedisModuleIO *))                                                       \
    X(void, SaveDouble, (RedisModuleIO *, double))                                                 \
    X(void, SaveStringBuffer, (RedisModuleIO *, const char *, size_t))                             \
    X(char *, LoadStringBuffer, (RedisModuleIO *, size_t *))                                       \
    X(RedisModuleString *, SaveDataTypeToString, (RedisModuleCtx *, void *,                        \
                                                  const RedisModuleType *))                        \
    X(void *, LoadDataTypeFromStringEncver, (const RedisModuleString *, const RedisModuleType *,   \
                                             int))                                                 \
    X(int, IsIOError, (RedisModuleIO *))                                                           \
    X(const RedisModuleString *, GetKeyNameFromIO, (RedisModuleIO *))                              \
    X(int, GetDbIdFromIO, (RedisModuleIO *))                                                       \
    X(void, LogIOError, (RedisModuleIO *, const char *, const char *, ...))                        \
    X(void, EmitAOF, (RedisModuleIO *, const char *, const char *, ...))                           \
    X(void, DigestAddStringBuffer, (RedisModuleDigest *, const char *, size_t))                    \
    X(void, DigestAddLongLong, (RedisModuleDigest *, long long))                                   \
    X(void, DigestEndSequence, (RedisModuleDigest *))                                              \
    X(RedisModuleCallReply *, Call, (RedisModuleCtx *, const char *, const char *, ...))           \
    X(int, ReplyWithCallReply, (RedisModuleCtx *, RedisModuleCallReply *))                         \
    X(void, FreeCallReply, (RedisModuleCallReply *))                                               \
    X(const RedisModuleString *, GetToKeyNameFromOptCtx, (RedisModuleKeyOptCtx *))                 \
    X(int, GetToDbIdFromOptCtx, (RedisModuleKeyOptCtx *))                                          \
    X(RedisModuleBlockedClient *, BlockClient, (RedisModuleCtx *, RedisModuleReplyFunc *,          \
                                                RedisModuleReplyFunc *,                            \
                                                RedisModuleFreePrivDataFunc *, long long))         \
    X(int, UnblockClient, (RedisModuleBlockedClient *, void *))                                    \
    X(RedisModuleCtx *, GetThreadSafeContext, (RedisModuleBlockedClient *))                        \
    X(void, FreeThreadSafeContext, (RedisModuleCtx *))                                             \
    X(void *, GetBlockedClientPrivateData, (RedisModuleCtx *))                                     \
    X(int, IsBlockedReplyRequest, (RedisModuleCtx *))                                              \
    X(RedisModuleCommandFilter *, RegisterCommandFilter, (RedisModuleCtx *,                        \
                                                          RedisModuleFilterFunc *, int))           \
    X(int, CommandFilterArgsCount, (RedisModuleCommandFilterCtx *))                                \
    X(const RedisModuleString *, CommandFilterArgGet, (RedisModuleCommandFilterCtx *, int))        \
    X(int, CommandFilterArgReplace, (RedisModuleCommandFilterCtx *, int, RedisModuleString *))     \
    X(RedisModuleServerInfoData *, GetServerInfo, (RedisModuleCtx *, const char *))                \
    X(void, FreeServerInfo, (RedisModuleCtx *, RedisModuleServerInfoData *))                       \
    X(const char *, ServerInfoGetFieldC, (RedisModuleServerInfoData *, const char *))              \
    X(int, SelectDb, (RedisModuleCtx *, int))                                                      \
    X(RedisModuleString *, GetCurrentUserName, (RedisModuleCtx *))                                 \
    X(RedisModuleUser *, GetModuleUserFromUserName, (RedisModuleString *))                         \
    X(int, FreeModuleUser, (RedisModuleUser *))                                                    \
    X(int, ACLCheckCommandPermissions, (RedisModuleUser *, RedisModuleString **, int))             \
    X(RedisModuleCallReply *, CallReplyArrayElement, (RedisModuleCallReply *, size_t))             \
    X(const char *, CallReplyStringPtr, (RedisModuleCallReply *, size_t *))                        \
    X(RedisModuleCommand *, GetCommand, (RedisModuleCtx *, const char *))                          \
    X(int, SetCommandInfo, (RedisModuleCommand *, const RedisModuleCommandInfo *))                 \
    X(int, RegisterStringConfig, (RedisModuleCtx *, const char *, const char *, unsigned,          \
                                  RedisModuleGetStringFunc *, RedisModuleSetStringFunc *,          \
                                  RedisModuleApplyFunc *, void *))                                 \
    X(int, LoadConfigs, (RedisModuleCtx *))                                                        \
    X(int, RegisterInfoFunc, (RedisModuleCtx *, RedisModuleInfoFunc *))                            \
    X(int, EventLoopAddOneShot, (RedisModuleEventLoopOneShotFunc *, void *))                       \
    X(int, AvoidReplicaTraffic, (void))                                                            \
    X(int *, GetCommandKeys, (RedisModuleCtx *, RedisModuleString **, int, int *))                 \
    X(int, InfoAddSection, (RedisModuleInfoCtx *, const char *))                                   \
    X(int, InfoAddFieldULongLong, (RedisModuleInfoCtx *, const char *, unsigned long long))        \
    X(int, InfoAddFieldCString, (RedisModuleInfoCtx *, const char *, const char *))
/* What a server before 7.4 lacks: the caller looks whether the pointer is NULL. */
#define REDIS_API_OPTIONAL(X)                                                                      \
    X(int, SetCommandACLCategories, (RedisModuleCommand *, const char *))                          \
    X(int, AddACLCategory, (RedisModuleCtx *, const char *))                                       \
    X(void *, TryCalloc, (size_t, size_t))
/* clang-format on */

#define REDIS_API_DECLARE(result, name, arguments) extern result(*RedisModule_##name) arguments;
REDIS_API_NEEDED(REDIS_API_DECLARE)
REDIS_API_OPTIONAL(REDIS_API_DECLARE)
#undef REDIS_API_DECLARE

/* Asks the server for all of them.  Returns NULL, or the name of one that is needed and not
 * there. */
const char *redis_api_resolve(RedisModuleCtx *ctx);
