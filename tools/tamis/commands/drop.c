/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drop.c: tamis drop [-n] [-q] NAME|PATTERN...
 *
 * An argument that is the name of a filter means that filter alone, also where it has characters of
 * a pattern. The beginning of a name is no pattern here, in contrast to `tamis list`: who drops
 * "seen" keeps "seen.2026".
 *
 * Whoever pipes keys into a command that destroys filters meant `remove`.  So a drop is refused
 * when something waits on standard input.
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- Standard input ------------------------------------------------------------------------ */

/* How long a drop waits for the first byte of a pipe or socket whose other end is open: a command
 * to its left in a pipeline may begin a little later.  Who has an empty one for other reasons
 * (cron, ssh, a service) loses this time and no more. */
#define FIRST_BYTE_MS 500

static bool stream_has_data(int fd)
{
    struct pollfd pfd = {.fd = fd, .events = POLLIN};
    int bytes = 0;
    if (poll(&pfd, 1, FIRST_BYTE_MS) <= 0 || (pfd.revents & POLLIN) == 0) return false;
    /* Both calls consume nothing.  At the end of the data a socket is readable too, with 0 bytes; a
     * socket that listens has no number. */
    return ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

/* Are there bytes that somebody meant for this command?  Not on a terminal, where somebody may be
 * typing ahead, and not on other devices, such as /dev/null, or where standard input is closed. */
static bool input_has_data(void)
{
    struct stat stat;
    if (fstat(STDIN_FILENO, &stat) < 0) return false;
    if (S_ISREG(stat.st_mode)) {
        const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
        return at >= 0 && at < stat.st_size;
    }
    return (S_ISFIFO(stat.st_mode) || S_ISSOCK(stat.st_mode)) && stream_has_data(STDIN_FILENO);
}

/* ---- What is dropped ----------------------------------------------------------------------- */

/* stat->size is 0 if nothing is known of the filter but its name. */
static void show(const struct invocation *call, const char *verb, const char *name,
                 const struct tamis_filter_stat *stat)
{
    char size[32];
    text_size(size, sizeof size, (double)stat->size_bytes);
    out_format(call->out, "%s ", verb);
    out_printable(call->out, name);
    if (stat->size > 0)
        out_format(call->out, ": %ju item%s, %s", (uintmax_t)stat->items, text_plural(stat->items),
                   size);
    out_char(call->out, '\n');
}

struct looking {
    const char *name;
    struct tamis_filter_stat *stat;
};

static int take_if_named(void *context, const struct tamis_filter_stat *stat)
{
    const struct looking *looking = context;
    if (strcmp(stat->name, looking->name) != 0) return 0;
    *looking->stat = *stat;
    return 1; /* the others only begin with the name */
}

/* Opens no filter, as a damaged one can be dropped too.  false after a message. */
static bool look(const struct invocation *call, const char *name, struct tamis_filter_stat *stat)
{
    struct looking looking = {name, stat};
    *stat = (struct tamis_filter_stat){0};
    if (tamis_store_list_live(call->store, name, take_if_named, &looking) >= 0) return true;
    (void)cli_fail_library();
    return false;
}

static bool look_remote(const struct invocation *call, const char *name,
                        struct tamis_filter_stat *stat)
{
    *stat = (struct tamis_filter_stat){.size = sizeof *stat};
    struct remote_filter *filter = remote_filter_open(call->remote_store, name);
    const bool good = filter != NULL && remote_stat(filter, stat) == 0;
    if (filter != NULL) remote_filter_close(filter);
    return good;
}

static int show_remote(const struct invocation *call, const char *name)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    if (!look_remote(call, name, &stat)) return CLI_ERROR;
    show(call, "would drop", name, &stat);
    return CLI_DONE;
}

static int drop_one(const struct invocation *call, const char *name)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    if (call->remote_store != NULL) {
        if (remote_drop(call->remote_store, name, &stat) < 0) return CLI_ERROR;
    } else if (!look(call, name, &stat)) {
        return CLI_ERROR;
    } else if (tamis_filter_drop(call->store, name) < 0) {
        return cli_fail_library();
    }
    if (!cli_given(call, TAKES(QUIET))) show(call, "dropped", name, &stat);
    return CLI_DONE;
}

/* ---- Many at once ------------------------------------------------------------------------- */

/* As many as tamis_filter_drop_many() drops in one change of the store.  Each change waits for the
 * disk: one for each filter took 3.5 ms, and 6 minutes for 100,000. */
#define DROPS_AT_ONCE 1000u

/* From so many names on, one list of all filters is cheaper than a look at each: a look checks the
 * records of all filters, too. */
#define LOOKS_TOGETHER 100u

/* What is told of a filter after it was dropped. */
struct seen {
    size_t known_bytes; /* the size of the stat; 0: nothing is known */
    uint64_t items, size_bytes;
};

struct looking_at_all {
    const struct names *names;
    struct seen *seen; /* one for each name */
};

static int note_if_meant(void *context, const struct tamis_filter_stat *stat)
{
    const struct looking_at_all *looking = context;
    const size_t at = names_index(looking->names, stat->name);
    if (at < looking->names->count)
        looking->seen[at] = (struct seen){stat->size, stat->items, stat->size_bytes};
    return 0;
}

/* Looks at filters before they are dropped.  false after a message. */
static bool look_at_all(const struct invocation *call, const struct names *names, struct seen *seen)
{
    struct looking_at_all looking = {names, seen};
    struct tamis_filter_stat stat = {.size = sizeof stat};
    memset(seen, 0, names->count * sizeof *seen);
    if (names->count >= LOOKS_TOGETHER) {
        const bool good = tamis_store_list_live(call->store, NULL, note_if_meant, &looking) >= 0;
        if (!good) (void)cli_fail_library();
        return good;
    }
    for (size_t i = 0; i < names->count; i++) {
        if (!look(call, names->names[i], &stat)) return false;
        seen[i] = (struct seen){stat.size, stat.items, stat.size_bytes};
    }
    return true;
}

static void show_batch(const struct invocation *call, const char *verb, char *const *names,
                       size_t count, const struct seen *seen)
{
    for (size_t i = 0; i < count && !cli_given(call, TAKES(QUIET)); i++) {
        const struct tamis_filter_stat stat = {
            .size = seen[i].known_bytes, .items = seen[i].items, .size_bytes = seen[i].size_bytes};
        show(call, verb, names[i], &stat);
    }
}

static int drop_each(const struct invocation *call, char *const *names, size_t count,
                     int (*each)(const struct invocation *, const char *))
{
    int status = CLI_DONE;
    for (size_t i = 0; i < count; i++)
        if (each(call, names[i]) != CLI_DONE) status = CLI_ERROR;
    return status;
}

static int drop_batch(const struct invocation *call, char *const *names, size_t count,
                      const struct seen *seen)
{
    const int64_t dropped =
        tamis_filter_drop_many(call->store, (const char *const *)names, NULL, count);
    if (dropped < 0) return drop_each(call, names, count, drop_one); /* one of them is at fault */
    show_batch(call, "dropped", names, count, seen);
    if ((size_t)dropped == count) return CLI_DONE;
    return cli_fail("another process had dropped %zu of the filters", count - (size_t)dropped);
}

static int drop_batches(const struct invocation *call, const struct names *names,
                        const struct seen *seen)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < names->count; i += DROPS_AT_ONCE) {
        const size_t rest = names->count - i;
        const size_t count = rest < DROPS_AT_ONCE ? rest : DROPS_AT_ONCE;
        if (drop_batch(call, &names->names[i], count, &seen[i]) != CLI_DONE) status = CLI_ERROR;
    }
    return status;
}

static int drop_local(const struct invocation *call, const struct names *names)
{
    struct seen *seen = cli_alloc(names->count * sizeof *seen);
    int status = look_at_all(call, names, seen) ? CLI_DONE : CLI_ERROR;
    if (status == CLI_DONE && cli_given(call, TAKES(DRY_RUN)))
        show_batch(call, "would drop", names->names, names->count, seen);
    else if (status == CLI_DONE)
        status = drop_batches(call, names, seen);
    free(seen);
    return status;
}

static int drop_named(const struct invocation *call, const struct names *names)
{
    const bool dry = cli_given(call, TAKES(DRY_RUN));
    for (size_t i = 0; i < names->count; i++)
        if (check_present(call, names->names[i]) != CLI_DONE) return CLI_ERROR;
    if (call->remote_store != NULL)
        return drop_each(call, names->names, names->count, dry ? show_remote : drop_one);
    return names->count == 1 && !dry ? drop_one(call, names->names[0]) : drop_local(call, names);
}

/* ---- Patterns ----------------------------------------------------------------------------- */

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

static int drop_all(struct invocation *call)
{
    struct names names = {0};
    int status = add_arguments(call, &names);
    if (status == CLI_DONE) status = drop_named(call, &names);
    names_clear(&names);
    return status;
}

/* Checks what needs no store.  A dry run may have any standard input. */
static int check_use(const struct invocation *call)
{
    if (!options_exclusive(call, TAKES(DRY_RUN) | TAKES(QUIET))) return CLI_ERROR;
    if (cli_given(call, TAKES(DRY_RUN)) || !input_has_data()) return CLI_DONE;
    return cli_fail(
        "drop destroys whole filters and reads no keys, but standard input has data, "
        "so nothing was dropped; to take keys off a counting filter use 'tamis remove', "
        "or to drop the filters add </dev/null");
}

static int run_drop(struct invocation *call)
{
    if (check_use(call) != CLI_DONE) return CLI_ERROR;
    return cli_with_store(call, cli_given(call, TAKES(DRY_RUN)) ? TAMIS_OPEN_READ_ONLY : 0,
                          drop_all);
}

static int run_drop_remote(struct invocation *call)
{
    return check_use(call) == CLI_DONE ? drop_all(call) : CLI_ERROR;
}

const struct command cli_command_drop = {
    .name = "drop",
    .summary = "destroy filters and their files",
    .operands = "NAME|PATTERN...",
    .options = TAKES(DRY_RUN) | TAKES(QUIET),
    .run = run_drop,
    .run_remote = run_drop_remote,
};
