/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * no_deepbind.c: loaded before php, so that AddressSanitizer works in it.
 *
 * PHP loads extensions with RTLD_DEEPBIND, by which an extension would find malloc() of the C
 * library before that of the sanitizer; the sanitizer ends the process there.  Without the flag the
 * extension finds what php finds.
 */
#include <dlfcn.h>

void *dlopen(const char *file, int mode)
{
    static void *(*next)(const char *file, int mode);

    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(file, mode & ~RTLD_DEEPBIND);
}
