/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.c: tamis list [PATTERN]
 *
 * Reads the catalog and, for items, sizes and states, the header of each segment: some 5 us a
 * segment, or a read of the disk if it is not in memory. With --recorded only the catalog is read,
 * which has the values of the last checkpoint. The rate is what the formulas give for that many
 * items.  Filters are shown as they come, unless they are to be sorted, or to fit into a terminal.
 */
#include <sys/ioctl.h>
#include <unistd.h>

#include "columns.h"
#include "command.h"
#include "lost.h"
#include "paint.h"
#include "pattern.h"
#include "remote/remote.h"
#include "table.h"
#include "where.h"

static const char DEFAULT_COLUMNS[] = "name,kind,capacity,items,used,rate,rate-now,size,state";
/* In CSV every number is exact, and each column has the name of its field. */
static const char CSV_COLUMNS[] =
    "name,kind,capacity,items,used,fp_rate,fp_rate_now,size_bytes,state";
/* What a narrow terminal goes without, in this order.  Names are cut after the first, and what goes
 * then makes room for as much of a name as is useful. */
static const int SPARED[] = {ORDER_KIND, ORDER_CAPACITY, ORDER_ASKED, ORDER_RATE};
#define SPARED_COUNT (sizeof SPARED / sizeof *SPARED)
#define NAME_WIDTH_USEFUL 16
#define NAME_WIDTH_LEAST 8

struct listing {
    const struct invocation *call;
    struct columns columns;
    struct conditions conditions;
    struct column key; /* of --sort */
    bool paints, keeps;
    size_t width; /* of the terminal; 0: there is none, or the columns were asked for */
    struct tamis_filter_stat *stats; /* if they are kept */
    size_t count, room;
    /* The sums over all filters that were shown. */
    uint64_t filters, not_ok, capacity, items, bits, size_bytes;
    /* The table: its columns, and how they are shown. */
    struct table table;
    char align[TABLE_COLUMNS_MAX + 1]; /* of the table */
    enum column_form form;
    size_t name_width; /* 0: names are whole */
};

/* ---- Rows ---------------------------------------------------------------------------------- */

/* Leaves both ends of a name that is too long: what differs may be at either. */
static char *cut_name(char *name, size_t width)
{
    const size_t columns = text_width(name);
    if (width == 0 || columns <= width) return name;
    const size_t begin = text_bytes(name, (width - 3) / 2);
    const size_t end = text_bytes(name, columns - (width - 3 - (width - 3) / 2));
    char *cut = cli_format("%.*s...%s", (int)begin, name, name + end);
    free(name);
    return cut;
}

static void add_cell(struct listing *listing, const struct column *column,
                     const struct tamis_filter_stat *stat)
{
    char *text = column_text(column, stat, listing->form);
    if (column->key == ORDER_NAME) text = cut_name(text, listing->name_width);
    const bool is_last = column == &listing->columns.all[listing->columns.count - 1];
    /* No other cell is aligned by the width of the last. */
    if (column->key == ORDER_STATE && listing->paints && is_last)
        table_format(&listing->table, "%s%s%s", paint_begin(paint_level_of(stat->state)), text,
                     PAINT_END);
    else
        table_cell(&listing->table, text);
    free(text);
}

static void add_row(struct listing *listing, const struct tamis_filter_stat *stat)
{
    for (size_t i = 0; i < listing->columns.count; i++)
        add_cell(listing, &listing->columns.all[i], stat);
}

static void begin_table(struct listing *listing)
{
    const struct columns *columns = &listing->columns;
    for (size_t i = 0; i < columns->count; i++)
        listing->align[i] = column_is_number(&columns->all[i]) ? 'r' : 'l';
    listing->align[columns->count] = '\0';
    table_init(&listing->table, listing->align, NULL);
    for (size_t i = 0; i < columns->count; i++) {
        char *heading = cli_strdup(columns->all[i].name);
        for (char *at = heading; *at; at++)
            if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
        table_cell(&listing->table, heading);
        free(heading);
    }
}

/* ---- Other forms --------------------------------------------------------------------------- */

/* RFC 4180, but for the ends of lines: a text with a comma, a quote or a line end is quoted. */
static void print_csv_text(struct out *out, const char *text)
{
    if (text[strcspn(text, ",\"\n\r")] == '\0') {
        out_text(out, text);
        return;
    }
    out_char(out, '"');
    for (; *text; text++) {
        if (*text == '"') out_char(out, '"');
        out_char(out, *text);
    }
    out_char(out, '"');
}

static void print_csv(const struct listing *listing, const struct tamis_filter_stat *stat)
{
    struct out *out = listing->call->out;
    for (size_t i = 0; i < listing->columns.count; i++) {
        const struct column *column = &listing->columns.all[i];
        char *text = stat != NULL ? column_plain(column, stat) : cli_strdup(column->name);
        if (i > 0) out_char(out, ',');
        print_csv_text(out, text);
        free(text);
    }
    out_char(out, '\n');
}

static void print_json(const struct listing *listing, const struct tamis_filter_stat *stat)
{
    const struct invocation *call = listing->call;
    const struct filter_view view = {.stat = *stat};
    json_t *object = cli_given(call, TAKES(OUTPUT)) ? json_new() : view_json(&view);
    if (cli_given(call, TAKES(OUTPUT)))
        for (size_t i = 0; i < listing->columns.count; i++)
            json_put(object, listing->columns.all[i].name,
                     column_value(&listing->columns.all[i], stat));
    else
        json_put(object, "items_as_of",
                 json_text(cli_given(call, TAKES(RECORDED)) ? "checkpoint" : "now"));
    json_print(call->out, object);
}

static void show_filter(struct listing *listing, const struct tamis_filter_stat *stat)
{
    const struct invocation *call = listing->call;
    if (listing->filters++ == 0 && cli_given(call, TAKES(CSV))) print_csv(listing, NULL);
    listing->not_ok += stat->state != 0;
    listing->capacity += stat->capacity;
    listing->items += stat->items;
    listing->bits += order_bits(stat);
    listing->size_bytes += stat->size_bytes;
    if (cli_given(call, TAKES(JSON)))
        print_json(listing, stat);
    else if (cli_given(call, TAKES(CSV)))
        print_csv(listing, stat);
    else if (cli_given(call, TAKES(QUIET)))
        out_format(call->out, "%s\n", stat->name);
    else if (listing->width == 0)
        add_row(listing, stat);
}

/* ---- The filters --------------------------------------------------------------------------- */

static void keep_stat(struct listing *listing, const struct tamis_filter_stat *stat)
{
    listing->stats =
        cli_grow(listing->stats, listing->count + 1, &listing->room, sizeof *listing->stats);
    listing->stats[listing->count++] = *stat;
}

static int list_filter(void *context, const struct tamis_filter_stat *stat)
{
    struct listing *listing = context;
    const struct invocation *call = listing->call;
    if (!pattern_fits(call->arg_count > 0 ? call->args[0] : NULL, stat->name)) return 0;
    if (!conditions_hold(&listing->conditions, stat)) return 0;
    if (listing->keeps)
        keep_stat(listing, stat);
    else
        show_filter(listing, stat);
    return call->out->failed; /* nobody reads on */
}

static int list_stats(const struct invocation *call, struct listing *listing)
{
    const char *pattern = call->arg_count > 0 ? call->args[0] : NULL;
    const bool names_only = cli_given(call, TAKES(QUIET)) && listing->key.key == ORDER_NAME &&
                            listing->conditions.count == 0;
    if (call->remote_store != NULL)
        return remote_list(call->remote_store, pattern, names_only, list_filter, listing);
    char *prefix = pattern_prefix(pattern);
    const int rc = cli_given(call, TAKES(RECORDED)) || names_only
                       ? tamis_store_list(call->store, prefix, list_filter, listing)
                       : tamis_store_list_live(call->store, prefix, list_filter, listing);
    free(prefix);
    if (rc < 0) (void)cli_fail_library();
    return rc;
}

static int compare_by_key(const void *a, const void *b, void *context)
{
    const struct listing *listing = context;
    const int order = column_compare(&listing->key, a, b);
    return cli_given(listing->call, TAKES(REVERSE)) ? -order : order;
}

/* Filters come in the order of their names. */
static bool sorts(const struct listing *listing)
{
    return listing->key.key != ORDER_NAME || cli_given(listing->call, TAKES(REVERSE));
}

static void show_kept(struct listing *listing)
{
    if (listing->count > 0 && sorts(listing))
        qsort_r(listing->stats, listing->count, sizeof *listing->stats, compare_by_key, listing);
    for (size_t i = 0; i < listing->count && !listing->call->out->failed; i++)
        show_filter(listing, &listing->stats[i]);
}

/* ---- Sums ---------------------------------------------------------------------------------- */

static void show_total_json(const struct listing *listing)
{
    json_t *line = json_new(), *total = json_new();
    json_put(total, "filters", json_unsigned(listing->filters));
    json_put(total, "not_ok", json_unsigned(listing->not_ok));
    json_put(total, "capacity", json_unsigned(listing->capacity));
    json_put(total, "items", json_unsigned(listing->items));
    json_put(total, "bits", json_unsigned(listing->bits));
    json_put(total, "size_bytes", json_unsigned(listing->size_bytes));
    json_put(line, "total", total);
    json_print(listing->call->out, line);
}

static void add_sum(struct listing *listing, uint64_t sum)
{
    char text[TEXT_COUNT_BYTES];
    if (listing->form == COLUMN_EXACT)
        (void)snprintf(text, sizeof text, "%ju", (uintmax_t)sum);
    else
        text_short_count(text, sum);
    table_cell(&listing->table, text);
}

static void add_total_cell(struct listing *listing, int key)
{
    struct table *table = &listing->table;
    char size[32];
    switch (key) {
    case ORDER_NAME:
        table_format(table, "%ju filter%s", (uintmax_t)listing->filters,
                     text_plural(listing->filters));
        break;
    case ORDER_CAPACITY:
        add_sum(listing, listing->capacity);
        break;
    case ORDER_ITEMS:
        add_sum(listing, listing->items);
        break;
    case ORDER_BITS:
        add_sum(listing, listing->bits);
        break;
    case ORDER_SIZE:
        text_size(size, sizeof size, (double)listing->size_bytes);
        table_cell(table, size);
        break;
    case ORDER_STATE:
        if (listing->not_ok > 0)
            table_format(table, "%ju not ok", (uintmax_t)listing->not_ok);
        else
            table_cell(table, "all ok");
        break;
    default:
        table_cell(table, "");
    }
}

static void add_total(struct listing *listing)
{
    for (size_t i = 0; i < listing->columns.count; i++)
        add_total_cell(listing, listing->columns.all[i].key);
}

/* ---- The width of a terminal --------------------------------------------------------------- */

/* 0: standard output is no terminal, or it does not know. */
static size_t terminal_width(void)
{
    struct winsize size = {0};
    if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0) return 0;
    return size.ws_col;
}

static void spare_column(struct columns *columns, int key)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->all[i].key != key) continue;
        memmove(&columns->all[i], &columns->all[i + 1],
                (columns->count - i - 1) * sizeof *columns->all);
        columns->count--;
        return;
    }
}

static void fill_table(struct listing *listing, bool with_total)
{
    table_clear(&listing->table);
    begin_table(listing);
    for (size_t i = 0; i < listing->count; i++)
        add_row(listing, &listing->stats[i]);
    if (with_total) add_total(listing);
}

/* How many columns are left for the names beside the others. */
static size_t room_for_names(const struct listing *listing)
{
    const size_t others = table_width(&listing->table) - listing->table.widths[0];
    return listing->width > others ? listing->width - others : 0;
}

/* Makes the table narrower until it fits: short numbers, then fewer columns, then shorter names. */
static void fit_table(struct listing *listing, bool with_total)
{
    const bool paints = listing->paints;
    listing->paints = false; /* or the colours would be measured */
    fill_table(listing, with_total);
    for (size_t i = 0; i <= SPARED_COUNT; i++) {
        const size_t room = room_for_names(listing);
        if (listing->table.widths[0] <= room) break;
        if (i >= 2 && room >= NAME_WIDTH_USEFUL) break;
        if (i > 0) spare_column(&listing->columns, SPARED[i - 1]);
        listing->form = COLUMN_NARROW;
        fill_table(listing, with_total);
    }
    const size_t room = room_for_names(listing);
    if (listing->table.widths[0] > room)
        listing->name_width = room > NAME_WIDTH_LEAST ? room : NAME_WIDTH_LEAST;
    listing->paints = paints;
    fill_table(listing, with_total);
}

/* ---- The command --------------------------------------------------------------------------- */

static void show_end(struct listing *listing)
{
    const struct invocation *call = listing->call;
    const bool json = cli_given(call, TAKES(JSON));
    const bool with_total = cli_given(call, TAKES(TOTAL)) && listing->filters > 0;
    if (with_total && json) show_total_json(listing);
    if (json || cli_given(call, TAKES(CSV) | TAKES(QUIET))) return;
    if (listing->width > 0)
        fit_table(listing, with_total);
    else if (with_total)
        add_total(listing);
    table_print_rows(&listing->table, call->out);
}

static int list_all(struct listing *listing)
{
    const struct invocation *call = listing->call;
    const bool asked = cli_given(call, TAKES(OUTPUT));
    const bool plain = cli_given(call, TAKES(JSON) | TAKES(CSV) | TAKES(QUIET));
    listing->form = cli_given(call, TAKES(HUMAN)) ? COLUMN_HUMAN : COLUMN_EXACT;
    listing->width = asked || plain ? 0 : terminal_width();
    listing->keeps = sorts(listing) || listing->width > 0;
    begin_table(listing);
    const int rc = list_stats(call, listing);
    /* Of a server, what could be asked is shown: a filter that lacks a shard hides no other. */
    if (rc == 0 || call->remote_store != NULL) {
        show_kept(listing);
        show_end(listing);
    }
    if (rc < 0) return CLI_ERROR;
    if (!cli_given(call, TAKES(QUIET))) {
        (void)out_flush(call->out);
        lost_tell(call);
    }
    return listing->filters > 0 ? CLI_DONE : CLI_NOTHING;
}

/* Takes what the options say of columns, conditions and the order.  false after a message. */
static bool take_options(const struct invocation *call, struct listing *listing)
{
    const struct options *options = &call->options;
    const char *sort = cli_given(call, TAKES(SORT)) ? options->sort : order_name(ORDER_NAME);
    const char *columns = cli_given(call, TAKES(OUTPUT)) ? options->output
                          : cli_given(call, TAKES(CSV))  ? CSV_COLUMNS
                                                         : DEFAULT_COLUMNS;
    if (!column_find(sort, &listing->key)) {
        (void)column_fail("--sort", sort);
        return false;
    }
    return columns_take(&listing->columns, "-o", columns) &&
           conditions_take(&listing->conditions, &options->where);
}

static bool options_fit(const struct invocation *call)
{
    return options_exclusive(call, TAKES(QUIET) | TAKES(JSON) | TAKES(CSV)) &&
           options_exclusive(call, TAKES(QUIET) | TAKES(TOTAL)) &&
           options_exclusive(call, TAKES(QUIET) | TAKES(HUMAN)) &&
           options_exclusive(call, TAKES(QUIET) | TAKES(OUTPUT)) &&
           options_exclusive(call, TAKES(CSV) | TAKES(TOTAL)) &&
           options_exclusive(call, TAKES(CSV) | TAKES(HUMAN)) &&
           options_exclusive(call, TAKES(JSON) | TAKES(HUMAN));
}

/* Checks the options before a store or a server is opened. */
static int with_listing(struct invocation *call, int (*work)(struct invocation *call))
{
    struct listing listing = {.call = call};
    const bool good = options_fit(call) && take_options(call, &listing);
    columns_clear(&listing.columns);
    conditions_clear(&listing.conditions);
    return good ? work(call) : CLI_ERROR;
}

static int list_filters(struct invocation *call)
{
    struct listing listing = {.call = call, .paints = paint_is_wanted(&call->options)};
    int status = CLI_ERROR;
    if (take_options(call, &listing)) status = list_all(&listing);
    table_clear(&listing.table);
    columns_clear(&listing.columns);
    conditions_clear(&listing.conditions);
    free(listing.stats);
    return status;
}

static int list_directory(struct invocation *call)
{
    return cli_with_store(call, TAMIS_OPEN_READ_ONLY, list_filters);
}

static int run_list(struct invocation *call)
{
    return with_listing(call, list_directory);
}

static int run_list_remote(struct invocation *call)
{
    return with_listing(call, list_filters);
}

const struct command cli_command_list = {
    .name = "list",
    .summary = "a line for each filter of the store",
    .operands = "[PATTERN]",
    .options = TAKES(QUIET) | TAKES(JSON) | TAKES(CSV) | TAKES(RECORDED) | TAKES(LIVE) |
               TAKES(OUTPUT) | TAKES(WHERE) | TAKES(SORT) | TAKES(REVERSE) | TAKES(TOTAL) |
               TAKES(HUMAN) | TAKES(COLOR),
    .run = run_list,
    .run_remote = run_list_remote,
};
