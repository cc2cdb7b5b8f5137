/* SPDX-License-Identifier: BSD-2-Clause */
/* tsv.h: recorded tables: cells between tabs, the first line names the columns. */
#ifndef TAMIS_SUPPORT_TSV_H
#define TAMIS_SUPPORT_TSV_H

#include <stddef.h>

#include "streams.h"

struct tsv {
    char *text; /* cut into cells */
    char **cells;
    size_t columns, rows; /* without the first line */
};

/* Read a file, or $TAMIS_VECTORS/<name>; a failure ends the program. */
struct tsv tsv_read_file(const char *path);
struct tsv tsv_read(const char *name);
void tsv_free(struct tsv *tsv);
/* Freed at the end of its block, see auto.h. */
#define AUTO_TSV __attribute__((cleanup(tsv_free))) struct tsv

/* The cell of a row in the column of that name; no such column ends the program. */
const char *tsv_cell(const struct tsv *tsv, size_t row, const char *column);

/* The number that a cell has. */
uint64_t tsv_number(const struct tsv *tsv, size_t row, const char *column);
double tsv_double(const struct tsv *tsv, size_t row, const char *column);

/* The bytes of a cell in hexadecimal, "-" for none; to be freed. */
struct stream tsv_bytes(const struct tsv *tsv, size_t row, const char *column);

#endif
