/* SPDX-License-Identifier: BSD-2-Clause */
/* rename.c: tamis rename OLD NEW */
#include "command.h"
#include "remote/remote.h"

static int rename_filter(struct invocation *call)
{
    const int rc = tamis_filter_rename(call->store, call->args[0], call->args[1]);
    return rc < 0 ? cli_fail_named(call->store, call->args[0], rc) : CLI_DONE;
}

static int rename_remote(struct invocation *call)
{
    const int rc = remote_rename(call->remote_store, call->args[0], call->args[1]);
    return rc < 0 ? CLI_ERROR : CLI_DONE;
}

const struct command cli_command_rename = {
    .name = "rename",
    .summary = "give a filter another name",
    .operands = "OLD NEW",
    .opens = OPENS_STORE,
    .run = rename_filter,
    .run_remote = rename_remote,
};
