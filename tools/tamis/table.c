/* SPDX-License-Identifier: BSD-2-Clause */
/* table.c: rows of cells in aligned columns; see table.h. */
#include "table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "text.h"

void table_clear(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct table){0};
}

/* Adds a cell, which belongs to the table from then on. */
static void add_cell(struct table *table, char *cell)
{
    table->cells = cli_grow(table->cells, table->count + 1, &table->room, sizeof *table->cells);
    size_t *width = &table->widths[table->count % table->columns];
    if (text_width(cell) > *width) *width = text_width(cell);
    table->cells[table->count++] = cell;
}

void table_cell(struct table *table, const char *text)
{
    add_cell(table, cli_strdup(text));
}

void table_init(struct table *table, const char *align, const char *const *header)
{
    *table = (struct table){.align = align, .columns = strlen(align)};
    assert(table->columns <= TABLE_COLUMNS_MAX);
    for (size_t i = 0; header != NULL && i < table->columns; i++)
        table_cell(table, header[i]);
}

void table_format(struct table *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_cell(table, cli_vformat(format, args));
    va_end(args);
}

size_t table_width(const struct table *table)
{
    size_t width = 2 * (table->columns - 1);
    for (size_t i = 0; i < table->columns; i++)
        width += table->widths[i];
    return width;
}

static void pad(struct out *out, size_t spaces)
{
    while (spaces-- > 0)
        out_char(out, ' ');
}

/* Is cell `i` followed by nothing in its row? */
static bool is_last(const struct table *table, size_t i)
{
    const size_t end = i - i % table->columns + table->columns;
    while (i + 1 < end && table->cells[i + 1][0] == '\0')
        i++;
    return i + 1 == end;
}

void table_print(const struct table *table, struct out *out)
{
    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % table->columns;
        const bool last = is_last(table, i);
        size_t spaces = table->widths[column] - text_width(table->cells[i]);
        if (table->align[column] == 'r') pad(out, spaces);
        out_text(out, table->cells[i]);
        if (table->align[column] == 'l' && !last) pad(out, spaces);
        out_text(out, last ? "\n" : "  ");
        if (last) i += table->columns - 1 - column; /* the rest is empty */
    }
}

void table_print_rows(const struct table *table, struct out *out)
{
    if (table->count > table->columns) table_print(table, out);
}
