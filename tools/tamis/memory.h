/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h: memory that is there or ends the program.
 *
 * No call here fails: where there is no memory the program says so on standard error and exits with
 * status 2.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* As malloc() and realloc().  The caller frees what they return. */
void *cli_alloc(size_t bytes);
void *cli_realloc(void *old, size_t bytes);
/* The array `old` with room for `needed` items of item_bytes each, of which *room fit.  It grows to
 * twice its room at least, so that adding item by item copies each of them a few times only. */
void *cli_grow(void *old, size_t needed, size_t *room, size_t item_bytes);

/* A copy of the first bytes of a text, with a NUL behind them; and of a whole text. */
char *cli_copy(const char *text, size_t bytes);
char *cli_strdup(const char *text);

/* As asprintf() and vasprintf(). */
char *cli_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *cli_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

void cli_no_memory(void) __attribute__((noreturn));
