/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_page.c: the page of `tamis report`.
 *
 *     head         style; a policy by which a browser fetches nothing, whatever is in the page
 *     catalog      a row a filter
 *     sections     one a filter: figures, charts, all fields, and the same as JSON
 *     script       finding, sorting; without it the page is whole all the same
 *
 * Figures stand in <data value="..."> with what `info --json` prints, beside the form for people.
 */
#include "command.h"
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
    if (form == AS_TEXT) return string ? string : "never";
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

static void name_of(struct page *page, const struct report_filter *filter)
{
    page_text(page, "<bdi>");
    page_escaped(page, filter->name);
    page_text(page, "</bdi>");
}

static void badge(struct page *page, const struct report_filter *filter)
{
    char text[STATE_BYTES];
    const char *state = filter->error ? "damaged" : state_name(filter->view.stat.state, text);
    page_format(page, "<span class=\"badge %s\">%s</span>", state, state);
}

static double share_of_capacity(const struct report_filter *filter)
{
    const double capacity = (double)filter->view.stat.capacity;
    return capacity > 0 ? (double)filter->view.stat.items / capacity : 0;
}

/* ---- Catalog ------------------------------------------------------------------------------ */

static void catalog_row(struct page *page, const struct report_filter *filter, size_t index)
{
    static const struct {
        const char *field;
        enum form form;
        bool has_bar; /* behind it */
    } columns[] = {
        {"kind", AS_TEXT, false},       {"items", AS_COUNT, false},
        {"capacity", AS_COUNT, true},   {"fp_rate_now", AS_RATE, false},
        {"fp_rate", AS_RATE, false},    {"fill", AS_SHARE, false},
        {"size_bytes", AS_SIZE, false}, {"generation", AS_COUNT, false},
    };
    page_format(page, "<tr><td class=\"name\"><a href=\"#f%zu\">", index);
    name_of(page, filter);
    page_text(page, "</a></td>");
    if (filter->error) {
        page_text(page, "<td colspan=\"9\"></td><td>");
        badge(page, filter);
        page_text(page, "</td></tr>\n");
        return;
    }
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        page_text(page, columns[i].form == AS_TEXT ? "<td>" : "<td class=\"n\">");
        datum(page, filter, columns[i].field, columns[i].form);
        page_text(page, "</td>");
        if (columns[i].has_bar) report_bar(page, share_of_capacity(filter), 1);
    }
    page_text(page, "<td>");
    badge(page, filter);
    page_text(page, "</td></tr>\n");
}

static void catalog(struct page *page, const struct report *report)
{
    page_text(page, "<section class=\"panel\"><h2>Catalog</h2>");
    if (report->count > OPEN_AT_MOST)
        page_text(page, "<input id=\"find\" type=\"search\" placeholder=\"find a name\" "
                        "aria-label=\"find a name\">");
    page_text(page,
              "<div class=\"wide\"><table id=\"catalog\"><thead><tr><th>name<th>kind"
              "<th class=\"n\">items<th class=\"n\">capacity<th class=\"still\">"
              "<th class=\"n\">rate now<th class=\"n\">asked for<th class=\"n\">fill"
              "<th class=\"n\">size<th class=\"n\">generation<th>state</tr></thead><tbody>\n");
    for (size_t i = 0; i < report->count; i++)
        catalog_row(page, &report->filters[i], i);
    page_text(page, "</tbody></table></div></section>\n");
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
    char text[REPORT_TEXT], note[2 * REPORT_TEXT];
    page_text(page, "<div class=\"tiles\">");
    tile(page, "items");
    datum(page, filter, "items", AS_COUNT);
    snprintf(note, sizeof note, "%s of capacity", report_share(text, share_of_capacity(filter)));
    tile_end(page, note);
    tile(page, "rate now");
    datum(page, filter, "fp_rate_now", AS_RATE);
    snprintf(note, sizeof note, "%s asked for", report_rate(text, stat->fp_rate));
    tile_end(page, note);
    tile(page, "fill");
    datum(page, filter, "fill", AS_SHARE);
    tile_end(page, stat->counter_bits       ? "of the counters above 0"
                   : stat->fingerprint_bits ? "of the fingerprints not 0"
                                            : "of the bits set");
    tile(page, "size");
    datum(page, filter, "size_bytes", AS_SIZE);
    snprintf(note, sizeof note, "%.3g bits a key", report_number(filter, "bits_per_key"));
    tile_end(page, note);
    tile(page, "generation");
    datum(page, filter, "generation", AS_COUNT);
    snprintf(note, sizeof note, "%zu kept beside it", filter->generation_count - 1);
    tile_end(page, filter->generation_count > 1 ? note : "no other is kept");
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

static void section(struct page *page, const struct report_filter *filter, size_t index, bool open)
{
    page_format(page, "<details class=\"panel filter\" id=\"f%zu\"%s><summary><h2>", index,
                open ? " open" : "");
    name_of(page, filter);
    page_text(page, "</h2>");
    badge(page, filter);
    page_text(page, "</summary>\n");
    if (filter->error) {
        page_text(page, "<p class=\"trouble\">");
        page_escaped(page, filter->error);
        page_text(page, "</p></details>\n");
        return;
    }
    const char *note = json_string_value(json_object_get(filter->info, "note"));
    if (note && *note) {
        page_text(page, "<p class=\"trouble\">");
        page_escaped(page, note);
        page_text(page, "</p>\n");
    }
    tiles(page, filter);
    page_text(page, "<div class=\"charts\">\n");
    chart_rate(page, filter);
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
    catalog(page, report);
    for (size_t i = 0; i < report->count; i++)
        section(page, &report->filters[i], i, report->count <= OPEN_AT_MOST);
    page_text(page, "</main><script>\n");
    page_text(page, REPORT_SCRIPT);
    page_text(page, "</script></body></html>\n");
}
