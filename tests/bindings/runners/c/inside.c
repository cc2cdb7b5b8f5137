/* SPDX-License-Identifier: BSD-2-Clause */
/* inside.c: what is known of filters, segments and keys; sizes; merging and comparing. */
#include <math.h>

#include "runner.h"

static json_t *do_tamis_filter_stat(struct step *step)
{
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    const int rc = tamis_filter_stat(on_filter(step), &stat);
    return rc < 0 ? failed(rc) : gives(stat_json(&stat));
}

static json_t *do_tamis_filter_items(struct step *step)
{
    return counted(tamis_filter_items(on_filter(step)));
}

/* ---- Segments -------------------------------------------------------------------------------- */

static json_t *segment(struct step *step,
                       int call(tamis_filter *, uint32_t, struct tamis_segment_stat *))
{
    struct tamis_segment_stat stat = TAMIS_INIT(struct tamis_segment_stat);
    const int rc = call(on_filter(step), (uint32_t)number(step, "index"), &stat);
    if (rc < 0) return failed(rc);
    return gives(fields_json(TAMIS_FIELDS_SEGMENT, TAMIS_SHOWN_ANYWHERE, &stat));
}

static json_t *do_tamis_filter_segment(struct step *step)
{
    return segment(step, tamis_filter_segment);
}

static json_t *do_tamis_filter_fill(struct step *step)
{
    return segment(step, tamis_filter_fill);
}

static json_t *do_tamis_segment_file(struct step *step)
{
    char file[TAMIS_SEGMENT_FILE_BYTES];
    return word(tamis_segment_file((uint64_t)number(step, "number"), file));
}

static json_t *do_tamis_filter_fill_map(struct step *step)
{
    const size_t count = (size_t)number(step, "count");
    double *fill = step_memory(step, count * sizeof *fill);
    const int rc =
        tamis_filter_fill_map(on_filter(step), (uint32_t)number(step, "index"), fill, count);
    if (rc < 0) return failed(rc);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(fill[i]));
    return gives(list);
}

/* ---- Where a key goes ------------------------------------------------------------------------ */

static struct tamis_explanation explanation(struct step *step)
{
    struct tamis_explanation to = TAMIS_INIT(struct tamis_explanation);
    to.hashes_bytes = 64 * TAMIS_K_MAX;
    to.hashes = step_memory(step, to.hashes_bytes);
    to.positions_max = TAMIS_K_MAX;
    to.positions = step_memory(step, to.positions_max * sizeof *to.positions);
    return to;
}

static json_t *explained(int rc, const struct tamis_explanation *by)
{
    if (rc < 0) return failed(rc);
    json_t *list = json_array();
    for (size_t i = 0; i < by->positions_count; i++)
        json_array_append_new(list, json_integer((json_int_t)by->positions[i]));
    return gives(json_pack("{s:s, s:o}", "hashes", by->hashes, "positions", list));
}

static json_t *do_tamis_filter_explain(struct step *step)
{
    struct tamis_explanation to = explanation(step);
    const struct tamis_key one = key(step, "key");
    const int rc = tamis_filter_explain(on_filter(step), (uint32_t)number(step, "index"), one.data,
                                        one.bytes, &to);
    return explained(rc, &to);
}

static json_t *do_tamis_explain(struct step *step)
{
    struct tamis_explanation to = explanation(step);
    const struct tamis_key one = key(step, "key");
    const int rc = tamis_explain(text(step, "hash_set"), (uint64_t)number(step, "m_bits"),
                                 (uint32_t)number(step, "k"), (uint64_t)number(step, "seed"),
                                 one.data, one.bytes, &to);
    return explained(rc, &to);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static json_t *do_tamis_field(struct step *step)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    const int rc = tamis_field((uint32_t)number(step, "of"), (uint32_t)number(step, "shown_by"),
                               (uint32_t)number(step, "index"), &field);
    if (rc <= 0) return status(rc);
    return gives(json_pack("{s:s, s:s?, s:s?, s:s, s:s, s:s?, s:i, s:i, s:i, s:i}", "name",
                           field.name, "info_name", field.info_name, "reply_name", field.reply_name,
                           "unit", field.unit, "sentence", field.sentence, "lacking", field.lacking,
                           "of", (int)field.of, "number", (int)field.number, "type",
                           (int)field.type, "sum", (int)field.sum));
}

/* The stat of the filter, and the field of it that the step names. */
static int field_of_stat(const struct step *step, struct tamis_filter_stat *stat,
                         struct tamis_field *field)
{
    *stat = (struct tamis_filter_stat)TAMIS_INIT(struct tamis_filter_stat);
    *field = (struct tamis_field)TAMIS_INIT(struct tamis_field);
    const int rc = tamis_filter_stat(on_filter(step), stat);
    if (rc < 0) return rc;
    return tamis_field(TAMIS_FIELDS_FILTER, (uint32_t)number(step, "shown_by"),
                       (uint32_t)number(step, "index"), field);
}

static json_t *do_tamis_field_get(struct step *step)
{
    struct tamis_filter_stat stat;
    struct tamis_field field;
    const int rc = field_of_stat(step, &stat, &field);
    return rc < 0 ? failed(rc) : gives(field_json(&field, &stat));
}

static json_t *do_tamis_field_set(struct step *step)
{
    struct tamis_filter_stat stat;
    struct tamis_field field;
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
    int rc = field_of_stat(step, &stat, &field);
    value.text = text(step, "to");
    value.number = (uint64_t)number(step, "to");
    value.ns = number(step, "to");
    value.real = json_number_value(json_object_get(step->with, "to"));
    if (rc >= 0) rc = tamis_field_set(&field, &stat, &value);
    return rc < 0 ? failed(rc) : gives(field_json(&field, &stat));
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

#define SIZING_WHOLE(X)                                                                            \
    X(k)                                                                                           \
    X(capacity)                                                                                    \
    X(m_bits)                                                                                      \
    X(data_bytes) X(file_bytes) X(words) X(counter_bits) X(fingerprint_bits) X(pieces)

static json_t *do_tamis_size(struct step *step)
{
    json_t *given = json_object_get(step->with, "sizing"), *result;
    struct tamis_sizing sizing = TAMIS_INIT(struct tamis_sizing);
    sizing.kind = kind_of(json_object_get(given, "kind"));
    sizing.k = (uint32_t)json_integer_value(json_object_get(given, "k"));
    sizing.capacity = (uint64_t)json_integer_value(json_object_get(given, "capacity"));
    sizing.m_bits = (uint64_t)json_integer_value(json_object_get(given, "m_bits"));
    sizing.fp_rate = json_number_value(json_object_get(given, "fp_rate"));
    sizing.counter_bits = (uint32_t)json_integer_value(json_object_get(given, "counter_bits"));
    const int rc = tamis_size(&sizing);
    if (rc < 0) return failed(rc);
    result = json_pack("{s:s, s:f, s:f, s:f}", "kind", tamis_kind_name(sizing.kind), "fp_rate",
                       sizing.fp_rate, "predicted_rate", sizing.predicted_rate, "bits_per_key",
                       sizing.bits_per_key);
#define SET(name) json_object_set_new(result, #name, json_integer((json_int_t)sizing.name));
    SIZING_WHOLE(SET)
#undef SET
    return gives(result);
}

static json_t *do_tamis_predict_rate(struct step *step)
{
    const double rate = tamis_predict_rate(
        kind_of(json_object_get(step->with, "kind")), (uint64_t)number(step, "m_bits"),
        (uint32_t)number(step, "k"), (uint64_t)number(step, "n"));
    return gives(isnan(rate) ? json_null() : json_real(rate));
}

/* ---- Merging --------------------------------------------------------------------------------- */

static struct tamis_merge merge_of(struct step *step)
{
    static const struct flag merge_flags[] = {{"INTERSECT", TAMIS_MERGE_INTERSECT}, {NULL, 0}};
    struct tamis_merge merge = TAMIS_INIT(struct tamis_merge);
    merge.sources = filters(step, "sources", &merge.count);
    merge.flags = flags_of(json_object_get(step->with, "flags"), merge_flags);
    return merge;
}

static json_t *do_tamis_filter_merge(struct step *step)
{
    const struct tamis_merge merge = merge_of(step);
    return status(tamis_filter_merge(on_filter(step), &merge));
}

static json_t *do_tamis_filter_create_merged(struct step *step)
{
    const struct tamis_merge merge = merge_of(step);
    tamis_filter *filter = NULL;
    const int rc = tamis_filter_create_merged(on_store(step), text(step, "name"), &merge, &filter);
    return made(step, IS_FILTER, filter, rc);
}

static json_t *do_tamis_filter_like(struct step *step)
{
    struct tamis_filter_spec spec = TAMIS_INIT(struct tamis_filter_spec);
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    const int rc = tamis_filter_like(on_filter(step), &spec, hash_set);
    if (rc < 0) return failed(rc);
    return gives(json_pack(
        "{s:I, s:f, s:s, s:I, s:I, s:s, s:I, s:s?, s:s?}", "capacity", (json_int_t)spec.capacity,
        "fp_rate", spec.fp_rate, "kind", tamis_kind_name(spec.kind), "k", (json_int_t)spec.k,
        "m_bits", (json_int_t)spec.m_bits, "hash_set", spec.hash_set, "seed", (json_int_t)spec.seed,
        "on_full", tamis_on_full_name(spec.on_full), "key_rule", spec.key_rule));
}

static json_t *do_tamis_filter_compare(struct step *step)
{
    struct tamis_comparison between = TAMIS_INIT(struct tamis_comparison);
    const int rc =
        tamis_filter_compare(on_filter(step), handle_of(text(step, "other"), IS_FILTER), &between);
    if (rc < 0) return failed(rc);
    return gives(json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "items_a", between.items_a, "items_b",
                           between.items_b, "items_union", between.items_union, "items_both",
                           between.items_both, "jaccard", between.jaccard, "error", between.error));
}

const struct call inside_calls[] = {
    CALL(tamis_filter_stat),    CALL(tamis_filter_items),   CALL(tamis_filter_segment),
    CALL(tamis_filter_fill),    CALL(tamis_segment_file),   CALL(tamis_filter_fill_map),
    CALL(tamis_filter_explain), CALL(tamis_explain),        CALL(tamis_field),
    CALL(tamis_field_get),      CALL(tamis_field_set),      CALL(tamis_size),
    CALL(tamis_predict_rate),   CALL(tamis_filter_merge),   CALL(tamis_filter_create_merged),
    CALL(tamis_filter_like),    CALL(tamis_filter_compare), {NULL, NULL}};
