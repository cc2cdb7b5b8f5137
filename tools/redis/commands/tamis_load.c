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

/* What the command says. */
struct load {
    RedisModuleCtx *ctx;
    RedisModuleString **pieces;
    int count;
    bool in_keys; /* the pieces are names of keys */
    bool durable;
    long long expansion; /* below 0: it says none */
};

/* Calls `take` with each piece in turn, until it returns another number than 0.  Returns that; 0:
 * it took all; TAMIS_ENOTFOUND: a piece is in a key that is no string. */
static int each_piece(const struct load *load,
                      int (*take)(void *context, const void *piece, size_t bytes), void *context)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < load->count; i++) {
        size_t bytes;
        RedisModuleKey *key = NULL;
        const char *piece = NULL;
        if (load->in_keys) key = RedisModule_OpenKey(load->ctx, load->pieces[i], REDISMODULE_READ);
        if (!load->in_keys)
            piece = RedisModule_StringPtrLen(load->pieces[i], &bytes);
        else if (RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_STRING)
            piece = RedisModule_StringDMA(key, &bytes, REDISMODULE_READ);
        rc = piece == NULL ? TAMIS_ENOTFOUND : take(context, piece, bytes);
        RedisModule_CloseKey(key);
    }
    return rc;
}

static int measure(void *stream, const void *piece, size_t bytes)
{
    (void)piece;
    ((struct stream *)stream)->room += bytes;
    return 0;
}

/* Takes the piece off what is left of the stream.  Returns 1 if the stream begins otherwise. */
static int compare(void *rest, const void *piece, size_t bytes)
{
    struct stream *stream = rest;
    if (bytes > stream->bytes || memcmp(stream->data, piece, bytes) != 0) return 1;
    stream->data += bytes;
    stream->bytes -= bytes;
    return 0;
}

/* Have the keys the pieces that the filter was made of?  Replicas read them now. */
static bool has_changed(const struct load *load, const struct stream *made)
{
    struct stream rest = *made;
    return each_piece(load, compare, &rest) != 0 || rest.bytes > 0;
}

/* Reads the options that stand before the pieces; returns what is wrong, or NULL. */
static const char *take_load_options(RedisModuleString **argv, int argc, struct load *load)
{
    int i = 2;
    for (; !load->in_keys && i < argc; i++) {
        if (arg_is(argv[i], "DURABLE"))
            load->durable = true;
        else if (arg_is(argv[i], "KEYS"))
            load->in_keys = true;
        else if (!arg_is(argv[i], "EXPANSION") || i + 1 == argc)
            break;
        else if (!arg_integer(argv[++i], 0, EXPANSION_MAX, &load->expansion))
            return "ERR bad expansion";
    }
    load->pieces = argv + i;
    load->count = argc - i;
    return NULL;
}

/* Copies the stream: a thread may not look at keys.  NULL: replied, or the client waits. */
static struct making *begin_load(RedisModuleCtx *ctx, RedisModuleString *name,
                                 const struct load *load)
{
    const int told = REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING;
    struct stream stream = {.durable = load->durable};
    const char *error = NULL;
    if (each_piece(load, measure, &stream) < 0)
        error = "ERR a piece of the stream is not there; bring all of them again";
    else if (stream.room == 0)
        error = "ERR there is no stream; give what 'tamis export --to tamis' wrote";
    if (error == NULL) {
        stream.data = RedisModule_Alloc(stream.room);
        (void)each_piece(load, stream_append, &stream);
        if (head_is_tamis(stream.data, stream.bytes) &&
            head_data_bytes(stream.data, stream.bytes) != UINT64_MAX &&
            head_is_too_large(stream.data, stream.bytes))
            error = "ERR the filter would be larger than tamis.max-bytes";
    }
    if (error != NULL) {
        RedisModule_Free(stream.data);
        (void)RedisModule_ReplyWithError(ctx, error);
        return NULL;
    }
    struct making *making = making_of_stream(&stream);
    /* What a master or the AOF has told was right there. */
    making->may_be_late = (RedisModule_GetContextFlags(ctx) & told) != 0;
    return making_begin(ctx, tamis_load, name, making);
}

/* The key is empty.  Returns the text of an error, or NULL. */
static const char *load_key(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                            const struct load *load)
{
    struct making *making = making_of(ctx);
    if (making == NULL)
        making = begin_load(ctx, name, load);
    else if (load->in_keys && has_changed(load, making->context)) {
        making_end(ctx, making);
        return "ERR a piece has changed while the command was under way; give it again";
    }
    struct value *value = making_take(ctx, key, name, making, "could not create filter");
    if (value == NULL) return put_off;
    if (load->expansion >= 0) value->expansion = (uint32_t)load->expansion;
    return NULL;
}

int tamis_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct load load = {.ctx = ctx, .expansion = -1};
    const char *error = take_load_options(argv, argc, &load);
    if (error != NULL) return RedisModule_ReplyWithError(ctx, error);
    RedisModuleKey *key = key_open_free(ctx, argv[1], TYPE_BLOOM);
    return key == NULL ? REDISMODULE_OK : end_change(ctx, key, load_key(ctx, key, argv[1], &load));
}
