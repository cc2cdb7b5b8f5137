/* SPDX-License-Identifier: BSD-2-Clause */
/* exchanged.c: the model's judges of what makes a filter of other filters: streams, builds and
 * merges. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model.h"

/* The list in force becomes a kept one; those that left force first go if there are too many. */
static void keep_generation(struct filter *f)
{
    f->kept[f->kept_count++] = f->now;
    f->now = (struct generation){.number = 0};
    while (f->kept_count > f->keep || f->kept_count == GENERATIONS_MAX) {
        generation_clear(&f->kept[0]);
        memmove(f->kept, f->kept + 1, --f->kept_count * sizeof f->kept[0]);
    }
}

/* The filter of the name gets another generation, or is made.  Handles have written nothing to it.
 */
static struct filter *next_generation(struct step *s, bool set_keep)
{
    struct filter *f = s->filter;
    const bool is_new = f == NULL;
    if (is_new) f = filter_new(s, &(const struct policy){.capacity = 0});
    if (set_keep) f->keep = (uint32_t)s->op->number;
    if (!is_new) {
        keep_generation(f);
        f->now.number = ++f->last_generation;
        for (uint32_t i = 0; i < SLOTS; i++)
            if (s->model->handles[i].filter == f) s->model->handles[i].wrote = false;
    }
    f->now.found_by = f->now.number;
    f->now.published_at = f->checkpointed_at = s->out->stat.published_at;
    f->checkpoint_unsure = 0;
    f->recorded_unsure = true;
    f->degraded_since = 0;
    return f;
}

/* ---- Builds -----------------------------------------------------------------------------------
 */

static bool is_found(const struct step *s, uint32_t key)
{
    for (uint32_t i = 0; i < s->out->exceptions; i++)
        if (s->out->exception[i].key == key &&
            s->out->exception[i].generation == s->filter->now.number)
            return true;
    return false;
}

/* Known good keys that the generation answers yes to are its exceptions, unless they were added.
 * Returns how many were. */
static uint64_t find_exceptions(struct step *s, const struct set *keys)
{
    struct filter *f = s->filter;
    struct shadow *made = first_of(f);
    uint64_t conflicts = 0;
    for (uint32_t i = 0; i < s->op->against.count; i++) {
        const uint32_t key = key_at(&s->op->against, i);
        if (set_has(keys, key))
            conflicts++;
        else if (made->keys != NULL ? is_found(s, key) : shadow_lacks(s, made, key, NULL) == 0)
            (void)set_put(&f->now.found, key);
    }
    return conflicts;
}

static bool result_fits(struct step *s, uint32_t distinct, uint64_t conflicts)
{
    const struct filter *f = s->filter;
    const struct tamis_build_result *told = &s->out->built;
    const bool again = told->conflicts > 0 && told->conflicts <= conflicts; /* some come twice */
    struct tamis_build_result is = *told;
    is.keys = s->op->keys.count;
    is.distinct = distinct;
    is.generation = f->now.number;
    is.exceptions = exceptions_of(f);
    if (!again) is.conflicts = conflicts;
    if (first_of(f)->keys == NULL || told->found < f->now.found.count)
        is.found = f->now.found.count;
    if (told->size_bytes < first_of(f)->is.file_bytes) is.size_bytes = first_of(f)->is.file_bytes;
    memcpy(is.key_digest, f->now.digest, sizeof is.key_digest);
    return bytes_fit(s->model, "the result", told, &is, sizeof is);
}

static struct op_spec build_spec(const struct step *s, uint32_t distinct)
{
    struct op_spec spec = s->op->spec;
    const struct filter *f = s->filter;
    if (spec.kind == 0) spec.kind = TAMIS_KIND_FUSE;
    if (f != NULL) {
        const struct tamis_segment_stat *newest = &newest_of(f)->is;
        if (spec.rate == 0) spec.rate = f->now.rate;
        if (spec.set == 0 && is_own_set(newest->hash_set)) {
            spec.set = is_sip(&f->now.list) ? 2 : 1;
            if (spec.seed == 0) spec.seed = newest->seed;
        }
        if (spec.kind != TAMIS_KIND_FUSE && spec.on_full == TAMIS_ON_FULL_REFUSE &&
            spec.capacity == 0 && newest_of(f)->keys == NULL)
            spec.capacity = capacity_of(f);
    }
    if (spec.rate == 0) spec.rate = TAMIS_FP_RATE_DEFAULT;
    if (spec.capacity < distinct) spec.capacity = distinct;
    if (spec.capacity == 0) spec.capacity = 1;
    return spec;
}

static bool built_segment_fits(struct step *s, const struct op_spec *spec,
                               const struct policy *policy, uint32_t distinct)
{
    const struct tamis_segment_stat *made = s->told;
    if (s->out->segments != 1 || made->items != distinct || made->kind != spec->kind ||
        made->seed != spec->seed)
        return wrong(s->model,
                     "a build of %u keys has %u segments, %" PRIu64
                     " items, kind %u, seed %" PRIu64,
                     distinct, s->out->segments, made->items, made->kind, made->seed);
    if (spec->kind != TAMIS_KIND_FUSE) return first_segment_fits(s->model, policy, spec, made);
    const double p = pow(2, -(double)made->fingerprint_bits);
    return (made->fp_rate == spec->rate && p <= spec->rate &&
            (made->fingerprint_bits <= 8 || 2 * p > spec->rate)) ||
           wrong(s->model, "a build for the rate %g has fingerprints of %u bits", made->fp_rate,
                 made->fingerprint_bits);
}

/* Is the generation in force by this very build, and was nothing changed since? */
static bool is_same_build(const struct step *s, const struct op_spec *spec, const struct set *keys)
{
    const struct filter *f = s->filter;
    if (f == NULL || !f->now.built || f->now.list.count != 1 || first_of(f)->keys == NULL)
        return false;
    const struct tamis_segment_stat *is = &first_of(f)->is;
    return memcmp(first_of(f)->keys, keys, sizeof *keys) == 0 && is->items == keys->count &&
           spec->kind == TAMIS_KIND_FUSE && is->fp_rate == spec->rate && is->seed == spec->seed;
}

/* With TAMIS_BUILD_IF_CHANGED the list in force stays if it is by this very build. */
static bool unchanged_fits(struct step *s, bool same, const struct set *keys)
{
    const struct filter *f = s->filter;
    const bool keeps = (s->op->flags & TAMIS_BUILD_KEEP) != 0;
    if ((s->op->flags & TAMIS_BUILD_IF_CHANGED) == 0 || f == NULL || !f->now.built)
        return ends(s, 1);
    if ((first_of(f)->keys != NULL && !same) || (keeps && s->op->number != f->keep))
        return wrong(s->model, "another build is said to change nothing");
    uint64_t conflicts = 0;
    for (uint32_t i = 0; i < s->op->against.count; i++)
        conflicts += set_has(keys, key_at(&s->op->against, i));
    return result_fits(s, keys->count, conflicts);
}

static bool must_be_unchanged(const struct step *s)
{
    return (s->op->flags & TAMIS_BUILD_IF_CHANGED) != 0 && s->op->against.count == 0 &&
           s->filter->now.found.count == 0 && s->op->except.count == 0 &&
           ((s->op->flags & TAMIS_BUILD_KEEP) == 0 || s->op->number == s->filter->keep);
}

bool step_build(struct step *s)
{
    static struct set keys;
    memset(&keys, 0, sizeof keys);
    set_add_keys(&keys, &s->op->keys);
    const struct op_spec spec = build_spec(s, keys.count);
    const bool same = is_same_build(s, &spec, &keys);
    struct policy policy = policy_of(&spec);
    if (s->filter != NULL) policy.durable |= s->filter->now.policy.durable;
    if (spec.kind == TAMIS_KIND_FUSE) {
        policy.on_full = TAMIS_ON_FULL_WARN;
        policy.capacity = s->told->capacity;
    }
    if (s->out->rc == 0) return unchanged_fits(s, same, &keys);
    if (same && must_be_unchanged(s))
        return wrong(s->model, "the same build again is said to change something");
    if (!ends(s, 1) || !built_segment_fits(s, &spec, &policy, keys.count)) return false;
    struct filter *f = next_generation(s, (s->op->flags & TAMIS_BUILD_KEEP) != 0);
    struct shadow *made = shadow_new(s->told);
    f->now.list = (struct list){.count = 1, .segments = {made}};
    f->now.policy = policy;
    f->now.rate = spec.rate;
    f->now.built = true;
    memcpy(f->now.digest, s->out->built.key_digest, sizeof f->now.digest);
    if (made->keys != NULL) *made->keys = keys;
    for (uint32_t i = 0; made->keys == NULL && i < s->op->keys.count; i++)
        (void)shadow_add(s, made, key_at(&s->op->keys, i), 1);
    set_add_keys(&f->by_hand, &s->op->except);
    return result_fits(s, keys.count, find_exceptions(s, &keys)) &&
           was_made(s, "published", f->now.published_at);
}

/* ---- Merges -----------------------------------------------------------------------------------
 */

bool are_alike(const struct list *a, const struct list *b)
{
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct tamis_segment_stat *x = &a->segments[i]->is, *y = &b->segments[i]->is;
        if (x->kind != y->kind || x->m_bits != y->m_bits || x->k != y->k || x->seed != y->seed ||
            x->counter_bits != y->counter_bits || x->bit_order != y->bit_order ||
            x->words != y->words || x->fingerprint_bits != y->fingerprint_bits ||
            strcmp(x->hash_set, y->hash_set) != 0)
            return false;
    }
    return true;
}

bool is_sip(const struct list *list)
{
    return strcmp(list->segments[0]->is.hash_set, "sip") == 0;
}

static void merge_cells(struct shadow *to, const struct shadow *from, bool intersect)
{
    const bool adds = to->is.counter_bits != 0;
    to->ones = 0;
    for (uint64_t i = 0; i < to->is.m_bits; i++) {
        const uint32_t a = to->cells[i], b = from->cells[i];
        to->cells[i] = intersect ? (a < b ? a : b) : adds ? a + b : a | b;
        to->ones += to->cells[i] != 0;
    }
    to->overflowed |= adds;
    to->mixed |= intersect;
}

static uint64_t estimated(const struct shadow *shadow)
{
    return (uint64_t)llround(estimate(&shadow->is, shadow->ones));
}

bool step_merge(struct step *s)
{
    const struct list *from = &s->model->handles[s->op->source].filter->now.list;
    for (uint32_t i = 0; i < s->filter->now.list.count; i++) {
        struct shadow *to = s->filter->now.list.segments[i];
        merge_cells(to, from->segments[i], false);
        if (estimated(to) > to->is.items) to->is.items = estimated(to);
        to->mixed = true;
    }
    return true;
}

bool step_merged(struct step *s)
{
    const struct filter *a = s->handle->filter, *b = s->model->handles[s->op->source].filter;
    if (s->out->segments != a->now.list.count)
        return wrong(s->model, "%u segments were merged", s->out->segments);
    struct filter *f = filter_new(s, &a->now.policy);
    f->now.rate = a->now.rate;
    f->pages = a->pages;
    list_copy(&f->now.list, &a->now.list);
    for (uint32_t i = 0; i < f->now.list.count; i++) {
        struct shadow *made = f->now.list.segments[i];
        if (a != b)
            merge_cells(made, b->now.list.segments[i], (s->op->flags & TAMIS_MERGE_INTERSECT) != 0);
        made->is.items = estimated(made);
        made->is.flags = TAMIS_SEGMENT_ITEMS_ESTIMATED;
        made->is.number = s->told[i].number;
        made->is.created_at = s->told[i].created_at;
    }
    f->recorded_items = items_of(s->model, f);
    return was_made(s, "created", f->created_at);
}

bool step_compare(struct step *s)
{
    const struct filter *other = s->model->handles[s->op->source].filter;
    const struct shadow *x = first_of(s->filter), *y = first_of(other);
    struct tamis_comparison c = s->out->comparison;
    double *const items[] = {&c.items_a, &c.items_b, &c.items_union};
    uint64_t ones[] = {x->ones, y->ones, 0};
    double squares = 0;
    for (uint64_t i = 0; i < x->is.m_bits; i++)
        ones[2] += x->cells[i] != 0 || y->cells[i] != 0;
    for (int i = 0; i < 3; i++) {
        const double m = (double)x->is.m_bits, n = estimate(&x->is, ones[i]), k = x->is.k;
        *items[i] = about(*items[i], n);
        /* docs/sizing.md, "Comparing": of plain bits. */
        squares += n > 0 ? m * fmax(expm1(k * n / m) - k * n / m, 0) / (k * k) : 0;
    }
    const double both = fmax(c.items_a + c.items_b - c.items_union, 0);
    if (fabs(c.items_both - both) > 1e-9 * (c.items_a + c.items_b)) c.items_both = both;
    c.jaccard = about(c.jaccard, c.items_union > 0 ? fmin(c.items_both / c.items_union, 1) : 0);
    if (x->is.kind == TAMIS_KIND_BLOOM || !(c.error >= 0 && c.error <= c.items_a + c.items_b + 10))
        c.error = about(c.error, sqrt(squares));
    return bytes_fit(s->model, "the comparison", &s->out->comparison, &c, sizeof c);
}

/* ---- Streams ----------------------------------------------------------------------------------
 */

bool is_own(uint32_t format)
{
    return strcmp(tamis_format_name(format), "tamis") == 0;
}

bool has_secret(const struct filter *f)
{
    bool secret = is_sip(&f->now.list);
    for (uint32_t i = 0; i < f->now.list.count; i++)
        secret |= f->now.list.segments[i]->is.seed != 0;
    return secret;
}

/* Is it another list than that of the stream?  Formats other than tamis lose parameters. */
static bool is_other(const struct list *list, const struct stream *x)
{
    const struct list *b = &x->of.list;
    if (list->count != b->count || (is_own(x->format) && !are_alike(list, b))) return true;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct shadow *mine = list->segments[i], *theirs = b->segments[i];
        if (mine->is.kind != theirs->is.kind || mine->is.m_bits != theirs->is.m_bits ||
            (mine->keys != NULL ? memcmp(mine->keys, theirs->keys, sizeof *mine->keys) != 0
                                : memcmp(mine->cells, theirs->cells,
                                         (size_t)mine->is.m_bits * sizeof *mine->cells) != 0))
            return true;
    }
    return false;
}

static int64_t made_at(const struct list *list)
{
    int64_t at = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->segments[i]->is.created_at > at) at = list->segments[i]->is.created_at;
    return at;
}

/* With TAMIS_PUBLISH_NEWER a list must be of a later time than the one in force, or be that one. Of
 * a list that was imported the time and the digest of its stream count, whatever was added since.
 */
bool is_older(const struct step *s)
{
    const struct stream *x = &s->model->streams[s->op->stream];
    if ((s->op->flags & TAMIS_PUBLISH_NEWER) == 0 || s->filter == NULL || !is_own(x->format) ||
        s->filter->now.imported_at != 0)
        return false;
    const int64_t theirs = made_at(&x->of.list), ours = made_at(&s->filter->now.list);
    return theirs < ours || (theirs == ours && is_other(&s->filter->now.list, x));
}

bool step_export(struct step *s)
{
    const struct filter *f = s->filter;
    struct stream *x = &s->model->streams[s->op->stream];
    generation_clear(&x->of);
    *x = (struct stream){.there = true, .format = s->op->format, .of = f->now};
    memset(&x->of.found, 0, sizeof x->of.found);
    list_copy(&x->of.list, &f->now.list);
    if ((s->op->flags & TAMIS_EXPORT_WITHOUT_EXCEPTIONS) != 0) return true;
    set_add(&x->of.found, &f->now.found);
    set_add(&x->exceptions, &f->by_hand);
    return true;
}

/* The segments that came by a stream: all of format tamis, bits alone of the others. */
static bool take_segments(struct step *s, const struct stream *x, struct list *list)
{
    if (s->out->segments != x->of.list.count)
        return wrong(s->model, "%u segments came of %u", s->out->segments, x->of.list.count);
    list_copy(list, &x->of.list);
    for (uint32_t i = 0; i < list->count; i++) {
        struct tamis_segment_stat *is = &list->segments[i]->is, foretold = *is;
        if (!is_own(x->format)) {
            foretold = s->told[i];
            foretold.m_bits = is->m_bits;
            foretold.k = is->k;
            foretold.kind = is->kind;
        }
        foretold.number = s->told[i].number;
        foretold.flags = s->told[i].flags;
        foretold.file_bytes = s->told[i].file_bytes;
        if (!fields_fit(s->model, "a segment of a stream", TAMIS_FIELDS_SEGMENT, &s->told[i],
                        &foretold))
            return false;
        *is = s->told[i];
    }
    return true;
}

static bool take_stream(struct step *s, const struct stream *x, bool durable)
{
    struct filter *f = s->filter;
    if (!take_segments(s, x, &f->now.list)) return false;
    const struct tamis_segment_stat *newest = &newest_of(f)->is;
    f->now.policy = x->of.policy;
    f->now.rate = x->of.rate;
    f->now.built = is_own(x->format) && x->of.built;
    if (!is_own(x->format)) {
        f->now.policy = (struct policy){
            .on_full = TAMIS_ON_FULL_WARN, .capacity = newest->capacity, .rate = newest->fp_rate};
        f->now.rate = f->now.list.count == 1 ? newest->fp_rate : s->out->stat.fp_rate;
    }
    f->now.policy.durable = durable;
    /* Of kinds other than fuse a stream may leave out of which keys it was built. */
    f->now.maybe_built = newest->kind != TAMIS_KIND_FUSE;
    if (f->now.built) memcpy(f->now.digest, x->of.digest, sizeof f->now.digest);
    f->now.imported_at = s->out->stat.imported_at;
    f->now.imported_first = s->told[0].number;
    f->now.unsigned_import = (s->op->flags & WITH_NOTES) == 0;
    set_add(&f->now.found, &x->of.found);
    return true;
}

bool step_import(struct step *s)
{
    const struct stream *x = &s->model->streams[s->op->stream];
    struct filter *f = next_generation(s, false);
    f->checkpointed_at = 0;
    f->owned = (s->op->flags & TAMIS_IMPORT_OWNED) != 0;
    set_add(&f->by_hand, &x->exceptions);
    if (!take_stream(s, x, (s->op->flags & TAMIS_IMPORT_DURABLE) != 0)) return false;
    if (s->op->slot < SLOTS) take_handle(s, f, false);
    return (s->op->flags & OF_A_DATE) == 0
               ? was_made(s, "created", f->created_at)
               : f->created_at == THE_DATE || wrong(s->model, "created at %" PRId64, f->created_at);
}

bool step_publish(struct step *s)
{
    struct filter *f = s->filter;
    const struct stream *x = &s->model->streams[s->op->stream];
    const bool durable = f != NULL && f->now.policy.durable;
    const bool keeps = (s->op->flags & TAMIS_PUBLISH_KEEP) != 0;
    struct tamis_publish_result is = s->out->published;
    if (s->out->rc == 0) {
        if ((s->op->flags & (TAMIS_PUBLISH_IF_CHANGED | TAMIS_PUBLISH_NEWER)) == 0 || f == NULL)
            return ends(s, 1);
        return !(is_other(&f->now.list, x) || (keeps && s->op->number != f->keep)) ||
               wrong(s->model, "another list is said to be in force");
    }
    f = next_generation(s, keeps);
    if (!ends(s, 1) || !take_stream(s, x, durable)) return false;
    set_add(&f->now.found, &x->exceptions); /* set by hand there, found here */
    set_add_keys(&f->by_hand, &s->op->except);
    is.generation = f->now.number;
    is.exceptions = exceptions_of(f);
    return bytes_fit(s->model, "published", &s->out->published, &is, sizeof is) &&
           was_made(s, "published", f->now.published_at);
}
