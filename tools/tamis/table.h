/* SPDX-License-Identifier: BSD-2-Clause */
/* table.h: rows of cells in aligned columns. */
#pragma once

#include <stddef.h>

#include "out.h"

#define TABLE_COLUMNS_MAX 64

struct table {
    const char *align; /* a letter a column: 'l' or 'r' */
    size_t columns;    /* strlen(align), at most TABLE_COLUMNS_MAX */
    char **cells;      /* row by row */
    size_t count;
    size_t room;
    size_t widths[TABLE_COLUMNS_MAX];
};

/* `header` has a cell for each column, or is NULL. */
void table_init(struct table *table, const char *align, const char *const *header);
void table_clear(struct table *table);

/* Adds the next cell. */
void table_cell(struct table *table, const char *text);
void table_format(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The columns of a terminal that the longest row takes. */
size_t table_width(const struct table *table);

/* Prints the rows, two spaces between columns, none at the end of a line. */
void table_print(const struct table *table, struct out *out);
/* The same, but a table of nothing but its header is not printed. */
void table_print_rows(const struct table *table, struct out *out);
