/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.c: tamis list [PATTERN]
 *
 * Reads the catalog and, for items, sizes and states, the header of each segment: some 5 us a
 * segment, or a read of the disk if it is not in memory. With --recorded only the catalog is read,
 * which has the values of the last checkpoint. The rate is what the formulas give for that many
 * items.  Filters are shown as they come, unless they are to be sorted.
 */
#include "command.h"
#include "fields.h"
#include "order.h"
#include "paint.h"
#include "pattern.h"
#include "remote/remote.h"
#include "table.h"

struct listing {
    const struct invocation *call;
    struct table table;
    int key; /* ORDER_*, or below 0: --sort is wrong */
    bool paints;
    struct tamis_filter_stat *stats; /* if they are sorted */
    size_t count, room;
    /* The sums over all filters that were shown. */
    uint64_t filters, not_ok, capacity, items, bits, size_bytes;
};

/* Filters come in the order of their names. */
static bool sorts(const struct listing *listing)
{
    return listing->key != ORDER_NAME || cli_given(listing->call, TAKES(REVERSE));
}

static void number_cell(struct listing *listing, uint64_t number)
{
    char text[TEXT_COUNT_BYTES];
    if (cli_given(listing->call, TAKES(HUMAN)))
        text_short_count(text, number);
    else
        (void)snprintf(text, sizeof text, "%ju", (uintmax_t)number);
    table_cell(&listing->table, text);
}

static void size_cell(struct table *table, uint64_t bytes)
{
    char size[32];
    text_size(size, sizeof size, (double)bytes);
    table_cell(table, size);
}

/* It is the last cell of its row, so no other cell is aligned by its width. */
static void state_cell(struct listing *listing, const struct tamis_filter_stat *stat)
{
    char state[STATE_BYTES];
    state_text(stat, state);
    if (listing->paints)
        table_format(&listing->table, "%s%s%s", paint_begin(paint_level_of(stat->state)), state,
                     PAINT_END);
    else
        table_cell(&listing->table, state);
}

static void add_filter_row(struct listing *listing, const struct tamis_filter_stat *stat)
{
    struct table *table = &listing->table;
    const char *kind = tamis_kind_name(stat->kind);
    table_cell(table, stat->name);
    table_cell(table, kind != NULL ? kind : "?");
    number_cell(listing, stat->capacity);
    number_cell(listing, stat->items);
    table_format(table, "%.3g", stat->predicted_rate);
    number_cell(listing, order_bits(stat));
    size_cell(table, stat->size_bytes);
    state_cell(listing, stat);
}

static void show_filter(struct listing *listing, const struct tamis_filter_stat *stat)
{
    const struct invocation *call = listing->call;
    listing->filters++;
    listing->not_ok += stat->state != 0;
    listing->capacity += stat->capacity;
    listing->items += stat->items;
    listing->bits += order_bits(stat);
    listing->size_bytes += stat->size_bytes;
    if (cli_given(call, TAKES(JSON))) {
        const struct filter_view view = {.stat = *stat};
        json_t *object = view_json(&view);
        const bool recorded = cli_given(call, TAKES(RECORDED));
        json_put(object, "items_as_of", json_text(recorded ? "checkpoint" : "now"));
        json_print(call->out, object);
    } else if (cli_given(call, TAKES(QUIET))) {
        out_format(call->out, "%s\n", stat->name);
    } else {
        add_filter_row(listing, stat);
    }
}

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
    if (sorts(listing))
        keep_stat(listing, stat);
    else
        show_filter(listing, stat);
    return call->out->failed; /* nobody reads on */
}

static int list_stats(const struct invocation *call, struct listing *listing)
{
    const char *pattern = call->arg_count > 0 ? call->args[0] : NULL;
    const bool names_only = cli_given(call, TAKES(QUIET)) && listing->key == ORDER_NAME;
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

static int compare_by_order(const void *a, const void *b, void *context)
{
    const struct listing *listing = context;
    const int order = order_compare(listing->key, a, b);
    return cli_given(listing->call, TAKES(REVERSE)) ? -order : order;
}

static void show_sorted(struct listing *listing)
{
    if (listing->count > 0)
        qsort_r(listing->stats, listing->count, sizeof *listing->stats, compare_by_order, listing);
    for (size_t i = 0; i < listing->count && !listing->call->out->failed; i++)
        show_filter(listing, &listing->stats[i]);
}

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

static void add_total(struct listing *listing)
{
    struct table *table = &listing->table;
    table_format(table, "%ju filter%s", (uintmax_t)listing->filters, text_plural(listing->filters));
    table_cell(table, "");
    number_cell(listing, listing->capacity);
    number_cell(listing, listing->items);
    table_cell(table, "");
    number_cell(listing, listing->bits);
    size_cell(table, listing->size_bytes);
    if (listing->not_ok > 0)
        table_format(table, "%ju not ok", (uintmax_t)listing->not_ok);
    else
        table_cell(table, "all ok");
}

static void show_total(struct listing *listing)
{
    if (listing->filters == 0) return;
    if (cli_given(listing->call, TAKES(JSON)))
        show_total_json(listing);
    else
        add_total(listing);
}

static int list_filters(struct invocation *call)
{
    static const char *const header[] = {"NAME",     "KIND", "CAPACITY", "ITEMS",
                                         "RATE-NOW", "BITS", "SIZE",     "STATE"};
    struct listing listing = {
        .call = call, .key = order_of_call(call, NULL), .paints = paint_is_wanted(&call->options)};
    table_init(&listing.table, "llrrrrrl", header);
    const int rc = list_stats(call, &listing);
    /* Of a server, what could be asked is shown: a filter that lacks a shard hides no other. */
    const bool shows = rc == 0 || call->remote_store != NULL;
    if (shows) show_sorted(&listing);
    if (rc == 0 && cli_given(call, TAKES(TOTAL))) show_total(&listing);
    if (shows) table_print_rows(&listing.table, call->out);
    table_clear(&listing.table);
    free(listing.stats);
    if (rc < 0) return CLI_ERROR;
    return listing.filters > 0 ? CLI_DONE : CLI_NOTHING;
}

/* Checks the options before a store or a server is opened. */
static bool options_fit(const struct invocation *call)
{
    return options_exclusive(call, TAKES(QUIET) | TAKES(JSON)) &&
           options_exclusive(call, TAKES(QUIET) | TAKES(TOTAL)) &&
           options_exclusive(call, TAKES(QUIET) | TAKES(HUMAN)) &&
           options_exclusive(call, TAKES(JSON) | TAKES(HUMAN)) && order_of_call(call, NULL) >= 0;
}

static int run_list(struct invocation *call)
{
    return options_fit(call) ? cli_with_store(call, TAMIS_READ_ONLY, list_filters) : CLI_ERROR;
}

static int run_list_remote(struct invocation *call)
{
    return options_fit(call) ? list_filters(call) : CLI_ERROR;
}

const struct command cli_command_list = {
    .name = "list",
    .summary = "a line for each filter of the store",
    .operands = "[PATTERN]",
    .options = TAKES(QUIET) | TAKES(JSON) | TAKES(RECORDED) | TAKES(LIVE) | TAKES(SORT) |
               TAKES(REVERSE) | TAKES(TOTAL) | TAKES(HUMAN) | TAKES(COLOR),
    .run = run_list,
    .run_remote = run_list_remote,
};
