/* SPDX-License-Identifier: BSD-2-Clause */
/* shown.c: foretells what the library tells of a filter and its segments; docs/sizing.md has the
 * formulas. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "tamis_fields.h"

double about(double told, double foretold)
{
    return fabs(told - foretold) <= 1e-9 * fmax(fabs(told), fabs(foretold)) ? told : foretold;
}

static bool is_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

bool fields_fit(struct model *model, const char *what, uint32_t of, const void *told,
                const void *foretold)
{
    struct tamis_field f = {.size = sizeof f};
    for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_ANYWHERE, i, &f) > 0; i++) {
        struct tamis_field_value a = {.size = sizeof a}, b = a;
        if (tamis_field_get(&f, told, &a) <= 0 || tamis_field_get(&f, foretold, &b) <= 0) continue;
        if (a.number != b.number || a.ns != b.ns || !is_text(a.text, b.text))
            return wrong(model, "%s: %s is %s %" PRIu64 " %" PRId64 ", not %s %" PRIu64 " %" PRId64,
                         what, f.name, a.text, a.number, a.ns, b.text, b.number, b.ns);
        if (a.real < b.real || a.real > b.real)
            return wrong(model, "%s: %s is %.17g, not %.17g", what, f.name, a.real, b.real);
    }
    return true;
}

bool bytes_fit(struct model *model, const char *what, const void *told, const void *foretold,
               size_t bytes)
{
    const uint64_t *a = told, *b = foretold;
    for (size_t i = 1; i < bytes / sizeof *a; i++) /* behind the size */
        if (a[i] != b[i])
            return wrong(model, "%s: at byte %zu is %" PRIu64 ", not %" PRIu64, what, i * sizeof *a,
                         a[i], b[i]);
    return true;
}

bool is_limited(const struct policy *policy)
{
    return policy->window_items > 0 || policy->on_full != TAMIS_ON_FULL_WARN;
}

bool may_grow(const struct policy *policy)
{
    return policy->on_full == TAMIS_ON_FULL_GROW && policy->window_items == 0;
}

bool is_own_set(const char *hash_set)
{
    return strcmp(hash_set, "xxh3") == 0 || strcmp(hash_set, "sip") == 0;
}

uint32_t first_alive(const struct model *model, const struct filter *f)
{
    const struct list *list = &f->now.list;
    const struct policy *p = &f->now.policy;
    const uint64_t newest = newest_of(f)->is.slice;
    uint32_t first = list->count;
    if (p->slices == 0) return 0;
    for (; first > 0; first--) {
        const struct tamis_segment_stat *s = &list->segments[first - 1]->is;
        if (s->slice + p->slices < newest) break;
        if (p->window_ns > 0 &&
            s->slice_start + p->window_ns / p->slices + p->window_ns <= model->now)
            break;
    }
    return first;
}

uint64_t items_of(const struct model *model, const struct filter *f)
{
    uint64_t items = 0;
    for (uint32_t i = first_alive(model, f); i < f->now.list.count; i++)
        items += f->now.list.segments[i]->is.items;
    return items;
}

/* Capacity is that of the newest segment and what the older ones hold, but a window's stays. */
uint64_t capacity_of(const struct filter *f)
{
    uint64_t capacity = newest_of(f)->is.capacity;
    if (f->now.policy.slices > 0) return f->now.policy.capacity;
    for (uint32_t i = 0; i + 1 < f->now.list.count; i++)
        capacity += f->now.list.segments[i]->is.items;
    return capacity;
}

/* ---- Segments -------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

static uint32_t width_of(const struct tamis_segment_stat *s)
{
    return s->counter_bits != 0 ? s->counter_bits : 1;
}

/* What a file must be, whatever it is for. */
static void foretell_file(struct tamis_segment_stat *s)
{
    if (s->fingerprint_bits == 0) {
        s->data_bytes = round_up(s->m_bits * width_of(s), 64) / 8;
        s->data_offset = s->data_bytes <= 1712         ? 2304u
                         : s->data_bytes >= (32 << 20) ? 2u << 20
                                                       : 4096u;
    }
    const uint64_t end = s->data_offset + s->data_bytes;
    /* Behind the data is room for checksums, but of a static list. */
    const uint64_t sums = s->fingerprint_bits != 0 ? 0
                          : s->data_offset < 4096  ? 64 + 8
                                                   : 64 + 8 * (round_up(end - 4096, 65536) / 65536);
    if (s->counter_bits == 0) s->file_bytes = round_up(end + sums, 4096);
}

static bool size_first(struct model *model, const struct policy *policy, const struct op_spec *spec,
                       struct tamis_segment_stat *s)
{
    struct tamis_sizing size = {.size = sizeof size,
                                .kind = spec->kind != 0 ? spec->kind : TAMIS_KIND_BLOCKED,
                                .counter_bits = spec->counter_bits};
    s->capacity = policy->window_items != 0 ? policy->window_items : policy->capacity;
    s->fp_rate = policy->rate;
    if (policy->slices > 0) {
        s->capacity = (s->capacity + policy->slices - 1) / policy->slices;
        s->fp_rate /= policy->slices + 1;
        s->slice_start = model->now;
    }
    if (may_grow(policy)) s->fp_rate *= s->capacity < 65536 ? 0.1 : 0.5;
    size.capacity = s->capacity;
    size.fp_rate = s->fp_rate;
    if (policy->on_full == TAMIS_ON_FULL_GROW || policy->window_items != 0)
        size.capacity += 64 + s->capacity / 1024; /* adders that are under way */
    if (tamis_size(&size) < 0) return wrong(model, "no size: %s", tamis_last_error());
    s->kind = size.kind;
    s->m_bits = size.m_bits;
    s->k = size.k;
    s->words = size.words;
    s->counter_bits = size.counter_bits;
    return true;
}

/* The first segment of a filter by a spec: its share of keys and rate, and the size for both. */
bool first_segment_fits(struct model *model, const struct policy *policy,
                        const struct op_spec *spec, const struct tamis_segment_stat *told)
{
    struct tamis_segment_stat s = *told;
    const char *set = spec->set != 0 ? hash_sets[spec->set] : "xxh3";
    (void)snprintf(s.hash_set, sizeof s.hash_set, "%s", set);
    s.seed = spec->seed;
    s.step = s.fingerprint_bits = s.pieces = 0;
    s.slice = 0;
    s.slice_start = 0;
    s.flags = told->flags & TAMIS_SEGMENT_SEALED; /* sums_test knows when */
    if (spec->m_bits != 0 || spec->set > 2) {     /* a fixed size */
        s.kind = TAMIS_KIND_BLOOM;
        if (spec->m_bits != 0) s.m_bits = spec->m_bits;
        if (spec->k != 0) s.k = spec->k;
        if (spec->capacity != 0) s.capacity = spec->capacity;
    } else if (!size_first(model, policy, spec, &s)) {
        return false;
    }
    foretell_file(&s);
    s.fp_rate = about(told->fp_rate, s.fp_rate);
    return fields_fit(model, "the first segment", TAMIS_FIELDS_SEGMENT, told, &s);
}

/* A slice is made for its share, or, if the one before it got more and the window grows, for what
 * that one got at least. */
static bool slice_fits(struct model *model, const struct filter *f, uint32_t index)
{
    const struct policy *p = &f->now.policy;
    struct shadow *const *list = f->now.list.segments;
    const struct tamis_segment_stat *s = &list[index]->is;
    uint64_t least = (p->capacity + p->slices - 1) / p->slices, got = 0;
    for (uint32_t i = first_alive(model, f); i < index; i++)
        if (list[i]->is.slice + 1 == s->slice) got += list[i]->is.items;
    if (got > least && may_grow(p)) least = got;
    return (may_grow(p) ? s->capacity >= least : s->capacity == least) ||
           wrong(model, "a slice is made for %llu keys, not %llu", (unsigned long long)s->capacity,
                 (unsigned long long)least);
}

/* A segment that the filter has gone on in is hashed as the one before it, larger, and within what
 * the rate leaves. */
static bool next_fits(struct model *model, const struct filter *f, uint32_t index)
{
    const struct policy *p = &f->now.policy;
    struct shadow *const *list = f->now.list.segments;
    const struct tamis_segment_stat *s = &list[index]->is, *last = &list[index - 1]->is;
    struct tamis_segment_stat next = *s;
    const bool same = s->slice == last->slice;
    double spent = 0;
    next.kind = last->kind;
    next.seed = last->seed;
    memcpy(next.hash_set, last->hash_set, sizeof next.hash_set);
    if (same) next.step = last->step + 1;
    if (p->window_items != 0) {
        next.capacity = last->capacity;
        next.m_bits = last->m_bits;
        next.slice = last->slice + 1;
    }
    foretell_file(&next);
    if (!fields_fit(model, "a further segment", TAMIS_FIELDS_SEGMENT, s, &next)) return false;
    if (p->window_items != 0) return true;
    if (!same && s->items == 0 && !slice_fits(model, f, index)) return false;
    if (same && s->capacity < 65536)
        return wrong(model, "a filter grew by %u", (unsigned)s->capacity);
    for (uint32_t i = 0; i <= index; i++)
        if (list[i]->is.slice == s->slice) spent += list[i]->is.fp_rate;
    const double share = p->rate / (p->slices > 0 ? p->slices + 1 : 1);
    const double full = tamis_predict_rate(s->kind, s->m_bits, s->k, s->capacity);
    return (spent <= share * 1.0001 && full <= s->fp_rate * 1.0001) ||
           wrong(model, "a further segment has the rate %g, full %g; all together %g of %g",
                 s->fp_rate, full, spent, share);
}

/* The segments as an outcome has them: each field, and no segment more or less. */
bool segments_fit(struct model *model, const struct filter *f, const struct outcome *out)
{
    const struct list *list = &f->now.list;
    const struct policy *p = &f->now.policy;
    char of[64];
    if (out->segments != list->count)
        return wrong(model, "%s has %u segments, not %u", names[f->name], out->segments,
                     list->count);
    if (p->slices > 0 && list->segments[0]->is.slice + p->slices + (p->window_items > 0 ? 1 : 0) <
                             newest_of(f)->is.slice)
        return wrong(model, "the window of %s has not left its oldest slice behind",
                     names[f->name]);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tamis_segment_stat *told = &out->segment[i];
        struct tamis_segment_stat s = list->segments[i]->is;
        (void)snprintf(of, sizeof of, "segment %u of %s", i, names[f->name]);
        s.flags &= ~(uint64_t)TAMIS_SEGMENT_PAST;
        if (i < first_alive(model, f)) s.flags |= TAMIS_SEGMENT_PAST;
        s.flags &= ~(uint64_t)TAMIS_SEGMENT_SEALED; /* sums_test knows when */
        s.flags |= told->flags & TAMIS_SEGMENT_SEALED;
        if (s.counter_bits != 0) s.file_bytes = told->file_bytes;
        s.ones = told->ones; /* these are for step_fill() */
        s.fill = told->fill;
        s.fp_rate_now = told->fp_rate_now;
        s.items_estimated = told->items_estimated;
        foretell_file(&s);
        if (!fields_fit(model, of, TAMIS_FIELDS_SEGMENT, told, &s)) return false;
        if (i > 0 && (s.step > 0 || p->window_ns > 0) && !next_fits(model, f, i)) return false;
    }
    return true;
}

/* ---- A filter -------------------------------------------------------------------------------- */

static double either(double a, double b)
{
    return a + b - a * b;
}

/* The rate at the present number of items.  In a crowded segment (above 2 %) more keys were added
 * than were counted, so it is above that of the items; hash sets of other systems repeat bits. */
static double predict(const struct model *model, const struct filter *f, double told)
{
    double least = 0, crowd = 0;
    for (uint32_t i = first_alive(model, f); i < f->now.list.count; i++) {
        const struct tamis_segment_stat *s = &f->now.list.segments[i]->is;
        double rate = tamis_predict_rate(s->kind, s->m_bits, s->k, s->items);
        if (s->fingerprint_bits != 0)
            rate = s->items == 0 ? 0 : pow(2, -(double)s->fingerprint_bits);
        least = either(least, rate);
        crowd = fmax(crowd, rate);
        if (!is_own_set(s->hash_set)) return fmin(fmax(told, 0), 1);
    }
    return crowd <= 0.02 ? least : fmin(fmax(told, least * 0.999), fmin(1, least * 3));
}

static uint32_t state_of(const struct model *model, const struct filter *f,
                         const struct tamis_filter_stat *stat)
{
    const struct policy *p = &f->now.policy;
    const struct tamis_segment_stat *newest = &newest_of(f)->is;
    uint32_t state = stat->degraded_since != 0 ? TAMIS_STATE_DEGRADED : 0;
    if (newest->fingerprint_bits != 0) return state;
    if (p->window_items == 0 && !may_grow(p) &&
        (p->slices > 0 ? newest->items >= newest->capacity && !is_slice_over(model, f)
                       : stat->items >= stat->capacity))
        state |= TAMIS_STATE_FULL;
    const bool over = stat->predicted_rate > 1.02 * stat->fp_rate &&
                      (stat->items > stat->capacity || p->slices > 0 || f->now.list.count > 1);
    /* What a hash set repeats, and keys that were taken for others, do not make a filter OVER. */
    const bool unsure = newest->kind == TAMIS_KIND_BLOOM || stat->predicted_rate > 0.02;
    if (over && (!unsure || (stat->state & TAMIS_STATE_OVER) != 0)) state |= TAMIS_STATE_OVER;
    return state;
}

/* Sums over the segments. */
static void foretell_sums(const struct model *model, const struct filter *f,
                          struct tamis_filter_stat *stat)
{
    uint64_t places = 0, last = UINT64_MAX, bytes = 0;
    double bits = 0;
    stat->m_bits = stat->live_slices = 0;
    for (uint32_t i = 0; i < f->now.list.count; i++) {
        const struct tamis_segment_stat *s = &f->now.list.segments[i]->is;
        stat->m_bits += s->m_bits;
        bytes += s->file_bytes;
        places += s->capacity;
        bits += (double)s->m_bits * width_of(s);
        if (i < first_alive(model, f) || f->now.policy.slices == 0 || s->slice == last) continue;
        stat->live_slices++;
        last = s->slice;
    }
    if (!counts(f)) stat->size_bytes = bytes;
    stat->bits_per_key = bits / (double)(f->now.policy.slices > 0 ? places : stat->capacity);
}

static void foretell_policy(const struct filter *f, struct tamis_filter_stat *stat)
{
    const struct policy *p = &f->now.policy;
    const struct tamis_segment_stat *newest = &newest_of(f)->is;
    (void)snprintf(stat->name, sizeof stat->name, "%s", names[f->name]);
    (void)snprintf(stat->key_rule, sizeof stat->key_rule, "bytes");
    memcpy(stat->hash_set, newest->hash_set, sizeof stat->hash_set);
    stat->kind = newest->kind;
    stat->k = newest->k;
    stat->seed = newest->seed;
    stat->counter_bits = newest->counter_bits;
    stat->fingerprint_bits = newest->fingerprint_bits;
    stat->fp_rate = f->now.rate;
    stat->generation = f->now.number;
    stat->segment_count = f->now.list.count;
    stat->created_at = f->created_at;
    stat->exceptions = exceptions_of(f);
    stat->window_ns = p->window_ns;
    stat->window_items = p->window_items;
    stat->slices = p->slices;
    stat->on_full = p->on_full;
    stat->flags = (p->durable ? TAMIS_FILTER_DURABLE : 0) |
                  (p->from_first ? TAMIS_FILTER_FROM_FIRST : 0) |
                  (f->owned ? TAMIS_FILTER_OWNED : 0);
    stat->keep = f->keep;
    stat->pages = f->pages;
}

static void foretell_import(const struct filter *f, enum shown_by by,
                            struct tamis_filter_stat *stat)
{
    const bool left = first_of(f)->is.number != f->now.imported_first && stat->imported_at == 0;
    const bool is = by == BY_STAT && f->now.imported_at != 0 && !left;
    const bool is_signed = is && !f->now.unsigned_import;
    const char *from = stat->imported_from;
    const size_t bytes = strlen(from);
    const bool is_path = bytes > 8 && strcmp(from + bytes - 8, "a stream") == 0; /* of a command */
    stat->imported_at = is ? f->now.imported_at : 0;
    stat->imported_signed_at = is_signed ? INT64_C(1234567890) : 0;
    if (!is || !is_path) (void)strcpy(stat->imported_from, is_signed ? "a stream" : "");
    (void)strcpy(stat->imported_signed_by, is_signed ? "signer" : "");
    (void)strcpy(stat->imported_signed_comment, is_signed ? "a comment" : "");
    if (!is || strlen(stat->imported_digest) != 32)
        (void)strcpy(stat->imported_digest, is ? "32 digits" : "");
}

/* After a merge has raised what the older segments hold, the capacity is that of before. */
static bool is_raised(const struct filter *f, uint64_t told)
{
    bool raised = false;
    for (uint32_t i = 0; i + 1 < f->now.list.count; i++)
        raised |= f->now.list.segments[i]->mixed;
    return raised && told >= newest_of(f)->is.capacity;
}

/* The list tells counts as they were at the last close or sync. */
static void foretell_counts(const struct model *model, const struct filter *f, enum shown_by by,
                            struct tamis_filter_stat *stat)
{
    const struct policy *p = &f->now.policy;
    const struct tamis_segment_stat *newest = &newest_of(f)->is;
    const uint64_t items = items_of(model, f);
    const bool limited = newest->fingerprint_bits == 0 && is_limited(p);
    if (by == BY_LIST) {
        stat->room = UINT64_MAX;
        if (!f->recorded_unsure && !may_grow(p) && p->slices == 0 && stat->items != items)
            stat->items = f->recorded_items;
        return;
    }
    stat->items = items;
    stat->predicted_rate = predict(model, f, stat->predicted_rate);
    if (!is_raised(f, stat->capacity)) stat->capacity = capacity_of(f);
    if (f->holed) return; /* a process that was killed may have had room, and lost it */
    stat->room = newest->items < newest->capacity ? newest->capacity - newest->items : 0;
    if (!limited) stat->room = UINT64_MAX;
    stat->lacks_bytes = 0;
    stat->state = state_of(model, f, stat);
}

static void foretell_times(const struct model *model, const struct filter *f, enum shown_by by,
                           struct tamis_filter_stat *stat)
{
    const uint64_t gained = model->watched == f ? model->gained : 0;
    const struct policy *p = &f->now.policy;
    /* A segment that is made ahead is a change too, made when the clock of windows says. */
    const bool ahead = (is_limited(p) || p->slices > 0) && stat->published_at >= MODEL_BEGIN &&
                       stat->published_at <= model->now;
    if (!ahead) stat->published_at = f->now.published_at;
    /* A durable filter makes checkpoints of its own, when a log is full. */
    if (!p->durable && (f->checkpoint_unsure == 0 || stat->checkpointed_at < f->checkpoint_unsure))
        stat->checkpointed_at = f->checkpointed_at;
    stat->unclean_since = 0;
    stat->missing_keys = 0;
    if (by != BY_LIST && stat->degraded_since != 0 && !model->had_fault)
        stat->degraded_since = f->degraded_since;
    /* A slice that came and went between two looks was never seen. */
    if (!f->holed && (p->slices == 0 || stat->new_keys > gained)) stat->new_keys = gained;
}

bool stat_fits(struct model *model, struct filter *f, const struct tamis_filter_stat *told,
               enum shown_by by)
{
    static const char *const where[] = {"stat", "list", "list_live"};
    struct tamis_filter_stat stat = *told;
    char of[64];
    (void)snprintf(of, sizeof of, "%s of %s", where[by], names[f->name]);
    foretell_policy(f, &stat);
    foretell_times(model, f, by, &stat);
    foretell_counts(model, f, by, &stat);
    foretell_sums(model, f, &stat);
    foretell_import(f, by, &stat);
    stat.predicted_rate = about(told->predicted_rate, stat.predicted_rate);
    stat.bits_per_key = about(told->bits_per_key, stat.bits_per_key);
    stat.fp_rate = about(told->fp_rate, stat.fp_rate);
    return fields_fit(model, of, TAMIS_FIELDS_FILTER, told, &stat);
}
