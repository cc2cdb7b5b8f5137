/* SPDX-License-Identifier: BSD-2-Clause */
/* problems.c: the search for damage, which verify and doctor share; see problems.h. */
#include "problems.h"

#include <stdlib.h>

int problems_with_store(struct invocation *call, int (*work)(struct invocation *call))
{
    char *path = cli_store_path(call);
    if (!path) return CLI_ERROR;
    const struct tamis_store_options options = cli_store_options(call, 0);
    const int rc = tamis_store_open_with(path, &options, &call->store);
    free(path);
    if (rc == TAMIS_EBUSY) return cli_fail_library();
    if (rc < 0) return cli_with_store(call, TAMIS_READ_ONLY, work);
    const int status = work(call);
    tamis_store_close(call->store);
    return status;
}

int64_t problems_find(const struct invocation *call, struct names *names, tamis_problem_fn *fn,
                      void *context)
{
    tamis_store *store = call->store;
    if (names_of_call(names, call, store) != CLI_DONE) return -1;
    if (call->arg_count == 0) {
        int64_t found = tamis_store_verify(store, NULL, fn, context);
        if (found < 0) cli_fail_library();
        return found;
    }
    int64_t problems = 0;
    for (size_t i = 0; i < names->count; i++) {
        int64_t found = tamis_store_verify(store, names->names[i], fn, context);
        if (found < 0) cli_fail_named(store, names->names[i], found);
        if (found < 0) return found;
        problems += found;
    }
    return problems;
}
