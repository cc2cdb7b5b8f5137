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
                                 {NULL, NULL}};
