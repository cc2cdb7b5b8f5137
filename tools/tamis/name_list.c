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
        if (whole) names_add(reading->names, name);
        free(name);
        if (!whole) return cli_fail("a name has a NUL byte; write one name a line, or use -z");
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

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The caller frees the list; the names are those of *names. */
static const char **sorted(const struct names *names)
{
    const char **list = cli_realloc(NULL, (names->count + 1) * sizeof *list);
    for (size_t i = 0; i < names->count; i++)
        list[i] = names->names[i];
    qsort(list, names->count, sizeof *list, compare_names);
    return list;
}

static int check_twins(const struct names *names)
{
    int status = CLI_DONE;
    const char **list = sorted(names);
    for (size_t i = 1; status == CLI_DONE && i < names->count; i++)
        if (strcmp(list[i - 1], list[i]) == 0)
            status = cli_fail("the name '%s' comes twice, so nothing was made; give each name "
                              "once, as sort -u does",
                              list[i]);
    free(list);
    return status;
}

int name_list_read(struct names *names, const struct invocation *call)
{
    const struct option_files *files = &call->options.names;
    for (size_t i = 0; i < files->count; i++) {
        const int status = read_file(names, call, files->paths[i]);
        if (status != CLI_DONE) return status;
    }
    return check_twins(names);
}

struct search {
    const char **list; /* sorted */
    size_t count;
    const char *first; /* that was found, in the order of the store */
    size_t found;
};

static int find_one(void *context, const struct tamis_filter_stat *stat)
{
    struct search *search = context;
    const char *name = stat->name;
    const char *const *found =
        bsearch(&name, search->list, search->count, sizeof *search->list, compare_names);
    if (found == NULL) return 0;
    if (search->first == NULL) search->first = *found;
    search->found++;
    return 0;
}

static int find(const struct names *names, tamis_store *store, struct search *search)
{
    *search = (struct search){.list = sorted(names), .count = names->count};
    const int64_t rc = tamis_store_list(store, NULL, find_one, search);
    free(search->list);
    return rc < 0 ? cli_fail_library() : CLI_DONE;
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
