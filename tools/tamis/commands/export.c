/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.c: tamis export NAME --to FORMAT FILE | --to redis://... KEY
 *
 * The reverse of import, byte for byte.  A file or key that is there is replaced only with --force,
 * and only when the new one is complete.
 */
#include "command.h"
#include "redis_url.h"
#include "remote/remote.h"
#include "shards.h"
#include "signing.h"
#include "stream.h"

static bool export_options_suffice(const struct invocation *call)
{
    const struct options *options = &call->options;
    const bool to_stdout = strcmp(call->args[1], "-") == 0;
    if (!stream_peer_is_given(call, "--to")) return false;
    if (!signing_options_suffice(call, redis_is_url(options->peer) ? NULL : call->args[1]))
        return false;
    if (call->remote_store != NULL || redis_is_url(options->peer)) {
        if (!options_none(call, TAKES(DIGEST),
                          "is for streams that this command makes from a directory; a server "
                          "gives its filters in pieces, and takes them without"))
            return false;
    }
    if (options_have(options, TAKES(JSON)) && to_stdout && !redis_is_url(options->peer))
        (void)cli_fail_usage(call->command,
                             "--json and - would both write to standard output; name a file");
    else
        return true;
    return false;
}

/* How a filter lies on a server. */
static const char *server_format(const struct tamis_filter_stat *stat)
{
    return strcmp(stat->hash_set, "redisbloom") == 0 ? "redisbloom" : "redis-bitmap";
}

static struct stream *open_target(const struct invocation *call,
                                  const struct tamis_filter_stat *stat)
{
    const char *to = call->options.peer;
    const bool force = cli_given(call, TAKES(FORCE));
    if (redis_is_url(to) && !cli_reaches_servers()) return NULL;
    if (redis_is_url(to))
        return redis_write(&call->options, call->args[1], server_format(stat), force);
    struct stream *stream = stream_write_file(call->args[1], force);
    if (stream == NULL) return NULL;
    stream->format = to;
    if (!stream_is_terminal(stream)) return stream;
    (void)cli_fail("%s is a terminal, and the bits of a filter are no text; name a file, or send "
                   "them on: tamis export %s --to %s - | ...",
                   stream->name, call->args[0], to);
    stream_close(stream);
    return NULL;
}

static int count_bytes(void *context, const void *data, size_t bytes)
{
    (void)data;
    *(uint64_t *)context += bytes;
    return interrupt_signal() ? TAMIS_EIO : 0;
}

/* Computes the length of the stream. This pass through memory is short compared with the writing.
 */
static int measure_stream(tamis_filter *filter, const char *format, unsigned flags, uint64_t *bytes)
{
    const struct tamis_sink sink = {.size = sizeof sink, .write = count_bytes, .context = bytes};
    *bytes = 0;
    return tamis_filter_export(filter, format, flags, &sink);
}

/* Fills the stream, which is open. */
static int write_stream(const struct invocation *call, struct stream *stream)
{
    const bool with_key = cli_given(call, TAKES(WITH_KEY));
    const bool with_digest = cli_given(call, TAKES(DIGEST));
    const unsigned flags =
        (with_key ? TAMIS_EXPORT_WITH_KEY : 0) | (with_digest ? TAMIS_EXPORT_WITH_DIGEST : 0);
    const char *format = stream->format;
    int rc = 0;
    /* A server tells how long the stream is with its first piece. */
    if (call->remote == NULL) rc = measure_stream(call->filter, format, flags, &stream->all_bytes);
    if (rc < 0) return rc;
    progress_start(&call->options, stream->all_bytes);
    const struct tamis_sink sink = stream_sink(stream);
    rc = call->remote != NULL
             ? remote_export(call->remote, 0, format, with_key, &sink, &stream->all_bytes)
             : tamis_filter_export(call->filter, format, flags, &sink);
    if (rc == 0) progress_finish_bytes(stream->done_bytes);
    progress_end();
    return rc;
}

static void show_export_json(const struct invocation *call, const struct stream *stream,
                             const struct signing *signing)
{
    json_t *object = json_new();
    json_put(object, "name", json_text(call->args[0]));
    json_put(object, "format", json_text(stream->format));
    json_put(object, "to", json_text(call->args[1]));
    json_put(object, "bytes", json_unsigned(stream->done_bytes));
    if (signing != NULL) {
        json_put(object, "signature", json_text(signing_path(signing)));
        json_put(object, "key", json_text(signing_key(signing)));
    }
    json_print(call->out, object);
}

/* Writes the filter to the stream, which is open, and keeps it. */
static int export_to(const struct invocation *call, struct stream *stream,
                     const struct signing *signing)
{
    int status = CLI_ERROR;
    const int rc = write_stream(call, stream);
    if (rc == 0 && stream_keep(stream))
        status = CLI_DONE;
    else if (interrupt_signal())
        status = stream->failed
                     ? 128 + interrupt_signal()
                     : cli_interrupted(" while writing %s; nothing was replaced", stream->name);
    else if (rc < 0 && !stream->failed && call->remote == NULL)
        status = cli_fail("filter '%s': %s", call->args[0], tamis_last_error());
    if (status == CLI_DONE && cli_given(call, TAKES(JSON))) show_export_json(call, stream, signing);
    return status;
}

static int export(struct invocation *call)
{
    struct tamis_filter_stat stat;
    struct signing *signing = NULL;
    const bool in_shards = call->remote != NULL && remote_filter_shards(call->remote) > 0;
    if (in_shards && cli_given(call, TAKES(SIGN)) && !signing_options_suffice(call, NULL))
        return CLI_ERROR;
    if (in_shards) return shards_export(call);
    if (cli_stat(call, &stat) != CLI_DONE) return CLI_ERROR;
    if (cli_given(call, TAKES(SIGN))) {
        signing = signing_new(call, call->args[1]);
        if (signing == NULL) return stream_open_status();
    }
    struct stream *stream = open_target(call, &stat);
    if (stream != NULL && signing != NULL) stream = signing_stream(signing, stream);
    const int status = stream != NULL ? export_to(call, stream, signing) : stream_open_status();
    stream_close(stream);
    signing_free(signing);
    return status;
}

static int run_export(struct invocation *call)
{
    if (!export_options_suffice(call)) return CLI_ERROR;
    interrupt_catch();
    return cli_with_filter(call, TAMIS_OPEN_READ_ONLY, export);
}

const struct command cli_command_export = {
    .name = "export",
    .summary = "write a filter as another system has it",
    .operands = "NAME FILE|KEY",
    .options = TAKES(TO) | TAKES(WITH_KEY) | TAKES(DIGEST) | TAKES(SIGN) | TAKES(SIGNATURE) |
               TAKES(TRUSTED_COMMENT) | TAKES(PASSWORD_FILE) | TAKES(FORCE) | TAKES(JSON) |
               TAKES_PROGRESS,
    .run = run_export,
    .run_remote = run_export,
};
