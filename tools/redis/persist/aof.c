/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aof.c: the rewrite of an AOF without a preamble: TAMIS.BIND with the id of a filter of the store,
 * then BF.LOADCHUNK of the head, and of the data in pieces.  Bits that are set meanwhile may be in
 * a piece or not; the AOF has their commands.
 *
 * Exceptions by hand follow by TAMIS.EXCEPT.  A filter of kind fuse, or with exceptions that a
 * build has found, goes whole by TAMIS.LOAD, and is in the child's memory for that.
 */
#include "persist/rdb.h"
#include "tamis.h"
#include "value/exact.h"
#include "value/guest.h"
#include "value/store.h"

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
    const int rc = tamis_filter_export(v->stored->filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink);
    const long long expansion = v->expansion;
    if (rc == 0 && v->stored->durable)
        RedisModule_EmitAOF(aof, "TAMIS.LOAD", "scclv", key, "DURABLE", "EXPANSION", expansion,
                            pieces.list, pieces.count);
    else if (rc == 0)
        RedisModule_EmitAOF(aof, "TAMIS.LOAD", "sclv", key, "EXPANSION", expansion, pieces.list,
                            pieces.count);
    strings_clear(&pieces);
    return rc == 0;
}

static bool emit_pieces(RedisModuleIO *aof, RedisModuleString *key, const struct value *v)
{
    unsigned char head[HEAD_ROOM];
    const void *piece;
    char *buffer;
    uint64_t position = 0;
    const bool durable = v->home == HOME_STORE && v->stored->durable;
    int64_t bytes = pieces_head(v, head);
    if (bytes < 0) return false;
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", durable ? "slbc" : "slb", key, 1LL, (const char *)head,
                        (size_t)bytes, "DURABLE");
    while ((bytes = pieces_read(v, position, PIECE_BYTES, &piece, &buffer)) > 0) {
        position += (uint64_t)bytes;
        RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)position + 1,
                            (const char *)piece, (size_t)bytes);
        RedisModule_Free(buffer);
    }
    return bytes == 0;
}

/* The name of a filter of others, or of one that counts, by which the key is attached again. */
static bool emit_attach(RedisModuleIO *aof, RedisModuleString *key, const struct value *v)
{
    char name[TAMIS_NAME_MAX + 1];
    tamis_store *store = store_open();
    if (store == NULL || tamis_filter_find_id(store, v->stored->id.bytes, name) != 1) return false;
    RedisModule_EmitAOF(aof, "TAMIS.ATTACH", "sc", key, name);
    return true;
}

static bool emit_stored(RedisModuleIO *aof, RedisModuleString *key, const struct value *v)
{
    struct strings all = {.list = NULL};
    char name[TAMIS_ID_NAME_BYTES];
    if (stored_open(v->stored) < 0) return false;
    if (v->stored->attached || stored_counts(v->stored)) return emit_attach(aof, key, v);
    RedisModule_EmitAOF(aof, "TAMIS.BIND", "sc", key, id_digits(&v->stored->id, name));
    const bool is_static = stored_is_static(v->stored);
    bool done = tamis_filter_each_exception(v->stored->filter, append_exception, &all) == 0;
    if (done) done = is_static || all.found ? emit_whole(aof, key, v) : emit_pieces(aof, key, v);
    if (done && !is_static && !all.found && all.count > 0)
        RedisModule_EmitAOF(aof, "TAMIS.EXCEPT", "scv", key, "ADD", all.list, all.count);
    strings_clear(&all);
    return done;
}

/* The pieces of a cuckoo filter, as CF.SCANDUMP cuts them. */
static void emit_cuckoo(RedisModuleIO *aof, RedisModuleString *key, const struct exact *exact)
{
    unsigned char head[CUCKOO_HEAD_BYTES];
    struct part part;
    cuckoo_write_head(&exact->cuckoo, head);
    RedisModule_EmitAOF(aof, "CF.LOADCHUNK", "slb", key, 1LL, (const char *)head, sizeof head);
    for (uint64_t at = 0; exact_find(exact, at, &part);) {
        const size_t now = (size_t)(part.left < PIECE_BYTES ? part.left : PIECE_BYTES);
        at += now;
        RedisModule_EmitAOF(aof, "CF.LOADCHUNK", "slb", key, (long long)at + 1,
                            (const char *)part.slots, now);
    }
}

void aof_rewrite_value(RedisModuleIO *aof, RedisModuleString *key, void *value)
{
    const struct value *v = value;
    bool done = true;
    switch (v->home) {
    case HOME_CUCKOO:
        emit_cuckoo(aof, key, v->cuckoo);
        break;
    case HOME_VALKEY:
        done = guest->emit(aof, key, v->valkey);
        break;
    case HOME_MEMORY:
        done = emit_pieces(aof, key, v);
        break;
    case HOME_STORE:
        done = emit_stored(aof, key, v);
        break;
    default:
        done = false;
    }
    if (!done) save_lacks(aof, "AOF", v);
}
