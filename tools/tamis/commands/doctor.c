/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor.c: tamis doctor [NAME...] - is the store healthy, and what is to be done where it is not?
 *
 * There are two rounds: first what verify finds, which is damage; then the states of the filters
 * that need attention.  Each finding is a line, with lines below it that say what to do: prose, and
 * a command where there is one.
 */
#include "findings.h"
#include "lost.h"
#include "memory.h"
#include "problems.h"

struct visit {
    const struct invocation *call;
    const struct names *names;
    uintmax_t attentions;
    bool damaged;
    struct damage *damages;
    size_t count, room;
};

static void show_finding(const struct visit *visit, const struct finding *f)
{
    struct out *out = visit->call->out;
    if (cli_given(visit->call, TAKES(JSON))) {
        json_print(out, finding_json(f));
        return;
    }
    out_printable(out, *f->filter ? f->filter : "the store");
    out_format(out, ": %s: ", f->state);
    if (f->file != NULL && *f->file) {
        out_printable(out, f->file);
        out_format(out, ": offset %ju: ", (uintmax_t)f->offset);
    }
    out_printable(out, f->what);
    out_format(out, "\n    %s\n", f->advice);
    if (f->command != NULL) out_format(out, "    %s\n", f->command);
}

/* ---- Damage ------------------------------------------------------------------------------- */

/* What is damaged is kept until 'tamis repair --dry-run' has said what can be done about it. */
struct damage {
    char *filter, *file, *what;
    uint64_t offset;
    bool is_odd;    /* it is no proof of damage */
    bool is_mended; /* 'tamis repair' mends it, or another problem of the file */
    char *mend;     /* what it says can be done where it does not mend; NULL: nothing */
    char *left;     /* why it leaves it; NULL: it does not say */
    bool is_left;   /* 'tamis repair' tells of it again */
};

static int keep_problem(void *context, const struct tamis_problem *problem)
{
    struct visit *visit = context;
    visit->damages =
        cli_grow(visit->damages, visit->count + 1, &visit->room, sizeof *visit->damages);
    visit->damages[visit->count++] = (struct damage){.filter = cli_strdup(problem->filter),
                                                     .file = cli_strdup(problem->file),
                                                     .what = cli_strdup(problem->reason),
                                                     .offset = problem->offset,
                                                     .is_odd = problem->error == 0};
    visit->attentions += problem->error == 0;
    visit->damaged = visit->damaged || problem->error != 0;
    return 0;
}

static int note_step(void *context, const struct tamis_repair_step *step)
{
    const struct visit *visit = context;
    for (size_t i = 0; i < visit->count; i++) {
        struct damage *damage = &visit->damages[i];
        if (strcmp(damage->file, step->file) != 0) continue;
        damage->is_mended = damage->is_mended || step->error == 0;
        if (step->mend != NULL && damage->mend == NULL) damage->mend = cli_strdup(step->mend);
        if (step->error == 0) continue;
        if (strncmp(step->what, damage->what, strlen(damage->what)) == 0)
            damage->is_left = true;
        else if (damage->left == NULL)
            damage->left = cli_format("'tamis repair' leaves it: it %s", step->what);
    }
    return 0;
}

/* Asks what a repair would do, which reads all data once more. */
static int ask_for_mends(struct visit *visit)
{
    char *path = cli_store_path(visit->call);
    if (path == NULL) return CLI_ERROR;
    const struct tamis_repair_options options = {.size = sizeof options,
                                                 .flags = cli_store_flags(visit->call, 0) |
                                                          TAMIS_REPAIR_DRY_RUN,
                                                 .fn = note_step,
                                                 .context = visit};
    const int64_t rc = tamis_store_repair_with(path, &options);
    free(path);
    return rc < 0 ? cli_fail_library() : CLI_DONE;
}

static void show_damage(const struct visit *visit, const struct damage *damage)
{
    const bool rolls_back =
        damage->mend != NULL && strncmp(damage->mend, "'tamis rollback'", 16) == 0;
    const char *advice = damage->left != NULL ? damage->left
                         : damage->is_left    ? "'tamis repair' leaves it; do what is said above"
                                              : "'tamis repair' does not mend it",
               *format = NULL;
    if (damage->is_odd && *damage->filter == '\0') {
        advice = "no key is lost; this removes it:";
        format = "tamis repair";
    } else if (damage->is_odd && !damage->is_mended) {
        advice = "this is no proof of damage; if keys that it must have are absent, make it anew "
                 "from its keys, or restore a copy";
    } else if (damage->is_mended && !damage->is_left) {
        advice = "this mends it:";
        format = "tamis repair";
    } else if (rolls_back) {
        advice = "go back to the generation that is kept, or build it anew, or restore a copy:";
        format = "tamis rollback NAME";
    } else if (damage->mend != NULL) {
        advice = damage->mend;
    }
    char *command = format != NULL ? finding_command(format, damage->filter) : NULL;
    const struct finding finding = {.filter = damage->filter,
                                    .state = *damage->filter == '\0' ? "stray"
                                             : damage->is_odd        ? "odd"
                                                                     : "damaged",
                                    .what = damage->what,
                                    .advice = advice,
                                    .command = command,
                                    .file = damage->file,
                                    .offset = damage->offset};
    show_finding(visit, &finding);
    free(command);
}

static int show_damages(struct visit *visit)
{
    const int status = visit->count > 0 ? ask_for_mends(visit) : CLI_DONE;
    for (size_t i = 0; i < visit->count; i++) {
        struct damage *damage = &visit->damages[i];
        if (status == CLI_DONE) show_damage(visit, damage);
        free(damage->filter);
        free(damage->file);
        free(damage->what);
        free(damage->mend);
        free(damage->left);
    }
    free(visit->damages);
    return status;
}

/* ---- States ------------------------------------------------------------------------------- */

static void show_state(void *context, const struct finding *finding)
{
    struct visit *visit = context;
    show_finding(visit, finding);
    visit->attentions++;
}

static int show_states(void *context, const struct tamis_filter_stat *stat)
{
    struct visit *visit = context;
    if (names_have(visit->names, stat->name)) {
        findings_of_stat(stat, show_state, visit);
        findings_of_window(visit->call->store, stat, show_state, visit);
        findings_of_mapping(visit->call->store, stat, show_state, visit);
    }
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
    int64_t problems = problems_find(call, &names, keep_problem, &visit);
    if (show_damages(&visit) != CLI_DONE) problems = -1;
    if (problems >= 0 && tamis_store_list_live(call->store, NULL, show_states, &visit) < 0)
        problems = -cli_fail_library();
    (void)out_flush(call->out); /* the findings first, then their number */
    lost_tell(call);
    const int status = problems < 0 ? CLI_ERROR : tell_result(&visit, problems);
    names_clear(&names);
    return status;
}

static int run_doctor(struct invocation *call)
{
    return problems_with_store(call, examine);
}

const struct command cli_command_doctor = {
    .name = "doctor",
    .summary = "is the store healthy, and what to do where it is not",
    .operands = "[NAME...]",
    .options = TAKES(JSON) | TAKES_PROGRESS,
    .run = run_doctor,
};
