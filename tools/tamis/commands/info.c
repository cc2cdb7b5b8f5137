/* SPDX-License-Identifier: BSD-2-Clause */
/* info.c: tamis info NAME [FIELD] - what the catalog and the segments know of a filter. */
#include "command.h"
#include "fields.h"
#include "lost.h"
#include "remote/remote.h"
#include "show.h"

/* Prints one field, or those that matter, or all. */
static void print_fields(const struct invocation *call, const struct field *field,
                         struct filter_view *view)
{
    const bool json = cli_given(call, TAKES(JSON));
    if (field != NULL)
        view_print_field(view, field, json, call->out);
    else if (json)
        json_print(call->out, view_json(view));
    else
        view_print(view, cli_given(call, TAKES(ALL)), call->out);
}

static int show_info(struct invocation *call)
{
    const struct field *field = call->arg_count > 1 ? field_find(call->args[1]) : NULL;
    struct filter_view view;
    if (field != NULL && call->remote != NULL && remote_filter_shards(call->remote) > 0 &&
        (field->needs & ~VIEW_SHARDED))
        return cli_fail("'%s' is in shards, and each has its own '%s'; ask for a shard, as in "
                        "'tamis info %s:{0} %s'",
                        call->args[0], field->name, call->args[0], field->name);
    const int status =
        view_of_call(call, field != NULL ? field->loads : VIEW_FILL | VIEW_MAPPED, &view);
    if (status == CLI_DONE) print_fields(call, field, &view);
    view_clear(&view);
    if (field == NULL) {
        (void)out_flush(call->out);
        lost_tell(call);
    }
    return status;
}

static int fail_unknown_field(const struct invocation *call)
{
    char *names = field_names();
    int status = cli_fail("there is no field '%s'; the fields are: %s", call->args[1], names);
    free(names);
    return status;
}

static int run_info(struct invocation *call)
{
    if (cli_given(call, TAKES(ALL)) && (call->arg_count > 1 || cli_given(call, TAKES(JSON))))
        return cli_fail_usage(call->command, "--all goes with NAME alone; FIELD and --json need no "
                                             "--all");
    if (call->arg_count > 1 && field_find(call->args[1]) == NULL) return fail_unknown_field(call);
    return cli_with_filter(call, TAMIS_OPEN_READ_ONLY, show_info);
}

const struct command cli_command_info = {
    .name = "info",
    .summary = "what is known of a filter",
    .operands = "NAME [FIELD]",
    .options = TAKES(JSON) | TAKES(ALL),
    .run = run_info,
    .run_remote = run_info,
};
