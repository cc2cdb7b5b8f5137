/* SPDX-License-Identifier: BSD-2-Clause */
/* keys.c: calls for keys, one or many, and small filters that are not open. */
#include <stdlib.h>

#include "runner.h"

static json_t *do_tamis_filter_add(struct step *step)
{
    const struct tamis_key one = key(step, "key");
    return counted(tamis_filter_add(on_filter(step), one.data, one.bytes));
}

static json_t *do_tamis_filter_contains(struct step *step)
{
    const struct tamis_key one = key(step, "key");
    return counted(tamis_filter_contains(on_filter(step), one.data, one.bytes));
}

static json_t *do_tamis_filter_contains_name(struct step *step)
{
    const struct tamis_key name = key(step, "key");
    size_t offset = 0;
    const int rc = tamis_filter_contains_name(on_filter(step), name.data, name.bytes, &offset);
    if (rc <= 0) return rc < 0 ? failed(rc) : gives(json_null());
    return gives(json_stringn((const char *)name.data + offset, name.bytes - offset));
}

static json_t *do_tamis_filter_prefetch(struct step *step)
{
    const struct tamis_key one = key(step, "key");
    return status(tamis_filter_prefetch(on_filter(step), one.data, one.bytes));
}

static json_t *do_tamis_filter_remove(struct step *step)
{
    const struct tamis_key one = key(step, "key");
    return counted(tamis_filter_remove(on_filter(step), one.data, one.bytes));
}

static json_t *do_tamis_filter_count(struct step *step)
{
    const struct tamis_key one = key(step, "key");
    return counted(tamis_filter_count(on_filter(step), one.data, one.bytes));
}

static json_t *do_tamis_shard(struct step *step)
{
    const struct tamis_key one = key(step, "key");
    return gives(json_integer(tamis_shard(one.data, one.bytes, (uint32_t)number(step, "shards"))));
}

/* ---- Many keys ------------------------------------------------------------------------------- */

static json_t *batch(struct step *step,
                     int64_t call(tamis_filter *, const struct tamis_key *, size_t, uint8_t *))
{
    size_t count;
    struct tamis_key *keys = keys_of(step, json_object_get(step->with, "keys"), &count);
    uint8_t *answers = step_memory(step, count);
    const int64_t rc = call(on_filter(step), keys, count, answers);
    return answered(rc, answers, count);
}

static json_t *do_tamis_filter_add_batch(struct step *step)
{
    return batch(step, tamis_filter_add_batch);
}

static json_t *do_tamis_filter_contains_batch(struct step *step)
{
    return batch(step, tamis_filter_contains_batch);
}

static json_t *do_tamis_filter_remove_batch(struct step *step)
{
    return batch(step, tamis_filter_remove_batch);
}

static json_t *do_tamis_filter_count_batch(struct step *step)
{
    size_t count;
    struct tamis_key *keys = keys_of(step, json_object_get(step->with, "keys"), &count);
    uint64_t *counts = step_memory(step, count * sizeof *counts);
    const int64_t rc = tamis_filter_count_batch(on_filter(step), keys, count, counts);
    if (rc < 0) return failed(rc);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer((json_int_t)counts[i]));
    return gives(list);
}

static json_t *do_tamis_filters_contains_batch(struct step *step)
{
    size_t count, filter_count;
    tamis_filter **asked = filters(step, "filters", &filter_count);
    struct tamis_key *keys = keys_of(step, json_object_get(step->with, "keys"), &count);
    uint8_t *answers = step_memory(step, filter_count * count);
    const int64_t rc = tamis_filters_contains_batch(asked, filter_count, keys, count, answers);
    return answered(rc, answers, filter_count * count);
}

static json_t *do_tamis_key_form(struct step *step)
{
    const struct tamis_key one = key(step, "key");
    const char *rule = text(step, "key_rule");
    const int64_t bytes = tamis_key_form(rule, one.data, one.bytes, NULL, 0);
    if (bytes < 0) return failed(bytes);
    char *form = step_memory(step, (size_t)bytes);
    const int64_t again = tamis_key_form(rule, one.data, one.bytes, form, (size_t)bytes);
    return again < 0 ? failed(again) : gives(hex(form, (size_t)again));
}

/* ---- Small filters that are not open --------------------------------------------------------- */

static json_t *do_tamis_cabinet_open(struct step *step)
{
    tamis_cabinet *cabinet = NULL;
    const int rc = tamis_cabinet_open(on_store(step), (uint32_t)number(step, "most"), &cabinet);
    return made(step, IS_CABINET, cabinet, rc);
}

static json_t *do_tamis_cabinet_close(struct step *step)
{
    tamis_cabinet_close(on_kind(step, IS_CABINET));
    on_is_closed(step);
    return status(0);
}

static json_t *light(const struct step *step, int rc, const struct tamis_light *made_light)
{
    if (rc < 0) return failed(rc);
    struct tamis_light *kept = malloc(sizeof *kept);
    *kept = *made_light;
    handle_keep(step, IS_LIGHT, kept);
    return counted(rc);
}

static json_t *do_tamis_light_of(struct step *step)
{
    struct tamis_light made_light = {0, 0};
    const int rc = tamis_light_of(on_filter(step), &made_light);
    return light(step, rc, &made_light);
}

static json_t *do_tamis_light_find(struct step *step)
{
    struct tamis_light made_light = {0, 0};
    const char *of = text(step, "created_at_of");
    const int64_t at = of != NULL ? tamis_filter_created_at(handle_of(of, IS_FILTER)) : 0;
    const int rc = tamis_light_find(on_kind(step, IS_CABINET), text(step, "name"), at, &made_light);
    return light(step, rc, &made_light);
}

static json_t *list_of_answers(const uint8_t *answers, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(answers[i]));
    return list;
}

static json_t *do_tamis_light_ask(struct step *step)
{
    size_t count;
    struct tamis_key *keys = keys_of(step, json_object_get(step->with, "keys"), &count);
    uint8_t *answers = step_memory(step, count);
    const int rc = tamis_light_ask(on_kind(step, IS_CABINET),
                                   handle_of(text(step, "light"), IS_LIGHT), keys, count, answers);
    return rc <= 0 ? status(rc) : gives(list_of_answers(answers, count));
}

static json_t *do_tamis_cabinet_ask(struct step *step)
{
    size_t count;
    struct tamis_key *keys = keys_of(step, json_object_get(step->with, "keys"), &count);
    uint8_t *answers = step_memory(step, count);
    const char *of = text(step, "created_at_of");
    const int64_t at = of != NULL ? tamis_filter_created_at(handle_of(of, IS_FILTER)) : 0;
    const int rc = tamis_cabinet_ask(on_kind(step, IS_CABINET), text(step, "name"), at, keys, count,
                                     answers, NULL);
    return rc <= 0 ? status(rc) : gives(list_of_answers(answers, count));
}

static json_t *do_tamis_cabinet_forget(struct step *step)
{
    tamis_cabinet_forget(on_kind(step, IS_CABINET), (uint64_t)number(step, "number"));
    return status(0);
}

static json_t *do_tamis_cabinet_tidy(struct step *step)
{
    return counted(tamis_cabinet_tidy(on_kind(step, IS_CABINET), (uint32_t)number(step, "looks"),
                                      (int)number(step, "unused")));
}

const struct call key_calls[] = {CALL(tamis_filter_add),
                                 CALL(tamis_filter_contains),
                                 CALL(tamis_filter_contains_name),
                                 CALL(tamis_filters_contains_batch),
                                 CALL(tamis_key_form),
                                 CALL(tamis_filter_prefetch),
                                 CALL(tamis_filter_remove),
                                 CALL(tamis_filter_count),
                                 CALL(tamis_shard),
                                 CALL(tamis_filter_add_batch),
                                 CALL(tamis_filter_contains_batch),
                                 CALL(tamis_filter_remove_batch),
                                 CALL(tamis_filter_count_batch),
                                 CALL(tamis_cabinet_open),
                                 CALL(tamis_cabinet_close),
                                 CALL(tamis_light_of),
                                 CALL(tamis_light_find),
                                 CALL(tamis_light_ask),
                                 CALL(tamis_cabinet_ask),
                                 CALL(tamis_cabinet_forget),
                                 CALL(tamis_cabinet_tidy),
                                 {NULL, NULL}};
