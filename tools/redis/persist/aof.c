/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aof.c: the rewrite of an AOF without a preamble: BF.LOADCHUNK of the head, and of the data in
 * pieces.  Bits that are set meanwhile may be in a piece or not; the AOF has their commands.
 *
 * Exceptions by hand follow by TAMIS.EXCEPT.  A filter of kind fuse, or with exceptions that a
 * build has found, goes whole by TAMIS.LOAD, and is in the child's memory for that.
 */
#include "persist/aof.h"

#include <string.h>

#include "persist/cuckoo_data.h"
#include "persist/frames.h"
#include "persist/rdb_parts.h"
#include "tamis_build.h"
#include "value/exact.h"
#include "value/handles.h"
#include "value/head.h"
#include "value/light.h"
#include "value/pieces.h"
#include "value/valkey_blob.h"

/* Strings that become arguments of one command. */
struct strings {
    RedisModuleString **list;
    size_t count, room;
    bool found; /* a build has found one of the exceptions */
};

static int append_string(void *context, const void *data, size_t bytes)
{
    struct strings *s = context;
    if (s->count == s->room) {
        s->room = 2 * s->room + 16;
        s->list = RedisModule_Realloc(s->list, s->room * sizeof(RedisModuleString *));
    }
    s->list[s->count++] = RedisModule_CreateString(NULL, data, bytes);
    return 0;
}

static int append_exception(void *context, const struct tamis_key *key, uint64_t generation)
{
    struct strings *s = context;
    s->found |= generation != 0;
    return append_string(s, key->bytes > 0 ? key->data : "", key->bytes);
}

static void strings_clear(struct strings *s)
{
    for (size_t i = 0; i < s->count; i++)
        RedisModule_FreeString(NULL, s->list[i]);
    RedisModule_Free(s->list);
    *s = (struct strings){.list = NULL};
}

static bool emit_whole(RedisModuleIO *aof, RedisModuleString *key, const struct value *v)
{
    struct strings pieces = {.list = NULL};
    const struct tamis_sink sink = {
        .size = sizeof sink, .write = append_string, .context = &pieces};
    const int rc = handles_export(v, &sink);
    const long long expansion = v->expansion;
    if (rc == 0 && v->durable)
        RedisModule_EmitAOF(aof, "TAMIS.LOAD", "scclv", key, "DURABLE", "EXPANSION", expansion,
                            pieces.list, pieces.count);
    else if (rc == 0)
        RedisModule_EmitAOF(aof, "TAMIS.LOAD", "sclv", key, "EXPANSION", expansion, pieces.list,
                            pieces.count);
    strings_clear(&pieces);
    return rc == 0;
}

static bool emit_pieces(RedisModuleIO *aof, RedisModuleString *key, struct value *v)
{
    unsigned char head[HEAD_ROOM];
    char *piece;
    uint64_t position = 0;
    int64_t bytes = head_of_value(v, head);
    if (bytes < 0) return false;
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", v->durable ? "slbc" : "slb", key, 1LL,
                        (const char *)head, (size_t)bytes, "DURABLE");
    while ((bytes = pieces_read(v, position, &piece)) > 0) {
        position += (uint64_t)bytes;
        RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)position + 1, piece,
                            (size_t)bytes);
        RedisModule_Free(piece);
    }
    return bytes == 0;
}

/* The stream of a small filter, which is a head, the data of one segment and a checksum. */
struct small {
    size_t bytes;
    unsigned char stream[8192];
};
#define SMALL_END 16u

static int append_small(void *context, const void *data, size_t bytes)
{
    struct small *small = context;
    if (bytes > sizeof small->stream - small->bytes) return TAMIS_ELIMIT;
    memcpy(small->stream + small->bytes, data, bytes);
    small->bytes += bytes;
    return 0;
}

/* The same of a small filter, which is not opened for it.  Returns false if nothing was emitted. */
static bool emit_small(RedisModuleIO *aof, RedisModuleString *key, const struct value *v)
{
    unsigned char head[HEAD_ROOM];
    struct small small;
    const struct tamis_sink sink = {.size = sizeof sink, .write = append_small, .context = &small};
    small.bytes = 0;
    if (v->exact || !light_export(v, &sink)) return false;
    const size_t with_expansion = head_of_stream(v, small.stream, head),
                 before = with_expansion - 4;
    const size_t data_bytes = small.bytes - before - SMALL_END;
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, 1LL, (const char *)head, with_expansion);
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)data_bytes + 1,
                        (const char *)small.stream + before, data_bytes);
    return true;
}

/* A filter of valkey-bloom, as its own AOF has it. */
static bool emit_valkey(RedisModuleIO *aof, RedisModuleString *key, const struct valkey *valkey)
{
    size_t bytes = 0;
    char *blob = valkey_to_blob(valkey, &bytes);
    if (blob != NULL) RedisModule_EmitAOF(aof, "BF.LOAD", "sb", key, blob, bytes);
    RedisModule_Free(blob);
    return blob != NULL;
}

static bool emit_filter(RedisModuleIO *aof, RedisModuleString *key, struct value *v)
{
    struct strings all = {.list = NULL};
    if (v->valkey != NULL) return emit_valkey(aof, key, v->valkey);
    bool done = tamis_filter_each_exception(v->filter, append_exception, &all) == 0;
    if (done)
        done = value_is_static(v) || all.found ? emit_whole(aof, key, v) : emit_pieces(aof, key, v);
    if (done && !value_is_static(v) && !all.found && all.count > 0)
        RedisModule_EmitAOF(aof, "TAMIS.EXCEPT", "scv", key, "ADD", all.list, all.count);
    strings_clear(&all);
    return done;
}

/* ---- CF.* ------------------------------------------------------------------------------------ */

/* The pieces of an exact filter, as CF.SCANDUMP cuts them. */
static void emit_slots(RedisModuleIO *aof, RedisModuleString *key, const struct value *value)
{
    struct part part;
    for (uint64_t at = 0; exact_find(value, at, &part);) {
        const size_t now = (size_t)(part.left < PIECE_BYTES ? part.left : PIECE_BYTES);
        at += now;
        RedisModule_EmitAOF(aof, "CF.LOADCHUNK", "slb", key, (long long)at + 1,
                            (const char *)part.slots, now);
    }
}

static bool emit_cuckoo(RedisModuleIO *aof, RedisModuleString *key, const struct value *value)
{
    unsigned char head[CUCKOO_HEAD_BYTES];
    size_t bytes = 0;
    const bool exact = is_exact_cuckoo(value);
    char *data = exact ? NULL : cuckoo_data(value, &bytes);
    if (data == NULL && !exact) return false;
    cuckoo_write_head(&value->cuckoo, head);
    RedisModule_EmitAOF(aof, "CF.LOADCHUNK", "slb", key, 1LL, (const char *)head, sizeof head);
    for (size_t at = 0; at < bytes;) {
        const size_t left = bytes - at, now = left < PIECE_BYTES ? left : (size_t)PIECE_BYTES;
        at += now;
        RedisModule_EmitAOF(aof, "CF.LOADCHUNK", "slb", key, (long long)at + 1, data + at - now,
                            now);
    }
    if (exact) emit_slots(aof, key, value);
    RedisModule_Free(data);
    return true;
}

/* What was loaded, and is not in the store yet.  Returns false if the value is none of these. */
static bool emit_loaded(RedisModuleIO *aof, RedisModuleString *key, const struct value *v)
{
    const long long expansion = v->expansion;
    const struct draft_stream *stream = draft_content(v);
    if (stream == NULL) return false;
    if (!stream->is_redisbloom) {
        RedisModule_EmitAOF(aof, "TAMIS.LOAD", "sclb", key, "EXPANSION", expansion, stream->data,
                            stream->bytes);
        return true;
    }
    const struct frames frames = frames_in(stream);
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, 1LL, frames.head, frames.head_bytes);
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)frames.data_bytes + 1,
                        frames.data, frames.data_bytes);
    return true;
}

void aof_rewrite_value(RedisModuleIO *aof, RedisModuleString *key, void *value)
{
    struct value *v = value;
    if (!value_is_ours(v)) {
        RedisModule_EmitAOF(aof, "TAMIS.ATTACH", "sc", key, v->name);
        return;
    }
    rdb_settle_draft(aof, "AOF", v);
    if (emit_loaded(aof, key, v)) return;
    if (v->draft != NULL) {
        rdb_emit_draft(aof, key, v);
        return;
    }
    if (emit_small(aof, key, v)) return;
    if (value_open(v) < 0 ||
        !(v->type == TYPE_CUCKOO ? emit_cuckoo(aof, key, v) : emit_filter(aof, key, v)))
        save_lacks(aof, "AOF", v);
}
