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
#include "input.h"
#include "keys.h"
#include "pile.h"
#include "private_store.h"
#include "redis_url.h"
#include "remote/remote.h"
#include "shards.h"
#include "stream.h"

#define TAKES_GEOMETRY (TAKES(HASH_SET) | TAKES(BITS) | TAKES(HASHES))

/* What only a publication has a use for. */
#define TAKES_PUBLISHING                                                                           \
    (TAKES(IF_CHANGED) | TAKES(KEEP) | TAKES(QUIET) | TAKES(EXCEPT) | TAKES(ZERO) | TAKES(HEX) |   \
     TAKES(COMMENTS) | TAKES(SKIP_BLANK) | TAKES(CRLF))

/* Checks the options of a publication. */
static bool publish_options_suffice(const struct invocation *call)
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

/* Checks the options before a file, a server or a store is touched. */
static bool import_options_suffice(const struct invocation *call)
{
    const struct options *options = &call->options;
    const struct tamis_filter_spec any = {.size = sizeof any, .capacity = 1};
    if (!stream_peer_is_given(call, "--from") || !publish_options_suffice(call)) return false;
    if (options_have(options, TAKES(SEAL)) && !options_have(options, TAKES(CAPACITY)))
        (void)cli_fail_usage(call->command,
                             "--seal needs -n, the number of new keys that the filter shall take");
    else if (tamis_filter_check(NULL, call->args[0], &any) < 0)
        (void)cli_fail_library();
    else
        return true;
    return false;
}

/* Where the stream is, as `info` will tell it. */
static const char *origin_of(const struct invocation *call, const struct stream *stream)
{
    const bool standard = !redis_is_url(call->options.peer) && strcmp(call->args[1], "-") == 0;
    return standard ? "-" : stream->name;
}

static struct tamis_import_spec spec_of(const struct invocation *call, const struct stream *stream)
{
    const struct options *options = &call->options;
    struct tamis_import_spec spec = {.size = sizeof spec,
                                     .origin = origin_of(call, stream),
                                     .hash_set = options->hash_set,
                                     .m_bits = options->m_bits,
                                     .k = options->k};
    if (options_have(options, TAKES(DURABLE))) spec.flags |= TAMIS_IMPORT_DURABLE;
    if (options_have(options, TAKES(SEAL))) {
        spec.seal_capacity = options->capacity;
        spec.seal_rate = options->fp_rate;
    } else {
        spec.capacity = options->capacity;
        spec.fp_rate = options->fp_rate;
    }
    return spec;
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

static int show_imported(const struct invocation *call, const struct stream *stream,
                         tamis_filter *filter)
{
    struct tamis_segment_stat oldest = {.size = sizeof oldest};
    int status = CLI_DONE;
    if (cli_given(call, TAKES(JSON))) status = view_show_json(call->out, filter, VIEW_SEGMENTS);
    if (tamis_filter_segment(filter, 0, &oldest) < 0) return cli_fail_library();
    /* Format tamis passes the mark on: the user was told when the estimate was made. */
    if (oldest.flags & TAMIS_SEGMENT_ITEMS_ESTIMATED && strcmp(stream->format, "tamis") != 0)
        cli_tell("note: the format does not say how many keys there are; from the set bits there "
                 "are about %ju",
                 (uintmax_t)oldest.items);
    cli_tell_weakness(oldest.hash_set);
    return status;
}

/* Tells why an import has failed.  Returns the exit status. */
static int fail_import(const struct stream *stream, int rc)
{
    if (interrupt_signal())
        return cli_interrupted(" while reading %s; nothing was imported", stream->name);
    if (stream->failed) return CLI_ERROR;
    switch (rc) { /* these errors are about the stream or the options that describe it */
    case TAMIS_EINVAL:
    case TAMIS_ECORRUPT:
    case TAMIS_EFOREIGN:
    case TAMIS_EVERSION:
    case TAMIS_EUNSUPPORTED:
        return cli_fail("%s: %s", stream->name, tamis_last_error());
    default:
        return cli_fail_library();
    }
}

static int import(const struct invocation *call, struct stream *stream, tamis_store *store)
{
    tamis_filter *filter = NULL;
    const struct tamis_import_spec spec = spec_of(call, stream);
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
    if (rc == 0) return cli_filter_close(filter, show_imported(call, stream, filter));
    return fail_import(stream, rc);
}

static int import_here(const struct invocation *call, struct stream *stream)
{
    int status = CLI_ERROR;
    tamis_store *store = cli_store_open(call, TAMIS_CREATE);
    if (store != NULL) status = import(call, stream, store);
    tamis_store_close(store);
    return status;
}

/* Imports to a server.  The stream makes a filter of a store that is there for the time of the
 * command, and this one goes to the server: so every format is checked and told about as for a
 * directory. */
static int import_aside(const struct invocation *call, struct stream *stream)
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
    const struct tamis_store_options options = cli_store_options(call, TAMIS_CREATE);
    if (tamis_store_open_with(own, &options, &store) < 0)
        (void)cli_fail_library();
    else
        status = import(call, stream, store);
    tamis_store_close(store);
    tree_remove(path);
    free(own);
    free(path);
    return status;
}

/* ---- Publishing ---------------------------------------------------------------------------- */

struct excepting {
    struct key_source *source;
    struct pile *pile;
};

static int pile_batch(void *context, size_t count)
{
    const struct excepting *excepting = context;
    for (size_t i = 0; i < count; i++)
        pile_add(excepting->pile, &excepting->source->keys[i]);
    if (excepting->pile->count <= TAMIS_EXCEPTIONS_MAX) return CLI_DONE;
    return cli_fail("a filter has at most %d exceptions, and these are more", TAMIS_EXCEPTIONS_MAX);
}

/* Reads the files of --except. */
static int read_except(const struct invocation *call, struct pile *pile)
{
    int status = CLI_DONE;
    for (size_t i = 0; status == CLI_DONE && i < call->options.except.count; i++) {
        struct input *input = input_open(call->options.except.paths[i]);
        if (input == NULL) return CLI_ERROR;
        struct excepting excepting = {.source = key_source_of(call, input), .pile = pile};
        status = key_source_each(excepting.source, pile_batch, &excepting);
        key_source_free(excepting.source);
        input_close(input);
        if (interrupt_signal()) return cli_interrupted("; nothing was published");
    }
    return status;
}

static void print_publish_json(const struct invocation *call, const struct stream *stream,
                               const struct tamis_publish_result *result, bool published)
{
    json_t *line = json_new();
    json_put(line, "name", json_text(call->args[0]));
    json_put(line, "published", json_boolean(published));
    json_put(line, "generation", json_unsigned(result->generation));
    json_put(line, "exceptions", json_unsigned(result->exceptions));
    json_put(line, "size_bytes", json_unsigned(result->size_bytes));
    json_put(line, "bytes_read", json_unsigned(stream->done_bytes));
    json_print(call->out, line);
}

static int publish(const struct invocation *call, struct stream *stream, tamis_store *store,
                   const struct tamis_key *except, size_t except_count)
{
    const struct options *options = &call->options;
    const struct tamis_import_spec import = spec_of(call, stream);
    struct tamis_publish_result result = {.size = sizeof result};
    struct tamis_publish_spec spec = {.size = sizeof spec,
                                      .import = &import,
                                      .except = except,
                                      .except_count = except_count,
                                      .keep = options->keep};
    if (options_have(options, TAKES(IF_CHANGED))) spec.flags |= TAMIS_PUBLISH_IF_CHANGED;
    if (options_have(options, TAKES(KEEP))) spec.flags |= TAMIS_PUBLISH_KEEP;
    progress_start(options, stream->all_bytes);
    const struct tamis_source source = stream_source(stream);
    const int rc =
        tamis_filter_publish(store, call->args[0], stream->format, &spec, &source, &result);
    if (rc > 0) progress_finish_bytes(stream->done_bytes);
    progress_end();
    if (rc < 0) return fail_import(stream, rc);
    if (cli_given(call, TAKES(JSON))) print_publish_json(call, stream, &result, rc > 0);
    if (rc == 0 && !cli_given(call, TAKES(QUIET)))
        cli_tell("'%s' is this list already; generation %" PRIu64 " stays in force", call->args[0],
                 result.generation);
    return CLI_DONE;
}

/* Publishes in a store that is made if there is none. */
static int publish_here(const struct invocation *call, struct stream *stream)
{
    struct pile pile = {.count = 0};
    int status = read_except(call, &pile);
    tamis_store *store = status == CLI_DONE ? cli_store_open(call, TAMIS_CREATE) : NULL;
    if (store != NULL) {
        struct tamis_key *keys = pile_keys(&pile);
        status = publish(call, stream, store, keys, pile.count);
        free(keys);
    } else if (status == CLI_DONE) {
        status = CLI_ERROR;
    }
    tamis_store_close(store);
    pile_clear(&pile);
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
    struct stream *stream = open_source(call);
    if (stream == NULL) return stream_open_status();
    const int status = cli_given(call, TAKES(PUBLISH)) ? publish_here(call, stream)
                       : call->remote_store != NULL    ? import_aside(call, stream)
                                                       : import_here(call, stream);
    stream_close(stream);
    return status;
}

const struct command cli_command_import = {
    .name = "import",
    .summary = "make a filter from the bits of another system",
    .operands = "NAME FILE|KEY",
    .options = TAKES(FROM) | TAKES_GEOMETRY | TAKES(CAPACITY) | TAKES(RATE) | TAKES(SEAL) |
               TAKES(DURABLE) | TAKES(FORCE) | TAKES(JSON) | TAKES_PROGRESS | TAKES(PUBLISH) |
               TAKES_PUBLISHING,
    .run = run_import_command,
    .run_remote = run_import_command,
};
