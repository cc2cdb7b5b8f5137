/* SPDX-License-Identifier: BSD-2-Clause */
/* sync.c: tamis sync [NAME...] - write filters to the disk, and their counts to the catalog. */
#include "command.h"
#include "names.h"

static int show_json(const struct invocation *call, tamis_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    if (call->remote ? remote.stat(call->remote, &stat) < 0 : tamis_filter_stat(filter, &stat) < 0)
        return call->remote ? CLI_ERROR : cli_fail_library();
    json_t *line = json_new();
    json_put(line, "name", json_text(stat.name));
    json_put(line, "items", json_unsigned(stat.items));
    json_put(line, "checkpointed_at", json_time(stat.checkpointed_at));
    json_print(call->out, line);
    return CLI_DONE;
}

static int sync_filter(const struct invocation *call, tamis_store *store, const char *name)
{
    tamis_filter *filter = cli_filter_open(store, name, 0);
    if (!filter) return CLI_ERROR;
    int status = CLI_DONE;
    if (tamis_filter_sync(filter) < 0 ||
        (cli_given(call, TAKES(ACCEPT)) && tamis_filter_accept(filter) < 0))
        status = cli_fail_library();
    else if (cli_given(call, TAKES(JSON)))
        status = show_json(call, filter);
    return cli_filter_close(filter, status);
}

/* When one filter fails, the others are written all the same. */
static int sync_all(struct invocation *call)
{
    struct names names;
    int status = names_of_call(&names, call, call->store);
    for (size_t i = 0; i < names.count; i++)
        if (sync_filter(call, call->store, names.names[i]) != CLI_DONE) status = CLI_ERROR;
    names_clear(&names);
    return status;
}

/* ---- On a server ----------------------------------------------------------------------------- */

static int sync_one_remote(struct invocation *call)
{
    if (remote.sync(call->remote) < 0) return CLI_ERROR;
    return cli_given(call, TAKES(JSON)) ? show_json(call, NULL) : CLI_DONE;
}

static int keep_name(void *context, const struct tamis_filter_stat *stat)
{
    names_add(context, stat->name);
    return 0;
}

static int run_remote(struct invocation *call)
{
    struct names names;
    int status = CLI_DONE;
    if (cli_given(call, TAKES(ACCEPT)))
        return cli_fail_usage(call->command, "--accept is for the server's machine, with --store "
                                             "DIR");
    if (call->arg_count > 0) {
        (void)names_of_call(&names, call, NULL);
    } else {
        names = (struct names){0};
        if (remote.list(call->remote_store, NULL, true, keep_name, &names) < 0) status = CLI_ERROR;
    }
    struct invocation one = *call;
    for (size_t i = 0; i < names.count; i++) {
        one.args = &names.names[i];
        if (cli_with_remote_filter(&one, sync_one_remote) != CLI_DONE) status = CLI_ERROR;
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
    .run_remote = run_remote,
};
