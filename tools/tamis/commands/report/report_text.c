/* SPDX-License-Identifier: BSD-2-Clause */
/* report_text.c: numbers as people read them, and a bar, for the page and its charts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "text.h"

const char *report_count(char *text, uint64_t count)
{
    text_count(text, count);
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
    (void)snprintf(text, REPORT_TEXT, "%.3g%s", count, units[unit]);
    return text;
}

/* Three digits: 1.17e-6, 1e-6. */
static void small_rate(char *text, double rate)
{
    char digits[16]; /* "1.17e-06" */
    (void)snprintf(digits, sizeof digits, "%.2e", rate);
    char *exponent = strchr(digits, 'e');
    char *end = exponent;
    while (end[-1] == '0')
        end--;
    if (end[-1] == '.') end--;
    const int power = atoi(exponent + 1);
    *end = '\0';
    (void)snprintf(text, REPORT_TEXT, "%se%d", digits, power);
}

const char *report_rate(char *text, double rate)
{
    if (rate > 0 && rate < 1e-4)
        small_rate(text, rate);
    else if (rate == 0)
        (void)snprintf(text, REPORT_TEXT, "0");
    else
        (void)snprintf(text, REPORT_TEXT, "%.3g\u00a0%%", 100 * rate);
    return text;
}

const char *report_share(char *text, double share)
{
    (void)snprintf(text, REPORT_TEXT, "%.1f\u00a0%%", 100 * share);
    return text;
}

double report_number(const struct report_filter *filter, const char *field)
{
    return json_number_value(json_object_get(filter->info, field));
}
