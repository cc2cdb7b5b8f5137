/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_info.c: TAMIS.INFO, TAMIS.STATS and the section of INFO. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "home/labels.h"
#include "home/promote.h"
#include "server/config.h"
#include "value/drops.h"
#include "value/store.h"

/* A number that no integer of a reply can hold is told as text. */
static void reply_number(RedisModuleCtx *ctx, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    if (number > INT64_MAX)
        (void)RedisModule_ReplyWithCString(ctx, text);
    else
        (void)RedisModule_ReplyWithLongLong(ctx, (long long)number);
}

static void tell_number(RedisModuleCtx *ctx, const char *name, uint64_t number)
{
    (void)RedisModule_ReplyWithSimpleString(ctx, name);
    reply_number(ctx, number);
}

/* ---- One filter: all that the table of tamis_fields.h has a reply_name for
 * ----------------------- */

static void reply_value(RedisModuleCtx *ctx, uint32_t type, const struct tamis_field_value *value)
{
    switch (type) {
    case TAMIS_FIELD_TEXT:
    case TAMIS_FIELD_WORD:
        (void)RedisModule_ReplyWithCString(ctx, value->text ? value->text : "");
        break;
    case TAMIS_FIELD_REAL:
        (void)RedisModule_ReplyWithDouble(ctx, value->real);
        break;
    case TAMIS_FIELD_TIME:
    case TAMIS_FIELD_SPAN:
        reply_number(ctx, (uint64_t)value->ns);
        break;
    default:
        if (type == TAMIS_FIELD_LIMIT && value->number == UINT64_MAX)
            (void)RedisModule_ReplyWithNull(ctx);
        else
            reply_number(ctx, value->number);
    }
}

static const char *state_of(uint32_t state)
{
    if (state & TAMIS_STATE_DAMAGED) return "damaged";
    if (state & TAMIS_STATE_DEGRADED) return "degraded";
    if (state & TAMIS_STATE_UNCLEAN) return "unclean";
    if (state & TAMIS_STATE_OVER) return "over";
    return state & TAMIS_STATE_FULL ? "full" : "ok";
}

/* What was asked of a filter. */
struct question {
    const struct value *value;
    bool segments, fill; /* with FILL the set bits are counted, which reads all of the filter */
};

static void reply_state(RedisModuleCtx *ctx, const struct question *question,
                        const struct tamis_filter_stat *stat)
{
    (void)question;
    (void)RedisModule_ReplyWithCString(ctx, state_of(stat->state));
}

static void reply_attached(RedisModuleCtx *ctx, const struct question *question,
                           const struct tamis_filter_stat *stat)
{
    (void)stat;
    reply_number(ctx, question->value->stored->attached);
}

static void reply_segments(RedisModuleCtx *ctx, const struct question *question,
                           const struct tamis_filter_stat *stat);

/* Fields of a filter that no struct has, by their names in the reply. */
static const struct made {
    const char *name;
    void (*reply)(RedisModuleCtx *ctx, const struct question *question,
                  const struct tamis_filter_stat *stat);
} MADE[] = {{"state", reply_state}, {"attached", reply_attached}, {"segment list", reply_segments}};

/* NULL: the struct has it, or it was not asked for. */
static const struct made *made_of(const struct tamis_field *field, const struct question *question)
{
    if (field->type != TAMIS_FIELD_MADE) return NULL;
    for (size_t i = 0; i < sizeof MADE / sizeof *MADE; i++)
        if (strcmp(MADE[i].name, field->reply_name) == 0)
            return MADE[i].reply == reply_segments && !question->segments ? NULL : &MADE[i];
    return NULL;
}

static long count_fields(uint32_t of, const struct question *question)
{
    struct tamis_field field = {.size = sizeof field};
    long count = 0;
    for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_BY_REPLY, i, &field) > 0; i++)
        count += field.type != TAMIS_FIELD_MADE || made_of(&field, question) != NULL;
    return count;
}

static void tell_fields(RedisModuleCtx *ctx, uint32_t of, const void *stat,
                        const struct question *question)
{
    struct tamis_field field = {.size = sizeof field};
    struct tamis_field_value value = {.size = sizeof value};
    (void)RedisModule_ReplyWithMap(ctx, count_fields(of, question));
    for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_BY_REPLY, i, &field) > 0; i++) {
        const struct made *made = made_of(&field, question);
        if (made == NULL && tamis_field_get(&field, stat, &value) <= 0) continue;
        (void)RedisModule_ReplyWithSimpleString(ctx, field.reply_name);
        if (made != NULL)
            made->reply(ctx, question, stat);
        else
            reply_value(ctx, field.type, &value);
    }
}

static void reply_segments(RedisModuleCtx *ctx, const struct question *question,
                           const struct tamis_filter_stat *stat)
{
    const struct value *value = question->value;
    (void)RedisModule_ReplyWithArray(ctx, (long)stat->segment_count);
    for (uint32_t i = 0; i < stat->segment_count; i++) {
        struct tamis_segment_stat segment = {.size = sizeof segment};
        const int rc = question->fill ? tamis_filter_fill(value->stored->filter, i, &segment)
                                      : tamis_filter_segment(value->stored->filter, i, &segment);
        if (rc < 0)
            (void)reply_failure(ctx, TOLD);
        else
            tell_fields(ctx, TAMIS_FIELDS_SEGMENT, &segment, question);
    }
}

/* TAMIS.INFO key [SEGMENTS | FILL] */
int tamis_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    struct question question = {.fill = argc == 3 && arg_is(argv[2], "FILL")};
    RedisModuleKey *key;
    question.segments = question.fill || (argc == 3 && arg_is(argv[2], "SEGMENTS"));
    if (argc != 2 && !question.segments) return RedisModule_WrongArity(ctx);
    question.value = key_open_stored(ctx, argv[1], REDISMODULE_READ, tamis_info, &key);
    if (question.value == NULL) return REDISMODULE_OK;
    if (tamis_filter_stat(question.value->stored->filter, &stat) < 0)
        (void)reply_failure(ctx, "the filter cannot be asked");
    else
        tell_fields(ctx, TAMIS_FIELDS_FILTER, &stat, &question);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- All filters ----------------------------------------------------------------------------- */

enum { TOTALS = 20 };
struct total {
    const char *name;
    uint64_t number;
};

struct sums {
    uint64_t attached, segments, bytes, items, unclean, degraded, broken;
};

static void add_up(const struct stored *stored, struct sums *sums)
{
    const struct known known = stored_known(stored);
    sums->attached += stored->attached;
    sums->broken += stored->is_broken;
    sums->segments += known.segments;
    sums->bytes += known.size_bytes;
    sums->items += known.items;
    sums->unclean += (known.state & TAMIS_STATE_UNCLEAN) != 0;
    sums->degraded += (known.state & TAMIS_STATE_DEGRADED) != 0;
}

static void sum_up(struct total list[TOTALS])
{
    struct sums sums = {0};
    for (const struct stored *s = stored_first(); s != NULL; s = stored_next(s))
        add_up(s, &sums);
    const struct adds_counts adds = adds_count();
    const uint64_t memory =
        value_count(HOME_MEMORY) + value_count(HOME_CUCKOO) + value_count(HOME_VALKEY);
    const struct total all[TOTALS] = {
        {"filters", memory + value_count(HOME_STORE) + value_count(HOME_BROKEN)},
        {"memory_filters", memory},
        {"open_filters", stored_open_count()},
        {"filters_on_the_way", promote_count()},
        {"labels_to_write", labels_waiting()},
        {"attached_filters", sums.attached},
        {"orphans", (uint64_t)orphans_count()},
        {"filters_to_drop", drops_waiting()},
        {"dropped_filters", drops_done()},
        {"segments", sums.segments},
        {"mapped_bytes", sums.bytes},
        {"items", sums.items},
        {"added_keys", counts.added},
        {"new_keys", counts.news},
        {"asked_keys", counts.asked},
        {"durable_batches", adds.batches},
        {"durable_failures", adds.failures},
        {"unclean_filters", sums.unclean},
        {"degraded_filters", sums.degraded},
        {"broken_filters", sums.broken + value_count(HOME_BROKEN)}};
    memcpy(list, all, sizeof all);
}

int tamis_stats(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct total list[TOTALS];
    (void)argv;
    if (argc != 1) return RedisModule_WrongArity(ctx);
    sum_up(list);
    (void)RedisModule_ReplyWithMap(ctx, TOTALS);
    for (size_t i = 0; i < TOTALS; i++)
        tell_number(ctx, list[i].name, list[i].number);
    return REDISMODULE_OK;
}

static void tell_section(RedisModuleInfoCtx *info, int for_crash_report)
{
    struct total list[TOTALS];
    if (for_crash_report) return; /* the library may be what crashed */
    /* The server puts the module's name before the section's and the fields': tamis_filters. */
    if (RedisModule_InfoAddSection(info, "") != REDISMODULE_OK) return;
    (void)RedisModule_InfoAddFieldCString(info, "version", tamis_version());
    (void)RedisModule_InfoAddFieldCString(info, "store", config.store);
    sum_up(list);
    for (size_t i = 0; i < TOTALS; i++)
        (void)RedisModule_InfoAddFieldULongLong(info, list[i].name, list[i].number);
}

int tamis_info_register(RedisModuleCtx *ctx)
{
    return RedisModule_RegisterInfoFunc(ctx, tell_section);
}
