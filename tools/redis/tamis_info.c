/* SPDX-License-Identifier: BSD-2-Clause */
/* tamis_info.c: TAMIS.INFO, TAMIS.STATS and the section of INFO. */
#include <string.h>

#include "command.h"
#include "config.h"
#include "keeper.h"

/* A reply with names, of which the number is known at the end. */
struct report {
    RedisModuleCtx *ctx;
    long fields;
};

static void tell_number(struct report *report, const char *name, uint64_t number)
{
    (void)RedisModule_ReplyWithSimpleString(report->ctx, name);
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
}

/* The number of fields is counted by what is told, so it comes last: an array, as RESP2 has maps.
 */
int tamis_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    enum { FIELDS = 22 };
    struct tamis_filter_stat stat = {.size = sizeof stat};
    struct report report = {.ctx = ctx};
    struct value *value;
    int rc = 0;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const enum held held = key_held(key, TYPE_BLOOM, &value);
    if (held == HELD_VALUE) rc = tamis_filter_stat(value->filter, &stat);
    if (held != HELD_VALUE) {
        (void)RedisModule_ReplyWithError(ctx, held == HELD_NONE ? NOT_FOUND : WRONG_TYPE);
    } else if (rc < 0) {
        (void)reply_failure(ctx, "the filter cannot be asked");
    } else {
        (void)RedisModule_ReplyWithMap(ctx, FIELDS);
        tell_filter(&report, value, &stat);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- All filters ----------------------------------------------------------------------------- */

struct totals {
    uint64_t filters, attached, bytes, items, unclean, degraded, orphans;
};

static void total_one(void *context, const struct value *value)
{
    struct totals *totals = context;
    struct tamis_filter_stat stat = {.size = sizeof stat};
    totals->filters++;
    totals->attached += value->attached;
    if (tamis_filter_stat(value->filter, &stat) < 0) return;
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

enum { TOTALS = 10 };
struct total {
    const char *name;
    uint64_t number;
};

static void total(struct total list[TOTALS])
{
    struct totals t = {0};
    keeper_each(total_one, &t);
    orphans_each(count_orphan, &t.orphans);
    const struct total all[TOTALS] = {{"filters", t.filters},
                                      {"attached_filters", t.attached},
                                      {"orphans", t.orphans},
                                      {"mapped_bytes", t.bytes},
                                      {"items", t.items},
                                      {"added_keys", counts.added},
                                      {"new_keys", counts.news},
                                      {"asked_keys", counts.asked},
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
