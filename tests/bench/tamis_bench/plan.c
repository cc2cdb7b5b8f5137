/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan.h"

#include <inttypes.h>
#include <stdio.h>

#define RATE 0.01
#define GROWN_RATE 0.001 /* cost by the number of keys, up to a billion in 2.1 GB */
#define SEGMENTS_MAX 12

static struct bench_case base_of(const struct options *o, uint32_t kind, enum key_set set,
                                 uint64_t keys)
{
    return (struct bench_case){.kind = kind,
                               .key_set = set,
                               .capacity = keys,
                               .keys = keys,
                               .fp_rate = kind == TAMIS_KIND_FUSE ? 1.0 / 256 : RATE,
                               .pages = o->pages,
                               .sample_keys = o->sample_keys,
                               .levels = o->levels,
                               .repeats = o->repeats};
}

unsigned plan_kinds(const struct options *o, struct bench_case cases[PLAN_MAX])
{
    static const uint32_t kinds[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM, TAMIS_KIND_COUNTING,
                                     TAMIS_KIND_FUSE};
    unsigned count = 0;
    for (int cached = 0; cached < 2; cached++)
        for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
            for (int set = 0; set < KEY_SETS; set++) {
                const bool first = kinds[kind] == TAMIS_KIND_BLOCKED;
                if (o->quick && !first && (set != KEYS_8_BYTES || cached)) continue;
                uint64_t keys = cached ? o->in_keys : o->out_keys;
                if (o->quick && !first) keys /= 2;
                struct bench_case *c = &cases[count++];
                *c = base_of(o, kinds[kind], (enum key_set)set, keys);
                c->cached = cached;
                c->peers = first;
                c->alone = o->quick;
                if (cached && !o->smoke) c->sample_keys /= 4;
                c->calls[CALL_BATCH] = c->calls[CALL_SINGLE] = true;
                c->teams[TEAM_P1] = c->teams[TEAM_P2] = c->teams[TEAM_T2] = true;
                c->teams[TEAM_C1] = first;
                (void)snprintf(c->prefix, sizeof c->prefix, "%s/%s/%s",
                               tamis_kind_name(kinds[kind]), key_set_names[set],
                               cached ? "in" : "out");
                (void)snprintf(c->title, sizeof c->title, "%s, %s, %s cache",
                               tamis_kind_name(kinds[kind]), key_set_titles[set],
                               cached ? "in" : "out of");
            }
    return count;
}

static struct bench_case *grown(const struct options *o, struct bench_case *c, uint64_t keys,
                                const char *axis, uint64_t value)
{
    *c = base_of(o, TAMIS_KIND_BLOCKED, KEYS_8_BYTES, keys);
    c->calls[CALL_BATCH] = true;
    c->teams[TEAM_P1] = true;
    c->levels = 4;
    if (c->sample_keys > keys / 4) c->sample_keys = keys / 4;
    (void)snprintf(c->prefix, sizeof c->prefix, "growth/%s/%" PRIu64, axis, value);
    (void)snprintf(c->title, sizeof c->title, "growth, %" PRIu64 " %s", value, axis);
    return c;
}

/* How many keys fit into a list of so many segments that begins with one for `first` keys
 * (docs/decisions/0020). */
static uint64_t keys_of_list(uint64_t first, unsigned segments)
{
    uint64_t keys = first, one = first;
    for (unsigned i = 1; i < segments; i++) {
        const uint64_t least = one < 1 << 16 ? 1 << 16 : 1 << 20;
        one = 2 * one < least ? least : 2 * one;
        keys += one;
    }
    return keys;
}

/* The least capacity at first with which so many keys fill no more segments. */
static uint64_t first_of_list(uint64_t keys, unsigned segments)
{
    uint64_t low = 1, high = keys;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (keys_of_list(middle, segments) >= keys)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

unsigned plan_growth(const struct options *o, struct bench_case cases[PLAN_MAX])
{
    unsigned count = 0;
    const uint64_t least = o->smoke ? 3000 : 10000;
    for (uint64_t keys = least; keys <= o->max_keys; keys *= 10)
        for (unsigned step = 1; step <= 3 && keys * step <= o->max_keys; step += 2) {
            struct bench_case *c = grown(o, &cases[count++], keys * step, "keys", keys * step);
            c->fp_rate = GROWN_RATE;
            c->ask_all = true;
        }
    const uint64_t total = o->smoke ? 80000 : o->out_keys * 2 / 5;
    const unsigned most = o->smoke ? 3 : SEGMENTS_MAX;
    for (unsigned segments = 1; segments <= most; segments++) {
        if (segments > 1 && keys_of_list(1, segments - 1) >= total) break;
        struct bench_case *c = grown(o, &cases[count++], total, "segments", segments);
        c->capacity = first_of_list(total + total / 64, segments); /* the last need not be full */
        c->calls[CALL_SINGLE] = true;
    }
    const uint64_t made[] = {1000, o->smoke ? 80000 : 3000000};
    for (size_t i = 0; i < 2; i++) {
        struct bench_case *c = grown(o, &cases[count++], made[1], "made", made[i]);
        c->capacity = made[i];
        c->grows = true;
    }
    struct bench_case *c = grown(o, &cases[count++], o->out_keys, "processes", 4);
    c->teams[TEAM_P2] = c->teams[TEAM_P3] = c->teams[TEAM_P4] = c->teams[TEAM_T2] = true;
    c->levels = o->levels;
    return count;
}

unsigned plan_sizes(const struct options *o, struct bench_case cases[PLAN_MAX])
{
    static const uint32_t sorts[] = {TAMIS_PAGES_SMALL, TAMIS_PAGES_HUGE};
    unsigned count = 0;
    for (uint64_t keys = o->smoke ? 3000 : 10000; keys <= o->max_keys; keys *= 10)
        for (size_t sort = 0; sort < 2; sort++) {
            if (o->pages != TAMIS_PAGES_AUTO && o->pages != sorts[sort]) continue;
            struct bench_case *c = grown(o, &cases[count++], keys, "", keys);
            const char *name = tamis_pages_name(sorts[sort]);
            c->pages = sorts[sort];
            c->life = c->peers = true;
            (void)snprintf(c->prefix, sizeof c->prefix, "sizes/%s/%" PRIu64, name, keys);
            (void)snprintf(c->title, sizeof c->title, "%" PRIu64 " keys, %s pages", keys, name);
        }
    return count;
}
