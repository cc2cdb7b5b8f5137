/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdb_payload.c: a filter of RedisBloom's bits in a payload of DUMP.
 *
 * It has what BF.SCANDUMP gives: S head, S data of each layer, in pieces of 16 MiB.  So two servers
 * with the same filter give the same payload, which a stream, with the times at which its segments
 * were made, would not.
 */
#include <string.h>

#include "keys/shape.h"
#include "persist/frames.h"
#include "persist/load.h"
#include "persist/rdb_parts.h"
#include "value/pieces.h"

bool rdb_save_payload(RedisModuleIO *rdb, const struct value *value, const unsigned char *head,
                      size_t head_bytes)
{
    char *piece;
    uint64_t position = 0;
    int64_t bytes;
    RedisModule_SaveStringBuffer(rdb, (const char *)head, head_bytes);
    while ((bytes = pieces_read(value, position, &piece)) > 0) {
        position += (uint64_t)bytes;
        RedisModule_SaveStringBuffer(rdb, piece, (size_t)bytes);
        RedisModule_Free(piece);
    }
    return bytes == 0;
}

/* The part of the data that was read. */
struct come {
    char *data;
    uint64_t bytes;
};

/* Reads pieces until there are as many bytes as the head claims; a piece that is longer, or empty,
 * is refused.  Nothing is made before. */
static int load_data(RedisModuleIO *rdb, uint64_t claimed, struct come *come)
{
    while (come->bytes < claimed) {
        size_t bytes;
        char *piece = load_string(rdb, &bytes);
        const bool good =
            !load_has_failed(rdb) && piece != NULL && bytes > 0 && bytes <= claimed - come->bytes;
        if (good) {
            come->data = RedisModule_Realloc(come->data, come->bytes + bytes);
            memcpy(come->data + come->bytes, piece, bytes);
            come->bytes += bytes;
        }
        RedisModule_Free(piece);
        if (!good) return TAMIS_ECORRUPT;
    }
    return 0;
}

static int fill_payload(struct value *value, const struct come *come)
{
    struct place place;
    int rc = 0;
    for (uint64_t at = 0; rc == 0 && pieces_find(value, at, &place); at += place.left) {
        if (place.left > come->bytes - at) return TAMIS_ECORRUPT;
        rc = tamis_filter_write_data(value->filter, place.segment, 0, come->data + at, place.left);
    }
    return rc;
}

bool rdb_is_loading(void)
{
    return loading_now() == NULL &&
           (RedisModule_GetContextFlags(NULL) &
            (REDISMODULE_CTX_FLAGS_LOADING | REDISMODULE_CTX_FLAGS_ASYNC_LOADING)) != 0;
}

bool rdb_begin_layer(struct value *value, int db, const char *key, size_t key_bytes,
                     const void *head, size_t head_bytes, const void *data, size_t data_bytes)
{
    if (loading_now() != NULL) return false;
    const struct draft_stream stream = frames_of_layer(head, head_bytes, data, data_bytes);
    if (!make_content_draft(value, db, key, key_bytes, &stream, 0, rdb_is_loading())) return false;
    value->expansion = bloom_head_expansion(head);
    return true;
}

int rdb_load_payload(RedisModuleIO *rdb, struct value *value, int db, const char *key,
                     size_t key_bytes)
{
    struct come come = {.data = NULL};
    size_t bytes;
    char *head = load_string(rdb, &bytes);
    int rc = TAMIS_ECORRUPT;
    if (!load_has_failed(rdb) && head != NULL && !head_is_tamis(head, bytes))
        rc = head_is_too_large(head, bytes) ? TAMIS_ENOMEM
                                            : load_data(rdb, head_data_bytes(head, bytes), &come);
    if (rc == 0 &&
        !rdb_begin_layer(value, db, key, key_bytes, head, bytes, come.data, come.bytes)) {
        rc = make_from_head(value, db, key, key_bytes, head, bytes);
        if (rc == 0) rc = fill_payload(value, &come);
    }
    RedisModule_Free(head);
    RedisModule_Free(come.data);
    return rc;
}
