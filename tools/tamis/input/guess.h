/* SPDX-License-Identifier: BSD-2-Clause */
/* guess.h: which format a list is in, by its first lines. */
#pragma once

#include "input/format.h"

#define GUESS_LINES 1000 /* enough to tell */

struct guess {
    const struct format *format; /* what most lines are of; format_lines: of none that is known */
    const char *fits;            /* what these lines are, for messages */
    const char *options;         /* that read them; NULL: none can */
    const char *key_rule;        /* that the keys get, for messages; NULL: of no matter */
    bool is_sure;                /* it can be read so without a question */
    bool has_title;              /* its first lines say so themselves */
    bool is_refused;             /* its lines are hardly meant as keys */
    bool changes;                /* a line of it and its key differ, or letters of both cases do */
    size_t lines;                /* that were looked at, without comments and blank ones */
    size_t fitting;              /* of these, that are of the format */
};

/* Looks at [text, limit), which begins with a line and ends with one. */
struct guess guess_format(const char *text, const char *limit);
