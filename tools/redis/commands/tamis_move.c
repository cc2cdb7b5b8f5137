/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_move.c: RESTORE and COPY of keys that have a filter, while the server goes on.
 *
 * The server's own commands call the module in the middle (rdb_load, copy2), where no client can be
 * blocked, and wait for the disk.  So the filter of commands turns them into TAMIS.RESTORE and
 * TAMIS.COPY where they are about a filter.  These have a thread make it (making.h), and do the
 * rest as the server does.  What is unusual, what cannot wait, and what fails before anything is
 * made goes to the server's own command.  Replicas and the AOF have RESTORE and COPY.
 *
 * Nobody shall lose a right by this.  The server asks whether the user may run the command that it
 * finds, so a command is turned only if everybody who may run the one may run the other.
 */
#include <string.h>
#include <time.h>

#include "commands/command.h"
#include "kept/naming.h"
#include "kept/store.h"
#include "persist/copy.h"
#include "persist/restoring.h"
#include "registry/registry.h"
#include "value/drafts.h"
#include "value/handles.h"

#define BUSY_KEY "BUSYKEY Target key name already exists."
#define BAD_PAYLOAD "ERR Bad data format"
#define BAD_VERSION "ERR DUMP payload version or checksum are wrong"
#define BAD_OPTION "ERR syntax error"
#define BAD_COPY "ERR module key failed to copy"

/* ---- The arguments of RESTORE ---------------------------------------------------------------- */

struct restore {
    struct restoring restoring;
    long long expires_ms; /* since 1970; 0: never */
    /* What IDLETIME or FREQ says; -1: neither */
    long long idle_s, frequency;
    bool replaces;
};

static long long now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads IDLETIME or FREQ, of which there is one at most, and the number behind it. */
static bool take_use(const RedisModuleString *word, const RedisModuleString *number,
                     struct restore *restore)
{
    if (number == NULL) return false;
    if (arg_is(word, "IDLETIME"))
        return restore->frequency < 0 && arg_integer(number, 0, INT64_MAX / 2000, &restore->idle_s);
    return arg_is(word, "FREQ") && restore->idle_s < 0 &&
           arg_integer(number, 0, 255, &restore->frequency);
}

/* Reads the arguments; false: they are unusual, or wrong. */
static bool take_restore(RedisModuleString *const *argv, int argc, struct restore *restore)
{
    long long ttl_ms;
    bool absolute = false;
    restore->idle_s = restore->frequency = -1;
    if (!arg_integer(argv[2], 0, INT64_MAX / 2, &ttl_ms)) return false;
    for (int i = 4; i < argc; i++) {
        if (arg_is(argv[i], "REPLACE"))
            restore->replaces = true;
        else if (arg_is(argv[i], "ABSTTL"))
            absolute = true;
        else if (take_use(argv[i], i + 1 < argc ? argv[i + 1] : NULL, restore))
            i++;
        else
            return false;
    }
    restore->expires_ms = ttl_ms == 0 || absolute ? ttl_ms : now_ms() + ttl_ms;
    return true;
}

/* ---- The filter of commands ------------------------------------------------------------------ */

#define USERS_MAX 64u

static RedisModuleCtx *asking; /* NULL: the server lacks a function */

void move_prepare(RedisModuleCtx *ctx)
{
    if (RedisModule_GetDetachedThreadSafeContext == NULL || RedisModule_CallReplyType == NULL ||
        RedisModule_CallReplyLength == NULL || RedisModule_CallReplyArrayElement == NULL ||
        RedisModule_CallReplyStringPtr == NULL || RedisModule_SelectDb == NULL ||
        RedisModule_SetAbsExpire == NULL || RedisModule_GetAbsExpire == NULL ||
        RedisModule_SetLRU == NULL || RedisModule_SetLFU == NULL ||
        RedisModule_GetModuleUserFromUserName == NULL || RedisModule_FreeModuleUser == NULL ||
        RedisModule_ACLCheckCommandPermissions == NULL)
        return;
    asking = RedisModule_GetDetachedThreadSafeContext(ctx);
}

/* May the user run the command, and not the one that it is to be turned into? */
static bool would_lose(RedisModuleString *name, RedisModuleString **argv, int argc,
                       RedisModuleString *own)
{
    RedisModuleString *as_sent = argv[0];
    RedisModuleUser *user = RedisModule_GetModuleUserFromUserName(name);
    if (user == NULL) return false; /* it is about to go */
    bool loses = RedisModule_ACLCheckCommandPermissions(user, argv, argc) == REDISMODULE_OK;
    argv[0] = own;
    loses = loses && RedisModule_ACLCheckCommandPermissions(user, argv, argc) != REDISMODULE_OK;
    argv[0] = as_sent;
    (void)RedisModule_FreeModuleUser(user);
    return loses;
}

/* Can the command be turned for all users? */
static bool may_turn(RedisModuleString **argv, int argc, RedisModuleString *own)
{
    RedisModuleCallReply *users = RedisModule_Call(asking, "ACL", "c", "USERS");
    const size_t count = users == NULL ? 0 : RedisModule_CallReplyLength(users);
    bool may = count > 0 && count <= USERS_MAX;
    for (size_t i = 0; may && i < count; i++) {
        size_t bytes;
        const char *text =
            RedisModule_CallReplyStringPtr(RedisModule_CallReplyArrayElement(users, i), &bytes);
        if (text == NULL) continue;
        RedisModuleString *name = RedisModule_CreateString(NULL, text, bytes);
        may = !would_lose(name, argv, argc, own);
        RedisModule_FreeString(NULL, name);
    }
    if (users != NULL) RedisModule_FreeCallReply(users);
    return may;
}

static void turn(RedisModuleCommandFilterCtx *filter, int argc, const char *command)
{
    struct restore restore = {.replaces = false};
    RedisModuleString *own = RedisModule_CreateString(NULL, command, strlen(command));
    RedisModuleString **argv = RedisModule_Alloc((size_t)argc * sizeof(RedisModuleString *));
    for (int i = 0; i < argc; i++)
        argv[i] = (RedisModuleString *)(uintptr_t)RedisModule_CommandFilterArgGet(filter, i);
    const bool usual =
        arg_is(argv[0], "copy") || (take_restore(argv, argc, &restore) &&
                                    (restore.expires_ms == 0 || restore.expires_ms > now_ms()));
    if (usual && may_turn(argv, argc, own))
        (void)RedisModule_CommandFilterArgReplace(filter, 0, own); /* which takes it */
    else
        RedisModule_FreeString(NULL, own);
    RedisModule_Free(argv);
}

void move_turn(RedisModuleCommandFilterCtx *filter, int argc)
{
    struct restoring restoring;
    size_t bytes;
    if (asking == NULL) return;
    const RedisModuleString *name = RedisModule_CommandFilterArgGet(filter, 0);
    if (argc >= 4 && arg_is(name, "restore")) {
        if (restoring_is_ours(RedisModule_CommandFilterArgGet(filter, 3), &restoring))
            turn(filter, argc, "tamis.restore");
    } else if (arg_is(name, "copy") && !registry_is_empty()) {
        const char *key =
            RedisModule_StringPtrLen(RedisModule_CommandFilterArgGet(filter, 1), &bytes);
        if (registry_has_key(key, bytes)) turn(filter, argc, "tamis.copy");
    }
}

/* ---- What both have -------------------------------------------------------------------------- */

/* The name of the filter of a key. */
static void name_for(RedisModuleString *key, int db, char name[NAME_ROOM])
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(key, &bytes);
    name_of_key(db, text, bytes, name);
}

/* Lists a value that a thread has made, and whose filter has a name by which nobody knows it yet;
 * the key has something else, or nothing, and gets the value. */
static void put(RedisModuleKey *key, RedisModuleString *key_name, int db, struct value *value)
{
    char name[NAME_ROOM];
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(key_name, &bytes);
    (void)RedisModule_DeleteKey(key);
    name_for(key_name, db, name);
    if (value_is_stored(value)) {
        if (strcmp(value->name, name) != 0) naming_moves_orphan(name);
        naming_adopt(value, db, text, bytes);
    }
    (void)RedisModule_ModuleTypeSetValue(key, value_type_of(value), value);
}

/* Leaves the command to the server's own, if its user may run that; a master has no user. */
static int leave(RedisModuleCtx *ctx, const char *command, RedisModuleString **argv, int argc)
{
    const bool of_master =
        (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_REPLICATED) != 0;
    return pass_on(ctx, command, of_master ? "!v" : "!Cv", argv, argc);
}

static void complain(RedisModuleCtx *ctx, const char *command, RedisModuleString *key,
                     const char *text)
{
    RedisModule_Log(ctx, "warning", "%s of the key '%s': %s", command,
                    RedisModule_StringPtrLen(key, NULL), text);
}

/* ---- RESTORE --------------------------------------------------------------------------------- */

/* Does the server take payloads of that version of RDB?  It is asked once, by a payload that has a
 * type which no server knows: what it says of that tells. */
static bool version_is_known(RedisModuleCtx *ctx, RedisModuleString *key, unsigned version)
{
    static enum { UNKNOWN, TAKEN, REFUSED } versions[256];
    unsigned char payload[PAYLOAD_EMPTY_BYTES];
    size_t bytes;
    if (version >= 256) return false;
    if (versions[version] == UNKNOWN) {
        payload_write_empty(version, payload);
        RedisModuleCallReply *reply = RedisModule_Call(
            ctx, "RESTORE", "scbc", key, "0", (const char *)payload, sizeof payload, "REPLACE");
        if (reply == NULL) return false;
        const char *text = RedisModule_CallReplyType(reply) == REDISMODULE_REPLY_ERROR
                               ? RedisModule_CallReplyStringPtr(reply, &bytes)
                               : NULL;
        const size_t words = sizeof BAD_PAYLOAD - 1;
        const bool taken = text != NULL && bytes >= words && memcmp(text, BAD_PAYLOAD, words) == 0;
        versions[version] = taken ? TAKEN : REFUSED;
        RedisModule_FreeCallReply(reply);
    }
    return versions[version] == TAKEN;
}

/* As the server sends a RESTORE to replicas and to the AOF: with the time at which the key ends. */
static void replicate_restore(RedisModuleCtx *ctx, RedisModuleString **argv,
                              const struct restore *restore)
{
    RedisModuleString *words[7] = {
        argv[1], RedisModule_CreateStringPrintf(NULL, "%lld", restore->expires_ms), argv[3]};
    size_t count = 3;
    const bool idle = restore->idle_s >= 0;
    if (restore->replaces) words[count++] = RedisModule_CreateString(NULL, "REPLACE", 7);
    if (restore->expires_ms != 0) words[count++] = RedisModule_CreateString(NULL, "ABSTTL", 6);
    if (idle || restore->frequency >= 0) {
        words[count++] = RedisModule_CreateStringPrintf(NULL, "%s", idle ? "IDLETIME" : "FREQ");
        words[count++] = RedisModule_CreateStringPrintf(
            NULL, "%lld", idle ? restore->idle_s : restore->frequency);
    }
    (void)RedisModule_Replicate(ctx, "RESTORE", "v", words, count);
    RedisModule_FreeString(NULL, words[1]);
    for (size_t i = 3; i < count; i++)
        RedisModule_FreeString(NULL, words[i]);
}

/* The payload is read, or could not be.  Closes the key. */
static int end_restore(RedisModuleCtx *ctx, RedisModuleString **argv, RedisModuleKey *key,
                       const struct restore *restore, struct restoring *made, struct value *value)
{
    if (value == NULL) {
        RedisModule_CloseKey(key);
        if (made->is_broken) return RedisModule_ReplyWithError(ctx, BAD_VERSION);
        complain(ctx, "RESTORE", argv[1], *made->text != '\0' ? made->text : last_failure());
        return RedisModule_ReplyWithError(ctx, BAD_PAYLOAD);
    }
    put(key, argv[1], RedisModule_GetSelectedDb(ctx), value);
    if (restore->expires_ms != 0) (void)RedisModule_SetAbsExpire(key, restore->expires_ms);
    if (restore->idle_s >= 0) (void)RedisModule_SetLRU(key, restore->idle_s * 1000);
    if (restore->frequency >= 0) (void)RedisModule_SetLFU(key, restore->frequency);
    RedisModule_CloseKey(key);
    (void)RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_GENERIC, "restore", argv[1]);
    (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
    replicate_restore(ctx, argv, restore);
    return REDISMODULE_OK;
}

/* Why nothing is read at all; NULL: it is. */
static const char *why_not(RedisModuleCtx *ctx, RedisModuleString **argv, bool usual,
                           const struct restore *restore, const RedisModuleKey *key)
{
    if (!usual) return BAD_OPTION;
    if (!restore->replaces && key != NULL) return BUSY_KEY;
    if (store_open() == NULL) return BAD_PAYLOAD;
    return version_is_known(ctx, argv[1], restore->restoring.head.rdb_version) ? NULL : BAD_VERSION;
}

static int restore_run(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct restore restore = {.replaces = false};
    char name[NAME_ROOM];
    int rc;
    if (argc < 4) return RedisModule_WrongArity(ctx);
    if (!restoring_is_ours(argv[3], &restore.restoring))
        return RedisModule_ReplyWithError(ctx, BAD_PAYLOAD);
    struct restoring *made = (struct restoring *)(uintptr_t)making_context();
    const bool usual = take_restore(argv, argc, &restore);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const bool there = RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_EMPTY;
    const char *error = why_not(ctx, argv, usual, &restore, there ? key : NULL);
    if (error == NULL && made != NULL)
        return end_restore(ctx, argv, key, &restore, made, restoring_take(made, &rc));
    const struct maker maker = restoring_maker(&restore.restoring);
    name_for(argv[1], RedisModule_GetSelectedDb(ctx), name);
    const bool waits =
        error == NULL && making_put_off(restoring_type(&restore.restoring), name, &maker);
    if (error == NULL && !waits)
        return end_restore(ctx, argv, key, &restore, &restore.restoring,
                           restoring_make_now(&restore.restoring));
    RedisModule_CloseKey(key);
    return waits ? REDISMODULE_OK : RedisModule_ReplyWithError(ctx, error);
}

int tamis_restore(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return making_run(ctx, argv, argc, restore_run, tamis_restore, false);
}

/* ---- COPY ------------------------------------------------------------------------------------ */

struct copy {
    struct value *from;
    long long expires_ms; /* REDISMODULE_NO_EXPIRE: never */
    int db, to_db;
    bool replaces;
};

static bool is_same(const RedisModuleString *a, const RedisModuleString *b)
{
    size_t a_bytes, b_bytes;
    const char *a_text = RedisModule_StringPtrLen(a, &a_bytes);
    const char *b_text = RedisModule_StringPtrLen(b, &b_bytes);
    return a_bytes == b_bytes && memcmp(a_text, b_text, a_bytes) == 0;
}

/* Reads the arguments; false: they are for the server, which refuses a copy of a key onto itself.
 */
static bool take_copy(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, struct copy *copy)
{
    long long db = copy->db = RedisModule_GetSelectedDb(ctx);
    for (int i = 3; i < argc; i++) {
        if (arg_is(argv[i], "REPLACE"))
            copy->replaces = true;
        else if (!arg_is(argv[i], "DB") || i + 1 == argc ||
                 !arg_integer(argv[++i], 0, INT32_MAX, &db))
            return false;
    }
    copy->to_db = (int)db;
    return copy->to_db != copy->db || !is_same(argv[1], argv[2]);
}

/* Finds the filter that is copied, and opens it.  False: there is none, or it is in memory, as a
 * draft is, of which the server's COPY makes another one. */
static bool find_source(RedisModuleCtx *ctx, RedisModuleString **argv, struct copy *copy)
{
    struct value *value;
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const bool draft = key_look(key, TYPE_ANY, &value) == HELD_VALUE && draft_can_be_copied(value);
    const bool found =
        !draft && key_held(key, TYPE_ANY, &value) == HELD_VALUE && value->filter != NULL;
    copy->from = value;
    copy->expires_ms = found ? RedisModule_GetAbsExpire(key) : REDISMODULE_NO_EXPIRE;
    RedisModule_CloseKey(key);
    return found;
}

/* Opens the key that is to have the copy.  NULL: it has something that shall stay. */
static RedisModuleKey *open_target(RedisModuleCtx *ctx, RedisModuleString **argv,
                                   const struct copy *copy)
{
    RedisModuleKey *key = NULL;
    if (RedisModule_SelectDb(ctx, copy->to_db) != REDISMODULE_OK) return NULL;
    key = RedisModule_OpenKey(ctx, argv[2], READ_WRITE);
    if (copy->replaces || RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY) return key;
    RedisModule_CloseKey(key);
    return NULL;
}

/* The copy is made, or could not be.  The key is closed, and its database is selected. */
static int end_copy(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, RedisModuleKey *key,
                    const struct copy *copy)
{
    struct value *value = value_new(copy->from->type);
    int rc = 0;
    if (!making_claim(value, &rc) || rc < 0) {
        value_free(value);
        RedisModule_CloseKey(key);
        (void)RedisModule_SelectDb(ctx, copy->db);
        complain(ctx, "COPY to", argv[2], last_failure());
        return RedisModule_ReplyWithError(ctx, BAD_COPY);
    }
    value->as_valkey = copy->from->as_valkey;
    value->expansion = copy->from->expansion;
    value->cuckoo = copy->from->cuckoo;
    put(key, argv[2], copy->to_db, value);
    if (copy->expires_ms != REDISMODULE_NO_EXPIRE)
        (void)RedisModule_SetAbsExpire(key, copy->expires_ms);
    RedisModule_CloseKey(key);
    (void)RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_GENERIC, "copy_to", argv[2]);
    (void)RedisModule_SelectDb(ctx, copy->db);
    (void)RedisModule_ReplyWithLongLong(ctx, 1);
    return RedisModule_Replicate(ctx, "COPY", "v", argv + 1, (size_t)argc - 1);
}

static int copy_run(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct copy copy = {.from = NULL};
    char name[NAME_ROOM];
    if (argc < 3) return RedisModule_WrongArity(ctx);
    struct value *const *made = making_context();
    const bool usual = take_copy(ctx, argv, argc, &copy) && find_source(ctx, argv, &copy);
    if (made != NULL && usual && *made != copy.from)
        return RedisModule_ReplyWithError(
            ctx, "ERR a key got another filter while the command was under way; give it again");
    RedisModuleKey *key = usual ? open_target(ctx, argv, &copy) : NULL;
    if (key != NULL && made != NULL) return end_copy(ctx, argv, argc, key, &copy);
    const bool is_free = key != NULL;
    RedisModule_CloseKey(key);
    (void)RedisModule_SelectDb(ctx, copy.db);
    name_for(argv[2], copy.to_db, name);
    if (is_free) {
        const struct maker maker = copy_maker(&copy.from);
        if (making_put_off(copy.from->type, name, &maker)) return REDISMODULE_OK;
    }
    return leave(ctx, "COPY", argv, argc);
}

int tamis_copy(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return making_run(ctx, argv, argc, copy_run, tamis_copy, false);
}
