/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number.c: numbers on the command line; see number.h.
 *
 * Counts and sizes are computed in integers throughout: through a double, 9007199254740993 would
 * lose its last digit in silence.
 */
#include "number.h"

#include "command.h"

enum parsed { PARSED, MALFORMED, TOO_LARGE, NOT_WHOLE };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with an optional point: value = *mantissa / 10^*fraction.  *end is what follows. */
static enum parsed parse_decimal(const char *text, uint64_t *mantissa, unsigned *fraction,
                                 const char **end)
{
    bool point = false;
    if (!is_digit(*text)) return MALFORMED;
    *mantissa = 0;
    *fraction = 0;
    for (;; text++) {
        if (*text == '.' && !point && is_digit(text[1])) {
            point = true;
            continue;
        }
        if (*text == '_' && is_digit(text[-1]) && is_digit(text[1])) continue;
        if (!is_digit(*text)) break;
        uint64_t digit = (uint64_t)(*text - '0');
        if (__builtin_mul_overflow(*mantissa, UINT64_C(10), mantissa) ||
            __builtin_add_overflow(*mantissa, digit, mantissa))
            return TOO_LARGE;
        *fraction += point;
    }
    *end = text;
    return PARSED;
}

/* *mantissa / 10^fraction * unit, if that is a whole number that fits. */
static enum parsed scale(uint64_t mantissa, unsigned fraction, uint64_t unit, uint64_t *value)
{
    for (; fraction > 0 && mantissa % 10 == 0; fraction--)
        mantissa /= 10;
    for (; fraction > 0 && unit % 10 == 0; fraction--)
        unit /= 10;
    /* What is left of the fraction must go by factors 2 and 5, wherever they are. */
    for (; fraction > 0; fraction--) {
        uint64_t *fives = mantissa % 5 == 0 ? &mantissa : &unit;
        if (*fives % 5 != 0) return NOT_WHOLE;
        *fives /= 5;
        uint64_t *twos = mantissa % 2 == 0 ? &mantissa : &unit;
        if (*twos % 2 != 0) return NOT_WHOLE;
        *twos /= 2;
    }
    return __builtin_mul_overflow(mantissa, unit, value) ? TOO_LARGE : PARSED;
}

#define EXPONENT_MAX 1000 /* beyond it no number but 0 fits */

/* "e9", "E-3" up to the end of the text. */
static bool parse_exponent(const char *text, int *exponent)
{
    if (*text != 'e' && *text != 'E') return false;
    const bool negative = text[1] == '-';
    text += negative || text[1] == '+' ? 2 : 1;
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text)) return false;
    for (*exponent = 0; *text && *exponent < EXPONENT_MAX; text++)
        *exponent = 10 * *exponent + (*text - '0');
    if (negative) *exponent = -*exponent;
    return true;
}

/* *mantissa / 10^fraction * 10^exponent, if that is a whole number that fits. */
static enum parsed scale_by_ten(uint64_t mantissa, unsigned fraction, int exponent, uint64_t *value)
{
    *value = 0;
    if (mantissa == 0) return PARSED;
    for (; exponent < 0; exponent++)
        fraction++;
    for (; exponent > 0 && fraction > 0; exponent--)
        fraction--;
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(mantissa, UINT64_C(10), &mantissa)) return TOO_LARGE;
    return scale(mantissa, fraction, 1, value);
}

struct unit {
    const char *suffix;
    uint64_t factor;
};

static const struct unit DECIMAL[] = {
    {"", 1},        {"k", 1000},       {"K", 1000},
    {"M", 1000000}, {"G", 1000000000}, {"T", UINT64_C(1000000000000)},
    {NULL, 0},
};

static const struct unit BINARY[] = {
    {"Ki", UINT64_C(1) << 10},
    {"Mi", UINT64_C(1) << 20},
    {"Gi", UINT64_C(1) << 30},
    {"Ti", UINT64_C(1) << 40},
    {NULL, 0},
};

static const struct unit BYTES[] = {
    {"B", 1},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", UINT64_C(1000000000000)},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {NULL, 0},
};

static uint64_t unit_factor(const struct unit *units, const char *suffix)
{
    for (; units->suffix != NULL; units++)
        if (strcmp(units->suffix, suffix) == 0) return units->factor;
    return 0;
}

/* A number with a suffix of either list; more_units is NULL if there is only one list. */
static enum parsed parse_scaled(const char *text, const struct unit *units,
                                const struct unit *more_units, uint64_t *value)
{
    uint64_t mantissa;
    unsigned fraction;
    const char *suffix;
    enum parsed parsed = parse_decimal(text, &mantissa, &fraction, &suffix);
    if (parsed != PARSED) return parsed;
    uint64_t factor = unit_factor(units, suffix);
    if (factor == 0 && more_units != NULL) factor = unit_factor(more_units, suffix);
    int exponent;
    const uint64_t unscaled =
        unit_factor(units, "") | (more_units != NULL ? unit_factor(more_units, "") : 0);
    if (factor == 0 && unscaled == 1 && parse_exponent(suffix, &exponent))
        return scale_by_ten(mantissa, fraction, exponent, value);
    if (factor == 0) return MALFORMED;
    return scale(mantissa, fraction, factor, value);
}

/* Tells what is wrong; `accepts` completes "give ...". */
static bool refuse(const char *option, const char *text, enum parsed parsed, const char *accepts)
{
    if (parsed == TOO_LARGE)
        cli_tell("%s: '%s' is more than 2^64-1", option, text);
    else if (parsed == NOT_WHOLE)
        cli_tell("%s: '%s' is not a whole number", option, text);
    else
        cli_tell("%s: '%s' is not accepted; give %s", option, text, accepts);
    return false;
}

/* A number of 1 or more with a suffix of either list. */
static bool parse_amount(const char *option, const char *text, const struct unit *units,
                         const struct unit *more_units, const char *accepts, uint64_t *amount)
{
    enum parsed parsed = parse_scaled(text, units, more_units, amount);
    if (parsed == PARSED && *amount == 0) parsed = MALFORMED;
    return parsed == PARSED || refuse(option, text, parsed, accepts);
}

bool number_count(const char *option, const char *text, uint64_t *count)
{
    return parse_amount(option, text, DECIMAL, NULL,
                        "a number of 1 or more, like 10000, 10k, 1.5M, 1e9 or 1_000_000", count);
}

bool number_bits(const char *option, const char *text, uint64_t *bits)
{
    return parse_amount(
        option, text, DECIMAL, BINARY,
        "a number of bits of 1 or more, like 1000003, 10M (ten million) or 64Mi (2^26)", bits);
}

bool number_size(const char *option, const char *text, uint64_t *bytes)
{
    return parse_amount(option, text, BYTES, DECIMAL,
                        "a number of bytes of 1 or more, like 512KiB, 64MiB, 4GiB or 4GB", bytes);
}

static const struct unit times[] = {
    {"ms", UINT64_C(1000000)},
    {"s", UINT64_C(1000000000)},
    {"m", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
    {"d", UINT64_C(86400000000000)},
    {"w", UINT64_C(604800000000000)},
    {NULL, 0},
};

bool number_duration(const char *option, const char *text, int64_t *ns)
{
    uint64_t value = 0;
    enum parsed parsed = parse_scaled(text, times, NULL, &value);
    if (parsed == PARSED && value >= 1000000 && value <= INT64_MAX) {
        *ns = (int64_t)value;
        return true;
    }
    if (parsed == PARSED) parsed = value > INT64_MAX ? TOO_LARGE : MALFORMED;
    return refuse(option, text, parsed, "a time of a millisecond or more, like 500ms, 30s or 5m");
}

/* What a number of keys may end with: 10M, 7keys, 10Mkeys. */
static const struct unit keys[] = {
    {"k", 1000},
    {"K", 1000},
    {"M", 1000000},
    {"G", 1000000000},
    {"T", UINT64_C(1000000000000)},
    {"key", 1},
    {"keys", 1},
    {"kkeys", 1000},
    {"Kkeys", 1000},
    {"Mkeys", 1000000},
    {"Gkeys", 1000000000},
    {"Tkeys", UINT64_C(1000000000000)},
    {NULL, 0},
};

bool number_window(const char *option, const char *text, int64_t *ns, uint64_t *items)
{
    uint64_t value = 0;
    *ns = 0;
    *items = 0;
    enum parsed parsed = parse_scaled(text, times, NULL, &value);
    if (parsed == PARSED && value > 0 && value <= INT64_MAX) {
        *ns = (int64_t)value;
        return true;
    }
    if (parsed == MALFORMED)
        parsed = parse_scaled(text, keys, NULL, items);
    else if (parsed == PARSED)
        parsed = value > INT64_MAX ? TOO_LARGE : MALFORMED;
    if (parsed == PARSED && *items == 0) parsed = MALFORMED;
    return parsed == PARSED ||
           refuse(option, text, parsed,
                  "a time with its unit, like 90s, 45m, 12h, 30d or 2w, or a number of keys with "
                  "its unit, like 7keys or 10Mkeys");
}

bool number_wait(const char *option, const char *text, int64_t least_ms, int64_t *ms)
{
    static const struct unit seconds[] = {{"", 1000}, {NULL, 0}};
    static const struct unit others[] = {
        {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {NULL, 0}};
    uint64_t value = 0;
    enum parsed parsed = parse_scaled(text, seconds, others, &value);
    if (parsed == PARSED && value <= TAMIS_BUSY_TIMEOUT_MAX && (int64_t)value >= least_ms) {
        *ms = (int64_t)value;
        return true;
    }
    cli_tell("%s: '%s' is not accepted; give seconds, from %s to 86400 (a day), like %s", option,
             text, least_ms > 0 ? "1" : "0 (do not wait)",
             least_ms > 0 ? "5, 1.5 or 2m" : "5, 0.5 or 500ms");
    return false;
}

/* strtod() alone would take spaces, hexadecimal, "inf" and "nan". */
static bool is_decimal_float(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    text += digits;
    if (*text == '.') {
        size_t more = strspn(++text, "0123456789");
        text += more;
        digits += more;
    }
    if (digits == 0) return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        if (*text == '+' || *text == '-') text++;
        digits = strspn(text, "0123456789");
        if (digits == 0) return false;
        text += digits;
    }
    return *text == '\0' || strcmp(text, "%") == 0;
}

bool number_any(const char *text, double *number)
{
    uint64_t whole;
    if (is_decimal_float(text)) {
        char *end;
        *number = strtod(text, &end);
        if (*end == '%') *number /= 100;
        return true;
    }
    if (parse_scaled(text, DECIMAL, BYTES, &whole) != PARSED) return false;
    *number = (double)whole;
    return true;
}

bool number_rate(const char *option, const char *text, double *rate)
{
    if (is_decimal_float(text)) {
        char *end;
        *rate = strtod(text, &end); /* no setlocale(): the point is always a point */
        if (*end == '%') *rate /= 100;
        if (*rate > 0 && *rate < 1) return true;
    }
    cli_tell("%s: '%s' is not accepted; give a rate of more than 0 and less than 1, like 0.01, "
             "1e-6 or 1%%",
             option, text);
    return false;
}

bool number_percent(const char *option, const char *text, double *percent)
{
    if (is_decimal_float(text)) {
        *percent = strtod(text, NULL); /* a % may be left out */
        if (*percent >= 0 && *percent <= 100) return true;
    }
    cli_tell("%s: '%s' is not accepted; give a percentage from 0 to 100, like 50 or 12.5%%", option,
             text);
    return false;
}

bool number_between(const char *option, const char *text, uint64_t least, uint64_t most,
                    uint64_t *number)
{
    static const struct unit none[] = {{"", 1}, {NULL, 0}};
    enum parsed parsed = parse_scaled(text, none, NULL, number);
    if (parsed == PARSED && *number >= least && *number <= most) return true;
    cli_tell("%s: '%s' is not accepted; give a whole number from %ju to %ju", option, text,
             (uintmax_t)least, (uintmax_t)most);
    return false;
}

static bool parse_hexadecimal(const char *text, uint64_t *number)
{
    if (strspn(text, "0123456789abcdefABCDEF") != strlen(text) || *text == '\0') return false;
    while (*text == '0')
        text++;
    if (strlen(text) > 16) return false;
    *number = strtoull(*text ? text : "0", NULL, 16);
    return true;
}

bool number_seed(const char *option, const char *text, uint64_t *seed)
{
    static const struct unit none[] = {{"", 1}, {NULL, 0}};
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        if (parse_hexadecimal(text + 2, seed)) return true;
    } else if (parse_scaled(text, none, NULL, seed) == PARSED) {
        return true;
    }
    cli_tell("%s: '%s' is not accepted; give a whole number from 0 to 2^64-1", option, text);
    return false;
}
