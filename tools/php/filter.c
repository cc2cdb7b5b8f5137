/* SPDX-License-Identifier: BSD-2-Clause */
/* filter.c: the class Tamis\Filter: an open filter, asked key by key or for many keys at once. */
#include "php_tamis.h"
#include <zend_attributes.h>
#include <zend_exceptions.h>
#include <zend_interfaces.h>

#if PHP_VERSION_ID < 80200 /* has no attribute SensitiveParameter */
#define zend_add_parameter_attribute(function, parameter, name, arguments) ((void)0)
#endif

#include "filter_arginfo.h"

zend_class_entry *filter_class;
static zend_object_handlers handlers;

static zend_object *create_object(zend_class_entry *class)
{
    return object_new(class, &handlers, sizeof(struct filter_object));
}

static void release_object(zend_object *object)
{
    kept_leave(OBJECT_OF(filter_object, object)->kept);
    zend_object_std_dtor(object);
}

void filter_wrap(zval *to, struct kept_handle *kept)
{
    object_init_ex(to, filter_class);
    OBJECT_OF(filter_object, Z_OBJ_P(to))->kept = kept;
}

/* The open handle of $this; NULL with an exception if it is closed. */
static tamis_filter *handle_of(zval *object)
{
    struct kept_handle *kept = OBJECT_OF(filter_object, Z_OBJ_P(object))->kept;

    if (EXPECTED(kept != NULL)) return kept->filter;
    throw_closed("filter");
    return NULL;
}

/* The same for a call that adds or removes.  It notes that the handle has written, as its close may
 * then have to wait for the disk. */
static tamis_filter *handle_to_write(zval *object)
{
    tamis_filter *filter = handle_of(object);

    if (EXPECTED(filter != NULL))
        OBJECT_OF(filter_object, Z_OBJ_P(object))->kept->has_written = true;
    return filter;
}

/* ---- One key --------------------------------------------------------------------------------- */

typedef int one_key_call(tamis_filter *filter, const void *key, size_t key_bytes);

static void answer(zval *to, zval *object, one_key_call *call, const char *key, size_t bytes)
{
    tamis_filter *filter =
        call == tamis_filter_contains ? handle_of(object) : handle_to_write(object);
    int rc;

    if (!filter || is_key_refused(bytes)) return;
    rc = call(filter, key, bytes);
    if (UNEXPECTED(rc < 0)) throw_error(rc);
    ZVAL_BOOL(to, rc > 0);
}

static void answer_call(INTERNAL_FUNCTION_PARAMETERS, one_key_call *call)
{
    zend_string *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();
    answer(return_value, ZEND_THIS, call, ZSTR_VAL(key), ZSTR_LEN(key));
}

ZEND_METHOD(Tamis_Filter, add)
{
    answer_call(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_add);
}

ZEND_METHOD(Tamis_Filter, has)
{
    answer_call(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_contains);
}

ZEND_METHOD(Tamis_Filter, hasName)
{
    zend_string *name;
    tamis_filter *filter;
    size_t offset = 0;
    int rc;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    if (!(filter = handle_of(ZEND_THIS)) || is_key_refused(ZSTR_LEN(name))) return;
    rc = tamis_filter_contains_name(filter, ZSTR_VAL(name), ZSTR_LEN(name), &offset);
    if (rc < 0)
        throw_error(rc);
    else if (rc == 1)
        RETVAL_STRINGL(ZSTR_VAL(name) + offset, ZSTR_LEN(name) - offset);
}

ZEND_METHOD(Tamis_Filter, remove)
{
    answer_call(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_remove);
}

static void answer_number(zval *to, int64_t number)
{
    if (number < 0) throw_error((int)number);
    ZVAL_LONG(to, number);
}

ZEND_METHOD(Tamis_Filter, count)
{
    zend_string *key = NULL;
    tamis_filter *filter;

    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR_OR_NULL(key)
    ZEND_PARSE_PARAMETERS_END();
    if (!(filter = handle_of(ZEND_THIS)) || (key && is_key_refused(ZSTR_LEN(key)))) return;
    answer_number(return_value, key ? tamis_filter_count(filter, ZSTR_VAL(key), ZSTR_LEN(key))
                                    : tamis_filter_items(filter));
}

ZEND_METHOD(Tamis_Filter, items)
{
    tamis_filter *filter;

    ZEND_PARSE_PARAMETERS_NONE();
    if ((filter = handle_of(ZEND_THIS))) answer_number(return_value, tamis_filter_items(filter));
}

/* ---- As an array ----------------------------------------------------------------------------- */

static void offset_call(INTERNAL_FUNCTION_PARAMETERS, one_key_call *call)
{
    zval *offset, answered;
    zend_string *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(offset)
    ZEND_PARSE_PARAMETERS_END();
    if (Z_TYPE_P(offset) != IS_STRING && Z_TYPE_P(offset) != IS_LONG) {
        zend_argument_type_error(1, "must be a string, %s given", zend_zval_type_name(offset));
        return;
    }
    key = zval_get_string(offset);
    ZVAL_NULL(&answered);
    answer(&answered, ZEND_THIS, call, ZSTR_VAL(key), ZSTR_LEN(key));
    zend_string_release(key);
    if (call == tamis_filter_contains) RETVAL_BOOL(Z_TYPE(answered) == IS_TRUE);
}

ZEND_METHOD(Tamis_Filter, offsetExists)
{
    offset_call(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_contains);
}

ZEND_METHOD(Tamis_Filter, offsetUnset)
{
    offset_call(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_remove);
}

ZEND_METHOD(Tamis_Filter, offsetSet)
{
    zval *offset, *value, answered;

    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_ZVAL(offset)
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    if (Z_TYPE_P(offset) == IS_NULL && Z_TYPE_P(value) == IS_STRING)
        offset = value;
    else if (Z_TYPE_P(offset) != IS_STRING || Z_TYPE_P(value) != IS_TRUE) {
        zend_type_error("a key is added by $filter[] = $key or $filter[$key] = true");
        return;
    }
    answer(&answered, ZEND_THIS, tamis_filter_add, Z_STRVAL_P(offset), Z_STRLEN_P(offset));
}

/* ---- Many keys ------------------------------------------------------------------------------- */

typedef int64_t batch_call(tamis_filter *filter, const struct tamis_key *keys, size_t count,
                           uint8_t *answers);

struct batch {
    tamis_filter *filter;
    batch_call *call; /* NULL: counts */
    zval answers;     /* the array that is returned */
};

static void put(struct batch *batch, const struct many *many, size_t i)
{
    zval value;

    if (!batch->call)
        ZVAL_LONG(&value, (zend_long)many->counts[i]);
    else if (many->answers[i] == TAMIS_ANSWER_REFUSED)
        ZVAL_NULL(&value);
    else
        ZVAL_BOOL(&value, many->answers[i]);
    if (many->name[i])
        zend_hash_add_new(Z_ARRVAL(batch->answers), many->name[i], &value);
    else
        zend_hash_index_add_new(Z_ARRVAL(batch->answers), many->index[i], &value);
}

static int64_t run_batch(void *context, struct many *many)
{
    struct batch *batch = context;
    int64_t rc;

    if (batch->call) {
        memset(many->answers, TAMIS_ANSWER_REFUSED, many->count);
        rc = batch->call(batch->filter, many->keys, many->count, many->answers);
    } else {
        rc = tamis_filter_count_batch(batch->filter, many->keys, many->count, many->counts);
        if (rc < 0) return rc;
    }
    for (size_t i = 0; i < many->count; i++)
        put(batch, many, i);
    return rc;
}

static void batch(INTERNAL_FUNCTION_PARAMETERS, batch_call *call)
{
    const bool is_writing = call == tamis_filter_add_batch || call == tamis_filter_remove_batch;
    struct batch batch = {.call = call};
    zval *given, list;
    HashTable *keys;
    int64_t rc;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ITERABLE(given)
    ZEND_PARSE_PARAMETERS_END();
    /* The iteration may close the filter: the handle is taken after it. */
    if (!handle_of(ZEND_THIS) || !many_list(given, &list)) return;
    if (!(batch.filter = is_writing ? handle_to_write(ZEND_THIS) : handle_of(ZEND_THIS))) {
        zval_ptr_dtor(&list);
        return;
    }
    keys = Z_ARRVAL(list);
    array_init_size(&batch.answers, zend_hash_num_elements(keys));
    if (HT_IS_PACKED(keys)) zend_hash_real_init_packed(Z_ARRVAL(batch.answers));
    rc = many_each(keys, run_batch, &batch);
    zval_ptr_dtor(&list);
    if (rc < 0) {
        throw_with_answers((int)rc, &batch.answers);
        return;
    }
    RETVAL_COPY_VALUE(&batch.answers);
}

ZEND_METHOD(Tamis_Filter, addMany)
{
    batch(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_add_batch);
}

ZEND_METHOD(Tamis_Filter, hasMany)
{
    batch(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_contains_batch);
}

ZEND_METHOD(Tamis_Filter, removeMany)
{
    batch(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_remove_batch);
}

ZEND_METHOD(Tamis_Filter, countMany)
{
    batch(INTERNAL_FUNCTION_PARAM_PASSTHRU, NULL);
}

/* ---- The filter as a whole ------------------------------------------------------------------- */

ZEND_METHOD(Tamis_Filter, stat)
{
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    tamis_filter *filter;
    int rc;

    ZEND_PARSE_PARAMETERS_NONE();
    if (!(filter = handle_of(ZEND_THIS))) return;
    rc = tamis_filter_stat(filter, &stat);
    if (rc < 0)
        throw_error(rc);
    else
        stat_to_array(return_value, &stat);
}

static void call_alone(INTERNAL_FUNCTION_PARAMETERS, int (*call)(tamis_filter *))
{
    tamis_filter *filter;
    int rc;

    (void)return_value;
    ZEND_PARSE_PARAMETERS_NONE();
    if (!(filter = handle_to_write(ZEND_THIS))) return;
    rc = call(filter);
    if (rc < 0) throw_error(rc);
}

ZEND_METHOD(Tamis_Filter, sync)
{
    call_alone(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_sync);
}

ZEND_METHOD(Tamis_Filter, rotate)
{
    call_alone(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_rotate);
}

ZEND_METHOD(Tamis_Filter, accept)
{
    call_alone(INTERNAL_FUNCTION_PARAM_PASSTHRU, tamis_filter_accept);
}

ZEND_METHOD(Tamis_Filter, close)
{
    struct filter_object *self = OBJECT_OF(filter_object, Z_OBJ_P(ZEND_THIS));

    ZEND_PARSE_PARAMETERS_NONE();
    kept_leave(self->kept);
    self->kept = NULL;
}

ZEND_METHOD(Tamis_Filter, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

void filter_register(void)
{
    filter_class = register_class_Tamis_Filter(zend_ce_arrayaccess, zend_ce_countable);
    class_prepare(filter_class, &handlers, XtOffsetOf(struct filter_object, std), create_object,
                  release_object);
}
