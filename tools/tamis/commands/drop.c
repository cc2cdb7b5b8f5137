/* SPDX-License-Identifier: BSD-2-Clause */
/* drop.c: tamis drop [--dry-run] NAME... */
#include "command.h"
#include "names.h"

static int check_present(const struct invocation *call, const char *name)
{
    char *sentence = cli_format("there is no filter '%s', so nothing was dropped", name);
    const int rc = call->remote_store ? remote.exists(call->remote_store, name, sentence)
                                      : cli_filter_exists(call->store, name);
    if (rc < 0 && !call->remote_store) cli_fail_library();
    if (rc == 0 && !call->remote_store) cli_fail_absent(call->store, name, sentence);
    free(sentence);
    return rc > 0 ? CLI_DONE : CLI_ERROR;
}

static void show(const struct invocation *call, const struct tamis_filter_stat *stat)
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
    show(showing->call, stat);
    return 1; /* the others only begin with the name */
}

static bool show_remote(const struct invocation *call, const char *name)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    struct remote_filter *filter = remote.filter_open(call->remote_store, name);
    const bool good = filter && remote.stat(filter, &stat) == 0;
    if (filter) remote.filter_close(filter);
    if (!good) return false;
    snprintf(stat.name, sizeof stat.name, "%s", name);
    show(call, &stat);
    return true;
}

/* Opens no filter, as a damaged one can be dropped too. */
static int show_each(const struct invocation *call, const struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        struct showing showing = {call, names->names[i]};
        if (call->remote_store && !show_remote(call, showing.name)) return CLI_ERROR;
        if (!call->remote_store &&
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
        if (call->remote_store ? remote.drop(call->remote_store, name) < 0
                               : tamis_filter_drop(call->store, name) < 0)
            status = call->remote_store ? CLI_ERROR : cli_fail_library();
    }
    return status;
}

static int drop(struct invocation *call)
{
    struct names names;
    int status = cli_names(&names, call);
    if (status == CLI_DONE) status = drop_named(call, &names);
    names_clear(&names);
    return status;
}

static int run(struct invocation *call)
{
    return cli_with_store(call, cli_given(call, TAKES(DRY_RUN)) ? TAMIS_READ_ONLY : 0, drop);
}

const struct command cli_command_drop = {
    .name = "drop",
    .summary = "remove filters and their files",
    .operands = "NAME...",
    .options = TAKES(DRY_RUN),
    .run = run,
    .run_remote = drop,
};
