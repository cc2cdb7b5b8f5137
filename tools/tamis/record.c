/* SPDX-License-Identifier: BSD-2-Clause */
/* record.c: the fields of a struct as a typed table; see record.h. */
#include "record.h"

#include "json.h"

static json_t *kind_json(uint32_t kind)
{
    const char *name = tamis_kind_name(kind);
    return name ? json_text(name) : json_unsigned(kind);
}

static json_t *error_json(int error)
{
    return error != 0 ? json_text(tamis_error_name(error)) : json_null();
}

json_t *record_value(const struct field *field, const void *record)
{
    const void *member = (const char *)record + field->offset;
    switch (field->type) {
    case RECORD_TEXT:
        return json_text(member);
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
