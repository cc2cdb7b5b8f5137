/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aof.c: the rewrite of an AOF without a preamble: BF.LOADCHUNK of the head, and of the data in
 * pieces.  Bits that are set meanwhile may be in a piece or not; the AOF has their commands.
 */
#include "pieces.h"
#include "shape.h"

static void fail(RedisModuleIO *aof, const struct value *value)
{
    RedisModule_LogIOError(aof, "warning", "the AOF lacks the filter '%s': %s", value->name,
                           tamis_last_error());
}

void aof_rewrite_value(RedisModuleIO *aof, RedisModuleString *key, void *value)
{
    unsigned char head[HEAD_ROOM];
    struct value *v = value;
    char *piece;
    uint64_t position = 0;
    if (v->attached) {
        RedisModule_EmitAOF(aof, "TAMIS.ATTACH", "sc", key, v->name);
        return;
    }
    if (v->type == TYPE_CUCKOO) {
        if (!cuckoo_rewrite(aof, key, v)) fail(aof, v);
        return;
    }
    int64_t bytes = head_of_value(v, head);
    if (bytes < 0) {
        fail(aof, v);
        return;
    }
    RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, 1LL, (const char *)head, (size_t)bytes);
    while ((bytes = pieces_read(v, position, &piece)) > 0) {
        position += (uint64_t)bytes;
        RedisModule_EmitAOF(aof, "BF.LOADCHUNK", "slb", key, (long long)position + 1, piece,
                            (size_t)bytes);
        RedisModule_Free(piece);
    }
    if (bytes < 0) fail(aof, v);
}
