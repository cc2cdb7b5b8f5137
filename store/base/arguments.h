/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arguments.h: what a caller passes: pointers that must not be NULL, and structs that say their
 * size.
 *
 * A struct of the public headers has its size as its first field, so that a program that was
 * compiled with an older or a newer header works with this library: see SIZES in tamis.h.  A public
 * call copies such a struct into one of its own (tamis__take_struct), works on that, and copies it
 * back where the caller gets something in it (tamis__give_struct).  Nothing past the caller's size
 * is ever read or written.
 */
#ifndef TAMIS_BASE_ARGUMENTS_H
#define TAMIS_BASE_ARGUMENTS_H

#include <stddef.h>

/* A struct of the public headers is never larger; a greater size is not a size. */
#define TAMIS__STRUCT_BYTES_MAX 4096

/* TAMIS_EINVAL: the argument of that name is NULL in the public call `call`. */
int tamis__fail_null(const char *call, const char *argument);

/* For public calls: return TAMIS_EINVAL where the pointer is NULL, which the header calls `name`.
 * */
#define TAMIS__REFUSE_NULL(pointer, name)                                                          \
    do {                                                                                           \
        if (__builtin_expect((pointer) == NULL, 0)) return tamis__fail_null(__func__, name);       \
    } while (0)

/*
 * The caller's struct `theirs` becomes `ours`, of ours_bytes: fields that an older caller does not
 * have are 0.
 *
 * name     as in "struct tamis_merge", for the sentence.
 * Returns  0.  TAMIS_EINVAL: NULL, or its size was not set.  TAMIS_EUNSUPPORTED: a newer caller has
 *          set a field that this library does not know.
 */
int tamis__take_struct(const void *theirs, void *ours, size_t ours_bytes, const char *name);
/* The same check of a struct that the caller gets something in, whose contents do not matter yet.
 * */
int tamis__check_struct(const void *theirs, const char *name);
/* Back to the caller: as much as both have, and in `size` how much that is. */
void tamis__give_struct(const void *ours, size_t ours_bytes, void *theirs);

#endif
