/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import.c: tamis import NAME [--publish] --from FORMAT FILE | --from redis://... KEY
 *
 * The library reads the stream as its source, wherever it comes from. The stream is opened before a
 * store is made. A signal ends it like an error of the source, so nothing is left behind.
 */
#include <errno.h>
#include <inttypes.h>

#include "command.h"
#include "fields.h"
#include "input/input.h"
#include "private_store.h"
#include "publish.h"
#include "redis_url.h"
#include "remote/remote.h"
#include "shards.h"
#include "stream.h"

/* What only a publication has a use for. */
#define TAKES_PUBLISHING (TAKES(IF_CHANGED) | TAKES_PUBLISHED)

/* Checks the options of a publication. */
static bool publishing_is_possible(const struct invocation *call)
{
    uint64_t bytes = 0;
    unsigned standard = !redis_is_url(call->options.peer) && strcmp(call->args[1], "-") == 0;
    if (!cli_given(call, TAKES(PUBLISH)))
        return options_none(call, TAKES_PUBLISHING,
                            "belongs to --publish, which makes the stream the next generation of "
                            "a filter");
    if (call->remote_store != NULL) {
        (void)cli_fail("--publish is for stores in directories; on a server, bring the list by "
                       "TAMIS.LOAD to a key of its own, which happens whole or not at all, and "
                       "give it the name of the old one by RENAME, in one step");
        return false;
    }
    if (!inputs_are_there(&call->options.except, &bytes, &standard)) return false;
    if (standard <= 1) return true;
    (void)cli_fail_usage(call->command,
                         "standard input can be read once only, and is named %u times", standard);
    return false;
}

/* Does a file hold the signature of the stream? */
static bool verification_is_possible(const struct invocation *call)
{
    const bool standard = strcmp(call->args[1], "-") == 0;
    if (!cli_given(call, TAKES(VERIFY)))
        return options_none(call, TAKES(SIGNATURE) | TAKES(EXPECT_COMMENT),
                            "belongs to --verify, which checks it");
    if (redis_is_url(call->options.peer))
        (void)cli_fail_usage(call->command, "--verify is for files and pipes; what a server has in "
                                            "a key is not signed");
    else if (shards_are_there(call->args[1]))
        (void)cli_fail_usage(call->command,
                             "--verify is for files and pipes; a directory of shards "
                             "is not signed");
    else if (standard && !cli_given(call, TAKES(SIGNATURE)))
        (void)cli_fail_usage(call->command, "--verify needs --signature FILE for a list that comes "
                                            "by standard input");
    else
        return true;
    return false;
}

/* Checks the options before a file, a server or a store is touched. */
static bool import_options_suffice(const struct invocation *call)
{
    return stream_peer_is_given(call, "--from") && publishing_is_possible(call) &&
           verification_is_possible(call) && publish_options_suffice(call);
}

/* Where the stream is, as `info` will tell it. */
static const char *origin_of(const struct invocation *call, const struct stream *stream)
{
    const bool standard = !redis_is_url(call->options.peer) && strcmp(call->args[1], "-") == 0;
    return standard ? "-" : stream->name;
}

static struct stream *open_source(const struct invocation *call)
{
    const char *from = call->options.peer;
    if (redis_is_url(from) && !cli_reaches_servers()) return NULL;
    struct stream *stream = redis_is_url(from) ? redis_read(&call->options, call->args[1])
                                               : stream_read_file(call->args[1]);
    if (stream != NULL && stream->format == NULL) stream->format = from;
    return stream;
}

/* With --verify: takes the signature, which is read behind the opening of the stream, as a writer
 * replaces both in one moment; what is read of *stream from here on is checked. */
static bool begin_verification(const struct invocation *call, struct stream **stream,
                               struct verification **verification)
{
    if (!cli_given(call, TAKES(VERIFY))) return true;
    *verification = verification_new(call);
    if (*verification == NULL) return false;
    char *path = cli_given(call, TAKES(SIGNATURE))
                     ? cli_strdup(call->options.signature)
                     : cli_format("%s" SIGNATURE_SUFFIX, call->args[1]);
    const bool taken = verification_read(*verification, path);
    free(path);
    if (taken) *stream = verification_stream(*verification, *stream);
    return taken;
}

static int show_imported(const struct invocation *call, const struct stream *stream,
                         tamis_filter *filter)
{
    struct tamis_segment_stat oldest = {.size = sizeof oldest};
    int status = CLI_DONE;
    if (cli_given(call, TAKES(JSON))) status = view_show_json(call->out, filter, VIEW_SEGMENTS);
    if (tamis_filter_segment(filter, 0, &oldest) < 0) status = cli_fail_library();
    if (status != CLI_DONE) return status;
    /* Format tamis passes the mark on: the user was told when the estimate was made. */
    if (oldest.flags & TAMIS_SEGMENT_ITEMS_ESTIMATED && strcmp(stream->format, "tamis") != 0)
        cli_tell("note: the format does not say how many keys there are; from the set bits there "
                 "are about %ju",
                 (uintmax_t)oldest.items);
    cli_tell_weakness(oldest.hash_set);
    return status;
}

static int import(const struct invocation *call, struct stream *stream, tamis_store *store,
                  const struct verification *verification)
{
    tamis_filter *filter = NULL;
    const struct tamis_import_spec spec =
        publish_import_spec(call, origin_of(call, stream), verification);
    progress_start(&call->options, stream->all_bytes);
    const struct tamis_source source = stream_source(stream);
    const int rc =
        tamis_filter_import(store, call->args[0], stream->format, &spec, &source, &filter);
    if (rc == 0) progress_finish_bytes(stream->done_bytes);
    progress_end();
    if (rc == 0 && call->remote_store != NULL) {
        const bool durable = cli_given(call, TAKES(DURABLE));
        if (remote_import(call->remote_store, call->args[0], filter, durable) < 0)
            return cli_filter_close(filter, CLI_ERROR);
    }
    if (rc == 0)
        return cli_say_done(cli_filter_close(filter, show_imported(call, stream, filter)),
                            call->args[0], "is there");
    if (rc == TAMIS_EEXIST)
        return cli_fail("a filter '%s' exists already; --publish makes the list its next "
                        "generation, or choose another name",
                        call->args[0]);
    return publish_fail(stream, rc);
}

static int import_here(const struct invocation *call, struct stream *stream,
                       const struct verification *verification)
{
    int status = CLI_ERROR;
    tamis_store *store = cli_store_open(call, TAMIS_OPEN_CREATE);
    if (store != NULL) status = import(call, stream, store, verification);
    tamis_store_close(store);
    return status;
}

/* Imports to a server.  The stream makes a filter of a store that is there for the time of the
 * command, and this one goes to the server: so every format is checked and told about as for a
 * directory. */
static int import_aside(const struct invocation *call, struct stream *stream,
                        const struct verification *verification)
{
    const char *directory = getenv("TMPDIR");
    int status = CLI_ERROR;
    tamis_store *store = NULL;
    if (directory == NULL || !*directory) directory = "/tmp";
    char *path = cli_format("%s/tamis-import-XXXXXX", directory);
    if (mkdtemp(path) == NULL) {
        free(path);
        return cli_fail("cannot make a directory in %s: %s; set TMPDIR to one with room for the "
                        "filter",
                        directory, strerror(errno));
    }
    char *own = cli_format("%s/store", path);
    const struct tamis_store_options options = cli_store_options(call, TAMIS_OPEN_CREATE);
    if (tamis_store_open_with(own, &options, &store) < 0)
        (void)cli_fail_library();
    else
        status = import(call, stream, store, verification);
    tamis_store_close(store);
    tree_remove(path);
    free(own);
    free(path);
    return status;
}

/* ---- Publishing ---------------------------------------------------------------------------- */

static int publish(struct publishing *publishing, tamis_store *store)
{
    const struct invocation *call = publishing->call;
    const int rc = publish_run(publishing, store);
    if (rc < 0) return publish_fail(publishing->stream, rc);
    if (cli_given(call, TAKES(JSON))) publish_print_json(publishing, rc > 0);
    if (rc == 0 && !cli_given(call, TAKES(QUIET)))
        cli_tell("'%s' is this list already; generation %" PRIu64 " stays in force", call->args[0],
                 publishing->result.generation);
    return CLI_DONE;
}

/* Publishes in a store that is made if there is none. */
static int publish_here(const struct invocation *call, struct stream *stream,
                        const struct verification *verification)
{
    struct publishing publishing = {.call = call,
                                    .stream = stream,
                                    .origin = origin_of(call, stream),
                                    .verification = verification};
    if (cli_given(call, TAKES(IF_CHANGED))) publishing.flags |= TAMIS_PUBLISH_IF_CHANGED;
    int status = publish_read_except(&publishing);
    tamis_store *store = status == CLI_DONE ? cli_store_open(call, TAMIS_OPEN_CREATE) : NULL;
    if (store != NULL)
        status = publish(&publishing, store);
    else if (status == CLI_DONE)
        status = CLI_ERROR;
    tamis_store_close(store);
    publish_clear(&publishing);
    return status;
}

/* ---- The command --------------------------------------------------------------------------- */

static int run_import_command(struct invocation *call)
{
    if (!import_options_suffice(call)) return CLI_ERROR;
    interrupt_catch();
    const bool has_shards = !redis_is_url(call->options.peer) && shards_are_there(call->args[1]);
    if (has_shards && call->remote_store != NULL) return shards_import(call);
    if (!options_none(
            call, TAKES(FORCE),
            "replaces a filter in shards, on a server, by a directory of shards; drop any "
            "other filter first, or import it under another name"))
        return CLI_ERROR;
    if (has_shards)
        return cli_fail(
            "%s has a filter in shards, which only a server takes (--store redis://...); "
            "import one of them: %s/0.tamis",
            call->args[1], call->args[1]);
    struct verification *verification = NULL;
    struct stream *stream = open_source(call);
    if (stream == NULL) return stream_open_status();
    int status = CLI_ERROR;
    if (begin_verification(call, &stream, &verification))
        status = cli_given(call, TAKES(PUBLISH)) ? publish_here(call, stream, verification)
                 : call->remote_store != NULL    ? import_aside(call, stream, verification)
                                                 : import_here(call, stream, verification);
    stream_close(stream);
    verification_free(verification);
    return status;
}

const struct command cli_command_import = {
    .name = "import",
    .summary = "make a filter from the bits of another system",
    .operands = "NAME FILE|KEY",
    .options = TAKES(FROM) | TAKES_GEOMETRY | TAKES(CAPACITY) | TAKES(RATE) | TAKES(SEAL) |
               TAKES(DURABLE) | TAKES(FORCE) | TAKES(JSON) | TAKES_PROGRESS | TAKES(PUBLISH) |
               TAKES_PUBLISHING | TAKES(VERIFY) | TAKES(SIGNATURE) | TAKES(EXPECT_COMMENT),
    .run = run_import_command,
    .run_remote = run_import_command,
};
