/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_info.c: TAMIS.INFO, TAMIS.STATS and the section of INFO. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/command.h"
#include "kept/leftovers.h"
#include "registry/registry.h"
#include "server/busy.h"
#include "server/config.h"
#include "value/durable.h"

/* A number that no integer of a reply can hold is told as text. */
static void tell_number(RedisModuleCtx *ctx, const char *name, uint64_t number)
{
    char text[24];
    (void)RedisModule_ReplyWithSimpleString(ctx, name);
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    if (number > INT64_MAX)
        (void)RedisModule_ReplyWithCString(ctx, text);
    else
        (void)RedisModule_ReplyWithLongLong(ctx, (long long)number);
}

static void tell_rate(RedisModuleCtx *ctx, const char *name, double rate)
{
    (void)RedisModule_ReplyWithSimpleString(ctx, name);
    (void)RedisModule_ReplyWithDouble(ctx, rate);
}

static void tell_text(RedisModuleCtx *ctx, const char *name, const char *text)
{
    (void)RedisModule_ReplyWithSimpleString(ctx, name);
    (void)RedisModule_ReplyWithCString(ctx, text);
}

static const char *state_of(uint32_t state)
{
    if (state & TAMIS_STATE_DAMAGED) return "damaged";
    if (state & TAMIS_STATE_DEGRADED) return "degraded";
    if (state & TAMIS_STATE_UNCLEAN) return "unclean";
    if (state & TAMIS_STATE_OVER) return "over";
    return state & TAMIS_STATE_FULL ? "full" : "ok";
}

static void tell_filter(RedisModuleCtx *ctx, const struct value *value,
                        const struct tamis_filter_stat *s)
{
    tell_text(ctx, "filter", value->name);
    tell_text(ctx, "kind", tamis_kind_name(s->kind));
    tell_text(ctx, "hash set", s->hash_set);
    tell_text(ctx, "state", state_of(s->state));
    tell_text(ctx, "when full", tamis_on_full_name(s->on_full));
    tell_number(ctx, "attached", !value_is_ours(value));
    tell_number(ctx, "durable", value->durable);
    tell_number(ctx, "capacity", s->capacity);
    tell_number(ctx, "items", s->items);
    tell_rate(ctx, "rate", s->fp_rate);
    tell_rate(ctx, "rate now", s->predicted_rate);
    tell_rate(ctx, "bits per key", s->bits_per_key);
    tell_number(ctx, "bits", s->m_bits);
    tell_number(ctx, "hashes", s->k);
    tell_number(ctx, "bytes", s->size_bytes);
    tell_number(ctx, "segments", s->segment_count);
    tell_number(ctx, "generation", s->generation);
    tell_number(ctx, "exceptions", s->exceptions);
    tell_number(ctx, "window ns", (uint64_t)s->window_ns);
    tell_number(ctx, "slices", s->slices);
    tell_number(ctx, "created ns", (uint64_t)s->created_at);
    tell_number(ctx, "checkpointed ns", (uint64_t)s->checkpointed_at);
    tell_number(ctx, "unclean since ns", (uint64_t)s->unclean_since);
    tell_number(ctx, "degraded since ns", (uint64_t)s->degraded_since);
    tell_number(ctx, "published ns", (uint64_t)s->published_at);
    tell_number(ctx, "seed", s->seed);
    tell_number(ctx, "states", s->state);
    tell_number(ctx, "window items", s->window_items);
    tell_number(ctx, "live slices", s->live_slices);
    tell_text(ctx, "window from",
              s->slices == 0                       ? ""
              : s->flags & TAMIS_FILTER_FROM_FIRST ? "first"
                                                   : "last");
    tell_number(ctx, "counter bits", s->counter_bits);
    tell_number(ctx, "fingerprint bits", s->fingerprint_bits);
    tell_number(ctx, "keep", s->keep);
}

enum { SEGMENT_FIELDS = 26 };

static void tell_segment(RedisModuleCtx *ctx, const struct tamis_segment_stat *s)
{
    (void)RedisModule_ReplyWithMap(ctx, SEGMENT_FIELDS);
    tell_text(ctx, "hash set", s->hash_set);
    tell_number(ctx, "number", s->number);
    tell_text(ctx, "kind", tamis_kind_name(s->kind));
    tell_number(ctx, "hashes", s->k);
    tell_number(ctx, "words", s->words);
    tell_number(ctx, "bit order", s->bit_order);
    tell_number(ctx, "bits", s->m_bits);
    tell_number(ctx, "seed", s->seed);
    tell_number(ctx, "capacity", s->capacity);
    tell_rate(ctx, "rate", s->fp_rate);
    tell_number(ctx, "items", s->items);
    tell_number(ctx, "bytes", s->file_bytes);
    tell_number(ctx, "data offset", s->data_offset);
    tell_number(ctx, "data bytes", s->data_bytes);
    tell_number(ctx, "created ns", (uint64_t)s->created_at);
    tell_number(ctx, "ones", s->ones);
    tell_rate(ctx, "fill", s->fill);
    tell_rate(ctx, "rate by fill", s->fp_rate_now);
    tell_number(ctx, "flags", s->flags);
    tell_number(ctx, "slice", s->slice);
    tell_number(ctx, "slice start ns", (uint64_t)s->slice_start);
    tell_number(ctx, "counter bits", s->counter_bits);
    tell_number(ctx, "step", s->step);
    tell_number(ctx, "pieces", s->pieces);
    tell_number(ctx, "items by fill", s->items_estimated);
    tell_number(ctx, "fingerprint bits", s->fingerprint_bits);
}

/* With FILL the set bits are counted, which reads all of the filter. */
static void tell_segments(RedisModuleCtx *ctx, const struct value *value, uint32_t count, bool fill)
{
    (void)RedisModule_ReplyWithSimpleString(ctx, "segment list");
    (void)RedisModule_ReplyWithArray(ctx, (long)count);
    for (uint32_t i = 0; i < count; i++) {
        struct tamis_segment_stat segment = {.size = sizeof segment};
        const int rc = fill ? tamis_filter_fill(value->filter, i, &segment)
                            : tamis_filter_segment(value->filter, i, &segment);
        if (rc < 0)
            (void)reply_failure(ctx, TOLD);
        else
            tell_segment(ctx, &segment);
    }
}

/* TAMIS.INFO key [SEGMENTS | FILL] */
int tamis_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    enum { FIELDS = 33 };
    struct tamis_filter_stat stat = {.size = sizeof stat};
    RedisModuleKey *key;
    const bool fill = argc == 3 && arg_is(argv[2], "FILL");
    const bool segments = fill || (argc == 3 && arg_is(argv[2], "SEGMENTS"));
    if (argc != 2 && !segments) return RedisModule_WrongArity(ctx);
    const struct value *value = key_open(ctx, argv[1], TYPE_ANY, REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    if (tamis_filter_stat(value->filter, &stat) < 0) {
        (void)reply_failure(ctx, "the filter cannot be asked");
    } else {
        (void)RedisModule_ReplyWithMap(ctx, FIELDS + segments);
        tell_filter(ctx, value, &stat);
        if (segments) tell_segments(ctx, value, stat.segment_count, fill);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- All filters ----------------------------------------------------------------------------- */

struct totals {
    uint64_t filters, attached, segments, bytes, items, unclean, degraded, orphans;
};

static void total_one(void *context, const struct value *value)
{
    struct totals *totals = context;
    struct tamis_filter_stat stat = {.size = sizeof stat};
    totals->filters++;
    totals->attached += !value_is_ours(value);
    if (busy_is_stuck() || tamis_filter_stat(value->filter, &stat) < 0) return;
    totals->segments += stat.segment_count;
    totals->bytes += stat.size_bytes;
    totals->items += stat.items;
    totals->unclean += (stat.state & TAMIS_STATE_UNCLEAN) != 0;
    totals->degraded += (stat.state & TAMIS_STATE_DEGRADED) != 0;
}

static void count_orphan(void *context, const char *name, const char *was)
{
    (void)name;
    (void)was;
    ++*(uint64_t *)context;
}

enum { TOTALS = 13 };
struct total {
    const char *name;
    uint64_t number;
};

static void sum_up(struct total list[TOTALS])
{
    const struct durable_counts durable = durable_count();
    struct totals t = {0};
    registry_each(total_one, &t);
    orphans_each(count_orphan, &t.orphans);
    const struct total all[TOTALS] = {{"filters", t.filters},
                                      {"attached_filters", t.attached},
                                      {"orphans", t.orphans},
                                      {"segments", t.segments},
                                      {"mapped_bytes", t.bytes},
                                      {"items", t.items},
                                      {"added_keys", counts.added},
                                      {"new_keys", counts.news},
                                      {"asked_keys", counts.asked},
                                      {"durable_batches", durable.batches},
                                      {"durable_failures", durable.failures},
                                      {"unclean_filters", t.unclean},
                                      {"degraded_filters", t.degraded}};
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
    return RedisModule_RegisterInfoFunc == NULL ? REDISMODULE_OK
                                                : RedisModule_RegisterInfoFunc(ctx, tell_section);
}
