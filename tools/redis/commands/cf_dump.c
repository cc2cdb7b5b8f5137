/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cf_dump.c: CF.SCANDUMP and CF.LOADCHUNK.
 *
 * The first answer has RedisBloom's head.  The data of an exact filter (exact.h) are its slots;
 * its pieces come in any order.  Those of a filter of kind counting (cuckoo_data.h) are cut
 * into pieces and come in order.  A head
 * alone makes an exact filter; if a mark comes then, a filter of kind counting takes its place.
 */
#include <string.h>

#include "commands/command.h"
#include "persist/cuckoo_data.h"
#include "value/exact.h"
#include "value/head.h"
#include "value/pieces.h"

static void reply_end(RedisModuleCtx *ctx)
{
    (void)RedisModule_ReplyWithArray(ctx, 2);
    (void)RedisModule_ReplyWithLongLong(ctx, 0);
    (void)RedisModule_ReplyWithNull(ctx);
}

static void reply_piece(RedisModuleCtx *ctx, uint64_t iterator, const void *data, uint64_t left)
{
    const size_t now = (size_t)(left < PIECE_BYTES ? left : PIECE_BYTES);
    (void)RedisModule_ReplyWithArray(ctx, 2);
    (void)RedisModule_ReplyWithLongLong(ctx, (long long)(iterator + now));
    (void)RedisModule_ReplyWithStringBuffer(ctx, data, now);
}

static void dump_slots(RedisModuleCtx *ctx, const struct value *value, uint64_t iterator)
{
    struct part part;
    if (exact_find(value, iterator - 1, &part))
        reply_piece(ctx, iterator, part.slots, part.left);
    else
        reply_end(ctx);
}

static void dump_cuckoo(RedisModuleCtx *ctx, const struct value *value, uint64_t iterator)
{
    unsigned char head[CUCKOO_HEAD_BYTES];
    if (value->cuckoo.items == 0) {
        reply_end(ctx);
        return;
    }
    if (iterator == 0) {
        cuckoo_write_head(&value->cuckoo, head);
        (void)RedisModule_ReplyWithArray(ctx, 2);
        (void)RedisModule_ReplyWithLongLong(ctx, 1);
        (void)RedisModule_ReplyWithStringBuffer(ctx, (const char *)head, sizeof head);
        return;
    }
    if (is_exact_cuckoo(value)) {
        dump_slots(ctx, value, iterator);
        return;
    }
    char *piece = NULL;
    const int64_t bytes = cuckoo_piece(value, iterator - 1, &piece);
    if (bytes < 0)
        (void)reply_failure(ctx, "the filter cannot be dumped");
    else if (bytes == 0)
        reply_end(ctx);
    else
        reply_piece(ctx, iterator, piece, (uint64_t)bytes);
    RedisModule_Free(piece);
}

int cf_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    long long iterator;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (!arg_integer(argv[2], 0, INT64_MAX, &iterator))
        return RedisModule_ReplyWithError(ctx, "Invalid position");
    const struct value *value = key_open(ctx, argv[1], TYPE_CUCKOO, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    dump_cuckoo(ctx, value, (uint64_t)iterator);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- In -------------------------------------------------------------------------------------- */

static const char *load_cuckoo_head(RedisModuleCtx *ctx, RedisModuleKey *key,
                                    RedisModuleString *name, const RedisModuleString *data)
{
    unsigned char plain[HEAD_ROOM];
    struct cuckoo cuckoo;
    size_t bytes;
    const char *head = RedisModule_StringPtrLen(data, &bytes);
    if (bytes == CUCKOO_HEAD_BYTES + 8) {
        bytes = head_without_seed(head, bytes, 24, 8, 0, plain);
        head = (const char *)plain;
        if (bytes == 0) return "Couldn't create filter!";
    }
    if (bytes != CUCKOO_HEAD_BYTES) return "Invalid header";
    if (!cuckoo_read_head((const unsigned char *)head, &cuckoo)) return "Couldn't create filter!";
    struct value *value = value_new(TYPE_CUCKOO);
    if (exact_make(value, &cuckoo) == 0) {
        key_set(ctx, key, name, value);
        return NULL;
    }
    value_free(value);
    return "Couldn't create filter!";
}

/* ---- A filter of kind counting --------------------------------------------------------------- */

/* All that has arrived of a filter. */
struct arrived {
    struct value *value;
    char *data;
    size_t bytes;
    size_t number; /* of this one, where a thread makes the filter */
};

static int import_arrived(void *context, tamis_store *store, const char *name,
                          tamis_filter **filter)
{
    const struct arrived *arrived = context;
    struct memory_source memory = {.at = (const unsigned char *)arrived->data + CUCKOO_MARK_BYTES,
                                   .left = arrived->bytes - CUCKOO_MARK_BYTES};
    const struct tamis_source source = {
        .size = sizeof source, .read = memory_read, .context = &memory, .bytes = memory.left};
    const struct tamis_import_spec spec = {.size = sizeof spec, .flags = TAMIS_IMPORT_OWNED};
    return tamis_filter_import(store, name, "tamis", &spec, &source, filter);
}

/* Takes what has arrived from the value, which knows by the number that it waits for the filter. */
static void *keep_arrived(const void *context)
{
    static size_t last_number;
    const struct arrived *arrived = context;
    struct value *value = arrived->value;
    struct arrived *copy = RedisModule_Alloc(sizeof *copy);
    *copy = *arrived;
    copy->number = ++last_number;
    value->arriving = NULL;
    value_forget_arrived(value);
    value->awaited = copy->number;
    return copy;
}

static void forget_arrived(void *context)
{
    struct arrived *arrived = context;
    RedisModule_Free(arrived->data);
    RedisModule_Free(arrived);
}

static const char refusal[] = "Couldn't load chunk!";

/* All pieces have arrived.  Makes the filter of them, and gives it to the value in place of its
 * slots. */
static const char *make_of_arrived(RedisModuleCtx *ctx, struct value *value,
                                   const RedisModuleString *key)
{
    size_t key_bytes;
    const char *text = RedisModule_StringPtrLen(key, &key_bytes);
    struct arrived arrived = {.value = value, .data = value->arriving, .bytes = value->arrived};
    const struct maker maker = {.make = import_arrived,
                                .context = &arrived,
                                .keep = keep_arrived,
                                .forget = forget_arrived};
    const int rc = make_filter(value, RedisModule_GetSelectedDb(ctx), text, key_bytes, &maker);
    if (rc == 0) exact_free(value);
    if (rc != MAKING_IS_PUT_OFF) value_forget_arrived(value);
    return rc == 0 ? NULL : rc < 0 ? refusal : put_off;
}

/* Makes room for a piece.  What arrives doubles it, so that it is copied a few times and not with
 * each piece. */
static void make_room(struct value *value, size_t bytes)
{
    const size_t needed = value->arrived + bytes;
    if (value->arriving != NULL && needed <= value->arriving_room) return;
    value->arriving_room = value->arrived == 0 ? needed : 2 * needed;
    value->arriving = RedisModule_Realloc(value->arriving, value->arriving_room);
}

/* Takes a piece of a filter of kind counting. */
static const char *load_stream(RedisModuleCtx *ctx, struct value *value,
                               const RedisModuleString *key, const char *data, size_t bytes)
{
    uint64_t all;
    make_room(value, bytes);
    memcpy(value->arriving + value->arrived, data, bytes);
    value->arrived += bytes;
    memcpy(&all, value->arriving + 8, 8);
    if (value->arrived - CUCKOO_MARK_BYTES < all) return NULL;
    if (value->arrived - CUCKOO_MARK_BYTES == all) return make_of_arrived(ctx, value, key);
    value_forget_arrived(value);
    return refusal;
}

/* The filter is made that the last piece was waiting for, perhaps of another value that the key had
 * then. */
static const char *take_made(RedisModuleCtx *ctx, struct value *value, const RedisModuleString *key,
                             const struct arrived *made)
{
    const bool waits = value->arriving == NULL && value->awaited == made->number;
    return waits ? make_of_arrived(ctx, value, key) : refusal;
}

static const char *load_cuckoo_piece(RedisModuleCtx *ctx, struct value *value,
                                     const RedisModuleString *key, long long iterator,
                                     const RedisModuleString *piece)
{
    struct part part;
    size_t bytes;
    const char *data = RedisModule_StringPtrLen(piece, &bytes);
    if (iterator <= 0 || bytes == 0 || (uint64_t)iterator - 1 < bytes || !is_exact_cuckoo(value))
        return refusal;
    const uint64_t begin = (uint64_t)iterator - 1 - bytes;
    const struct arrived *made = making_context();
    if (made != NULL) return take_made(ctx, value, key, made);
    if (begin == value->arrived && (begin > 0 || cuckoo_is_mark(data, bytes)))
        return load_stream(ctx, value, key, data, bytes);
    if (!exact_find(value, begin, &part) || bytes > part.left) return refusal;
    memcpy(part.slots, data, bytes);
    return NULL;
}

static int loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct value *value;
    long long iterator;
    const char *error;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &iterator) != REDISMODULE_OK || iterator == 0)
        return RedisModule_ReplyWithError(ctx, "Invalid position");
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    const enum held held = key_held(key, TYPE_CUCKOO, &value);
    if (held == HELD_OTHER || held == HELD_CLOSED)
        error = held_error(held);
    else if (iterator == 1)
        error =
            held == HELD_VALUE ? "ERR item exists" : load_cuckoo_head(ctx, key, argv[1], argv[3]);
    else
        error = held == HELD_NONE ? NOT_FOUND
                                  : load_cuckoo_piece(ctx, value, argv[1], iterator, argv[3]);
    return end_change(ctx, key, error);
}

int cf_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return making_run(ctx, argv, argc, loadchunk, cf_loadchunk, true);
}
