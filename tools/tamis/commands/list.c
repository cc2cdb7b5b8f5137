/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.c: tamis list [PREFIX]
 *
 * Reads the catalog and, for items, sizes and states, the header of each segment: some 5 us a
 * segment, or a read of the disk if it is not in memory. With --recorded only the catalog is read,
 * which has the values of the last checkpoint. The rate is what the formulas give for that many
 * items.
 */
#include "command.h"
#include "fields.h"
#include "table.h"

struct listing {
    const struct invocation *call;
    struct table table;
    size_t filters;
};

static void add_row(struct table *table, const struct tamis_filter_stat *stat)
{
    char size[32], state[STATE_BYTES];
    const char *kind = tamis_kind_name(stat->kind);
    text_size(size, sizeof size, (double)stat->size_bytes);
    table_cell(table, stat->name);
    table_cell(table, kind ? kind : "?");
    table_format(table, "%ju", (uintmax_t)stat->capacity);
    table_format(table, "%ju", (uintmax_t)stat->items);
    table_format(table, "%.3g", stat->predicted_rate);
    /* Bits on the disk, so that kinds can be compared. */
    table_format(table, "%ju",
                 (uintmax_t)(stat->m_bits * (stat->counter_bits ? stat->counter_bits : 1)));
    table_cell(table, size);
    state_text(stat, state);
    table_cell(table, state);
}

static bool is_recorded(const struct options *options)
{
    return options_have(options, TAKES(RECORDED));
}

static int list_filter(void *context, const struct tamis_filter_stat *stat)
{
    struct listing *listing = context;
    const struct options *options = &listing->call->options;
    struct out *out = listing->call->out;
    listing->filters++;
    if (options_have(options, TAKES(JSON))) {
        const struct filter_view view = {.stat = *stat, .holds = VIEW_FILES};
        json_t *object = view_json(&view);
        json_put(object, "items_as_of", json_text(is_recorded(options) ? "checkpoint" : "now"));
        json_print(out, object);
    } else if (options_have(options, TAKES(QUIET))) {
        out_format(out, "%s\n", stat->name);
    } else {
        add_row(&listing->table, stat);
    }
    return out->failed; /* nobody reads on */
}

static int list_stats(const struct invocation *call, struct listing *listing)
{
    const char *prefix = call->arg_count > 0 ? call->args[0] : NULL;
    const bool names_only = cli_given(call, TAKES(QUIET));
    if (call->remote_store)
        return remote.list(call->remote_store, prefix, names_only, list_filter, listing);
    const int rc = is_recorded(&call->options) || names_only
                       ? tamis_store_list(call->store, prefix, list_filter, listing)
                       : tamis_store_list_live(call->store, prefix, list_filter, listing);
    if (rc < 0) cli_fail_library();
    return rc;
}

static int list(struct invocation *call)
{
    static const char *const header[] = {"NAME",     "KIND", "CAPACITY", "ITEMS",
                                         "RATE-NOW", "BITS", "SIZE",     "STATE"};
    struct listing listing = {.call = call};
    table_init(&listing.table, "llrrrrrl", header);
    const int rc = list_stats(call, &listing);
    if (rc == 0) table_print_rows(&listing.table, call->out);
    table_clear(&listing.table);
    if (rc < 0) return CLI_ERROR;
    return listing.filters > 0 ? CLI_DONE : CLI_NOTHING;
}

static int run(struct invocation *call)
{
    if (!options_exclusive(call, TAKES(QUIET) | TAKES(JSON))) return CLI_ERROR;
    return cli_with_store(call, TAMIS_READ_ONLY, list);
}

static int run_remote(struct invocation *call)
{
    return options_exclusive(call, TAKES(QUIET) | TAKES(JSON)) ? list(call) : CLI_ERROR;
}

const struct command cli_command_list = {
    .name = "list",
    .summary = "a line for each filter of the store",
    .operands = "[PREFIX]",
    .options = TAKES(QUIET) | TAKES(JSON) | TAKES(RECORDED),
    .run = run,
    .run_remote = run_remote,
};
