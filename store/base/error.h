/* SPDX-License-Identifier: BSD-2-Clause */
/* error.h: the sentence behind tamis_last_error(), and how text from outside gets into one. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

/* Sets this thread's sentence and returns `code`, so that `return tamis__fail(...)` reads well. */
int tamis__fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What is known of a failure beside its sentence, for tamis_last_error_details(). */
struct tamis__fault {
    const char *what; /* the thing, as the sentence calls it; NULL: the sentence alone says it */
    uint64_t offset;  /* the byte in it */
    int system_error; /* errno; 0: none */
    const char *mend; /* NULL: what follows the last "; " of `format` */
};
int tamis__fail_of(int code, const struct tamis__fault *fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a failure of which the thing alone is known: a file, say. */
#define tamis__fail_at(code, thing, ...)                                                           \
    tamis__fail_of((code), &(const struct tamis__fault){.what = (thing)}, __VA_ARGS__)
#ifdef __clang_analyzer__ /* sees one file at a time, so it is told what the function returns */
#define tamis__fail(code, ...) ((void)tamis__fail(code, __VA_ARGS__), (code))
#define tamis__fail_of(code, ...) ((void)tamis__fail_of(code, __VA_ARGS__), (code))
#endif

/*
 * Makes text of unknown origin printable: the text is quoted, control and non-UTF-8 bytes become
 * \xNN, and long text is cut with "...".  The result lives in `buffer` and is returned for use in
 * an argument list.
 */
#define TAMIS__QUOTED_BYTES 320
const char *tamis__quote(char buffer[TAMIS__QUOTED_BYTES], const char *text);

/* Writes a byte count for people: "1.5 GiB", exact below 1 KiB.  The result is
 * returned as above. */
#define TAMIS__SIZE_BYTES 32
const char *tamis__size_text(char buffer[TAMIS__SIZE_BYTES], double bytes);

/* Returns the ending of a noun that follows the number: "" for 1, else "s". */
static inline const char *tamis__plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}

/* Returns the length of the well-formed UTF-8 sequence at `s` (RFC 3629), or 0 if there is none.
 * The text must end with a NUL. */
size_t tamis__utf8_length(const unsigned char *s);
