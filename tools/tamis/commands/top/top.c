/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.c: tamis top [PATTERN] - what filters do now; figures.h has the parts.
 *
 * On a terminal this is a live view.  Elsewhere, and where the terminal can show none, each look is
 * printed below the last.  A look compares with the look before, so the first one is printed by the
 * live view only.
 */
#include <unistd.h>

#include "figures.h"
#include "paint.h"

#define INTERVAL_NS INT64_C(1000000000)

static void print_figures_json(const struct figures *figures)
{
    for (size_t i = 0; i < figures->now.count; i++)
        json_print(figures->call->out, figures_json(figures, &figures->now.all[i]));
}

static void print_text(const struct figures *figures)
{
    struct out *out = figures->call->out;
    const bool paints = paint_is_wanted(&figures->call->options);
    struct table table;
    char time[32];
    char *summary = figures_summary(figures);
    text_time(time, sizeof time, figures->looked_at);
    out_format(out, "%s  %s\n", time, summary);
    free(summary);
    table_init(&table, FIGURES_ALIGN, FIGURES_HEADER);
    for (size_t i = 0; i < figures->now.count; i++)
        figures_cells(figures, &figures->now.all[i], paints, &table);
    table_print_rows(&table, out);
    table_clear(&table);
}

static void print_figures_text(const struct figures *figures)
{
    if (cli_given(figures->call, TAKES(JSON)))
        print_figures_json(figures);
    else
        print_text(figures);
    (void)out_flush(figures->call->out);
}

/* Waits for the next look.  false: a signal came. */
static bool wait(int64_t interval_ns)
{
    (void)interrupt_wait_ns(-1, 0, interval_ns);
    return interrupt_signal() == 0;
}

static int print_looks(struct figures *figures, int64_t interval_ns)
{
    const bool once = cli_given(figures->call, TAKES(ONCE));
    struct out *out = figures->call->out;
    if (figures_look(figures) < 0) return cli_fail_library();
    for (bool is_first = true; wait(interval_ns) && !out->failed; is_first = false) {
        if (figures_look(figures) < 0) return cli_fail_library();
        if (!is_first && !cli_given(figures->call, TAKES(JSON))) out_char(out, '\n');
        print_figures_text(figures);
        if (once) return figures->now.count > 0 ? CLI_DONE : CLI_NOTHING;
    }
    return out->failed ? CLI_ERROR : 128 + interrupt_signal();
}

/* Is there a terminal for a live view, and do the options allow one? */
static bool has_screen(const struct invocation *call)
{
    return !cli_given(call, TAKES(ONCE) | TAKES(JSON)) && isatty(STDIN_FILENO) == 1 &&
           isatty(STDOUT_FILENO) == 1;
}

static int show_figures(struct invocation *call, struct figures *figures)
{
    const int64_t interval_ns =
        cli_given(call, TAKES(INTERVAL)) ? call->options.interval_ns : INTERVAL_NS;
    int status = -1;
    if (cli_given(call, TAKES(SEGMENTS))) {
        const int rc = figures_enter(figures, call->args[0]);
        if (rc < 0) return cli_fail_named(call->store, call->args[0], rc);
    }
    interrupt_catch();
    if (has_screen(call) && screen_run == NULL)
        cli_tell("this build of tamis has no live view, so each state is printed below the one "
                 "before; for the view install the package libncurses-dev and build Tamis with "
                 "TAMIS_WITH_NCURSES=ON");
    else if (has_screen(call))
        status = screen_run(figures, interval_ns);
    return status >= 0 ? status : print_looks(figures, interval_ns);
}

static int top(struct invocation *call)
{
    struct figures figures;
    int status = CLI_ERROR;
    if (figures_init(&figures, call)) {
        if (call->arg_count > 0 && !cli_given(call, TAKES(SEGMENTS)))
            figures_set_pattern(&figures, call->args[0]);
        status = show_figures(call, &figures);
    }
    figures_clear(&figures);
    return status;
}

static int run_top(struct invocation *call)
{
    if (!options_exclusive(call, TAKES(JSON) | TAKES(HUMAN))) return CLI_ERROR;
    if (cli_given(call, TAKES(SEGMENTS)) && call->arg_count == 0)
        return cli_fail_usage(call->command, "--segments needs the name of a filter");
    return cli_with_store(call, TAMIS_OPEN_READ_ONLY, top);
}

const struct command cli_command_top = {
    .name = "top",
    .summary = "what filters do now, live",
    .operands = "[PATTERN]",
    .options = TAKES(ONCE) | TAKES(JSON) | TAKES(INTERVAL) | TAKES(SORT) | TAKES(REVERSE) |
               TAKES(HUMAN) | TAKES(SEGMENTS) | TAKES(COLOR) | TAKES(WAIT),
    .run = run_top,
};
