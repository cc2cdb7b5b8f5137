/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * domains.c: a name of a host on each line, perhaps with "*." or a dot before it and a comment
 * behind it (#, or // as in the public suffix list).
 */
#include <string.h>

#include "input/format.h"

static bool is_comment(const char *text, size_t bytes)
{
    return text[0] == '#' || text[0] == ';' || (bytes >= 2 && text[0] == '/' && text[1] == '/');
}

static void domains_take(struct taking *taking, const char *text, size_t bytes)
{
    size_t dots;
    format_trim(&text, &bytes);
    if (bytes == 0 || is_comment(text, bytes)) return;
    taking->counts.records++;
    const size_t word = format_word(text, bytes);
    const char *rest = text + word;
    size_t rest_bytes = bytes - word;
    format_trim(&rest, &rest_bytes);
    size_t from = word >= 2 && text[0] == '*' && text[1] == '.' ? 2 : 0;
    if (from == 0 && word > 1 && text[0] == '.') from = 1;
    if ((rest_bytes > 0 && !is_comment(rest, rest_bytes)) ||
        !format_is_name(text + from, word - from, &dots))
        taking->counts.foreign++;
    else
        taking_give(taking, text + from, word - from);
}

const struct format format_domains = {
    .name = "domains", .what = "a list of names", .has_names = true, .take = domains_take};
