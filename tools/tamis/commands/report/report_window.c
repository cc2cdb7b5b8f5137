/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_window.c: the slices of a window over time.
 *
 *        ,--.      ,--.
 *     ,--|  |,--.  |  |;--:         a bar for each slice, from its begin to the begin of the next;
 *     |  |  ||  |,-|  ||  :         its height are its items; the newest goes on to its end
 *     begin      now ^    end
 */
#include <math.h>

#include "report.h"
#include "text.h"

#define SLICES_MAX 64 /* more than a window has, with those that it has left behind */
#define LEFT 10.0
#define RIGHT 470.0
#define TOP 26.0
#define BOTTOM 104.0
#define LEAST_HIGH 3.0 /* of a bar, so that it can be seen */
#define LEAST_WIDE 12.0

struct slice {
    uint64_t number, items;
    int64_t start;
    bool live;
};

struct window {
    struct slice slices[SLICES_MAX]; /* the oldest first */
    size_t count;
    uint64_t most; /* items of a slice */
    int64_t step;  /* a slice of a window in time; 0: the window is counted in keys */
    int64_t end;
};

/* A slice has several segments if it has grown. */
static void add_segment(struct window *window, const struct tamis_segment_stat *segment)
{
    struct slice *last = window->count > 0 ? &window->slices[window->count - 1] : NULL;
    if (last == NULL || last->number != segment->slice) {
        if (window->count == SLICES_MAX) return;
        last = &window->slices[window->count++];
        *last = (struct slice){.number = segment->slice, .start = segment->slice_start};
    }
    last->items += segment->items;
    last->live = (segment->flags & TAMIS_SEGMENT_PAST) == 0;
    if (last->items > window->most) window->most = last->items;
}

static void take_slices(struct window *window, const struct report_filter *filter, int64_t now)
{
    const struct tamis_filter_stat *stat = &filter->view.stat;
    for (uint32_t i = 0; i < stat->segment_count; i++)
        add_segment(window, &filter->view.segments[i]);
    const int64_t newest = window->slices[window->count - 1].start;
    window->step = stat->window_ns / stat->slices;
    window->end = newest + window->step > now ? newest + window->step : now;
}

/* A window in time has its slices on a line of time, on which each gets LEAST_WIDE at least; one in
 * keys has them side by side. */
static double x_of(const struct window *window, size_t index, int64_t time)
{
    const double rest = RIGHT - LEFT - LEAST_WIDE * (double)window->count;
    const double from = (double)window->slices[0].start, end = (double)window->end;
    const double share = window->step > 0 ? ((double)time - from) / fmax(1, end - from)
                                          : (double)index / (double)window->count;
    return LEFT + LEAST_WIDE * (double)index + rest * share;
}

static double begin_of(const struct window *window, size_t index)
{
    return index < window->count ? x_of(window, index, window->slices[index].start) : RIGHT;
}

static void slice_bar(struct page *page, const struct window *window, size_t index)
{
    const struct slice *slice = &window->slices[index];
    const bool is_newest = index + 1 == window->count;
    const double from = begin_of(window, index), to = begin_of(window, index + 1);
    const double share = window->most > 0 ? (double)slice->items / (double)window->most : 0;
    const double height = fmax(LEAST_HIGH, (BOTTOM - TOP) * share);
    const char *class = !slice->live ? "slice past-slice" : is_newest ? "slice newest" : "slice";
    page_format(page, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                class, from, BOTTOM - height, to - from - 2, height);
}

static void time_axis(struct page *page, const struct window *window, int64_t now)
{
    char from[64], to[64];
    const double begun = begin_of(window, window->count - 1);
    const double whole = (double)(window->end - window->slices[window->count - 1].start);
    const double since = (double)(now - window->slices[window->count - 1].start);
    const double x = begun + (RIGHT - begun) * fmin(1, since / fmax(1, whole));
    text_time(from, sizeof from, window->slices[0].start);
    text_time(to, sizeof to, window->end);
    page_format(page, "<path class=\"full\" d=\"M%.1f %.0fV%.0f\"/>", x, TOP - 6, BOTTOM);
    page_format(page, "<text class=\"mid\" x=\"%.1f\" y=\"%.0f\">now</text>",
                fmin(fmax(x, LEFT + 16), RIGHT - 16), TOP - 11);
    page_format(page, "<text x=\"%.0f\" y=\"%.0f\">%s</text>", LEFT, BOTTOM + 19, from);
    page_format(page, "<text class=\"end\" x=\"%.0f\" y=\"%.0f\">%s</text>", RIGHT, BOTTOM + 19,
                to);
}

/* "30 days", "33 hours", "90 s" */
static void span_text(char text[REPORT_TEXT], double seconds)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {0, "s"}};
    size_t unit = 0;
    while (seconds < 2 * units[unit].seconds)
        unit++;
    const double one = fmax(1, units[unit].seconds);
    (void)snprintf(text, REPORT_TEXT, "%.3g %s", seconds / one, units[unit].name);
}

static void window_note(struct page *page, const struct tamis_filter_stat *stat,
                        const struct window *window)
{
    char text[REPORT_TEXT], longest[REPORT_TEXT];
    page_format(page, "<p class=\"note\">Keys are found in %ju slice%s; the fullest has %s. ",
                (uintmax_t)stat->live_slices, text_plural(stat->live_slices),
                report_count(text, window->most));
    if (window->step > 0) {
        const double seconds = (double)stat->window_ns / 1e9;
        span_text(text, seconds);
        span_text(longest, seconds * (1 + 1.0 / stat->slices));
        page_format(page, "A key is remembered for %s at least, and %s at most.", text, longest);
    } else {
        page_format(page, "The newest %s keys are remembered.",
                    report_count(text, stat->window_items));
    }
    page_text(page, "</p>");
}

void chart_window(struct page *page, const struct report_filter *filter, int64_t now)
{
    const struct tamis_filter_stat *stat = &filter->view.stat;
    struct window window = {.count = 0};
    if (stat->slices == 0 || stat->segment_count == 0) return;
    take_slices(&window, filter, now);
    page_format(
        page,
        "<figure><figcaption>Slices of the window</figcaption><svg class=\"window\" "
        "viewBox=\"0 0 480 130\" role=\"img\" aria-label=\"items of %zu slice%s over time\">"
        "<path class=\"axis\" d=\"M%.0f %.1fH%.0f\"/>",
        window.count, text_plural(window.count), LEFT, BOTTOM + .5, RIGHT);
    for (size_t i = 0; i < window.count; i++)
        slice_bar(page, &window, i);
    if (window.step > 0) time_axis(page, &window, now);
    page_text(page, "</svg>");
    window_note(page, stat, &window);
    page_text(page, "</figure>\n");
}
