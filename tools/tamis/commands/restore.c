/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * restore.c: tamis restore DIR [NAME...] - bring a backup, or filters of it, back.
 *
 * Where there is no store yet, the backup is copied as a whole.  Into a store, each filter is
 * published as the next generation of its name: handles that are open follow, and the generation
 * before is kept for tamis rollback.  A thread writes the filter's stream into a pipe, and the
 * library reads it from there.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "command.h"
#include "names.h"

/* ---- A filter -------------------------------------------------------------------------------- */

struct stream {
    tamis_filter *filter; /* of the backup */
    int to, from;         /* a pipe */
    int rc;               /* of the export */
    char why[1024];       /* its sentence */
};

static int put_stream(void *context, const void *buffer, size_t bytes)
{
    const struct stream *stream = context;
    const char *at = buffer;
    while (bytes > 0) {
        const ssize_t put = write(stream->to, at, bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return TAMIS_EIO; /* nobody reads on: the import has failed, and says why */
        at += put;
        bytes -= (size_t)put;
    }
    return 0;
}

static void *write_stream(void *context)
{
    struct stream *stream = context;
    const struct tamis_sink sink = {.size = sizeof sink, .write = put_stream, .context = stream};
    stream->rc = tamis_filter_export(stream->filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink);
    (void)snprintf(stream->why, sizeof stream->why, "%s", tamis_last_error());
    (void)close(stream->to);
    return NULL;
}

static int64_t read_stream(void *context, void *buffer, size_t bytes)
{
    const struct stream *stream = context;
    if (interrupt_signal()) return TAMIS_EIO;
    for (;;) {
        const ssize_t got = read(stream->from, buffer, bytes);
        if (got >= 0) return got;
        if (errno != EINTR || interrupt_signal()) return TAMIS_EIO;
    }
}

/* Publishes the filter of the backup in the store.  Returns what tamis_filter_publish() did. */
static int publish(tamis_store *store, const char *name, struct stream *stream)
{
    int pipes[2];
    pthread_t thread;
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    if (tamis_filter_stat(stream->filter, &stat) < 0) return -cli_fail_library();
    if (pipe(pipes) != 0) return -cli_fail("no pipe: %s", strerror(errno));
    stream->from = pipes[0];
    stream->to = pipes[1];
    const struct tamis_import_spec import = {
        .size = sizeof import,
        .flags = (stat.flags & TAMIS_FILTER_DURABLE) != 0 &&
                         tamis_kind_has(stat.kind, TAMIS_KIND_MAY_BE_DURABLE)
                     ? TAMIS_IMPORT_DURABLE
                     : 0};
    const struct tamis_publish_spec spec = {.size = sizeof spec, .import = &import};
    const struct tamis_source source = {
        .size = sizeof source, .read = read_stream, .context = stream};
    const int failed = pthread_create(&thread, NULL, write_stream, stream);
    if (failed != 0) {
        (void)close(pipes[0]);
        (void)close(pipes[1]);
        return -cli_fail("no thread: %s", strerror(failed));
    }
    int rc = tamis_filter_publish(store, name, "tamis", &spec, &source, NULL);
    (void)close(stream->from); /* the thread's write fails, if it has not ended */
    (void)pthread_join(thread, NULL);
    if (rc < 0 && interrupt_signal()) return -cli_interrupted("; '%s' was not restored", name);
    if (rc < 0 && stream->rc < 0 && stream->rc != TAMIS_EIO)
        return -cli_fail("filter '%s' of the backup: %s", name, stream->why);
    if (rc < 0) return -cli_fail("filter '%s' was not restored: %s", name, tamis_last_error());
    return rc;
}

static void print_name(const struct invocation *call, const char *name)
{
    if (cli_given(call, TAKES(JSON))) {
        json_t *line = json_new();
        json_put(line, "name", json_text(name));
        json_print(call->out, line);
    } else {
        out_printable(call->out, name);
        out_text(call->out, "\n");
    }
}

static int restore_filter(const struct invocation *call, tamis_store *backup, const char *name)
{
    struct stream stream = {.to = -1, .from = -1};
    if (tamis_filter_open(backup, name, TAMIS_OPEN_READ_ONLY, &stream.filter) < 0)
        return cli_fail("the backup: %s", tamis_last_error());
    const int rc = publish(call->store, name, &stream);
    tamis_filter_release(stream.filter);
    if (rc < 0) return -rc;
    print_name(call, name);
    return CLI_DONE;
}

/* ---- Filters, into a store ------------------------------------------------------------------- */

/* Before anything is changed: is each filter in the backup, and none in the store? */
static int check_names(const struct invocation *call, tamis_store *backup,
                       const struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->names[i];
        const int there = cli_filter_exists(backup, name);
        if (there < 0) return cli_fail_library();
        if (there == 0)
            return cli_fail("there is no filter '%s' in the backup %s; nothing was changed", name,
                            call->args[0]);
        const int here =
            cli_given(call, TAKES(OVERWRITE)) ? 0 : cli_filter_exists(call->store, name);
        if (here < 0) return cli_fail_library();
        if (here > 0)
            return cli_fail("filter '%s' is in the store already; nothing was changed; --overwrite "
                            "puts that of the backup in its place, and keeps this one for 'tamis "
                            "rollback'",
                            name);
    }
    return CLI_DONE;
}

static int add_name(void *context, const struct tamis_filter_stat *stat)
{
    names_add(context, stat->name);
    return 0;
}

static int restore_names(const struct invocation *call, tamis_store *backup)
{
    struct names names = {0};
    for (size_t i = 1; i < call->arg_count; i++)
        if (!names_have(&names, call->args[i])) names_add(&names, call->args[i]);
    int status = CLI_DONE;
    if (call->arg_count == 1 && tamis_store_list(backup, NULL, add_name, &names) < 0)
        status = cli_fail_library();
    if (status == CLI_DONE) status = check_names(call, backup, &names);
    const bool may = status == CLI_DONE;
    for (size_t i = 0; may && i < names.count && !interrupt_signal(); i++) {
        const int got = restore_filter(call, backup, names.names[i]);
        if (got != CLI_DONE) status = got;
    }
    names_clear(&names);
    return status;
}

/* ---- All of it, where no store is ------------------------------------------------------------ */

static int tell_left_out(void *context, const struct tamis_problem *problem)
{
    (void)context;
    cli_tell("filter '%s' of the backup is damaged: %s", problem->filter, problem->reason);
    return 0;
}

static int print_restored(void *context, const struct tamis_filter_stat *stat)
{
    print_name(context, stat->name);
    return 0;
}

static int list_restored(struct invocation *call, const char *path)
{
    struct tamis_store_options options = cli_store_options(call, TAMIS_OPEN_READ_ONLY);
    int rc = tamis_store_open_with(path, &options, &call->store);
    if (rc == 0) rc = (int)tamis_store_list(call->store, NULL, print_restored, call);
    tamis_store_close(call->store);
    return rc < 0 ? cli_fail_library() : CLI_DONE;
}

static int restore_all(struct invocation *call, tamis_store *backup, const char *path)
{
    uint64_t copied_bytes = 0;
    struct tamis_backup_result result = {.size = sizeof result};
    const struct tamis_backup_options options = {.size = sizeof options,
                                                 .flags = TAMIS_BACKUP_FOR_USE,
                                                 .fn = tell_left_out,
                                                 .progress = progress_take_bytes,
                                                 .context = &copied_bytes};
    progress_start(&call->options, 0);
    const int64_t filters = tamis_store_backup_with(backup, path, &options, &result);
    if (filters >= 0) progress_finish_bytes(copied_bytes);
    progress_end();
    if (filters < 0 && interrupt_signal()) return cli_interrupted("; nothing is left in %s", path);
    if (filters < 0) return cli_fail_library();
    cli_tell("%jd filter%s restored into %s", (intmax_t)filters, text_plural((uintmax_t)filters),
             path);
    if (cli_given(call, TAKES(JSON)) && list_restored(call, path) != CLI_DONE) return CLI_ERROR;
    return result.left_out == 0 ? CLI_DONE : CLI_NOTHING;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int restore_from(struct invocation *call, tamis_store *backup, const char *path)
{
    struct tamis_store_options options = cli_store_options(call, 0);
    int rc = tamis_store_open_with(path, &options, &call->store);
    if (rc == TAMIS_ENOSTORE && call->arg_count == 1) return restore_all(call, backup, path);
    options.flags |= TAMIS_OPEN_CREATE;
    if (rc == TAMIS_ENOSTORE) rc = tamis_store_open_with(path, &options, &call->store);
    if (rc < 0) return cli_fail_library();
    const int status = restore_names(call, backup);
    tamis_store_close(call->store);
    return status;
}

static int run_restore(struct invocation *call)
{
    tamis_store *backup = NULL;
    const struct tamis_store_options options = cli_store_options(call, TAMIS_OPEN_READ_ONLY);
    interrupt_catch();
    char *path = cli_store_path(call);
    if (path == NULL) return CLI_ERROR;
    int status = tamis_store_open_with(call->args[0], &options, &backup) < 0
                     ? cli_fail_library()
                     : restore_from(call, backup, path);
    tamis_store_close(backup);
    free(path);
    return status;
}

const struct command cli_command_restore = {
    .name = "restore",
    .summary = "bring a backup back, or filters of it",
    .operands = "DIR [NAME...]",
    .options = TAKES(OVERWRITE) | TAKES(JSON) | TAKES_PROGRESS,
    .run = run_restore,
};
