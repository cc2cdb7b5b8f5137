/* SPDX-License-Identifier: BSD-2-Clause */
/* sync.c: tamis sync [NAME...] - write filters to the disk, and their counts to the catalog. */
#include "command.h"
#include "names.h"
#include "remote/remote.h"

static int show_synced_json(const struct invocation *call, tamis_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    if (call->remote != NULL ? remote_stat(call->remote, &stat) < 0
                             : tamis_filter_stat(filter, &stat) < 0)
        return call->remote != NULL ? CLI_ERROR : cli_fail_library();
    json_t *line = json_new();
    json_put(line, "name", json_text(stat.name));
    json_put(line, "items", json_unsigned(stat.items));
    json_put(line, "checkpointed_at", json_time(stat.checkpointed_at));
    json_print(call->out, line);
    return CLI_DONE;
}

static int sync_filter(const struct invocation *call, const char *name)
{
    tamis_filter *filter = cli_filter_open(call->store, name, 0);
    if (filter == NULL) return CLI_ERROR;
    int status = CLI_DONE;
    if (tamis_filter_sync(filter) < 0 ||
        (cli_given(call, TAKES(ACCEPT)) && tamis_filter_accept(filter) < 0))
        status = cli_fail_library();
    else if (cli_given(call, TAKES(JSON)))
        status = show_synced_json(call, filter);
    return cli_filter_close(filter, status);
}

static int sync_one_remote(struct invocation *call)
{
    if (remote_sync(call->remote) < 0) return CLI_ERROR;
    return cli_given(call, TAKES(JSON)) ? show_synced_json(call, NULL) : CLI_DONE;
}

/* When one filter fails, the others are written all the same. */
static int sync_all(struct invocation *call)
{
    struct names names;
    struct invocation one = *call;
    if (call->remote_store != NULL && cli_given(call, TAKES(ACCEPT)))
        return cli_fail_usage(call->command, "--accept works on the files of a store: run it on "
                                             "the server's machine, with --store DIR");
    int status = cli_names(&names, call);
    for (size_t i = 0; i < names.count; i++) {
        one.args = &names.names[i];
        if ((call->remote_store != NULL ? cli_with_filter(&one, 0, sync_one_remote)
                                        : sync_filter(call, names.names[i])) != CLI_DONE)
            status = CLI_ERROR;
    }
    names_clear(&names);
    return status;
}

const struct command cli_command_sync = {
    .name = "sync",
    .summary = "write filters to the disk",
    .operands = "[NAME...]",
    .options = TAKES(JSON) | TAKES(ACCEPT),
    .opens = OPENS_STORE,
    .run = sync_all,
    .run_remote = sync_all,
};
