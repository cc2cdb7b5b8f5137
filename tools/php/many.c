/* SPDX-License-Identifier: BSD-2-Clause */
/* many.c: the keys of an array, some at a time, so that a batch stays in the processor's cache; and
 * of an object that is iterated. */
#include "php_tamis.h"
#include <ext/spl/spl_iterators.h>
#include <inttypes.h>
#include <zend_exceptions.h>

/* Tells whether all values are keys.  The caller asks before it uses the first one, so that a wrong
 * one changes nothing. */
static bool check_all(HashTable *keys)
{
    zval *value;

    ZEND_HASH_FOREACH_VAL(keys, value)
    {
        ZVAL_DEREF(value);
        if (Z_TYPE_P(value) != IS_STRING && Z_TYPE_P(value) != IS_LONG) {
            zend_argument_type_error(1, "must be strings, %s among them",
                                     zend_zval_type_name(value));
            return false;
        }
        if (Z_TYPE_P(value) == IS_STRING && is_key_refused(Z_STRLEN_P(value))) return false;
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

/* An int is the key of its decimal digits: PHP makes ints of such strings in arrays' keys. */
static void collect(struct many *many, zval *value, zend_ulong index, zend_string *name)
{
    size_t i = many->count++;

    many->index[i] = index;
    many->name[i] = name;
    if (Z_TYPE_P(value) == IS_STRING) {
        many->keys[i] = (struct tamis_key){Z_STRVAL_P(value), Z_STRLEN_P(value)};
        return;
    }
    int bytes =
        snprintf(many->numbers[i], sizeof many->numbers[i], "%" PRId64, (int64_t)Z_LVAL_P(value));
    many->keys[i] = (struct tamis_key){many->numbers[i], (size_t)bytes};
}

int64_t many_each(HashTable *keys, many_call *call, void *context)
{
    struct many *many;
    zend_string *name;
    zend_ulong index;
    zval *value;
    int64_t rc = 0;

    if (!check_all(keys)) return 0;
    many = emalloc(sizeof *many);
    many->count = 0;
    ZEND_HASH_FOREACH_KEY_VAL(keys, index, name, value)
    {
        ZVAL_DEREF(value);
        collect(many, value, index, name);
        if (many->count == MANY) {
            rc = call(context, many);
            many->count = 0;
            if (rc < 0) break;
        }
    }
    ZEND_HASH_FOREACH_END();
    if (rc >= 0 && many->count > 0) rc = call(context, many);
    efree(many);
    return rc;
}

/* ---- Traversables ---------------------------------------------------------------------------- */

struct pulled {
    zval list;       /* of values */
    many_call *call; /* NULL: all of them are kept */
    void *context;
    int64_t rc;
};

static void hand_over(struct pulled *pulled)
{
    pulled->rc = many_each(Z_ARRVAL(pulled->list), pulled->call, pulled->context);
    zend_hash_clean(Z_ARRVAL(pulled->list));
}

static int pull(zend_object_iterator *iterator, void *context)
{
    struct pulled *pulled = context;
    zval *value = iterator->funcs->get_current_data(iterator);

    if (EG(exception) || !value) return ZEND_HASH_APPLY_STOP;
    ZVAL_DEREF(value);
    Z_TRY_ADDREF_P(value);
    zend_hash_next_index_insert_new(Z_ARRVAL(pulled->list), value);
    if (pulled->call && zend_hash_num_elements(Z_ARRVAL(pulled->list)) >= MANY) hand_over(pulled);
    return pulled->rc < 0 || EG(exception) ? ZEND_HASH_APPLY_STOP : ZEND_HASH_APPLY_KEEP;
}

bool many_list(zval *keys, zval *list)
{
    struct pulled pulled = {.call = NULL};

    if (Z_TYPE_P(keys) == IS_ARRAY) {
        ZVAL_COPY(list, keys);
        return true;
    }
    array_init(&pulled.list);
    (void)spl_iterator_apply(keys, pull, &pulled);
    if (EG(exception)) {
        zval_ptr_dtor(&pulled.list);
        return false;
    }
    ZVAL_COPY_VALUE(list, &pulled.list);
    return true;
}

int64_t many_stream(zval *keys, many_call *call, void *context)
{
    struct pulled pulled = {.call = call, .context = context};

    if (Z_TYPE_P(keys) == IS_ARRAY) return many_each(Z_ARRVAL_P(keys), call, context);
    array_init(&pulled.list);
    (void)spl_iterator_apply(keys, pull, &pulled);
    if (!EG(exception) && pulled.rc >= 0) hand_over(&pulled);
    zval_ptr_dtor(&pulled.list);
    return EG(exception) ? 0 : pulled.rc;
}
