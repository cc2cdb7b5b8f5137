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
        spec->flags &= ~(uint32_t)TAMIS_FILTER_DURABLE;
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

static const char *const often[] = {
#define OP_OFTEN(name, letters, often, call) often,
    OPS(OP_OFTEN)
#undef OP_OFTEN
};

static uint32_t choose_kind(struct generator *g)
{
    static const uint8_t weights[] = {0, 1, 2, 3, 5, 8, 12, 20, 35, 60}; /* of the digits */
    uint32_t all = 0;
    for (uint32_t i = 0; i < OP_COUNT_OF; i++)
        all += weights[often[i][g->theme] - '0'];
    for (uint32_t at = BELOW(all), i = 0;; i++) {
        const uint32_t weight = weights[often[i][g->theme] - '0'];
        if (at < weight) return i;
        at -= weight;
    }
}

static uint8_t choose_slot(struct generator *g, const struct model *model, bool empty)
{
    uint8_t slot = (uint8_t)BELOW(SLOTS);
    for (uint32_t i = 0; i < 30 && (model->handles[slot].filter == NULL) != empty; i++)
        slot = (uint8_t)BELOW(SLOTS);
    return slot;
}

static uint8_t choose_name(struct generator *g, const struct model *model, bool there)
{
    uint8_t name = (uint8_t)BELOW(NAMES);
    for (uint32_t i = 0; i < 30 && (model->filters[name] != NULL) != there; i++)
        name = (uint8_t)BELOW(NAMES);
    return name;
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

/* The number of the first flag of the calls of an operation, whose flags follow one another. */
static uint32_t first_flag(uint32_t kind)
{
    switch (kind) {
    case OP_CREATE_MANY:
        return TAMIS_MANY_IF_MISSING;
    case OP_BUILD:
        return TAMIS_BUILD_IF_CHANGED;
    case OP_PUBLISH:
        return TAMIS_PUBLISH_IF_CHANGED;
    case OP_IMPORT:
        return TAMIS_IMPORT_HEAD;
    case OP_EXPORT:
        return TAMIS_EXPORT_WITH_KEY;
    case OP_MERGE:
    case OP_MERGED:
        return TAMIS_MERGE_INTERSECT;
    case OP_REPAIR:
        return TAMIS_REPAIR_DRY_RUN;
    default:
        return 1;
    }
}

static void choose_flags(struct generator *g, struct op *op)
{
    op->flags = BELOW(4);
    op->number = BELOW(2);
    switch (op->kind) {
    case OP_OPEN:
    case OP_OPEN_AT:
        op->flags = (CHANCE(4) ? TAMIS_OPEN_READ_ONLY : 0) | (CHANCE(4) ? TAMIS_OPEN_NO_SYNC : 0) |
                    (CHANCE(6) ? TAMIS_OPEN_POPULATE : 0);
        break;
    case OP_MAY_WAIT:
    case OP_PREPARE:
        op->number = BELOW(2000);
        break;
    case OP_MERGED:
    case OP_REPAIR:
        op->flags = BELOW(2);
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
    case OP_IMPORT:
        op->number = BELOW(4);
        op->flags = BELOW(16) | (CHANCE(3) ? WITH_NOTES : 0) | (CHANCE(2) ? IN_PIECES : 0) |
                    (CHANCE(2) ? OF_KNOWN_SIZE : 0) | (CHANCE(3) ? OF_A_DATE : 0);
        break;
    case OP_EXPORT:
        op->flags = CHANCE(4) ? BELOW(8) : 1;
        break;
    case OP_DROP_MANY:
        op->flags = BELOW(3);
        break;
    default:
        break;
    }
    if (op->kind != OP_OPEN && op->kind != OP_OPEN_AT)
        op->flags = (op->flags & 0xFFu) * first_flag(op->kind) | (op->flags & ~0xFFu);
}

static void choose_build(struct generator *g, const struct model *model, struct op *op)
{
    static const double rates[] = {0, 0.01, 0.004, 0.003, 0.3, 1e-3, 1e-5, 1e-9};
    op->spec = (struct op_spec){.rate = ONE_OF(rates), .kind = TAMIS_KIND_FUSE};
    if (CHANCE(3)) op->spec.kind = CHANCE(2) ? TAMIS_KIND_BLOCKED : TAMIS_KIND_BLOOM;
    if (op->spec.kind != TAMIS_KIND_FUSE) op->spec.on_full = 1 + BELOW(3);
    if (CHANCE(3)) op->spec.seed = 5;
    if (CHANCE(3)) choose_keys(g, op, &op->against);
    if (CHANCE(4)) choose_keys(g, op, &op->except);
    op->except.count %= 100; /* none of them is 5000 or more */
    if (op->spec.kind == TAMIS_KIND_FUSE)
        op->against.from += 5000; /* what it finds there is not set by hand too */
    op->keys = (struct op_keys){100 * BELOW(3), 100 * BELOW(8), 1,
                                .period = CHANCE(3) ? 50 + BELOW(300) : 0};
    if (g->built.spec.kind != 0 && CHANCE(3)) { /* the same again, which may change nothing */
        const uint64_t keep = op->number;
        *op = g->built;
        op->number = keep;
        if (CHANCE(2)) op->flags |= TAMIS_BUILD_IF_CHANGED;
    }
    const struct filter *f = model->filters[op->name];
    const struct tamis_segment_stat *old = f != NULL ? &f->now.list.segments[0]->is : NULL;
    if (old != NULL && old->kind != TAMIS_KIND_FUSE && op->spec.rate == 0) op->spec.rate = 0.01;
    if (old != NULL && old->hash_set[0] != 'x') op->spec.set = 1; /* xxh3 */
    g->built = *op;
}

/* Handles of merges and comparisons are mostly of filters that are alike. */
static void choose_source(struct generator *g, const struct model *model, struct op *op)
{
    const struct filter *f = model->handles[op->slot].filter;
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
    if (CHANCE(3) && g->last.capacity + g->last.m_bits + g->last.window_items > 0)
        op->spec = g->last;
    else
        g->last = op->spec;
}

/* Few keys become exceptions; in the theme of builds the same ones come and go. */
static void choose_exceptions(struct generator *g, const struct model *model, struct op *op)
{
    const struct filter *f = model->filters[op->name];
    op->keys.count %= 90;
    if (g->theme == BUILDING) op->keys.from %= 60;
    if (op->kind == OP_UNEXCEPT && f != NULL && f->by_hand.count > 0 && CHANCE(2))
        for (op->keys.from = BELOW(4000); !set_has(&f->by_hand, op->keys.from);)
            op->keys.from = (op->keys.from + 1) % POOL;
}

static void choose_error(struct generator *g, struct op *op)
{
    static const int errors[] = {EIO, ENOSPC, ENOMEM, EMFILE, EACCES};
    op->inner = 0;
    op->where = HERE;
    op->error = ONE_OF(errors);
    /* What these cannot read for EIO they call damaged, until verify can. */
    if ((op->kind == OP_VERIFY || op->kind == OP_REPAIR) && op->error == EIO) op->error = ENOSPC;
}

/* Each call of an operation fails in turn: the same operation again as long as it fails, and then
 * others of its kind, until one does not come so far. */
static void sweep(struct generator *g, const struct model *model)
{
    static const uint8_t faults[] = {FAULT_CALL, FAULT_CALL, FAULT_MEMORY};
    struct op *swept = &g->swept;
    if (swept->nth != 0)
        swept->nth = model->reached ? (uint16_t)(swept->nth + 1 + swept->nth / 24) : 0;
    if (swept->nth == 0 && g->faults && CHANCE(15))
        *swept = (struct op){.kind = BELOW(OP_COUNT_OF), .fault = ONE_OF(faults), .nth = 1};
    if (strchr(takes[swept->kind], 'a') != NULL || swept->kind == OP_LOOK_DATA) swept->nth = 0;
}

/* Another process does it, and may be killed; or calls and allocations fail. */
static void choose_fault(struct generator *g, const struct model *model, struct op *op)
{
    const char *t = takes[op->kind];
    const struct filter *f = op->slot < SLOTS ? model->handles[op->slot].filter : NULL;
    const bool counts = f != NULL && f->now.list.segments[0]->is.counter_bits != 0;
    const bool adds = (op->kind == OP_ADD_BATCH || op->kind == OP_ADD || op->kind == OP_SYNC) &&
                      f != NULL && !counts && f->now.policy.slices == 0;
    if (g->children && CHANCE(12) && strchr(t, 'l') == NULL)
        op->where = CHANCE(2) ? CHILD_ANEW : CHILD_INHERITS;
    if (g->children && (strchr(t, 'w') != NULL || adds) && CHANCE(6)) {
        op->where = CHILD_ANEW;
        op->fault = FAULT_KILL;
        op->nth = (uint16_t)(1 + BELOW(CHANCE(2) ? 10 : 60));
    }
    if (op->where != HERE && strchr(t, 'e') != NULL) op->slot = SLOTS;
    /* Counters cannot be read back whole, and a log that cannot be removed stays until a repair. */
    if (counts || (f != NULL && f->dropped) || !g->faults || strchr(t, 'a') != NULL) return;
    if (g->swept.nth != 0) {
        op->fault = g->swept.fault;
        op->nth = g->swept.nth;
        choose_error(g, op);
        g->swept = *op;
        return;
    }
    if (op->where != HERE || !CHANCE(5)) return;
    op->fault = CHANCE(3) ? FAULT_MEMORY : CHANCE(4) ? FAULT_DISK : FAULT_CALL;
    op->nth = (uint16_t)(1 + BELOW(CHANCE(2) ? 6 : 40));
    choose_error(g, op);
}

/* A window by items goes on in a segment for every few keys: a batch of a durable filter may do so
 * 16 times at most, and others take a millisecond each time. */
static uint32_t most_keys(const struct model *model, const struct op *op)
{
    const struct filter *f = model->handles[op->slot].filter;
    if (strchr(takes[op->kind], 'h') == NULL || f == NULL || f->now.policy.window_items == 0)
        return KEYS_MAX;
    return f->now.policy.durable ? 15 : 1000;
}

void generate(struct generator *g, const struct model *model, struct op *op)
{
    sweep(g, model);
    if (g->swept.nth > 1 && model->failed) {
        *op = g->swept;
        choose_error(g, op);
        return;
    }
    *op = (struct op){.kind = g->swept.nth != 0 ? g->swept.kind : choose_kind(g)};
    if (!model->stores[0].open && CHANCE(2)) op->kind = OP_OPEN_STORE;
    const char *t = takes[op->kind];
    op->store = (uint8_t)(CHANCE(8) ? STORES - 1 : BELOW(STORES - 1));
    op->name = choose_name(g, model, strchr(t, 'm') != NULL ? CHANCE(8) : !CHANCE(8));
    op->other = choose_name(g, model, CHANCE(3));
    op->slot = choose_slot(g, model, strchr(t, 'e') != NULL);
    op->stream = (uint8_t)BELOW(STREAMS);
    op->inner = CHANCE(3);
    if (strchr(t, 'k') != NULL) choose_keys(g, op, &op->keys);
    if (strchr(t, '1') != NULL) op->keys.count = 1;
    op->keys.count %= most_keys(model, op) + 1;
    if (strchr(t, 'S') != NULL) choose_spec(g, op);
    if (strchr(t, 'e') != NULL && strchr(t, 'S') != NULL) spec_again(g, op);
    choose_flags(g, op);
    if (op->kind == OP_CLOCK) op->number = choose_step(g, model);
    if (op->kind == OP_BUILD) choose_build(g, model, op);
    if (strchr(t, 'i') != NULL) choose_source(g, model, op);
    if (op->kind == OP_EXCEPT || op->kind == OP_UNEXCEPT) choose_exceptions(g, model, op);
    if (op->kind == OP_EXPORT) do
            op->format = (uint8_t)BELOW(8);
        while (CHANCE(2) && strcmp(tamis_format_name(op->format), "tamis") != 0);
    if (op->kind == OP_SYNC_INTERVAL) op->slot %= 2; /* so few threads live at once */
    choose_fault(g, model, op);
}
