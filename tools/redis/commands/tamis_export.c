/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_export.c: TAMIS.EXPORT: what `tamis export` writes, in pieces.
 *
 *     TAMIS.EXPORT key format position [WITHKEY]  ->  [total bytes, mark, piece]
 *
 * The server keeps nothing between two pieces, and memory is that of a piece.  If the mark changes,
 * the filter's segments have changed in between, and the pieces do not fit together.  The digest
 * that ends format tamis is zeros in a piece (struct tamis_sink): who has all of them computes it.
 */
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "value/homes.h"

struct piece {
    char *data; /* NULL: there is none yet */
    size_t bytes;
};

static int take_piece(void *context, const void *data, size_t bytes)
{
    struct piece *piece = context;
    if (piece->data == NULL) piece->data = RedisModule_Alloc(PIECE_BYTES);
    memcpy(piece->data + piece->bytes, data, bytes);
    piece->bytes += bytes;
    return 0;
}

/* FNV-1a, so that another list of segments gives another number. */
static void mix_number(uint64_t *mark, uint64_t number)
{
    for (int shift = 0; shift < 64; shift += 8)
        *mark = (*mark ^ (number >> shift & 0xFF)) * UINT64_C(0x100000001b3);
}

static uint64_t mark_of(const struct value *value, uint64_t all_bytes)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    uint64_t mark = UINT64_C(0xcbf29ce484222325);
    mix_number(&mark, all_bytes);
    for (uint32_t i = 0; tamis_filter_segment(value->stored->filter, i, &segment) == 0; i++) {
        mix_number(&mark, segment.number);
        mix_number(&mark, segment.slice);
    }
    return mark & INT64_MAX;
}

int tamis_export(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    long long position;
    char sentence[1100];
    RedisModuleKey *key;
    const bool with_key = argc == 5 && arg_is(argv[4], "WITHKEY");
    if (argc != 4 && !with_key) return RedisModule_WrongArity(ctx);
    if (!arg_integer(argv[3], 0, INT64_MAX, &position))
        return RedisModule_ReplyWithError(ctx, "ERR bad position");
    const struct value *value = key_open_stored(ctx, argv[1], REDISMODULE_READ, tamis_export, &key);
    if (value == NULL) return REDISMODULE_OK;
    work_wait(&value->stored->line);
    struct piece piece = {.data = NULL};
    uint64_t all_bytes = 0;
    const struct tamis_sink sink = {.size = sizeof sink,
                                    .write = take_piece,
                                    .context = &piece,
                                    .from = (uint64_t)position,
                                    .bytes = PIECE_BYTES,
                                    .all_bytes = &all_bytes};
    const int rc =
        tamis_filter_export(value->stored->filter, RedisModule_StringPtrLen(argv[2], NULL),
                            with_key ? TAMIS_EXPORT_WITH_KEY : 0, &sink);
    if (rc < 0) {
        (void)snprintf(sentence, sizeof sentence, "filter '%s': %s",
                       RedisModule_StringPtrLen(argv[1], NULL), tamis_last_error());
        (void)reply_sentence(ctx, TOLD, sentence);
    } else {
        (void)RedisModule_ReplyWithArray(ctx, 3);
        (void)RedisModule_ReplyWithLongLong(ctx, (long long)all_bytes);
        (void)RedisModule_ReplyWithLongLong(ctx, (long long)mark_of(value, all_bytes));
        (void)RedisModule_ReplyWithStringBuffer(ctx, piece.bytes > 0 ? piece.data : "",
                                                piece.bytes);
    }
    RedisModule_Free(piece.data);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
