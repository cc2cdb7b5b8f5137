/* SPDX-License-Identifier: BSD-2-Clause */
/* name_list.c: see name_list.h. */
#include "name_list.h"

#include <unistd.h>

#include "input/keys.h"

struct reading {
    const struct key_source *source;
    struct names *names;
};

/* The lines are read as keys are, so -z, gzip and the like are as elsewhere. */
static int take_names(void *context, size_t count)
{
    const struct reading *reading = context;
    for (size_t i = 0; i < count; i++) {
        const struct tamis_key *line = &reading->source->keys[i];
        char *name = cli_format("%.*s", (int)line->bytes, (const char *)line->data);
        const bool whole = strlen(name) == line->bytes;
        int status = CLI_DONE;
        if (!whole)
            status = cli_fail("a name has a NUL byte; write one name a line, or use -z");
        else if (names_have(reading->names, name))
            status = cli_fail("the name '%s' comes twice, so nothing was made; give each name "
                              "once, as sort -u does",
                              name);
        else
            names_add(reading->names, name);
        free(name);
        if (status != CLI_DONE) return status;
    }
    return CLI_DONE;
}

static int read_file(struct names *names, const struct invocation *call, const char *path)
{
    struct input *input = input_open(path);
    if (input == NULL) return CLI_ERROR;
    if (input->fd == STDIN_FILENO && isatty(STDIN_FILENO) == 1)
        cli_tell("reading names from the terminal, one a line; end with Ctrl-D");
    struct key_source *source = key_source_of(call, input);
    struct reading reading = {.source = source, .names = names};
    int status = key_source_each(source, take_names, &reading);
    if (interrupt_signal() != 0) status = cli_interrupted("nothing was made");
    key_source_free(source);
    input_close(input);
    return status;
}

int name_list_read(struct names *names, const struct invocation *call)
{
    const struct option_files *files = &call->options.names;
    for (size_t i = 0; i < files->count; i++) {
        const int status = read_file(names, call, files->paths[i]);
        if (status != CLI_DONE) return status;
    }
    return CLI_DONE;
}

struct search {
    const struct names *names;
    char first[TAMIS_NAME_MAX + 1]; /* that was found, in the order of the store */
    size_t found;
};

static int find_one(void *context, const struct tamis_filter_stat *stat)
{
    struct search *search = context;
    if (!names_have(search->names, stat->name)) return 0;
    if (search->found == 0) (void)snprintf(search->first, sizeof search->first, "%s", stat->name);
    search->found++;
    return 0;
}

static int find(const struct names *names, tamis_store *store, struct search *search)
{
    *search = (struct search){.names = names};
    return tamis_store_list(store, NULL, find_one, search) < 0 ? cli_fail_library() : CLI_DONE;
}

int name_list_check_absent(const struct names *names, tamis_store *store)
{
    struct search search;
    if (find(names, store, &search) != CLI_DONE) return CLI_ERROR;
    if (search.found == 0) return CLI_DONE;
    return cli_fail("a filter '%s' exists already, so nothing was made; leave the name out, or add "
                    "--if-missing",
                    search.first);
}

int name_list_count(const struct names *names, tamis_store *store, size_t *count)
{
    struct search search;
    const int status = find(names, store, &search);
    *count = search.found;
    return status;
}
