/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * growth_model.c: an exhaustive model of adding to a list of segments that goes on meanwhile.
 *
 * THE PROTOCOL (docs/concurrency.md, "The list goes on").  An adder has a list that it believes to
 * end in its newest segment.
 *
 *     ask the segments before the newest: one has the key: SEEN
 *     add to the newest by the last-missing-word rule, which last_word_model.c is about: not won:
 *     SEEN won: fence; is its `next` 0: NEW
 *     else: follow `next` to the end of the list, a fence after each; ask the segments between the
 *     one that was won and the newest; add to the newest ...
 *
 * `next` is set behind the catalog's commit; where that one died in between, by whoever opens a
 * handle.
 *
 * Tried are up to three adders of one key, of which some open their handles in the middle of it;
 * one or two growths, which begin at any time; deaths of adders and growers anywhere (a dead
 * grower's lock is free); other keys that fill words of ours.  Every run is tried, in memory where
 * nothing is old, and in one where loads may be stale.
 *
 * Expected is at most one NEW; exactly one where no adder dies and no other key interferes; that
 * whoever answers does so with the key in the list; and that no adder waits for anybody (an opener:
 * for a living grower that has the lock).  The controls take a step out and must find two that are
 * told NEW.
 *
 * Usage: growth_model [--deep]        --deep: larger sizes too, some minutes
 * Exit status: 0 all is as expected, 1 something is not, 2 usage or no memory.
 */
#include "growth.h"

#include <stdio.h>

#include "states.h"

static int failures;
static bool deep;

static void heading(const char *part)
{
    printf("\n%s\n\n%-6s %6s %7s %8s %5s  %-12s %-5s %-22s %10s %3s %3s\n", part, "memory",
           "adders", "openers", "segments", "words", "deaths", "third", "left out", "states", "min",
           "max");
}

static const char *left_out(const struct growth *growth)
{
    if (growth->no_look) return "the look behind";
    if (growth->no_win_fence && growth->no_list_fence) return "both fences";
    if (growth->no_win_fence) return "fence after a win";
    if (growth->no_list_fence) return "fence of a longer list";
    if (growth->no_link) return "linking by openers";
    return "-";
}

static void print_row(const struct growth *growth, const struct growth_tally *tally)
{
    char deaths[24] = "-";
    if (growth->kills > 0)
        (void)snprintf(deaths, sizeof deaths, "%d%s", growth->kills,
                       growth->growers_only ? " grower" : "");
    printf("%-6s %6d %7d %8d %5d  %-12s %-5s %-22s %10llu %3d %3d\n",
           growth->stale ? "stale" : "newest", growth->adders, growth->openers, growth->segments,
           growth->words, deaths, growth->third ? "yes" : "-", left_out(growth),
           (unsigned long long)tally->states, tally->new_min, tally->new_max);
    (void)fflush(stdout);
}

static void show_run(const struct growth_tally *tally)
{
    enum { STEPS_A_LINE = 3 };
    for (int i = 0; i < tally->steps; i++) {
        const struct growth_step *s = &tally->example[i];
        printf("%s%c %s", i % STEPS_A_LINE == 0 ? "      " : "; ", s->who ? s->who : '-', s->what);
        if (s->segment > 0) printf(" [segment %d", s->segment);
        if (s->segment > 0) printf(s->word > 0 ? ", word %d]" : "]", s->word);
        if (i % STEPS_A_LINE == STEPS_A_LINE - 1 || i + 1 == tally->steps) printf("\n");
    }
}

static void complain(const char *what)
{
    printf("      FAILED: %s\n", what);
    failures++;
}

static struct growth_tally run(const struct growth *growth)
{
    struct growth_tally tally = {.new_min = ADDERS_MAX + 1, .new_max = -1};
    struct growth setting = *growth;
    const unsigned starts = growth->third ? 1 : (1u << growth->words) - 1;
    for (setting.start = 0; setting.start < starts; setting.start++)
        growth_explore(&setting, &tally);
    print_row(growth, &tally);
    if (tally.broken != NULL) complain(tally.broken);
    return tally;
}

static void check(const struct growth *growth, int new_min, int new_max)
{
    const struct growth_tally tally = run(growth);
    char what[64];
    if (new_max > 1) show_run(&tally);
    if (tally.new_min == new_min && tally.new_max == new_max) return;
    (void)snprintf(what, sizeof what, "expected min %d, max %d", new_min, new_max);
    complain(what);
}

/* ---- The parts ---------------------------------------------------------------------------- */

/* Without deaths, with those of growers, and with any. */
static void check_promise(struct growth growth)
{
    const int least = growth.third ? 0 : 1;
    check(&growth, least, 1);
    growth.kills = 2;
    growth.growers_only = true;
    check(&growth, least, 1);
    growth.growers_only = false;
    check(&growth, 0, 1);
}

static void part_promise(bool stale)
{
    heading(stale ? "The promise, where loads may be stale"
                  : "The promise, where no load is stale");
    for (int third = 0; third < 2; third++)
        for (int size = 5; size <= (deep ? 8 : 7) - third; size++)
            for (int segments = 2; segments <= SEGMENTS_MAX; segments++)
                for (int adders = 2; adders <= ADDERS_MAX; adders++)
                    for (int openers = 0; openers <= adders; openers++) {
                        const struct growth growth = {.adders = adders,
                                                      .openers = openers,
                                                      .segments = segments,
                                                      .words = size - segments - adders,
                                                      .third = third == 1,
                                                      .stale = stale};
                        if (growth.words < 1 || growth.words > KEY_WORDS_MAX) continue;
                        check_promise(growth);
                    }
}

#define SIZE(ADDERS, OPENERS, SEGMENTS, WORDS)                                                     \
    .adders = (ADDERS), .openers = (OPENERS), .segments = (SEGMENTS), .words = (WORDS)

static void part_controls(void)
{
    static const struct growth rows[] = {
        {SIZE(2, 0, 2, 1), .no_look = true},
        {SIZE(3, 0, 2, 2), .no_look = true},
        {SIZE(2, 1, 2, 1), .kills = 1, .growers_only = true, .no_link = true},
        {SIZE(2, 0, 2, 1), .stale = true, .no_win_fence = true},
        {SIZE(2, 0, 2, 1), .stale = true, .no_list_fence = true},
        {SIZE(3, 1, 2, 2), .stale = true, .no_win_fence = true},
        {SIZE(3, 1, 2, 2), .stale = true, .no_list_fence = true},
    };
    heading("Controls: what the protocol must not leave out, seen to fail");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i], 1, 2);
    const struct growth strong = {SIZE(2, 0, 2, 1), .no_win_fence = true, .no_list_fence = true};
    check(&strong, 1, 1); /* fences are for memory that is stale */
    const struct growth three = {SIZE(3, 0, 3, 1), .no_look = true};
    check(&three, 1, 3);
}

int main(int argc, char **argv)
{
    deep = model_is_deep(argc, argv);
    printf("openers   so many of the adders open their handle in the middle of it\n"
           "states    distinct states\n"
           "min, max  fewest and most adders told NEW in any run\n"
           "A to C    adders, X and Y growers, in the runs shown\n");
    part_promise(false);
    part_promise(true);
    part_controls();
    return model_end(failures == 0);
}
