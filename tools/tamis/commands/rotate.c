/* SPDX-License-Identifier: BSD-2-Clause */
/* rotate.c: tamis rotate NAME... - begin a new slice of the window now. */
#include "command.h"
#include "remote/remote.h"

static int rotate(tamis_store *store, const char *name)
{
    tamis_filter *filter = cli_filter_open(store, name, 0);
    if (filter == NULL) return CLI_ERROR;
    int status = CLI_DONE;
    if (tamis_filter_rotate(filter) < 0) status = cli_fail_library();
    return cli_filter_close(filter, status);
}

/* When one filter fails, the others are rotated all the same. */
static int rotate_all(struct invocation *call)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < call->arg_count; i++)
        if (rotate(call->store, call->args[i]) != CLI_DONE) status = CLI_ERROR;
    return status;
}

static int rotate_remote(struct invocation *call)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < call->arg_count; i++) {
        struct remote_filter *filter = remote_filter_open(call->remote_store, call->args[i]);
        if (filter == NULL || remote_rotate(filter) < 0) status = CLI_ERROR;
        if (filter != NULL) remote_filter_close(filter);
    }
    return status;
}

const struct command cli_command_rotate = {
    .name = "rotate",
    .summary = "begin a new slice of a filter's window",
    .operands = "NAME...",
    .opens = OPENS_STORE,
    .run = rotate_all,
    .run_remote = rotate_remote,
};
