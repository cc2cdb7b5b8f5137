/* SPDX-License-Identifier: BSD-2-Clause */
/* value.c: the data types: see value.h. */
#include "value.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cf_exact.h"
#include "durable.h"
#include "keeper.h"
#include "shape.h"

/* RedisBloom's types have encoding version 4; what we write has one that it refuses. */
#define ENCODING_VERSION 256

/* UNLINK and FLUSHALL ASYNC free in another thread what costs at least so much: always, as a drop
 * waits for the disk. */
#define EFFORT_LEAST 65

RedisModuleType *value_types[TYPES];
const char *const value_type_names[TYPES] = {"MBbloom--", "MBbloomCF"};

struct value *value_new(enum type type)
{
    struct value *value = RedisModule_Calloc(1, sizeof *value);
    value->type = type;
    return value;
}

void value_forget_arrived(struct value *value)
{
    RedisModule_Free(value->arriving);
    value->arriving = NULL;
    value->arrived = 0;
}

void value_free(struct value *value)
{
    value_forget_arrived(value);
    exact_free(value);
    durable_forget(value);
    RedisModule_Free(value->key);
    RedisModule_Free(value);
}

/* What RedisBloom's head says of how the filter grows. */
static int describe_exact(struct value *value)
{
    unsigned char head[HEAD_ROOM];
    uint32_t options, growth;
    const int64_t bytes = head_of_value(value, head);
    if (bytes < 0) return (int)bytes;
    memcpy(&options, head + 12, 4);
    memcpy(&growth, head + 16, 4);
    value->expansion = options & 8 ? 0 : growth;
    return 0;
}

int value_describe(struct value *value)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    struct tamis_segment_stat first = {.size = sizeof first};
    int rc = tamis_filter_stat(value->filter, &stat);
    if (rc == 0) rc = tamis_filter_segment(value->filter, 0, &first);
    if (rc < 0) return rc;
    value->created_at = stat.created_at;
    value->origin = first.created_at;
    value->kind = stat.kind;
    value->durable = (stat.flags & TAMIS_FILTER_DURABLE) != 0;
    if ((value->kind == TAMIS_KIND_COUNTING) != (value->type == TYPE_CUCKOO)) return TAMIS_EINVAL;
    value->exact = strcmp(stat.hash_set, "redisbloom") == 0;
    value->expansion = stat.on_full == TAMIS_ON_FULL_REFUSE ? 0 : 2;
    return value->exact ? describe_exact(value) : 0;
}

uint64_t value_size_bytes(const struct value *value)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    uint64_t bytes = 32;
    for (uint32_t i = 0; tamis_filter_segment(value->filter, i, &segment) == 0; i++) {
        bytes += 64 + segment.data_bytes;
    }
    return bytes;
}

/* What BF.INFO and CF.INFO call the size, as RedisBloom has it; most of it is a file. */
static size_t mem_usage(const void *value)
{
    const struct value *v = value;
    return v->type == TYPE_CUCKOO ? cuckoo_size_bytes(&v->cuckoo) : value_size_bytes(v);
}

static void digest_slots(RedisModuleDigest *to, const struct value *value)
{
    RedisModule_DigestAddLongLong(to, (long long)value->cuckoo.items);
    for (uint32_t i = 0; i < value->cuckoo.filters; i++)
        RedisModule_DigestAddStringBuffer(to, (const char *)value->slots[i],
                                          exact_slots(&value->cuckoo, i));
    RedisModule_DigestEndSequence(to);
}

static void digest(RedisModuleDigest *to, void *value)
{
    enum { PIECE = 1 << 16 };
    struct value *v = value;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    if (is_exact_cuckoo(v)) {
        digest_slots(to, v);
        return;
    }
    char *buffer = RedisModule_Alloc(PIECE);
    durable_wait(v);
    RedisModule_DigestAddLongLong(to, tamis_filter_items(v->filter));
    for (uint32_t i = 0; tamis_filter_segment(v->filter, i, &segment) == 0; i++) {
        for (uint64_t at = 0; at < segment.data_bytes; at += PIECE) {
            const uint64_t left = segment.data_bytes - at;
            const size_t now = left < PIECE ? (size_t)left : PIECE;
            if (tamis_filter_read_data(v->filter, i, at, buffer, now) < 0) break;
            RedisModule_DigestAddStringBuffer(to, buffer, now);
        }
    }
    RedisModule_DigestEndSequence(to);
    RedisModule_Free(buffer);
}

static void free_value(void *value)
{
    keeper_drop(value);
}

static void on_unlink(RedisModuleKeyOptCtx *ctx, const void *value)
{
    (void)ctx;
    keeper_goes((struct value *)(uintptr_t)value);
}

static size_t free_effort(RedisModuleString *key, const void *value)
{
    (void)key;
    (void)value;
    return EFFORT_LEAST;
}

/* ---- COPY ------------------------------------------------------------------------------------ */

/*
 * A copy goes as a stream from one filter into the other: a thread exports into a pipe, and the
 * import reads from it.  Nothing of it is in memory but the pipe.
 */
struct copying {
    tamis_filter *from;
    bool durable;
    int in, out;
    int rc;
};

static int write_pipe(void *context, const void *data, size_t bytes)
{
    const struct copying *copying = context;
    const char *at = data;
    while (bytes > 0) {
        const ssize_t done = write(copying->out, at, bytes);
        if (done <= 0) return TAMIS_EIO; /* the reader has failed, and says why */
        at += done;
        bytes -= (size_t)done;
    }
    return 0;
}

static int64_t read_pipe(void *context, void *buffer, size_t bytes)
{
    const struct copying *copying = context;
    const ssize_t got = read(copying->in, buffer, bytes);
    return got < 0 ? TAMIS_EIO : (int64_t)got;
}

static void *export(void *context)
{
    struct copying *copying = context;
    const struct tamis_sink sink = {.size = sizeof sink, .write = write_pipe, .context = copying};
    copying->rc = tamis_filter_export(copying->from, "tamis", TAMIS_EXPORT_WITH_KEY, &sink);
    (void)close(copying->out);
    return NULL;
}

static int import(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    struct copying *copying = context;
    const struct tamis_import_spec spec = {.size = sizeof spec,
                                           .flags = TAMIS_IMPORT_OWNED |
                                                    (copying->durable ? TAMIS_IMPORT_DURABLE : 0)};
    const struct tamis_source source = {
        .size = sizeof source, .read = read_pipe, .context = copying};
    pthread_t thread;
    int ends[2];
    if (pipe(ends) != 0) return TAMIS_ELIMIT;
    copying->in = ends[0];
    copying->out = ends[1];
    if (pthread_create(&thread, NULL, export, copying) != 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return TAMIS_ELIMIT;
    }
    const int rc = tamis_filter_import(store, name, "tamis", &spec, &source, filter);
    (void)close(ends[0]); /* ends the other thread, should it still write; SIGPIPE is ignored */
    (void)pthread_join(thread, NULL);
    return rc;
}

static void *copy(RedisModuleKeyOptCtx *ctx, const void *value)
{
    const struct value *from = value;
    struct value *to = value_new(from->type);
    struct copying copying = {.from = from->filter, .durable = from->durable};
    size_t key_bytes;
    const char *key = RedisModule_StringPtrLen(RedisModule_GetToKeyNameFromOptCtx(ctx), &key_bytes);
    durable_wait(from);
    const int rc = is_exact_cuckoo(from) ? exact_copy(to, from)
                                         : keeper_make(to, RedisModule_GetToDbIdFromOptCtx(ctx),
                                                       key, key_bytes, import, &copying);
    if (rc < 0) {
        RedisModule_Log(NULL, "warning", "COPY to the key '%.*s': %s", (int)key_bytes, key,
                        is_exact_cuckoo(from) ? "there is no memory" : tamis_last_error());
        value_free(to);
        return NULL;
    }
    to->expansion = from->expansion;
    to->cuckoo = from->cuckoo;
    return to;
}

/* ---- The types ------------------------------------------------------------------------------- */

int value_register(RedisModuleCtx *ctx)
{
    RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION,
                                      .rdb_load = rdb_load_bloom,
                                      .rdb_save = rdb_save_value,
                                      .aof_rewrite = aof_rewrite_value,
                                      .mem_usage = mem_usage,
                                      .digest = digest,
                                      .free = free_value,
                                      .free_effort = free_effort,
                                      .unlink2 = on_unlink,
                                      .copy2 = copy};
    for (int type = 0; type < TYPES; type++) {
        if (type == TYPE_CUCKOO) methods.rdb_load = rdb_load_cuckoo;
        value_types[type] =
            RedisModule_CreateDataType(ctx, value_type_names[type], ENCODING_VERSION, &methods);
        if (value_types[type] != NULL) continue;
        RedisModule_Log(ctx, "warning",
                        "the type %s is taken: RedisBloom, or another copy of this module, is "
                        "loaded already",
                        value_type_names[type]);
        return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}
