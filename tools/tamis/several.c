/* SPDX-License-Identifier: BSD-2-Clause */
/* several.c: several filters that are asked for the same keys; see several.h. */
#include "several.h"

#include "names.h"
#include "parents.h"
#include "pattern.h"

struct several {
    struct names names;
    tamis_filter **filters;
    size_t open;      /* how many are */
    bool parents;     /* a name is asked for with its parents */
    uint8_t *answers; /* those of filter f begin at f * count */
    size_t count;     /* of the keys that were asked for last */
    size_t room;
};

bool several_are_named(const struct invocation *call)
{
    return cli_given(call, TAKES(IN)) || (call->arg_count > 0 && pattern_is(call->args[0]));
}

static int add_fitting(void *context, const struct tamis_filter_stat *stat)
{
    struct names *names = context;
    names_add(names, stat->name);
    return 0;
}

/* The names that the call means.  false after a message. */
static bool list_names(const struct invocation *call, struct names *names)
{
    const struct option_files *in = &call->options.in;
    for (size_t i = 0; i < in->count; i++)
        if (!names_have(names, in->paths[i])) names_add(names, in->paths[i]);
    if (in->count > 0) return true;
    const char *pattern = call->args[0];
    struct names all = {0}, fitting = {0};
    char *prefix = pattern_prefix(pattern);
    const int rc = tamis_store_list(call->store, prefix, add_fitting, &all);
    free(prefix);
    if (rc >= 0 && names_have(&all, pattern)) names_add(names, pattern); /* its own name */
    for (size_t i = 0; rc >= 0 && names->count == 0 && i < all.count; i++)
        if (pattern_matches(pattern, all.names[i])) names_add(&fitting, all.names[i]);
    for (size_t i = 0; i < fitting.count; i++)
        names_add(names, fitting.names[i]);
    names_clear(&fitting);
    names_clear(&all);
    if (rc < 0) (void)cli_fail_library();
    if (rc >= 0 && names->count == 0) cli_tell("no filter's name matches '%s'", pattern);
    return rc >= 0 && names->count > 0;
}

struct several *several_open(const struct invocation *call)
{
    struct several *several = cli_alloc(sizeof *several);
    *several = (struct several){.parents = cli_given(call, TAKES(PARENTS))};
    if (!list_names(call, &several->names)) goto failed;
    several->filters = cli_alloc(several->names.count * sizeof(tamis_filter *));
    for (; several->open < several->names.count; several->open++) {
        const unsigned flags =
            TAMIS_READ_ONLY | (cli_given(call, TAKES(POPULATE)) ? TAMIS_POPULATE : 0);
        tamis_filter *filter =
            cli_filter_open(call->store, several->names.names[several->open], flags);
        if (filter == NULL) goto failed;
        cli_tell_trouble(filter);
        several->filters[several->open] = filter;
    }
    return several;
failed:
    (void)several_close(several, CLI_ERROR);
    return NULL;
}

int several_close(struct several *several, int status)
{
    if (several == NULL) return status;
    for (size_t i = 0; i < several->open; i++)
        status = cli_filter_close(several->filters[i], status);
    names_clear(&several->names);
    free(several->filters);
    free(several->answers);
    free(several);
    return status;
}

/* Each filter has parents and exceptions of its own. */
static int64_t ask_parents(const struct several *several, const struct tamis_key *keys,
                           size_t count)
{
    int64_t rc = 0;
    for (size_t f = 0; rc >= 0 && f < several->open; f++)
        rc = parents_ask(several->filters[f], keys, count, several->answers + f * count);
    return rc;
}

int64_t several_ask(struct several *several, bool any, const struct tamis_key *keys, size_t count,
                    uint8_t *answers)
{
    int64_t present = 0;
    several->answers = cli_grow(several->answers, several->open * count, &several->room, 1);
    several->count = count;
    const int64_t rc = several->parents
                           ? ask_parents(several, keys, count)
                           : tamis_filters_contains_batch(several->filters, several->open, keys,
                                                          count, several->answers);
    if (rc < 0) return rc;
    for (size_t f = 0; f < several->open; f++) {
        const uint8_t *own = several->answers + f * count;
        for (size_t i = 0; i < count; i++)
            answers[i] = f == 0 ? own[i] : any ? answers[i] | own[i] : answers[i] & own[i];
    }
    for (size_t i = 0; i < count; i++)
        present += answers[i];
    return present;
}

char *several_which(const struct several *several, size_t first, size_t end, const char *between)
{
    char *list = cli_strdup("");
    for (size_t f = 0; f < several->open; f++) {
        const uint8_t *own = several->answers + f * several->count;
        if (memchr(own + first, 1, end - first) == NULL) continue;
        char *longer = cli_format("%s%s%s", list, *list ? between : "", several->names.names[f]);
        free(list);
        list = longer;
    }
    return list;
}
