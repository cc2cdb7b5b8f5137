/* SPDX-License-Identifier: BSD-2-Clause */
/* bf_add.c: BF.ADD, BF.MADD and BF.INSERT. */
#include <ctype.h>

#include "commands/bf_parts.h"
#include "home/promote.h"
#include "server/config.h"

#define FULL "ERR non scaling filter is full"
#define PROBLEM "problem inserting into filter"

static int reply_refusal(RedisModuleCtx *ctx, const struct outcome *outcome)
{
    if (outcome->rc == TAMIS_EFULL) return RedisModule_ReplyWithError(ctx, FULL);
    /* The filter can have no further layer: the reply is RedisBloom's text alone. */
    if (outcome->rc == TAMIS_ELIMIT && outcome->exact)
        return RedisModule_ReplyWithError(ctx, "ERR " PROBLEM);
    return reply_sentence(ctx, PROBLEM, outcome->sentence);
}

/* Answers each key in turn, and returns how many are new. */
static uint64_t answer_keys(RedisModuleCtx *ctx, const struct outcome *outcome, size_t count)
{
    uint64_t news = 0;
    for (size_t i = 0; i < count; i++) {
        if (outcome->answers[i] == TAMIS_ANSWER_REFUSED)
            (void)reply_refusal(ctx, outcome);
        else
            (void)reply_yes_no(ctx, outcome->answers[i]);
        news += outcome->answers[i] == 1;
    }
    return news;
}

void bf_count_added(RedisModuleCtx *ctx, RedisModuleString *name, size_t count, uint64_t news)
{
    counts.added += count;
    counts.news += news;
    if (news > 0) key_event(ctx, "bloom.add", name);
}

static void answer_one(RedisModuleCtx *ctx, RedisModuleString **argv, const struct outcome *outcome)
{
    bf_count_added(ctx, argv[1], 1, answer_keys(ctx, outcome, 1));
}

/* A full filter ends the batch at the first item that it refuses; another error is the answer of
 * each item that it met. */
static void answer_many(RedisModuleCtx *ctx, RedisModuleString **argv,
                        const struct outcome *outcome)
{
    size_t told = outcome->count;
    for (size_t i = 0; outcome->rc == TAMIS_EFULL && i < told; i++)
        if (outcome->answers[i] == TAMIS_ANSWER_REFUSED) told = i + 1;
    (void)RedisModule_ReplyWithArray(ctx, (long)told);
    bf_count_added(ctx, argv[1], told, answer_keys(ctx, outcome, told));
}

static void add_at_once(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv,
                        RedisModuleString **items, int count, bool single)
{
    if (count == 0)
        (void)RedisModule_ReplyWithArray(ctx, 0); /* BF.INSERT of valkey-bloom */
    else
        add_items(ctx, value, argv, items, count, single ? answer_one : answer_many);
}

/* Must the command wait, or is it refused, as too much of the filter is in memory? */
static bool is_held(RedisModuleCtx *ctx, const struct value *value, const struct adding *adding)
{
    if (promote_holds(value) && promote_wait(ctx, value, adding->again)) return true;
    if (memory_data_bytes(value->memory) <= (uint64_t)config.memory_max) return false;
    const char *failure = args_can_wait(ctx) ? promote_failure(value) : NULL;
    if (failure != NULL) (void)reply_sentence(ctx, PROBLEM, failure);
    return failure != NULL;
}

static void add_to_memory(RedisModuleCtx *ctx, struct value *value, RedisModuleString **argv,
                          RedisModuleString **items, int count, const struct adding *adding,
                          bool single)
{
    size_t bytes;
    if (value->memory->log != NULL && is_held(ctx, value, adding)) return;
    (void)RedisModule_ReplicateVerbatim(ctx);
    add_at_once(ctx, value, argv, items, count, single);
    if (value->memory->count == 1) return; /* it has not grown */
    const char *name = RedisModule_StringPtrLen(argv[1], &bytes);
    promote_if_large(value, RedisModule_GetSelectedDb(ctx), name, bytes);
}

static void add_to_stored(RedisModuleCtx *ctx, struct value *value, RedisModuleString **argv,
                          RedisModuleString **items, int count, bool single)
{
    /* Replicas get the commands in the order of now, also if the disk has the keys later.  A filter
     * that counts is told to nobody: a load would count its keys again. */
    if (!stored_counts(value->stored)) (void)RedisModule_ReplicateVerbatim(ctx);
    if (count > 0 && !stored_counts(value->stored) && adds_wait(value->stored, (size_t)count) &&
        adds_begin(ctx, value, items, (size_t)count, single ? answer_one : answer_many))
        return;
    add_at_once(ctx, value, argv, items, count, single);
}

int bf_add_items(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, struct adding *adding,
                 bool single)
{
    struct value *value;
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], READ_WRITE);
    RedisModuleString **items = argv + adding->first;
    const int count = argc - adding->first;
    const enum held held = key_held(key, TYPE_BLOOM, &value);
    if (held == HELD_NONE ? adding->no_create : held != HELD_VALUE)
        (void)RedisModule_ReplyWithError(ctx, held_error(held));
    else if (held == HELD_NONE) {
        if (adding->by_default) bf_default_adding(adding);
        value = bf_make(ctx, key, argv[1], adding);
    }
    if (value != NULL && value->home == HOME_MEMORY)
        add_to_memory(ctx, value, argv, items, count, adding, single);
    else if (value != NULL && value->home == HOME_VALKEY)
        guest->add(ctx, value, argv, items, count, single, held == HELD_NONE);
    else if (value != NULL && !task_holds(ctx, value->stored, adding->again))
        add_to_stored(ctx, value, argv, items, count, single);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* Of a command that has a key and items, and nothing else.  What it makes is not yet filled in, as
 * most keys are there. */
static void take_items_alone(struct adding *adding, RedisModuleReplyFunc *again)
{
    adding->first = 2;
    adding->again = again;
    adding->no_create = false;
    adding->by_default = true;
}

int bf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct adding adding;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    take_items_alone(&adding, bf_add);
    return bf_add_items(ctx, argv, argc, &adding, true);
}

int bf_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct adding adding;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    take_items_alone(&adding, bf_madd);
    return bf_add_items(ctx, argv, argc, &adding, false);
}

/* ---- BF.INSERT ------------------------------------------------------------------------------- */

enum option {
    OPTION_UNKNOWN,
    OPTION_ITEMS,
    OPTION_CAPACITY,
    OPTION_ERROR,
    OPTION_EXPANSION,
    OPTION_NOCREATE,
    OPTION_NONSCALING,
};

/* Finds an option as RedisBloom does, by some of its letters, so that clients may cut it short. */
static enum option option_of(const RedisModuleString *arg)
{
    size_t bytes;
    const char *text = RedisModule_StringPtrLen(arg, &bytes);
    char letters[3] = {0};
    for (size_t i = 0; i < 3 && i < bytes; i++)
        letters[i] = (char)tolower((unsigned char)text[i]);
    switch (letters[0]) {
    case 'i':
        return OPTION_ITEMS;
    case 'e':
        return letters[1] == 'r' ? OPTION_ERROR : OPTION_EXPANSION;
    case 'c':
        return OPTION_CAPACITY;
    case 'n':
        return letters[2] == 'c' ? OPTION_NOCREATE : OPTION_NONSCALING;
    default:
        return OPTION_UNKNOWN;
    }
}

/* Takes the value of an option that has one.  Returns what is wrong with the value, or NULL. */
static const char *take_value(enum option option, const RedisModuleString *arg,
                              struct bloom_shape *shape)
{
    long long number = 0;
    double rate;
    if (option == OPTION_CAPACITY) {
        if (!arg_integer(arg, 1, CAPACITY_MAX, &number)) return "Bad capacity";
        shape->capacity = (uint64_t)number;
    } else if (option == OPTION_EXPANSION) {
        if (!arg_integer(arg, 0, EXPANSION_MAX, &number)) return "Bad expansion";
        shape->growth = (uint32_t)number;
    } else {
        if (RedisModule_StringToDouble(arg, &rate) != REDISMODULE_OK || !(rate > 0 && rate < 1))
            return "Bad error rate";
        shape->rate = rate > RATE_MAX ? RATE_MAX : rate;
    }
    return NULL;
}

int bf_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct adding adding;
    bool non_scaling = false;
    if (config.like == LIKE_VALKEY) return guest->insert(ctx, argv, argc);
    if (argc < 4) return RedisModule_WrongArity(ctx);
    bf_default_adding(&adding);
    for (int i = 2; i < argc && adding.first == 0; i++) {
        const enum option option = option_of(argv[i]);
        switch (option) {
        case OPTION_UNKNOWN:
            if (guest != NULL && guest->has_word(argv[i])) return guest->insert(ctx, argv, argc);
            return RedisModule_ReplyWithError(ctx, "Unknown argument received");
        case OPTION_ITEMS:
            adding.first = i + 1;
            break;
        case OPTION_NOCREATE:
            adding.no_create = true;
            break;
        case OPTION_NONSCALING:
            non_scaling = true;
            break;
        default:
            if (++i == argc) return RedisModule_WrongArity(ctx);
            const char *error = take_value(option, argv[i], &adding.shape);
            if (error != NULL) return RedisModule_ReplyWithError(ctx, error);
        }
    }
    if (adding.first == 0 || adding.first == argc) return RedisModule_WrongArity(ctx);
    adding.again = bf_insert;
    adding.shape.non_scaling = non_scaling || adding.shape.growth == 0;
    return bf_add_items(ctx, argv, argc, &adding, false);
}
