/* SPDX-License-Identifier: BSD-2-Clause */
/* changes.c: the model's judges of what concerns a filter as a whole: its checkpoints, what is told
 * of it, its names, exceptions and generations. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model.h"

/* ---- Checkpoints and the window ---------------------------------------------------------------
 */

bool step_sync(struct step *s)
{
    struct filter *f = s->filter;
    const int64_t at = s->out->stat.checkpointed_at, latest = s->out->wrote;
    if (latest != 0 && at > latest)
        return wrong(s->model,
                     "checkpointed_at %" PRId64 " is later than the first write, %" PRId64, at,
                     latest);
    f->checkpointed_at = at;
    f->checkpoint_unsure = f->degraded_since = 0;
    f->recorded_items = items_of(s->model, f);
    f->recorded_unsure = false;
    return was_made(s, "the checkpoint was made", at);
}

bool step_rotate(struct step *s)
{
    uint32_t taken = 0;
    return next_slice(s, &taken);
}

bool step_prepare(struct step *s)
{
    uint32_t taken = 0;
    if (first_of(s->filter)->keys != NULL) return true;
    return s->filter->now.policy.durable || !is_slice_over(s->model, s->filter) ||
           next_slice(s, &taken);
}

bool step_may_wait(struct step *s)
{
    const struct filter *f = s->filter;
    const struct policy *p = &f->now.policy;
    const struct tamis_segment_stat *newest = &newest_of(f)->is;
    const bool lacks_room = is_limited(p) && !refuses(p) && !f->holed &&
                            newest->items + s->op->number > newest->capacity;
    if (s->out->rc > TAMIS_ADD_MAY_WAIT) return ends(s, 0);
    return (!p->durable && !lacks_room) || newest_of(f)->keys != NULL ||
           ends(s, TAMIS_ADD_MAY_WAIT);
}

/* ---- What is told -----------------------------------------------------------------------------
 */

static double part_of(const struct shadow *shadow, uint32_t part)
{
    const uint64_t m = shadow->is.m_bits, first = m * part / FILL_PARTS;
    const uint64_t end = m * (part + 1) / FILL_PARTS;
    uint64_t set = 0;
    for (uint64_t i = first; i < end || i == first; i++)
        set += shadow->cells[i] != 0;
    return (double)set / (double)(end > first ? end - first : 1);
}

static bool fill_fits(struct step *s, uint32_t i)
{
    const struct shadow *shadow = s->filter->now.list.segments[i];
    const struct tamis_segment_stat *told = &s->told[i], *is = &shadow->is;
    const double fill = (double)shadow->ones / (double)is->m_bits;
    const bool estimates =
        is->kind == TAMIS_KIND_BLOOM && is_own_set(is->hash_set) && is->m_bits > 4000;
    if (!(told->fp_rate_now >= 0 && told->fp_rate_now <= 1))
        return wrong(s->model, "fp_rate_now is %g", told->fp_rate_now);
    if (shadow->keys != NULL)
        return told->items_estimated == is->items || wrong(s->model, "items_estimated");
    if (told->ones != shadow->ones || fabs(told->fill - fill) > 1e-12 ||
        fabs((double)told->items_estimated - estimate(is, shadow->ones)) > 0.51 ||
        (estimates && fabs(told->fp_rate_now - pow(fill, is->k)) > 1e-6 + 0.05 * told->fp_rate_now))
        return wrong(s->model,
                     "segment %u: %" PRIu64 " ones, fill %g, %" PRIu64
                     " items by them, rate now %g; not %" PRIu64 ", "
                     "%g, %g, %g",
                     i, told->ones, told->fill, told->items_estimated, told->fp_rate_now,
                     shadow->ones, fill, estimate(is, shadow->ones), pow(fill, is->k));
    for (uint32_t p = 0; p < FILL_PARTS; p++)
        if (fabs(s->out->parts[i][p] - part_of(shadow, p)) > 1e-12)
            return wrong(s->model, "part %u of segment %u is filled to %g, not %g", p, i,
                         s->out->parts[i][p], part_of(shadow, p));
    return true;
}

bool step_fill(struct step *s)
{
    for (uint32_t i = 0; i < s->filter->now.list.count; i++)
        if (!fill_fits(s, i)) return false;
    return true;
}

static bool data_fit(struct step *s, const struct shadow *shadow, const uint8_t *data,
                     uint32_t index)
{
    const uint32_t width = shadow->is.counter_bits;
    const uint32_t most = width == 0 ? 1 : width == 32 ? UINT32_MAX : (1u << width) - 1;
    for (uint64_t at = 0; at < shadow->is.m_bits; at++) {
        const uint32_t cell = shadow->cells[at] < most ? shadow->cells[at] : most;
        const uint32_t told = cell_of(data, &shadow->is, at);
        /* A counter that has once outgrown its bits may say so for ever, whatever it counts. */
        if (told != cell && !(told == most && shadow->overflowed))
            return wrong(s->model, "cell %" PRIu64 " of segment %u is %u, not %u", at, index, told,
                         cell);
    }
    return true;
}

bool step_read_data(struct step *s)
{
    const struct list *list = &s->filter->now.list;
    const uint8_t *data = s->out->data;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct shadow *shadow = list->segments[i];
        if (shadow->keys == NULL && !data_fit(s, shadow, data, i)) return false;
        data += shadow->is.data_bytes;
    }
    return true;
}

/* Bits that are set by hand: nobody counts them. */
bool step_write_bits(struct step *s)
{
    struct shadow *first = first_of(s->filter);
    first->mixed = true;
    if (s->op->kind == OP_SET_BIT) {
        const uint64_t at = s->out->counts[0]; /* the position that the executor took */
        const bool was = first->cells[at] != 0;
        first->cells[at] = 1;
        first->ones += !was;
        return ends(s, was);
    }
    for (uint32_t i = 0; i < s->op->keys.count; i++)
        (void)shadow_add(s, first, key_at(&s->op->keys, i), 1);
    return ends(s, 0);
}

bool step_like(struct step *s)
{
    const struct filter *f = s->filter;
    const struct policy *p = &f->now.policy;
    const struct tamis_segment_stat *first = &first_of(f)->is;
    const struct tamis_filter_spec *told = &s->out->like;
    struct tamis_filter_spec like = *told;
    like.kind = first->kind;
    like.seed = first->seed;
    like.on_full = p->on_full;
    like.slices = p->slices;
    like.window_ns = p->window_ns;
    like.window_items = p->window_items;
    like.counter_bits = first->counter_bits;
    like.flags =
        (p->durable ? TAMIS_FILTER_DURABLE : 0) | (p->from_first ? TAMIS_FILTER_FROM_FIRST : 0);
    like.pages = f->pages;
    like.reserved = 0;
    like.key_rule = NULL;
    if (told->m_bits != 0) {
        like.m_bits = first->m_bits;
        like.k = first->k;
        like.capacity = first->capacity;
    } else {
        like.k = 0;
        like.capacity = p->capacity;
        like.fp_rate = about(told->fp_rate, p->rate);
    }
    if (told->hash_set != s->out->like_set || strcmp(s->out->like_set, first->hash_set) != 0)
        return wrong(s->model, "a filter like it has hash set %s", s->out->like_set);
    return bytes_fit(s->model, "a filter like it", told, &like, sizeof like);
}

bool step_mapped(struct step *s)
{
    const struct tamis_filter_mapped *m = &s->out->mapped;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->filter->now.list.count; i++)
        bytes += s->told[i].file_bytes;
    if (m->bytes < bytes || m->present > m->bytes || m->huge_bytes > m->bytes ||
        m->wanted == TAMIS_PAGES_AUTO || m->wanted > TAMIS_PAGES_HUGE || m->reserved != 0)
        return wrong(s->model,
                     "mapped: %" PRIu64 " bytes of %" PRIu64 ", present %" PRIu64 ", huge %" PRIu64
                     ", wanted %u",
                     m->bytes, bytes, m->present, m->huge_bytes, m->wanted);
    return true;
}

/* ---- Names ------------------------------------------------------------------------------------
 */

bool step_rename(struct step *s)
{
    if (s->op->other == s->op->name) return true;
    s->model->filters[s->op->other] = s->filter;
    s->model->filters[s->op->name] = NULL;
    s->filter->name = s->op->other;
    s->out->has &= ~HAS_SEGMENTS; /* it was looked for by its old name */
    return true;
}

static void drop_filter(struct model *model, uint32_t name)
{
    model->filters[name]->dropped = true;
    filter_let_go(model->filters[name]);
    model->filters[name] = NULL;
}

bool step_drop(struct step *s)
{
    drop_filter(s->model, s->op->name);
    s->filter = NULL;
    return true;
}

/* With flags 1 the times are given at which the filters were created, with 2 one that is wrong. */
bool step_drop_many(struct step *s)
{
    const uint32_t both[] = {s->op->name, s->op->other};
    int64_t gone = 0;
    for (uint32_t i = 0; i < 2; i++) {
        if (s->model->filters[both[i]] == NULL || (s->op->flags == 2 && i == 1)) continue;
        drop_filter(s->model, both[i]);
        gone++;
    }
    s->filter = NULL;
    return ends(s, gone);
}

bool step_set(struct step *s)
{
    if (s->op->kind == OP_SET_PAGES)
        s->filter->pages = (uint32_t)s->op->number;
    else
        s->filter->owned = s->op->number != 0;
    return true;
}

/* ---- Lists ------------------------------------------------------------------------------------
 */

bool step_list(struct step *s)
{
    const bool watch = s->op->kind == OP_WATCH, live = watch || (s->op->flags & 1) != 0;
    const bool some = !watch && (s->op->flags & 2) != 0;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < NAMES; i++) {
        struct filter *f = s->model->filters[i];
        const bool shown = f != NULL && (!some || names[i][0] == names[s->op->name][0]);
        const struct tamis_filter_stat *told = NULL;
        for (uint32_t j = 0; j < s->out->listed; j++)
            if (strcmp(s->out->list[j].name, names[i]) == 0) told = &s->out->list[j];
        if (shown != (told != NULL))
            return wrong(s->model, "the list %s %s", shown ? "lacks" : "has", names[i]);
        seen += shown;
        /* After a fault, what cannot be read is told as the catalog has it. */
        if (shown && !s->out->reached && !stat_fits(s->model, f, told, live ? BY_LIVE : BY_LIST))
            return false;
    }
    for (uint32_t j = 1; j < s->out->listed; j++)
        if (strcmp(s->out->list[j - 1].name, s->out->list[j].name) >= 0)
            return wrong(s->model, "the list is not in byte order");
    return seen == s->out->listed ||
           wrong(s->model, "the list has %u filters, not %u", s->out->listed, seen);
}

bool step_watch(struct step *s)
{
    s->model->gained = 0;
    if (!step_add(s) || !list_is_told(s)) return false;
    s->model->watched = s->filter;
    const bool fit = step_list(s);
    s->model->watched = NULL;
    return fit;
}

/* ---- Exceptions -------------------------------------------------------------------------------
 */

bool step_except(struct step *s)
{
    struct filter *f = s->filter;
    int64_t changed = 0;
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        const uint32_t key = key_at(&s->op->keys, i);
        if (s->op->kind == OP_EXCEPT) {
            changed += set_put(&f->by_hand, key);
            continue;
        }
        const bool by_hand = set_remove(&f->by_hand, key),
                   was = set_remove(&f->now.found, key) || by_hand;
        changed += was;
        if (s->out->answers[i] != was)
            return wrong(s->model, "key %u: unexcept answers %u, not %u", key, s->out->answers[i],
                         was);
    }
    return ends(s, changed);
}

bool step_exceptions(struct step *s)
{
    const struct filter *f = s->filter;
    if (s->out->exceptions != exceptions_of(f))
        return wrong(s->model, "%u exceptions are told, not %" PRIu64, s->out->exceptions,
                     exceptions_of(f));
    for (uint32_t i = 0; i < s->out->exceptions; i++) {
        const struct told_exception *e = &s->out->exception[i];
        const bool by_hand = set_has(&f->by_hand, e->key);
        if (!is_exception(f, e->key) || e->generation != (by_hand ? 0 : f->now.found_by))
            return wrong(s->model, "exception %u of generation %" PRIu64, e->key, e->generation);
    }
    return true;
}

/* ---- Generations ------------------------------------------------------------------------------
 */

static bool generation_fits(struct step *s, const struct filter *f, const struct generation *g,
                            const struct tamis_generation_stat *told)
{
    static const uint8_t none[sizeof g->digest];
    struct tamis_generation_stat is = *told;
    is.generation = g->number;
    is.in_force = g == &f->now;
    is.kind = g->list.segments[g->list.count - 1]->is.kind;
    is.segment_count = g->list.count;
    is.fp_rate = about(told->fp_rate, g->rate);
    is.exceptions = g->found.count;
    is.published_at = g->published_at;
    is.size_bytes = is.items = 0;
    const bool says_nothing = g->maybe_built && memcmp(told->key_digest, none, sizeof none) == 0;
    memcpy(is.key_digest, says_nothing ? none : g->digest, sizeof none);
    for (uint32_t i = 0; i < g->list.count; i++) {
        is.size_bytes += g->list.segments[i]->is.file_bytes;
        is.items += g->list.segments[i]->is.items;
    }
    if (g->list.segments[0]->is.counter_bits != 0) is.size_bytes = told->size_bytes;
    if (g == &f->now || f->now.policy.slices > 0 || f->recorded_unsure) is.items = told->items;
    /* A segment that is made ahead is a change too, made when the clock of windows says. */
    if ((is_limited(&g->policy) || g->policy.slices > 0) && told->published_at >= MODEL_BEGIN &&
        told->published_at <= s->model->now)
        is.published_at = told->published_at;
    return bytes_fit(s->model, "a generation", told, &is, sizeof is);
}

bool step_generations(struct step *s)
{
    const struct filter *f = s->filter;
    const struct outcome *out = s->out;
    if (out->generations != f->kept_count + 1)
        return wrong(s->model, "%u generations are told, not %u", out->generations,
                     f->kept_count + 1);
    for (uint32_t i = 0; i < out->generations; i++) {
        const struct tamis_generation_stat *told = &out->generation[i];
        const struct generation *g = told->generation == f->now.number ? &f->now : NULL;
        for (uint32_t j = 0; j < f->kept_count; j++)
            if (f->kept[j].number == told->generation) g = &f->kept[j];
        if (g == NULL || (i > 0 && told->generation <= out->generation[i - 1].generation))
            return wrong(s->model, "generation %" PRIu64 " is told", told->generation);
        if (!generation_fits(s, f, g, told)) return false;
    }
    return true;
}

struct generation *generation_of(struct filter *f, uint64_t number)
{
    struct generation *chosen = NULL;
    for (struct generation *g = f->kept; g < f->kept + f->kept_count; g++)
        if (number != 0
                ? g->number == number
                : g->number < f->now.number && (chosen == NULL || g->number > chosen->number))
            chosen = g;
    return chosen;
}

bool step_rollback(struct step *s)
{
    struct filter *f = s->filter;
    struct generation *chosen = generation_of(f, s->op->number);
    const struct generation before = f->now;
    f->now = *chosen;
    memmove(chosen, chosen + 1, (size_t)(f->kept + f->kept_count - chosen - 1) * sizeof *chosen);
    f->kept[f->kept_count - 1] = before; /* the last one to leave force */
    f->now.published_at = s->out->stat.published_at;
    f->degraded_since = 0;
    f->checkpointed_at = s->out->stat.checkpointed_at; /* that of its own time */
    f->checkpoint_unsure = s->out->began;              /* a handle may have written to that list */
    f->recorded_unsure = true;
    return was_made(s, "rolled back", f->now.published_at);
}
