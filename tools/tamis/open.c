/* SPDX-License-Identifier: BSD-2-Clause */
/* open.c: which store, and opening it and its filters with errors that help; see command.h. */
#include <fcntl.h>
#include <unistd.h>

#include "command.h"
#include "findings.h"
#include "names.h"
#include "redis_url.h"
#include "remote/remote.h"

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value ? value : NULL; /* empty counts as unset */
}

/* The store's name; NULL: none is named. */
static char *store_name(const struct invocation *call)
{
    if (call->options.store != NULL) return cli_strdup(call->options.store);
    const char *directory = environment("TAMIS_STORE");
    if (directory != NULL) return cli_strdup(directory);
    directory = environment("XDG_STATE_HOME");
    /* "If an implementation encounters a relative path ... it should ignore it" (XDG). */
    if (directory != NULL && directory[0] == '/') return cli_format("%s/tamis", directory);
    directory = environment("HOME");
    if (directory != NULL) return cli_format("%s/.local/state/tamis", directory);
    return NULL;
}

char *cli_store_path(const struct invocation *call)
{
    char *name = store_name(call);
    if (name == NULL) {
        cli_tell("no store is named and HOME is not set; give --store DIR or set TAMIS_STORE");
    } else if (redis_is_url(name)) {
        cli_tell(
            "'%s' works on the files of a store, and this one is a server: run it on the "
            "server's machine, with --store DIR, where DIR is what CONFIG GET tamis.store says",
            call->command->name);
    } else if (redis_url_is_other(name)) {
        /* There may be a password in what follows. */
        cli_tell("%.*s... is not the URL of a server, which begins with redis://, rediss:// or "
                 "unix:///; for a directory of that name give ./%.*s...",
                 (int)strcspn(name, ":") + 1, name, (int)strcspn(name, ":") + 1, name);
    } else {
        return name;
    }
    free(name);
    return NULL;
}

/* ---- Servers --------------------------------------------------------------------------------- */

bool cli_store_is_remote(const struct invocation *call)
{
    char *name = store_name(call);
    const bool is_remote = name != NULL && redis_is_url(name);
    free(name);
    return is_remote;
}

bool cli_uses_tls(const struct invocation *call)
{
    char *name = store_name(call);
    const bool is_peer = cli_given(call, TAKES(FROM) | TAKES(TO));
    const bool uses = (name != NULL && redis_url_is_tls(name)) ||
                      (is_peer && redis_url_is_tls(call->options.peer));
    free(name);
    return uses;
}

bool cli_reaches_servers(void)
{
    if (remote_open != NULL) return true;
    cli_tell(
        "this build of tamis is without hiredis, so it cannot talk to a server; install the "
        "package libhiredis-dev and build Tamis with TAMIS_WITH_HIREDIS=ON, or move the filter "
        "by a file, as docs/migrating.md shows");
    return false;
}

int cli_with_remote(struct invocation *call, int (*work)(struct invocation *call))
{
    char *url = store_name(call);
    if (cli_reaches_servers()) call->remote_store = remote_open(call, url);
    free(url);
    if (call->remote_store == NULL) return CLI_ERROR;
    const int status = work(call);
    remote_close(call->remote_store);
    return status;
}

/* ---- Directories ----------------------------------------------------------------------------- */

unsigned cli_store_flags(const struct invocation *call, unsigned flags)
{
    const bool forced = cli_given(call, TAKES(FORCE_NETWORK_FS));
    return forced ? flags | TAMIS_OPEN_FORCE_NETWORK_FS : flags;
}

struct tamis_store_options cli_store_options(const struct invocation *call, unsigned flags)
{
    struct tamis_store_options options = {
        .size = sizeof options, .flags = cli_store_flags(call, flags), .busy_fn = wait_tell};
    if (cli_given(call, TAKES(WAIT)))
        options.busy_timeout_ms = call->options.wait_ms > 0 ? call->options.wait_ms : -1;
    return options;
}

static char *opened; /* the path of the store that was opened last */

tamis_store *cli_store_open(const struct invocation *call, unsigned flags)
{
    tamis_store *store = NULL;
    char *path = cli_store_path(call);
    if (path == NULL) return NULL;
    const struct tamis_store_options options = cli_store_options(call, flags);
    if (tamis_store_open_with(path, &options, &store) < 0) (void)cli_fail_library();
    free(opened);
    opened = path;
    return store;
}

/* The name nearest to `wanted` so far. */
struct nearest {
    const char *wanted;
    char name[TAMIS_NAME_MAX + 1];
    unsigned distance;
};

static int keep_nearest(void *context, const struct tamis_filter_stat *stat)
{
    struct nearest *nearest = context;
    unsigned distance;
    if (!text_resembles(nearest->wanted, stat->name, &distance)) return 0;
    if (nearest->name[0] && distance >= nearest->distance) return 0;
    memcpy(nearest->name, stat->name, sizeof nearest->name);
    nearest->distance = distance;
    return 0;
}

/* The process of the Redis server that has the store, as it has locked a file in it; 0 without one.
 */
static pid_t server_of_store(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *path = cli_format("%s/redis.lock", opened);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_locked =
        fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != (short)F_UNLCK;
    if (fd >= 0) (void)close(fd);
    free(path);
    return is_locked ? lock.l_pid : 0;
}

int cli_fail_absent(tamis_store *store, const char *name, const char *sentence)
{
    const pid_t server = server_of_store();
    struct nearest nearest = {.wanted = name};
    char *kept = cli_strdup(
        sentence); /* the sentence may be the library's own, which the listing can replace */
    if (tamis_store_list(store, NULL, keep_nearest, &nearest) == 0 && nearest.name[0])
        cli_tell("%s; did you mean '%s'?", kept, nearest.name);
    else
        cli_tell("%s", kept);
    if (server != 0)
        cli_tell("the Redis server of this store (process %ld) keeps small filters in its memory; "
                 "if '%s' is one, 'TAMIS.SHARE %s' in redis-cli brings it here",
                 (long)server, name, name);
    free(kept);
    return CLI_ERROR;
}

int cli_fail_named(tamis_store *store, const char *name, int64_t error)
{
    if (error == TAMIS_ENOTFOUND) return cli_fail_absent(store, name, tamis_last_error());
    return cli_fail_library();
}

tamis_filter *cli_filter_open(tamis_store *store, const char *name, unsigned flags)
{
    tamis_filter *filter = NULL;
    const int rc = tamis_filter_open(store, name, flags, &filter);
    if (rc < 0) (void)cli_fail_named(store, name, rc);
    return filter;
}

int cli_with_store(struct invocation *call, unsigned flags, int (*work)(struct invocation *call))
{
    call->store = cli_store_open(call, flags);
    if (call->store == NULL) return CLI_ERROR;
    const int status = work(call);
    tamis_store_close(call->store);
    return status;
}

/* Opens store and filter in one transaction of the catalog. */
static tamis_filter *open_both(const struct invocation *call, unsigned flags)
{
    tamis_filter *filter = NULL;
    char *path = cli_store_path(call);
    if (path == NULL) return NULL;
    const struct tamis_store_options options =
        cli_store_options(call, flags & TAMIS_OPEN_READ_ONLY);
    const int rc = tamis_filter_open_at(path, &options, call->args[0], flags, &filter);
    free(path);
    if (rc == TAMIS_ENOTFOUND) {
        char *sentence = cli_strdup(tamis_last_error());
        tamis_store *store =
            cli_store_open(call, TAMIS_OPEN_READ_ONLY); /* to see the other names */
        if (store != NULL) (void)cli_fail_absent(store, call->args[0], sentence);
        tamis_store_close(store);
        free(sentence);
    } else if (rc < 0) {
        (void)cli_fail_library();
    }
    return filter;
}

static int with_remote_filter(struct invocation *call, int (*work)(struct invocation *call))
{
    call->remote = remote_filter_open(call->remote_store, call->args[0]);
    if (call->remote == NULL) return CLI_ERROR;
    const int status = work(call);
    remote_filter_close(call->remote);
    return status;
}

int cli_with_filter(struct invocation *call, unsigned flags, int (*work)(struct invocation *call))
{
    if (call->remote_store != NULL) return with_remote_filter(call, work);
    if (cli_given(call, TAKES(NO_SYNC))) flags |= TAMIS_OPEN_NO_SYNC;
    if (cli_given(call, TAKES(POPULATE))) flags |= TAMIS_OPEN_POPULATE;
    call->filter = open_both(call, flags);
    if (call->filter == NULL) return CLI_ERROR;
    call->store = tamis_filter_store(call->filter);
    const int status = work(call);
    return cli_filter_close(call->filter, status);
}

int cli_stat(const struct invocation *call, struct tamis_filter_stat *stat)
{
    *stat = (struct tamis_filter_stat){.size = sizeof *stat};
    if (call->remote != NULL) return remote_stat(call->remote, stat) < 0 ? CLI_ERROR : CLI_DONE;
    return tamis_filter_stat(call->filter, stat) < 0 ? cli_fail_library() : CLI_DONE;
}

void cli_tell_trouble_of(const struct tamis_filter_stat *stat)
{
    char since[32], missing[MISSING_BYTES];
    if (stat->state & TAMIS_STATE_DAMAGED)
        cli_tell("warning: filter '%s' is damaged, so keys may be missing; 'tamis verify %s' says "
                 "where, and 'tamis repair' what can be done",
                 stat->name, stat->name);
    if (stat->state & TAMIS_STATE_UNCLEAN) {
        text_time(since, sizeof since, stat->unclean_since);
        say_missing(stat, missing, sizeof missing);
        cli_tell("warning: filter '%s' is unclean: the machine went down, or a file was lost or is "
                 "an older copy, so keys that were added since %s may be missing%s; add them "
                 "again, then run 'tamis sync --accept %s'",
                 stat->name, since, missing, stat->name);
    }
    if (stat->state & TAMIS_STATE_DEGRADED) {
        text_time(since, sizeof since, stat->degraded_since);
        cli_tell("warning: filter '%s' is degraded since %s: a sync of it failed, so a power cut "
                 "may lose keys; look at the disk (dmesg), then run 'tamis sync %s'",
                 stat->name, since, stat->name);
    }
}

void cli_tell_trouble(tamis_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    /* If this fails, the next call fails too and says why. */
    if (tamis_filter_stat(filter, &stat) == 0) cli_tell_trouble_of(&stat);
}

int cli_filter_close(tamis_filter *filter, int status)
{
    const int rc = tamis_filter_close(filter);
    if (rc == 0) return status;
    if (rc == TAMIS_ECORRUPT) return cli_fail_library(); /* keys may be lost: it says what to do */
    return cli_fail("%s; no key is lost, but a power cut may lose some, and the item count in the "
                    "catalog may be behind",
                    tamis_last_error());
}

static int is_generation_there(void *context, const struct tamis_generation_stat *stat)
{
    (void)context;
    (void)stat;
    return 1;
}

/* Asks for the generations, as that looks up one name and opens no file. */
int cli_filter_exists(tamis_store *store, const char *name)
{
    const int rc = tamis_filter_generations(store, name, is_generation_there, NULL);
    return rc == TAMIS_ENOTFOUND || rc == TAMIS_EINVAL ? 0 : rc;
}

static int add_listed(void *context, const struct tamis_filter_stat *stat)
{
    names_add(context, stat->name);
    return 0;
}

int cli_names(struct names *names, const struct invocation *call)
{
    *names = (struct names){0};
    if (call->arg_count == 0 && call->remote_store != NULL)
        return remote_list(call->remote_store, NULL, true, add_listed, names) < 0 ? CLI_ERROR
                                                                                  : CLI_DONE;
    if (call->arg_count == 0 && tamis_store_list(call->store, NULL, add_listed, names) < 0)
        return cli_fail_library();
    for (size_t i = 0; i < call->arg_count; i++)
        if (!names_have(names, call->args[i])) names_add(names, call->args[i]);
    return CLI_DONE;
}
