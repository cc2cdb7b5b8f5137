/* SPDX-License-Identifier: BSD-2-Clause */
/* info.c: tamis info NAME [FIELD] - everything the catalog and the segments know of a filter. */
#include "command.h"
#include "fields.h"

static int show(struct invocation *call)
{
    const struct field *field = call->arg_count > 1 ? field_find(call->args[1]) : NULL;
    bool json = cli_given(call, TAKES(JSON));
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
    .options = TAKES(JSON),
    .run = run,
};
