/* SPDX-License-Identifier: BSD-2-Clause */
/* module.c: the extension as PHP loads it: settings, classes, and what the globals begin with. */
#include "php_tamis.h"
#include <ext/standard/info.h>
#include <php_ini.h>

PHP_INI_BEGIN()
STD_PHP_INI_ENTRY("tamis.store", "", PHP_INI_ALL, OnUpdateString, store, zend_tamis_globals,
                  tamis_globals)
STD_PHP_INI_ENTRY("tamis.open_filters", "256", PHP_INI_ALL, OnUpdateLongGEZero, open_filters,
                  zend_tamis_globals, tamis_globals)
PHP_INI_END()

static PHP_GINIT_FUNCTION(tamis)
{
#if defined(ZTS) && defined(COMPILE_DL_TAMIS)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    memset(tamis_globals, 0, sizeof *tamis_globals);
    kept_list_init(&tamis_globals->stores);
    kept_list_init(&tamis_globals->filters);
}

static PHP_GSHUTDOWN_FUNCTION(tamis)
{
    kept_list_clear(&tamis_globals->filters);
    kept_list_clear(&tamis_globals->stores);
}

static PHP_MINIT_FUNCTION(tamis)
{
    (void)type;
    REGISTER_INI_ENTRIES();
    errors_register();
    store_register();
    filter_register();
    build_register();
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(tamis)
{
    (void)type;
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static PHP_RINIT_FUNCTION(tamis)
{
    (void)type;
    (void)module_number;
#if defined(ZTS) && defined(COMPILE_DL_TAMIS)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    return SUCCESS;
}

static PHP_MINFO_FUNCTION(tamis)
{
    php_info_print_table_start();
    php_info_print_table_row(2, "tamis", PHP_TAMIS_VERSION);
    php_info_print_table_row(2, "library", tamis_version());
    php_info_print_table_row(2, "vector instructions", tamis_simd());
    php_info_print_table_end();
    display_ini_entries(zend_module);
}

zend_module_entry tamis_module_entry = {
    STANDARD_MODULE_HEADER,
    "tamis",
    NULL,
    PHP_MINIT(tamis),
    PHP_MSHUTDOWN(tamis),
    PHP_RINIT(tamis),
    NULL,
    PHP_MINFO(tamis),
    PHP_TAMIS_VERSION,
    PHP_MODULE_GLOBALS(tamis),
    PHP_GINIT(tamis),
    PHP_GSHUTDOWN(tamis),
    NULL,
    STANDARD_MODULE_PROPERTIES_EX,
};

#ifdef COMPILE_DL_TAMIS
ZEND_GET_MODULE(tamis)
#endif
