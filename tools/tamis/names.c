/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c: the filters that a command is about; see names.h. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

void names_add(struct names *names, const char *name)
{
    if (names->count == names->room) {
        names->room = names->room ? names->room * 2 : 16;
        names->names = cli_realloc(names->names, names->room * sizeof *names->names);
    }
    names->names[names->count++] = cli_strdup(name);
}

bool names_have(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0) return true;
    return false;
}

static int add_listed(void *context, const struct tamis_filter_stat *stat)
{
    names_add(context, stat->name);
    return 0;
}

int names_of_call(struct names *names, const struct invocation *call, tamis_store *store)
{
    *names = (struct names){0};
    if (call->arg_count == 0 && tamis_store_list(store, NULL, add_listed, names) < 0)
        return cli_fail_library();
    for (size_t i = 0; i < call->arg_count; i++)
        if (!names_have(names, call->args[i])) names_add(names, call->args[i]);
    return CLI_DONE;
}

void names_clear(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct names){0};
}
