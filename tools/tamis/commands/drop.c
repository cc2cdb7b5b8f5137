/* SPDX-License-Identifier: BSD-2-Clause */
/* drop.c: tamis drop NAME... */
#include "command.h"
#include "names.h"

static int check_present(const struct invocation *call, const char *name)
{
    char *sentence = NULL;
    if (asprintf(&sentence, "there is no filter '%s', so nothing was dropped", name) < 0)
        cli_no_memory();
    const int rc = call->remote_store ? remote.exists(call->remote_store, name, sentence)
                                      : cli_filter_exists(call->store, name);
    if (rc < 0 && !call->remote_store) cli_fail_library();
    if (rc == 0 && !call->remote_store) cli_fail_absent(call->store, name, sentence);
    free(sentence);
    return rc > 0 ? CLI_DONE : CLI_ERROR;
}

static int drop_named(const struct invocation *call, const struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (check_present(call, names->names[i]) != CLI_DONE) return CLI_ERROR;
    int status = CLI_DONE;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->names[i];
        if (call->remote_store ? remote.drop(call->remote_store, name) < 0
                               : tamis_filter_drop(call->store, name) < 0)
            status = call->remote_store ? CLI_ERROR : cli_fail_library();
    }
    return status;
}

static int drop(struct invocation *call)
{
    struct names names;
    int status = names_of_call(&names, call, call->store);
    if (status == CLI_DONE) status = drop_named(call, &names);
    names_clear(&names);
    return status;
}

const struct command cli_command_drop = {
    .name = "drop",
    .summary = "remove filters and their files",
    .operands = "NAME...",
    .opens = OPENS_STORE,
    .run = drop,
    .run_remote = drop,
};
