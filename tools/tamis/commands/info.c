/* SPDX-License-Identifier: BSD-2-Clause */
/* info.c: tamis info NAME [FIELD] - everything the catalog and the segments know of a filter. */
#include "command.h"
#include "fields.h"

/* Prints one field, or all if it is NULL. */
static void print(const struct invocation *call, const struct field *field,
                  struct filter_view *view)
{
    const bool json = cli_given(call, TAKES(JSON));
    if (field)
        view_print_field(view, field, json, call->out);
    else if (json)
        json_print(call->out, view_json(view));
    else
        view_print(view, call->out);
}

static int show(struct invocation *call)
{
    const struct field *field = call->arg_count > 1 ? field_find(call->args[1]) : NULL;
    struct filter_view view;
    int rc = view_load(&view, call->filter, field ? field->loads : VIEW_FILL);
    if (rc == 0) print(call, field, &view);
    view_clear(&view);
    return rc < 0 ? cli_fail_library() : CLI_DONE;
}

/* Of a filter in shards the server tells what can be summed up, and no segments. */
static int load_remote(const struct invocation *call, unsigned loads, struct filter_view *view)
{
    if (view->shards > 0 || loads == 0) return remote.stat(call->remote, &view->stat);
    const bool fill = (loads & VIEW_FILL) != 0;
    view->holds |= loads | VIEW_SEGMENTS;
    return remote.segments(call->remote, fill, &view->stat, &view->segments);
}

static int show_remote(struct invocation *call)
{
    const struct field *field = call->arg_count > 1 ? field_find(call->args[1]) : NULL;
    struct filter_view view = {.shards = remote.filter_shards(call->remote), .holds = VIEW_FILES};
    if (view.shards > 0) view.holds |= VIEW_SHARDED;
    if (field && view.shards > 0 && (field->needs & ~view.holds))
        return cli_fail("'%s' is in shards, and each has its own '%s'; ask for a shard, as in "
                        "'tamis info %s:{0} %s'",
                        call->args[0], field->name, call->args[0], field->name);
    if (load_remote(call, field ? field->loads : VIEW_FILL, &view) < 0) return CLI_ERROR;
    print(call, field, &view);
    view_clear(&view);
    return CLI_DONE;
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

static int run_remote(struct invocation *call)
{
    if (call->arg_count > 1 && !field_find(call->args[1])) return fail_unknown_field(call);
    return cli_with_remote_filter(call, show_remote);
}

const struct command cli_command_info = {
    .name = "info",
    .summary = "everything that is known of a filter",
    .operands = "NAME [FIELD]",
    .options = TAKES(JSON),
    .run = run,
    .run_remote = run_remote,
};
