/* SPDX-License-Identifier: BSD-2-Clause */
/* rename.c: tamis rename OLD NEW */
#include "command.h"

static const char HELP[] =
    "usage: tamis rename OLD NEW\n"
    "\n"
    "Give a filter another name.  NEW must not be there.  Processes that have it open go on.\n"
    "\n"
    "      --store DIR     the store\n"
    "\n"
    "examples:\n"
    "  tamis rename seen seen.2026\n"
    "  tamis rename -- -odd plain\n"
    "\n"
    "exit status: 0 done; 2 an error\n";

static int run(struct invocation *call)
{
    tamis_store *store = cli_store_open(call, 0);
    if (!store) return CLI_ERROR;
    int status = CLI_DONE;
    int rc = tamis_filter_rename(store, call->args[0], call->args[1]);
    if (rc == TAMIS_ENOTFOUND)
        status = cli_fail_absent(store, call->args[0], tamis_last_error());
    else if (rc < 0)
        status = cli_fail_library();
    tamis_store_close(store);
    return status;
}

const struct command cli_command_rename = {
    .name = "rename",
    .summary = "give a filter another name",
    .operands = "OLD NEW",
    .help = HELP,
    .args_min = 2,
    .args_max = 2,
    .run = run,
};
