/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_load.c: TAMIS.LOAD: a filter from a whole stream of format tamis, in pieces of any length.
 * The pieces are arguments, or, behind the word KEYS, the strings of other keys, which SET has
 * brought one by one: so no command is longer than a piece.
 *
 * BF.LOADCHUNK makes a filter from a head and brings the bits then.  Fingerprints of kind fuse and
 * exceptions are not bits: they come whole, or not at all.
 */
#include <string.h>

#include "commands/command.h"
#include "value/head.h"

/* The pieces that are still to be read. */
struct load {
    RedisModuleString **pieces;
    int count;
    size_t at; /* in the first of them */
    RedisModuleCtx *ctx;
    bool in_keys; /* the pieces are names of keys */
    uint64_t bytes;
    bool durable;
};

/* Finds a piece, whose key is to be closed.  NULL: it is in a key that is no string. */
static const char *find_piece(const struct load *load, size_t *bytes, RedisModuleKey **key)
{
    *key = NULL;
    if (!load->in_keys) return RedisModule_StringPtrLen(load->pieces[0], bytes);
    *key = RedisModule_OpenKey(load->ctx, load->pieces[0], REDISMODULE_READ);
    return RedisModule_KeyType(*key) == REDISMODULE_KEYTYPE_STRING
               ? RedisModule_StringDMA(*key, bytes, REDISMODULE_READ)
               : NULL;
}

/* Copies up to `bytes` bytes of the piece from load->at on.  Returns how many; 0: it has no more;
 * TAMIS_ENOTFOUND: it is in a key that is no string. */
static int64_t copy_piece(const struct load *load, void *buffer, size_t bytes)
{
    size_t all = 0;
    RedisModuleKey *key;
    const char *piece = find_piece(load, &all, &key);
    const size_t left = piece != NULL ? all - load->at : 0, now = left < bytes ? left : bytes;
    if (now > 0 && buffer != NULL) memcpy(buffer, piece + load->at, now);
    RedisModule_CloseKey(key);
    return piece != NULL ? (int64_t)now : TAMIS_ENOTFOUND;
}

static int64_t read_pieces(void *context, void *buffer, size_t bytes)
{
    struct load *load = context;
    for (; load->count > 0; load->pieces++, load->count--, load->at = 0) {
        const int64_t now = copy_piece(load, buffer, bytes);
        if (now == 0) continue;
        if (now > 0) load->at += (size_t)now;
        return now;
    }
    return 0;
}

/* The first bytes of the stream, which may be in several pieces.  Returns how many. */
static size_t read_first(struct load load, void *buffer, size_t most)
{
    unsigned char *to = buffer;
    size_t bytes = 0;
    int64_t got;
    while (bytes < most && (got = read_pieces(&load, to + bytes, most - bytes)) > 0)
        bytes += (size_t)got;
    return bytes;
}

static int import_pieces(struct making *making, tamis_store *store, const char *name)
{
    struct load load = *(const struct load *)making->context;
    const struct tamis_import_spec spec = {.size = sizeof spec,
                                           .flags = TAMIS_IMPORT_OWNED |
                                                    (load.durable ? TAMIS_IMPORT_DURABLE : 0)};
    const struct tamis_source source = {
        .size = sizeof source, .read = read_pieces, .context = &load, .bytes = load.bytes};
    return tamis_filter_import(store, name, "tamis", &spec, &source, &making->filter);
}

/* Does the head claim more than a command may ask for? */
static bool stream_is_too_large(const struct load *load)
{
    unsigned char head[HEAD_ROOM];
    const size_t bytes = read_first(*load, head, HEAD_ROOM);
    return head_is_tamis(head, bytes) && head_data_bytes(head, bytes) != UINT64_MAX &&
           head_is_too_large(head, bytes);
}

/* Reads the options that stand before the pieces; returns what is wrong, or NULL. */
static const char *take_load_options(RedisModuleString **argv, int argc, struct load *load,
                                     long long *expansion)
{
    int i = 2;
    for (; i < argc; i++) {
        if (arg_is(argv[i], "DURABLE")) {
            load->durable = true;
        } else if (arg_is(argv[i], "KEYS")) {
            load->in_keys = true;
            i++;
            break;
        } else if (arg_is(argv[i], "EXPANSION") && i + 1 < argc) {
            if (!arg_integer(argv[++i], 0, EXPANSION_MAX, expansion)) return "ERR bad expansion";
        } else {
            break;
        }
    }
    load->pieces = argv + i;
    load->count = argc - i;
    for (struct load rest = *load; rest.count > 0; rest.count--, rest.pieces++) {
        const int64_t bytes = copy_piece(&rest, NULL, SIZE_MAX);
        if (bytes < 0) return "ERR a piece of the stream is not there; bring all of them again";
        load->bytes += (uint64_t)bytes;
    }
    if (load->bytes == 0)
        return "ERR there is no stream; give what 'tamis export --to tamis' wrote";
    return stream_is_too_large(load) ? "ERR the filter would be larger than tamis.max-bytes" : NULL;
}

/* The copy has the pieces themselves behind it, and copies of those that are in keys: a thread may
 * not look at keys. */
static struct load *keep_load(const struct load *load)
{
    const size_t count = (size_t)load->count;
    struct load *copy = RedisModule_Alloc(sizeof *copy + count * sizeof copy->pieces[0]);
    struct load rest = *load;
    *copy = *load;
    copy->in_keys = false;
    copy->pieces = (RedisModuleString **)(copy + 1);
    for (size_t i = 0; i < count; i++, rest.pieces++) {
        size_t bytes = 0;
        RedisModuleKey *key;
        const char *piece = find_piece(&rest, &bytes, &key);
        copy->pieces[i] =
            load->in_keys ? RedisModule_CreateString(NULL, piece, bytes) : load->pieces[i];
        if (!load->in_keys) RedisModule_RetainString(NULL, load->pieces[i]);
        RedisModule_CloseKey(key);
    }
    return copy;
}

/* Have the keys the pieces that the filter was made of?  Replicas read them now. */
static bool has_changed(const struct load *load, const struct load *made)
{
    struct load rest = *load;
    bool same = made->count == load->count;
    for (int i = 0; load->in_keys && same && i < load->count; i++, rest.pieces++) {
        size_t bytes = 0, before;
        RedisModuleKey *key;
        const char *piece = find_piece(&rest, &bytes, &key);
        const char *was = RedisModule_StringPtrLen(made->pieces[i], &before);
        same = piece != NULL && bytes == before && memcmp(piece, was, bytes) == 0;
        RedisModule_CloseKey(key);
    }
    return !same;
}

static void forget_load(struct making *making)
{
    struct load *load = making->context;
    for (int i = 0; i < load->count; i++)
        RedisModule_FreeString(NULL, load->pieces[i]);
    RedisModule_Free(load);
}

/* The stream of a command that a master or the AOF has told: it was right there. */
static struct making *making_of_told(const struct load *load)
{
    struct load rest = *load;
    struct stream stream = {.durable = load->durable};
    stream.data = RedisModule_Alloc(load->bytes);
    stream.room = load->bytes;
    for (int64_t got;
         (got = read_pieces(&rest, stream.data + stream.bytes, stream.room - stream.bytes)) > 0;)
        stream.bytes += (size_t)got;
    return making_of_stream(&stream);
}

/* The key is empty. */
static void load_key(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                     const struct load *load, long long expansion)
{
    struct making *making = making_of(ctx);
    const int told = REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING;
    if (making == NULL && (RedisModule_GetContextFlags(ctx) & told) != 0)
        making = making_begin(ctx, tamis_load, name, making_of_told(load));
    else if (making == NULL)
        making = making_begin(ctx, tamis_load, name,
                              making_new(import_pieces, keep_load(load), forget_load));
    if (making == NULL) return;
    if (!making->may_be_late && has_changed(load, making->context)) {
        (void)RedisModule_ReplyWithError(
            ctx, "ERR a piece has changed while the command was under way; give it again");
        making_end(ctx, making);
        return;
    }
    struct value *value = making_take(ctx, key, name, making, "could not create filter");
    if (value != NULL) {
        if (expansion >= 0) value->expansion = (uint32_t)expansion;
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        (void)RedisModule_ReplicateVerbatim(ctx);
    }
    making_end(ctx, making);
}

int tamis_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct load load = {.ctx = ctx};
    long long expansion = -1;
    const char *error = take_load_options(argv, argc, &load, &expansion);
    if (error != NULL) return RedisModule_ReplyWithError(ctx, error);
    RedisModuleKey *key = key_open_free(ctx, argv[1], TYPE_BLOOM);
    if (key == NULL) return REDISMODULE_OK;
    load_key(ctx, key, argv[1], &load, expansion);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
