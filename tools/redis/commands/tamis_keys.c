/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_keys.c: TAMIS.ADD, TAMIS.CHECK, TAMIS.PARENTS, TAMIS.REMOVE, TAMIS.COUNT and
 * TAMIS.EXPLAIN: keys of a filter of any kind, as the library's calls answer them.
 *
 * The command `tamis` uses these.  They never make a filter, and a key that is gone is an error.
 */
#include "commands/bf_parts.h"
#include "home/promote.h"

/* ---- Adding ---------------------------------------------------------------------------------- */

/* Answers 1 for a new item, 0 for one that was seen, -1 for one that was refused; behind them, if
 * any was refused, the reason. */
static void answer_added(RedisModuleCtx *ctx, RedisModuleString **argv,
                         const struct outcome *outcome)
{
    uint64_t news = 0;
    (void)RedisModule_ReplyWithArray(ctx, (long)outcome->count + (outcome->rc < 0));
    for (size_t i = 0; i < outcome->count; i++) {
        const bool refused = outcome->answers[i] == TAMIS_ANSWER_REFUSED;
        (void)RedisModule_ReplyWithLongLong(ctx, refused ? -1 : outcome->answers[i]);
        news += outcome->answers[i] == 1;
    }
    if (outcome->rc < 0) (void)reply_sentence(ctx, TOLD, outcome->sentence);
    bf_count_added(ctx, argv[1], outcome->count, news);
}

/* Opens a filter for keys; NULL: replied.  A cuckoo filter, and one of valkey-bloom, are refused.
 */
static struct value *open_for_keys(RedisModuleCtx *ctx, RedisModuleString *name, int mode,
                                   RedisModuleReplyFunc *again, RedisModuleKey **key)
{
    struct value *value;
    *key = RedisModule_OpenKey(ctx, name, mode);
    if (key_look(*key, TYPE_BLOOM, &value) == HELD_VALUE && value->home == HOME_MEMORY)
        return value;
    RedisModule_CloseKey(*key);
    return key_open_stored(ctx, name, mode, again, key);
}

int tamis_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *value = open_for_keys(ctx, argv[1], READ_WRITE, tamis_add, &key);
    if (value == NULL) return REDISMODULE_OK;
    const bool stored = value_is_stored(value), counting = stored && stored_counts(value->stored);
    const bool held = stored ? task_holds(ctx, value->stored, tamis_add)
                             : promote_holds(value) && promote_wait(ctx, value, tamis_add);
    if (!held && !counting) (void)RedisModule_ReplicateVerbatim(ctx);
    if (!held && (!stored || counting || !adds_wait(value->stored, (size_t)argc - 2) ||
                  !adds_begin(ctx, value, argv + 2, (size_t)argc - 2, answer_added)))
        add_items(ctx, value, argv, argv + 2, argc - 2, answer_added);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static void reply_answers(RedisModuleCtx *ctx, const struct items *items)
{
    (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    for (size_t i = 0; i < items->count; i++)
        (void)RedisModule_ReplyWithLongLong(ctx, items->answers[i]);
}

int tamis_check(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    const struct value *value = open_for_keys(ctx, argv[1], REDISMODULE_READ, tamis_check, &key);
    if (value == NULL) return REDISMODULE_OK;
    const struct items *items = items_of(argv + 2, argc - 2);
    const int64_t rc = ask_items(value, items);
    RedisModule_CloseKey(key);
    if (rc < 0) return reply_failure(ctx, TOLD);
    counts.asked += items->count;
    reply_answers(ctx, items);
    return REDISMODULE_OK;
}

/* What a command asks a filter of the store about all its items. */
struct question {
    int fewest; /* items */
    int mode;
    RedisModuleReplyFunc *command;
    int64_t (*ask)(tamis_filter *filter, const struct items *items);
};

/* Returns the items with what the filter said of them; NULL: replied. */
static const struct items *ask(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
                               const struct question *question)
{
    RedisModuleKey *key;
    if (argc < 2 + question->fewest) {
        (void)RedisModule_WrongArity(ctx);
        return NULL;
    }
    const struct value *value =
        key_open_stored(ctx, argv[1], question->mode, question->command, &key);
    if (value == NULL) return NULL;
    const struct items *items = items_of(argv + 2, argc - 2);
    const int64_t rc = question->ask(value->stored->filter, items);
    RedisModule_CloseKey(key);
    if (rc >= 0) return items;
    (void)reply_failure(ctx, TOLD);
    return NULL;
}

/* Answers the numbers of the items, which are below 2^63 or UINT64_MAX, for -1. */
static int reply_counts(RedisModuleCtx *ctx, const struct items *items)
{
    if (items == NULL) return REDISMODULE_OK;
    counts.asked += items->count;
    (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    for (size_t i = 0; i < items->count; i++)
        (void)RedisModule_ReplyWithLongLong(ctx, (long long)items->counts[i]);
    return REDISMODULE_OK;
}

static int64_t ask_counts(tamis_filter *filter, const struct items *items)
{
    return tamis_filter_count_batch(filter, items->keys, items->count, items->counts);
}

/* Without an item it only tells whether the filter can count. */
int tamis_count(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const struct question question = {0, REDISMODULE_READ, tamis_count, ask_counts};
    return reply_counts(ctx, ask(ctx, argv, argc, &question));
}

static int64_t ask_parents(tamis_filter *filter, const struct items *items)
{
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < items->count; i++) {
        size_t offset = 0;
        rc = tamis_filter_contains_name(filter, items->keys[i].data, items->keys[i].bytes, &offset);
        items->counts[i] = rc > 0 ? offset : UINT64_MAX;
    }
    return rc;
}

/* Answers for each name at which byte of it the part begins that is in the filter: the name itself,
 * or the nearest of its parents that decides; -1 if the name is not in the filter. */
int tamis_parents(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const struct question question = {1, REDISMODULE_READ, tamis_parents, ask_parents};
    return reply_counts(ctx, ask(ctx, argv, argc, &question));
}

static int64_t ask_remove(tamis_filter *filter, const struct items *items)
{
    return tamis_filter_remove_batch(filter, items->keys, items->count, items->answers);
}

/* Answers 1 for an item that was taken off once, and 0 for one that was not there.  Only filters
 * that count have this, and they are told to nobody. */
int tamis_remove(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const struct question question = {0, READ_WRITE, tamis_remove, ask_remove};
    const struct items *items = ask(ctx, argv, argc, &question);
    if (items != NULL) reply_answers(ctx, items);
    return REDISMODULE_OK;
}

/* ---- TAMIS.EXPLAIN --------------------------------------------------------------------------- */

#define HASH_TEXT_BYTES 64u /* of one hash value, by tamis_stat.h */

static void grow_explanation(struct tamis_explanation *explanation, size_t positions)
{
    explanation->positions_max = positions;
    explanation->positions =
        RedisModule_Realloc(explanation->positions, positions * sizeof *explanation->positions);
    explanation->hashes_bytes = positions * HASH_TEXT_BYTES;
    explanation->hashes = RedisModule_Realloc(explanation->hashes, explanation->hashes_bytes);
}

static int explain_item(const struct value *value, uint32_t segment, const struct tamis_key *item,
                        struct tamis_explanation *explanation)
{
    explanation->positions_count = 0;
    int rc =
        tamis_filter_explain(value->stored->filter, segment, item->data, item->bytes, explanation);
    if (rc == TAMIS_EINVAL && explanation->positions_count > explanation->positions_max) {
        grow_explanation(explanation, explanation->positions_count);
        rc = tamis_filter_explain(value->stored->filter, segment, item->data, item->bytes,
                                  explanation);
    }
    return rc;
}

/* For each item an array, with an array for each segment, the oldest first: the hash values with
 * commas between, and the positions. */
int tamis_explain_items(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct tamis_explanation explanation = {.size = sizeof explanation};
    struct tamis_filter_stat stat = {.size = sizeof stat};
    RedisModuleKey *key;
    const struct value *value =
        key_open_stored(ctx, argv[1], REDISMODULE_READ, tamis_explain_items, &key);
    if (value == NULL) return REDISMODULE_OK;
    const struct items *items = items_of(argv + 2, argc - 2);
    grow_explanation(&explanation, TAMIS_K_MAX);
    if (tamis_filter_stat(value->stored->filter, &stat) < 0) {
        (void)reply_failure(ctx, TOLD);
        items = items_of(argv, 0);
    } else {
        (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    }
    for (size_t i = 0; i < items->count; i++) {
        (void)RedisModule_ReplyWithArray(ctx, (long)stat.segment_count);
        for (uint32_t segment = 0; segment < stat.segment_count; segment++) {
            if (explain_item(value, segment, &items->keys[i], &explanation) < 0) {
                (void)reply_failure(ctx, TOLD);
                continue;
            }
            (void)RedisModule_ReplyWithArray(ctx, (long)explanation.positions_count + 1);
            (void)RedisModule_ReplyWithCString(ctx, explanation.hashes);
            for (size_t j = 0; j < explanation.positions_count; j++)
                (void)RedisModule_ReplyWithLongLong(ctx, (long long)explanation.positions[j]);
        }
    }
    RedisModule_CloseKey(key);
    RedisModule_Free(explanation.hashes);
    RedisModule_Free(explanation.positions);
    return REDISMODULE_OK;
}
