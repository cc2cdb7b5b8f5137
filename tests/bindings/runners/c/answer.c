/* SPDX-License-Identifier: BSD-2-Clause */
/* answer.c: answers to steps, and structs of the library as JSON. */
#include <err.h>
#include <math.h>
#include <stdlib.h>

#include "runner.h"

json_t *gives(json_t *value)
{
    return json_pack("{s:o}", "value", value);
}

json_t *failed(int64_t rc)
{
    return json_pack("{s:s, s:s}", "error", tamis_error_name((int)rc), "message",
                     tamis_last_error());
}

json_t *status(int64_t rc)
{
    return rc < 0 ? failed(rc) : gives(json_null());
}

json_t *counted(int64_t rc)
{
    return rc < 0 ? failed(rc) : gives(json_integer(rc));
}

json_t *word(const char *text)
{
    return gives(text != NULL ? json_string(text) : json_null());
}

json_t *answered(int64_t rc, const uint8_t *answers, size_t count)
{
    json_t *list = json_array(), *answer;
    int64_t ones = 0;
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_integer(answers[i]));
        ones += answers[i] == 1;
    }
    if (rc >= 0 && rc != ones) {
        json_decref(list);
        return json_pack("{s:s}", "error", "the number returned is not that of the ones");
    }
    if (rc >= 0) return gives(list);
    answer = failed(rc);
    json_object_set_new(answer, "answers", list);
    return answer;
}

json_t *made(const struct step *step, enum handle_kind kind, void *pointer, int rc)
{
    if (rc < 0) return failed(rc);
    handle_keep(step, kind, pointer);
    return gives(json_null());
}

json_t *hex(const void *data, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *byte = data;
    char *all = malloc(2 * bytes + 1);
    if (all == NULL) errx(3, "out of memory");
    for (size_t i = 0; i < bytes; i++) {
        all[2 * i] = digits[byte[i] >> 4];
        all[2 * i + 1] = digits[byte[i] & 15];
    }
    json_t *made_of_it = json_stringn(all, 2 * bytes);
    free(all);
    return made_of_it;
}

/* ---- Structs --------------------------------------------------------------------------------- */

json_t *field_json(const struct tamis_field *field, const void *record)
{
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
    if (tamis_field_get(field, record, &value) <= 0) return json_null();
    switch (field->type) {
    case TAMIS_FIELD_TEXT:
    case TAMIS_FIELD_WORD:
        return value.text != NULL ? json_string(value.text) : json_null();
    case TAMIS_FIELD_REAL:
        return isfinite(value.real) ? json_real(value.real) : json_null();
    case TAMIS_FIELD_TIME:
    case TAMIS_FIELD_SPAN:
        return json_integer(value.ns);
    default:
        if (field->type == TAMIS_FIELD_LIMIT && value.number == UINT64_MAX) return json_null();
        return json_integer((json_int_t)value.number);
    }
}

json_t *fields_json(uint32_t of, uint32_t shown_by, const void *record)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    json_t *object = json_object();
    for (uint32_t i = 0; tamis_field(of, shown_by, i, &field) > 0; i++)
        json_object_set_new(object, field.name, field_json(&field, record));
    return object;
}

json_t *stat_json(const struct tamis_filter_stat *stat)
{
    json_t *object = fields_json(TAMIS_FIELDS_FILTER, TAMIS_SHOWN_BY_BINDINGS, stat);
    json_object_set_new(object, "new_keys", json_integer((json_int_t)stat->new_keys));
    return object;
}
