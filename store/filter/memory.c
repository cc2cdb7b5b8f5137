/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.c: filters without a store (tamis_memory.h).
 *
 * A kind works on a segment: a header that says where a key goes, the bits, and a counter of items.
 * A memory filter has the bits, and the few numbers from which each call makes such a header.  So
 * a filter of 100 keys takes some 90 bytes beside its bits, where a header has 4096.
 */
#include "tamis_memory.h"

#include "base/arguments.h"
#include "exchange/portable.h"
#include "kind/kind.h"
#include "plan/plan.h"

_Static_assert(sizeof(struct tamis_memory_filter) == 88, "there may be a million of these");

/* Writes what a key's place follows from, and nothing else of *header. */
static void describe(const struct tamis_memory_filter *filter, struct tamis__segment_header *header)
{
    header->kind = filter->kind;
    header->hash_set = filter->hash_set;
    header->seed = filter->seed;
    header->m_bits = filter->m_bits;
    header->k = filter->k;
    header->words = filter->words;
    header->data_bytes = filter->data_bytes;
    header->bit_order = TAMIS__BITS_LSB_FIRST;
    memset(header->parameters, 0, sizeof header->parameters);
}

/* The same, as the constant part of a whole header. */
static void describe_whole(const struct tamis_memory_filter *filter,
                           struct tamis__segment_header *header)
{
    memset(header, 0, TAMIS__GUARD_KEPT_BYTES);
    describe(filter, header);
    header->capacity = filter->capacity;
    header->fp_rate = tamis__double_to_bits(filter->fp_rate);
    header->step = filter->step;
}

/* A segment of the bits for one call, which looks at nothing but what describe() and segment_of()
 * write: to clear the rest takes as long as to add a key. */
struct segment {
    struct tamis__segment segment;
    struct tamis__stripe stripe; /* counts the items that are new to a batch */
    struct tamis__segment_header header;
};

static const struct tamis__segment *segment_of(const struct tamis_memory_filter *filter,
                                               struct segment *s)
{
#ifdef TAMIS_TEST_POINTS
    memset(s, 0xa5, sizeof *s); /* a test of the library sees a look at anything else */
#endif
    describe(filter, &s->header);
    s->stripe.items = 0;
    s->segment.header = &s->header;
    s->segment.stripes = &s->stripe;
    s->segment.stripe_count = 1;
    s->segment.data = filter->data;
    s->segment.kept = NULL;
    return &s->segment;
}

/* ---- What it is to be ------------------------------------------------------------------------ */

TAMIS_API int tamis_memory_filter_check(const struct tamis_memory_filter *filter)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__segment_header header;
    const char *reason = "is of a kind or hash set that needs a store";
    const struct tamis__kind *kind = tamis__kind_by_id(filter->kind);
    const struct tamis__hash_set *set = tamis__hash_set_by_id(filter->hash_set);
    const bool known = kind != NULL && kind->add_digests != NULL && set != NULL &&
                       set->parse == NULL && !set->keyed && set->bit_order == TAMIS__BITS_LSB_FIRST;
    describe_whole(filter, &header);
    if (known && filter->m_bits > 0 && filter->capacity > 0 &&
        filter->data_bytes == tamis__data_bytes(filter->m_bits) &&
        kind->check(&header, &reason) == 0)
        return 0;
    return tamis__fail(TAMIS_ECORRUPT, "the filter in memory %s", reason);
}

static int check_plain(const struct tamis__plan *plan)
{
    const bool plain = plan->policy.slices == 0 && !plan->policy.durable &&
                       plan->policy.key_rule[0] == '\0' && plan->sizing.counter_bits == 0 &&
                       plan->hash_set->parse == NULL && !plan->hash_set->keyed;
    return plain ? 0
                 : tamis__fail(TAMIS_EUNSUPPORTED,
                               "a window, a log, counters, a secret, a key rule and hash sets with "
                               "parameters need a store; make the filter there");
}

TAMIS_API int tamis_memory_filter_init(struct tamis_memory_filter *filter,
                                       const struct tamis_filter_spec *spec, uint32_t step)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis_filter_spec own;
    struct tamis_sizing sizing = {.size = sizeof sizing};
    struct tamis__plan plan;
    int rc = tamis__take_struct(spec, &own, sizeof own, "struct tamis_filter_spec");
    if (rc == 0) rc = tamis__plan_filter(&own, &plan);
    if (rc == 0) rc = check_plain(&plan);
    if (rc != 0) return rc;
    if (step == 0)
        sizing = plan.sizing;
    else if ((rc = tamis_filter_plan(spec, step, &sizing)) <= 0)
        return rc;
    *filter = (struct tamis_memory_filter){.size = sizeof *filter,
                                           .data_bytes = tamis__data_bytes(sizing.m_bits),
                                           .m_bits = sizing.m_bits,
                                           .seed = plan.seed,
                                           .capacity = sizing.capacity,
                                           .fp_rate = sizing.fp_rate,
                                           .kind = sizing.kind,
                                           .k = sizing.k,
                                           .words = sizing.words,
                                           .hash_set = plan.hash_set->id,
                                           .step = step};
    rc = tamis_memory_filter_check(filter);
    return rc < 0 ? rc : 1;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

TAMIS_API int tamis_memory_filter_add(struct tamis_memory_filter *filter, const void *key,
                                      size_t key_bytes)
{
    struct segment s;
    const int is_new = tamis__kind_by_id(filter->kind)->add(segment_of(filter, &s), key, key_bytes);
    filter->items += is_new > 0;
    return is_new > 0;
}

TAMIS_API int tamis_memory_filter_contains(const struct tamis_memory_filter *filter,
                                           const void *key, size_t key_bytes)
{
    struct segment s;
    return tamis__kind_by_id(filter->kind)->contains(segment_of(filter, &s), key, key_bytes) > 0;
}

TAMIS_API size_t tamis_memory_filter_add_batch(struct tamis_memory_filter *filter,
                                               const struct tamis_key *keys, size_t count,
                                               uint8_t *answers)
{
    struct segment s;
    const int64_t news =
        tamis__kind_by_id(filter->kind)->add_batch(segment_of(filter, &s), keys, count, answers);
    filter->items += (uint64_t)news;
    return (size_t)news;
}

TAMIS_API size_t tamis_memory_filter_contains_batch(const struct tamis_memory_filter *filter,
                                                    const struct tamis_key *keys, size_t count,
                                                    uint8_t *answers)
{
    struct segment s;
    return tamis__kind_by_id(filter->kind)
        ->contains_batch(segment_of(filter, &s), keys, count, answers);
}

/* ---- Out ------------------------------------------------------------------------------------- */

/* What the stream of some filters is made from. */
struct copies {
    struct tamis__cargo cargo;
    struct segment parts[];
};

static struct copies *copies_of(const struct tamis_memory_filter *filters, uint32_t count,
                                const struct tamis_filter_spec *spec)
{
    struct copies *copies = calloc(1, sizeof *copies + count * sizeof copies->parts[0]);
    if (copies == NULL) return NULL;
    copies->cargo.count = count;
    copies->cargo.fp_rate = spec->fp_rate;
    copies->cargo.policy = (struct tamis__policy){
        .on_full = spec->on_full, .capacity = spec->capacity, .fp_rate = spec->fp_rate};
    for (uint32_t i = 0; i < count; i++) {
        describe_whole(&filters[i], &copies->parts[i].header);
        copies->parts[i].segment = (struct tamis__segment){.header = &copies->parts[i].header,
                                                           .stripes = &copies->parts[i].stripe,
                                                           .stripe_count = 1,
                                                           .data = filters[i].data};
        copies->parts[i].stripe.items = filters[i].items;
        copies->cargo.segments[i] = &copies->parts[i].segment;
        copies->cargo.capacity +=
            i + 1 == count || filters[i].items == 0 ? filters[i].capacity : filters[i].items;
    }
    return copies;
}

static int save(const struct tamis_memory_filter *filters, uint32_t count,
                const struct tamis_filter_spec *spec, const struct tamis_sink *sink)
{
    struct tamis__writer writer;
    unsigned char trailer[TAMIS__SUM_BYTES];
    if (filters == NULL || count == 0 || count > TAMIS_MEMORY_SEGMENTS_MAX)
        return tamis__fail(TAMIS_EINVAL, "a stream of %u filters in memory; it has 1 to %d", count,
                           TAMIS_MEMORY_SEGMENTS_MAX);
    struct copies *copies = copies_of(filters, count, spec);
    if (copies == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for a stream");
    int rc = tamis__writer_init(&writer, sink);
    if (rc == 0) rc = tamis__portable_save(&copies->cargo, &writer, trailer);
    if (rc == 0) rc = tamis__writer_flush(&writer);
    tamis__writer_clear(&writer);
    free(copies);
    return rc;
}

TAMIS_API int tamis_memory_filters_save(const struct tamis_memory_filter *filters, uint32_t count,
                                        const struct tamis_filter_spec *spec,
                                        const struct tamis_sink *sink)
{
    struct tamis_filter_spec own;
    struct tamis_sink to;
    int rc = tamis__take_struct(spec, &own, sizeof own, "struct tamis_filter_spec");
    if (rc == 0) rc = tamis__take_struct(sink, &to, sizeof to, "struct tamis_sink");
    return rc < 0 ? rc : save(filters, count, &own, &to);
}

struct capture {
    unsigned char *to;
    size_t got;
};

static int take(void *context, const void *bytes, size_t count)
{
    struct capture *capture = context;
    memcpy(capture->to + capture->got, bytes, count);
    capture->got += count;
    return 0;
}

TAMIS_API int64_t tamis_memory_filters_head(const struct tamis_memory_filter *filters,
                                            uint32_t count, const struct tamis_filter_spec *spec,
                                            void *head)
{
    struct tamis_filter_spec own;
    struct capture capture = {.to = head};
    const struct tamis_sink sink = {.size = sizeof sink,
                                    .write = take,
                                    .context = &capture,
                                    .bytes = TAMIS_MEMORY_HEAD_BYTES(count)};
    int rc = tamis__take_struct(spec, &own, sizeof own, "struct tamis_filter_spec");
    if (rc == 0) rc = save(filters, count, &own, &sink);
    return rc < 0 ? rc : (int64_t)capture.got;
}

/* ---- In -------------------------------------------------------------------------------------- */

static bool fits_in_memory(const struct tamis__outline *outline, const struct tamis__layer *layer)
{
    return outline->exceptions == 0 && outline->policy.slices == 0 &&
           outline->policy.key_rule[0] == '\0' && layer->segment.counter_bits == 0 &&
           layer->segment.fingerprint_bits == 0 &&
           tamis__is_zero(layer->segment.parameters, sizeof layer->segment.parameters) &&
           layer->segment.bit_order == TAMIS__BITS_LSB_FIRST;
}

static int take_layer(const struct tamis__layer *layer, struct tamis_memory_filter *filter)
{
    const struct tamis__listed_segment *s = &layer->segment;
    *filter = (struct tamis_memory_filter){.size = sizeof *filter,
                                           .data_bytes = tamis__data_bytes(s->m_bits),
                                           .m_bits = s->m_bits,
                                           .seed = s->seed,
                                           .capacity = s->capacity,
                                           .items = s->items,
                                           .fp_rate = s->fp_rate,
                                           .kind = s->kind,
                                           .k = s->k,
                                           .words = s->words,
                                           .hash_set = s->hash_set,
                                           .step = s->step};
    return tamis_memory_filter_check(filter);
}

static int take_outline(const struct tamis__outline *outline, struct tamis_memory_filter *filters)
{
    for (uint32_t i = 0; i < outline->count; i++) {
        if (!fits_in_memory(outline, &outline->layers[i]))
            return tamis__fail(TAMIS_EUNSUPPORTED,
                               "the filter of the stream can only be in a store; import it there");
        const int rc = take_layer(&outline->layers[i], &filters[i]);
        if (rc < 0) return rc;
    }
    return (int)outline->count;
}

TAMIS_API int tamis_memory_filters_parse(const void *head, size_t bytes,
                                         struct tamis_memory_filter *filters,
                                         struct tamis_filter_spec *spec, size_t *head_bytes)
{
    TAMIS__REFUSE_NULL(head, "head");
    struct tamis__refusal refusal;
    struct tamis__outline *outline = calloc(1, sizeof *outline);
    if (outline == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for the head of a stream");
    int rc = tamis__portable_parse(head, bytes, outline, &refusal);
    if (rc < 0)
        rc = tamis__fail_of(
            rc, &(struct tamis__fault){.what = "the tamis stream", .offset = refusal.offset},
            "the tamis stream %s (at byte %llu)", refusal.reason,
            (unsigned long long)refusal.offset);
    else
        rc = take_outline(outline, filters);
    if (rc > 0) {
        *spec = (struct tamis_filter_spec){.size = sizeof *spec,
                                           .capacity = outline->policy.capacity,
                                           .fp_rate = outline->policy.fp_rate,
                                           .kind = filters[0].kind,
                                           .seed = filters[0].seed,
                                           .on_full = outline->policy.on_full};
        *head_bytes = (size_t)outline->head_bytes;
    }
    free(outline);
    return rc;
}

TAMIS_API int tamis_memory_stream_check(const void *stream, size_t bytes)
{
    unsigned char digest[TAMIS__SUM_BYTES];
    struct tamis__sum sum;
    if (bytes < sizeof digest) return tamis__fail(TAMIS_ECORRUPT, "the tamis stream is truncated");
    tamis__sum_init(&sum);
    tamis__sum_add(&sum, stream, bytes - sizeof digest);
    tamis__sum_finish(&sum, digest);
    if (memcmp((const char *)stream + bytes - sizeof digest, digest, sizeof digest) == 0) return 0;
    return tamis__fail(TAMIS_ECORRUPT, "the tamis stream is damaged (its checksum does not match)");
}
