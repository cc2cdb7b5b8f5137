/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor.c: tamis doctor [NAME...] - is the store healthy, and what is to be done where it is not?
 *
 * There are two rounds, and each finding is a line: first what verify finds, which is damage; then
 * the states of the filters that need attention.
 */
#include "findings.h"
#include "problems.h"

struct visit {
    const struct invocation *call;
    const struct names *names;
    uintmax_t attentions;
};

static void show(const struct visit *visit, const struct finding *f)
{
    struct out *out = visit->call->out;
    if (cli_given(visit->call, TAKES(JSON))) {
        json_t *line = json_new();
        json_put(line, "filter", json_text(f->filter));
        json_put(line, "state", json_text(f->state));
        json_put(line, "file", f->file ? json_text(f->file) : json_null());
        json_put(line, "offset", f->file ? json_unsigned(f->offset) : json_null());
        json_put(line, "what", json_text(f->what));
        json_put(line, "advice", json_text(f->advice));
        json_print(out, line);
        return;
    }
    out_printable(out, *f->filter ? f->filter : "the store");
    out_format(out, ": %s: ", f->state);
    if (f->file && *f->file) {
        out_printable(out, f->file);
        out_format(out, ": offset %ju: ", (uintmax_t)f->offset);
    }
    out_printable(out, f->what);
    out_format(out, "\n    %s\n", f->advice);
}

/* ---- Damage ------------------------------------------------------------------------------- */

static int show_problem(void *context, const struct tamis_problem *problem)
{
    const struct visit *visit = context;
    const bool log = strncmp(problem->file, "logs/", 5) == 0 && *problem->filter;
    char *advice =
        finding_advice(log ? "tamis sync NAME" : "tamis repair", log ? problem->filter : "");
    const struct finding finding = {.filter = problem->filter,
                                    .state = *problem->filter ? "damaged" : "stray",
                                    .what = problem->reason,
                                    .advice = advice,
                                    .file = problem->file,
                                    .offset = problem->offset};
    show(visit, &finding);
    free(advice);
    return 0;
}

/* ---- States ------------------------------------------------------------------------------- */

static void show_state(void *context, const struct finding *finding)
{
    struct visit *visit = context;
    show(visit, finding);
    visit->attentions++;
}

static int show_states(void *context, const struct tamis_filter_stat *stat)
{
    struct visit *visit = context;
    if (names_have(visit->names, stat->name)) findings_of_stat(stat, show_state, visit);
    return visit->call->out->failed; /* nobody reads on */
}

/* ---- The command -------------------------------------------------------------------------- */

static int tell_result(const struct visit *visit, int64_t problems)
{
    const uintmax_t filters = visit->names->count, wants = visit->attentions;
    if (problems > 0)
        return cli_fail("checked %ju filter%s: %jd problem%s, and %ju thing%s to attend to",
                        filters, text_plural(filters), (intmax_t)problems,
                        text_plural((uintmax_t)problems), wants, text_plural(wants));
    if (wants > 0) {
        cli_tell("checked %ju filter%s: %ju thing%s to attend to", filters, text_plural(filters),
                 wants, text_plural(wants));
        return CLI_NOTHING;
    }
    cli_tell("checked %ju filter%s: healthy", filters, text_plural(filters));
    return CLI_DONE;
}

static int examine(struct invocation *call)
{
    struct names names;
    struct visit visit = {.call = call, .names = &names};
    int64_t problems = problems_find(call, &names, show_problem, &visit);
    if (problems >= 0 && tamis_store_list_live(call->store, NULL, show_states, &visit) < 0)
        problems = -cli_fail_library();
    out_flush(call->out); /* the findings first, then their number */
    const int status = problems < 0 ? CLI_ERROR : tell_result(&visit, problems);
    names_clear(&names);
    return status;
}

static int run(struct invocation *call)
{
    return problems_with_store(call, examine);
}

const struct command cli_command_doctor = {
    .name = "doctor",
    .summary = "is the store healthy, and what to do where it is not",
    .operands = "[NAME...]",
    .options = TAKES(JSON) | TAKES_PROGRESS,
    .run = run,
};
