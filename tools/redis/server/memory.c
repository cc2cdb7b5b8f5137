/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.c: malloc() and its like for the module, which are those of the server's process.
 *
 * Valkey 8.1 and later load modules with RTLD_DEEPBIND.  By that flag the module, and liblmdb,
 * which comes with it, find the functions of the libraries that they are linked with before those
 * of the process.  Where the server has a malloc of its own (jemalloc's), free() of the module is
 * then the C library's, while what strdup(), asprintf() or realpath() of the C library return comes
 * from the server's malloc: the C library finds functions as the server does.  The process ends
 * with "free(): invalid pointer".
 *
 * With the flag the first place in which the module and liblmdb look is the module itself.  So it
 * defines these functions, and each calls the one that the program finds.  Without the flag
 * nobody calls them: the module, too, finds the program's functions first.
 *
 * A sanitizer has functions of its own for all, and needs none of this.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

/* Returns the function of that name which the program finds; ends the process if it has none.  The
 * C library has all of them. */
static void *find(const char *name)
{
    void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    void *function = program != NULL ? dlsym(program, name) : NULL;
    if (function == NULL) abort();
    return function;
}

enum { MALLOC, CALLOC, REALLOC, FREE, POSIX_MEMALIGN, ALIGNED_ALLOC, FUNCTIONS };
static void *functions[FUNCTIONS];

/* Sets `real` to the program's function NAME, which is looked for once; two threads that do so find
 * the same.  The pointer and what it points to are there since before main(), so no order of memory
 * matters. */
#define FIND(at, name, result, parameters)                                                         \
    result(*real) parameters;                                                                      \
    void *found = __atomic_load_n(&functions[at], __ATOMIC_RELAXED);                               \
    if (found == NULL) {                                                                           \
        found = find(name);                                                                        \
        __atomic_store_n(&functions[at], found, __ATOMIC_RELAXED);                                 \
    }                                                                                              \
    *(void **)&real = found;

EXPORTED void *malloc(size_t bytes)
{
    FIND(MALLOC, "malloc", void *, (size_t))
    return real(bytes);
}

EXPORTED void *calloc(size_t count, size_t bytes)
{
    FIND(CALLOC, "calloc", void *, (size_t, size_t))
    return real(count, bytes);
}

EXPORTED void *realloc(void *memory, size_t bytes)
{
    FIND(REALLOC, "realloc", void *, (void *, size_t))
    return real(memory, bytes);
}

EXPORTED void free(void *memory)
{
    FIND(FREE, "free", void, (void *))
    real(memory);
}

EXPORTED int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    FIND(POSIX_MEMALIGN, "posix_memalign", int, (void **, size_t, size_t))
    return real(memory, alignment, bytes);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t bytes)
{
    FIND(ALIGNED_ALLOC, "aligned_alloc", void *, (size_t, size_t))
    return real(alignment, bytes);
}
