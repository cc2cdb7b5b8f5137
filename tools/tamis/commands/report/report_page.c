/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_page.c: the page of `tamis report`.
 *
 *     head     style; a policy by which a browser fetches nothing, whatever is in the page
 *     main     a plain table, for a reader whose browser runs no script
 *     data     a JSON element for each filter: what `info`, `generations` and `doctor` print with
 *              --json, and what only the library can compute: the rate by items, the fill by parts
 *     script   page.js, which draws the page from that data in the place of the plain table
 */
#include <math.h>
#include <stdlib.h>

#include "findings.h"
#include "json.h"
#include "report.h"
#include "text.h"

/* ---- Head, and the plain table ------------------------------------------------------------- */

static void page_head(struct page *page, const struct report *report)
{
    char time[64];
    page_text(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n"
                    "<link rel=\"icon\" href=\"data:,\"><title>tamis report: ");
    page_escaped(page, report->count == 1 ? report->filters[0].name : report->store);
    page_text(page, "</title><style>\n");
    page_text(page, REPORT_STYLE);
    page_text(page, "</style></head><body><header><h1>tamis report</h1><p><bdi>");
    page_escaped(page, report->store);
    text_time(time, sizeof time, report->made_at);
    page_format(page,
                "</bdi></p><p class=\"note\"><span id=\"sums\"></span>made at <time>%s</time> by "
                "Tamis %s</p></header>\n",
                time, tamis_version());
}

static void plain_row(struct page *page, const struct report_filter *filter)
{
    const struct tamis_filter_stat *stat = &filter->view.stat;
    char state[STATE_BYTES], items[TEXT_COUNT_BYTES];
    page_text(page, "<tr><th scope=\"row\" class=\"name\"><bdi>");
    page_escaped(page, filter->name);
    page_text(page, "</bdi></th>");
    if (filter->error != NULL) {
        page_text(page, "<td>damaged</td></tr>\n");
        return;
    }
    text_count(items, stat->items);
    page_format(page, "<td>%s</td><td class=\"n\">%s</td><td class=\"n\">%.3g %%</td></tr>\n",
                state_name(stat->state, state), items,
                100 * json_number_value(json_object_get(filter->info, "fp_rate_now")));
}

/* What the page says of the filters that it does not show, with a script and without. */
static void rest_sentence(struct page *page, const struct report_rest *rest)
{
    char filters[TEXT_COUNT_BYTES], not_ok[TEXT_COUNT_BYTES], items[TEXT_COUNT_BYTES], size[32];
    if (rest->filters == 0) return;
    text_count(filters, rest->filters);
    text_count(not_ok, rest->not_ok);
    text_count(items, rest->items);
    text_size(size, sizeof size, (double)rest->size_bytes);
    page_format(
        page,
        "<p class=\"note\" id=\"rest\" data-filters=\"%ju\" data-items=\"%ju\" "
        "data-size=\"%ju\">%s more "
        "filter%s of the store, with %s item%s in %s, %s not shown one by one%s%s. The page "
        "has the filters that need attention, then the largest. <code>tamis list</code> "
        "prints them all, and <code>tamis report NAME</code> shows one.</p>",
        (uintmax_t)rest->filters, (uintmax_t)rest->items, (uintmax_t)rest->size_bytes, filters,
        text_plural(rest->filters), items, text_plural(rest->items), size,
        rest->filters == 1 ? "is" : "are", rest->not_ok > 0 ? "; not ok: " : "",
        rest->not_ok > 0 ? not_ok : "");
}

static void plain_table(struct page *page, const struct report *report)
{
    page_text(
        page,
        "<main><section class=\"panel\"><p>This page is drawn by its script, which has not run "
        "here.  These are the main figures; <code>tamis info NAME</code> and <code>tamis "
        "doctor</code> print the rest.</p><table><thead><tr><th scope=\"col\">name</th>"
        "<th scope=\"col\">state</th><th scope=\"col\" class=\"n\">items</th>"
        "<th scope=\"col\" class=\"n\">rate now</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < report->count; i++)
        plain_row(page, &report->filters[i]);
    page_text(page, "</tbody></table>");
    rest_sentence(page, &report->rest);
    page_text(page, "</section></main>\n");
}

/* ---- What needs attention ------------------------------------------------------------------ */

static void add_finding(void *findings, const struct finding *finding)
{
    json_append(findings, finding_json(finding));
}

/* What `doctor` finds; damage as far as opening and reading the filter tells of it. */
static json_t *findings_json(const struct report_filter *filter)
{
    const struct tamis_filter_stat *stat = &filter->view.stat;
    json_t *findings = json_array();
    if (filter->error != NULL || stat->state & TAMIS_STATE_DAMAGED) {
        char *command = finding_command("tamis doctor NAME", filter->name);
        const struct finding damage = {
            .filter = filter->name,
            .state = "damaged",
            .what = filter->error != NULL ? filter->error
                                          : "a check found wrong bytes, so keys may be missing",
            .advice = "ask where it is, and what can be done:",
            .command = command};
        add_finding(findings, &damage);
        free(command);
    }
    if (filter->error != NULL) return findings;
    findings_of_stat(stat, add_finding, findings);
    findings_of_newest_slice(stat, filter->view.segments[stat->segment_count - 1].slice_start,
                             add_finding, findings);
    findings_of_pages(stat, &filter->view.mapped, add_finding, findings);
    return findings;
}

/* ---- The rate by the number of items ------------------------------------------------------- */

#define RATE_POINTS 90 /* up to the capacity, and as many beyond */

/* The rate of the newest segment by the formulas, that of those before it as it is.  Of a static
 * kind the formulas say nothing: it has no points. */
struct rate_curve {
    const struct tamis_segment_stat *newest;
    double others;     /* items of those before it */
    double log_others; /* log(1 - their rate) */
    double capacity, end;
};

static double rate_at(const struct rate_curve *curve, double items)
{
    const struct tamis_segment_stat *s = curve->newest;
    const double own = items > curve->others ? items - curve->others : 0;
    const double rate = tamis_predict_rate(s->kind, s->m_bits, s->k, (uint64_t)own);
    return fabs(expm1(curve->log_others + log1p(-rate))); /* not -0 */
}

static struct rate_curve curve_of(const struct filter_view *view)
{
    const uint32_t older = view->stat.segment_count - 1;
    struct rate_curve curve = {.newest = &view->segments[older]};
    for (uint32_t i = 0; i < older; i++) {
        if (view->segments[i].flags & TAMIS_SEGMENT_PAST) continue; /* the window has left it */
        curve.others += (double)view->segments[i].items;
        curve.log_others += log1p(-view->segments[i].fp_rate_now);
    }
    const double capacity = (double)curve.newest->capacity, items = (double)curve.newest->items;
    curve.capacity = curve.others + capacity;
    curve.end = curve.others + fmax(1.5 * capacity, 1.1 * items);
    return curve;
}

static double items_of_point(const struct rate_curve *curve, int point)
{
    const double share = (double)point / RATE_POINTS;
    return share <= 1 ? curve->others + (curve->capacity - curve->others) * share
                      : curve->capacity + (curve->end - curve->capacity) * (share - 1);
}

static void rate_data(struct page *page, const struct filter_view *view)
{
    const struct rate_curve curve = curve_of(view);
    page_format(page, ",\"rate\":{\"from\":%.15g,\"capacity\":%.15g,\"end\":%.15g,\"by_items\":",
                curve.others, curve.capacity, curve.end);
    page_json_number(page, view->stat.predicted_rate, 15);
    page_text(page, ",\"points\":[");
    const bool is_static = isnan(rate_at(&curve, curve.others));
    for (int i = 0; i <= 2 * RATE_POINTS && !is_static; i++) {
        if (i > 0) page_text(page, ",");
        page_json_number(page, rate_at(&curve, items_of_point(&curve, i)), 5);
    }
    page_text(page, "]}");
}

/* ---- Data ---------------------------------------------------------------------------------- */

/* The fill of each segment's parts, row by row of its map. */
static void fill_data(struct page *page, const struct report_filter *filter)
{
    const size_t parts = filter->rows * filter->columns;
    page_format(page, ",\"columns\":%zu,\"fill\":[", filter->columns);
    for (size_t i = 0; i < filter->view.stat.segment_count * parts; i++) {
        page_text(page, i % parts > 0 ? "," : i > 0 ? "],[" : "[");
        page_json_number(page, filter->fill[i], 4);
    }
    page_text(page, "]]");
}

/* Writes a member of an object, and releases the value. */
static void put_member(struct page *page, const char *name, json_t *value)
{
    page_format(page, "\"%s\":", name);
    page_json(page, value);
    json_decref(value);
}

static json_t *generations_json(const struct report_filter *filter)
{
    json_t *array = json_array();
    for (size_t i = 0; i < filter->generation_count; i++)
        json_append(array, generation_json(&filter->generations[i], 0));
    return array;
}

static void filter_data(struct page *page, const struct report_filter *filter)
{
    page_text(page, "<script type=\"application/json\">{");
    if (filter->error != NULL) {
        put_member(page, "name", json_text(filter->name));
        page_text(page, ",");
        put_member(page, "error", json_text(filter->error));
    } else {
        put_member(page, "info", json_incref(filter->info));
        page_text(page, ",");
        put_member(page, "generations", generations_json(filter));
    }
    page_text(page, ",");
    put_member(page, "findings", findings_json(filter));
    if (filter->error == NULL) {
        page_format(page, ",\"published\":%s",
                    view_was_published(&filter->view) ? "true" : "false");
        rate_data(page, &filter->view);
        fill_data(page, filter);
    }
    page_text(page, "}</script>\n");
}

void report_write(struct page *page, const struct report *report)
{
    page_head(page, report);
    plain_table(page, report);
    for (size_t i = 0; i < report->count; i++)
        filter_data(page, &report->filters[i]);
    page_text(page, "<script>\n");
    page_text(page, REPORT_SCRIPT);
    page_text(page, "</script></body></html>\n");
}
