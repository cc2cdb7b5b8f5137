/* SPDX-License-Identifier: BSD-2-Clause */
/* drop.c: tamis drop NAME... */
#include "command.h"
#include "names.h"

static int check_present(tamis_store *store, const char *name)
{
    int rc = cli_filter_exists(store, name);
    if (rc < 0) return cli_fail_library();
    if (rc > 0) return CLI_DONE;
    char *sentence = NULL;
    if (asprintf(&sentence, "there is no filter '%s', so nothing was dropped", name) < 0)
        cli_no_memory();
    int status = cli_fail_absent(store, name, sentence);
    free(sentence);
    return status;
}

static int drop_named(tamis_store *store, const struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (check_present(store, names->names[i]) != CLI_DONE) return CLI_ERROR;
    int status = CLI_DONE;
    for (size_t i = 0; i < names->count; i++)
        if (tamis_filter_drop(store, names->names[i]) < 0) status = cli_fail_library();
    return status;
}

static int drop(struct invocation *call)
{
    struct names names;
    int status = names_of_call(&names, call, call->store);
    if (status == CLI_DONE) status = drop_named(call->store, &names);
    names_clear(&names);
    return status;
}

const struct command cli_command_drop = {
    .name = "drop",
    .summary = "remove filters and their files",
    .operands = "NAME...",
    .opens = OPENS_STORE,
    .run = drop,
};
