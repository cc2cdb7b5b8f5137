/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errors.c: an exception for each error code, all below Tamis\Exception: the classes of
 * exceptions.stub.php.
 */
#include "php_tamis.h"
#include <ext/spl/spl_exceptions.h>
#include <zend_exceptions.h>

static zend_class_entry *base_class, *closed_class;

/* Both tables are indexed by minus the code: the name of its class, as in
 * Tamis\Exception\InvalidException, and the class. */
static const char *const names[] = {
    [-TAMIS_EINVAL] = "Invalid",
    [-TAMIS_ENOTFOUND] = "NotFound",
    [-TAMIS_EEXIST] = "Exists",
    [-TAMIS_EMISMATCH] = "Mismatch",
    [-TAMIS_ENOSTORE] = "NoStore",
    [-TAMIS_EREADONLY] = "ReadOnly",
    [-TAMIS_EACCESS] = "Access",
    [-TAMIS_ENOSPACE] = "NoSpace",
    [-TAMIS_ENOMEM] = "NoMemory",
    [-TAMIS_EIO] = "Io",
    [-TAMIS_ECORRUPT] = "Corrupt",
    [-TAMIS_EFOREIGN] = "Foreign",
    [-TAMIS_EVERSION] = "Version",
    [-TAMIS_EDROPPED] = "Dropped",
    [-TAMIS_EUNSUPPORTED] = "Unsupported",
    [-TAMIS_ELIMIT] = "Limit",
    [-TAMIS_ESYSTEM] = "System",
    [-TAMIS_EFULL] = "Full",
    [-TAMIS_EBUSY] = "Busy",
};
#define CODES (sizeof names / sizeof *names)
static zend_class_entry *classes[CODES];

static zend_class_entry *register_class(const char *name, zend_class_entry *parent)
{
    zend_class_entry class;

    INIT_CLASS_ENTRY_EX(class, name, strlen(name), NULL);
    return zend_register_internal_class_ex(&class, parent);
}

void errors_register(void)
{
    zend_string *answers = zend_string_init_interned(ZEND_STRL("answers"), 1);
    zend_type array_or_null = ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY | MAY_BE_NULL);
    zval none;

    ZVAL_NULL(&none);
    base_class = register_class("Tamis\\Exception", spl_ce_RuntimeException);
    zend_declare_typed_property(base_class, answers, &none, ZEND_ACC_PUBLIC, NULL, array_or_null);
    zend_string_release(answers);
    closed_class = register_class("Tamis\\Exception\\ClosedException", base_class);
    for (size_t i = 1; i < CODES; i++) {
        char name[64];
        snprintf(name, sizeof name, "Tamis\\Exception\\%sException", names[i]);
        classes[i] = register_class(name, base_class);
    }
}

void throw_error(int rc)
{
    bool is_known = rc < 0 && -rc < (int)CODES;

    zend_throw_exception(is_known ? classes[-rc] : base_class, tamis_last_error(), rc);
}

void throw_with_answers(int rc, zval *answers)
{
    throw_error(rc);
    if (EG(exception))
        zend_update_property(base_class, EG(exception), ZEND_STRL("answers"), answers);
    zval_ptr_dtor(answers);
}

void throw_closed(const char *what)
{
    zend_throw_exception_ex(closed_class, 0, "the %s is closed; open it again", what);
}

bool is_key_refused(size_t bytes)
{
    if (EXPECTED(bytes < TAMIS_PHP_KEY_BYTES_MAX)) return false;
    zend_throw_exception_ex(classes[-TAMIS_EINVAL], TAMIS_EINVAL,
                            "a key of %zu bytes is too long; take a hash of it as the key, such as "
                            "hash('sha256', $key, true)",
                            bytes);
    return true;
}
