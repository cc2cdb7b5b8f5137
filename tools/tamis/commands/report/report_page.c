/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_page.c: the page of `tamis report`.
 *
 *     head         style; a policy by which a browser fetches nothing, whatever is in the page
 *     attention    what is wrong, and what to do about it
 *     catalog      a row a filter
 *     sections     one a filter: figures, charts, all fields, and the same as JSON
 *     script       finding, sorting; without it the page is whole all the same
 *
 * Figures stand in <data value="..."> with what `info --json` prints, beside the form for people.
 */
#include "command.h"
#include "findings.h"
#include "report.h"

/* With more filters than this all sections are closed at first, so that a long page stays fast. */
#define OPEN_AT_MOST 12

/* ---- Pieces ------------------------------------------------------------------------------- */

/* The form of a field for people. */
enum form { AS_TEXT, AS_COUNT, AS_RATE, AS_SHARE, AS_SIZE };

static const char *shown_as(char text[REPORT_TEXT], const struct report_filter *filter,
                            const char *field, enum form form)
{
    const char *string = json_string_value(json_object_get(filter->info, field));
    const double number = report_number(filter, field);
    if (strcmp(field, "generation") == 0 && !view_was_published(&filter->view)) return "-";
    if (form == AS_TEXT) return string != NULL ? string : "never";
    if (form == AS_COUNT) return report_count(text, (uint64_t)number);
    if (form == AS_RATE) return report_rate(text, number);
    if (form == AS_SHARE) return report_share(text, number);
    text_size(text, REPORT_TEXT, number);
    return text;
}

/* Writes a field of the info: its value for programs, and its form for people. */
static void datum(struct page *page, const struct report_filter *filter, const char *field,
                  enum form form)
{
    char text[REPORT_TEXT];
    page_format(page, "<data data-field=\"%s\" value=\"", field);
    page_json_attribute(page, json_object_get(filter->info, field));
    page_text(page, "\">");
    page_escaped(page, shown_as(text, filter, field, form));
    page_text(page, "</data>");
}

static void put_name(struct page *page, const struct report_filter *filter)
{
    page_text(page, "<bdi>");
    page_escaped(page, filter->name);
    page_text(page, "</bdi>");
}

static void badge(struct page *page, const struct report_filter *filter)
{
    char text[STATE_BYTES];
    const uint32_t states = filter->error != NULL ? TAMIS_STATE_DAMAGED : filter->view.stat.state;
    const char *class = states & (TAMIS_STATE_DAMAGED | TAMIS_STATE_UNCLEAN | TAMIS_STATE_DEGRADED)
                            ? "bad"
                        : states ? "full"
                                 : "ok";
    page_format(page, "<span class=\"badge %s\">%s</span>", class, state_name(states, text));
}

static double share_of_capacity(const struct report_filter *filter)
{
    const double capacity = (double)filter->view.stat.capacity;
    return capacity > 0 ? (double)filter->view.stat.items / capacity : 0;
}

/* ---- What needs attention ----------------------------------------------------------------- */

struct attention {
    struct page *page;
    const struct report_filter *filter;
    size_t index;
    size_t count;
};

static void attention_item(void *context, const struct finding *finding)
{
    struct attention *attention = context;
    struct page *page = attention->page;
    char text[REPORT_TEXT];
    if (attention->count++ == 0)
        page_text(page, "<section class=\"panel\" id=\"attention\" aria-labelledby=\"wrong\">"
                        "<h2 id=\"wrong\">Needs attention</h2><ul>\n");
    page_format(page, "<li><span class=\"badge %s\">%s</span> <a href=\"#f%zu\">",
                strcmp(finding->state, "full") == 0 || strcmp(finding->state, "over") == 0 ? "full"
                                                                                           : "bad",
                finding->state, attention->index);
    put_name(page, attention->filter);
    page_text(page, "</a>: ");
    page_escaped(page, finding->what);
    if (strcmp(finding->state, "over") == 0)
        page_format(page, " (by the number of items; the set bits say %s)",
                    report_rate(text, report_number(attention->filter, "fp_rate_now")));
    page_text(page, "<p class=\"advice\">");
    page_escaped(page, finding->advice);
    page_text(page, "</p>");
    if (finding->command != NULL) {
        page_text(page, "<code>");
        page_escaped(page, finding->command);
        page_text(page, "</code>");
    }
    page_text(page, "</li>\n");
}

static void attend_to(struct attention *attention)
{
    const struct report_filter *filter = attention->filter;
    if (filter->error != NULL || filter->view.stat.state & TAMIS_STATE_DAMAGED) {
        char *command = finding_command("tamis doctor NAME", filter->name);
        const struct finding damage = {
            .state = "damaged",
            .what = filter->error != NULL ? filter->error
                                          : "a check found wrong bytes, so keys may be missing",
            .advice = "ask where it is, and what can be done:",
            .command = command};
        attention_item(attention, &damage);
        free(command);
    }
    if (filter->error != NULL) return;
    const struct tamis_filter_stat *stat = &filter->view.stat;
    findings_of_stat(stat, attention_item, attention);
    findings_of_newest_slice(stat, filter->view.segments[stat->segment_count - 1].slice_start,
                             attention_item, attention);
}

/* The page begins with the filters that need something to be done. */
static void needs_attention(struct page *page, const struct report *report)
{
    struct attention attention = {.page = page};
    for (size_t i = 0; i < report->count; i++) {
        attention.filter = &report->filters[i];
        attention.index = i;
        attend_to(&attention);
    }
    if (attention.count > 0)
        page_text(page, "</ul></section>\n");
    else if (report->count > 0)
        page_text(page, "<p class=\"calm\">Nothing needs attention: no filter is full, over its "
                        "rate, unclean, degraded or damaged.</p>\n");
}

/* ---- Catalog ------------------------------------------------------------------------------ */

/* The columns after the name and the state. */
static const struct column {
    const char *heading, *field;
    enum form form;
    bool has_bar;      /* behind it */
    const char *class; /* "more" is left out on a phone, "most" on a small screen too */
} columns[] = {
    {"items", "items", AS_COUNT, false, ""},
    {"capacity", "capacity", AS_COUNT, true, "more"},
    {"rate now", "fp_rate_now", AS_RATE, false, ""},
    {"asked for", "fp_rate", AS_RATE, false, "more"},
    {"fill", "fill", AS_SHARE, false, "more"},
    {"size", "size_bytes", AS_SIZE, false, "more"},
    {"kind", "kind", AS_TEXT, false, "more most"},
    {"generation", "generation", AS_COUNT, false, "more most"},
};
#define COLUMNS (sizeof columns / sizeof *columns)

static void open_cell(struct page *page, const char *tag, const struct column *column)
{
    page_format(page, "<%s class=\"%s %s\">", tag, column->form == AS_TEXT ? "" : "n",
                column->class);
}

static void catalog_row(struct page *page, const struct report_filter *filter, size_t index)
{
    page_format(page, "<tr><th scope=\"row\" class=\"name\"><a href=\"#f%zu\">", index);
    put_name(page, filter);
    page_text(page, "</a></th><td>");
    badge(page, filter);
    page_text(page, "</td>");
    for (size_t i = 0; i < COLUMNS && filter->error == NULL; i++) {
        open_cell(page, "td", &columns[i]);
        datum(page, filter, columns[i].field, columns[i].form);
        page_text(page, "</td>");
        if (columns[i].has_bar) report_bar(page, share_of_capacity(filter), 1);
    }
    page_text(page, "</tr>\n");
}

static void catalog(struct page *page, const struct report *report)
{
    page_text(page, "<section class=\"panel\" aria-labelledby=\"all\"><h2 id=\"all\">Catalog</h2>");
    if (report->count > OPEN_AT_MOST)
        page_text(page, "<input id=\"find\" type=\"search\" placeholder=\"find a name\" "
                        "aria-label=\"find a name\"><output id=\"found\"></output>");
    page_text(page, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-labelledby=\"all\">"
                    "<table id=\"catalog\"><thead><tr><th scope=\"col\">name</th>"
                    "<th scope=\"col\">state</th>");
    for (size_t i = 0; i < COLUMNS; i++) {
        open_cell(page, "th scope=\"col\"", &columns[i]);
        page_format(page, "%s</th>", columns[i].heading);
        if (columns[i].has_bar) page_text(page, "<td class=\"track\"></td>");
    }
    page_text(page, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < report->count; i++)
        catalog_row(page, &report->filters[i], i);
    page_text(
        page,
        "</tbody></table></div><p class=\"note\"><b>Rate now</b> is counted from the set "
        "bits, as <code>tamis info</code> has it. The rate that <code>tamis list</code> "
        "prints follows from the number of items; each filter below has both.</p></section>\n");
}

/* ---- Sections ----------------------------------------------------------------------------- */

static void tile(struct page *page, const char *label)
{
    page_format(page, "<div class=\"tile\"><span>%s</span><strong>", label);
}

static void tile_end(struct page *page, const char *note)
{
    page_format(page, "</strong><small>%s</small></div>", note);
}

static void tiles(struct page *page, const struct report_filter *filter)
{
    const struct tamis_filter_stat *stat = &filter->view.stat;
    char text[REPORT_TEXT], by_items[REPORT_TEXT], note[4 * REPORT_TEXT];
    page_text(page, "<div class=\"tiles\">");
    tile(page, "items");
    datum(page, filter, "items", AS_COUNT);
    (void)snprintf(note, sizeof note, "%s of capacity",
                   report_share(text, share_of_capacity(filter)));
    tile_end(page, note);
    tile(page, "rate now");
    datum(page, filter, "fp_rate_now", AS_RATE);
    (void)snprintf(note, sizeof note,
                   "%s asked for; <span data-by-items=\"%.15g\">%s</span> by the items",
                   report_rate(text, stat->fp_rate), stat->predicted_rate,
                   report_rate(by_items, stat->predicted_rate));
    tile_end(page, note);
    tile(page, "fill");
    datum(page, filter, "fill", AS_SHARE);
    tile_end(page, stat->counter_bits       ? "of the counters above 0"
                   : stat->fingerprint_bits ? "of the fingerprints not 0"
                                            : "of the bits set");
    tile(page, "size");
    datum(page, filter, "size_bytes", AS_SIZE);
    (void)snprintf(note, sizeof note, "%.3g bits a key", report_number(filter, "bits_per_key"));
    tile_end(page, note);
    tile(page, "generation");
    datum(page, filter, "generation", AS_COUNT);
    (void)snprintf(note, sizeof note, "%zu kept beside it", filter->generation_count - 1);
    tile_end(page, filter->generation_count > 1        ? note
                   : view_was_published(&filter->view) ? "no other is kept"
                                                       : "never built anew");
    tile(page, "exceptions");
    page_text(page, report_count(text, stat->exceptions));
    tile_end(page, "keys answer absent");
    page_text(page, "</div>\n");
}

/* Writes every field of the info but the segments. */
static void all_fields(struct page *page, const struct report_filter *filter)
{
    const char *field;
    json_t *value;
    page_text(page, "<details class=\"fields\"><summary>All figures</summary><dl>");
    json_object_foreach(filter->info, field, value)
    {
        if (json_is_array(value)) continue;
        page_format(page, "<div><dt>%s</dt><dd>", field);
        if (json_is_string(value) || json_is_null(value)) {
            datum(page, filter, field, AS_TEXT);
        } else {
            page_format(page, "<data data-field=\"%s\" value=\"", field);
            page_json_attribute(page, value);
            page_text(page, "\">");
            page_json_attribute(page, value);
            page_text(page, "</data>");
        }
        page_text(page, "</dd></div>");
    }
    page_text(page, "</dl></details>\n");
}

static json_t *generations_json(const struct report_filter *filter)
{
    json_t *array = json_array();
    for (size_t i = 0; i < filter->generation_count; i++)
        json_append(array, generation_json(&filter->generations[i], 0));
    return array;
}

static void as_json(struct page *page, const struct report_filter *filter)
{
    json_t *generations = generations_json(filter);
    page_text(page, "<script type=\"application/json\">{\"info\":");
    page_json(page, filter->info);
    page_text(page, ",\"generations\":");
    page_json(page, generations);
    page_text(page, "}</script>");
    json_decref(generations);
}

static void section(struct page *page, const struct report *report, size_t index)
{
    const struct report_filter *filter = &report->filters[index];
    const bool open =
        report->count <= OPEN_AT_MOST || filter->error != NULL || filter->view.stat.state;
    page_format(page, "<details class=\"panel filter\" id=\"f%zu\"%s><summary><h2>", index,
                open ? " open" : "");
    put_name(page, filter);
    page_text(page, "</h2>");
    badge(page, filter);
    page_text(page, "</summary>\n");
    if (filter->error != NULL) {
        page_text(page, "<p class=\"trouble\">");
        page_escaped(page, filter->error);
        page_text(page, "</p></details>\n");
        return;
    }
    const char *note = json_string_value(json_object_get(filter->info, "note"));
    if (note != NULL && *note) { /* a warning's color only where the badge has one */
        page_format(page, "<p class=\"%s\">", filter->view.stat.state ? "trouble" : "note");
        page_escaped(page, note);
        page_text(page, "</p>\n");
    }
    tiles(page, filter);
    page_text(page, "<div class=\"charts\">\n");
    chart_rate(page, filter);
    chart_window(page, filter, report->made_at);
    chart_heat(page, filter);
    chart_segments(page, filter);
    chart_generations(page, filter);
    page_text(page, "</div>\n");
    all_fields(page, filter);
    as_json(page, filter);
    page_text(page, "</details>\n");
}

/* ---- The page ----------------------------------------------------------------------------- */

static void head(struct page *page, const struct report *report)
{
    char time[64], size[REPORT_TEXT], count[REPORT_TEXT], items[REPORT_TEXT];
    uint64_t all_bytes = 0, all_items = 0;
    for (size_t i = 0; i < report->count; i++) {
        all_bytes += report->filters[i].view.stat.size_bytes;
        all_items += report->filters[i].view.stat.items;
    }
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
    text_size(size, sizeof size, (double)all_bytes);
    page_format(
        page,
        "</bdi></p><p class=\"note\">%s %s, %s item%s, %s &#183; made at <time>%s</time> by "
        "Tamis %s</p></header>\n<main>\n",
        report_count(count, report->count), report->count == 1 ? "filter" : "filters",
        report_count(items, all_items), text_plural(all_items), size, time, tamis_version());
}

void report_write(struct page *page, const struct report *report)
{
    head(page, report);
    needs_attention(page, report);
    catalog(page, report);
    for (size_t i = 0; i < report->count; i++)
        section(page, report, i);
    page_text(page, "</main><script>\n");
    page_text(page, REPORT_SCRIPT);
    page_text(page, "</script></body></html>\n");
}
