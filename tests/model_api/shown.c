/* SPDX-License-Identifier: BSD-2-Clause */
/* shown.c: what the library tells of a filter and its segments, field by field, against the model;
 * docs/sizing.md has the formulas. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model.h"

bool is_limited(const struct policy *policy)
{
    return policy->window_items > 0 || policy->on_full != TAMIS_ON_FULL_WARN;
}

bool may_grow(const struct policy *policy)
{
    return policy->on_full == TAMIS_ON_FULL_GROW && policy->window_items == 0;
}

uint32_t first_alive(const struct model *model, const struct list *list,
                     const struct policy *policy)
{
    uint32_t first = list->count;
    const uint64_t newest = list->segments[list->count - 1]->is.slice;
    if (policy->slices == 0) return 0;
    while (first > 0) {
        const struct tamis_segment_stat *s = &list->segments[first - 1]->is;
        if (newest > policy->slices && s->slice < newest - policy->slices) break;
        if (policy->window_ns > 0 &&
            s->slice_start + policy->window_ns / policy->slices + policy->window_ns <= model->now)
            break;
        first--;
    }
    return first;
}

uint64_t items_of(const struct model *model, const struct list *list, const struct policy *policy)
{
    uint64_t items = 0;
    for (uint32_t i = first_alive(model, list, policy); i < list->count; i++)
        items += list->segments[i]->is.items;
    return items;
}

/* ---- Segments -------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

#define FITS(what, told, foretold)                                                                 \
    ((told) == (foretold) ||                                                                       \
     wrong(model, "%s: %s is %.17g, not %.17g", of, (what), (double)(told), (double)(foretold)))

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

#define NEAR(what, told, foretold)                                                                 \
    (near((told), (foretold)) ||                                                                   \
     wrong(model, "%s: %s is %.17g, not about %.17g", of, (what), (told), (foretold)))

/* What a file must be, whatever it is for. */
static bool file_fits(struct model *model, const char *of, const struct tamis_segment_stat *s)
{
    const uint64_t bits = s->m_bits * (s->counter_bits != 0 ? s->counter_bits : 1);
    const uint64_t data_bytes = round_up(bits, 64) / 8;
    if (s->fingerprint_bits != 0)
        return FITS("file_bytes", s->file_bytes, round_up(s->data_offset + s->data_bytes, 4096));
    return FITS("data_bytes", s->data_bytes, data_bytes) &&
           FITS("data_offset", s->data_offset, s->data_bytes >= (32 << 20) ? 2u << 20 : 4096u) &&
           (s->counter_bits != 0 ||
            FITS("file_bytes", s->file_bytes, round_up(s->data_offset + s->data_bytes, 4096)));
}

/* The first segment of a filter by a spec: its share of keys and rate, and the size for both. */
bool first_segment_fits(struct model *model, const struct policy *policy,
                        const struct op_spec *spec, const struct tamis_segment_stat *s)
{
    const char *of = "the first segment";
    const bool window = policy->slices > 0, fixed = spec->m_bits != 0 || spec->set > 2;
    uint64_t capacity = policy->window_items != 0 ? policy->window_items : policy->capacity;
    double rate = policy->rate;
    if (window) {
        capacity = (capacity + policy->slices - 1) / policy->slices;
        rate /= policy->slices + 1;
    }
    if (may_grow(policy)) rate *= capacity < 65536 ? 0.1 : 0.5;
    struct tamis_sizing size = {.size = sizeof size,
                                .kind = spec->kind != 0 ? spec->kind : TAMIS_KIND_BLOCKED,
                                .capacity = capacity,
                                .fp_rate = rate,
                                .counter_bits = spec->counter_bits};
    const char *set = spec->set != 0 ? hash_sets[spec->set] : "xxh3";
    if (policy->on_full == TAMIS_ON_FULL_GROW || policy->window_items != 0)
        size.capacity += 64 + capacity / 1024; /* adders that are under way */
    if (strcmp(s->hash_set, set) != 0)
        return wrong(model, "%s: hash set %s, not %s", of, s->hash_set, set);
    if (!FITS("seed", s->seed, spec->seed) || !file_fits(model, of, s)) return false;
    if (fixed)
        return (spec->m_bits == 0 || FITS("m_bits", s->m_bits, spec->m_bits)) &&
               (spec->k == 0 || FITS("k", s->k, spec->k)) &&
               (spec->capacity == 0 || FITS("capacity", s->capacity, spec->capacity)) &&
               FITS("kind", s->kind, (uint32_t)TAMIS_KIND_BLOOM);
    if (tamis_size(&size) < 0) return wrong(model, "%s: no size: %s", of, tamis_last_error());
    return FITS("kind", s->kind, size.kind) && FITS("capacity", s->capacity, capacity) &&
           NEAR("fp_rate", s->fp_rate, rate) && FITS("m_bits", s->m_bits, size.m_bits) &&
           FITS("k", s->k, size.k) && FITS("words", s->words, size.words) &&
           FITS("counter_bits", s->counter_bits, size.counter_bits) &&
           FITS("data_bytes", s->data_bytes, size.data_bytes) &&
           (spec->counter_bits != 0 || spec->kind == TAMIS_KIND_COUNTING ||
            FITS("file_bytes", s->file_bytes, size.file_bytes)) &&
           FITS("step", s->step, 0u) &&
           FITS("slice_start", s->slice_start, window ? model->now : 0);
}

/* A slice is made for its share, or, if the one before it got more and the window grows, for what
 * that one got at least. */
static bool slice_fits(struct model *model, const struct filter *f, uint32_t index)
{
    const struct list *list = &f->now.list;
    const struct policy *p = &f->now.policy;
    const struct tamis_segment_stat *s = &list->segments[index]->is;
    const char *of = "a slice";
    const uint64_t share = (p->capacity + p->slices - 1) / p->slices;
    uint64_t got = 0;
    for (uint32_t i = first_alive(model, list, p); i < index; i++)
        if (list->segments[i]->is.slice + 1 == s->slice) got += list->segments[i]->is.items;
    if (!may_grow(p)) return FITS("capacity", s->capacity, share);
    if (got < share) got = share; /* it may have been made ahead, for what an older one got */
    return s->capacity >= got ||
           wrong(model, "a slice is made for %llu keys, and the last one got %llu",
                 (unsigned long long)s->capacity, (unsigned long long)got);
}

/* A segment that the filter has gone on in: it is empty, larger, and within what the rate leaves.
 */
static bool next_fits(struct model *model, const struct filter *f, uint32_t index)
{
    const struct list *list = &f->now.list;
    const struct policy *p = &f->now.policy;
    const struct tamis_segment_stat *s = &list->segments[index]->is;
    const struct tamis_segment_stat *last = index > 0 ? &list->segments[index - 1]->is : NULL;
    const char *of = "a further segment";
    double spent = 0;
    if (!file_fits(model, of, s)) return false;
    if (last == NULL) return true;
    if (!FITS("kind", s->kind, last->kind) || !FITS("seed", s->seed, last->seed) ||
        strcmp(s->hash_set, last->hash_set) != 0)
        return wrong(model, "%s is not hashed like the one before it", of);
    if (p->window_items != 0)
        return FITS("capacity", s->capacity, last->capacity) &&
               FITS("m_bits", s->m_bits, last->m_bits) && FITS("slice", s->slice, last->slice + 1);
    if (s->slice != last->slice && s->items == 0 && !slice_fits(model, f, index)) return false;
    if (s->slice == last->slice && !FITS("step", s->step, last->step + 1)) return false;
    if (s->slice == last->slice && s->capacity < 65536)
        return wrong(model, "%s is made for %llu keys", of, (unsigned long long)s->capacity);
    for (uint32_t i = 0; i <= index; i++)
        if (list->segments[i]->is.slice == s->slice) spent += list->segments[i]->is.fp_rate;
    const double share = p->rate / (p->slices > 0 ? p->slices + 1 : 1);
    if (spent > share * 1.0001)
        return wrong(model, "%s: the rates sum up to %g, and %g was asked for", of, spent, share);
    const double predicted = tamis_predict_rate(s->kind, s->m_bits, s->k, s->capacity);
    if (predicted > s->fp_rate * 1.0001)
        return wrong(model, "%s: full it has the rate %g, not %g", of, predicted, s->fp_rate);
    return true;
}

static bool segment_fits(struct model *model, const struct filter *f, uint32_t index,
                         const struct tamis_segment_stat *told)
{
    const struct shadow *shadow = f->now.list.segments[index];
    const struct tamis_segment_stat *s = &shadow->is;
    const bool past = index < first_alive(model, &f->now.list, &f->now.policy);
    const uint64_t flags =
        (s->flags & ~(uint64_t)TAMIS_SEGMENT_PAST) | (past ? TAMIS_SEGMENT_PAST : 0);
    char of[64];
    (void)snprintf(of, sizeof of, "segment %u of %s", index, names[f->name]);
    if (strcmp(told->hash_set, s->hash_set) != 0)
        return wrong(model, "%s: hash set %s, not %s", of, told->hash_set, s->hash_set);
    return FITS("number", told->number, s->number) && FITS("kind", told->kind, s->kind) &&
           FITS("k", told->k, s->k) && FITS("words", told->words, s->words) &&
           FITS("bit_order", told->bit_order, s->bit_order) &&
           FITS("m_bits", told->m_bits, s->m_bits) && FITS("seed", told->seed, s->seed) &&
           FITS("capacity", told->capacity, s->capacity) &&
           FITS("fp_rate", told->fp_rate, s->fp_rate) && FITS("items", told->items, s->items) &&
           FITS("created_at", told->created_at, s->created_at) &&
           FITS("data_offset", told->data_offset, s->data_offset) &&
           FITS("data_bytes", told->data_bytes, s->data_bytes) &&
           (s->counter_bits != 0 || FITS("file_bytes", told->file_bytes, s->file_bytes)) &&
           FITS("flags", told->flags, flags) && FITS("slice", told->slice, s->slice) &&
           FITS("slice_start", told->slice_start, s->slice_start) &&
           FITS("step", told->step, s->step) &&
           FITS("counter_bits", told->counter_bits, s->counter_bits) &&
           FITS("fingerprint_bits", told->fingerprint_bits, s->fingerprint_bits) &&
           FITS("pieces", told->pieces, s->pieces) && file_fits(model, of, told);
}

/* The segments as an outcome has them: each field, and no segment more or less. */
bool segments_fit(struct model *model, const struct filter *f, const struct outcome *out)
{
    const struct list *list = &f->now.list;
    if (out->segments != list->count)
        return wrong(model, "%s has %u segments, not %u", names[f->name], out->segments,
                     list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        struct shadow *shadow = list->segments[i];
        if (!segment_fits(model, f, i, &out->segment[i])) return false;
        if ((shadow->is.step > 0 || (i > 0 && f->now.policy.window_ns > 0)) &&
            !next_fits(model, f, i))
            return false;
    }
    return true;
}

/* ---- A filter -------------------------------------------------------------------------------- */

bool is_own_set(const char *hash_set)
{
    return strcmp(hash_set, "xxh3") == 0 || strcmp(hash_set, "sip") == 0;
}

static double either(double a, double b)
{
    return a + b - a * b;
}

/* The rate at the present number of items.  In a crowded segment (above 2 %) more keys were added
 * than were counted, so it is above that of the items. */
static bool predicted_fits(struct model *model, const char *of, const struct filter *f,
                           const struct tamis_filter_stat *stat, enum shown_by by)
{
    double least = 0, crowd = 0;
    const struct list *list = &f->now.list;
    for (uint32_t i = first_alive(model, list, &f->now.policy); i < list->count; i++) {
        const struct tamis_segment_stat *s = &list->segments[i]->is;
        double rate = s->fingerprint_bits != 0
                          ? pow(2, -(double)s->fingerprint_bits)
                          : tamis_predict_rate(s->kind, s->m_bits, s->k, s->items);
        if (s->fingerprint_bits != 0 && s->items == 0) rate = 0;
        least = either(least, rate);
        if (rate > crowd) crowd = rate;
        if (!is_own_set(s->hash_set)) return stat->predicted_rate >= 0 && stat->predicted_rate <= 1;
    }
    (void)by;
    if (crowd <= 0.02) return NEAR("predicted_rate", stat->predicted_rate, least);
    return (stat->predicted_rate >= least * 0.999 && stat->predicted_rate <= fmin(1, least * 3)) ||
           wrong(model, "%s: predicted_rate is %g, at least %g", of, stat->predicted_rate, least);
}

static bool is_static(const struct list *list)
{
    return list->segments[list->count - 1]->is.fingerprint_bits != 0;
}

static bool slice_is_over(const struct model *model, const struct filter *f)
{
    const struct policy *p = &f->now.policy;
    const struct list *list = &f->now.list;
    return p->window_ns > 0 &&
           model->now - list->segments[list->count - 1]->is.slice_start >= p->window_ns / p->slices;
}

static uint32_t state_of(const struct model *model, const struct filter *f,
                         const struct tamis_filter_stat *stat)
{
    const struct list *list = &f->now.list;
    const struct policy *p = &f->now.policy;
    const struct tamis_segment_stat *newest = &list->segments[list->count - 1]->is;
    uint32_t state = 0;
    if (!is_static(list) && p->window_items == 0 && !may_grow(p) &&
        (p->slices > 0 ? newest->items >= newest->capacity && !slice_is_over(model, f)
                       : stat->items >= stat->capacity))
        state |= TAMIS_STATE_FULL;
    if (!is_static(list) && stat->predicted_rate > 1.02 * stat->fp_rate &&
        (stat->items > stat->capacity || p->slices > 0 || list->count > 1))
        state |= TAMIS_STATE_OVER;
    /* What a hash set repeats, and keys that were taken for others, do not make a filter OVER. */
    if (newest->kind == TAMIS_KIND_BLOOM || stat->predicted_rate > 0.02)
        state &= stat->state | ~(uint32_t)TAMIS_STATE_OVER;
    if (stat->degraded_since != 0) state |= TAMIS_STATE_DEGRADED;
    return state;
}

static bool sums_fit(struct model *model, const char *of, const struct filter *f,
                     const struct tamis_filter_stat *stat)
{
    const struct list *list = &f->now.list;
    uint64_t bits = 0, bytes = 0, places = 0, slices = 0, last = UINT64_MAX;
    double all = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tamis_segment_stat *s = &list->segments[i]->is;
        bits += s->m_bits;
        bytes += s->file_bytes;
        places += s->capacity;
        all += (double)s->m_bits * (s->counter_bits != 0 ? s->counter_bits : 1);
        if (i >= first_alive(model, list, &f->now.policy) && f->now.policy.slices > 0 &&
            s->slice != last)
            slices++, last = s->slice;
    }
    return FITS("m_bits", stat->m_bits, bits) &&
           (list->segments[0]->is.counter_bits != 0 ||
            FITS("size_bytes", stat->size_bytes, bytes)) &&
           FITS("live_slices", stat->live_slices, slices) &&
           NEAR("bits_per_key", stat->bits_per_key,
                all / (double)(f->now.policy.slices > 0 ? places : stat->capacity));
}

static bool policy_fits(struct model *model, const char *of, const struct filter *f,
                        const struct tamis_filter_stat *stat)
{
    const struct policy *p = &f->now.policy;
    const uint32_t flags = (p->durable ? TAMIS_FILTER_DURABLE : 0) |
                           (p->from_first ? TAMIS_FILTER_FROM_FIRST : 0) |
                           (f->owned ? TAMIS_FILTER_OWNED : 0);
    return FITS("window_ns", stat->window_ns, p->window_ns) &&
           FITS("window_items", stat->window_items, p->window_items) &&
           FITS("slices", stat->slices, p->slices) && FITS("on_full", stat->on_full, p->on_full) &&
           FITS("flags", stat->flags, flags) && FITS("keep", stat->keep, f->keep) &&
           FITS("pages", stat->pages, (uint64_t)f->pages);
}

/* Capacity is that of the newest segment and what the older ones hold, but a window's stays. */
uint64_t capacity_of(const struct filter *f)
{
    const struct list *list = &f->now.list;
    uint64_t capacity = list->segments[list->count - 1]->is.capacity;
    if (f->now.policy.slices > 0) return f->now.policy.capacity;
    for (uint32_t i = 0; i + 1 < list->count; i++)
        capacity += list->segments[i]->is.items;
    return capacity;
}

static bool room_fits(struct model *model, const char *of, const struct filter *f,
                      const struct tamis_filter_stat *stat, enum shown_by by)
{
    const struct list *list = &f->now.list;
    const struct tamis_segment_stat *newest = &list->segments[list->count - 1]->is;
    uint64_t room = newest->items < newest->capacity ? newest->capacity - newest->items : 0;
    if (by == BY_LIST || is_static(list) || !is_limited(&f->now.policy)) room = UINT64_MAX;
    return f->holed ||
           (FITS("room", stat->room, room) && FITS("lacks_bytes", stat->lacks_bytes, 0u));
}

static bool import_fits(struct model *model, const char *of, const struct filter *f,
                        const struct tamis_filter_stat *stat, enum shown_by by)
{
    const int64_t at = by == BY_STAT ? f->now.imported_at : 0;
    if (!FITS("imported_at", stat->imported_at, at)) return false;
    const bool is = at != 0, is_signed = is && !f->now.unsigned_import;
    const char *from = strrchr(stat->imported_from, '/'); /* a command names the file */
    if (strcmp(from != NULL ? from + 1 : stat->imported_from, is ? "a stream" : "") != 0 ||
        strcmp(stat->imported_signed_by, is_signed ? "signer" : "") != 0 ||
        strcmp(stat->imported_signed_comment, is_signed ? "a comment" : "") != 0 ||
        (strlen(stat->imported_digest) != (is ? 32u : 0u)))
        return wrong(model, "%s: imported from '%s', signed by '%s', '%s', digest '%s'", of,
                     stat->imported_from, stat->imported_signed_by, stat->imported_signed_comment,
                     stat->imported_digest);
    return FITS("imported_signed_at", stat->imported_signed_at,
                is_signed ? INT64_C(1234567890) : 0);
}

/* After a merge has raised what the older segments hold, the capacity is that of before. */
static bool is_raised(const struct list *list, uint64_t told)
{
    bool raised = false;
    for (uint32_t i = 0; i + 1 < list->count; i++)
        raised |= list->segments[i]->mixed;
    return raised && told >= list->segments[list->count - 1]->is.capacity;
}

/* The list tells counts as they were at the last close or sync. */
static bool counts_fit(struct model *model, const char *of, const struct filter *f,
                       const struct tamis_filter_stat *stat, enum shown_by by)
{
    const uint64_t items = items_of(model, &f->now.list, &f->now.policy);
    if (by == BY_LIST)
        return f->recorded_unsure || may_grow(&f->now.policy) || f->now.policy.slices > 0 ||
               stat->items == items || FITS("items", stat->items, f->recorded_items);
    return FITS("items", stat->items, items) && predicted_fits(model, of, f, stat, by) &&
           (is_raised(&f->now.list, stat->capacity) ||
            FITS("capacity", stat->capacity, capacity_of(f))) &&
           (f->holed || FITS("state", stat->state, state_of(model, f, stat))) &&
           room_fits(model, of, f, stat, by);
}

/* A slice that came and went between two looks was never seen. */
static bool gain_fits(struct model *model, const char *of, const struct filter *f,
                      const struct tamis_filter_stat *stat)
{
    const uint64_t gained = model->watched == f ? model->gained : 0;
    return f->holed || (f->now.policy.slices > 0 && stat->new_keys <= gained) ||
           FITS("new_keys", stat->new_keys, gained);
}

bool stat_fits(struct model *model, const struct filter *f, const struct tamis_filter_stat *stat,
               enum shown_by by)
{
    static const char *const where[] = {"stat", "list", "list_live"};
    const struct list *list = &f->now.list;
    const struct tamis_segment_stat *newest = &list->segments[list->count - 1]->is;
    char of[64];
    (void)snprintf(of, sizeof of, "%s of %s", where[by], names[f->name]);
    if (strcmp(stat->name, names[f->name]) != 0)
        return wrong(model, "%s: its name is '%s'", of, stat->name);
    if (strcmp(stat->hash_set, newest->hash_set) != 0)
        return wrong(model, "%s: hash set %s, not %s", of, stat->hash_set, newest->hash_set);
    return FITS("kind", stat->kind, newest->kind) && FITS("k", stat->k, newest->k) &&
           FITS("seed", stat->seed, newest->seed) && NEAR("fp_rate", stat->fp_rate, f->now.rate) &&
           FITS("generation", stat->generation, f->now.number) &&
           FITS("segment_count", stat->segment_count, list->count) &&
           FITS("created_at", stat->created_at, f->created_at) &&
           FITS("counter_bits", stat->counter_bits, newest->counter_bits) &&
           FITS("fingerprint_bits", stat->fingerprint_bits, newest->fingerprint_bits) &&
           FITS("exceptions", stat->exceptions, exceptions_of(f)) &&
           (by == BY_LIST || stat->degraded_since == 0 || model->had_fault ||
            FITS("degraded_since", stat->degraded_since, f->degraded_since)) &&
           gain_fits(model, of, f, stat) && sums_fit(model, of, f, stat) &&
           policy_fits(model, of, f, stat) && counts_fit(model, of, f, stat, by) &&
           import_fits(model, of, f, stat, by);
}
