/* SPDX-License-Identifier: BSD-2-Clause */
/* standing.c: see standing.h. */
#include "standing.h"

#include <time.h>

#include "parents.h"

#define LOOK_AGAIN_S 1

struct standing {
    char *path;
    const char *name;
    bool parents; /* a name is asked for with its parents */
    struct tamis_store_options options;
    tamis_store *store;
    tamis_filter *filter;
    time_t look_at; /* of CLOCK_MONOTONIC; 0: nobody has asked yet */
    char *told;     /* the last error; NULL: the filter could be read since */
};

struct standing *standing_new(const struct invocation *call)
{
    char *path = cli_store_path(call);
    if (path == NULL) return NULL;
    struct standing *standing = cli_alloc(sizeof *standing);
    *standing = (struct standing){.path = path,
                                  .name = call->args[0],
                                  .parents = cli_given(call, TAKES(PARENTS)),
                                  .options = cli_store_options(call, TAMIS_OPEN_READ_ONLY)};
    return standing;
}

static void leave(struct standing *standing)
{
    tamis_filter_release(standing->filter);
    tamis_store_close(standing->store);
    standing->filter = NULL;
    standing->store = NULL;
}

void standing_free(struct standing *standing)
{
    if (standing == NULL) return;
    leave(standing);
    free(standing->path);
    free(standing->told);
    free(standing);
}

/* A program that asks often would have its log full of one sentence. */
static void tell_once(struct standing *standing)
{
    const char *sentence = tamis_last_error();
    if (standing->told != NULL && strcmp(standing->told, sentence) == 0) return;
    free(standing->told);
    standing->told = cli_strdup(sentence);
    cli_tell("%s", standing->told);
}

static int open_again(struct standing *standing)
{
    leave(standing);
    int rc = tamis_store_open_with(standing->path, &standing->options, &standing->store);
    if (rc == 0)
        rc = tamis_filter_open(standing->store, standing->name, TAMIS_OPEN_READ_ONLY,
                               &standing->filter);
    return rc;
}

/* Is it time to look again?  From the first question on, once in LOOK_AGAIN_S. */
static bool looks_again(struct standing *standing)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0 ||
        (standing->look_at != 0 && now.tv_sec < standing->look_at))
        return false;
    standing->look_at = now.tv_sec + LOOK_AGAIN_S;
    return true;
}

int64_t standing_ask(struct standing *standing, const struct tamis_key *keys, size_t count,
                     uint8_t *answers)
{
    int64_t rc = looks_again(standing) ? open_again(standing) : 0;
    if (rc == 0 && standing->filter == NULL) return TAMIS_ENOTFOUND; /* as was told */
    if (rc == 0)
        rc = standing->parents
                 ? parents_ask(standing->filter, keys, count, answers)
                 : tamis_filter_contains_batch(standing->filter, keys, count, answers);
    if (rc < 0) {
        tell_once(standing);
        leave(standing);
        return rc;
    }
    free(standing->told);
    standing->told = NULL;
    return rc;
}
