/* SPDX-License-Identifier: BSD-2-Clause */
/* text.h: numbers, sizes, times and names as people read them, and the nearest of several names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "512 B", "12.3 MiB" */
void text_size(char *text, size_t text_bytes, double bytes);

/* "1,234,567" */
#define TEXT_COUNT_BYTES 32
void text_count(char text[TEXT_COUNT_BYTES], uint64_t count);

/* "999", "12.3k", "1.23M": three digits and a power of ten */
void text_short_count(char text[TEXT_COUNT_BYTES], uint64_t count);

/* "12 s", "3 min 20 s", "2 h 05 min" */
void text_duration(char *text, size_t text_bytes, double seconds);

/* RFC 3339, UTC, whole seconds; from nanoseconds since 1970. */
void text_time(char *text, size_t text_bytes, int64_t time_ns);

/* What makes a noun that follows the number a plural: "" for 1, else "s". */
static inline const char *text_plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}

/* The value of a hexadecimal digit; -1: it is none. */
int text_hex_digit(char c);

/* Is it UTF-8 throughout? */
bool text_is_utf8(const char *text, size_t bytes);

/* A copy without control characters and broken UTF-8: these are shown as \xNN.  Caller frees. */
char *text_printable(const char *text);

/* Columns that UTF-8 text takes in a terminal. */
size_t text_width(const char *text);
/* Returns how many bytes the first characters have that fit into `columns` columns. */
size_t text_bytes(const char *text, size_t columns);

/* The order of names as people count: seen-2 before seen-10.  Below 0, 0 or above, as strcmp(). */
int text_compare_names(const char *a, const char *b);

/* The nearest of the names that were offered; begins with `wanted` alone. */
struct text_nearest {
    const char *wanted;
    const char *name; /* NULL: none is near */
    unsigned distance;
};
void text_nearest_offer(struct text_nearest *nearest, const char *candidate);

/* Is `candidate` near enough to `name` to be offered for it?  *distance: how far, for comparing. */
bool text_resembles(const char *name, const char *candidate, unsigned *distance);
