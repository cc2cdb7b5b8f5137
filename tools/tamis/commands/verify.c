/* SPDX-License-Identifier: BSD-2-Clause */
/* verify.c: tamis verify [NAME...] - the catalog against the segments, and both against damage. */
#include "lost.h"
#include "problems.h"
#include "record.h"

#define OF_PROBLEM(how, member) RECORD_MEMBER(how, tamis_problem, member)

static const struct field FIELDS_OF_PROBLEM[] = {
    {"file", OF_PROBLEM(POINTER, file)},     {"offset", OF_PROBLEM(U64, offset)},
    {"filter", OF_PROBLEM(POINTER, filter)}, {"error", OF_PROBLEM(ERROR, error)},
    {"reason", OF_PROBLEM(POINTER, reason)},
};

struct verification {
    const struct invocation *call;
    uintmax_t odd; /* of what is no problem for certain */
};

static int show_problem(void *context, const struct tamis_problem *problem)
{
    struct verification *verification = context;
    const struct invocation *call = verification->call;
    struct out *out = call->out;
    verification->odd += problem->error == 0;
    if (cli_given(call, TAKES(JSON))) {
        json_print(out, record_json(FIELDS(FIELDS_OF_PROBLEM), 0, problem));
        return 0;
    }
    out_printable(out, problem->file); /* a stray file may have any name */
    out_format(out, ": offset %ju: ", (uintmax_t)problem->offset);
    out_printable(out, problem->reason);
    out_filter(out, problem->filter);
    return 0;
}

/* Warns of a filter that is unclean or degraded. Its files are sound, so this does not count as a
 * problem. */
static int tell_trouble(void *context, const struct tamis_filter_stat *stat)
{
    const struct names *names = context;
    struct tamis_filter_stat others = *stat;
    others.state &= ~TAMIS_STATE_DAMAGED; /* damage was told already, with its place */
    if (names_have(names, stat->name)) cli_tell_trouble_of(&others);
    return 0;
}

static int verify_filters(struct invocation *call)
{
    struct names names;
    struct verification verification = {.call = call};
    int64_t problems = problems_find(call, &names, show_problem, &verification);
    const uintmax_t filters = names.count;
    (void)out_flush(call->out); /* the problems first, then what is said about them */
    if (problems >= 0 && tamis_store_list(call->store, NULL, tell_trouble, &names) < 0)
        problems = -cli_fail_library();
    names_clear(&names);
    lost_tell(call);
    if (problems < 0) return CLI_ERROR;
    if (problems > 0)
        return cli_fail("checked %ju filter%s: %jd problem%s", filters, text_plural(filters),
                        (intmax_t)problems, text_plural((uintmax_t)problems));
    if (verification.odd > 0)
        cli_tell("checked %ju filter%s: no problem found, but %ju thing%s odd", filters,
                 text_plural(filters), verification.odd,
                 verification.odd == 1 ? " looks" : "s look");
    else
        cli_tell("checked %ju filter%s: no problem found", filters, text_plural(filters));
    return CLI_DONE;
}

static int run_verify(struct invocation *call)
{
    return problems_with_store(call, verify_filters);
}

const struct command cli_command_verify = {
    .name = "verify",
    .summary = "check the store, say what is wrong and where",
    .operands = "[NAME...]",
    .options = TAKES(JSON) | TAKES_PROGRESS,
    .run = run_verify,
};
