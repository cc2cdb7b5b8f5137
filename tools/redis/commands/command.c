/* SPDX-License-Identifier: BSD-2-Clause */
/* command.c: see command.h. */
#include "commands/command.h"

#include "value/exact.h"
#include "value/guest.h"
#include "value/memory.h"

struct counts counts;
const char put_off[] = "";

struct items *items_of(RedisModuleString **argv, int count)
{
    static struct items items;
    const size_t wanted = (size_t)count;
    if (wanted > items.room) {
        items.room = wanted < 1024 ? 1024 : wanted;
        items.keys = RedisModule_Realloc(items.keys, items.room * sizeof *items.keys);
        items.answers = RedisModule_Realloc(items.answers, items.room);
        items.counts = RedisModule_Realloc(items.counts, items.room * sizeof *items.counts);
    }
    for (size_t i = 0; i < wanted; i++)
        items.keys[i].data = RedisModule_StringPtrLen(argv[i], &items.keys[i].bytes);
    items.count = wanted;
    return &items;
}

static int ask_one(const struct value *value, const struct tamis_key *item)
{
    switch (value->home) {
    case HOME_MEMORY:
        return memory_contains(value->memory, item->data, item->bytes);
    case HOME_CUCKOO:
        return exact_contains(value->cuckoo, item->data, item->bytes);
    case HOME_VALKEY:
        return guest->contains(value->valkey, item->data, item->bytes);
    default:
        return tamis_filter_contains(value->stored->filter, item->data, item->bytes);
    }
}

int64_t ask_items(const struct value *value, const struct items *items)
{
    int rc = 0;
    if (items->count > 1 && value_is_stored(value))
        return tamis_filter_contains_batch(value->stored->filter, items->keys, items->count,
                                           items->answers);
    if (items->count > 1 && value->home == HOME_MEMORY) {
        memory_contains_batch(value->memory, items->keys, items->count, items->answers);
        return 0;
    }
    for (size_t i = 0; rc >= 0 && i < items->count; i++) {
        rc = ask_one(value, &items->keys[i]);
        items->answers[i] = rc > 0;
    }
    return rc;
}

/* One item has calls of its own, which are faster. */
static int64_t add_all(const struct value *value, const struct items *items)
{
    const struct tamis_key *item = items->keys;
    const bool in_memory = value->home == HOME_MEMORY;
    if (items->count > 1)
        return in_memory ? memory_add_batch(value->memory, item, items->count, items->answers)
                         : tamis_filter_add_batch(value->stored->filter, item, items->count,
                                                  items->answers);
    const int rc = in_memory ? memory_add(value->memory, item->data, item->bytes)
                             : tamis_filter_add(value->stored->filter, item->data, item->bytes);
    items->answers[0] = rc < 0 ? TAMIS_ANSWER_REFUSED : (uint8_t)rc;
    return rc;
}

void add_items(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv,
               RedisModuleString **first, int count, answer_fn *answer)
{
    const struct items *items = items_of(first, count);
    const int64_t rc = add_all(value, items);
    const struct outcome outcome = {.rc = rc,
                                    .sentence = rc < 0 ? tamis_last_error() : "",
                                    .answers = items->answers,
                                    .count = items->count,
                                    .exact = value->exact};
    answer(ctx, argv, &outcome);
}

int end_change(RedisModuleCtx *ctx, RedisModuleKey *key, const char *error)
{
    if (error == NULL) {
        (void)RedisModule_ReplyWithSimpleString(ctx, "OK");
        (void)RedisModule_ReplicateVerbatim(ctx);
    } else if (error != put_off) {
        (void)RedisModule_ReplyWithError(ctx, error);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int pass_on(RedisModuleCtx *ctx, const char *command, const char *format, RedisModuleString **argv,
            int argc)
{
    RedisModuleCallReply *reply =
        RedisModule_Call(ctx, command, format, argv + 1, (size_t)argc - 1);
    if (reply == NULL) return RedisModule_ReplyWithError(ctx, "ERR the command cannot be called");
    (void)RedisModule_ReplyWithCallReply(ctx, reply);
    RedisModule_FreeCallReply(reply);
    return REDISMODULE_OK;
}
