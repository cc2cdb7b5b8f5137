/* SPDX-License-Identifier: BSD-2-Clause */
/* report_text.c: numbers as people read them, and a bar, for the page and its charts. */
#include <inttypes.h>
#include <stdio.h>

#include "report.h"

const char *report_count(char *text, uint64_t count)
{
    char digits[24];
    char *to = text;
    const int length = snprintf(digits, sizeof digits, "%ju", (uintmax_t)count);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *report_short(char *text, double count)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    size_t unit = 0;
    while (count >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        count /= 1000;
        unit++;
    }
    snprintf(text, REPORT_TEXT, "%.3g%s", count, units[unit]);
    return text;
}

const char *report_rate(char *text, double rate)
{
    if (rate == 0)
        snprintf(text, REPORT_TEXT, "0");
    else
        snprintf(text, REPORT_TEXT, rate >= 1e-5 ? "%.3g %%" : "%.2g",
                 rate >= 1e-5 ? 100 * rate : rate);
    return text;
}

const char *report_share(char *text, double share)
{
    snprintf(text, REPORT_TEXT, "%.1f %%", 100 * share);
    return text;
}

double report_number(const struct report_filter *filter, const char *field)
{
    return json_number_value(json_object_get(filter->info, field));
}
