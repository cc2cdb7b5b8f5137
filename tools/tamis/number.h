/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number.h: numbers on the command line.
 *
 * The rules are strict: the whole text is one number, which is not negative, does not overflow and
 * need not be rounded.  Each call returns false after a message that names the option and says what
 * it accepts.  Rates are read by strtod(); the others have this form:
 *
 *     number     decimal (suffix | exponent)?     1.5M  1e9  1_000_000  2.5e3
 *     decimal    digits ("." digits)?
 *     digits     digit ("_"? digit)*              a _ stands between two digits only
 *     exponent   ("e" | "E") ("+" | "-")? digit+
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* 10000, 10k, 1.5M, 1e9, 1G, 1T: powers of ten; 1 or more. */
bool number_count(const char *option, const char *text, uint64_t *count);

/* As number_count(), and 512Ki, 64Mi, 4Gi: powers of two. */
bool number_bits(const char *option, const char *text, uint64_t *bits);

/* Bytes: 512KiB, 64MiB, 4GiB; 512kB, 64MB, 4GB: powers of ten; 1 or more. */
bool number_size(const char *option, const char *text, uint64_t *bytes);

/* Any number that is not below 0, with any suffix: 0, 1.5, 1e-6, 1%, 10k, 64MiB.  No message. */
bool number_any(const char *text, double *number);

/* A time (500ms, 90s, 45m, 12h, 30d, 2w) or a number of keys (7keys, 10k, 5Mkeys); the other is 0.
 * A number without a unit is refused: it could be either. */
bool number_window(const char *option, const char *text, int64_t *ns, uint64_t *items);

/* A time of a millisecond or more: 500ms, 90s, 45m, 12h, 30d, 2w. */
bool number_duration(const char *option, const char *text, int64_t *ns);

/* Seconds, up to a day: 5, 0.5; or with a unit: 500ms, 2m.  In milliseconds; least_ms is 0 or a
 * second. */
bool number_wait(const char *option, const char *text, int64_t least_ms, int64_t *ms);

/* 0.01, 1e-6, 1%: more than 0, less than 1. */
bool number_rate(const char *option, const char *text, double *rate);

/* 50, 50%, 12.5: 0 to 100. */
bool number_percent(const char *option, const char *text, double *percent);

/* A plain number from least to most. */
bool number_between(const char *option, const char *text, uint64_t least, uint64_t most,
                    uint64_t *number);

/* 0 to 2^64-1, decimal or 0x with hexadecimal digits. */
bool number_seed(const char *option, const char *text, uint64_t *seed);
