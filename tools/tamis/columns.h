/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * columns.h: what `tamis list` shows, sorts and selects by.
 *
 * A column is a field of `tamis info` (fields.h) that needs no look at the bits, or a key of
 * order.h, which has a short name and a form for people: "size" is size_bytes as 28.0 KiB.
 */
#pragma once

#include "command.h"
#include "fields.h"
#include "order.h"

struct column {
    const char *name;
    int key;                   /* ORDER_*; below 0: the column is the field as it is */
    const struct field *field; /* NULL: the key has no field of its own */
};

struct columns {
    struct column *all;
    size_t count, room;
};

/* Finds a column by its name.  false: there is none. */
bool column_find(const char *name, struct column *column);

/* Takes "name,items,...".  false after a message that begins with `option`. */
bool columns_take(struct columns *columns, const char *option, const char *names);
void columns_clear(struct columns *columns);

/* "name kind capacity ...", for a message.  The caller frees it. */
char *column_names(void);

/* Tells that there is no such column, and which there are.  Returns CLI_ERROR. */
int column_fail(const char *option, const char *name);

/* How a column is shown to people: exactly, or as short as it can be. */
enum column_form { COLUMN_EXACT, COLUMN_HUMAN, COLUMN_NARROW };

/* The value of a filter, as JSON has it.  The caller releases it. */
json_t *column_value(const struct column *column, const struct tamis_filter_stat *stat);

/* The same for people.  The caller frees it. */
char *column_text(const struct column *column, const struct tamis_filter_stat *stat,
                  enum column_form form);

/* The same without anything that is for people only: what CSV has.  The caller frees it. */
char *column_plain(const struct column *column, const struct tamis_filter_stat *stat);

/* Is it aligned to the right? */
bool column_is_number(const struct column *column);

/* Which of two filters comes first: numbers go down, texts go up. */
int column_compare(const struct column *column, const struct tamis_filter_stat *a,
                   const struct tamis_filter_stat *b);
