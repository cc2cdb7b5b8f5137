/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * csv.c: tables: CSV (RFC 4180), with any separator, and TSV, which has no quotes.
 *
 * A field that begins with a quote ends at the next quote that is not doubled, and may have
 * newlines in it.  --field is its number, from 1, or its name in the first record.
 */
#include <string.h>

#include "input/format.h"

#define QUOTED_MOST ((size_t)1024 * 1024) /* of a record with a quote that is not closed */

/* The end of a quoted field that begins at `text`: behind its second quote.  NULL: not in it. */
static const char *quote_end(const char *text, const char *limit)
{
    for (text++; text < limit; text += 2) { /* behind a doubled quote */
        text = memchr(text, '"', (size_t)(limit - text));
        if (text == NULL) return NULL;
        if (text + 1 == limit || text[1] != '"') return text + 1;
    }
    return NULL;
}

static const char *find_either(const char *text, const char *limit, char one, char other)
{
    while (text < limit && *text != one && *text != other)
        text++;
    return text;
}

static const char *csv_find_end(const struct taking *taking, const char *text, const char *limit)
{
    const char *line = memchr(text, taking->line_end, (size_t)(limit - text));
    const size_t first = (size_t)((line != NULL ? line : limit) - text);
    if (memchr(text, '"', first) == NULL) return line;
    const char *begin = text;
    for (;;) { /* at the beginning of a field */
        if (text < limit && *text == '"') {
            text = quote_end(text, limit);
            if (text == NULL && (size_t)(limit - begin) > QUOTED_MOST)
                return line; /* taken as it is; csv_take() refuses it */
            if (text == NULL) return NULL;
        }
        text = find_either(text, limit, taking->separator, taking->line_end);
        if (text == limit) return NULL;
        if (*text == taking->line_end) return text;
        text++;
    }
}

/* One field: its text, with quotes taken off and doubled ones made single. */
struct cell {
    const char *text;
    size_t bytes;
    const char *next; /* the field behind it; NULL: none */
    bool is_broken;   /* its quote is not closed */
};

static struct cell quoted_cell(struct taking *taking, const char *text, const char *limit)
{
    const char *end = quote_end(text, limit);
    if (end == NULL) return (struct cell){.is_broken = true};
    const char *next = memchr(end, taking->separator, (size_t)(limit - end));
    struct cell cell = {.text = text + 1,
                        .bytes = (size_t)(end - text) - 2,
                        .next = next != NULL ? next + 1 : NULL};
    if (memchr(cell.text, '"', cell.bytes) == NULL) return cell;
    char *to = taking_scratch(taking, cell.text);
    size_t put = 0;
    for (size_t i = 0; i < cell.bytes; i++) {
        to[put++] = cell.text[i];
        if (cell.text[i] == '"') i++;
    }
    cell.text = to;
    cell.bytes = put;
    return cell;
}

static struct cell cell_at(struct taking *taking, const char *text, const char *limit)
{
    if (taking->format == &format_csv && text < limit && *text == '"')
        return quoted_cell(taking, text, limit);
    const char *next = memchr(text, taking->separator, (size_t)(limit - text));
    return (struct cell){.text = text,
                         .bytes = (size_t)((next != NULL ? next : limit) - text),
                         .next = next != NULL ? next + 1 : NULL};
}

/* Finds the number of the field that the first record names so. */
static void take_header(struct taking *taking, const char *text, const char *limit)
{
    const size_t wanted = strlen(taking->field);
    size_t number = 0;
    taking->header_is_next = false;
    while (text != NULL) {
        const struct cell cell = cell_at(taking, text, limit);
        number++;
        if (!cell.is_broken && cell.bytes == wanted &&
            memcmp(cell.text, taking->field, wanted) == 0) {
            taking->field_number = number;
            return;
        }
        text = cell.next;
    }
    taking->header_lacks = true;
    taking->why = "does not name the field of --field";
}

static void csv_take(struct taking *taking, const char *text, size_t bytes)
{
    struct cell cell = {.next = text};
    if (bytes > 0 && text[bytes - 1] == '\r') bytes--;
    const char *limit = text + bytes;
    if (bytes == 0) return;
    if (taking->header_is_next) {
        take_header(taking, text, limit);
        return;
    }
    taking->counts.records++;
    const size_t number = taking->field_number > 0 ? taking->field_number : 1;
    for (size_t i = 0; i < number && cell.next != NULL; i++) {
        cell = cell_at(taking, cell.next, limit);
        if (cell.is_broken) {
            taking->why = "has a quote that is not closed";
            return;
        }
        if (i + 1 == number && cell.bytes > 0) {
            taking_give(taking, cell.text, cell.bytes);
            return;
        }
    }
    taking->counts.lacking++;
}

const struct format format_csv = {.name = "csv",
                                  .what = "CSV",
                                  .has_fields = true,
                                  .separator = ',',
                                  .take = csv_take,
                                  .find_end = csv_find_end};
const struct format format_tsv = {.name = "tsv",
                                  .what = "a table with tabs",
                                  .has_fields = true,
                                  .separator = '\t',
                                  .take = csv_take};
