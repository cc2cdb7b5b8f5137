/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_info.c: TAMIS.INFO, TAMIS.STATS and the section of INFO. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "busy.h"
#include "command.h"
#include "config.h"
#include "durable.h"
#include "keeper.h"

/* A reply with names, of which the number is known at the end. */
struct report {
    RedisModuleCtx *ctx;
    long fields;
};

/* A number that no integer of a reply can hold is told as text. */
static void tell_number(struct report *report, const char *name, uint64_t number)
{
    char text[24];
    (void)RedisModule_ReplyWithSimpleString(report->ctx, name);
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    if (number > INT64_MAX)
        (void)RedisModule_ReplyWithCString(report->ctx, text);
    else
        (void)RedisModule_ReplyWithLongLong(report->ctx, (long long)number);
    report->fields++;
}

static void tell_rate(struct report *report, const char *name, double rate)
{
    (void)RedisModule_ReplyWithSimpleString(report->ctx, name);
    (void)RedisModule_ReplyWithDouble(report->ctx, rate);
    report->fields++;
}

static void tell_text(struct report *report, const char *name, const char *text)
{
    (void)RedisModule_ReplyWithSimpleString(report->ctx, name);
    (void)RedisModule_ReplyWithCString(report->ctx, text);
    report->fields++;
}

static const char *state_of(uint32_t state)
{
    if (state & TAMIS_STATE_DAMAGED) return "damaged";
    if (state & TAMIS_STATE_DEGRADED) return "degraded";
    if (state & TAMIS_STATE_UNCLEAN) return "unclean";
    if (state & TAMIS_STATE_OVER) return "over";
    return state & TAMIS_STATE_FULL ? "full" : "ok";
}

static void tell_filter(struct report *r, const struct value *value,
                        const struct tamis_filter_stat *s)
{
    tell_text(r, "filter", value->name);
    tell_text(r, "kind", tamis_kind_name(s->kind));
    tell_text(r, "hash set", s->hash_set);
    tell_text(r, "state", state_of(s->state));
    tell_text(r, "when full", tamis_on_full_name(s->on_full));
    tell_number(r, "attached", value->attached);
    tell_number(r, "durable", value->durable);
    tell_number(r, "capacity", s->capacity);
    tell_number(r, "items", s->items);
    tell_rate(r, "rate", s->fp_rate);
    tell_rate(r, "rate now", s->predicted_rate);
    tell_rate(r, "bits per key", s->bits_per_key);
    tell_number(r, "bits", s->m_bits);
    tell_number(r, "hashes", s->k);
    tell_number(r, "bytes", s->size_bytes);
    tell_number(r, "segments", s->segment_count);
    tell_number(r, "generation", s->generation);
    tell_number(r, "exceptions", s->exceptions);
    tell_number(r, "window ns", (uint64_t)s->window_ns);
    tell_number(r, "slices", s->slices);
    tell_number(r, "created ns", (uint64_t)s->created_at);
    tell_number(r, "checkpointed ns", (uint64_t)s->checkpointed_at);
    tell_number(r, "unclean since ns", (uint64_t)s->unclean_since);
    tell_number(r, "degraded since ns", (uint64_t)s->degraded_since);
    tell_number(r, "published ns", (uint64_t)s->published_at);
    tell_number(r, "seed", s->seed);
    tell_number(r, "states", s->state);
    tell_number(r, "window items", s->window_items);
    tell_number(r, "live slices", s->live_slices);
    tell_number(r, "counter bits", s->counter_bits);
    tell_number(r, "fingerprint bits", s->fingerprint_bits);
    tell_number(r, "keep", s->keep);
}

enum { SEGMENT_FIELDS = 26 };

static void tell_segment(struct report *r, const struct tamis_segment_stat *s)
{
    (void)RedisModule_ReplyWithMap(r->ctx, SEGMENT_FIELDS);
    tell_text(r, "hash set", s->hash_set);
    tell_number(r, "number", s->number);
    tell_text(r, "kind", tamis_kind_name(s->kind));
    tell_number(r, "hashes", s->k);
    tell_number(r, "words", s->words);
    tell_number(r, "bit order", s->bit_order);
    tell_number(r, "bits", s->m_bits);
    tell_number(r, "seed", s->seed);
    tell_number(r, "capacity", s->capacity);
    tell_rate(r, "rate", s->fp_rate);
    tell_number(r, "items", s->items);
    tell_number(r, "bytes", s->file_bytes);
    tell_number(r, "data offset", s->data_offset);
    tell_number(r, "data bytes", s->data_bytes);
    tell_number(r, "created ns", (uint64_t)s->created_at);
    tell_number(r, "ones", s->ones);
    tell_rate(r, "fill", s->fill);
    tell_rate(r, "rate by fill", s->fp_rate_now);
    tell_number(r, "flags", s->flags);
    tell_number(r, "slice", s->slice);
    tell_number(r, "slice start ns", (uint64_t)s->slice_start);
    tell_number(r, "counter bits", s->counter_bits);
    tell_number(r, "step", s->step);
    tell_number(r, "pieces", s->pieces);
    tell_number(r, "items by fill", s->items_estimated);
    tell_number(r, "fingerprint bits", s->fingerprint_bits);
}

/* With FILL the set bits are counted, which reads all of the filter. */
static void tell_segments(struct report *r, const struct value *value, uint32_t count, bool fill)
{
    (void)RedisModule_ReplyWithSimpleString(r->ctx, "segment list");
    (void)RedisModule_ReplyWithArray(r->ctx, (long)count);
    for (uint32_t i = 0; i < count; i++) {
        struct tamis_segment_stat segment = {.size = sizeof segment};
        const int rc = fill ? tamis_filter_fill(value->filter, i, &segment)
                            : tamis_filter_segment(value->filter, i, &segment);
        if (rc < 0)
            (void)reply_failure(r->ctx, TOLD);
        else
            tell_segment(r, &segment);
    }
}

/* TAMIS.INFO key [SEGMENTS | FILL] */
int tamis_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    enum { FIELDS = 32 };
    struct tamis_filter_stat stat = {.size = sizeof stat};
    struct report report = {.ctx = ctx};
    RedisModuleKey *key;
    const bool fill = argc == 3 && arg_is(argv[2], "FILL");
    const bool segments = fill || (argc == 3 && arg_is(argv[2], "SEGMENTS"));
    if (argc != 2 && !segments) return RedisModule_WrongArity(ctx);
    const struct value *value = key_open_any(ctx, argv[1], REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    if (tamis_filter_stat(value->filter, &stat) < 0) {
        (void)reply_failure(ctx, "the filter cannot be asked");
    } else {
        (void)RedisModule_ReplyWithMap(ctx, FIELDS + segments);
        tell_filter(&report, value, &stat);
        if (segments) tell_segments(&report, value, stat.segment_count, fill);
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
    totals->attached += value->attached;
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

static void total(struct total list[TOTALS])
{
    const struct durable_counts durable = durable_count();
    struct totals t = {0};
    keeper_each(total_one, &t);
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
    struct report report = {.ctx = ctx};
    struct total list[TOTALS];
    (void)argv;
    if (argc != 1) return RedisModule_WrongArity(ctx);
    total(list);
    (void)RedisModule_ReplyWithMap(ctx, TOTALS);
    for (size_t i = 0; i < TOTALS; i++)
        tell_number(&report, list[i].name, list[i].number);
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
    total(list);
    for (size_t i = 0; i < TOTALS; i++)
        (void)RedisModule_InfoAddFieldULongLong(info, list[i].name, list[i].number);
}

int tamis_info_register(RedisModuleCtx *ctx)
{
    return RedisModule_RegisterInfoFunc == NULL ? REDISMODULE_OK
                                                : RedisModule_RegisterInfoFunc(ctx, tell_section);
}
