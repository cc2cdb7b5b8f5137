/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deepbind.c: loaded before redis-server, this makes it load modules as Valkey 8.1 and later do,
 * with RTLD_DEEPBIND: a module finds the functions of the libraries that it is linked with before
 * those of the server.  So malloc() of the module is that of the C library, while that of the
 * server, and of the C library's own calls, is jemalloc's.
 */
#include <dlfcn.h>
#include <string.h>

void *dlopen(const char *file, int mode)
{
    static void *(*next)(const char *file, int mode);
    const char *name = file != NULL ? strrchr(file, '/') : NULL;

    if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(file, name != NULL && strcmp(name, "/tamis.so") == 0 ? mode | RTLD_DEEPBIND : mode);
}
