/* SPDX-License-Identifier: BSD-2-Clause */
/* rename.c: tamis rename OLD NEW */
#include "command.h"

static const char HELP[] =
    "usage: tamis rename OLD NEW\n"
    "\n"
    "Give a filter another name.  There must be no filter NEW yet.  Processes that have the\n"
    "filter open go on.\n"
    "\n"
    "      --store DIR     the store\n"
    "\n"
    "examples:\n"
    "  tamis rename seen seen.2026\n"
    "  tamis rename -- -odd plain\n"
    "\n"
    "exit status: 0 done; 2 an error\n";

static int rename_filter(struct invocation *call)
{
    const int rc = tamis_filter_rename(call->store, call->args[0], call->args[1]);
    return rc < 0 ? cli_fail_named(call->store, call->args[0], rc) : CLI_DONE;
}

const struct command cli_command_rename = {
    .name = "rename",
    .summary = "give a filter another name",
    .operands = "OLD NEW",
    .help = HELP,
    .opens = OPENS_STORE,
    .run = rename_filter,
};
