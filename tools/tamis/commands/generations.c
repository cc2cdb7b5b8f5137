/* SPDX-License-Identifier: BSD-2-Clause */
/* generations.c: tamis generations NAME - the generation in force, and those that are kept. */
#include "command.h"
#include "fields.h"
#include "table.h"

struct listing {
    const struct invocation *call;
    struct table table;
};

static void add_generation_row(struct table *table, const struct tamis_generation_stat *stat)
{
    char size[32], time[40] = "-";
    const char *kind = tamis_kind_name(stat->kind);
    text_size(size, sizeof size, (double)stat->size_bytes);
    if (stat->published_at != 0) text_time(time, sizeof time, stat->published_at);
    table_format(table, "%ju", (uintmax_t)stat->generation);
    table_cell(table, generation_state(stat));
    table_cell(table, kind != NULL ? kind : "?");
    table_format(table, "%ju", (uintmax_t)stat->items);
    table_format(table, "%.3g", stat->fp_rate);
    table_cell(table, size);
    table_format(table, "%ju", (uintmax_t)stat->exceptions);
    table_cell(table, time);
}

static int show_generation(void *context, const struct tamis_generation_stat *stat)
{
    struct listing *listing = context;
    if (cli_given(listing->call, TAKES(JSON)))
        json_print(listing->call->out, generation_json(stat, GENERATION_BUILD));
    else
        add_generation_row(&listing->table, stat);
    return listing->call->out->failed; /* nobody reads on */
}

static int list_generations(struct invocation *call)
{
    static const char *const header[] = {"GENERATION", "STATE", "KIND",  "ITEMS",
                                         "RATE",       "SIZE",  "FOUND", "PUBLISHED"};
    struct listing listing = {.call = call};
    table_init(&listing.table, "rllrrrrl", header);
    const int rc = tamis_filter_generations(call->store, call->args[0], show_generation, &listing);
    if (rc >= 0) table_print_rows(&listing.table, call->out);
    table_clear(&listing.table);
    return rc < 0 ? cli_fail_named(call->store, call->args[0], rc) : CLI_DONE;
}

const struct command cli_command_generations = {
    .name = "generations",
    .summary = "the generations of a filter that are kept",
    .operands = "NAME",
    .options = TAKES(JSON),
    .opens = OPENS_STORE,
    .flags = TAMIS_OPEN_READ_ONLY,
    .run = list_generations,
};
