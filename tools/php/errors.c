/* SPDX-License-Identifier: BSD-2-Clause */
/* errors.c: an exception for each error code, all below Tamis\Exception. */
#include "php_tamis.h"
#include <ext/spl/spl_exceptions.h>
#include <zend_exceptions.h>

#include "exceptions_arginfo.h"

static zend_class_entry *base_class, *closed_class;
static zend_class_entry *classes[20]; /* at minus the code */

void errors_register(void)
{
    base_class = register_class_Tamis_Exception(spl_ce_RuntimeException);
    closed_class = register_class_Tamis_Exception_ClosedException(base_class);
#define REGISTER(code, name)                                                                       \
    classes[-(code)] = register_class_Tamis_Exception_##name##Exception(base_class)
    REGISTER(TAMIS_EINVAL, Invalid);
    REGISTER(TAMIS_ENOTFOUND, NotFound);
    REGISTER(TAMIS_EEXIST, Exists);
    REGISTER(TAMIS_EMISMATCH, Mismatch);
    REGISTER(TAMIS_ENOSTORE, NoStore);
    REGISTER(TAMIS_EREADONLY, ReadOnly);
    REGISTER(TAMIS_EACCESS, Access);
    REGISTER(TAMIS_ENOSPACE, NoSpace);
    REGISTER(TAMIS_ENOMEM, NoMemory);
    REGISTER(TAMIS_EIO, Io);
    REGISTER(TAMIS_ECORRUPT, Corrupt);
    REGISTER(TAMIS_EFOREIGN, Foreign);
    REGISTER(TAMIS_EVERSION, Version);
    REGISTER(TAMIS_EDROPPED, Dropped);
    REGISTER(TAMIS_EUNSUPPORTED, Unsupported);
    REGISTER(TAMIS_ELIMIT, Limit);
    REGISTER(TAMIS_ESYSTEM, System);
    REGISTER(TAMIS_EFULL, Full);
    REGISTER(TAMIS_EBUSY, Busy);
#undef REGISTER
}

void throw_error(int rc)
{
    bool is_known = rc < 0 && -rc < (int)(sizeof classes / sizeof *classes);

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
