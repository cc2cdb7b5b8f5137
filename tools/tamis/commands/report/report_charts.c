/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_charts.c: the four figures of a filter's section.
 *
 * Lines and dots are SVG, bars are tables: text wraps and aligns there.  Colours are classes, so
 * that the page's style has a light and a dark form of them.
 */
#include <math.h>

#include "report.h"
#include "text.h"

/* ---- Heat map ----------------------------------------------------------------------------- */

#define HEAT_LEVELS 40

static double clamped(double share)
{
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* The cells of one level make one path, so that a map takes only a few kilobytes. */
static void heat_cells(struct page *page, const double *fill, size_t columns, size_t parts)
{
    for (int level = 0; level <= HEAT_LEVELS; level++) {
        bool begun = false;
        for (size_t i = 0; i < parts; i++) {
            if ((int)lround(clamped(fill[i]) * HEAT_LEVELS) != level) continue;
            if (!begun)
                page_format(page, "<path fill-opacity=\"%.3g\" d=\"", (double)level / HEAT_LEVELS);
            begun = true;
            page_format(page, "M%zu %zuh.9v.9h-.9z", i % columns, i / columns);
        }
        if (begun) page_text(page, "\"/>");
    }
}

static bool is_empty(const double *fill, size_t parts)
{
    for (size_t i = 0; i < parts; i++)
        if (fill[i] > 0) return false;
    return true;
}

static void heat_segment(struct page *page, const struct report_filter *filter, uint32_t index)
{
    const size_t parts = filter->rows * filter->columns;
    const double *fill = filter->fill + index * parts;
    char text[REPORT_TEXT];
    const uintmax_t number = filter->view.segments[index].number;
    const size_t rows = is_empty(fill, parts) ? 1 : filter->rows; /* no grey block */
    page_format(page,
                "<div class=\"strip\"><span>%ju</span><svg class=\"heat\" viewBox=\"0 0 %zu %zu\" "
                "role=\"img\" aria-label=\"fill of segment %ju: %s\" data-fill=\"",
                number, filter->columns, rows, number,
                report_share(text, filter->view.segments[index].fill));
    for (size_t i = 0; i < parts; i++)
        page_format(page, "%s%.4g", i > 0 ? " " : "", fill[i]);
    page_format(page, "\"><rect width=\"%zu\" height=\"%zu\"/>", filter->columns, rows);
    heat_cells(page, fill, filter->columns, parts);
    page_text(page, "</svg></div>");
}

void chart_heat(struct page *page, const struct report_filter *filter)
{
    const uint32_t segments = filter->view.stat.segment_count;
    const size_t parts = segments * filter->rows * filter->columns;
    char text[REPORT_TEXT], most[REPORT_TEXT], size[REPORT_TEXT];
    double least = 1, greatest = 0, data_bytes = 0;
    for (size_t i = 0; i < parts; i++) {
        least = fmin(least, filter->fill[i]);
        greatest = fmax(greatest, filter->fill[i]);
    }
    page_text(page, "<figure><figcaption>Fill over the file");
    page_text(page,
              "<span class=\"scale\">0 <i></i> 100 %</span></figcaption><div class=\"strips\" "
              "tabindex=\"0\" role=\"group\" aria-label=\"fill of the segments\">");
    for (uint32_t i = 0; i < segments; i++)
        heat_segment(page, filter, i);
    for (uint32_t i = 0; i < segments; i++)
        data_bytes += (double)filter->view.segments[i].data_bytes;
    data_bytes /= (double)parts;
    if (data_bytes >= 1)
        text_size(size, sizeof size, data_bytes);
    else
        (void)snprintf(size, sizeof size, "%.2g bits", 8 * data_bytes);
    page_format(page, "</div><p class=\"note\">%zu parts of about %s: ", parts, size);
    if (greatest > 0)
        page_format(page, "from %s to %s", report_share(text, least), report_share(most, greatest));
    else
        page_text(page, "all are empty");
    page_text(page, " <output></output></p></figure>\n");
}

/* ---- Rate --------------------------------------------------------------------------------- */

#define RATE_POINTS 90
#define LEFT 76.0
#define RIGHT 470.0
#define TOP 12.0
#define BOTTOM 188.0

/* The rate by the number of items: that of the newest segment by the formulas, those before it as
 * they are. */
struct rate_curve {
    const struct tamis_segment_stat *newest;
    double others;       /* items of those before it */
    double log_others;   /* log(1 - their rate) */
    double end, highest; /* of the axes */
};

static double rate_at(const struct rate_curve *curve, double items)
{
    const struct tamis_segment_stat *s = curve->newest;
    const double own = items > curve->others ? items - curve->others : 0;
    const double rate = tamis_predict_rate(s->kind, s->m_bits, s->k, (uint64_t)own);
    return -expm1(curve->log_others + log1p(-rate));
}

static double capacity_of(const struct rate_curve *curve)
{
    return curve->others + (double)curve->newest->capacity;
}

static struct rate_curve curve_of(const struct report_filter *filter)
{
    const struct filter_view *view = &filter->view;
    const uint32_t older = view->stat.segment_count - 1;
    struct rate_curve curve = {.newest = &view->segments[older]};
    for (uint32_t i = 0; i < older; i++) {
        curve.others += (double)view->segments[i].items;
        curve.log_others += log1p(-view->segments[i].fp_rate_now);
    }
    const double own =
        fmax(1.5 * (double)curve.newest->capacity, 1.1 * (double)curve.newest->items);
    curve.end = curve.others + own;
    curve.highest = fmax(rate_at(&curve, curve.end), report_number(filter, "fp_rate_now"));
    curve.highest = fmin(1, 1.06 * fmax(curve.highest, view->stat.fp_rate));
    return curve;
}

static double x_of(const struct rate_curve *curve, double items)
{
    const double span = curve->end - curve->others;
    return LEFT + (RIGHT - LEFT) * (items - curve->others) / span;
}

static double y_of(const struct rate_curve *curve, double rate)
{
    return BOTTOM - (BOTTOM - TOP) * rate / curve->highest;
}

/* The curve between two numbers of items. */
static void rate_path(struct page *page, const struct rate_curve *curve, const char *class,
                      double from, double to)
{
    page_format(page, "<path class=\"%s\" d=\"", class);
    for (int i = 0; i <= RATE_POINTS; i++) {
        const double items = from + (to - from) * i / RATE_POINTS;
        page_format(page, "%c%.1f %.1f", i == 0 ? 'M' : 'L', x_of(curve, items),
                    y_of(curve, rate_at(curve, items)));
    }
    page_text(page, "\"/>");
}

static void y_label(struct page *page, const struct rate_curve *curve, double rate)
{
    char text[REPORT_TEXT];
    page_format(page, "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>", LEFT - 7,
                y_of(curve, rate) + 4, report_rate(text, rate));
}

/* In a window only the newest segment fills, and the capacity is that of the whole window. */
static const char *when_full(const struct tamis_filter_stat *stat)
{
    return stat->slices > 0 ? "segment full" : "capacity";
}

/* Labels of the axes; of two that would meet the less important one is left out. */
static void rate_axes(struct page *page, const struct rate_curve *curve,
                      const struct tamis_filter_stat *stat)
{
    const double full = x_of(curve, capacity_of(curve)), asked_y = y_of(curve, stat->fp_rate);
    char text[REPORT_TEXT];
    page_format(page, "<path class=\"axis\" d=\"M%.0f %.0fH%.0f\"/>", LEFT, BOTTOM, RIGHT);
    page_format(page, "<path class=\"asked\" d=\"M%.0f %.1fH%.0f\"/>", LEFT, asked_y, RIGHT);
    page_format(page, "<path class=\"full\" d=\"M%.1f %.0fV%.0f\"/>", full, TOP, BOTTOM);
    y_label(page, curve, stat->fp_rate);
    if (asked_y < BOTTOM - 22) y_label(page, curve, 0);
    if (asked_y > TOP + 22) y_label(page, curve, curve->highest);
    page_format(page, "<text class=\"mid\" x=\"%.1f\" y=\"%.0f\">%s %s</text>",
                fmin(fmax(full, LEFT + 62), RIGHT - 62), BOTTOM + 19, when_full(stat),
                report_short(text, capacity_of(curve)));
    if (full > LEFT + 122)
        page_format(page, "<text x=\"%.0f\" y=\"%.0f\">%s</text>", LEFT, BOTTOM + 19,
                    report_short(text, curve->others));
    /* "capacity 66.5 k" and "99.3 k items" would overlap, so the word "items" is left out then. */
    const bool is_long = strlen(report_short(text, capacity_of(curve))) > 4 &&
                         strlen(report_short(text, curve->end)) > 4;
    if (full < RIGHT - 122)
        page_format(page, "<text class=\"end\" x=\"%.0f\" y=\"%.0f\">%s%s</text>", RIGHT,
                    BOTTOM + 19, report_short(text, curve->end),
                    is_long ? "" : "<tspan class=\"more\"> items</tspan>");
}

static const char *after_capacity(const struct tamis_filter_stat *stat)
{
    if (stat->on_full == TAMIS_ON_FULL_GROW)
        return "Then the filter goes on in another segment and keeps the rate asked for. The "
               "dashed line is the rate that it would have without that segment.";
    if (stat->on_full == TAMIS_ON_FULL_REFUSE) return "Then it takes no more keys.";
    return "Past that it takes keys at a higher rate than was asked for.";
}

static void rate_legend(struct page *page, const struct report_filter *filter,
                        const struct rate_curve *curve)
{
    char now[REPORT_TEXT], asked[REPORT_TEXT], then[REPORT_TEXT], items[REPORT_TEXT];
    const double at_capacity = rate_at(curve, capacity_of(curve));
    page_format(
        page,
        "<p class=\"note\"><b class=\"key-now\">now</b> %s by the set bits, at %s item%s &#183; "
        "<b class=\"key-asked\">asked for</b> %s &#183; <b class=\"key-full\">%s</b> "
        "%s, predicted.<br>%s</p>",
        report_rate(now, report_number(filter, "fp_rate_now")),
        report_count(items, filter->view.stat.items), text_plural(filter->view.stat.items),
        report_rate(asked, filter->view.stat.fp_rate),
        filter->view.stat.slices > 0 ? "with its newest segment full" : "at capacity",
        report_rate(then, at_capacity), after_capacity(&filter->view.stat));
}

void chart_rate(struct page *page, const struct report_filter *filter)
{
    const struct tamis_filter_stat *stat = &filter->view.stat;
    const struct rate_curve curve = curve_of(filter);
    const double now = report_number(filter, "fp_rate_now");
    const bool refuses = stat->on_full == TAMIS_ON_FULL_REFUSE;
    page_text(page, "<figure><figcaption>Rate of false positives</figcaption>");
    if (isnan(rate_at(&curve, curve.others))) {
        char text[REPORT_TEXT], asked[REPORT_TEXT];
        page_format(
            page,
            "<p class=\"big\">%s</p><p class=\"note\">%s was asked for. The filter is "
            "static: its rate follows from the size of its fingerprints, and stays so until "
            "the next build.</p></figure>\n",
            report_rate(text, now), report_rate(asked, stat->fp_rate));
        return;
    }
    page_format(
        page,
        "<svg class=\"rate\" viewBox=\"0 0 480 216\" role=\"img\" aria-label=\"rate by items\" "
        "data-at-capacity=\"%.15g\">",
        rate_at(&curve, capacity_of(&curve)));
    rate_axes(page, &curve, stat);
    rate_path(page, &curve, "curve", curve.others, capacity_of(&curve));
    if (!refuses) rate_path(page, &curve, "curve past", capacity_of(&curve), curve.end);
    page_format(page, "<path class=\"drop\" d=\"M%.1f %.1fV%.0f\"/>",
                x_of(&curve, (double)stat->items), y_of(&curve, now), BOTTOM);
    page_format(page, "<circle class=\"now\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/></svg>",
                x_of(&curve, (double)stat->items), y_of(&curve, now));
    rate_legend(page, filter, &curve);
    page_text(page, "</figure>\n");
}

/* ---- Bars --------------------------------------------------------------------------------- */

void report_bar(struct page *page, double done, double whole)
{
    page_format(page,
                "<td class=\"track\"><div><span class=\"whole\" style=\"width:%.1f%%\"></span>"
                "<span class=\"done\" style=\"width:%.1f%%\"></span></div></td>",
                100 * clamped(whole), 100 * clamped(done));
}

static void cell(struct page *page, const char *text)
{
    page_format(page, "<td class=\"n\">%s</td>", text);
}

/* Left out where there is no room. */
static void size_cell(struct page *page, uint64_t bytes)
{
    char text[REPORT_TEXT];
    text_size(text, sizeof text, (double)bytes);
    page_format(page, "<td class=\"n more\">%s</td>", text);
}

static void segment_row(struct page *page, const struct tamis_segment_stat *s, double longest)
{
    char text[REPORT_TEXT], of[REPORT_TEXT];
    page_format(page, "<tr><td>%ju</td>", (uintmax_t)s->number);
    report_bar(page, (double)s->items / longest, (double)s->capacity / longest);
    page_format(page, "<td class=\"n\">%s of %s</td>", report_count(text, s->items),
                report_count(of, s->capacity));
    cell(page, report_share(text, s->fill));
    cell(page, report_rate(text, s->fp_rate_now));
    size_cell(page, s->file_bytes);
    page_text(page, "</tr>");
}

void chart_segments(struct page *page, const struct report_filter *filter)
{
    const struct filter_view *view = &filter->view;
    double longest = 1;
    page_text(
        page,
        "<figure><figcaption>Growth by segment</figcaption><div class=\"scroll\" "
        "tabindex=\"0\" role=\"group\" aria-label=\"growth by segment\"><table class=\"bars\">"
        "<tr><th scope=\"col\">segment</th><td class=\"track\"></td><th scope=\"col\" "
        "class=\"n\">items of "
        "capacity</th><th scope=\"col\" class=\"n\">fill</th><th scope=\"col\" class=\"n\">rate"
        "</th><th scope=\"col\" class=\"n more\">size</th></tr>");
    for (uint32_t i = 0; i < view->stat.segment_count; i++) {
        const struct tamis_segment_stat *s = &view->segments[i];
        longest = fmax(longest, fmax((double)s->capacity, (double)s->items));
    }
    for (uint32_t i = 0; i < view->stat.segment_count; i++)
        segment_row(page, &view->segments[i], longest);
    page_text(page, "</table></div></figure>\n");
}

/* ---- Generations -------------------------------------------------------------------------- */

/* The place of a generation on the line of time; its place in the order if all were made at the
 * same moment. */
static double time_x(const struct report_filter *filter, size_t index)
{
    const struct tamis_generation_stat *g = filter->generations;
    const size_t last = filter->generation_count - 1;
    const double span = (double)(g[last].published_at - g[0].published_at);
    const double share = span > 0 ? (double)(g[index].published_at - g[0].published_at) / span
                                  : (double)index / (double)last;
    return 14 + (RIGHT - 14) * clamped(share);
}

static void time_line(struct page *page, const struct report_filter *filter, double most)
{
    const size_t last = filter->generation_count - 1;
    char from[64], to[64];
    text_time(from, sizeof from, filter->generations[0].published_at);
    text_time(to, sizeof to, filter->generations[last].published_at);
    page_text(page,
              "<svg class=\"line\" viewBox=\"0 0 480 110\" role=\"img\" aria-label=\"items of "
              "generations over time\"><path class=\"axis\" d=\"M14 84H470\"/><path "
              "class=\"curve\" d=\"");
    for (size_t i = 0; i <= last; i++)
        page_format(page, "%c%.1f %.1f", i == 0 ? 'M' : 'L', time_x(filter, i),
                    84 - 68 * (double)filter->generations[i].items / most);
    page_text(page, "\"/>");
    for (size_t i = 0; i <= last; i++)
        page_format(page, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"/>",
                    filter->generations[i].in_force ? "now" : "kept", time_x(filter, i),
                    84 - 68 * (double)filter->generations[i].items / most,
                    filter->generations[i].in_force ? 5 : 3);
    page_format(
        page,
        "<text x=\"14\" y=\"104\">%s</text><text class=\"end\" x=\"470\" y=\"104\">%s</text>"
        "</svg>",
        from, to);
}

static void generation_row(struct page *page, const struct tamis_generation_stat *g, double most)
{
    char text[64];
    page_format(page, "<tr%s><td>%ju%s</td>", g->in_force ? " class=\"in-force\"" : "",
                (uintmax_t)g->generation, g->in_force ? " in force" : "");
    report_bar(page, (double)g->items / most, 0);
    cell(page, report_count(text, g->items));
    size_cell(page, g->size_bytes);
    text_time(text, sizeof text, g->published_at);
    cell(page, text);
    page_text(page, "</tr>");
}

void chart_generations(struct page *page, const struct report_filter *filter)
{
    double most = 1;
    for (size_t i = 0; i < filter->generation_count; i++)
        most = fmax(most, (double)filter->generations[i].items);
    page_text(page, "<figure><figcaption>Generations</figcaption>");
    if (filter->generation_count > 1) time_line(page, filter, most);
    page_text(page,
              "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"generations\">"
              "<table class=\"bars\"><tr><th scope=\"col\">generation</th><td "
              "class=\"track\"></td><th scope=\"col\" "
              "class=\"n\">items</th><th scope=\"col\" class=\"n more\">size</th><th scope=\"col\" "
              "class=\"n\">published</th></tr>");
    for (size_t i = filter->generation_count; i-- > 0;)
        generation_row(page, &filter->generations[i], most);
    page_text(page, "</table></div></figure>\n");
}
