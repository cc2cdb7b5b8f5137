/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * generate.c: see generate.h.  A sequence has a theme, which operations of some sort belong to, so
 * that it comes to the middle of something (a window that moves many times, counters that outgrow
 * their bits, ten generations) and is not a little of everything.  Most operations go to slots and
 * names where there is something; some go where there is nothing, and must be refused.
 */
#include "generate.h"

#include <errno.h>
#include <string.h>

#include "random.h"

#define CHANCE(one_in) (random_below(&g->random, (one_in)) == 0)
#define BELOW(range) ((uint32_t)random_below(&g->random, (range)))
#define ONE_OF(list) ((list)[BELOW(sizeof(list) / sizeof((list)[0]))])

enum theme { PLAIN, GROWING, WINDOWS, COUNTING, BUILDING, MOVING, MANAGING, THEMES };

/* ---- Specs ------------------------------------------------------------------------------------
 */

static void spec_bloom(struct generator *g, struct op_spec *spec)
{
    static const uint32_t ks[] = {1, 2, 3, 5, 7, 12, 40, 64};
    spec->kind = TAMIS_KIND_BLOOM;
    if (CHANCE(2)) return;
    if (CHANCE(3)) { /* of another system */
        spec->set = 3 + BELOW(hash_set_count - 3);
        spec->rate = 0.01;
        if (strncmp(hash_sets[spec->set], "php", 3) == 0 ||
            strncmp(hash_sets[spec->set], "pyb", 3) == 0) {
            spec->m_bits = 500 + BELOW(5000);
            spec->capacity = strcmp(hash_sets[spec->set], "php-mt") == 0 ? 300 : 0;
            spec->rate = 0;
        }
        spec->on_full = CHANCE(4) ? TAMIS_ON_FULL_REFUSE : 0;
        return;
    }
    spec->m_bits = CHANCE(4) ? 1 + BELOW(130) : 64 + BELOW(9000);
    spec->k = ONE_OF(ks);
    spec->capacity = 0;
    spec->rate = 0;
}

static void spec_window(struct generator *g, struct op_spec *spec)
{
    static const uint32_t slices[] = {1, 2, 3, 5, 10, 32};
    spec->slices = CHANCE(6) ? 0 : ONE_OF(slices);
    const uint32_t count = spec->slices != 0 ? spec->slices : 10;
    spec->set %= 3;
    spec->m_bits = spec->k = 0;
    if (spec->capacity == 0) spec->capacity = 40 + BELOW(400);
    if (spec->rate == 0) spec->rate = 0.01;
    if (spec->on_full == TAMIS_ON_FULL_WARN && CHANCE(2)) spec->on_full = 0;
    if (CHANCE(2)) {
        spec->window_items = count + BELOW(300);
        if (CHANCE(2)) spec->capacity = 0;
        if (spec->capacity != 0) spec->capacity = spec->window_items;
    } else {
        spec->window_ns = (int64_t)count * (1 + BELOW(50)) * TAMIS_SLICE_NS_MIN + BELOW(3);
    }
    if (spec->window_items != 0)
        spec->flags &= ~TAMIS_FILTER_DURABLE; /* its chunks end elsewhere */
    if (CHANCE(2)) spec->flags |= TAMIS_FILTER_FROM_FIRST;
}

static void choose_spec(struct generator *g, struct op *op)
{
    static const double rates[] = {0, 0.3, 0.1, 0.01, 0.001, 1e-4, 1e-6, 1e-9, 1e-12};
    static const uint32_t widths[] = {0, 4, 4, 8, 16, 32};
    struct op_spec *spec = &op->spec;
    *spec =
        (struct op_spec){.capacity = CHANCE(8) ? 1 + BELOW(4) : 10 + BELOW(CHANCE(4) ? 3000 : 400),
                         .rate = ONE_OF(rates),
                         .set = CHANCE(4) ? 1 + BELOW(2) : 0,
                         .on_full = CHANCE(2) ? 0 : 1 + BELOW(3),
                         .pages = CHANCE(4) ? BELOW(3) : 0};
    if (CHANCE(3)) spec->seed = g->random;
    if (CHANCE(6)) spec->flags |= TAMIS_FILTER_DURABLE;
    if (CHANCE(6)) spec->flags |= TAMIS_FILTER_OWNED;
    if (CHANCE(2)) spec->kind = TAMIS_KIND_BLOCKED;
    if (g->theme == COUNTING ? !CHANCE(4) : CHANCE(8)) {
        spec->kind = TAMIS_KIND_COUNTING;
        spec->counter_bits = ONE_OF(widths);
        spec->on_full = CHANCE(2) ? 0 : TAMIS_ON_FULL_WARN;
        spec->flags &= ~TAMIS_FILTER_DURABLE;
    } else if (CHANCE(3)) {
        spec_bloom(g, spec);
    }
    const bool grows =
        spec->on_full == TAMIS_ON_FULL_GROW || (spec->on_full == 0 && spec->m_bits == 0 &&
                                                spec->set < 3 && spec->kind != TAMIS_KIND_COUNTING);
    if (spec->rate > 0 && spec->rate < 1e-10 && grows)
        spec->rate = 1e-9; /* a tenth of it must do */
    if (spec->kind != TAMIS_KIND_COUNTING && (g->theme == WINDOWS ? !CHANCE(4) : CHANCE(10)))
        spec_window(g, spec);
    if (spec->window_ns != 0 && spec->rate > 0 && spec->rate < 1e-8) spec->rate = 1e-6;
    if (spec->window_items != 0 && spec->rate > 0 && spec->rate < 1e-8) spec->rate = 1e-6;
    if (spec->set == 2) {
        spec->seed = 0;
        spec->secret = CHANCE(2) ? 0 : 1 + BELOW(2);
    }
    if (spec->set > 2) spec->seed = 0;
    if (spec->m_bits != 0 && spec->on_full == TAMIS_ON_FULL_GROW)
        spec->on_full = TAMIS_ON_FULL_WARN;
    if (spec->set > 2 && spec->on_full == TAMIS_ON_FULL_GROW) spec->on_full = TAMIS_ON_FULL_WARN;
}

/* ---- Keys -------------------------------------------------------------------------------------
 */

static void choose_keys(struct generator *g, struct op *op, struct op_keys *keys)
{
    static const uint32_t counts[] = {0,  1,  2,  3,   7,   8,   9,   16,  17,
                                      63, 64, 65, 100, 255, 256, 257, 500, 1000};
    const bool growing = g->theme == GROWING && op->kind == OP_ADD_BATCH;
    keys->from = CHANCE(12) ? 0 : BELOW(CHANCE(2) ? 300 : 4000);
    keys->count = CHANCE(3) ? 1 + BELOW(600) : ONE_OF(counts);
    keys->step = CHANCE(8) ? 0 : CHANCE(4) ? 1 + BELOW(9) : 1;
    keys->period = CHANCE(6) ? 1 + BELOW(300) : 0;
    if (growing && CHANCE(5)) {
        keys->from = 8192 + BELOW(4) * 20000;
        keys->count = 1000 + BELOW(CHANCE(4) ? 68000 : 4000);
        keys->step = 1;
    }
    if (!growing && g->theme != PLAIN && keys->count > 300 && CHANCE(2)) keys->count = 40;
}

/* ---- Which operation --------------------------------------------------------------------------
 */

/* How often an operation comes in each theme, in the order of enum theme. */
static const struct weight {
    uint8_t of[THEMES];
} weights[OP_COUNT_OF] = {
    [OP_OPEN_STORE] = {{20, 20, 20, 20, 20, 20, 30}},
    [OP_CLOSE_STORE] = {{2, 2, 2, 2, 2, 2, 6}},
    [OP_CREATE] = {{20, 20, 20, 20, 8, 20, 30}},
    [OP_OPEN_OR_CREATE] = {{10, 8, 8, 8, 2, 8, 20}},
    [OP_CREATE_MANY] = {{2, 1, 1, 1, 1, 1, 8}},
    [OP_CREATE_FILLED] = {{3, 1, 1, 3, 1, 1, 8}},
    [OP_CHECK_SPEC] = {{1, 1, 1, 1, 1, 1, 4}},
    [OP_OPEN] = {{20, 15, 15, 15, 20, 20, 30}},
    [OP_OPEN_AT] = {{3, 2, 2, 2, 2, 2, 6}},
    [OP_CLOSE] = {{10, 8, 8, 8, 8, 8, 20}},
    [OP_RELEASE] = {{2, 2, 2, 2, 2, 2, 4}},
    [OP_ADD] = {{40, 30, 40, 40, 6, 8, 6}},
    [OP_ADD_BATCH] = {{60, 60, 60, 60, 10, 20, 10}},
    [OP_ASK] = {{30, 10, 30, 20, 10, 5, 5}},
    [OP_ASK_BATCH] = {{50, 40, 50, 30, 30, 15, 10}},
    [OP_REMOVE] = {{3, 1, 1, 40, 1, 1, 1}},
    [OP_REMOVE_BATCH] = {{3, 1, 1, 40, 1, 1, 1}},
    [OP_COUNT] = {{2, 1, 1, 20, 1, 1, 1}},
    [OP_COUNT_BATCH] = {{2, 1, 1, 20, 1, 1, 1}},
    [OP_PREFETCH] = {{2, 1, 1, 1, 1, 1, 1}},
    [OP_MAY_WAIT] = {{4, 4, 4, 2, 2, 1, 2}},
    [OP_PREPARE] = {{4, 6, 4, 2, 2, 1, 2}},
    [OP_SET_PREPARED] = {{2, 3, 1, 1, 1, 1, 1}},
    [OP_EXPECT] = {{2, 2, 1, 1, 1, 1, 2}},
    [OP_SYNC] = {{10, 6, 6, 6, 4, 4, 10}},
    [OP_SYNC_INTERVAL] = {{2, 1, 1, 1, 1, 1, 2}},
    [OP_ACCEPT] = {{2, 1, 1, 1, 1, 1, 3}},
    [OP_ROTATE] = {{2, 1, 20, 1, 1, 1, 2}},
    [OP_STAT] = {{15, 15, 20, 15, 10, 10, 10}},
    [OP_FILL] = {{10, 6, 8, 8, 6, 8, 4}},
    [OP_READ_DATA] = {{6, 3, 4, 6, 3, 6, 3}},
    [OP_WRITE_DATA] = {{3, 1, 1, 1, 1, 2, 1}},
    [OP_SET_BIT] = {{3, 1, 1, 1, 1, 2, 1}},
    [OP_LIKE] = {{4, 3, 4, 4, 3, 4, 4}},
    [OP_MAPPED] = {{1, 1, 1, 1, 1, 1, 1}},
    [OP_COMPARE] = {{4, 2, 1, 4, 2, 15, 2}},
    [OP_MERGE] = {{4, 2, 1, 8, 2, 20, 2}},
    [OP_MERGED] = {{3, 2, 1, 6, 2, 15, 2}},
    [OP_EXPORT] = {{5, 3, 4, 5, 6, 30, 3}},
    [OP_IMPORT] = {{5, 3, 4, 5, 6, 30, 3}},
    [OP_PUBLISH] = {{2, 1, 2, 2, 10, 20, 2}},
    [OP_BUILD] = {{4, 2, 2, 2, 60, 6, 4}},
    [OP_GENERATIONS] = {{3, 3, 3, 1, 25, 8, 5}},
    [OP_ROLLBACK] = {{2, 1, 1, 1, 20, 5, 3}},
    [OP_EXCEPT] = {{6, 3, 4, 3, 15, 6, 10}},
    [OP_UNEXCEPT] = {{4, 2, 2, 2, 10, 3, 6}},
    [OP_EXCEPTIONS] = {{3, 1, 1, 1, 8, 4, 6}},
    [OP_EACH_EXCEPTION] = {{3, 1, 1, 1, 8, 4, 6}},
    [OP_EXISTS] = {{2, 1, 1, 1, 2, 2, 8}},
    [OP_RENAME] = {{3, 1, 1, 2, 3, 3, 20}},
    [OP_DROP] = {{3, 2, 2, 2, 3, 5, 15}},
    [OP_DROP_MANY] = {{1, 1, 1, 1, 1, 2, 8}},
    [OP_SET_OWNED] = {{2, 1, 1, 1, 2, 2, 10}},
    [OP_SET_PAGES] = {{2, 1, 1, 1, 2, 2, 10}},
    [OP_LIST] = {{6, 6, 6, 4, 6, 5, 15}},
    [OP_WATCH] = {{2, 2, 2, 2, 2, 2, 5}},
    [OP_VERIFY] = {{3, 3, 3, 3, 3, 3, 6}},
    [OP_REPAIR] = {{1, 1, 1, 1, 1, 1, 3}},
    [OP_BACKUP] = {{1, 1, 1, 1, 1, 1, 2}},
    [OP_CLOCK] = {{2, 2, 50, 1, 1, 1, 1}},
    [OP_ARGUMENT] = {{12, 6, 6, 6, 6, 6, 20}},
};

static const char *const takes[] = {
#define OP_TAKES(name, letters) letters,
    OPS(OP_TAKES)
#undef OP_TAKES
};

static uint32_t choose_kind(struct generator *g)
{
    uint32_t all = 0;
    for (uint32_t i = 0; i < OP_COUNT_OF; i++)
        all += weights[i].of[g->theme];
    for (uint32_t at = BELOW(all), i = 0;; i++) {
        if (at < weights[i].of[g->theme]) return i;
        at -= weights[i].of[g->theme];
    }
}

static uint8_t choose_slot(struct generator *g, const struct model *model, bool empty)
{
    for (uint32_t tries = 0; tries < 30; tries++) {
        const uint8_t slot = (uint8_t)BELOW(SLOTS);
        if ((model->handles[slot].filter == NULL) == empty) return slot;
    }
    return (uint8_t)BELOW(SLOTS);
}

static uint8_t choose_name(struct generator *g, const struct model *model, bool there)
{
    for (uint32_t tries = 0; tries < 30; tries++) {
        const uint8_t name = (uint8_t)BELOW(NAMES);
        if ((model->filters[name] != NULL) == there) return name;
    }
    return (uint8_t)BELOW(NAMES);
}

/* Time goes on by a part of a slice, to its very end, or beyond the window. */
static uint64_t choose_step(struct generator *g, const struct model *model)
{
    const struct filter *f = model->filters[BELOW(NAMES)];
    if (f == NULL || f->now.policy.window_ns == 0) return BELOW(2000000000);
    const struct policy *p = &f->now.policy;
    const struct tamis_segment_stat *s = &f->now.list.segments[BELOW(f->now.list.count)]->is;
    const int64_t slice = p->window_ns / p->slices;
    int64_t to = s->slice_start + slice * (CHANCE(2) ? 1 : 1 + (int64_t)BELOW(p->slices + 2));
    if (CHANCE(2)) to = s->slice_start + slice + p->window_ns;
    to += (int64_t)BELOW(3) - 1;
    return to > model->now ? (uint64_t)(to - model->now)
                           : BELOW((uint32_t)(slice / 2 % 4000000000 + 1));
}

static void choose_flags(struct generator *g, const struct model *model, struct op *op)
{
    switch (op->kind) {
    case OP_CLOCK:
        op->number = choose_step(g, model);
        break;
    case OP_OPEN:
    case OP_OPEN_AT:
        op->flags = (CHANCE(4) ? TAMIS_READ_ONLY : 0) | (CHANCE(4) ? TAMIS_NO_SYNC : 0) |
                    (CHANCE(6) ? TAMIS_POPULATE : 0);
        break;
    case OP_MERGE:
        op->flags = CHANCE(20);
        break;
    case OP_SET_PAGES:
        op->number = BELOW(3);
        break;
    case OP_ROLLBACK:
        op->number = CHANCE(2) ? 0 : BELOW(8);
        break;
    case OP_BUILD:
    case OP_PUBLISH:
        op->number = BELOW(4);
        op->flags = BELOW(8) | (CHANCE(3) ? 0x4000u : 0) | (CHANCE(2) ? 0x8000u : 0);
        break;
    case OP_IMPORT:
        op->flags = (CHANCE(3) ? TAMIS_IMPORT_OWNED : 0) | (CHANCE(4) ? TAMIS_IMPORT_DURABLE : 0) |
                    (CHANCE(3) ? 0x4000u : 0) | (CHANCE(2) ? 0x8000u : 0) |
                    (CHANCE(2) ? 0x2000u : 0) | (CHANCE(3) ? 0x1000u : 0);
        break;
    case OP_EXPORT:
        op->flags = CHANCE(4) ? BELOW(8) : TAMIS_EXPORT_WITH_KEY;
        break;
    case OP_REPAIR:
        op->flags = BELOW(2);
        break;
    case OP_DROP_MANY:
        op->flags = BELOW(3);
        break;
    default:
        op->flags = BELOW(4);
        op->number = BELOW(2);
    }
    if (op->kind == OP_MERGED) op->flags &= 1u;
    if (op->kind == OP_ARGUMENT) op->number = BELOW(1000);
    if (op->kind == OP_MAY_WAIT || op->kind == OP_EXPECT) op->number = BELOW(2000);
}

static void choose_build(struct generator *g, const struct model *model, struct op *op)
{
    static const double rates[] = {0, 0.01, 0.004, 0.003, 0.3, 1e-3, 1e-5, 1e-9};
    const struct filter *f = model->filters[op->name];
    op->spec = (struct op_spec){.rate = ONE_OF(rates), .kind = TAMIS_KIND_FUSE};
    if (CHANCE(3)) op->spec.kind = CHANCE(2) ? TAMIS_KIND_BLOCKED : TAMIS_KIND_BLOOM;
    if (op->spec.kind != TAMIS_KIND_FUSE) op->spec.on_full = 1 + BELOW(3);
    if (CHANCE(3)) op->spec.seed = 5;
    if (f != NULL && f->now.list.segments[0]->is.kind != TAMIS_KIND_FUSE && op->spec.rate == 0)
        op->spec.rate = 0.01;
    if (CHANCE(3)) choose_keys(g, op, &op->against);
    if (CHANCE(4)) choose_keys(g, op, &op->except);
    op->except.count %= 100; /* none of them is 5000 or more */
    if (op->spec.kind == TAMIS_KIND_FUSE)
        op->against.from += 5000; /* what it finds there is not set by hand too */
    op->keys.from = 100 * BELOW(3);
    op->keys.step = 1;
    op->keys.period = CHANCE(3) ? 50 + BELOW(300) : 0;
    op->keys.count = 100 * BELOW(8);
    if (f != NULL && f->now.list.segments[0]->is.hash_set[0] != 'x') op->spec.set = 1; /* xxh3 */
}

/* Handles of merges and comparisons are mostly of filters that are alike. */
static void choose_source(struct generator *g, const struct model *model, struct op *op)
{
    const struct filter *f = op->slot < SLOTS ? model->handles[op->slot].filter : NULL;
    for (uint32_t tries = 0; tries < 20; tries++) {
        op->source = choose_slot(g, model, false);
        const struct filter *other = model->handles[op->source].filter;
        if (f == NULL || other == NULL || CHANCE(8)) return;
        if (other != f &&
            other->now.list.segments[0]->is.m_bits == f->now.list.segments[0]->is.m_bits)
            return;
    }
}

/* A spec that was used before comes again now and then: such filters are alike. */
static void spec_again(struct generator *g, struct op *op)
{
    static struct op_spec last;
    if (CHANCE(3) && last.capacity + last.m_bits + last.window_items > 0)
        op->spec = last;
    else
        last = op->spec;
}

static void choose_fault(struct generator *g, const struct model *model, struct op *op)
{
    static const int errors[] = {EIO, ENOSPC, ENOMEM, EMFILE, EACCES};
    if (g->children && CHANCE(12) && strchr(takes[op->kind], 'x') == NULL &&
        op->kind != OP_OPEN_STORE && op->kind != OP_CLOSE_STORE && op->kind != OP_CLOSE &&
        op->kind != OP_RELEASE && op->kind != OP_CLOCK && op->kind != OP_READ_DATA &&
        op->kind != OP_ARGUMENT) {
        op->where = CHANCE(2) ? CHILD_ANEW : CHILD_INHERITS;
        if (op->kind == OP_CREATE || op->kind == OP_OPEN_OR_CREATE || op->kind == OP_OPEN ||
            op->kind == OP_OPEN_AT)
            op->slot = SLOTS;
    }
    const bool whole = op->kind == OP_CREATE || op->kind == OP_DROP || op->kind == OP_RENAME ||
                       op->kind == OP_ROLLBACK || op->kind == OP_EXCEPT ||
                       op->kind == OP_SET_OWNED || op->kind == OP_SET_PAGES;
    const struct filter *of = op->slot < SLOTS ? model->handles[op->slot].filter : NULL;
    const bool adds = of != NULL && of->now.list.segments[0]->is.counter_bits == 0 &&
                      of->now.policy.slices == 0 &&
                      (op->kind == OP_ADD_BATCH || op->kind == OP_ADD || op->kind == OP_SYNC);
    if (g->children && (whole || adds) && CHANCE(6)) {
        op->where = CHILD_ANEW;
        op->fault = FAULT_KILL;
        op->nth = (uint16_t)(1 + BELOW(CHANCE(2) ? 10 : 60));
        op->slot = op->kind == OP_CREATE ? SLOTS : op->slot;
        return;
    }
    const bool own_memory = op->kind == OP_READ_DATA || op->kind == OP_WRITE_DATA ||
                            op->kind == OP_SET_BIT || op->kind == OP_BACKUP ||
                            op->kind == OP_ARGUMENT || op->kind == OP_DROP_MANY;
    const struct filter *f = op->slot < SLOTS ? model->handles[op->slot].filter : NULL;
    if (f != NULL && f->now.list.segments[0]->is.counter_bits != 0)
        return; /* it cannot be read back whole */
    if (!g->faults || !CHANCE(5) || op->where != HERE || own_memory) return;
    op->fault = CHANCE(3) ? FAULT_MEMORY : FAULT_CALL;
    op->inner = 0;
    op->error = ONE_OF(errors);
    op->nth = (uint16_t)(1 + BELOW(CHANCE(2) ? 6 : 40));
}

void generate(struct generator *g, const struct model *model, struct op *op)
{
    *op = (struct op){.kind = choose_kind(g)};
    if (!model->stores[0].open && CHANCE(2)) op->kind = OP_OPEN_STORE;
    const char *t = takes[op->kind];
    const bool fills = op->kind == OP_CREATE || op->kind == OP_OPEN_OR_CREATE ||
                       op->kind == OP_OPEN || op->kind == OP_OPEN_AT || op->kind == OP_IMPORT;
    const bool makes = op->kind == OP_CREATE || op->kind == OP_IMPORT || op->kind == OP_MERGED ||
                       op->kind == OP_CREATE_FILLED || op->kind == OP_CREATE_MANY;
    op->store = (uint8_t)(CHANCE(8) ? STORES - 1 : BELOW(STORES - 1));
    op->name = choose_name(g, model, makes ? CHANCE(8) : !CHANCE(8));
    op->other = choose_name(g, model, CHANCE(3));
    op->slot = choose_slot(g, model, fills);
    op->stream = (uint8_t)BELOW(STREAMS);
    op->inner = CHANCE(3);
    if (strchr(t, 'k') != NULL) choose_keys(g, op, &op->keys);
    if (strchr(t, 'S') != NULL) choose_spec(g, op);
    if (op->kind == OP_CREATE || op->kind == OP_OPEN_OR_CREATE) spec_again(g, op);
    choose_flags(g, model, op);
    if (op->kind == OP_BUILD) choose_build(g, model, op);
    if (strchr(t, 'i') != NULL) choose_source(g, model, op);
    if (op->kind == OP_ADD || op->kind == OP_ASK || op->kind == OP_REMOVE || op->kind == OP_COUNT ||
        op->kind == OP_SET_BIT || op->kind == OP_PREFETCH)
        op->keys.count = 1;
    if (op->kind == OP_EXCEPT || op->kind == OP_UNEXCEPT) {
        op->keys.count %= 90;
        if (g->theme == BUILDING) op->keys.from %= 60; /* the same keys come and go */
        const struct filter *f = model->filters[op->name];
        if (op->kind == OP_UNEXCEPT && f != NULL && f->by_hand.count > 0 && CHANCE(2))
            op->keys.from = f->by_hand.list[BELOW(f->by_hand.count)].key;
    }
    if (op->kind == OP_EXPORT) {
        op->format = (uint8_t)BELOW(8);
        while (CHANCE(2) && strcmp(tamis_format_name(op->format), "tamis") != 0)
            op->format = (uint8_t)BELOW(8);
    }
    if (op->kind == OP_CREATE_FILLED) {
        op->slot = SLOTS;
        op->spec.window_ns = 0;
        op->spec.window_items = 0;
        if (op->spec.capacity + op->spec.m_bits == 0) op->spec.capacity = 60;
        op->spec.slices = 0;
        op->spec.flags &= ~TAMIS_FILTER_FROM_FIRST;
        op->keys.count %= (uint32_t)op->spec.capacity + 1;
    }
    if (op->kind == OP_SYNC_INTERVAL) op->slot %= 2; /* so few threads live at once */
    choose_fault(g, model, op);
}
