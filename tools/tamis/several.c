/* SPDX-License-Identifier: BSD-2-Clause */
/* several.c: several filters that are asked for the same keys; see several.h. */
#include "several.h"

#include "names.h"
#include "parents.h"
#include "pattern.h"
#include "remote/remote.h"

struct several {
    struct names names;
    /* Those of a directory or of a server; the others are NULL. */
    tamis_filter **filters;
    struct remote_filter **remotes;
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

/* All names that begin as the pattern does, or more of them.  false after a message. */
static bool list_begun(const struct invocation *call, const char *pattern, struct names *all)
{
    if (call->remote_store != NULL)
        return remote_list(call->remote_store, pattern, true, add_fitting, all) >= 0;
    char *prefix = pattern_prefix(pattern);
    const int rc = tamis_store_list(call->store, prefix, add_fitting, all);
    free(prefix);
    if (rc < 0) (void)cli_fail_library();
    return rc >= 0;
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
    const bool good = list_begun(call, pattern, &all);
    if (good && names_have(&all, pattern)) names_add(names, pattern); /* its own name */
    for (size_t i = 0; good && names->count == 0 && i < all.count; i++)
        if (pattern_matches(pattern, all.names[i])) names_add(&fitting, all.names[i]);
    for (size_t i = 0; i < fitting.count; i++)
        names_add(names, fitting.names[i]);
    names_clear(&fitting);
    names_clear(&all);
    if (good && names->count == 0) cli_tell("no filter's name matches '%s'", pattern);
    return good && names->count > 0;
}

/* Opens the filter of a name as number several->open.  false after a message. */
static bool open_one(const struct invocation *call, struct several *several, const char *name)
{
    if (call->remote_store != NULL) {
        struct remote_filter *remote = remote_filter_open(call->remote_store, name);
        several->remotes[several->open] = remote;
        return remote != NULL;
    }
    const unsigned flags =
        TAMIS_OPEN_READ_ONLY | (cli_given(call, TAKES(POPULATE)) ? TAMIS_OPEN_POPULATE : 0);
    tamis_filter *filter = cli_filter_open(call->store, name, flags);
    several->filters[several->open] = filter;
    if (filter != NULL) cli_tell_trouble(filter);
    return filter != NULL;
}

struct several *several_open(const struct invocation *call)
{
    struct several *several = cli_alloc(sizeof *several);
    *several = (struct several){.parents = cli_given(call, TAKES(PARENTS))};
    if (!list_names(call, &several->names)) goto failed;
    if (call->remote_store != NULL)
        several->remotes = cli_alloc(several->names.count * sizeof(struct remote_filter *));
    else
        several->filters = cli_alloc(several->names.count * sizeof(tamis_filter *));
    for (; several->open < several->names.count; several->open++)
        if (!open_one(call, several, several->names.names[several->open])) goto failed;
    return several;
failed:
    (void)several_close(several, CLI_ERROR);
    return NULL;
}

int several_close(struct several *several, int status)
{
    if (several == NULL) return status;
    for (size_t i = 0; several->filters != NULL && i < several->open; i++)
        status = cli_filter_close(several->filters[i], status);
    for (size_t i = 0; several->remotes != NULL && i < several->open; i++)
        remote_filter_close(several->remotes[i]);
    names_clear(&several->names);
    free(several->filters);
    free(several->remotes);
    free(several->answers);
    free(several);
    return status;
}

static int64_t ask_one(const struct several *several, size_t filter, const struct tamis_key *keys,
                       size_t count, uint8_t *answers)
{
    if (several->remotes == NULL)
        return parents_ask(several->filters[filter], keys, count, answers);
    return several->parents ? remote_contains_names(several->remotes[filter], keys, count, answers)
                            : remote_contains(several->remotes[filter], keys, count, answers);
}

/* Each filter has parents and exceptions of its own, and a server's filters are asked by
 * themselves. */
static int64_t ask_each(const struct several *several, const struct tamis_key *keys, size_t count)
{
    if (several->remotes == NULL && !several->parents)
        return tamis_filters_contains_batch(several->filters, several->open, keys, count,
                                            several->answers);
    int64_t rc = 0;
    for (size_t f = 0; rc >= 0 && f < several->open; f++)
        rc = ask_one(several, f, keys, count, several->answers + f * count);
    return rc;
}

int64_t several_ask(struct several *several, bool any, const struct tamis_key *keys, size_t count,
                    uint8_t *answers)
{
    int64_t present = 0;
    several->answers = cli_grow(several->answers, several->open * count, &several->room, 1);
    several->count = count;
    const int64_t rc = ask_each(several, keys, count);
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
