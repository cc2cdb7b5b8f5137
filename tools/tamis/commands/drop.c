/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drop.c: tamis drop [--dry-run] NAME|PATTERN...
 *
 * An argument that is the name of a filter means that filter alone, also where it has characters of
 * a pattern. The beginning of a name is no pattern here, in contrast to `tamis list`: who drops
 * "seen" keeps "seen.2026".
 */
#include "command.h"
#include "names.h"
#include "pattern.h"
#include "remote/remote.h"

static int check_present(const struct invocation *call, const char *name)
{
    char *sentence = cli_format("there is no filter '%s', so nothing was dropped", name);
    const int rc = call->remote_store != NULL ? remote_exists(call->remote_store, name, sentence)
                                              : cli_filter_exists(call->store, name);
    if (rc < 0 && call->remote_store == NULL) (void)cli_fail_library();
    if (rc == 0 && call->remote_store == NULL) (void)cli_fail_absent(call->store, name, sentence);
    free(sentence);
    return rc > 0 ? CLI_DONE : CLI_ERROR;
}

static void show_dropped(const struct invocation *call, const struct tamis_filter_stat *stat)
{
    char size[32];
    text_size(size, sizeof size, (double)stat->size_bytes);
    out_text(call->out, "would drop ");
    out_printable(call->out, stat->name);
    out_format(call->out, ": %ju item%s, %s\n", (uintmax_t)stat->items, text_plural(stat->items),
               size);
}

struct showing {
    const struct invocation *call;
    const char *name;
};

static int show_if_named(void *context, const struct tamis_filter_stat *stat)
{
    const struct showing *showing = context;
    if (strcmp(stat->name, showing->name) != 0) return 0;
    show_dropped(showing->call, stat);
    return 1; /* the others only begin with the name */
}

static bool show_dropped_remote(const struct invocation *call, const char *name)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    struct remote_filter *filter = remote_filter_open(call->remote_store, name);
    const bool good = filter != NULL && remote_stat(filter, &stat) == 0;
    if (filter != NULL) remote_filter_close(filter);
    if (!good) return false;
    (void)snprintf(stat.name, sizeof stat.name, "%s", name);
    show_dropped(call, &stat);
    return true;
}

/* Opens no filter, as a damaged one can be dropped too. */
static int show_each(const struct invocation *call, const struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        struct showing showing = {call, names->names[i]};
        if (call->remote_store != NULL && !show_dropped_remote(call, showing.name))
            return CLI_ERROR;
        if (call->remote_store == NULL &&
            tamis_store_list_live(call->store, showing.name, show_if_named, &showing) < 0)
            return cli_fail_library();
    }
    return CLI_DONE;
}

static int drop_named(const struct invocation *call, const struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (check_present(call, names->names[i]) != CLI_DONE) return CLI_ERROR;
    if (cli_given(call, TAKES(DRY_RUN))) return show_each(call, names);
    int status = CLI_DONE;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->names[i];
        if (call->remote_store != NULL ? remote_drop(call->remote_store, name) < 0
                                       : tamis_filter_drop(call->store, name) < 0)
            status = call->remote_store != NULL ? CLI_ERROR : cli_fail_library();
    }
    return status;
}

/* The filters that match one pattern. */
struct matching {
    const char *pattern;
    struct names names;
};

static int add_if_matching(void *context, const struct tamis_filter_stat *stat)
{
    struct matching *matching = context;
    if (strcmp(stat->name, matching->pattern) == 0 ||
        pattern_matches(matching->pattern, stat->name))
        names_add(&matching->names, stat->name);
    return 0;
}

static int list_matching(const struct invocation *call, struct matching *matching)
{
    if (call->remote_store != NULL)
        return remote_list(call->remote_store, matching->pattern, true, add_if_matching, matching) <
                       0
                   ? CLI_ERROR
                   : CLI_DONE;
    char *prefix = pattern_prefix(matching->pattern);
    const int rc = tamis_store_list(call->store, prefix, add_if_matching, matching);
    free(prefix);
    return rc < 0 ? cli_fail_library() : CLI_DONE;
}

static void add_once(struct names *names, const char *name)
{
    if (!names_have(names, name)) names_add(names, name);
}

static int add_pattern(const struct invocation *call, struct names *names, const char *pattern)
{
    struct matching matching = {.pattern = pattern};
    int status = list_matching(call, &matching);
    if (status == CLI_DONE && matching.names.count == 0)
        status = cli_fail("no filter matches '%s', so nothing was dropped", pattern);
    const bool is_name = names_have(&matching.names, pattern);
    if (is_name) add_once(names, pattern);
    for (size_t i = 0; i < matching.names.count && !is_name; i++)
        add_once(names, matching.names.names[i]);
    names_clear(&matching.names);
    return status;
}

static int add_arguments(const struct invocation *call, struct names *names)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < call->arg_count && status == CLI_DONE; i++) {
        if (pattern_is(call->args[i]))
            status = add_pattern(call, names, call->args[i]);
        else
            add_once(names, call->args[i]);
    }
    return status;
}

static int run_drop_directory(struct invocation *call)
{
    struct names names = {0};
    int status = add_arguments(call, &names);
    if (status == CLI_DONE) status = drop_named(call, &names);
    names_clear(&names);
    return status;
}

static int run_drop(struct invocation *call)
{
    return cli_with_store(call, cli_given(call, TAKES(DRY_RUN)) ? TAMIS_READ_ONLY : 0,
                          run_drop_directory);
}

const struct command cli_command_drop = {
    .name = "drop",
    .summary = "remove filters and their files",
    .operands = "NAME|PATTERN...",
    .options = TAKES(DRY_RUN),
    .run = run_drop,
    .run_remote = run_drop_directory,
};
