/* SPDX-License-Identifier: BSD-2-Clause */
/* error.h: the sentence behind tamis_last_error(), and how text from outside gets into one. */
#ifndef TAMIS_BASE_ERROR_H
#define TAMIS_BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

/* Set this thread's sentence and return `code`, so that `return tamis__fail(...)` reads well. */
int tamis__fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
#ifdef __clang_analyzer__ /* sees one file at a time, so it must be told what that returns */
#define tamis__fail(code, ...) ((void)tamis__fail(code, __VA_ARGS__), (code))
#endif

/*
 * Text of unknown origin made printable: quoted, control and non-UTF-8 bytes as \xNN, cut with
 * "..." where it is long.  The result lives in `buffer` and is returned for use in an argument
 * list.
 */
#define TAMIS__QUOTED_BYTES 320
const char *tamis__quote(char buffer[TAMIS__QUOTED_BYTES], const char *text);

/* A byte count for people: "1.5 GiB", exact below 1 KiB.  Returned as above. */
#define TAMIS__SIZE_BYTES 32
const char *tamis__size_text(char buffer[TAMIS__SIZE_BYTES], double bytes);

/* What makes a noun that follows the number a plural: "" for 1, else "s". */
static inline const char *tamis__plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}

/* Length of the well-formed UTF-8 sequence at `s` (RFC 3629), 0 if there is none.  Needs a NUL end.
 */
size_t tamis__utf8_length(const unsigned char *s);

#endif
