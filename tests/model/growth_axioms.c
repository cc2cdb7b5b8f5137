/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * growth_axioms.c: every execution of adders on a list of two segments that the axioms of C11
 * permit.
 *
 * As in axioms.c nothing is executed.  An adder's *path* is what it does by what it reads; `draw`
 * makes all of them.  Paths of all adders together, one each, are the events of a graph; for each
 * place (a word, reduced to one bit, or `next`) its ORs are put in an order (mo), of which the
 * first alone changes it, and each load that found it set is given one of them to read (rf).
 * Allowed are graphs where
 *
 *     hb   the closure of program order and of release OR -> acquire load of it, or of a later one,
 *          has no cycle and never goes from a greater rank to a smaller (ranks: axioms.c)
 *     psc  of fences X and Y, X before Y where hb leads from X to Y, or from X by hb to an event,
 *          on by one or more steps of increasing rank at its place (eco), and by hb to Y: has no
 *          cycle
 *
 * That is RC11 (Lahav et al. 2017) and C++20, and what full fences of machines do.  The one who
 * sets `next` does so by a seq_cst operation; here it is a release only, which permits more.
 *
 * `sequenced` is the text of C11 to the letter (7.17.3): there a fence orders what stands before
 * and behind it in its own thread, where the former is a write, and nothing that its thread has
 * only read; and the one who sets `next` is in the order of the fences.
 *
 * Only graphs in which not exactly one is told NEW are looked at: there must be none.
 */
#include <string.h>

#include "growth.h"
#include "model.h"

enum {
    PATH_EVENTS = 16,
    PATHS_MAX = 256,
    EVENTS_ALL = 64, /* a set of events is a 64-bit mask */
    PLACES = 2 * KEY_WORDS_MAX + 1,
    NEXT = 2 * KEY_WORDS_MAX,
};

enum what { READ_0, READ_1, OR_SETS, OR_KEEPS, FENCE };

struct path_event {
    uint8_t what, place;
};

struct path {
    struct path_event event[PATH_EVENTS];
    int events;
    bool is_new;
};

struct paths {
    const struct growth *growth;
    struct path all[PATHS_MAX];
    int count;
};

struct event {
    uint8_t what, place, rank;
};

struct graph {
    const struct growth *growth;
    struct growth_tally *tally;
    int told;
    int events;
    struct event event[EVENTS_ALL];
    uint64_t po[EVENTS_ALL]; /* bit y of po[x]: x comes before y in one adder */
    uint64_t hb[EVENTS_ALL];
};

static uint64_t bit(int event)
{
    return UINT64_C(1) << event;
}

/* ---- Paths -------------------------------------------------------------------------------- */

static struct path then(const struct path *path, enum what what, int place)
{
    struct path next = *path;
    if (next.events < PATH_EVENTS)
        next.event[next.events++] = (struct path_event){(uint8_t)what, (uint8_t)place};
    return next;
}

static void draw_end(struct paths *paths, const struct path *path, bool is_new)
{
    if (paths->count == PATHS_MAX) return; /* growth_enumerate complains */
    paths->all[paths->count] = *path;
    paths->all[paths->count++].is_new = is_new;
}

static void draw_add(struct paths *paths, const struct path *path, int segment);

/* A longer list than before: a fence, and unless it was won there the first segment is asked. */
static void draw_second(struct paths *paths, const struct path *path, bool ask)
{
    const struct path fenced = paths->growth->no_list_fence ? *path : then(path, FENCE, NEXT);
    struct path so_far = fenced;
    for (int word = 0; ask && word < paths->growth->words; word++) {
        const struct path missing = then(&so_far, READ_0, word);
        draw_add(paths, &missing, 1);
        so_far = then(&so_far, READ_1, word);
    }
    if (ask)
        draw_end(paths, &so_far, false);
    else
        draw_add(paths, &so_far, 1);
}

static void draw_won(struct paths *paths, const struct path *path, int segment)
{
    const struct growth *growth = paths->growth;
    if (segment == 1 || growth->no_look) {
        draw_end(paths, path, true);
        return;
    }
    const struct path fenced = growth->no_win_fence ? *path : then(path, FENCE, NEXT);
    const struct path alone = then(&fenced, READ_0, NEXT), left = then(&fenced, READ_1, NEXT);
    draw_end(paths, &alone, true);
    draw_second(paths, &left, false);
}

static void draw_ors(struct paths *paths, const struct path *path, int segment, unsigned missing)
{
    const int word = missing & 1 ? 0 : 1;
    const unsigned left = missing & ~(1u << word);
    for (int sets = 0; sets < 2; sets++) {
        const struct path next =
            then(path, sets ? OR_SETS : OR_KEEPS, segment * KEY_WORDS_MAX + word);
        if (left)
            draw_ors(paths, &next, segment, left);
        else if (sets)
            draw_won(paths, &next, segment);
        else
            draw_end(paths, &next, false);
    }
}

static void draw_add(struct paths *paths, const struct path *path, int segment)
{
    const int words = paths->growth->words;
    for (unsigned missing = 0; missing < 1u << words; missing++) {
        struct path next = *path;
        for (int word = 0; word < words; word++)
            next =
                then(&next, missing >> word & 1 ? READ_0 : READ_1, segment * KEY_WORDS_MAX + word);
        if (missing)
            draw_ors(paths, &next, segment, missing);
        else
            draw_end(paths, &next, false);
    }
}

/* One with a handle on the first segment; or one who opens, behind the commit of a grower that
 * died. */
static void draw(struct paths *paths, bool opens)
{
    const struct path none = {.events = 0};
    paths->count = 0;
    if (opens) {
        const struct path sets = then(&none, OR_SETS, NEXT), set = then(&none, OR_KEEPS, NEXT);
        draw_second(paths, &sets, true);
        draw_second(paths, &set, true);
        return;
    }
    const struct path short_list = then(&none, READ_0, NEXT), long_list = then(&none, READ_1, NEXT);
    draw_add(paths, &short_list, 0);
    draw_second(paths, &long_list, true);
}

/* ---- Graphs ------------------------------------------------------------------------------- */

static bool order_add(struct graph *graph, int x, int y)
{
    const uint64_t after = graph->hb[y] | bit(y);
    if (after & bit(x)) return false;
    for (int i = 0; i < graph->events; i++)
        if (i == x || graph->hb[i] & bit(x)) graph->hb[i] |= after;
    return true;
}

/* The events that come after x at its place; or before it. */
static uint64_t at_place(const struct graph *graph, int x, bool after)
{
    uint64_t set = 0;
    for (int y = 0; y < graph->events; y++) {
        const struct event *e = &graph->event[y];
        if (e->what == FENCE || e->place != graph->event[x].place) continue;
        if (after ? e->rank > graph->event[x].rank : e->rank < graph->event[x].rank) set |= bit(y);
    }
    return set;
}

/* At the places 0 .. last, whose ranks are known. */
static bool is_coherent(const struct graph *graph, int last)
{
    for (int x = 0; x < graph->events; x++)
        if (graph->event[x].what != FENCE && graph->event[x].place <= last &&
            graph->hb[x] & at_place(graph, x, false))
            return false;
    return true;
}

/* Is it in the total order of seq_cst operations? */
static bool is_ordered(const struct graph *graph, int e)
{
    const struct event *event = &graph->event[e];
    if (event->what == FENCE) return true;
    return graph->growth->sequenced && event->what == OR_SETS && event->place == NEXT;
}

/* What must come after x in that order. */
static uint64_t ordered_after(const struct graph *graph, int x)
{
    const bool sequenced = graph->growth->sequenced;
    const uint64_t *by = sequenced ? graph->po : graph->hb;
    uint64_t after = graph->hb[x], ordered = 0;
    for (int e = 0; e < graph->events; e++) {
        if (is_ordered(graph, e)) ordered |= bit(e);
        if (e != x && !(by[x] & bit(e))) continue;
        if (graph->event[e].what == FENCE) continue;
        const uint64_t later = at_place(graph, e, true);
        for (int f = 0; f < graph->events; f++) {
            const bool writes = graph->event[f].what == OR_SETS || graph->event[f].what == OR_KEEPS;
            if (later & bit(f) && (writes || !sequenced)) after |= by[f] | bit(f);
        }
    }
    return after & ordered;
}

static bool has_order_of_fences(const struct graph *graph)
{
    uint64_t psc[EVENTS_ALL] = {0}, left = 0;
    for (int x = 0; x < graph->events; x++) {
        if (!is_ordered(graph, x)) continue;
        psc[x] = ordered_after(graph, x);
        left |= bit(x);
    }
    for (bool found = true; found && left;) { /* take away those that nothing left must precede */
        found = false;
        for (int x = 0; x < graph->events; x++)
            if (left & bit(x) && !(psc[x] & left)) {
                left &= ~bit(x);
                found = true;
            }
    }
    return left == 0;
}

static void join_place(const struct graph *graph, int place);

/* Give the loads of the place from `from` on an OR to read. */
static void join_loads(const struct graph *graph, int place, int from, const uint8_t *mo, int ors)
{
    for (int e = from; e < graph->events; e++) {
        if (graph->event[e].place != place || graph->event[e].what != READ_1) continue;
        struct graph next = *graph;
        for (int i = 0; i < ors; i++) {
            if (!order_add(&next, mo[i], e)) return;
            next.event[e].rank = (uint8_t)(2 * (i + 1) + 1);
            join_loads(&next, place, e + 1, mo, ors);
        }
        return;
    }
    if (is_coherent(graph, place)) join_place(graph, place + 1);
}

/* All orders of the place's ORs: `left` are still to be put behind the `ors` in mo. */
static void join_ors(const struct graph *graph, int place, uint64_t left, uint8_t *mo, int ors)
{
    if (left == 0) {
        join_loads(graph, place, 0, mo, ors);
        return;
    }
    for (int e = 0; e < graph->events; e++) {
        if (!(left & bit(e)) || (graph->event[e].what == OR_SETS) != (ors == 0)) continue;
        struct graph next = *graph;
        next.event[e].rank = (uint8_t)(2 * (ors + 1));
        mo[ors] = (uint8_t)e;
        join_ors(&next, place, left & ~bit(e), mo, ors + 1);
    }
}

static void join_place(const struct graph *graph, int place)
{
    struct growth_tally *tally = graph->tally;
    uint8_t mo[EVENTS_ALL];
    uint64_t ors = 0;
    int sets = 0;
    if (place == PLACES) {
        if (!has_order_of_fences(graph)) return;
        tally->states++;
        if (graph->told > tally->new_max) tally->new_max = graph->told;
        if (graph->told < tally->new_min) tally->new_min = graph->told;
        return;
    }
    for (int e = 0; e < graph->events; e++) {
        const uint8_t what = graph->event[e].what;
        if (graph->event[e].place != place) continue;
        if (what == OR_SETS || what == OR_KEEPS) ors |= bit(e);
        sets += what == OR_SETS;
    }
    if (sets == (ors != 0)) join_ors(graph, place, ors, mo, 0);
}

/* ---- All of them -------------------------------------------------------------------------- */

static void append(struct graph *graph, const struct path *path)
{
    const int first = graph->events;
    for (int i = 0; i < path->events; i++) {
        const struct path_event *e = &path->event[i];
        const int number = graph->events++;
        graph->event[number] = (struct event){e->what, e->place, e->what == READ_0 ? 1 : 0};
        graph->po[number] = graph->hb[number] = 0;
        for (int before = first; before < number; before++) {
            graph->po[before] |= bit(number);
            graph->hb[before] |= bit(number);
        }
    }
    graph->told += path->is_new;
}

/* One path for each adder; adders of one sort are interchangeable, so theirs in order of number. */
static void combine(const struct graph *graph, const struct paths paths[2], int adder, int from)
{
    const struct growth *growth = graph->growth;
    if (adder == growth->adders) {
        if (graph->told != 1) join_place(graph, 0);
        return;
    }
    const struct paths *mine = &paths[adder < growth->openers];
    for (int i = adder == growth->openers ? 0 : from; i < mine->count; i++) {
        struct graph next = *graph;
        append(&next, &mine->all[i]);
        combine(&next, paths, adder + 1, i);
    }
}

void growth_enumerate(const struct growth *growth, struct growth_tally *tally)
{
    static struct paths paths[2];
    struct graph graph = {.growth = growth, .tally = tally};
    for (int opens = 0; opens < 2; opens++) {
        paths[opens].growth = growth;
        draw(&paths[opens], opens == 1);
        if (paths[opens].count == PATHS_MAX) tally->broken = "growth_axioms.c has too few paths";
    }
    /* Where nobody opens, somebody who is no adder sets `next`. */
    const struct path none = {.events = 0}, grower = then(&none, OR_SETS, NEXT);
    if (growth->openers == 0) append(&graph, &grower);
    combine(&graph, paths, 0, 0);
}
