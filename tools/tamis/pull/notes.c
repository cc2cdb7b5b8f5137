/* SPDX-License-Identifier: BSD-2-Clause */
/* notes.c: what a pull notes for the next one; see notes.h. */
#include "pull/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FIRST_LINE "tamis-pull 1\n"
#define LAST_LINE "end\n"

enum value { TEXT, NUMBER, HEXADECIMAL };

/* The lines between the first and the last, in their order. */
static const struct line {
    const char *name;
    enum value value;
    size_t at;    /* in struct notes */
    size_t bytes; /* of a text there, with its NUL */
} LINES[] = {
    {"name", TEXT, offsetof(struct notes, name), TAMIS_NAME_MAX + 1},
    {"url", TEXT, offsetof(struct notes, url), NOTES_URL_BYTES},
    {"resource", HEXADECIMAL, offsetof(struct notes, resource), 0},
    {"etag", TEXT, offsetof(struct notes, etag), NOTES_ETAG_BYTES},
    {"bytes", NUMBER, offsetof(struct notes, bytes), 0},
    {"digest", TEXT, offsetof(struct notes, digest), NOTES_DIGEST_BYTES},
    {"items", NUMBER, offsetof(struct notes, items), 0},
    {"exceptions", NUMBER, offsetof(struct notes, exceptions), 0},
    {"key", TEXT, offsetof(struct notes, key), NOTES_KEY_BYTES},
};
#define LINE_COUNT (sizeof LINES / sizeof *LINES)

static bool is_printable(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) return false;
    return true;
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct printer {
    char *to;
    size_t left;
    bool good;
};

static void print_text(struct printer *printer, const char *text)
{
    const size_t bytes = strlen(text);
    printer->good = printer->good && bytes <= printer->left;
    if (!printer->good) return;
    memcpy(printer->to, text, bytes);
    printer->to += bytes;
    printer->left -= bytes;
}

static void print_line(struct printer *printer, const struct line *line, const struct notes *notes)
{
    const char *at = (const char *)notes + line->at;
    char number[24];
    const char *value = at;
    if (line->value != TEXT) {
        uint64_t n;
        memcpy(&n, at, sizeof n);
        (void)snprintf(number, sizeof number, line->value == NUMBER ? "%" PRIu64 : "%016" PRIx64,
                       n);
        value = n != 0 ? number : "";
    }
    if (*value == '\0') return;
    printer->good = printer->good && is_printable(value, strlen(value));
    print_text(printer, line->name);
    print_text(printer, " ");
    print_text(printer, value);
    print_text(printer, "\n");
}

bool notes_print(const struct notes *notes, char block[NOTES_BYTES])
{
    struct printer printer = {.to = block, .left = NOTES_BYTES, .good = true};
    print_text(&printer, FIRST_LINE);
    for (size_t i = 0; i < LINE_COUNT; i++)
        print_line(&printer, &LINES[i], notes);
    print_text(&printer, LAST_LINE);
    memset(printer.to, '\n', printer.left);
    return printer.good;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Moves *from past `text`, if it begins with it. */
static bool skip(const char **from, const char *end, const char *text)
{
    const size_t bytes = strlen(text);
    if ((size_t)(end - *from) < bytes || memcmp(*from, text, bytes) != 0) return false;
    *from += bytes;
    return true;
}

/* A number as print_line() writes it: not 0, without zeros before it in decimal, in 16 digits in
 * hexadecimal. */
static bool parse_number(const char *text, size_t bytes, bool hexadecimal, uint64_t *number)
{
    char again[24];
    const uint64_t base = hexadecimal ? 16 : 10;
    *number = 0;
    if (bytes == 0 || bytes > 20) return false;
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        uint64_t digit = 16;
        if (c >= '0' && c <= '9') digit = (uint64_t)(c - '0');
        if (hexadecimal && c >= 'a' && c <= 'f') digit = (uint64_t)(c - 'a') + 10;
        if (digit >= base || *number > (UINT64_MAX - digit) / base) return false;
        *number = *number * base + digit;
    }
    const int length =
        snprintf(again, sizeof again, hexadecimal ? "%016" PRIx64 : "%" PRIu64, *number);
    return *number != 0 && (size_t)length == bytes && memcmp(again, text, bytes) == 0;
}

static bool parse_value(const struct line *line, const char *text, size_t bytes,
                        struct notes *notes)
{
    char *at = (char *)notes + line->at;
    if (bytes == 0) return false;
    if (line->value == TEXT) {
        if (bytes >= line->bytes || !is_printable(text, bytes)) return false;
        memcpy(at, text, bytes); /* the rest is zero */
        return true;
    }
    uint64_t number;
    const bool good = parse_number(text, bytes, line->value == HEXADECIMAL, &number);
    if (good) memcpy(at, &number, sizeof number);
    return good;
}

/* "name value\n", if the next line is this one. */
static bool parse_line(const struct line *line, const char **from, const char *end,
                       struct notes *notes)
{
    const char *at = *from;
    if (!skip(&at, end, line->name) || !skip(&at, end, " ")) return true;
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    if (newline == NULL || !parse_value(line, at, (size_t)(newline - at), notes)) return false;
    *from = newline + 1;
    return true;
}

bool notes_parse(const char *block, size_t bytes, struct notes *notes)
{
    const char *at = block, *end = block + bytes;
    *notes = (struct notes){.resource = 0};
    bool good = bytes == NOTES_BYTES && skip(&at, end, FIRST_LINE);
    for (size_t i = 0; good && i < LINE_COUNT; i++)
        good = parse_line(&LINES[i], &at, end, notes);
    good = good && skip(&at, end, LAST_LINE);
    while (good && at < end)
        good = *at++ == '\n';
    if (!good) *notes = (struct notes){.resource = 0};
    return good;
}

bool notes_etag_is_strong(const char *etag)
{
    const size_t bytes = strlen(etag);
    return bytes >= 2 && etag[0] == '"' && etag[bytes - 1] == '"' &&
           memchr(etag + 1, '"', bytes - 2) == NULL;
}
