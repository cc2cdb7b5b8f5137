/* SPDX-License-Identifier: BSD-2-Clause */
/* builds.c: builds, generations and exceptions. */
#include "runner.h"

static int go_on(void *context, uint32_t phase, uint64_t done, uint64_t all)
{
    (void)context, (void)phase, (void)done, (void)all;
    return 0;
}

static json_t *do_tamis_build_begin(struct step *step)
{
    static const struct flag build_flags[] = {
        {"IF_CHANGED", TAMIS_BUILD_IF_CHANGED}, {"KEEP", TAMIS_BUILD_KEEP}, {NULL, 0}};
    json_t *object = json_object_get(step->with, "spec");
    struct tamis_build_spec spec = TAMIS_INIT(struct tamis_build_spec);
    tamis_build *build = NULL;
    spec.filter = spec_of(step, json_object_get(object, "filter"));
    spec.memory_bytes = (uint64_t)json_integer_value(json_object_get(object, "memory_bytes"));
    spec.threads = (uint32_t)json_integer_value(json_object_get(object, "threads"));
    spec.flags = flags_of(json_object_get(object, "flags"), build_flags);
    spec.keep = (uint32_t)json_integer_value(json_object_get(object, "keep"));
    spec.progress = go_on;
    const int rc = tamis_build_begin(on_store(step), text(step, "name"),
                                     json_is_object(object) ? &spec : NULL, &build);
    return made(step, IS_BUILD, build, rc);
}

static json_t *keys_into(struct step *step,
                         int call(tamis_build *, const struct tamis_key *, size_t))
{
    size_t count;
    const struct tamis_key *keys = keys_of(step, json_object_get(step->with, "keys"), &count);
    return status(call(on_build(step), keys, count));
}

static json_t *do_tamis_build_add(struct step *step)
{
    return keys_into(step, tamis_build_add);
}

static json_t *do_tamis_build_against(struct step *step)
{
    return keys_into(step, tamis_build_against);
}

static json_t *do_tamis_build_except(struct step *step)
{
    return keys_into(step, tamis_build_except);
}

#define RESULT_FIELDS(X)                                                                           \
    X(keys)                                                                                        \
    X(distinct)                                                                                    \
    X(generation)                                                                                  \
    X(exceptions) X(found) X(conflicts) X(sampled) X(sampled_yes) X(size_bytes)

static json_t *do_tamis_build_publish(struct step *step)
{
    struct tamis_build_result result = TAMIS_INIT(struct tamis_build_result);
    const int rc = tamis_build_publish(on_build(step), &result);
    if (rc < 0) return failed(rc);
    json_t *object = json_pack("{s:i, s:o}", "published", rc, "key_digest",
                               hex(result.key_digest, sizeof result.key_digest));
#define SET(name) json_object_set_new(object, #name, json_integer((json_int_t)result.name));
    RESULT_FIELDS(SET)
#undef SET
    return gives(object);
}

static json_t *do_tamis_build_close(struct step *step)
{
    tamis_build_close(on_build(step));
    on_is_closed(step);
    return status(0);
}

/* ---- Generations ----------------------------------------------------------------------------- */

static int list_generation(void *context, const struct tamis_generation_stat *stat)
{
    json_array_append_new(
        context,
        json_pack("{s:I, s:i, s:s, s:I, s:I, s:I, s:f, s:I, s:I, s:o}", "generation",
                  (json_int_t)stat->generation, "in_force", (int)stat->in_force, "kind",
                  tamis_kind_name(stat->kind), "segment_count", (json_int_t)stat->segment_count,
                  "items", (json_int_t)stat->items, "size_bytes", (json_int_t)stat->size_bytes,
                  "fp_rate", stat->fp_rate, "exceptions", (json_int_t)stat->exceptions,
                  "published_at", (json_int_t)stat->published_at, "key_digest",
                  hex(stat->key_digest, sizeof stat->key_digest)));
    return 0;
}

static json_t *listed(int rc, json_t *list)
{
    if (rc >= 0) return gives(list);
    json_decref(list);
    return failed(rc);
}

static json_t *do_tamis_filter_generations(struct step *step)
{
    json_t *list = json_array();
    return listed(
        tamis_filter_generations(on_store(step), text(step, "name"), list_generation, list), list);
}

static json_t *do_tamis_filter_rollback(struct step *step)
{
    return status(tamis_filter_rollback(on_store(step), text(step, "name"),
                                        (uint64_t)number(step, "generation")));
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

static json_t *do_tamis_filter_except(struct step *step)
{
    size_t count;
    const struct tamis_key *keys = keys_of(step, json_object_get(step->with, "keys"), &count);
    return counted(tamis_filter_except(on_store(step), text(step, "name"), keys, count));
}

static json_t *do_tamis_filter_unexcept(struct step *step)
{
    size_t count;
    const struct tamis_key *keys = keys_of(step, json_object_get(step->with, "keys"), &count);
    uint8_t *answers = step_memory(step, count);
    const int64_t rc =
        tamis_filter_unexcept(on_store(step), text(step, "name"), keys, count, answers);
    return rc < 0 ? failed(rc) : answered(rc, answers, count);
}

static int list_exception(void *context, const struct tamis_key *one, uint64_t generation)
{
    (void)generation;
    json_array_append_new(context, hex(one->data, one->bytes));
    return 0;
}

static json_t *do_tamis_filter_exceptions(struct step *step)
{
    json_t *list = json_array();
    return listed(tamis_filter_exceptions(on_store(step), text(step, "name"), list_exception, list),
                  list);
}

static json_t *do_tamis_filter_each_exception(struct step *step)
{
    json_t *list = json_array();
    return listed(tamis_filter_each_exception(on_filter(step), list_exception, list), list);
}

const struct call build_calls[] = {CALL(tamis_build_begin),
                                   CALL(tamis_build_add),
                                   CALL(tamis_build_against),
                                   CALL(tamis_build_except),
                                   CALL(tamis_build_publish),
                                   CALL(tamis_build_close),
                                   CALL(tamis_filter_generations),
                                   CALL(tamis_filter_rollback),
                                   CALL(tamis_filter_except),
                                   CALL(tamis_filter_unexcept),
                                   CALL(tamis_filter_exceptions),
                                   CALL(tamis_filter_each_exception),
                                   {NULL, NULL}};
