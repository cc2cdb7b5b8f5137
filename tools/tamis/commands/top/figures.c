/* SPDX-License-Identifier: BSD-2-Clause */
/* figures.c: see figures.h. */
#include "figures.h"

#include <math.h>
#include <time.h>

#include "fields.h"
#include "paint.h"
#include "pattern.h"

const char FIGURES_ALIGN[] = "llrrrrrrrrl";
const char *const FIGURES_HEADER[FIGURES_COLUMNS] = {"NAME",  "KIND",  "CAPACITY", "ITEMS",
                                                     "USED",  "NEW/S", "FULL-IN",  "RATE-NOW",
                                                     "ASKED", "SIZE",  "STATE"};

static const char *const MORE_KEYS[] = {"new", "full-in", NULL};

bool figures_init(struct figures *figures, const struct invocation *call)
{
    *figures = (struct figures){.call = call,
                                .key = order_of_call(call, MORE_KEYS),
                                .reverse = cli_given(call, TAKES(REVERSE)),
                                .human = cli_given(call, TAKES(HUMAN))};
    return figures->key >= 0;
}

void figures_clear(struct figures *figures)
{
    tamis_filter_release(figures->filter);
    tamis_watch_free(figures->watch);
    free(figures->filter_name);
    free(figures->pattern);
    free(figures->now.all);
    free(figures->before.all);
}

/* What was seen is not compared with what will be. */
static void forget(struct figures *figures)
{
    figures->now.count = figures->before.count = 0;
    figures->clock = figures->seconds = 0;
}

void figures_set_pattern(struct figures *figures, const char *pattern)
{
    free(figures->pattern);
    figures->pattern = pattern != NULL && *pattern ? cli_strdup(pattern) : NULL;
    tamis_watch_free(figures->watch);
    figures->watch = NULL;
    forget(figures); /* a new watch has no look before */
}

int figures_enter(struct figures *figures, const char *filter_name)
{
    tamis_filter *filter = NULL;
    if (filter_name != NULL) {
        const int rc =
            tamis_filter_open(figures->call->store, filter_name, TAMIS_OPEN_READ_ONLY, &filter);
        if (rc < 0) return rc;
    }
    tamis_filter_release(figures->filter);
    figures->filter = filter;
    free(figures->filter_name);
    figures->filter_name = filter_name != NULL ? cli_strdup(filter_name) : NULL;
    forget(figures);
    return 0;
}

/* ---- A look ---------------------------------------------------------------------------------- */

static struct figures_row *add_figures_row(struct figures *figures)
{
    struct figures_rows *rows = &figures->now;
    rows->all = cli_grow(rows->all, rows->count + 1, &rows->room, sizeof *rows->all);
    struct figures_row *row = &rows->all[rows->count++];
    *row = (struct figures_row){.new_per_second = NAN, .full_in_seconds = NAN};
    return row;
}

static int add_filter(void *context, const struct tamis_filter_stat *stat)
{
    struct figures *figures = context;
    if (pattern_fits(figures->pattern, stat->name)) add_figures_row(figures)->stat = *stat;
    return 0;
}

static double predicted_rate(const struct tamis_segment_stat *segment)
{
    if (!tamis_kind_has(segment->kind, TAMIS_KIND_IS_STATIC))
        return tamis_predict_rate(segment->kind, segment->m_bits, segment->k, segment->items);
    return segment->items > 0 ? exp2(-(double)segment->fingerprint_bits) : 0;
}

static void add_segment(struct figures *figures, const struct tamis_segment_stat *segment)
{
    struct figures_row *row = add_figures_row(figures);
    struct tamis_filter_stat *stat = &row->stat;
    *stat = (struct tamis_filter_stat){.size = sizeof *stat,
                                       .kind = segment->kind,
                                       .k = segment->k,
                                       .m_bits = segment->m_bits,
                                       .capacity = segment->capacity,
                                       .fp_rate = segment->fp_rate,
                                       .items = segment->items,
                                       .size_bytes = segment->file_bytes,
                                       .predicted_rate = predicted_rate(segment),
                                       .segment_count = 1,
                                       .created_at = segment->created_at,
                                       .counter_bits = segment->counter_bits,
                                       .fingerprint_bits = segment->fingerprint_bits};
    (void)snprintf(stat->name, sizeof stat->name, "%016" PRIu64, segment->number);
    row->slice_start = segment->slice_start;
    row->is_past = (segment->flags & TAMIS_SEGMENT_PAST) != 0;
}

static int look_at_segments(struct figures *figures)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    int rc = 0;
    for (uint32_t i = 0; rc == 0; i++) {
        rc = tamis_filter_segment(figures->filter, i, &segment);
        if (rc == 0) add_segment(figures, &segment);
    }
    /* Older segments take no keys, whatever they hold. */
    struct tamis_filter_stat *newest =
        figures->now.count > 0 ? &figures->now.all[figures->now.count - 1].stat : NULL;
    if (newest != NULL && newest->items >= newest->capacity) newest->state = TAMIS_STATE_FULL;
    return rc == TAMIS_EINVAL && figures->now.count > 0 ? 0 : rc; /* past the last */
}

static int look_at_filters(struct figures *figures)
{
    int rc = 0;
    if (figures->watch == NULL) {
        char *prefix = pattern_prefix(figures->pattern);
        rc = tamis_watch_new(figures->call->store, prefix, &figures->watch);
        free(prefix);
    }
    return rc < 0 ? rc : tamis_watch_look(figures->watch, add_filter, figures);
}

static int by_row_name(const void *a, const void *b)
{
    const struct figures_row *x = a, *y = b;
    return strcmp(x->stat.name, y->stat.name);
}

/* The same filter at the look before; NULL: it was not there, or was made anew since. */
static const struct figures_row *find_before(const struct figures *figures,
                                             const struct figures_row *row)
{
    const struct figures_rows *before = &figures->before;
    const struct figures_row *found =
        before->count == 0
            ? NULL
            : bsearch(row, before->all, before->count, sizeof *before->all, by_row_name);
    return found != NULL && found->stat.created_at == row->stat.created_at &&
                   found->stat.kind == row->stat.kind
               ? found
               : NULL;
}

/* Keys leave a window without being asked, so it has no time when it is full; nor have older
 * segments, which take no keys. */
static void set_full_in(struct figures_row *row)
{
    const struct tamis_filter_stat *stat = &row->stat;
    if (stat->slices > 0) return;
    if (stat->items >= stat->capacity)
        row->full_in_seconds = 0;
    else if (row->new_per_second > 0)
        row->full_in_seconds = (double)(stat->capacity - stat->items) / row->new_per_second;
}

/* A filter forgets with its window, so the watch counts; a segment only takes keys, but for a kind
 * from which they are removed. */
static uint64_t new_keys_since(const struct figures *figures, const struct figures_row *row,
                               const struct figures_row *before)
{
    if (figures->filter == NULL) return row->stat.new_keys;
    return row->stat.items > before->stat.items ? row->stat.items - before->stat.items : 0;
}

static void compare_with_before(struct figures *figures)
{
    figures->not_ok = figures->items = figures->size_bytes = 0;
    figures->new_per_second = figures->seconds > 0 ? 0 : NAN;
    for (size_t i = 0; i < figures->now.count; i++) {
        struct figures_row *row = &figures->now.all[i];
        const struct figures_row *before = find_before(figures, row);
        figures->not_ok += row->stat.state != 0;
        figures->items += row->stat.items;
        figures->size_bytes += row->stat.size_bytes;
        if (tamis_kind_has(row->stat.kind, TAMIS_KIND_IS_STATIC))
            continue; /* nothing is ever added */
        if (before != NULL && figures->seconds > 0) {
            row->new_per_second = (double)new_keys_since(figures, row, before) / figures->seconds;
            figures->new_per_second += row->new_per_second;
        }
        if (figures->filter == NULL || i + 1 == figures->now.count) set_full_in(row);
    }
}

int figures_look(struct figures *figures)
{
    const struct figures_rows spare = figures->before;
    const double clock = progress_clock();
    figures->before = figures->now;
    if (figures->before.count > 0)
        qsort(figures->before.all, figures->before.count, sizeof *figures->before.all, by_row_name);
    figures->now = spare;
    figures->now.count = 0;
    const int rc = figures->filter != NULL ? look_at_segments(figures) : look_at_filters(figures);
    if (rc < 0) return rc;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    figures->looked_at = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    figures->seconds = figures->clock > 0 ? clock - figures->clock : 0;
    figures->clock = clock;
    compare_with_before(figures);
    figures_sort(figures);
    return 0;
}

/* ---- The order ------------------------------------------------------------------------------- */

/* Greatest first for speeds, soonest first for times; what is not known comes last. */
static int compare_numbers(double x, double y, bool greatest)
{
    if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
    if (x == y) return 0;
    return (x > y) == greatest ? -1 : 1;
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct figures *figures = context;
    const struct figures_row *x = a, *y = b;
    int order = 0;
    if (figures->key == TOP_NEW)
        order = compare_numbers(x->new_per_second, y->new_per_second, true);
    if (figures->key == TOP_FULL_IN)
        order = compare_numbers(x->full_in_seconds, y->full_in_seconds, false);
    if (order == 0)
        order = order_compare(figures->key < ORDER_KEYS ? figures->key : ORDER_NAME, &x->stat,
                              &y->stat);
    return figures->reverse ? -order : order;
}

void figures_sort(struct figures *figures)
{
    struct figures_rows *rows = &figures->now;
    if (rows->count > 0) qsort_r(rows->all, rows->count, sizeof *rows->all, compare_rows, figures);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void count_text(const struct figures *figures, char text[TEXT_COUNT_BYTES], uint64_t count)
{
    if (figures->human)
        text_short_count(text, count);
    else
        (void)snprintf(text, TEXT_COUNT_BYTES, "%ju", (uintmax_t)count);
}

static void speed_text(const struct figures *figures, char text[TEXT_COUNT_BYTES + 1], double speed)
{
    if (isnan(speed)) {
        (void)strcpy(text, "-");
        return;
    }
    count_text(figures, text, (uint64_t)(speed + 0.5));
}

static void full_in_text(const struct figures_row *row, char text[32])
{
    if (isnan(row->full_in_seconds))
        (void)strcpy(text, "-");
    else if (row->full_in_seconds == 0)
        (void)strcpy(text, "now");
    else if (row->full_in_seconds > 86400.0 * 36500)
        (void)strcpy(text, "> 100 years");
    else if (row->full_in_seconds >= 86400.0 * 3)
        (void)snprintf(text, 32, "%.0f days", row->full_in_seconds / 86400);
    else
        text_duration(text, 32, row->full_in_seconds);
}

/* A segment has no state of its own but that it is full, and where it stands in a window. */
static void segment_state_text(const struct figures_row *row, char text[STATE_BYTES])
{
    char since[32];
    (void)strcpy(text, row->is_past ? "past" : row->stat.state & TAMIS_STATE_FULL ? "full" : "ok");
    if (row->slice_start == 0) return;
    text_time(since, sizeof since, row->slice_start);
    (void)snprintf(text + strlen(text), STATE_BYTES - strlen(text), ", slice of %s", since);
}

static void state_of(const struct figures *figures, const struct figures_row *row,
                     char text[STATE_BYTES])
{
    if (figures->filter != NULL)
        segment_state_text(row, text);
    else
        state_text(&row->stat, text);
}

void figures_cells(const struct figures *figures, const struct figures_row *row, bool paints,
                   struct table *table)
{
    char text[STATE_BYTES], number[TEXT_COUNT_BYTES + 1], size[32];
    const char *kind = tamis_kind_name(row->stat.kind);
    table_cell(table, row->stat.name);
    table_cell(table, kind != NULL ? kind : "?");
    count_text(figures, number, row->stat.capacity);
    table_cell(table, number);
    count_text(figures, number, row->stat.items);
    table_cell(table, number);
    table_format(table, "%.1f %%", 100 * order_used(&row->stat));
    speed_text(figures, number, row->new_per_second);
    table_cell(table, number);
    full_in_text(row, size);
    table_cell(table, size);
    table_format(table, "%.3g", row->stat.predicted_rate);
    table_format(table, "%.3g", row->stat.fp_rate);
    text_size(size, sizeof size, (double)row->stat.size_bytes);
    table_cell(table, size);
    state_of(figures, row, text);
    if (paints)
        table_format(table, "%s%s%s", paint_begin(paint_level_of(row->stat.state)), text,
                     PAINT_END);
    else
        table_cell(table, text);
}

char *figures_summary(const struct figures *figures)
{
    char items[TEXT_COUNT_BYTES], speed[TEXT_COUNT_BYTES + 1], size[32], trouble[48] = "";
    text_count(items, figures->items);
    speed_text(figures, speed, figures->new_per_second);
    if (!figures->human && figures->new_per_second >= 0)
        text_count(speed, (uint64_t)(figures->new_per_second + 0.5));
    text_size(size, sizeof size, (double)figures->size_bytes);
    if (figures->not_ok > 0 && figures->filter == NULL)
        (void)snprintf(trouble, sizeof trouble, " (%ju not ok)", (uintmax_t)figures->not_ok);
    return cli_format("%zu %s%s%s, %s items, %s new/s, %s", figures->now.count,
                      figures->filter != NULL ? "segment" : "filter",
                      text_plural(figures->now.count), trouble, items, speed, size);
}

json_t *figures_json(const struct figures *figures, const struct figures_row *row)
{
    char text[STATE_BYTES];
    const char *kind = tamis_kind_name(row->stat.kind);
    json_t *object = json_new();
    json_put(object, "looked_at", json_time(figures->looked_at));
    json_put(object, "seconds", json_rate(figures->seconds));
    json_put(object, "name",
             json_text(figures->filter != NULL ? figures->filter_name : row->stat.name));
    if (figures->filter != NULL)
        json_put(object, "segment", json_unsigned(strtoull(row->stat.name, NULL, 10)));
    json_put(object, "kind", json_text(kind != NULL ? kind : "?"));
    json_put(object, "capacity", json_unsigned(row->stat.capacity));
    json_put(object, "items", json_unsigned(row->stat.items));
    json_put(object, "used", json_rate(order_used(&row->stat)));
    json_put(object, "new_per_second", json_rate(row->new_per_second));
    json_put(object, "full_in_seconds", json_rate(row->full_in_seconds));
    json_put(object, "fp_rate_now", json_rate(row->stat.predicted_rate));
    json_put(object, "fp_rate", json_rate(row->stat.fp_rate));
    json_put(object, "size_bytes", json_unsigned(row->stat.size_bytes));
    if (figures->filter != NULL)
        segment_state_text(row, text);
    else
        (void)state_name(row->stat.state, text);
    json_put(object, "state", json_text(text));
    return object;
}
