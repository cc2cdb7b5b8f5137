/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * where.h: conditions on filters, such as "items>1M" or "state!=ok".
 *
 * A condition is a column (columns.h), one of = != < <= > >= ~, and a value: a number with any
 * suffix, a text, or after ~ a pattern as in the shell.
 */
#pragma once

#include "columns.h"

struct condition {
    struct column column;
    char sign[3];
    const char *value; /* of the command line */
    double number;     /* if the column has numbers */
};

struct conditions {
    struct condition *all;
    size_t count;
};

/* Takes the conditions of --where.  false after a message. */
bool conditions_take(struct conditions *conditions, const struct option_files *where);
void conditions_clear(struct conditions *conditions);

/* Do all of them hold for a filter? */
bool conditions_hold(const struct conditions *conditions, const struct tamis_filter_stat *stat);
