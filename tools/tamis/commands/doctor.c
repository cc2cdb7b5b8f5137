/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor.c: tamis doctor [NAME...] - is the store healthy, and what is to be done where it is not?
 *
 * There are two rounds, and each finding is a line: first what verify finds, which is damage; then
 * the states of the filters that need attention.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "problems.h"
#include "text.h"

struct visit {
    const struct invocation *call;
    const struct names *names;
    uintmax_t attentions;
};

struct finding {
    const char *filter, *state, *what, *advice; /* filter "": none */
    const char *file;                           /* NULL: of the filter as a whole */
    uint64_t offset;
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

/* The name, quoted as one word for a shell. The caller frees it. */
static char *quote(const char *name)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/-+@%";
    char *word = cli_alloc(4 * strlen(name) + 3), *to = word;
    if (*name != '-' && name[strspn(name, plain)] == '\0') return strcpy(word, name);
    if (*name == '-') to = stpcpy(to, "-- ");
    *to++ = '\'';
    for (; *name; name++) {
        if (*name == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *name;
    }
    strcpy(to, "'");
    return word;
}

/* The advice, with the quoted name in the place of NAME. The caller frees it. */
static char *advise(const char *format, const char *name)
{
    char *word = quote(name), *text = NULL;
    const char *at = strstr(format, "NAME"), *rest = at ? at + 4 : "";
    const int before = (int)(at ? (size_t)(at - format) : strlen(format));
    if (asprintf(&text, "%.*s%s%s", before, format, at ? word : "", rest) < 0) cli_no_memory();
    free(word);
    return text;
}

/* ---- Damage ------------------------------------------------------------------------------- */

static int show_problem(void *context, const struct tamis_problem *problem)
{
    const struct visit *visit = context;
    const bool log = strncmp(problem->file, "logs/", 5) == 0 && *problem->filter;
    char *advice = advise(log ? "tamis sync NAME" : "tamis repair", log ? problem->filter : "");
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

static void show_state(struct visit *visit, const struct tamis_filter_stat *stat, const char *state,
                       const char *what, const char *advice)
{
    char *line = advise(advice, stat->name);
    const struct finding finding = {
        .filter = stat->name, .state = state, .what = what, .advice = line};
    show(visit, &finding);
    visit->attentions++;
    free(line);
}

/* Shows a filter that holds too many keys, or will with the next ones. */
static void show_fullness(struct visit *visit, const struct tamis_filter_stat *stat)
{
    char what[256], advice[128];
    const bool refuses = stat->on_full == TAMIS_ON_FULL_REFUSE;
    snprintf(advice, sizeof advice,
             "tamis create LARGER --like NAME -n %" PRIu64 ", and add the keys there",
             2 * (stat->items > stat->capacity ? stat->items : stat->capacity));
    if (stat->state & TAMIS_STATE_OVER)
        snprintf(what, sizeof what,
                 "it holds %" PRIu64 " keys, too many for its rate: of keys that were never added "
                 "%.3g %% seem present, not %.3g %%",
                 stat->items, 100 * stat->predicted_rate, 100 * stat->fp_rate);
    else if (stat->state & TAMIS_STATE_FULL)
        snprintf(what, sizeof what, "it holds the %" PRIu64 " keys that it was made for, and %s",
                 stat->capacity,
                 refuses ? "refuses more" : "its rate rises with every further key");
    else
        return;
    show_state(visit, stat, stat->state & TAMIS_STATE_OVER ? "over" : "full", what, advice);
}

static int show_states(void *context, const struct tamis_filter_stat *stat)
{
    struct visit *visit = context;
    char what[256], since[32];
    if (!names_have(visit->names, stat->name)) return 0;
    if (stat->state & TAMIS_STATE_UNCLEAN) {
        text_time(since, sizeof since, stat->unclean_since);
        snprintf(what, sizeof what,
                 "the machine went down while the filter was written to: keys that were added "
                 "since %s may be missing",
                 since);
        show_state(visit, stat, "unclean", what,
                   "add them again, then run: tamis sync --accept NAME");
    }
    if (stat->state & TAMIS_STATE_DEGRADED) {
        text_time(since, sizeof since, stat->degraded_since);
        snprintf(what, sizeof what, "a sync failed at %s: a power cut may lose keys", since);
        show_state(visit, stat, "degraded", what,
                   "look at the disk (dmesg), then run: tamis sync NAME");
    }
    show_fullness(visit, stat);
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
