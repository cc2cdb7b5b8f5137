/* SPDX-License-Identifier: BSD-2-Clause */
/* exchanged.c: the model's judges of what makes a filter of other filters: streams, builds and
 * merges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* The codes with which a call may refuse, as far as the model knows; none: it must not. */
struct codes {
    uint32_t count;
    int list[8];
};

static void may_refuse(struct codes *codes, bool so, int code)
{
    if (so) codes->list[codes->count++] = code;
}

/* Was the call refused?  Sets the complaint if it was and must not have been, or the other way. */
static bool is_refused(struct step *s, const struct codes *codes)
{
    for (uint32_t i = 0; i < codes->count; i++)
        if (s->out->rc == codes->list[i]) return true;
    if (codes->count > 0) return (void)ends(s, codes->list[0], NULL), true;
    if (s->out->rc < 0) return (void)ends(s, 0, NULL), true;
    return false;
}

/* ---- What replaces a generation ----------------------------------------------------------------
 */

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
    if (f == NULL) {
        const struct policy none = {.capacity = 0};
        f = s->model->filters[s->op->name] = s->filter = filter_new(s, &none);
        list_clear(&f->now.list);
        if (set_keep) f->keep = (uint32_t)s->op->number;
    } else {
        if (set_keep) f->keep = (uint32_t)s->op->number;
        keep_generation(f);
        f->now.number = ++f->last_generation;
        for (uint32_t i = 0; i < SLOTS; i++)
            if (s->model->handles[i].filter == f) s->model->handles[i].wrote = false;
    }
    f->now.found_by = f->now.number;
    f->now.published_at = f->checkpointed_at = s->out->stat.published_at;
    f->checkpoint_unsure = s->out->began;
    f->recorded_unsure = true;
    f->degraded_since = 0;
    return f;
}

/* ---- Builds -----------------------------------------------------------------------------------
 */

static uint32_t build_keys(const struct step *s, uint8_t *set)
{
    uint32_t distinct = 0;
    memset(set, 0, POOL / 8);
    for (uint32_t i = 0; i < s->op->keys.count; i++) {
        const uint32_t key = key_at(&s->op->keys, i);
        distinct += !set_has(set, key);
        set_put(set, key);
    }
    return distinct;
}

/* Known good keys that the generation answers yes to are its exceptions, unless they were added. */
static bool found_fit(struct step *s, struct filter *f, const uint8_t *set)
{
    const struct shadow *made = f->now.list.segments[0];
    uint64_t conflicts = 0;
    for (uint32_t i = 0; i < s->op->against.count; i++) {
        const uint32_t key = key_at(&s->op->against, i);
        conflicts += set_has(set, key);
        if (set_has(set, key) || exceptions_find(&f->now.found, key, 0) != NULL) continue;
        bool found = made->keys == NULL && shadow_lacks(s->model, f, made, key, NULL) == 0;
        for (uint32_t j = 0; made->keys != NULL && j < s->out->exceptions; j++)
            if (s->out->exception[j].key == key && s->out->exception[j].generation == f->now.number)
                found = true;
        if (found) exceptions_put(&f->now.found, key, 0);
    }
    if (s->out->built.found < f->now.found.count || s->out->built.conflicts > conflicts ||
        (conflicts > 0) != (s->out->built.conflicts > 0) ||
        (made->keys == NULL && s->out->built.found != f->now.found.count))
        return wrong(s->model, "the build found %llu, %llu conflicts, not %u and at most %llu",
                     (unsigned long long)s->out->built.found,
                     (unsigned long long)s->out->built.conflicts, f->now.found.count,
                     (unsigned long long)conflicts);
    return true;
}

static struct op_spec build_spec(const struct step *s, uint32_t distinct)
{
    struct op_spec spec = s->op->spec;
    const struct filter *f = s->filter;
    if (spec.kind == 0) spec.kind = TAMIS_KIND_FUSE;
    if (f != NULL) {
        const struct tamis_segment_stat *newest = &f->now.list.segments[f->now.list.count - 1]->is;
        if (spec.rate == 0) spec.rate = f->now.rate;
        const bool sip = strcmp(newest->hash_set, "sip") == 0,
                   any = sip || strcmp(newest->hash_set, "xxh3") == 0;
        if (spec.set == 0 && any && spec.seed == 0) spec.seed = newest->seed;
        if (spec.set == 0 && any) spec.set = sip ? 2 : 1;
    }
    if (f != NULL && spec.kind != TAMIS_KIND_FUSE && spec.on_full == TAMIS_ON_FULL_REFUSE &&
        spec.capacity == 0 && newest_of((struct filter *)s->filter)->keys == NULL)
        spec.capacity = capacity_of(f);
    if (spec.rate == 0) spec.rate = TAMIS_FP_RATE_DEFAULT;
    if (spec.capacity < distinct) spec.capacity = distinct;
    if (spec.capacity == 0) spec.capacity = 1;
    return spec;
}

static bool built_segment_fits(struct step *s, const struct op_spec *spec,
                               const struct policy *policy, uint32_t distinct)
{
    const struct tamis_segment_stat *made = &s->out->segment[0];
    if (s->out->segments != 1 || made->items != distinct || made->kind != spec->kind ||
        made->seed != spec->seed)
        return wrong(s->model, "a build of %u keys has %u segments, %llu items, kind %u, seed %llu",
                     distinct, s->out->segments, (unsigned long long)made->items, made->kind,
                     (unsigned long long)made->seed);
    if (spec->kind != TAMIS_KIND_FUSE) return first_segment_fits(s->model, policy, spec, made);
    const double p = pow(2, -(double)made->fingerprint_bits);
    if (made->fp_rate != spec->rate || p > spec->rate ||
        (made->fingerprint_bits > 8 && 2 * p <= spec->rate))
        return wrong(s->model, "a build for the rate %g has fingerprints of %u bits", made->fp_rate,
                     made->fingerprint_bits);
    return true;
}

static bool result_fits(struct step *s, const struct filter *f, uint32_t distinct)
{
    const struct tamis_build_result *r = &s->out->built;
    if (r->keys != s->op->keys.count || r->distinct != distinct || r->generation != f->now.number ||
        r->exceptions != exceptions_of(f) || r->size_bytes < f->now.list.segments[0]->is.file_bytes)
        return wrong(s->model,
                     "the result: %llu keys, %llu distinct, generation %llu, %llu exceptions, %llu "
                     "bytes; not %u, %u, %llu, %llu",
                     (unsigned long long)r->keys, (unsigned long long)r->distinct,
                     (unsigned long long)r->generation, (unsigned long long)r->exceptions,
                     (unsigned long long)r->size_bytes, s->op->keys.count, distinct,
                     (unsigned long long)f->now.number, (unsigned long long)exceptions_of(f));
    return true;
}

/* A list that is in force already changes nothing, unless other generations are to be kept. */
static bool keeps_alike(struct step *s, bool keeps)
{
    if (!keeps || s->op->number == s->filter->keep) return true;
    return wrong(s->model, "nothing was changed, and %u generations are kept, not %llu",
                 s->filter->keep, (unsigned long long)s->op->number);
}

/* Is the generation in force by this very build, and was nothing changed since? */
static bool is_same_build(const struct step *s, const struct op_spec *spec, const uint8_t *set,
                          uint32_t distinct)
{
    const struct filter *f = s->filter;
    if (f == NULL || !f->now.built || f->now.list.count != 1) return false;
    const struct shadow *made = f->now.list.segments[0];
    return made->keys != NULL && memcmp(made->keys, set, POOL / 8) == 0 &&
           made->is.items == distinct && spec->kind == TAMIS_KIND_FUSE &&
           made->is.fp_rate == spec->rate && made->is.seed == spec->seed;
}

static bool step_build(struct step *s)
{
    static uint8_t set[POOL / 8];
    const struct op *op = s->op;
    struct filter *f = s->filter;
    const uint32_t distinct = build_keys(s, set);
    const struct op_spec spec = build_spec(s, distinct);
    struct policy policy = policy_of(&spec);
    struct codes codes = {.count = 0};
    if (is_fault(s)) return true;
    may_refuse(&codes, store_reads_only(s), TAMIS_EREADONLY);
    may_refuse(&codes,
               f != NULL && (f->now.policy.slices > 0 || newest_of(f)->is.counter_bits != 0),
               TAMIS_EMISMATCH);
    if (is_refused(s, &codes)) return true;
    if (f != NULL) policy.durable |= f->now.policy.durable;
    if (spec.kind == TAMIS_KIND_FUSE) {
        policy.on_full = TAMIS_ON_FULL_WARN;
        policy.capacity = s->out->segment[0].capacity;
    }
    const bool same = is_same_build(s, &spec, set, distinct);
    if (s->out->rc == 0) {
        if ((op->flags & TAMIS_BUILD_IF_CHANGED) == 0 || f == NULL || !f->now.built)
            return ends(s, 1, NULL);
        if (memcmp(s->out->built.key_digest, f->now.digest, 16) != 0 ||
            (newest_of(f)->keys != NULL && !same))
            return wrong(s->model, "a build of other keys is said to change nothing");
        return keeps_alike(s, (op->flags & TAMIS_BUILD_KEEP) != 0) && result_fits(s, f, distinct) &&
               list_is_told(s);
    }
    if (!ends(s, 1, NULL)) return false;
    if (same && (op->flags & TAMIS_BUILD_IF_CHANGED) != 0 && op->against.count == 0 &&
        f->now.found.count == 0 && op->except.count == 0 &&
        ((op->flags & TAMIS_BUILD_KEEP) == 0 || op->number == f->keep))
        return wrong(s->model, "the same build again is said to change something");
    f = next_generation(s, (op->flags & TAMIS_BUILD_KEEP) != 0);
    if (!built_segment_fits(s, &spec, &policy, distinct)) return false;
    struct shadow *made = shadow_new(&s->out->segment[0]);
    f->now.list = (struct list){.count = 1, .segments = {made}};
    f->now.policy = policy;
    f->now.capacity = made->is.capacity;
    f->now.rate = spec.rate;
    f->now.built = true;
    memcpy(f->now.digest, s->out->built.key_digest, sizeof f->now.digest);
    if (made->keys != NULL) memcpy(made->keys, set, POOL / 8);
    for (uint32_t i = 0; made->keys == NULL && i < op->keys.count; i++)
        shadow_add(s->model, f, made, key_at(&op->keys, i), 1);
    for (uint32_t i = 0; i < op->except.count; i++)
        exceptions_put(&f->by_hand, key_at(&op->except, i), 0);
    return found_fit(s, f, set) && result_fits(s, f, distinct) &&
           was_made(s, "published", f->now.published_at) && list_is_told(s);
}

/* ---- Merges -----------------------------------------------------------------------------------
 */

static bool are_alike(const struct list *a, const struct list *b)
{
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct tamis_segment_stat *x = &a->segments[i]->is, *y = &b->segments[i]->is;
        if (x->kind != y->kind || x->m_bits != y->m_bits || x->k != y->k || x->seed != y->seed ||
            x->counter_bits != y->counter_bits || x->bit_order != y->bit_order ||
            x->words != y->words || strcmp(x->hash_set, y->hash_set) != 0)
            return false;
    }
    return true;
}

static bool is_sip(const struct list *list)
{
    return strcmp(list->segments[0]->is.hash_set, "sip") == 0;
}

static void merge_cells(struct shadow *to, const struct shadow *from, bool intersect)
{
    to->ones = 0;
    for (uint64_t i = 0; i < to->is.m_bits; i++) {
        uint32_t *cell = &to->cells[i];
        if (intersect)
            *cell = *cell < from->cells[i] ? *cell : from->cells[i];
        else
            *cell = to->is.counter_bits != 0 ? *cell + from->cells[i] : *cell | from->cells[i];
        to->ones += *cell != 0;
    }
    to->overflowed |= to->is.counter_bits != 0;
}

static uint64_t estimated(const struct shadow *shadow)
{
    return (uint64_t)llround(estimate(&shadow->is, shadow->ones));
}

static void refuse_unlike(struct codes *codes, const struct filter *a, const struct filter *b)
{
    const struct list *x = &a->now.list, *y = &b->now.list;
    may_refuse(codes,
               a->now.policy.slices > 0 || b->now.policy.slices > 0 ||
                   x->segments[0]->keys != NULL || y->segments[0]->keys != NULL,
               TAMIS_EUNSUPPORTED);
    may_refuse(codes, a != b && !are_alike(x, y), TAMIS_EMISMATCH);
}

static bool step_merge(struct step *s)
{
    struct filter *f = s->filter, *from = s->model->handles[s->op->source].filter;
    struct codes codes = {.count = 0};
    if (is_fault(s)) return adopt(s, f);
    may_refuse(&codes, s->handle->read_only, TAMIS_EREADONLY);
    may_refuse(&codes, (s->op->flags & TAMIS_MERGE_INTERSECT) != 0, TAMIS_EUNSUPPORTED);
    may_refuse(&codes, f == from, TAMIS_EINVAL);
    may_refuse(&codes, f->dropped || from->dropped, TAMIS_EDROPPED);
    refuse_unlike(&codes, f, from);
    if (f != from && is_sip(&f->now.list) && s->out->rc == TAMIS_EMISMATCH)
        return true; /* secrets */
    if (is_refused(s, &codes)) return true;
    s->handle->wrote = true;
    for (uint32_t i = 0; i < f->now.list.count; i++) {
        struct shadow *to = f->now.list.segments[i];
        merge_cells(to, from->now.list.segments[i], false);
        const uint64_t items = estimated(to);
        if (items > to->is.items) to->is.items = items;
        to->mixed = true;
    }
    return ends(s, 0, NULL) && list_is_told(s);
}

static bool merged_segment_fits(struct step *s, uint32_t index, const struct shadow *made)
{
    const struct tamis_segment_stat *told = &s->out->segment[index];
    if (told->m_bits != made->is.m_bits || told->k != made->is.k || told->kind != made->is.kind ||
        told->seed != made->is.seed || told->capacity != made->is.capacity ||
        told->fp_rate != made->is.fp_rate || told->step != made->is.step ||
        told->counter_bits != made->is.counter_bits || told->bit_order != made->is.bit_order ||
        strcmp(told->hash_set, made->is.hash_set) != 0 ||
        told->flags != TAMIS_SEGMENT_ITEMS_ESTIMATED || told->items != estimated(made))
        return wrong(
            s->model,
            "merged segment %u: m %llu, k %u, capacity %llu, flags %llu, items %llu, not %llu",
            index, (unsigned long long)told->m_bits, told->k, (unsigned long long)told->capacity,
            (unsigned long long)told->flags, (unsigned long long)told->items,
            (unsigned long long)estimated(made));
    return true;
}

static bool step_merged(struct step *s)
{
    struct model *model = s->model;
    const struct filter *a = s->handle->filter, *b = model->handles[s->op->source].filter;
    const bool intersect = (s->op->flags & TAMIS_MERGE_INTERSECT) != 0;
    struct codes codes = {.count = 0};
    if (is_fault(s)) return true;
    may_refuse(&codes, store_reads_only(s), TAMIS_EREADONLY);
    may_refuse(&codes, model->filters[s->op->name] != NULL, TAMIS_EEXIST);
    may_refuse(&codes, a->dropped || b->dropped, TAMIS_EDROPPED);
    may_refuse(&codes, intersect && (a->now.list.count > 1 || b->now.list.count > 1),
               TAMIS_EUNSUPPORTED);
    refuse_unlike(&codes, a, b);
    if (a != b && is_sip(&a->now.list) && s->out->rc == TAMIS_EMISMATCH) return true;
    if (is_refused(s, &codes)) return true;
    if (!ends(s, 0, NULL)) return false;
    if (s->out->segments != a->now.list.count)
        return wrong(model, "%u segments were merged", s->out->segments);
    struct filter *f = model->filters[s->op->name] = filter_new(s, &a->now.policy);
    f->now.rate = a->now.rate;
    f->pages = a->pages;
    for (uint32_t i = 0; i < f->now.list.count; i++) {
        struct shadow *made = shadow_copy(a->now.list.segments[i]);
        if (a != b) merge_cells(made, b->now.list.segments[i], intersect);
        const bool fits = merged_segment_fits(s, i, made);
        made->is = s->out->segment[i];
        made->mixed = intersect;
        shadow_free(f->now.list.segments[i]);
        f->now.list.segments[i] = made;
        if (!fits) return false;
    }
    f->recorded_items = items_of(s->model, &f->now.list, &f->now.policy);
    s->filter = f;
    return was_made(s, "created", f->created_at) && list_is_told(s);
}

static bool step_compare(struct step *s)
{
    const struct filter *a = s->filter, *b = s->model->handles[s->op->source].filter;
    const struct tamis_comparison *c = &s->out->comparison;
    struct codes codes = {.count = 0};
    if (is_fault(s)) return true;
    may_refuse(&codes, a->dropped || b->dropped, TAMIS_EDROPPED);
    may_refuse(&codes, a->now.list.count > 1 || b->now.list.count > 1, TAMIS_EUNSUPPORTED);
    refuse_unlike(&codes, a, b);
    if (a != b && is_sip(&a->now.list) && s->out->rc == TAMIS_EMISMATCH) return true;
    if (is_refused(s, &codes)) return true;
    const struct shadow *x = a->now.list.segments[0], *y = b->now.list.segments[0];
    uint64_t ones = 0;
    for (uint64_t i = 0; i < x->is.m_bits; i++)
        ones += x->cells[i] != 0 || y->cells[i] != 0;
    const double in_a = estimate(&x->is, x->ones), in_b = estimate(&y->is, y->ones),
                 in_any = estimate(&x->is, ones);
    const double both = fmax(in_a + in_b - in_any, 0),
                 jaccard = in_any > 0 ? fmin(both / in_any, 1) : 0;
    if (fabs(c->items_a - in_a) > 1e-6 * in_a || fabs(c->items_b - in_b) > 1e-6 * in_b ||
        fabs(c->items_union - in_any) > 1e-6 * in_any ||
        fabs(c->items_both - both) > 1e-6 * (in_a + in_b) || fabs(c->jaccard - jaccard) > 1e-5 ||
        c->error < 0 || c->error > in_a + in_b + 10)
        return wrong(
            s->model,
            "compared: %g, %g, any %g, both %g, jaccard %g, error %g; not %g, %g, %g, %g, %g",
            c->items_a, c->items_b, c->items_union, c->items_both, c->jaccard, c->error, in_a, in_b,
            in_any, both, jaccard);
    return true;
}

/* ---- Streams ----------------------------------------------------------------------------------
 */

static bool step_export(struct step *s)
{
    struct filter *f = s->filter;
    const struct op *op = s->op;
    struct stream *stream = &s->model->streams[op->stream];
    const bool own = strcmp(tamis_format_name(op->format), "tamis") == 0;
    const bool without = (op->flags & TAMIS_EXPORT_WITHOUT_EXCEPTIONS) != 0;
    bool secret = false;
    struct codes codes = {.count = 0};
    for (uint32_t i = 0; i < f->now.list.count; i++)
        secret |= f->now.list.segments[i]->is.seed != 0 || is_sip(&f->now.list);
    stream_clear(stream);
    if (is_fault(s)) return true;
    may_refuse(&codes, f->dropped, TAMIS_EDROPPED);
    may_refuse(&codes, secret && (op->flags & TAMIS_EXPORT_WITH_KEY) == 0 && own, TAMIS_EINVAL);
    may_refuse(&codes, !own && (op->flags & TAMIS_EXPORT_WITH_DIGEST) != 0, TAMIS_EUNSUPPORTED);
    may_refuse(&codes, !own && (op->flags & TAMIS_EXPORT_WITH_DIGEST) != 0, TAMIS_EINVAL);
    may_refuse(&codes, !own && !without && exceptions_of(f) > 0, TAMIS_EUNSUPPORTED);
    if (!own && (s->out->rc == TAMIS_EUNSUPPORTED || s->out->rc == TAMIS_EINVAL)) return true;
    if (is_refused(s, &codes)) return true;
    stream->there = true;
    stream->format = op->format;
    stream->of = f->now;
    list_copy(&stream->of.list, &f->now.list);
    exceptions_copy(&stream->of.found, without ? &(const struct exceptions){0} : &f->now.found);
    if (!without) exceptions_copy(&stream->exceptions, &f->by_hand);
    return ends(s, 0, NULL);
}

/* The segments that came by a stream: all of format tamis, bits alone of the others. */
static bool stream_segments_fit(struct step *s, const struct stream *stream, struct list *list)
{
    const bool own = strcmp(tamis_format_name(stream->format), "tamis") == 0;
    if (s->out->segments != stream->of.list.count)
        return wrong(s->model, "%u segments came of %u", s->out->segments, stream->of.list.count);
    list_copy(list, &stream->of.list);
    for (uint32_t i = 0; i < list->count; i++) {
        struct shadow *to = list->segments[i];
        const struct tamis_segment_stat *told = &s->out->segment[i], was = to->is;
        if (told->m_bits != was.m_bits || told->k != was.k || told->kind != was.kind ||
            (own && (told->seed != was.seed || told->capacity != was.capacity ||
                     told->items != was.items || told->fp_rate != was.fp_rate ||
                     told->slice != was.slice || told->step != was.step ||
                     told->slice_start != was.slice_start || told->created_at != was.created_at ||
                     told->counter_bits != was.counter_bits ||
                     told->fingerprint_bits != was.fingerprint_bits ||
                     strcmp(told->hash_set, was.hash_set) != 0)))
            return wrong(
                s->model,
                "segment %u of a stream: m %llu, k %u, seed %llu, capacity %llu, items %llu, "
                "created %lld; not %llu, %u, %llu, %llu, %llu, %lld",
                i, (unsigned long long)told->m_bits, told->k, (unsigned long long)told->seed,
                (unsigned long long)told->capacity, (unsigned long long)told->items,
                (long long)told->created_at, (unsigned long long)was.m_bits, was.k,
                (unsigned long long)was.seed, (unsigned long long)was.capacity,
                (unsigned long long)was.items, (long long)was.created_at);
        to->is = *told;
    }
    return true;
}

/* Bits that a secret has set are nobody's else. */
static bool is_bare_secret(const struct stream *stream)
{
    return strcmp(tamis_format_name(stream->format), "redis-bitmap") == 0 &&
           is_sip(&stream->of.list);
}

static bool adopt_stream(struct step *s, const struct stream *stream, struct filter *f)
{
    const bool own = strcmp(tamis_format_name(stream->format), "tamis") == 0;
    const bool durable = (s->op->flags & TAMIS_IMPORT_DURABLE) != 0;
    if (!stream_segments_fit(s, stream, &f->now.list)) return false;
    const struct tamis_segment_stat *newest = &newest_of(f)->is;
    f->now.policy = stream->of.policy;
    f->now.policy.durable = durable;
    f->now.rate = stream->of.rate;
    if (!own) {
        f->now.policy = (struct policy){.on_full = TAMIS_ON_FULL_WARN,
                                        .capacity = newest->capacity,
                                        .rate = newest->fp_rate,
                                        .durable = durable};
        f->now.rate = s->out->stat.fp_rate;
        if (f->now.list.count == 1 && fabs(f->now.rate - newest->fp_rate) > 1e-9)
            return wrong(s->model, "imported with the rate %g, not %g", f->now.rate,
                         newest->fp_rate);
    }
    f->now.capacity = newest->capacity;
    /* Of kinds other than fuse a stream may leave out of which keys it was built. */
    f->now.built = own && stream->of.built;
    f->now.maybe_built = newest->kind != TAMIS_KIND_FUSE;
    if (f->now.built) memcpy(f->now.digest, stream->of.digest, sizeof f->now.digest);
    f->now.imported_at = s->out->stat.imported_at;
    f->now.unsigned_import = (s->op->flags & 0x4000u) == 0;
    return true;
}

static bool step_import(struct step *s)
{
    struct model *model = s->model;
    const struct stream *stream = &model->streams[s->op->stream];
    struct codes codes = {.count = 0};
    if (is_fault(s)) return true;
    if (!stream->there) return s->out->rc < 0 || wrong(model, "half a stream was imported");
    const bool durable = (s->op->flags & TAMIS_IMPORT_DURABLE) != 0;
    const uint32_t kind = stream->of.list.segments[0]->is.kind;
    may_refuse(&codes, store_reads_only(s), TAMIS_EREADONLY);
    may_refuse(&codes, s->filter != NULL, TAMIS_EEXIST);
    may_refuse(&codes, is_bare_secret(stream), TAMIS_EINVAL);
    may_refuse(&codes, durable && (kind == TAMIS_KIND_COUNTING || kind == TAMIS_KIND_FUSE),
               TAMIS_EUNSUPPORTED);
    if (is_refused(s, &codes)) return true;
    const struct policy none = {.capacity = 0};
    struct filter *f = filter_new(s, &none);
    list_clear(&f->now.list);
    model->filters[s->op->name] = s->filter = f;
    f->owned = (s->op->flags & TAMIS_IMPORT_OWNED) != 0;
    f->recorded_unsure = true;
    exceptions_copy(&f->by_hand, &stream->exceptions);
    exceptions_copy(&f->now.found, &stream->of.found); /* by the build of the first generation */
    f->now.found_by = f->now.number;
    f->now.published_at = f->checkpointed_at = s->out->stat.published_at;
    f->checkpoint_unsure = s->out->began;
    if (!adopt_stream(s, stream, f)) return false;
    if (s->op->slot < SLOTS) take_handle(s, f, false);
    if ((s->op->flags & 0x1000u) != 0 && f->created_at != 1111111111)
        return wrong(model, "created at %lld", (long long)f->created_at);
    return ((s->op->flags & 0x1000u) != 0 || was_made(s, "created", f->created_at)) &&
           list_is_told(s);
}

static bool step_publish(struct step *s)
{
    struct filter *f = s->filter;
    const struct stream *stream = &s->model->streams[s->op->stream];
    const bool keeps = (s->op->flags & TAMIS_PUBLISH_KEEP) != 0;
    struct codes codes = {.count = 0};
    if (is_fault(s)) return true;
    if (!stream->there) return s->out->rc < 0 || wrong(s->model, "half a stream was published");
    const uint32_t kind = stream->of.list.segments[0]->is.kind;
    may_refuse(&codes, store_reads_only(s), TAMIS_EREADONLY);
    may_refuse(&codes, f != NULL && f->now.policy.durable && kind == TAMIS_KIND_COUNTING,
               TAMIS_EMISMATCH);
    may_refuse(&codes, is_bare_secret(stream), TAMIS_EINVAL);
    may_refuse(&codes, /* nobody says when it was made */
               (s->op->flags & (TAMIS_PUBLISH_NEWER | 0x4000u)) == TAMIS_PUBLISH_NEWER &&
                   strcmp(tamis_format_name(stream->format), "tamis") != 0,
               TAMIS_EINVAL);
    if (codes.count == 0 && (s->op->flags & TAMIS_PUBLISH_NEWER) != 0 && f != NULL &&
        s->out->rc == TAMIS_EMISMATCH)
        return ends(s, TAMIS_EMISMATCH, names[s->op->name]);
    if (is_refused(s, &codes)) return true;
    if (s->out->rc == 0) {
        const uint32_t unchanged = TAMIS_PUBLISH_IF_CHANGED | TAMIS_PUBLISH_NEWER;
        if ((s->op->flags & unchanged) == 0 || f == NULL) return ends(s, 1, NULL);
        const struct list *list = &f->now.list;
        if (!are_alike(list, &stream->of.list))
            return wrong(s->model, "another list is said to be in force");
        for (uint32_t i = 0; i < list->count; i++) {
            const struct shadow *x = list->segments[i], *y = stream->of.list.segments[i];
            if (x->keys != NULL
                    ? memcmp(x->keys, y->keys, POOL / 8) != 0
                    : memcmp(x->cells, y->cells, (size_t)x->is.m_bits * sizeof *x->cells) != 0)
                return wrong(s->model, "other keys are said to be in force");
        }
        return keeps_alike(s, keeps) && list_is_told(s);
    }
    if (!ends(s, 1, NULL)) return false;
    const bool was_durable = f != NULL && f->now.policy.durable;
    f = next_generation(s, keeps);
    if (!adopt_stream(s, stream, f)) return false;
    f->now.policy.durable = was_durable;
    exceptions_copy(&f->now.found, &stream->exceptions); /* set by hand there, found here */
    for (uint32_t i = 0; i < stream->of.found.count; i++)
        exceptions_put(&f->now.found, stream->of.found.list[i].key, 0);
    for (uint32_t i = 0; i < s->op->except.count; i++)
        exceptions_put(&f->by_hand, key_at(&s->op->except, i), 0);
    if (s->out->published.generation != f->now.number ||
        s->out->published.exceptions != exceptions_of(f))
        return wrong(s->model, "published generation %llu with %llu exceptions, not %llu, %llu",
                     (unsigned long long)s->out->published.generation,
                     (unsigned long long)s->out->published.exceptions,
                     (unsigned long long)f->now.number, (unsigned long long)exceptions_of(f));
    return was_made(s, "published", f->now.published_at) && list_is_told(s);
}

step_fn *exchanged_step(enum op_kind kind)
{
    static step_fn *const judges[OP_COUNT_OF] = {
        [OP_BUILD] = step_build,     [OP_MERGE] = step_merge,   [OP_MERGED] = step_merged,
        [OP_COMPARE] = step_compare, [OP_EXPORT] = step_export, [OP_IMPORT] = step_import,
        [OP_PUBLISH] = step_publish,
    };
    return judges[kind];
}
