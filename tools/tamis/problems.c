/* SPDX-License-Identifier: BSD-2-Clause */
/* problems.c: the search for damage, which verify and doctor share; see problems.h. */
#include "problems.h"

int problems_with_store(struct invocation *call, int (*work)(struct invocation *call))
{
    char *path = cli_store_path(call);
    if (path == NULL) return CLI_ERROR;
    const struct tamis_store_options options = cli_store_options(call, 0);
    const int rc = tamis_store_open_with(path, &options, &call->store);
    free(path);
    if (rc == TAMIS_EBUSY) return cli_fail_library();
    if (rc < 0) return cli_with_store(call, TAMIS_OPEN_READ_ONLY, work);
    const int status = work(call);
    tamis_store_close(call->store);
    return status;
}

/* How far the checks are, of the whole store or of several filters one after the other. */
struct checking {
    tamis_problem_fn *fn;
    void *context;
    bool is_alone;         /* one check is all there is, so its end is the end */
    uint64_t before_bytes; /* of the checks before this one */
    uint64_t all_bytes;    /* of this one */
};

static int tell_problem(void *context, const struct tamis_problem *problem)
{
    const struct checking *checking = context;
    return checking->fn(checking->context, problem);
}

static int tell_progress(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    struct checking *checking = context;
    checking->all_bytes = all_bytes;
    progress_update_bytes(checking->before_bytes + done_bytes, checking->is_alone ? all_bytes : 0);
    return 0;
}

static int64_t check_filter_problems(tamis_store *store, const char *name,
                                     struct checking *checking)
{
    const struct tamis_verify_options options = {
        .size = sizeof options, .fn = tell_problem, .progress = tell_progress, .context = checking};
    const int64_t found = tamis_store_verify_with(store, name, &options);
    checking->before_bytes += checking->all_bytes;
    return found;
}

static int64_t check_all_problems(const struct invocation *call, const struct names *names,
                                  struct checking *checking)
{
    tamis_store *store = call->store;
    if (call->arg_count == 0) {
        const int64_t found = check_filter_problems(store, NULL, checking);
        if (found < 0) (void)cli_fail_library();
        return found;
    }
    int64_t problems = 0;
    for (size_t i = 0; i < names->count; i++) {
        const int64_t found = check_filter_problems(store, names->names[i], checking);
        if (found < 0) (void)cli_fail_named(store, names->names[i], found);
        if (found < 0) return found;
        problems += found;
    }
    return problems;
}

int64_t problems_find(const struct invocation *call, struct names *names, tamis_problem_fn *fn,
                      void *context)
{
    struct checking checking = {.fn = fn, .context = context};
    if (cli_names(names, call) != CLI_DONE) return -1;
    checking.is_alone = call->arg_count == 0 || names->count == 1;
    progress_start(&call->options, 0);
    const int64_t problems = check_all_problems(call, names, &checking);
    if (problems >= 0) progress_finish_bytes(checking.before_bytes);
    progress_end();
    return problems;
}
