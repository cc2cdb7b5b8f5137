/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.h: which lines are keys, and what of a line is the key: --comments, --skip-blank, --crlf.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct options;

struct line_rules {
    bool skip_blank;
    bool strip_return;
    const char *comments; /* what a comment begins with; NULL: there are none */
    size_t comments_bytes;
};

struct line_rules line_rules_of(const struct options *options);

/* Is the line a key? Takes a carriage return off its end if the rules say so. */
bool line_rules_pass(const struct line_rules *rules, const char *text, size_t *bytes);
