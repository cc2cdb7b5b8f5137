/* SPDX-License-Identifier: BSD-2-Clause */
/* generations.c: tamis generations NAME - the generation in force, and those that are kept. */
#include "command.h"
#include "json.h"
#include "table.h"
#include "tamis_build.h"
#include "text.h"

static const char HELP[] =
    "usage: tamis generations NAME\n"
    "\n"
    "A line for each generation of a filter, the oldest first: the one in force, and those that\n"
    "are kept for 'tamis rollback'.  FOUND is the number of exceptions that 'tamis build "
    "--against'\n"
    "found for it.\n"
    "\n"
    "      --json          one object a generation\n"
    "      --store DIR     the store\n"
    "\n"
    "examples:\n"
    "  tamis generations blacklist\n"
    "\n"
    "exit status: 0 done; 2 an error\n";

struct listing {
    const struct invocation *call;
    struct table table;
};

static const char *state_of(const struct tamis_generation_stat *stat)
{
    return stat->in_force ? "in-force" : "kept";
}

static void add_row(struct table *table, const struct tamis_generation_stat *stat)
{
    char size[32], time[40] = "-";
    const char *kind = tamis_kind_name(stat->kind);
    text_size(size, sizeof size, (double)stat->size_bytes);
    if (stat->published_at != 0) text_time(time, sizeof time, stat->published_at);
    table_format(table, "%ju", (uintmax_t)stat->generation);
    table_cell(table, state_of(stat));
    table_cell(table, kind ? kind : "?");
    table_format(table, "%ju", (uintmax_t)stat->items);
    table_format(table, "%.3g", stat->fp_rate);
    table_cell(table, size);
    table_format(table, "%ju", (uintmax_t)stat->exceptions);
    table_cell(table, time);
}

static void print_json(struct out *out, const struct tamis_generation_stat *stat)
{
    const char *kind = tamis_kind_name(stat->kind);
    json_t *line = json_new();
    json_put(line, "generation", json_unsigned(stat->generation));
    json_put(line, "state", json_text(state_of(stat)));
    json_put(line, "kind", json_text(kind ? kind : "?"));
    json_put(line, "items", json_unsigned(stat->items));
    json_put(line, "fp_rate", json_rate(stat->fp_rate));
    json_put(line, "segments", json_unsigned(stat->segment_count));
    json_put(line, "size_bytes", json_unsigned(stat->size_bytes));
    json_put(line, "found", json_unsigned(stat->exceptions));
    json_put(line, "published_at", json_time(stat->published_at));
    json_put(line, "key_digest", json_digest(stat->key_digest));
    json_print(out, line);
}

static int show(void *context, const struct tamis_generation_stat *stat)
{
    struct listing *listing = context;
    if (options_have(&listing->call->options, TAKES(JSON)))
        print_json(listing->call->out, stat);
    else
        add_row(&listing->table, stat);
    return listing->call->out->failed; /* nobody reads on */
}

static int run(struct invocation *call)
{
    static const char *const header[] = {"GENERATION", "STATE", "KIND",  "ITEMS",
                                         "RATE",       "SIZE",  "FOUND", "PUBLISHED"};
    struct listing listing = {.call = call};
    const char *name = call->args[0];
    tamis_store *store = cli_store_open(call, TAMIS_READ_ONLY);
    if (!store) return CLI_ERROR;
    table_init(&listing.table, "rllrrrrl");
    for (size_t i = 0; i < sizeof header / sizeof *header; i++)
        table_cell(&listing.table, header[i]);
    const int rc = tamis_filter_generations(store, name, show, &listing);
    int status = CLI_DONE;
    if (rc == TAMIS_ENOTFOUND)
        status = cli_fail_absent(store, name, tamis_last_error());
    else if (rc < 0)
        status = cli_fail_library();
    else if (listing.table.count > listing.table.columns)
        table_print(&listing.table, call->out);
    table_clear(&listing.table);
    tamis_store_close(store);
    return status;
}

const struct command cli_command_generations = {
    .name = "generations",
    .summary = "the generations of a filter that are kept",
    .operands = "NAME",
    .help = HELP,
    .options = TAKES(JSON),
    .args_min = 1,
    .args_max = 1,
    .run = run,
};
