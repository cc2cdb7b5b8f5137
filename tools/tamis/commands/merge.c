/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge.c: tamis merge DST SRC... | tamis merge --intersect NEW A B...
 *
 * If the destination exists, the command merges into it while others use it.  If not, it is made
 * whole or not at all.  A signal ends both: an existing filter keeps what it has, and nothing is
 * left of a new one.  The library sees to it that a signal ends a merge of counters before the
 * first counter changes, or not at all.
 */
#include "command.h"
#include "fields.h"
#include "names.h"
#include "remote/remote.h"

/* A note is printed when the rate is more than this above the filter's own: the number of items is
 * an estimate that may be wrong by some per mille. */
#define RATE_MARGIN 1.1

struct sources {
    struct names names;
    tamis_filter **filters;
    size_t count;
};

static bool sources_open(struct sources *sources, const struct invocation *call)
{
    struct invocation rest = *call;
    rest.args++;
    rest.arg_count--;
    *sources = (struct sources){0};
    if (cli_names(&sources->names, &rest) != CLI_DONE) return false;
    sources->filters = cli_alloc(sources->names.count * sizeof *sources->filters);
    for (size_t i = 0; i < sources->names.count; i++) {
        tamis_filter *filter =
            cli_filter_open(call->store, sources->names.names[i], TAMIS_OPEN_READ_ONLY);
        if (filter == NULL) return false;
        sources->filters[sources->count++] = filter;
    }
    return true;
}

static int sources_close(struct sources *sources, int status)
{
    for (size_t i = 0; i < sources->count; i++)
        status = cli_filter_close(sources->filters[i], status);
    free(sources->filters);
    names_clear(&sources->names);
    return status;
}

/* The library takes any name here, as filters of a server have those of its keys. */
static int create_merged(tamis_store *store, const char *name, const struct tamis_merge *merge,
                         tamis_filter **filter)
{
    const struct tamis_filter_spec any = {.size = sizeof any, .capacity = 1};
    const int rc = tamis_filter_check(NULL, name, &any);
    return rc < 0 ? rc : tamis_filter_create_merged(store, name, merge, filter);
}

/* Merges into a filter that is there. Returns TAMIS_ENOTFOUND without a message if it is not. */
static int merge_into_existing(tamis_store *store, const char *name,
                               const struct tamis_merge *merge, tamis_filter **filter)
{
    int rc = tamis_filter_open(store, name, 0, filter);
    if (rc < 0) return rc;
    rc = tamis_filter_merge(*filter, merge);
    if (rc == 0) return 0;
    if (tamis_filter_close(*filter) < 0) (void)cli_fail_library(); /* of two errors both are told */
    *filter = NULL;
    return rc;
}

static int merge(const struct invocation *call, const struct sources *sources,
                 tamis_filter **filter)
{
    tamis_store *store = call->store;
    uint64_t done_bytes = 0;
    const bool intersect = cli_given(call, TAKES(INTERSECT));
    const struct tamis_merge merge = {.size = sizeof merge,
                                      .sources = sources->filters,
                                      .count = sources->count,
                                      .flags = intersect ? TAMIS_MERGE_INTERSECT : 0,
                                      .progress = progress_take_bytes,
                                      .context = &done_bytes};
    int rc;
    do { /* again where another process made or dropped it in between */
        rc =
            intersect ? TAMIS_ENOTFOUND : merge_into_existing(store, call->args[0], &merge, filter);
        if (rc == TAMIS_ENOTFOUND) rc = create_merged(store, call->args[0], &merge, filter);
    } while (rc == TAMIS_EEXIST && !intersect);
    if (rc == 0) progress_finish_bytes(done_bytes);
    return rc;
}

/* Prints a note if more was merged into the filter than it was made for. A filter keeps its size.
 */
static void tell_overload(const struct tamis_filter_stat *filter)
{
    const struct tamis_filter_stat stat = *filter;
    if (stat.predicted_rate > RATE_MARGIN * stat.fp_rate)
        cli_tell("note: %s holds about %ju key%s now, which is more than it was made for: of keys "
                 "that were never added about %.2g %% seem present, not %.2g %%; make the filters "
                 "anew with -n as large as all keys together",
                 stat.name, (uintmax_t)stat.items, text_plural(stat.items),
                 100 * stat.predicted_rate, 100 * stat.fp_rate);
}

static int show_merged(const struct invocation *call, tamis_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    int status = CLI_DONE;
    if (cli_given(call, TAKES(JSON))) status = view_show_json(call->out, filter, VIEW_SEGMENTS);
    if (tamis_filter_stat(filter, &stat) < 0) status = cli_fail_library();
    if (status != CLI_DONE) return status;
    tell_overload(&stat);
    return status;
}

static int merge_opened_sources(const struct invocation *call, const struct sources *sources)
{
    tamis_filter *filter = NULL;
    progress_start(&call->options, 0);
    const int rc = merge(call, sources, &filter);
    progress_end();
    if (rc == 0)
        return cli_say_done(cli_filter_close(filter, show_merged(call, filter)), call->args[0],
                            "has all keys");
    if (!interrupt_signal()) return cli_fail_library();
    return cli_interrupted("; nothing is lost, and the same command completes it");
}

static int merge_sources(struct invocation *call)
{
    struct sources sources;
    int status = CLI_ERROR;
    if (sources_open(&sources, call)) status = merge_opened_sources(call, &sources);
    return sources_close(&sources, status);
}

static int run_merge(struct invocation *call)
{
    interrupt_catch();
    return cli_with_store(call, 0, merge_sources);
}

/* ---- On a server ----------------------------------------------------------------------------- */

static int show_merged_remote(struct invocation *call)
{
    struct filter_view view;
    const bool json = cli_given(call, TAKES(JSON));
    if (view_of_call(call, json ? VIEW_SEGMENTS : 0, &view) != CLI_DONE) return CLI_ERROR;
    if (json) json_print(call->out, view_json(&view));
    tell_overload(&view.stat);
    view_clear(&view);
    return CLI_DONE;
}

static int run_merge_remote(struct invocation *call)
{
    struct invocation rest = *call;
    struct names names;
    rest.args++;
    rest.arg_count--;
    interrupt_catch();
    int status = cli_names(&names, &rest); /* each once */
    const char *const *sources = (const char *const *)names.names;
    if (status == CLI_DONE && remote_merge(call->remote_store, call->args[0], sources, names.count,
                                           cli_given(call, TAKES(INTERSECT))) < 0)
        status = interrupt_signal()
                     ? cli_interrupted("; nothing is lost, and the same command completes it")
                     : CLI_ERROR;
    names_clear(&names);
    return status == CLI_DONE ? cli_with_filter(call, 0, show_merged_remote) : status;
}

const struct command cli_command_merge = {
    .name = "merge",
    .summary = "bring the keys of filters into one",
    .operands = "DST SRC...",
    .options = TAKES(INTERSECT) | TAKES(JSON) | TAKES_PROGRESS,
    .run = run_merge,
    .run_remote = run_merge_remote,
};
