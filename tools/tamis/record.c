/* SPDX-License-Identifier: BSD-2-Clause */
/* record.c: the fields of a struct as a typed table; see record.h. */
#include "record.h"

#include "json.h"

static json_t *kind_json(uint32_t kind)
{
    const char *name = tamis_kind_name(kind);
    return name != NULL ? json_text(name) : json_unsigned(kind);
}

static json_t *error_json(int error)
{
    return error != 0 ? json_text(tamis_error_name(error)) : json_null();
}

/* Where there is no word, the number. */
static json_t *word_json(const struct tamis_field_value *value)
{
    return value->text != NULL ? json_text(value->text) : json_unsigned(value->number);
}

static json_t *field_json(const struct tamis_field *field, const void *record)
{
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
    if (tamis_field_get(field, record, &value) <= 0) return json_null();
    switch (field->type) {
    case TAMIS_FIELD_TEXT:
        return json_text(value.text);
    case TAMIS_FIELD_WORD:
        return word_json(&value);
    case TAMIS_FIELD_LIMIT:
        return value.number < UINT64_MAX ? json_unsigned(value.number) : json_null();
    case TAMIS_FIELD_YES:
        return json_boolean(value.number);
    case TAMIS_FIELD_REAL:
        return json_rate(value.real);
    case TAMIS_FIELD_TIME:
        return json_time(value.ns);
    case TAMIS_FIELD_SPAN: /* in seconds */
        return json_rate((double)value.ns / 1e9);
    default:
        return json_unsigned(value.number);
    }
}

json_t *record_value(const struct field *field, const void *record)
{
    const void *member = (const char *)record + field->offset;
    switch (field->type) {
    case RECORD_FIELD:
        return field_json(&field->field, member);
    case RECORD_POINTER:
        return json_text(*(const char *const *)member);
    case RECORD_U32:
        return json_unsigned(*(const uint32_t *)member);
    case RECORD_U64:
        return json_unsigned(*(const uint64_t *)member);
    case RECORD_RATE:
        return json_rate(*(const double *)member);
    case RECORD_TIME:
        return json_time(*(const int64_t *)member);
    case RECORD_KIND:
        return kind_json(*(const uint32_t *)member);
    case RECORD_ERROR:
        return error_json(*(const int *)member);
    case RECORD_DIGEST:
        return json_digest(member);
    default:
        return field->make(record);
    }
}

void record_put(json_t *object, struct fields fields, unsigned holds, const void *record)
{
    for (size_t i = 0; i < fields.count; i++)
        if ((fields.all[i].needs & ~holds) == 0)
            json_put(object, fields.all[i].name, record_value(&fields.all[i], record));
}

json_t *record_json(struct fields fields, unsigned holds, const void *record)
{
    json_t *object = json_new();
    record_put(object, fields, holds, record);
    return object;
}
