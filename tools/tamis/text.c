/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c: numbers, sizes, times and names as people read them; see text.h. */
#include "text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "memory.h"
#include "tamis.h"

void text_size(char *text, size_t text_bytes, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (bytes >= 1023.95 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(text, text_bytes, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

void text_count(char text[TEXT_COUNT_BYTES], uint64_t count)
{
    char digits[24];
    const int bytes = snprintf(digits, sizeof digits, "%ju", (uintmax_t)count);
    char *to = text;
    for (int i = 0; i < bytes; i++) {
        if (i > 0 && (bytes - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
}

void text_short_count(char text[TEXT_COUNT_BYTES], uint64_t count)
{
    static const char units[] = "kMGTPE";
    double value = (double)count;
    int unit = -1;
    while (value >= 999.5) {
        value /= 1000;
        unit++;
    }
    if (unit < 0)
        (void)snprintf(text, TEXT_COUNT_BYTES, "%ju", (uintmax_t)count);
    else
        (void)snprintf(text, TEXT_COUNT_BYTES, "%.*f%c",
                       value < 9.995   ? 2
                       : value < 99.95 ? 1
                                       : 0,
                       value, units[unit]);
}

void text_duration(char *text, size_t text_bytes, double seconds)
{
    unsigned long long s = seconds < 0     ? 0
                           : seconds > 1e9 ? 1000000000
                                           : (unsigned long long)seconds;
    if (s < 60)
        (void)snprintf(text, text_bytes, "%llu s", s);
    else if (s < 3600)
        (void)snprintf(text, text_bytes, "%llu min %02llu s", s / 60, s % 60);
    else
        (void)snprintf(text, text_bytes, "%llu h %02llu min", s / 3600, s / 60 % 60);
}

void text_time(char *text, size_t text_bytes, int64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / 1000000000);
    struct tm utc;
    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(text, text_bytes, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        (void)snprintf(text, text_bytes, "?");
}

int text_hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20; /* of letters: the small one */
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Compares the numbers at *a and *b, and goes behind them if they are the same. */
static int compare_numbers(const char **a, const char **b)
{
    const char *x = *a + strspn(*a, "0"), *y = *b + strspn(*b, "0");
    const size_t x_digits = strspn(x, "0123456789"), y_digits = strspn(y, "0123456789");
    if (x_digits != y_digits) return x_digits < y_digits ? -1 : 1;
    *a = x + x_digits;
    *b = y + y_digits;
    return strncmp(x, y, x_digits);
}

int text_compare_names(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        int order;
        if (is_digit(*x) && is_digit(*y))
            order = compare_numbers(&x, &y);
        else
            order = (unsigned char)*x++ - (unsigned char)*y++;
        if (order != 0) return order;
    }
    if (*x || *y) return *x ? 1 : -1;
    return strcmp(a, b); /* a1 and a01 */
}

/* Bytes of the UTF-8 sequence at text (RFC 3629: no overlong forms, surrogates or > U+10FFFF);
 * 0 if there is none. */
static size_t utf8_sequence(const unsigned char *text, size_t bytes)
{
    unsigned char first = text[0];
    if (first < 0x80) return 1;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || bytes < length) return 0;
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (text[1] < low || text[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    return length;
}

bool text_is_utf8(const char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        size_t length = utf8_sequence((const unsigned char *)text + at, bytes - at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

/* U+0000 to U+001F, U+007F, and U+0080 to U+009F, which are c2 80 to c2 9f. */
static bool is_control(const unsigned char *text)
{
    return text[0] < 0x20 || text[0] == 0x7f || (text[0] == 0xc2 && text[1] < 0xa0);
}

char *text_printable(const char *text)
{
    size_t left = strlen(text);
    const unsigned char *from = (const unsigned char *)text;
    char *copy = cli_alloc(left * 4 + 1); /* \xNN is the longest form of a byte */
    char *to = copy;
    while (left > 0) {
        size_t length = utf8_sequence(from, left);
        if (length > 0 && !is_control(from)) {
            memcpy(to, from, length);
            to += length;
        } else {
            length = 1;
            to += snprintf(to, 5, "\\x%02x", *from);
        }
        from += length;
        left -= length;
    }
    *to = '\0';
    return copy;
}

/* ---- Columns of a terminal ---------------------------------------------------------------- */

/* Characters that take no column, or two: the greater blocks of Unicode's categories Mn, Me and Cf,
 * and of East Asian Width W and F.  wcwidth() knows them only in a locale that is UTF-8. */
static const struct {
    uint32_t first, last;
    unsigned columns;
} WIDTHS[] = {
    {0x300, 0x36f, 0},     {0x483, 0x489, 0},     {0x591, 0x5bd, 0},     {0x610, 0x61a, 0},
    {0x64b, 0x65f, 0},     {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},
    {0x200b, 0x200f, 0},   {0x202a, 0x202e, 0},   {0x2060, 0x2064, 0},   {0x20d0, 0x20ff, 0},
    {0x2e80, 0x303e, 2},   {0x3041, 0x33ff, 2},   {0x3400, 0x4dbf, 2},   {0x4e00, 0xa4cf, 2},
    {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},
    {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2},
    {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x1fa70, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
    {0xe0100, 0xe01ef, 0}};

/* Moves *text behind one character, and returns its columns.  Bytes that are no UTF-8 are
 * characters of one column. */
static unsigned take_character(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    unsigned more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0xc0 ? 1 : 0;
    uint32_t character = more > 0 ? *at & (0x3fu >> more) : *at;
    for (at++; more > 0 && (*at & 0xc0) == 0x80; at++, more--)
        character = character << 6 | (*at & 0x3f);
    *text = (const char *)at;
    for (size_t i = 0; i < sizeof WIDTHS / sizeof *WIDTHS; i++)
        if (character >= WIDTHS[i].first && character <= WIDTHS[i].last) return WIDTHS[i].columns;
    return 1;
}

size_t text_width(const char *text)
{
    size_t width = 0;
    while (*text)
        width += take_character(&text);
    return width;
}

size_t text_bytes(const char *text, size_t columns)
{
    const char *at = text, *next = text;
    for (size_t width = 0; *at; at = next) {
        width += take_character(&next);
        if (width > columns) break;
    }
    return (size_t)(at - text);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, substitutions and swaps of neighbours that lead from a to b ("optimal
 * string alignment"), over the last three rows of the usual table. */
static unsigned edit_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    unsigned rows[3][TAMIS_NAME_MAX + 2];
    for (unsigned j = 0; j <= b_bytes; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_bytes; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3];
        const unsigned *before = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_bytes; j++) {
            unsigned changed = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(changed, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[a_bytes % 3][b_bytes];
}

/* Near: a third of the longer name may differ, and a name that the other begins with is near too
 * ("exp" for "explain").  Beyond that a suggestion is noise. */
bool text_resembles(const char *name, const char *candidate, unsigned *distance)
{
    size_t bytes = strlen(name);
    size_t candidate_bytes = strlen(candidate);
    if (bytes == 0 || bytes > TAMIS_NAME_MAX || candidate_bytes > TAMIS_NAME_MAX) return false;
    *distance = edit_distance(name, bytes, candidate, candidate_bytes);
    if (*distance <= (bytes > candidate_bytes ? bytes : candidate_bytes) / 3) return true;
    return bytes >= 2 && strncmp(name, candidate, bytes) == 0;
}

void text_nearest_offer(struct text_nearest *nearest, const char *candidate)
{
    unsigned distance;
    if (!text_resembles(nearest->wanted, candidate, &distance)) return;
    if (nearest->name != NULL && distance >= nearest->distance) return;
    nearest->name = candidate;
    nearest->distance = distance;
}
