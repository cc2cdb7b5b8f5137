/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arguments.h: checks of what a caller passes: pointers that must not be NULL, and structs that
 * say their size.
 *
 * A struct of the public headers has its size as its first field, so that a program that was
 * compiled with an older or a newer header works with this library: see SIZES in tamis.h.  A public
 * call copies such a struct into one of its own (tamis__take_struct), works on that, and copies it
 * back if the caller reads results from it (tamis__give_struct).  Nothing past the caller's size is
 * ever read or written.
 */
#pragma once

#include <stddef.h>

/* A struct of the public headers is never larger than this.  A greater value in `size`
 * is an error. */
#define TAMIS__STRUCT_BYTES_MAX 4096

/* Returns TAMIS_EINVAL and says that the argument of that name is NULL in the
 * public call `call`. */
int tamis__fail_null(const char *call, const char *argument);

/* For public calls: returns TAMIS_EINVAL if the pointer, which the header calls `name`, is NULL. */
#define TAMIS__REFUSE_NULL(pointer, name)                                                          \
    do {                                                                                           \
        if (__builtin_expect((pointer) == NULL, 0)) return tamis__fail_null(__func__, name);       \
    } while (0)

/*
 * Copies the caller's struct `theirs` into `ours`, which has ours_bytes bytes.  Fields that an
 * older caller does not have become 0.
 *
 * name     the struct as in "struct tamis_merge", for the sentence.
 * Returns  0.  TAMIS_EINVAL: NULL, or its size was not set.  TAMIS_EUNSUPPORTED: a newer caller has
 *          set a field that this library does not know.
 */
int tamis__take_struct(const void *theirs, void *ours, size_t ours_bytes, const char *name);
/* Checks a struct in the same way.  For structs that only take results, so that their contents do
 * not matter yet. */
int tamis__check_struct(const void *theirs, const char *name);
/* Copies results back to the caller: as many bytes as both structs have.  `size` says how many. */
void tamis__give_struct(const void *ours, size_t ours_bytes, void *theirs);
