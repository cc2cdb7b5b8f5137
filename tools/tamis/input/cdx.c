/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cdx.c: the URL of a line of an index of web archives, CDX or CDXJ.
 *
 *     com,example)/ 20240101000000 https://example.com/ text/html 200 ...
 *     com,example)/ 20240101000000 {"url": "https://example.com/", ...}
 *
 * The first line of a CDX file may say which field is what: " CDX N b a m s k r M S V g", in which
 * `a` is the URL.
 */
#include <string.h>

#include "input/format.h"

#define FIELD_OF_URL 3 /* where no line says so */

static void take_legend(struct taking *taking, const char *text, size_t bytes)
{
    size_t number = 0;
    while (bytes > 0) {
        const size_t word = format_word(text, bytes);
        number++; /* "CDX" is field 1, and stands for none */
        if (number > 1 && word == 1 && text[0] == 'a') taking->field_number = number - 1;
        text += word;
        bytes -= word;
        format_trim(&text, &bytes);
    }
}

static void cdx_take(struct taking *taking, const char *text, size_t bytes)
{
    const size_t number = taking->field_number > 0 ? taking->field_number : FIELD_OF_URL;
    format_trim(&text, &bytes);
    if (bytes == 0) return;
    if (bytes > 4 && memcmp(text, "CDX ", 4) == 0) {
        take_legend(taking, text, bytes);
        return;
    }
    taking->counts.records++;
    for (size_t i = 1; bytes > 0; i++) {
        const size_t word = format_word(text, bytes);
        if (i == FIELD_OF_URL && text[0] == '{') {
            const uint64_t before = taking->counts.keys;
            if (!format_give_json(taking, "url", text, bytes))
                taking->counts.foreign++;
            else if (taking->counts.keys == before)
                taking->counts.lacking++;
            return;
        }
        if (i == number) {
            taking_give(taking, text, word);
            return;
        }
        text += word;
        bytes -= word;
        format_trim(&text, &bytes);
    }
    taking->counts.foreign++;
}

const struct format format_cdx = {
    .name = "cdx", .what = "an index of web archives", .take = cdx_take};
