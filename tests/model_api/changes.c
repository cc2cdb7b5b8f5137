/* SPDX-License-Identifier: BSD-2-Clause */
/* changes.c: the model's judges of what concerns a filter as a whole: its checkpoints, what is told
 * of it, its names, exceptions and generations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* The usual refusals of a call on a handle; true: there is nothing left to judge. */
static bool handle_refused(struct step *s, bool writes)
{
    if (is_fault(s)) return (void)(writes && adopt(s, s->filter)), true;
    if (writes && s->handle->read_only && (!s->filter->dropped || s->out->rc == TAMIS_EREADONLY))
        return (void)ends(s, TAMIS_EREADONLY, NULL), true;
    if (s->filter->dropped) return (void)ends(s, TAMIS_EDROPPED, names[s->filter->name]), true;
    return false;
}

/* ---- Checkpoints and the window ---------------------------------------------------------------
 */

static bool step_sync(struct step *s)
{
    struct filter *f = s->filter;
    if (handle_refused(s, true)) return true;
    if (!ends(s, 0, NULL)) return false;
    const int64_t at = s->out->stat.checkpointed_at, latest = s->out->wrote;
    if (!was_made(s, "the checkpoint was made", at)) return false;
    if (latest != 0 && at > latest)
        return wrong(s->model, "checkpointed_at %lld is later than the first write, %lld",
                     (long long)at, (long long)latest);
    f->checkpointed_at = at;
    f->checkpoint_unsure = f->degraded_since = 0;
    f->recorded_items = items_of(s->model, &f->now.list, &f->now.policy);
    f->recorded_unsure = false;
    return list_is_told(s);
}

static bool step_rotate(struct step *s)
{
    struct filter *f = s->filter;
    uint32_t taken = 0;
    if (handle_refused(s, true)) return true;
    if (f->now.policy.slices == 0) return ends(s, TAMIS_EUNSUPPORTED, names[f->name]);
    if (!ends(s, 0, NULL)) return false;
    const struct tamis_segment_stat last = newest_of(f)->is;
    const int64_t length = f->now.policy.window_ns / f->now.policy.slices,
                  since = s->model->now - last.slice_start;
    if (!go_on(s, f, &taken)) return false;
    const int64_t start =
        length == 0 || since < length ? s->model->now : last.slice_start + since / length * length;
    if (newest_of(f)->is.slice != last.slice + 1 || newest_of(f)->is.slice_start != start)
        return wrong(s->model, "slice %llu begins at %lld, not %lld",
                     (unsigned long long)newest_of(f)->is.slice,
                     (long long)newest_of(f)->is.slice_start, (long long)start);
    return list_is_told(s);
}

/* A promise without an effect that could be seen, or none but a slice. */
static bool step_ready(struct step *s)
{
    struct filter *f = s->filter;
    const bool looks = s->op->kind != OP_SET_PREPARED && s->op->kind != OP_MAY_WAIT &&
                       s->op->kind != OP_SYNC_INTERVAL;
    if (f->dropped && !looks && !s->handle->read_only)
        return s->out->rc >= 0 || ends(s, TAMIS_EDROPPED, NULL);
    if (handle_refused(s, true)) return true;
    if (s->op->kind == OP_MAY_WAIT) {
        const bool waits = f->now.policy.durable && newest_of(f)->keys == NULL;
        if (s->out->rc < 0 || s->out->rc > TAMIS_ADD_MAY_WAIT) return ends(s, 0, NULL);
        return !waits || ends(s, TAMIS_ADD_MAY_WAIT, NULL);
    }
    if (!ends(s, 0, NULL)) return false;
    if (s->op->kind == OP_SET_PREPARED) s->handle->prepared = s->op->number != 0;
    if (s->op->kind == OP_ACCEPT) f->unclean_since = 0;
    if (s->op->kind != OP_PREPARE || newest_of(f)->keys != NULL) return list_is_told(s);
    s->handle->wrote = true;
    const int64_t length =
        f->now.policy.slices > 0 ? f->now.policy.window_ns / f->now.policy.slices : 0;
    uint32_t taken = 0;
    if (length > 0 && !f->now.policy.durable &&
        s->model->now - newest_of(f)->is.slice_start >= length && !go_on(s, f, &taken))
        return false;
    return list_is_told(s);
}

/* ---- What is told -----------------------------------------------------------------------------
 */

double estimate(const struct tamis_segment_stat *s, uint64_t ones)
{
    const double m = (double)s->m_bits, set = ones < s->m_bits ? (double)ones : m - 1;
    const double unset = log(1 - set / m);
    if (s->kind == TAMIS_KIND_BLOOM) return fmax(-m / s->k * unset, 0);
    const double z = s->words, q = s->k / z;
    return fmax(unset / log(1 - z / 8 * (1 - pow(63.0 / 64, q)) * 512 / m), 0);
}

static double part_of(const struct shadow *shadow, uint32_t part)
{
    const uint64_t m = shadow->is.m_bits, first = m * part / FILL_PARTS;
    const uint64_t end = m * (part + 1) / FILL_PARTS;
    uint64_t set = 0;
    for (uint64_t i = first; i < end || i == first; i++)
        set += shadow->cells[i] != 0;
    return (double)set / (double)(end > first ? end - first : 1);
}

static bool step_fill(struct step *s)
{
    const struct list *list = &s->filter->now.list;
    struct model *model = s->model;
    if (handle_refused(s, false)) return true;
    if (!ends(s, 0, NULL)) return false;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct shadow *shadow = list->segments[i];
        const struct tamis_segment_stat *told = &s->out->segment[i];
        const double m = (double)shadow->is.m_bits;
        if (told->fp_rate_now < 0 || told->fp_rate_now > 1 || !isfinite(told->fp_rate_now))
            return wrong(model, "fp_rate_now is %g", told->fp_rate_now);
        if (shadow->keys != NULL) {
            if (told->items_estimated != shadow->is.items) return wrong(model, "items_estimated");
            continue;
        }
        if (told->ones != shadow->ones || fabs(told->fill - (double)told->ones / m) > 1e-12)
            return wrong(model, "segment %u has %llu ones, fill %g, not %llu of %g", i,
                         (unsigned long long)told->ones, told->fill,
                         (unsigned long long)shadow->ones, m);
        if (fabs((double)told->items_estimated - estimate(&shadow->is, shadow->ones)) > 0.51)
            return wrong(model, "segment %u: items_estimated %llu, not about %.1f", i,
                         (unsigned long long)told->items_estimated,
                         estimate(&shadow->is, shadow->ones));
        if (shadow->is.kind == TAMIS_KIND_BLOOM && is_own_set(shadow->is.hash_set) && m > 4000 &&
            fabs(told->fp_rate_now - pow(told->fill, shadow->is.k)) >
                1e-6 + 0.05 * told->fp_rate_now)
            return wrong(model, "segment %u: fp_rate_now %g, not %g", i, told->fp_rate_now,
                         pow(told->fill, shadow->is.k));
        for (uint32_t p = 0; p < FILL_PARTS; p++)
            if (fabs(s->out->parts[i][p] - part_of(shadow, p)) > 1e-12)
                return wrong(model, "part %u of segment %u is filled to %g, not %g", p, i,
                             s->out->parts[i][p], part_of(shadow, p));
    }
    return true;
}

uint32_t cell_of(const uint8_t *data, const struct tamis_segment_stat *s, uint64_t at)
{
    const uint32_t width = s->counter_bits != 0 ? s->counter_bits : 1;
    const uint64_t bit = s->bit_order != 0 ? at ^ 7 : at;
    uint32_t value = 0;
    for (uint32_t i = 0; i < width; i++)
        value |= (uint32_t)(data[(bit * width + i) / 8] >> ((bit * width + i) % 8) & 1) << i;
    return value;
}

static bool data_fit(struct step *s, const struct shadow *shadow, const uint8_t *data,
                     uint32_t index)
{
    const uint32_t width = shadow->is.counter_bits;
    const uint32_t most = width == 0 ? 1 : width == 32 ? UINT32_MAX : (1u << width) - 1;
    for (uint64_t at = 0; at < shadow->is.m_bits; at++) {
        const uint32_t cell = shadow->cells[at] < most ? shadow->cells[at] : most;
        /* A counter that has once outgrown its bits may say so for ever, whatever it counts. */
        if (cell_of(data, &shadow->is, at) == most && shadow->is.counter_bits != 0 &&
            shadow->overflowed)
            continue;
        if (cell_of(data, &shadow->is, at) != cell)
            return wrong(s->model, "cell %llu of segment %u is %u, not %u", (unsigned long long)at,
                         index, cell_of(data, &shadow->is, at), cell);
    }
    return true;
}

static bool step_read_data(struct step *s)
{
    const struct list *list = &s->filter->now.list;
    const uint8_t *data = s->out->data;
    if (handle_refused(s, false)) return true;
    if (!ends(s, 0, NULL)) return false;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct shadow *shadow = list->segments[i];
        if (shadow->keys == NULL && !data_fit(s, shadow, data, i)) return false;
        data += shadow->is.data_bytes;
    }
    return true;
}

/* Bits that are set by hand: nobody counts them. */
static bool step_write_bits(struct step *s)
{
    struct filter *f = s->filter;
    struct shadow *first = f->now.list.segments[0];
    const bool one = s->op->kind == OP_SET_BIT;
    if (handle_refused(s, true)) return true;
    if (first->keys != NULL || first->is.counter_bits != 0 ||
        (one && first->is.kind != TAMIS_KIND_BLOOM))
        return ends(s, TAMIS_EUNSUPPORTED, names[f->name]);
    s->handle->wrote = true;
    first->mixed = true;
    if (one) {
        const uint64_t at = s->out->counts[0]; /* the position that the executor took */
        const bool was = first->cells[at] != 0;
        first->cells[at] = 1;
        first->ones += !was;
        return ends(s, was, NULL) && list_is_told(s);
    }
    for (uint32_t i = 0; i < s->op->keys.count; i++)
        shadow_add(s->model, f, first, key_at(&s->op->keys, i), 1);
    return ends(s, 0, NULL) && list_is_told(s);
}

static bool step_like(struct step *s)
{
    const struct filter *f = s->filter;
    const struct policy *p = &f->now.policy;
    const struct tamis_filter_spec *like = &s->out->like;
    const struct tamis_segment_stat *first = &f->now.list.segments[0]->is;
    if (handle_refused(s, false)) return true;
    if (!ends(s, 0, NULL)) return false;
    const uint32_t flags =
        (p->durable ? TAMIS_FILTER_DURABLE : 0) | (p->from_first ? TAMIS_FILTER_FROM_FIRST : 0);
    if (like->kind != first->kind || like->seed != first->seed ||
        like->hash_set != s->out->like_set || strcmp(s->out->like_set, first->hash_set) != 0 ||
        like->on_full != p->on_full || like->slices != p->slices ||
        like->window_ns != p->window_ns || like->window_items != p->window_items ||
        like->counter_bits != first->counter_bits ||
        (like->flags & ~TAMIS_FILTER_IN_DRAWER) != flags || like->pages != f->pages)
        return wrong(s->model,
                     "the spec of a filter like it has kind %u, seed %llu, set %s, on_full %u, "
                     "slices %u, flags %#x, pages %u",
                     like->kind, (unsigned long long)like->seed, s->out->like_set, like->on_full,
                     like->slices, like->flags, like->pages);
    if (like->m_bits != 0
            ? like->m_bits != first->m_bits || like->k != first->k ||
                  like->capacity != first->capacity
            : like->capacity != p->capacity || fabs(like->fp_rate - p->rate) > 1e-9 * p->rate)
        return wrong(s->model,
                     "the spec of a filter like it has capacity %llu, rate %g, m %llu, k %u",
                     (unsigned long long)like->capacity, like->fp_rate,
                     (unsigned long long)like->m_bits, like->k);
    return true;
}

static bool step_mapped(struct step *s)
{
    const struct tamis_filter_mapped *mapped = &s->out->mapped;
    uint64_t bytes = 0;
    if (handle_refused(s, false)) return true;
    if (!ends(s, 0, NULL)) return false;
    for (uint32_t i = 0; i < s->filter->now.list.count; i++)
        bytes += s->out->segment[i].file_bytes;
    if (mapped->bytes < bytes || mapped->present > mapped->bytes ||
        mapped->huge_bytes > mapped->bytes || mapped->wanted == TAMIS_PAGES_AUTO ||
        mapped->wanted > TAMIS_PAGES_HUGE)
        return wrong(s->model, "mapped: %llu bytes of %llu, present %llu, huge %llu, wanted %u",
                     (unsigned long long)mapped->bytes, (unsigned long long)bytes,
                     (unsigned long long)mapped->present, (unsigned long long)mapped->huge_bytes,
                     mapped->wanted);
    return true;
}

/* ---- Names ------------------------------------------------------------------------------------
 */

static bool step_exists(struct step *s)
{
    return is_fault(s) || ends(s, s->filter != NULL, NULL);
}

static bool step_rename(struct step *s)
{
    struct model *model = s->model;
    if (refused(s)) return true;
    if (s->op->other == s->op->name)
        return s->out->rc == 0 || ends(s, TAMIS_EEXIST, names[s->op->other]);
    if (model->filters[s->op->other] != NULL) return ends(s, TAMIS_EEXIST, names[s->op->other]);
    if (!ends(s, 0, NULL)) return false;
    model->filters[s->op->other] = s->filter;
    model->filters[s->op->name] = NULL;
    s->filter->name = s->op->other;
    return true;
}

static void drop_filter(struct model *model, uint32_t name)
{
    model->filters[name]->dropped = true;
    filter_let_go(model->filters[name]);
    model->filters[name] = NULL;
}

static bool step_drop(struct step *s)
{
    if (refused(s)) return true;
    if (!ends(s, 0, NULL)) return false;
    drop_filter(s->model, s->op->name);
    s->filter = NULL;
    return true;
}

/* With flags 1 the times are given at which the filters were created, with 2 one that is wrong. */
static bool step_drop_many(struct step *s)
{
    struct model *model = s->model;
    const uint32_t both[] = {s->op->name, s->op->other};
    int64_t gone = 0;
    if (is_fault(s)) return true;
    if (store_reads_only(s)) return ends(s, TAMIS_EREADONLY, NULL);
    for (uint32_t i = 0; i < 2; i++)
        if (model->filters[both[i]] != NULL && !(s->op->flags == 2 && i == 1)) {
            drop_filter(model, both[i]);
            gone++;
        }
    s->filter = NULL;
    return ends(s, gone, NULL);
}

static bool step_set(struct step *s)
{
    const bool pages = s->op->kind == OP_SET_PAGES;
    if (refused(s)) return true;
    if (!ends(s, 0, NULL)) return false;
    if (pages)
        s->filter->pages = (uint32_t)s->op->number;
    else
        s->filter->owned = s->op->number != 0;
    return list_is_told(s);
}

/* ---- Lists ------------------------------------------------------------------------------------
 */

static bool step_list(struct step *s);

static bool step_watch(struct step *s)
{
    struct model *model = s->model;
    if (is_fault(s)) return adopt(s, s->filter);
    model->gained = 0;
    if (!step_add(s)) return false;
    if (s->out->rc < 0 && s->out->rc != TAMIS_EFULL) model->gained = 0;
    s->out->rc = 0;
    model->watched = s->filter;
    const bool fits = step_list(s);
    model->watched = NULL;
    return fits;
}

static bool step_list(struct step *s)
{
    const bool live = s->op->kind == OP_WATCH || (s->op->flags & 1) != 0;
    uint32_t seen = 0;
    if (is_fault(s)) return true;
    if (!ends(s, 0, NULL)) return false;
    for (uint32_t i = 0; i < NAMES; i++) {
        const struct filter *f = s->model->filters[i];
        const bool shown = f != NULL && (s->op->kind == OP_WATCH || (s->op->flags & 2) == 0 ||
                                         names[i][0] == names[s->op->name][0]);
        const struct tamis_filter_stat *told = NULL;
        for (uint32_t j = 0; j < s->out->listed; j++)
            if (strcmp(s->out->list[j].name, names[i]) == 0) told = &s->out->list[j];
        if (shown != (told != NULL))
            return wrong(s->model, "the list %s %s", shown ? "lacks" : "has", names[i]);
        seen += shown;
        if (shown && !s->out->reached && !stat_fits(s->model, f, told, live ? BY_LIVE : BY_LIST))
            return false;
    }
    if (s->out->reached) return true; /* what cannot be read is told as the catalog has it */
    if (seen != s->out->listed)
        return wrong(s->model, "the list has %u filters, not %u", s->out->listed, seen);
    for (uint32_t j = 1; j < s->out->listed; j++)
        if (strcmp(s->out->list[j - 1].name, s->out->list[j].name) >= 0)
            return wrong(s->model, "the list is not in byte order");
    return true;
}

/* ---- Exceptions -------------------------------------------------------------------------------
 */

static bool step_except(struct step *s)
{
    struct filter *f = s->filter;
    const bool off = s->op->kind == OP_UNEXCEPT;
    int64_t changed = 0;
    if (refused(s)) return true;
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        const uint32_t key = key_at(&s->op->keys, i);
        bool was = exceptions_find(&f->by_hand, key, 0) != NULL;
        if (off) {
            was = exceptions_remove(&f->by_hand, key, 0);
            was |= exceptions_remove(&f->now.found, key, 0);
        } else {
            exceptions_put(&f->by_hand, key, 0);
        }
        changed += was == off;
        if (off && s->out->answers[i] != was && s->out->rc >= 0)
            return wrong(s->model, "key %u: unexcept answers %u, not %u", key, s->out->answers[i],
                         was);
    }
    return ends(s, changed, NULL) && list_is_told(s);
}

static bool step_exceptions(struct step *s)
{
    struct filter *f = s->filter;
    if (s->op->kind == OP_EACH_EXCEPTION ? handle_refused(s, false) : is_fault(s)) return true;
    if (f == NULL) return ends(s, TAMIS_ENOTFOUND, names[s->op->name]);
    if (!ends(s, 0, NULL)) return false;
    if (s->out->exceptions != exceptions_of(f))
        return wrong(s->model, "%u exceptions are told, not %llu", s->out->exceptions,
                     (unsigned long long)exceptions_of(f));
    for (uint32_t i = 0; i < s->out->exceptions; i++) {
        const struct told_exception *e = &s->out->exception[i];
        const bool by_hand = exceptions_find(&f->by_hand, e->key, 0) != NULL;
        if (!is_exception(f, e->key) || e->generation != (by_hand ? 0 : f->now.found_by))
            return wrong(s->model, "exception %u of generation %llu", e->key,
                         (unsigned long long)e->generation);
    }
    return true;
}

/* ---- Generations ------------------------------------------------------------------------------
 */

static bool digest_fits(const struct generation *g, const uint8_t *told)
{
    static const uint8_t none[sizeof g->digest];
    return memcmp(told, g->digest, sizeof none) == 0 ||
           (g->maybe_built && memcmp(told, none, sizeof none) == 0);
}

static bool generation_fits(struct step *s, const struct filter *f, const struct generation *g,
                            const struct tamis_generation_stat *told)
{
    const struct list *list = &g->list;
    uint64_t bytes = 0, items = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        bytes += list->segments[i]->is.file_bytes;
        items += list->segments[i]->is.items;
    }
    if (told->generation != g->number || told->in_force != (g == &f->now) ||
        told->kind != list->segments[list->count - 1]->is.kind ||
        told->segment_count != list->count ||
        (list->segments[0]->is.counter_bits == 0 && told->size_bytes != bytes) ||
        fabs(told->fp_rate - g->rate) > 1e-9 * g->rate || told->exceptions != g->found.count ||
        !digest_fits(g, told->key_digest))
        return wrong(s->model,
                     "generation %llu (%s): in_force %u, kind %u, %u segments, %llu bytes, rate "
                     "%g, %llu exceptions; foretold %llu: %llu bytes, rate %g, %u exceptions",
                     (unsigned long long)told->generation, names[f->name], told->in_force,
                     told->kind, told->segment_count, (unsigned long long)told->size_bytes,
                     told->fp_rate, (unsigned long long)told->exceptions,
                     (unsigned long long)g->number, (unsigned long long)bytes, g->rate,
                     g->found.count);
    if (g != &f->now && f->now.policy.slices == 0 && told->items != items && !f->recorded_unsure)
        return wrong(s->model, "generation %llu: %llu items, not %llu",
                     (unsigned long long)told->generation, (unsigned long long)told->items,
                     (unsigned long long)items);
    /* A segment that is made ahead is a change too, made when the clock of windows says. */
    const bool ahead = (is_limited(&g->policy) || g->policy.slices > 0) &&
                       told->published_at >= MODEL_BEGIN && told->published_at <= s->model->now;
    if (told->published_at != g->published_at && !ahead)
        return wrong(s->model, "generation %llu: published_at %lld, not %lld",
                     (unsigned long long)told->generation, (long long)told->published_at,
                     (long long)g->published_at);
    return true;
}

static bool step_generations(struct step *s)
{
    struct filter *f = s->filter;
    if (is_fault(s)) return true;
    if (f == NULL) return ends(s, TAMIS_ENOTFOUND, names[s->op->name]);
    if (!ends(s, 0, NULL)) return false;
    if (s->out->generations != f->kept_count + 1)
        return wrong(s->model, "%u generations are told, not %u", s->out->generations,
                     f->kept_count + 1);
    for (uint32_t i = 0; i < s->out->generations; i++) {
        const struct tamis_generation_stat *told = &s->out->generation[i];
        const struct generation *g = told->generation == f->now.number ? &f->now : NULL;
        for (uint32_t j = 0; j < f->kept_count; j++)
            if (f->kept[j].number == told->generation) g = &f->kept[j];
        if (g == NULL)
            return wrong(s->model, "generation %llu is told", (unsigned long long)told->generation);
        if (i > 0 && told->generation <= s->out->generation[i - 1].generation)
            return wrong(s->model, "the generations are not in order");
        if (!generation_fits(s, f, g, told)) return false;
    }
    return true;
}

static bool step_rollback(struct step *s)
{
    struct filter *f = s->filter;
    struct generation *chosen = NULL;
    if (refused(s)) return true;
    for (uint32_t i = 0; i < f->kept_count; i++) {
        struct generation *g = &f->kept[i];
        if (s->op->number != 0
                ? g->number == s->op->number
                : g->number < f->now.number && (chosen == NULL || g->number > chosen->number))
            chosen = g;
    }
    if (chosen == NULL) return ends(s, TAMIS_ENOTFOUND, names[s->op->name]);
    if (!ends(s, 0, NULL)) return false;
    const struct generation before = f->now;
    f->now = *chosen;
    memmove(chosen, chosen + 1, (size_t)(f->kept + f->kept_count - chosen - 1) * sizeof *chosen);
    f->kept[f->kept_count - 1] = before; /* the last one to leave force */
    f->now.published_at = s->out->stat.published_at;
    f->degraded_since = 0;
    f->recorded_unsure = true;
    return was_made(s, "rolled back", f->now.published_at) && list_is_told(s);
}

step_fn *changes_step(enum op_kind kind)
{
    static step_fn *const judges[OP_COUNT_OF] = {
        [OP_SYNC] = step_sync,
        [OP_ROTATE] = step_rotate,
        [OP_MAY_WAIT] = step_ready,
        [OP_PREPARE] = step_ready,
        [OP_SET_PREPARED] = step_ready,
        [OP_EXPECT] = step_ready,
        [OP_ACCEPT] = step_ready,
        [OP_SYNC_INTERVAL] = step_ready,
        [OP_FILL] = step_fill,
        [OP_READ_DATA] = step_read_data,
        [OP_WRITE_DATA] = step_write_bits,
        [OP_SET_BIT] = step_write_bits,
        [OP_LIKE] = step_like,
        [OP_MAPPED] = step_mapped,
        [OP_EXISTS] = step_exists,
        [OP_RENAME] = step_rename,
        [OP_DROP] = step_drop,
        [OP_DROP_MANY] = step_drop_many,
        [OP_SET_OWNED] = step_set,
        [OP_SET_PAGES] = step_set,
        [OP_LIST] = step_list,
        [OP_WATCH] = step_watch,
        [OP_EXCEPT] = step_except,
        [OP_UNEXCEPT] = step_except,
        [OP_EXCEPTIONS] = step_exceptions,
        [OP_EACH_EXCEPTION] = step_exceptions,
        [OP_GENERATIONS] = step_generations,
        [OP_ROLLBACK] = step_rollback,
    };
    return judges[kind];
}
