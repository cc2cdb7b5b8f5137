/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.c: which lines are keys; see rules.h. */
#include "input/rules.h"

#include <string.h>

#include "options.h"

struct line_rules line_rules_of(const struct options *options)
{
    struct line_rules rules = {.skip_blank = options_have(options, TAKES(SKIP_BLANK)),
                               .strip_return = options_have(options, TAKES(CRLF))};
    if (options_have(options, TAKES(COMMENTS))) {
        rules.comments = options->comments;
        rules.comments_bytes = strlen(options->comments);
    }
    return rules;
}

bool line_rules_pass(const struct line_rules *rules, const char *text, size_t *bytes)
{
    if (rules->strip_return && *bytes > 0 && text[*bytes - 1] == '\r') --*bytes;
    size_t blank = 0;
    while (rules->skip_blank && blank < *bytes && (text[blank] == ' ' || text[blank] == '\t'))
        blank++;
    return !(rules->skip_blank && blank == *bytes) &&
           !(rules->comments != NULL && *bytes >= rules->comments_bytes &&
             memcmp(text, rules->comments, rules->comments_bytes) == 0);
}
