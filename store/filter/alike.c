/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alike.c: says which filters can be merged and compared, and makes a spec for a filter like
 * another.
 *
 * A refusal names every field that differs, not only the first.  Its reader will make filters anew,
 * and should have to do so once.
 */
#include "filter/alike.h"

#include <stdarg.h>

#include "catalog/parameters.h"
#include "handle/follow.h"
#include "hash/hash_set.h"
#include "plan/plan.h"
#include "plan/policy.h"

bool tamis__same_filter(const struct tamis_filter *a, const struct tamis_filter *b)
{
    return a->filter_id == b->filter_id && a->store->store_id == b->store->store_id;
}

/* ---- Differences ----------------------------------------------------------------------------- */

/* The differences, as a clause. */
struct list {
    char text[512];
    size_t used;
};

static void put_formatted(struct list *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put_formatted(struct list *list, const char *format, ...)
{
    va_list arguments;
    const size_t room = sizeof list->text - list->used;
    va_start(arguments, format);
    const int bytes = vsnprintf(list->text + list->used, room, format, arguments);
    va_end(arguments);
    if (bytes > 0) list->used += (size_t)bytes < room ? (size_t)bytes : room - 1;
}

static void put_text(struct list *list, const char *field, const char *a, const char *b)
{
    if (strcmp(a, b) == 0) return;
    put_formatted(list, "%s%s (%s and %s)", list->used ? ", " : "", field, a, b);
}

static void put_number(struct list *list, const char *field, uint64_t a, uint64_t b)
{
    char texts[2][24];
    (void)snprintf(texts[0], sizeof texts[0], "%" PRIu64, a);
    (void)snprintf(texts[1], sizeof texts[1], "%" PRIu64, b);
    put_text(list, field, texts[0], texts[1]);
}

static void put_hash_sets(struct list *list, const struct tamis__listed_segment *a,
                          const struct tamis__listed_segment *b)
{
    char names[2][TAMIS_HASH_SET_NAME_MAX + 1];
    tamis__hash_set_name(a->hash_set, a->parameters, names[0]);
    tamis__hash_set_name(b->hash_set, b->parameters, names[1]);
    put_text(list, "hash set", names[0], names[1]);
    const struct tamis__hash_set *set = tamis__hash_set_by_id(a->hash_set);
    if (a->hash_set == b->hash_set && set != NULL && set->keyed &&
        memcmp(a->parameters, b->parameters, sizeof a->parameters) != 0)
        put_formatted(list, "%ssecret",
                      list->used ? ", " : ""); /* its value belongs to the owner alone */
}

static void put_difference(struct list *list, const struct tamis__parameter *p,
                           const struct tamis__listed_segment *a,
                           const struct tamis__listed_segment *b)
{
    static const char *const orders[] = {"least significant first", "most significant first"};
    switch (p->shown) {
    case TAMIS__AS_KIND:
        put_text(list, p->name, tamis_kind_name(a->kind), tamis_kind_name(b->kind));
        break;
    case TAMIS__AS_HASH_SET: /* the set and what belongs to it: one name says both */
        if (p->offset == offsetof(struct tamis__listed_segment, hash_set) ||
            a->hash_set == b->hash_set)
            put_hash_sets(list, a, b);
        break;
    case TAMIS__AS_BIT_ORDER:
        put_text(list, p->name, orders[a->bit_order == TAMIS__BITS_MSB_FIRST],
                 orders[b->bit_order == TAMIS__BITS_MSB_FIRST]);
        break;
    case TAMIS__AS_SECRET:
        put_formatted(list, "%s%s", list->used ? ", " : "", p->name);
        break;
    default:
        put_number(list, p->name, tamis__parameter_number(p, a), tamis__parameter_number(p, b));
    }
}

static void put_segments(struct list *list, const struct tamis__mapped_segment *x,
                         const struct tamis__mapped_segment *y)
{
    struct tamis__listed_segment a, b;
    tamis__listed_segment_from_header(x->segment.header, &a);
    tamis__listed_segment_from_header(y->segment.header, &b);
    for (const struct tamis__parameter *p = tamis__segment_parameters; p->name != NULL; p++)
        if ((p->uses & TAMIS__OF_BITS) != 0 && tamis__parameter_differs(p, &a, &b))
            put_difference(list, p, &a, &b);
}

int tamis__check_alike(const struct tamis__side *a, const struct tamis__side *b)
{
    struct list list = {.used = 0};
    char names[2][TAMIS__QUOTED_BYTES];
    const uint32_t counts[2] = {a->view->count, b->view->count};
    uint32_t i = 0;
    put_number(&list, "number of segments", counts[0], counts[1]);
    put_text(&list, "key rule", tamis__key_rule_name(a->view->policy.key_rule),
             tamis__key_rule_name(b->view->policy.key_rule));
    const size_t before = list.used;
    while (i < counts[0] && i < counts[1] && list.used == before) {
        put_segments(&list, &a->view->segments[i], &b->view->segments[i]);
        i++;
    }
    if (list.used == 0) return 0;
    if (i > 1 && list.used > before) put_formatted(&list, " of segment %u", i - 1);
    return tamis__fail(
        TAMIS_EMISMATCH, "the filters %.200s and %.200s differ in %s; %s",
        tamis__quote(names[0], a->filter->name), tamis__quote(names[1], b->filter->name), list.text,
        counts[0] != counts[1] ? "make both with room for all keys (-n), so that neither grows"
                               : "make one like the other (--like), and add its keys again");
}

int tamis__check_mergeable(const struct tamis__side *side)
{
    const struct tamis__view *view = side->view;
    if (view->policy.slices > 0)
        return tamis__fail(
            TAMIS_EUNSUPPORTED,
            "the filter '%s' has a window, whose slices match those of no other filter; "
            "merge filters without one",
            side->filter->name);
    for (uint32_t i = 0; i < view->count; i++)
        if (view->segments[i].kind->merge == NULL)
            return tamis__fail(
                TAMIS_EUNSUPPORTED,
                "the filter '%s' has a segment of kind %s, which cannot be merged or compared",
                side->filter->name, tamis_kind_name(view->segments[i].kind->id));
    return 0;
}

int tamis__check_one_segment(const struct tamis__side *side, const char *verb)
{
    if (side->view->count == 1) return 0;
    return tamis__fail(TAMIS_EUNSUPPORTED,
                       "the filter '%s' has %u segments and cannot be %s: a key may lie in one of "
                       "them here and in another there; make it with room for all keys (-n)",
                       side->filter->name, side->view->count, verb);
}

/* ---- A filter like another ------------------------------------------------------------------- */

/* The oldest segment that growth began with, under the rule of the newest: not a sealed one. */
static const struct tamis__segment_header *first_of_series(const struct tamis__view *view)
{
    const struct tamis__segment_header *newest = tamis__newest(view)->segment.header;
    uint32_t i = 0;
    while (view->segments[i].segment.header->hash_set != newest->hash_set ||
           view->segments[i].segment.header->kind != newest->kind ||
           view->segments[i].segment.header->step != 0) {
        if (view->segments[i].segment.header == newest) break;
        i++;
    }
    return view->segments[i].segment.header;
}

/* Do m and k follow from capacity and rate? */
static bool follows(const struct tamis_filter_spec *spec, const struct tamis__segment_header *first)
{
    struct tamis__plan plan;
    const struct tamis__hash_set *set = tamis__hash_set_by_id(first->hash_set);
    return set->fixed_k == NULL && tamis__plan_filter(spec, &plan) == 0 &&
           plan.sizing.m_bits == first->m_bits && plan.sizing.k == first->k;
}

static void describe_view(const struct tamis_filter *filter, const struct tamis__view *view,
                          struct tamis_filter_spec *spec, char *hash_set)
{
    const struct tamis__segment_header *first = first_of_series(view);
    const struct tamis__policy *policy = &view->policy;
    tamis__hash_set_name(first->hash_set, first->parameters, hash_set);
    *spec =
        (struct tamis_filter_spec){.size = sizeof *spec,
                                   .capacity = policy->capacity,
                                   .fp_rate = policy->fp_rate,
                                   .kind = first->kind,
                                   .hash_set = hash_set,
                                   .seed = first->seed,
                                   .on_full = tamis__policy_on_full(policy),
                                   .slices = policy->slices,
                                   .window_ns = policy->window_ns,
                                   .window_items = policy->window_items,
                                   .counter_bits = first->counter_bits,
                                   .flags = tamis__policy_flags(policy),
                                   .pages = policy->pages,
                                   .key_rule = filter->rule != NULL ? filter->rule->text : NULL};
    if (tamis__hash_set_by_id(first->hash_set)->keyed)
        memcpy(spec->secret, first->parameters, sizeof spec->secret);
    if (!tamis_kind_has(first->kind, TAMIS_KIND_IS_PLAIN) || follows(spec, first)) return;
    const double fp_rate = tamis__double_from_bits(first->fp_rate);
    spec->capacity = first->capacity;
    /* The rate of an odd size may be one that nobody can ask for; then it follows from the size. */
    spec->fp_rate = tamis__rate_is_valid(fp_rate) ? fp_rate : 0;
    spec->m_bits = first->m_bits;
    spec->k = first->k;
}

TAMIS_API int tamis_filter_like(tamis_filter *filter, struct tamis_filter_spec *spec,
                                char hash_set[TAMIS_HASH_SET_NAME_MAX + 1])
{
    TAMIS__REFUSE_NULL(filter, "filter");
    TAMIS__REFUSE_NULL(hash_set, "hash_set");
    struct tamis_filter_spec own;
    struct tamis__view *view;
    int rc = tamis__check_struct(spec, "struct tamis_filter_spec");
    if (rc == 0) rc = tamis__visit(filter, &view);
    if (rc < 0) return rc;
    describe_view(filter, view, &own, hash_set);
    rc = (int)tamis__leave_with(filter, view, 0);
    if (rc == 0) tamis__give_struct(&own, sizeof own, spec);
    return rc;
}
