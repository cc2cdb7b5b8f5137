/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_keys.c: TAMIS.ADD, TAMIS.CHECK, TAMIS.PARENTS, TAMIS.REMOVE, TAMIS.COUNT and
 * TAMIS.EXPLAIN: keys of a filter of any kind, as the library's calls answer them.
 *
 * The command `tamis` uses these.  They never make a filter, and a key that is gone is an error.
 */
#include "commands/command.h"
#include "kept/still.h"
#include "persist/freeze.h"
#include "value/durable.h"

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
    counts.added += outcome->count;
    counts.news += news;
    if (news > 0)
        (void)RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, "bloom.add", argv[1]);
}

/* Counts the items in what CF.INFO tells of items and sub-filters. */
static void count_in(struct value *value, const struct items *items, int64_t rc)
{
    if (value->type != TYPE_CUCKOO || rc < 0) return;
    for (size_t i = 0; i < items->count; i++) {
        (void)cuckoo_make_place(&value->cuckoo);
        value->cuckoo.items++;
    }
}

/* Is a command that writes put off?  Then the key is closed. */
static bool is_put_off(RedisModuleCtx *ctx, const struct value *value, RedisModuleKey *key,
                       RedisModuleReplyFunc *again)
{
    if (!(value->type == TYPE_CUCKOO && freeze_puts_off(ctx, again)) &&
        !still_puts_off(ctx, value, again))
        return false;
    RedisModule_CloseKey(key);
    return true;
}

int tamis_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    struct value *value = key_open(ctx, argv[1], TYPE_ANY, READ_WRITE, &key);
    if (value == NULL || is_put_off(ctx, value, key, tamis_add)) return REDISMODULE_OK;
    (void)RedisModule_ReplicateVerbatim(ctx);
    if (value->type == TYPE_CUCKOO || !durable_is_wanted(value, (size_t)argc - 2) ||
        !durable_add(ctx, value, argv + 2, (size_t)argc - 2, answer_added)) {
        const struct items *items = items_of(argv + 2, argc - 2);
        const int64_t rc =
            tamis_filter_add_batch(value->filter, items->keys, items->count, items->answers);
        const struct outcome outcome = {.rc = rc,
                                        .sentence = rc < 0 ? tamis_last_error() : NULL,
                                        .answers = items->answers,
                                        .count = items->count};
        count_in(value, items, rc);
        answer_added(ctx, argv, &outcome);
    }
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

/* Asks for the items whether they are there, or how often. */
static int ask_items(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, bool how_often)
{
    RedisModuleKey *key;
    const struct value *value = key_open(ctx, argv[1], TYPE_ANY, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    const struct items *items = items_of(argv + 2, argc - 2);
    const int64_t rc =
        how_often
            ? tamis_filter_count_batch(value->filter, items->keys, items->count, items->counts)
            : tamis_filter_contains_batch(value->filter, items->keys, items->count, items->answers);
    RedisModule_CloseKey(key);
    if (rc < 0) return reply_failure(ctx, TOLD);
    counts.asked += items->count;
    (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    for (size_t i = 0; i < items->count; i++)
        (void)RedisModule_ReplyWithLongLong(ctx, how_often ? (long long)items->counts[i]
                                                           : items->answers[i]);
    return REDISMODULE_OK;
}

int tamis_check(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return argc < 3 ? RedisModule_WrongArity(ctx) : ask_items(ctx, argv, argc, false);
}

/* Without an item it only tells whether the filter can count. */
int tamis_count(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return argc < 2 ? RedisModule_WrongArity(ctx) : ask_items(ctx, argv, argc, true);
}

/* Answers for each name at which byte of it the part begins that is in the filter: the name itself,
 * or the nearest of its parents that decides; -1 if the name is not in the filter. */
int tamis_parents(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    int rc = 0;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    const struct value *value = key_open(ctx, argv[1], TYPE_ANY, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    const struct items *items = items_of(argv + 2, argc - 2);
    for (size_t i = 0; rc >= 0 && i < items->count; i++) {
        size_t offset = 0;
        rc = tamis_filter_contains_name(value->filter, items->keys[i].data, items->keys[i].bytes,
                                        &offset);
        items->counts[i] = rc > 0 ? offset : UINT64_MAX;
    }
    RedisModule_CloseKey(key);
    if (rc < 0) return reply_failure(ctx, TOLD);
    counts.asked += items->count;
    (void)RedisModule_ReplyWithArray(ctx, (long)items->count);
    for (size_t i = 0; i < items->count; i++)
        (void)RedisModule_ReplyWithLongLong(
            ctx, items->counts[i] != UINT64_MAX ? (long long)items->counts[i] : -1);
    return REDISMODULE_OK;
}

/* Answers 1 for an item that was taken off once, and 0 for one that was not there. */
int tamis_remove(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    if (argc < 2) return RedisModule_WrongArity(ctx);
    struct value *value = key_open(ctx, argv[1], TYPE_ANY, READ_WRITE, &key);
    if (value == NULL || is_put_off(ctx, value, key, tamis_remove)) return REDISMODULE_OK;
    const struct items *items = items_of(argv + 2, argc - 2);
    const int64_t rc =
        tamis_filter_remove_batch(value->filter, items->keys, items->count, items->answers);
    for (size_t i = 0; rc >= 0 && i < items->count; i++)
        if (items->answers[i]) cuckoo_deleted(&value->cuckoo);
    RedisModule_CloseKey(key);
    if (rc < 0) return reply_failure(ctx, TOLD);
    reply_answers(ctx, items);
    return items->count > 0 ? RedisModule_ReplicateVerbatim(ctx) : REDISMODULE_OK;
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
    int rc = tamis_filter_explain(value->filter, segment, item->data, item->bytes, explanation);
    if (rc == TAMIS_EINVAL && explanation->positions_count > explanation->positions_max) {
        grow_explanation(explanation, explanation->positions_count);
        rc = tamis_filter_explain(value->filter, segment, item->data, item->bytes, explanation);
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
    if (argc < 3) return RedisModule_WrongArity(ctx);
    const struct value *value = key_open(ctx, argv[1], TYPE_ANY, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    const struct items *items = items_of(argv + 2, argc - 2);
    grow_explanation(&explanation, TAMIS_K_MAX);
    if (tamis_filter_stat(value->filter, &stat) < 0) {
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
