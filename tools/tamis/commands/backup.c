/* SPDX-License-Identifier: BSD-2-Clause */
/* backup.c: tamis backup DIR - a copy of the store that is whole, while the store is in use. */
#include <unistd.h>

#include "command.h"
#include "lost.h"

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

static int tell_left_out(void *context, const struct tamis_problem *problem)
{
    (void)context;
    cli_tell("filter '%s' is damaged: %s", problem->filter, problem->reason);
    return 0;
}

static int take_progress(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    uint64_t *copied_bytes = context;
    return progress_take_bytes(copied_bytes, done_bytes, all_bytes);
}

static void print_json(const struct invocation *call, const struct tamis_backup_result *result,
                       double seconds)
{
    json_t *line = json_new();
    json_put(line, "directory", json_text(call->args[0]));
    json_put(line, "filters", json_unsigned(result->filters));
    json_put(line, "damaged", json_unsigned(result->left_out));
    json_put(line, "bytes", json_unsigned(result->written_bytes + result->kept_bytes));
    json_put(line, "written_bytes", json_unsigned(result->written_bytes));
    json_put(line, "seconds", json_rate(seconds));
    json_print(call->out, line);
}

/* Of a copy that an earlier one helped with: what it cost. */
static void tell_cost(const struct tamis_backup_result *result)
{
    char written[32], kept[32];
    if (result->kept_bytes == 0) return;
    text_size(written, sizeof written, (double)result->written_bytes);
    text_size(kept, sizeof kept, (double)result->kept_bytes);
    cli_tell("%s written; %s were in the backup before, unchanged", written, kept);
}

static int backup(struct invocation *call)
{
    uint64_t copied_bytes = 0;
    const double start = progress_clock();
    struct tamis_backup_result result = {.size = sizeof result};
    const bool strict = cli_given(call, TAKES(STRICT));
    const struct tamis_backup_options options = {.size = sizeof options,
                                                 .fn = strict ? NULL : tell_left_out,
                                                 .progress = take_progress,
                                                 .context = &copied_bytes};
    progress_start(&call->options, 0);
    const int64_t filters = tamis_store_backup_with(call->store, call->args[0], &options, &result);
    if (filters >= 0) progress_finish_bytes(copied_bytes);
    progress_end();
    if (filters < 0 && interrupt_signal())
        return cli_interrupted("; what was in %s before is there", call->args[0]);
    if (filters < 0) return cli_fail_library();
    tell_of_queues(call);
    lost_tell(call);
    if (cli_given(call, TAKES(JSON)))
        print_json(call, &result, progress_clock() - start);
    else
        tell_cost(&result);
    if (result.left_out == 0) return CLI_DONE;
    cli_tell("%ju filter%s in the copy; %ju damaged ('tamis doctor' says what to do)",
             (uintmax_t)result.filters, result.filters == 1 ? " is" : "s are",
             (uintmax_t)result.left_out);
    return CLI_NOTHING;
}

static int run_backup(struct invocation *call)
{
    interrupt_catch();
    return cli_with_store(call, TAMIS_OPEN_READ_ONLY, backup);
}

const struct command cli_command_backup = {
    .name = "backup",
    .summary = "copy the store while it is in use",
    .operands = "DIR",
    .options = TAKES(STRICT) | TAKES(JSON) | TAKES_PROGRESS,
    .run = run_backup,
};
