/* SPDX-License-Identifier: BSD-2-Clause */
/* requirements.c: in the least of each figure, which chance has moved the least. */
#include "requirements.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "figures.h"

struct list {
    struct requirement *all;
    unsigned count;
};

/* At most `wanted` ns, which is `factor` times the limit and `more`. */
static void at_most(struct list *list, const char *what, double measured, double limit,
                    double factor, double more, const char *rule)
{
    if (measured <= 0 || limit <= 0 || list->count == REQUIREMENTS_MAX) return;
    struct requirement *r = &list->all[list->count++];
    *r = (struct requirement){.unit = "ns",
                              .measured = measured,
                              .limit = limit,
                              .wanted = factor * limit + more,
                              .holds = measured <= factor * limit + more};
    (void)snprintf(r->what, sizeof r->what, "%s", what);
    (void)snprintf(r->rule, sizeof r->rule, "%s", rule);
}

/* `fast` is at least `wanted` times as fast as `slow`, both in ns. */
static void times(struct list *list, const char *what, double slow, double fast, double wanted)
{
    if (slow <= 0 || fast <= 0 || list->count == REQUIREMENTS_MAX) return;
    struct requirement *r = &list->all[list->count++];
    *r = (struct requirement){
        .unit = "times", .measured = slow / fast, .wanted = wanted, .holds = slow / fast >= wanted};
    (void)snprintf(r->what, sizeof r->what, "%s", what);
}

static const char *text_of(char out[96], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *text_of(char out[96], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(out, 96, format, arguments);
    va_end(arguments);
    return out;
}

/* By the team p1, with what the processor has, or by c1, in portable C. */
static void hold_blocked(struct list *list, const char *team)
{
    static const struct {
        const char *operation, *limit, *name;
        double factor;
    } rows[] = {{"hit", "line", "a line read", 1.5},
                {"miss", "line", "a line read", 1.5},
                {"re-add", "line", "a line read", 1.7},
                {"add", "two-ors", "two locked ORs on a line", 1.15}};
    char what[96], rule[96];
    for (size_t set = 0; set < 2; set++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            const char *keys = set == 0 ? "8" : "url";
            const double hash = figure_ns("blocked/%s/out/limit/hash/p1", keys);
            const double limit = figure_ns("blocked/%s/out/limit/%s/p1", keys, rows[i].limit);
            const double ns =
                figure_ns("blocked/%s/out/batch/%s/%s", keys, rows[i].operation, team);
            (void)text_of(what, "blocked, batch, out of cache, %s, %s%s",
                          set == 0 ? "8 bytes" : "URLs", rows[i].operation,
                          team[0] == 'c' ? ", portable C" : "");
            (void)text_of(rule, "%g x %s%s", rows[i].factor, rows[i].name,
                          set == 0 ? "" : " + hashing");
            at_most(list, what, ns, limit, rows[i].factor, set == 0 ? 0 : hash, rule);
        }
}

static void hold_in_cache(struct list *list)
{
    static const char *const operations[] = {"hit", "miss"};
    char what[96];
    for (int single = 0; single < 2; single++)
        for (size_t set = 0; set < 2; set++)
            for (size_t i = 0; i < 2; i++) {
                const char *keys = set == 0 ? "8" : "url";
                const char *call = single ? "single" : "batch";
                const double hash = figure_ns("blocked/%s/in/limit/hash/p1", keys);
                const double ns = figure_ns("blocked/%s/in/%s/%s/p1", keys, call, operations[i]);
                (void)text_of(what, "blocked, %s, in cache, %s, %s", call,
                              set == 0 ? "8 bytes" : "URLs", operations[i]);
                const double more = !single ? 4 : set == 0 ? 10 : 12;
                char rule[96];
                at_most(list, what, ns, hash, 1, more, text_of(rule, "hashing + %g ns", more));
            }
}

static void hold_peer(struct list *list)
{
    static const char *const operations[] = {"hit", "miss", "add"};
    char what[96];
    for (size_t set = 0; set < 2; set++)
        for (size_t i = 0; i < 3; i++) {
            const char *keys = set == 0 ? "8" : "url";
            (void)text_of(what, "libbloom / blocked, out of cache, %s, %s",
                          set == 0 ? "8 bytes" : "URLs", operations[i]);
            times(list, what, figure_ns("blocked/%s/out/libbloom/%s/p1", keys, operations[i]),
                  figure_ns("blocked/%s/out/batch/%s/p1", keys, operations[i]), i == 2 ? 8 : 15);
        }
}

static void hold_others(struct list *list)
{
    static const char *const queries[] = {"hit", "miss"};
    char what[96];
    for (size_t i = 0; i < 2; i++) {
        (void)text_of(what, "fuse, batch, out of cache, 8 bytes, %s", queries[i]);
        at_most(list, what, figure_ns("fuse/8/out/batch/%s/p1", queries[i]),
                figure_ns("fuse/8/out/limit/line/p1"), 3.5, 0, "3.5 x a line read");
    }
    for (size_t i = 0; i < 2; i++) {
        (void)text_of(what, "bloom, k = 7, batch, out of cache, 8 bytes, %s", queries[i]);
        at_most(list, what, figure_ns("bloom/8/out/batch/%s/p1", queries[i]),
                figure_ns("bloom/8/out/limit/line/p1"), 7, 0, "7 x a line read");
    }
    at_most(list, "bloom, k = 7, batch, out of cache, 8 bytes, add",
            figure_ns("bloom/8/out/batch/add/p1"), figure_ns("bloom/8/out/limit/or/p1"), 7, 0,
            "7 x a locked OR");
}

/* A key of k = 6 has two words of counters, in two lines. */
static void hold_counting(struct list *list)
{
    static const char *const operations[] = {"hit", "miss", "add", "re-add"};
    char what[96];
    for (size_t i = 0; i < 4; i++) {
        const bool query = i < 2;
        (void)text_of(what, "counting, batch, out of cache, 8 bytes, %s", operations[i]);
        at_most(list, what, figure_ns("counting/8/out/batch/%s/p1", operations[i]),
                figure_ns("counting/8/out/limit/%s/p1", query ? "line" : "two-ors"),
                query ? 2.5 : 3 * 1.3, 0,
                query ? "2.5 x a line read" : "1.3 x 6 locked ORs, two on a line");
    }
}

static void hold_two(struct list *list)
{
    static const char *const operations[] = {"hit", "miss", "add"};
    static const char *const teams[] = {"p2", "t2"};
    char what[96];
    for (size_t team = 0; team < 2; team++)
        for (size_t i = 0; i < 3; i++) {
            (void)text_of(what, "blocked, batch, out of cache, two %s / one, %s",
                          team == 0 ? "processes" : "threads", operations[i]);
            times(list, what, figure_ns("blocked/8/out/batch/%s/p1", operations[i]),
                  figure_ns("blocked/8/out/batch/%s/%s", operations[i], teams[team]), 1.8);
        }
}

/* What is asked of large filters, in pages of 2 MiB (issue 31). */
static void hold_sizes(struct list *list)
{
    static const char *const queries[] = {"hit", "miss"};
    static const uint64_t sizes[] = {1000000000, 10000000000};
    char what[96];
    for (size_t i = 0; i < 4; i++) {
        const uint64_t keys = sizes[i / 2];
        (void)text_of(what, "%" PRIu64 " keys, huge pages, %s", keys, queries[i % 2]);
        at_most(list, what, figure_ns("sizes/huge/%" PRIu64 "/batch/%s/p1", keys, queries[i % 2]),
                figure_ns("sizes/huge/%" PRIu64 "/limit/line/p1", keys), 1.5, 0,
                "1.5 x a line read");
    }
    for (size_t i = 0; i < 2; i++) {
        (void)text_of(what, "%" PRIu64 " keys, huge pages, add", sizes[i]);
        at_most(list, what, figure_ns("sizes/huge/%" PRIu64 "/batch/add/p1", sizes[i]),
                figure_ns("sizes/huge/%" PRIu64 "/limit/two-ors/p1", sizes[i]), 1.3, 0,
                "1.3 x two locked ORs on a line");
    }
}

static void hold_boost(struct list *list)
{
    static const struct {
        const char *name, *prefix;
        double hit;
    } rows[] = {{"out of cache", "blocked/8/out", 0.95},
                {"100 million keys, small pages", "sizes/small/100000000", 0.95},
                {"100 million keys, huge pages", "sizes/huge/100000000", 0.95},
                {"1,000 million keys, huge pages", "sizes/huge/1000000000", 0.6}};
    static const char *const queries[] = {"hit", "miss"};
    char what[96], rule[96];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t q = 0; q < 2; q++) {
            (void)text_of(what, "%s, %s beside Boost.Bloom", rows[i].name, queries[q]);
            at_most(list, what, figure_ns("%s/batch/%s/p1", rows[i].prefix, queries[q]),
                    figure_ns("%s/boost/%s/p1", rows[i].prefix, queries[q]), rows[i].hit, 0,
                    text_of(rule, "%g x Boost.Bloom's bulk query", rows[i].hit));
        }
        if (i == 0) continue; /* hold_blocked() has it */
        (void)text_of(what, "%s, add", rows[i].name);
        at_most(list, what, figure_ns("%s/batch/add/p1", rows[i].prefix),
                figure_ns("%s/limit/two-ors/p1", rows[i].prefix), 1.15, 0,
                "1.15 x two locked ORs on a line");
    }
}

unsigned requirements_hold(struct requirement all[REQUIREMENTS_MAX])
{
    struct list list = {.all = all};
    hold_blocked(&list, "p1");
    hold_blocked(&list, "c1");
    hold_in_cache(&list);
    hold_peer(&list);
    hold_others(&list);
    hold_counting(&list);
    hold_two(&list);
    hold_sizes(&list);
    hold_boost(&list);
    return list.count;
}
