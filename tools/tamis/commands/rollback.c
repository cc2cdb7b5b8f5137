/* SPDX-License-Identifier: BSD-2-Clause */
/* rollback.c: tamis rollback NAME [GENERATION] - put a kept generation in force again. */
#include "command.h"
#include "number.h"
#include "remote/remote.h"

static int keep_in_force(void *context, const struct tamis_generation_stat *stat)
{
    uint64_t *generation = context;
    if (stat->in_force) *generation = stat->generation;
    return 0;
}

static bool generation_asked(const struct invocation *call, uint64_t *generation)
{
    return number_between("GENERATION", call->args[1], 1, UINT64_MAX, generation);
}

static void show_rollback(const struct invocation *call, uint64_t before, uint64_t after)
{
    const char *name = call->args[0];
    if (!cli_given(call, TAKES(JSON))) {
        cli_tell("generation %" PRIu64 " of '%s' is in force, instead of generation %" PRIu64,
                 after, name, before);
        return;
    }
    json_t *line = json_new();
    json_put(line, "name", json_text(name));
    json_put(line, "generation", json_unsigned(after));
    json_put(line, "before", json_unsigned(before));
    json_print(call->out, line);
}

static int rollback(struct invocation *call)
{
    tamis_store *store = call->store;
    const char *name = call->args[0];
    uint64_t generation = 0, before = 0, after = 0;
    if (call->arg_count > 1 && !generation_asked(call, &generation)) return CLI_ERROR;
    int rc = tamis_filter_generations(store, name, keep_in_force, &before);
    if (rc < 0) return cli_fail_named(store, name, rc);
    rc = tamis_filter_rollback(store, name, generation);
    if (rc < 0) return cli_fail_library();
    if (tamis_filter_generations(store, name, keep_in_force, &after) < 0)
        return cli_say_done(cli_fail_library(), name, "has the older generation in force");
    show_rollback(call, before, after);
    return CLI_DONE;
}

static int run_rollback(struct invocation *call)
{
    uint64_t generation;
    if (call->arg_count > 1 && !generation_asked(call, &generation)) return CLI_ERROR;
    return cli_with_store(call, 0, rollback);
}

/* All shards of a filter on a server, or its one key. */
static int rollback_shards(struct invocation *call)
{
    uint64_t generation = 0, before, after;
    if (call->arg_count > 1 && !generation_asked(call, &generation)) return CLI_ERROR;
    if (remote_rollback(call->remote, generation, &before, &after) < 0) return CLI_ERROR;
    show_rollback(call, before, after);
    return CLI_DONE;
}

static int run_rollback_remote(struct invocation *call)
{
    uint64_t generation;
    if (call->arg_count > 1 && !generation_asked(call, &generation)) return CLI_ERROR;
    return cli_with_filter(call, 0, rollback_shards);
}

const struct command cli_command_rollback = {
    .name = "rollback",
    .summary = "put an older generation of a filter in force again",
    .operands = "NAME [GENERATION]",
    .options = TAKES(JSON),
    .run = run_rollback,
    .run_remote = run_rollback_remote,
};
