/* SPDX-License-Identifier: BSD-2-Clause */
/* fields.c: structs of the library as arrays of PHP; a stat by the table of tamis_fields.h. */
#include "php_tamis.h"

static void add_field(zval *to, const struct tamis_field *field,
                      const struct tamis_field_value *value)
{
    const char *name = field->name;
    switch (field->type) {
    case TAMIS_FIELD_TEXT:
    case TAMIS_FIELD_WORD:
        if (value->text != NULL)
            add_assoc_string(to, name, value->text);
        else
            add_assoc_null(to, name);
        break;
    case TAMIS_FIELD_YES:
        add_assoc_bool(to, name, value->number != 0);
        break;
    case TAMIS_FIELD_REAL:
        add_assoc_double(to, name, value->real);
        break;
    case TAMIS_FIELD_TIME:
    case TAMIS_FIELD_SPAN:
        add_assoc_long(to, name, value->ns);
        break;
    default:
        if (field->type == TAMIS_FIELD_LIMIT && value->number == UINT64_MAX)
            add_assoc_null(to, name);
        else
            add_assoc_long(to, name, (zend_long)value->number);
    }
}

void stat_to_array(zval *to, const struct tamis_filter_stat *stat)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
    array_init(to);
    for (uint32_t i = 0; tamis_field(TAMIS_FIELDS_FILTER, TAMIS_SHOWN_BY_BINDINGS, i, &field) > 0;
         i++)
        if (tamis_field_get(&field, stat, &value) > 0) add_field(to, &field, &value);
}

void result_to_array(zval *to, int is_published, const struct tamis_build_result *result)
{
    array_init(to);
    add_assoc_bool(to, "published", is_published);
#define NUMBER(name) add_assoc_long(to, #name, (zend_long)result->name)
    NUMBER(keys);
    NUMBER(distinct);
    NUMBER(generation);
    NUMBER(exceptions);
    NUMBER(found);
    NUMBER(conflicts);
    NUMBER(sampled);
    NUMBER(sampled_yes);
    NUMBER(size_bytes);
#undef NUMBER
    add_assoc_stringl(to, "key_digest", (const char *)result->key_digest,
                      sizeof result->key_digest);
}
