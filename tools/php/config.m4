dnl SPDX-License-Identifier: BSD-2-Clause
dnl For phpize: the extension on an installed libtamis, which pkg-config finds.
PHP_ARG_WITH([tamis], [for filters of Tamis], [AS_HELP_STRING([--with-tamis], [Include the extension tamis])])

if test "$PHP_TAMIS" != "no"; then
    PKG_CHECK_MODULES([TAMIS], [tamis >= 0.1.0])
    PHP_EVAL_INCLINE($TAMIS_CFLAGS)
    PHP_EVAL_LIBLINE($TAMIS_LIBS, TAMIS_SHARED_LIBADD)
    dnl PHP must not unload the library: threads, forks and SIGBUS may call it later.
    TAMIS_SHARED_LIBADD="$TAMIS_SHARED_LIBADD -Wl,-z,nodelete"
    PHP_SUBST(TAMIS_SHARED_LIBADD)
    PHP_NEW_EXTENSION(tamis, build.c errors.c fields.c filter.c kept.c many.c module.c object.c open.c store.c, $ext_shared,,
                      -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 -D_GNU_SOURCE)
fi
