/* SPDX-License-Identifier: BSD-2-Clause */
/* verify.c: tamis verify [NAME...] - the catalog against the segments, and both against damage. */
#include "verify.h"

#include <stdlib.h>

#include <string.h>

#include "command.h"
#include "json.h"
#include "names.h"
#include "text.h"

static const char HELP[] =
    "usage: tamis verify [NAME...]\n"
    "\n"
    "Check headers, checksums, sizes, the catalog against the segments, and whether bits were "
    "lost.\n"
    "What is damaged is 'damaged' in 'tamis list' from then on, until it is found sound; nothing\n"
    "else is changed.\n"
    "Without NAME the whole store, files that belong to no filter included.  Each problem is a\n"
    "line: file, offset, reason.\n"
    "\n"
    "      --json          one object a problem: file, offset, filter, error, reason\n"
    "      --store DIR     the store\n"
    "\n"
    "examples:\n"
    "  tamis verify\n"
    "  tamis verify seen --json\n"
    "\n"
    "exit status: 0 no problem found; 2 problems, or an error\n";

static int show_problem(void *context, const struct tamis_problem *problem)
{
    const struct invocation *call = context;
    if (options_have(&call->options, TAKES(JSON))) {
        json_t *line = json_new();
        json_put(line, "file", json_text(problem->file));
        json_put(line, "offset", json_unsigned(problem->offset));
        json_put(line, "filter", json_text(problem->filter));
        json_put(line, "error", json_text(tamis_error_name(problem->error)));
        json_put(line, "reason", json_text(problem->reason));
        json_print(call->out, line);
        return 0;
    }
    char *file = text_printable(problem->file); /* a stray file may have any name */
    char *reason = text_printable(problem->reason);
    out_format(call->out, "%s: offset %ju: %s", file, (uintmax_t)problem->offset, reason);
    char *filter = text_printable(problem->filter);
    if (filter[0]) out_format(call->out, " (filter '%s')", filter);
    out_char(call->out, '\n');
    free(filter);
    free(file);
    free(reason);
    return 0;
}

int64_t verify_named(const struct invocation *call, tamis_store *store, const struct names *names,
                     tamis_problem_fn *fn, void *context)
{
    if (call->arg_count == 0) {
        int64_t found = tamis_store_verify(store, NULL, fn, context);
        if (found < 0) cli_fail_library();
        return found;
    }
    int64_t problems = 0;
    for (size_t i = 0; i < names->count; i++) {
        int64_t found = tamis_store_verify(store, names->names[i], fn, context);
        if (found == TAMIS_ENOTFOUND)
            cli_fail_absent(store, names->names[i], tamis_last_error());
        else if (found < 0)
            cli_fail_library();
        if (found < 0) return found;
        problems += found;
    }
    return problems;
}

/* No problem of the files: they are as the machine has left them. */
static int tell_trouble(void *context, const struct tamis_filter_stat *stat)
{
    const struct names *names = context;
    struct tamis_filter_stat others = *stat;
    others.state &= ~TAMIS_STATE_DAMAGED; /* that is told, with the place */
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], stat->name) == 0) cli_tell_trouble_of(&others);
    return 0;
}

tamis_store *verify_open(const struct invocation *call)
{
    tamis_store *store = NULL;
    char *path = cli_store_path(call);
    if (!path) return NULL;
    const struct tamis_store_options options = cli_store_options(call, 0);
    const int rc = tamis_store_open_with(path, &options, &store);
    free(path);
    if (rc == TAMIS_EBUSY) cli_fail_library();
    return rc == 0 || rc == TAMIS_EBUSY ? store : cli_store_open(call, TAMIS_READ_ONLY);
}

static int run(struct invocation *call)
{
    tamis_store *store = verify_open(call);
    if (!store) return CLI_ERROR;
    struct names names;
    int status = names_of_call(&names, call, store);
    int64_t problems =
        status == CLI_DONE ? verify_named(call, store, &names, show_problem, call) : -1;
    uintmax_t filters = names.count;
    out_flush(call->out); /* the problems first, then what is said about them */
    if (problems >= 0 && tamis_store_list(store, NULL, tell_trouble, &names) < 0) {
        cli_fail_library();
        problems = -1;
    }
    names_clear(&names);
    tamis_store_close(store);
    if (problems < 0) return CLI_ERROR;
    if (problems > 0)
        return cli_fail("checked %ju filter%s: %jd problem%s", filters, text_plural(filters),
                        (intmax_t)problems, text_plural((uintmax_t)problems));
    cli_tell("checked %ju filter%s: no problem found", filters, text_plural(filters));
    return CLI_DONE;
}

const struct command cli_command_verify = {
    .name = "verify",
    .summary = "check the store, say what is wrong and where",
    .operands = "[NAME...]",
    .help = HELP,
    .options = TAKES(JSON),
    .args_min = 0,
    .args_max = SIZE_MAX,
    .run = run,
};
