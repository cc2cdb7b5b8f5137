/* SPDX-License-Identifier: BSD-2-Clause */
/* tsv.c: see tsv.h. */
#include "tsv.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path)
{
    size_t room = 0;
    char *text = NULL;
    FILE *file = fopen(path, "re");
    if (file == NULL || getdelim(&text, &room, '\0', file) < 0) err(1, "read %s", path);
    (void)fclose(file);
    return text;
}

static void add_cell(struct tsv *tsv, size_t count, char *cell)
{
    tsv->cells = realloc(tsv->cells, (count + 1) * sizeof *tsv->cells);
    if (tsv->cells == NULL) err(1, "realloc");
    tsv->cells[count] = cell;
}

struct tsv tsv_read(const char *name)
{
    char path[4096];
    const char *directory = getenv("TAMIS_VECTORS");
    if (directory == NULL) errx(1, "TAMIS_VECTORS is not set: ctest sets it");
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    return tsv_read_file(path);
}

struct tsv tsv_read_file(const char *path)
{
    struct tsv tsv = {.columns = 1};
    size_t count = 0;
    tsv.text = read_file(path);
    for (const char *at = tsv.text; *at != '\n'; at++)
        tsv.columns += *at == '\t';
    for (char *line = tsv.text, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        if (end == NULL) errx(1, "%s: the last line has no end", path);
        *end = '\0';
        for (char *cell; (cell = strsep(&line, "\t")) != NULL;)
            add_cell(&tsv, count++, cell);
    }
    if (count % tsv.columns != 0) errx(1, "%s: lines have different numbers of cells", path);
    tsv.rows = count / tsv.columns - 1;
    return tsv;
}

void tsv_free(struct tsv *tsv)
{
    free(tsv->text);
    free(tsv->cells);
    *tsv = (struct tsv){0};
}

const char *tsv_cell(const struct tsv *tsv, size_t row, const char *column)
{
    for (size_t i = 0; i < tsv->columns; i++)
        if (strcmp(tsv->cells[i], column) == 0) return tsv->cells[(row + 1) * tsv->columns + i];
    errx(1, "there is no column %s", column);
}

uint64_t tsv_number(const struct tsv *tsv, size_t row, const char *column)
{
    return strtoull(tsv_cell(tsv, row, column), NULL, 10);
}

double tsv_double(const struct tsv *tsv, size_t row, const char *column)
{
    return strtod(tsv_cell(tsv, row, column), NULL);
}

struct stream tsv_bytes(const struct tsv *tsv, size_t row, const char *column)
{
    const char *hex = tsv_cell(tsv, row, column);
    struct stream bytes = {.data = NULL};
    if (strcmp(hex, "-") != 0) stream_put_hex(&bytes, hex, strlen(hex));
    return bytes;
}
