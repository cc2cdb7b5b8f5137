/* SPDX-License-Identifier: BSD-2-Clause */
/* info.c: tamis info NAME [FIELD] - everything the catalog and the segments know of a filter. */
#include "command.h"
#include "fields.h"

static const char HELP[] =
    "usage: tamis info NAME [FIELD]\n"
    "\n"
    "Print everything that the catalog and the segments say about a filter; with FIELD, only\n"
    "that value.  The fields items_estimated, fill and fp_rate_now count the set bits, so they\n"
    "read the whole filter.\n"
    "\n"
    "fields: name kind hash_set m_bits k seed capacity fp_rate items items_estimated fill\n"
    "        fp_rate_now bits_per_key size_bytes generation segments created_at published_at\n"
    "        checkpointed_at on_full window_seconds window_items slices live_slices\n"
    "        counter_bits fingerprint_bits keep exceptions durable state unclean_since\n"
    "        degraded_since note\n"
    "\n"
    "      --json          print one object; with FIELD only that value\n"
    "      --store DIR     the store\n"
    "\n"
    "examples:\n"
    "  tamis info seen\n"
    "  tamis info seen items\n"
    "  tamis info seen --json\n"
    "\n"
    "exit status: 0 done; 2 an error\n";

static int show(struct invocation *call)
{
    const struct field *field = call->arg_count > 1 ? field_find(call->args[1]) : NULL;
    bool json = options_have(&call->options, TAKES(JSON));
    struct filter_view view;
    int rc = view_load(&view, call->filter, field ? field->loads : VIEW_FILL);
    if (rc == 0) {
        if (field)
            view_print_field(&view, field, json, call->out);
        else if (json)
            json_print(call->out, view_json(&view));
        else
            view_print(&view, call->out);
    }
    view_clear(&view);
    return rc < 0 ? cli_fail_library() : CLI_DONE;
}

static int fail_unknown_field(const struct invocation *call)
{
    char *names = field_names();
    int status = cli_fail("there is no field '%s'; the fields are: %s", call->args[1], names);
    free(names);
    return status;
}

static int run(struct invocation *call)
{
    if (call->arg_count > 1 && !field_find(call->args[1])) return fail_unknown_field(call);
    return cli_with_filter(call, TAMIS_READ_ONLY, show);
}

const struct command cli_command_info = {
    .name = "info",
    .summary = "everything that is known of a filter",
    .operands = "NAME [FIELD]",
    .help = HELP,
    .options = TAKES(JSON),
    .run = run,
};
