/* SPDX-License-Identifier: BSD-2-Clause */
/* backup.c: tamis backup DIR - a copy of the store that is whole, while the store is in use. */
#include <unistd.h>

#include "command.h"

/* Queues of tamis.Frontier (docs/frontier.md) are databases of SQLite, of which the library knows
 * nothing. */
static void tell_of_queues(const struct invocation *call)
{
    char *store = cli_store_path(call);
    if (store == NULL) return;
    char *queues = cli_format("%s/queues", store);
    if (access(queues, F_OK) == 0)
        cli_tell("%s, the queues of tamis.Frontier, is not copied; Frontier.backup('%s') in Python "
                 "copies one after this",
                 queues, call->args[0]);
    free(queues);
    free(store);
}

static int backup(struct invocation *call)
{
    uint64_t copied_bytes = 0;
    const double start = progress_clock();
    progress_start(&call->options, 0);
    const int64_t filters =
        tamis_store_backup(call->store, call->args[0], progress_take_bytes, &copied_bytes);
    if (filters >= 0) progress_finish_bytes(copied_bytes);
    progress_end();
    if (filters < 0 && interrupt_signal()) {
        return cli_interrupted("; nothing is left in %s", call->args[0]);
    }
    if (filters < 0) return cli_fail_library();
    tell_of_queues(call);
    if (cli_given(call, TAKES(JSON))) {
        json_t *line = json_new();
        json_put(line, "directory", json_text(call->args[0]));
        json_put(line, "filters", json_unsigned((uint64_t)filters));
        json_put(line, "bytes", json_unsigned(copied_bytes));
        json_put(line, "seconds", json_rate(progress_clock() - start));
        json_print(call->out, line);
    }
    return CLI_DONE;
}

static int run_backup(struct invocation *call)
{
    interrupt_catch();
    return cli_with_store(call, TAMIS_READ_ONLY, backup);
}

const struct command cli_command_backup = {
    .name = "backup",
    .summary = "copy the store while it is in use",
    .operands = "DIR",
    .options = TAKES(JSON) | TAKES_PROGRESS,
    .run = run_backup,
};
