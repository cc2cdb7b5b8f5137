/* SPDX-License-Identifier: BSD-2-Clause */
/* fake_server.c: see fake_server.h. */
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <string.h>

#include "fake_parts.h"
#include "fuzz.h"
#include "scratch.h"

/* As redis-server has it: at load, a context begins with the function that gives the others. */
struct RedisModuleCtx {
    int (*get)(const char *name, void *to);
};

struct RedisModuleType {
    RedisModuleTypeMethods methods;
    int encoding;
};

struct RedisModuleKey {
    int unused;
};

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

static struct RedisModuleType types[FAKE_TYPES];
static unsigned type_count;
static struct {
    const char *name;
    RedisModuleCmdFunc *run;
} commands[128];
static unsigned command_count;
static RedisModuleEventCallback *cron, *turn;
static RedisModuleNotificationFunc *notified;

static RedisModuleType *key_type; /* NULL: there is no key */
static void *key_value;
static bool is_loading, answered_error;

static unsigned files;

static int count_file(const char *path, const struct stat *st, int what, struct FTW *where)
{
    (void)st;
    (void)where;
    if (what == FTW_F && strstr(path, "/catalog") == NULL) files++;
    return 0;
}

unsigned fake_files(void)
{
    files = 0;
    FUZZ_CHECK(nftw(scratch_directory(), count_file, 8, FTW_PHYS) == 0);
    return files;
}

/* ---- Strings, keys, answers ------------------------------------------------------------------ */

static const char *fake_StringPtrLen(const RedisModuleString *string, size_t *bytes)
{
    if (bytes != NULL) *bytes = string->bytes;
    return string->data;
}

RedisModuleString *fake_CreateString(RedisModuleCtx *ctx, const char *data, size_t bytes)
{
    (void)ctx;
    RedisModuleString *string = malloc(sizeof *string);
    FUZZ_CHECK(string != NULL);
    *string = (struct RedisModuleString){malloc(bytes + 1), bytes, 1};
    FUZZ_CHECK(string->data != NULL);
    if (bytes > 0) memcpy(string->data, data, bytes);
    string->data[bytes] = '\0';
    return string;
}

void fake_FreeString(RedisModuleCtx *ctx, RedisModuleString *string)
{
    (void)ctx;
    if (--string->references > 0) return;
    free(string->data);
    free(string);
}

static void fake_RetainString(RedisModuleCtx *ctx, RedisModuleString *string)
{
    (void)ctx;
    string->references++;
}

static int fake_StringToLongLong(const RedisModuleString *string, long long *number)
{
    char *end;
    errno = 0;
    *number = strtoll(string->data, &end, 10);
    return string->bytes > 0 && *end == '\0' && errno == 0 ? REDISMODULE_OK : REDISMODULE_ERR;
}

static int fake_StringToDouble(const RedisModuleString *string, double *number)
{
    char *end;
    *number = strtod(string->data, &end);
    return string->bytes > 0 && *end == '\0' ? REDISMODULE_OK : REDISMODULE_ERR;
}

static RedisModuleKey *fake_OpenKey(RedisModuleCtx *ctx, RedisModuleString *name, int mode)
{
    static struct RedisModuleKey key;
    (void)ctx;
    (void)name;
    return key_type != NULL || (mode & REDISMODULE_WRITE) != 0 ? &key : NULL;
}

static void fake_CloseKey(RedisModuleKey *key)
{
    (void)key;
}

static int fake_KeyType(RedisModuleKey *key)
{
    return key == NULL || key_type == NULL ? REDISMODULE_KEYTYPE_EMPTY : 6 /* of a module */;
}

static RedisModuleType *fake_ModuleTypeGetType(RedisModuleKey *key)
{
    return key != NULL ? key_type : NULL;
}

static void *fake_ModuleTypeGetValue(RedisModuleKey *key)
{
    return key != NULL ? key_value : NULL;
}

static int fake_ModuleTypeSetValue(RedisModuleKey *key, RedisModuleType *type, void *value)
{
    (void)key;
    fake_delete();
    key_type = type;
    key_value = value;
    return REDISMODULE_OK;
}

static int fake_ReplyWithError(RedisModuleCtx *ctx, const char *text)
{
    (void)ctx;
    FUZZ_CHECK(*text != '\0');
    answered_error = true;
    return REDISMODULE_OK;
}

static int fake_WrongArity(RedisModuleCtx *ctx)
{
    return fake_ReplyWithError(ctx, "ERR wrong number of arguments");
}

static int fake_ReplyWithCString(RedisModuleCtx *ctx, const char *text)
{
    (void)ctx;
    return strlen(text) == SIZE_MAX;
}

static int fake_ReplyWithLongLong(RedisModuleCtx *ctx, long long number)
{
    (void)ctx;
    (void)number;
    return REDISMODULE_OK;
}

static int fake_ReplyWithDouble(RedisModuleCtx *ctx, double number)
{
    (void)ctx;
    (void)number;
    return REDISMODULE_OK;
}

static int fake_ReplyWithBool(RedisModuleCtx *ctx, int truth)
{
    (void)ctx;
    (void)truth;
    return REDISMODULE_OK;
}

/* ReplyWithNull, ReplicateVerbatim. */
static int fake_nothing(RedisModuleCtx *ctx)
{
    (void)ctx;
    return REDISMODULE_OK;
}

/* ReplyWithArray, ReplyWithMap. */
static int fake_ReplyWithMany(RedisModuleCtx *ctx, long count)
{
    (void)ctx;
    (void)count;
    return REDISMODULE_OK;
}

static void fake_ReplySetArrayLength(RedisModuleCtx *ctx, long count)
{
    (void)ctx;
    (void)count;
}

void fake_read_bytes(const char *data, size_t bytes)
{
    fake_FreeString(NULL, fake_CreateString(NULL, data, bytes));
}

static int fake_ReplyWithStringBuffer(RedisModuleCtx *ctx, const char *data, size_t bytes)
{
    (void)ctx;
    fake_read_bytes(data, bytes);
    return REDISMODULE_OK;
}

static int fake_NotifyKeyspaceEvent(RedisModuleCtx *ctx, int type, const char *event,
                                    RedisModuleString *key)
{
    (void)ctx;
    (void)type;
    (void)key;
    return strlen(event) == 0;
}

/* ---- The log --------------------------------------------------------------------------------- */

/* The sentences are formatted, as %s of them reads what a payload has; $TAMIS_FUZZ_LOG shows them.
 */
__attribute__((format(printf, 1, 0))) static void format_sentence(const char *format,
                                                                  va_list arguments)
{
    char text[1024];
    FUZZ_CHECK(vsnprintf(text, sizeof text, format, arguments) > 0);
    if (getenv("TAMIS_FUZZ_LOG") != NULL) (void)fprintf(stderr, "%s\n", text);
}

__attribute__((format(printf, 3, 4))) static void
fake_LogIOError(RedisModuleIO *io, const char *level, const char *format, ...)
{
    va_list arguments;
    (void)io;
    (void)level;
    va_start(arguments, format);
    format_sentence(format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 3, 4))) static void fake_Log(RedisModuleCtx *ctx, const char *level,
                                                           const char *format, ...)
{
    va_list arguments;
    (void)ctx;
    (void)level;
    va_start(arguments, format);
    format_sentence(format, arguments);
    va_end(arguments);
}

/* ---- What the module says of itself ---------------------------------------------------------- */

static RedisModuleType *fake_CreateDataType(RedisModuleCtx *ctx, const char *name, int encoding,
                                            RedisModuleTypeMethods *methods)
{
    (void)ctx;
    FUZZ_CHECK(strlen(name) == 9 && type_count < FAKE_TYPES);
    types[type_count] = (struct RedisModuleType){*methods, encoding};
    return &types[type_count++];
}

static int fake_CreateCommand(RedisModuleCtx *ctx, const char *name, RedisModuleCmdFunc *run,
                              const char *flags, int first, int last, int step)
{
    (void)ctx;
    (void)flags;
    (void)first;
    (void)last;
    (void)step;
    FUZZ_CHECK(command_count < sizeof commands / sizeof commands[0]);
    commands[command_count].name = name;
    commands[command_count++].run = run;
    return REDISMODULE_OK;
}

static void fake_SetModuleAttribs(RedisModuleCtx *ctx, const char *name, int version, int api)
{
    (void)ctx;
    (void)name;
    (void)version;
    (void)api;
}

static void fake_SetModuleOptions(RedisModuleCtx *ctx, int options)
{
    (void)ctx;
    FUZZ_CHECK((options & REDISMODULE_OPTIONS_HANDLE_IO_ERRORS) != 0);
}

static int fake_IsModuleNameBusy(const char *name)
{
    return strcmp(name, "tamis") != 0;
}

static int fake_SubscribeToKeyspaceEvents(RedisModuleCtx *ctx, int events,
                                          RedisModuleNotificationFunc *call)
{
    (void)ctx;
    (void)events;
    notified = call;
    return REDISMODULE_OK;
}

static int fake_SubscribeToServerEvent(RedisModuleCtx *ctx, RedisModuleEvent event,
                                       RedisModuleEventCallback *call)
{
    (void)ctx;
    if (event.id == REDISMODULE_EVENT_CRON_LOOP) cron = call;
    if (event.id == REDISMODULE_EVENT_EVENTLOOP) turn = call;
    return REDISMODULE_OK;
}

static RedisModuleCommandFilter *fake_RegisterCommandFilter(RedisModuleCtx *ctx,
                                                            RedisModuleFilterFunc *call, int flags)
{
    static char filter;
    (void)ctx;
    (void)call;
    (void)flags;
    return (RedisModuleCommandFilter *)(void *)&filter;
}

/* As in a script: no client is blocked, and an add to a durable filter waits for the disk. */
static int fake_GetContextFlags(RedisModuleCtx *ctx)
{
    (void)ctx;
    return REDISMODULE_CTX_FLAGS_DENY_BLOCKING | (is_loading ? REDISMODULE_CTX_FLAGS_LOADING : 0);
}

static int fake_IsBlockedReplyRequest(RedisModuleCtx *ctx)
{
    (void)ctx;
    return 0;
}

static int fake_GetSelectedDb(RedisModuleCtx *ctx)
{
    (void)ctx;
    return 0;
}

/* A server that tells nothing of itself. */
static RedisModuleServerInfoData *fake_GetServerInfo(RedisModuleCtx *ctx, const char *section)
{
    (void)ctx;
    (void)section;
    return NULL;
}

static void fake_FreeServerInfo(RedisModuleCtx *ctx, RedisModuleServerInfoData *info)
{
    (void)ctx;
    (void)info;
}

static const char *fake_ServerInfoGetFieldC(RedisModuleServerInfoData *info, const char *field)
{
    (void)info;
    (void)field;
    return NULL;
}

/* ---- Handing out the functions --------------------------------------------------------------- */

typedef void any_fn(void);

static void not_there(void)
{
    (void)fprintf(stderr, "a loader calls a function that fake_server.c does not have\n");
    abort();
}

#define HAS(name)                                                                                  \
    {                                                                                              \
        "RedisModule_" #name, (any_fn *)fake_##name                                                \
    }
#define HAS_AS(name, function)                                                                     \
    {                                                                                              \
        "RedisModule_" #name, (any_fn *)function                                                   \
    }
static const struct {
    const char *name;
    any_fn *function;
} functions[] = {HAS(Alloc),
                 HAS(Calloc),
                 HAS(Realloc),
                 HAS(Free),
                 HAS(Strdup),
                 HAS(StringPtrLen),
                 HAS(CreateString),
                 HAS(FreeString),
                 HAS(RetainString),
                 HAS(StringToLongLong),
                 HAS(StringToDouble),
                 HAS(OpenKey),
                 HAS(CloseKey),
                 HAS(KeyType),
                 HAS(ModuleTypeGetType),
                 HAS(ModuleTypeGetValue),
                 HAS(ModuleTypeSetValue),
                 HAS(ReplyWithError),
                 HAS_AS(ReplyWithSimpleString, fake_ReplyWithCString),
                 HAS(ReplyWithCString),
                 HAS(ReplyWithLongLong),
                 HAS(ReplyWithDouble),
                 HAS(ReplyWithBool),
                 HAS_AS(ReplyWithNull, fake_nothing),
                 HAS_AS(ReplicateVerbatim, fake_nothing),
                 HAS_AS(ReplyWithArray, fake_ReplyWithMany),
                 HAS_AS(ReplyWithMap, fake_ReplyWithMany),
                 HAS(ReplySetArrayLength),
                 HAS(ReplyWithStringBuffer),
                 HAS(WrongArity),
                 HAS(NotifyKeyspaceEvent),
                 HAS(LoadUnsigned),
                 HAS(LoadDouble),
                 HAS(LoadStringBuffer),
                 HAS(IsIOError),
                 HAS(GetKeyNameFromIO),
                 HAS(GetDbIdFromIO),
                 HAS(SaveUnsigned),
                 HAS(SaveDouble),
                 HAS(SaveStringBuffer),
                 HAS(EmitAOF),
                 HAS(LogIOError),
                 HAS(Log),
                 HAS(CreateDataType),
                 HAS(CreateCommand),
                 HAS(SetModuleAttribs),
                 HAS(SetModuleOptions),
                 HAS(IsModuleNameBusy),
                 HAS(SubscribeToKeyspaceEvents),
                 HAS(SubscribeToServerEvent),
                 HAS(RegisterCommandFilter),
                 HAS(GetContextFlags),
                 HAS(IsBlockedReplyRequest),
                 HAS(GetSelectedDb),
                 HAS(GetServerInfo),
                 HAS(FreeServerInfo),
                 HAS(ServerInfoGetFieldC),
                 HAS(CreateStringPrintf),
                 HAS(RegisterStringConfig),
                 HAS_AS(LoadConfigs, fake_nothing),
                 HAS_AS(RegisterInfoFunc, fake_nothing),
                 HAS(GetCommand),
                 HAS_AS(SetCommandInfo, fake_nothing),
                 HAS(Call),
                 HAS_AS(FreeCallReply, fake_nothing),
                 HAS_AS(SelectDb, fake_nothing),
                 HAS_AS(Replicate, fake_nothing),
                 HAS_AS(AvoidReplicaTraffic, fake_nothing),
                 HAS_AS(EventLoopAddOneShot, fake_nothing)};

/* Optional functions are not had here. */
static bool is_optional(const char *name)
{
#define NAME(result, name, arguments) "RedisModule_" #name,
    static const char *const optional[] = {REDIS_API_OPTIONAL(NAME)};
#undef NAME
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
        if (strcmp(name, optional[i]) == 0) return true;
    return false;
}

static int get_function(const char *name, void *to)
{
    any_fn *function = not_there;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0) function = functions[i].function;
    if (function == not_there && is_optional(name)) return REDISMODULE_ERR;
    memcpy(to, &function, sizeof function);
    return REDISMODULE_OK;
}

static struct RedisModuleCtx context = {get_function};

/* ---- For the targets ------------------------------------------------------------------------- */

void fake_load_module(const char *const *arguments, int count)
{
    RedisModuleString *words[10];
    char store[4096];
    scratch_in_memory();
    (void)snprintf(store, sizeof store, "%s/store", scratch_directory());
    words[0] = fake_CreateString(NULL, "store", 5);
    words[1] = fake_CreateString(NULL, store, strlen(store));
    for (int i = 0; i < count; i++)
        words[i + 2] = fake_CreateString(NULL, arguments[i], strlen(arguments[i]));
    FUZZ_CHECK(RedisModule_OnLoad(&context, words, count + 2) == REDISMODULE_OK);
    for (int i = 0; i < count + 2; i++)
        fake_FreeString(NULL, words[i]);
    FUZZ_CHECK(type_count == FAKE_TYPES && cron != NULL && turn != NULL && notified != NULL);
}

void fake_set_loading(bool loading)
{
    is_loading = loading;
}

bool fake_has_key(void)
{
    return key_type != NULL;
}

bool fake_restore(enum fake_type type, int encoding, const uint8_t *body, size_t bytes)
{
    struct RedisModuleIO io = {.data = body, .bytes = bytes};
    const RedisModuleTypeMethods *methods = &types[type].methods;
    RedisModuleString *name = fake_CreateString(NULL, FAKE_KEY, sizeof FAKE_KEY - 1);
    void *value = methods->rdb_load(&io, encoding);
    if (value != NULL && !fake_comes(&io, OPCODE_END)) {
        methods->free(value);
        value = NULL;
    }
    if (value != NULL) {
        (void)fake_ModuleTypeSetValue(NULL, &types[type], value);
        if (!is_loading) (void)notified(&context, REDISMODULE_NOTIFY_GENERIC, "restore", name);
    }
    fake_FreeString(NULL, name);
    return value != NULL;
}

bool fake_command(const struct fake_word *words, int count)
{
    RedisModuleString *argv[16];
    int argc = 0;
    FUZZ_CHECK(count >= 1 && count < 16);
    for (int i = 0; i < count; i++) {
        argv[argc++] = fake_CreateString(NULL, words[i].data, words[i].bytes);
        if (i == 0) argv[argc++] = fake_CreateString(NULL, FAKE_KEY, sizeof FAKE_KEY - 1);
    }
    answered_error = false;
    for (unsigned i = 0; i <= command_count; i++) {
        FUZZ_CHECK(i < command_count);
        if (strcmp(commands[i].name, argv[0]->data) != 0) continue;
        (void)commands[i].run(&context, argv, argc);
        break;
    }
    for (int i = 0; i < argc; i++)
        fake_FreeString(NULL, argv[i]);
    return !answered_error;
}

uint64_t fake_save(void)
{
    struct RedisModuleIO io = {.data = NULL};
    RedisModuleString *name = fake_CreateString(NULL, FAKE_KEY, sizeof FAKE_KEY - 1);
    FUZZ_CHECK(key_type != NULL);
    key_type->methods.rdb_save(&io, key_value);
    key_type->methods.aof_rewrite(&io, name, key_value);
    fake_FreeString(NULL, name);
    return io.saved;
}

void fake_delete(void)
{
    if (key_type != NULL) key_type->methods.free(key_value);
    key_type = NULL;
}

/* What a turn begins for a filter that is gone, the next turns end: it comes to the store, loses
 * its value, gets its name, and is dropped. */
#define TURNS 4

void fake_cron(void)
{
    const RedisModuleEvent looped = {REDISMODULE_EVENT_EVENTLOOP, 1};
    const RedisModuleEvent passed = {REDISMODULE_EVENT_CRON_LOOP, 1};
    for (int i = 0; i < TURNS; i++) {
        turn(&context, looped, REDISMODULE_SUBEVENT_EVENTLOOP_BEFORE_SLEEP, NULL);
        cron(&context, passed, 0, NULL);
    }
}
