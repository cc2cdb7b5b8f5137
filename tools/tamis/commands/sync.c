/* SPDX-License-Identifier: BSD-2-Clause */
/* sync.c: tamis sync [NAME...] - write filters to the disk, and their counts to the catalog. */
#include "command.h"
#include "names.h"
#include "remote/remote.h"

static int show_synced_json(const struct invocation *call)
{
    struct tamis_filter_stat stat;
    if (cli_stat(call, &stat) != CLI_DONE) return CLI_ERROR;
    json_t *line = json_new();
    json_put(line, "name", json_text(stat.name));
    json_put(line, "items", json_unsigned(stat.items));
    json_put(line, "checkpointed_at", json_time(stat.checkpointed_at));
    json_print(call->out, line);
    return CLI_DONE;
}

static int sync_opened(struct invocation *call)
{
    if (call->remote != NULL && remote_sync(call->remote) < 0) return CLI_ERROR;
    if (call->remote == NULL &&
        (tamis_filter_sync(call->filter) < 0 ||
         (cli_given(call, TAKES(ACCEPT)) && tamis_filter_accept(call->filter) < 0)))
        return cli_fail_library();
    return cli_given(call, TAKES(JSON)) ? show_synced_json(call) : CLI_DONE;
}

static int sync_one(struct invocation *call)
{
    if (call->remote_store != NULL) return cli_with_filter(call, 0, sync_opened);
    call->filter = cli_filter_open(call->store, call->args[0], 0);
    return call->filter != NULL ? cli_filter_close(call->filter, sync_opened(call)) : CLI_ERROR;
}

static int tell_unsynced(void *context, const char *name, int error)
{
    const struct invocation *call = context;
    (void)cli_fail_named(call->store, name, error);
    return 0;
}

static int sync_together(struct invocation *call, const struct names *names)
{
    const int64_t rc = tamis_store_sync(call->store, (const char *const *)names->names,
                                        names->count, tell_unsynced, call);
    if (rc < 0) return cli_fail_library();
    return rc == 0 ? CLI_DONE : CLI_ERROR;
}

/* When one filter fails, the others are written all the same. */
static int sync_each(const struct invocation *call, const struct names *names)
{
    struct invocation one = *call;
    int status = CLI_DONE;
    for (size_t i = 0; i < names->count; i++) {
        one.args = &names->names[i];
        if (sync_one(&one) != CLI_DONE) status = CLI_ERROR;
    }
    return status;
}

static int sync_all(struct invocation *call)
{
    struct names names;
    const bool each = call->remote_store != NULL || cli_given(call, TAKES(ACCEPT)) ||
                      cli_given(call, TAKES(JSON));
    if (call->remote_store != NULL && cli_given(call, TAKES(ACCEPT)))
        return cli_fail_usage(call->command, "--accept works on the files of a store: run it on "
                                             "the server's machine, with --store DIR");
    int status = cli_names(&names, call);
    const int synced = each ? sync_each(call, &names) : sync_together(call, &names);
    if (synced != CLI_DONE) status = synced;
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
