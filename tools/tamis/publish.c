/* SPDX-License-Identifier: BSD-2-Clause */
/* publish.c: a stream becomes the next generation of a filter; see publish.h. */
#include "publish.h"

#include "input/keys.h"

/* ---- The options ----------------------------------------------------------------------------- */

bool publish_options_suffice(const struct invocation *call)
{
    if (!key_source_format_is_sound(call)) return false;
    const struct options *options = &call->options;
    const struct tamis_filter_spec any = {.size = sizeof any, .capacity = 1};
    if (options_have(options, TAKES(SEAL)) && !options_have(options, TAKES(CAPACITY)))
        (void)cli_fail_usage(call->command,
                             "--seal needs -n, the number of new keys that the filter shall take");
    else if (tamis_filter_check(NULL, call->args[0], &any) < 0)
        (void)cli_fail_library();
    else
        return true;
    return false;
}

struct tamis_import_spec publish_import_spec(const struct invocation *call, const char *origin,
                                             const struct verification *verification)
{
    const struct options *options = &call->options;
    struct tamis_import_spec spec = {.size = sizeof spec,
                                     .origin = origin,
                                     .hash_set = options->hash_set,
                                     .m_bits = options->m_bits,
                                     .k = options->k};
    if (verification != NULL) {
        spec.signed_at = verification_time(verification);
        spec.signature = verification_number(verification);
        spec.signed_by = verification_key_id(verification);
        spec.signed_comment = verification_comment(verification);
    }
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

/* ---- Keys that must answer absent ----------------------------------------------------------- */

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

int publish_read_except(struct publishing *publishing)
{
    const struct invocation *call = publishing->call;
    int status = CLI_DONE;
    for (size_t i = 0; status == CLI_DONE && i < call->options.except.count; i++) {
        struct input *input = input_open(call->options.except.paths[i]);
        if (input == NULL) return CLI_ERROR;
        struct excepting excepting = {.source = key_source_of(call, input),
                                      .pile = &publishing->except};
        status = key_source_each(excepting.source, pile_batch, &excepting);
        key_source_free(excepting.source);
        input_close(input);
        if (interrupt_signal()) return cli_interrupted("; nothing was published");
    }
    return status;
}

/* ---- Publishing ------------------------------------------------------------------------------ */

void publish_print_json(const struct publishing *publishing, bool published)
{
    const struct tamis_publish_result *result = &publishing->result;
    json_t *line = json_new();
    json_put(line, "name", json_text(publishing->call->args[0]));
    json_put(line, "published", json_boolean(published));
    json_put(line, "generation", json_unsigned(result->generation));
    json_put(line, "exceptions", json_unsigned(result->exceptions));
    json_put(line, "size_bytes", json_unsigned(result->size_bytes));
    json_put(line, "bytes_read", json_unsigned(publishing->stream->done_bytes));
    json_print(publishing->call->out, line);
}

/* Reads what is left of the stream, of which the library needed no more, so that it is checked.
 * Returns 0, or what the stream returned. */
static int read_to_end(const struct tamis_source *source)
{
    const size_t room = (size_t)1 << 18;
    char *buffer = cli_alloc(room);
    int64_t got;
    do {
        got = source->read(source->context, buffer, room);
    } while (got > 0);
    free(buffer);
    return (int)got;
}

int publish_run(struct publishing *publishing, tamis_store *store)
{
    const struct invocation *call = publishing->call;
    const struct options *options = &call->options;
    struct stream *stream = publishing->stream;
    const struct tamis_import_spec import =
        publish_import_spec(call, publishing->origin, publishing->verification);
    struct tamis_key *except = pile_keys(&publishing->except);
    struct tamis_publish_spec spec = {.size = sizeof spec,
                                      .import = &import,
                                      .except = except,
                                      .except_count = publishing->except.count,
                                      .keep = options->keep,
                                      .flags = publishing->flags};
    if (options_have(options, TAKES(KEEP))) spec.flags |= TAMIS_PUBLISH_KEEP;
    if (options_have(options, TAKES(NEWER_THAN_MINE))) spec.flags |= TAMIS_PUBLISH_NEWER;
    if (options_have(options, TAKES(AT_LEAST))) spec.at_least = options->at_least;
    if (options_have(options, TAKES(MAX_SHRINK)) || publishing->max_shrink > 0) {
        spec.flags |= TAMIS_PUBLISH_MAX_SHRINK;
        spec.max_shrink =
            options_have(options, TAKES(MAX_SHRINK)) ? options->max_shrink : publishing->max_shrink;
    }
    publishing->result = (struct tamis_publish_result){.size = sizeof publishing->result};
    progress_start(options, stream->all_bytes);
    const struct tamis_source source = stream_source(stream);
    int rc = tamis_filter_publish(store, call->args[0], stream->format, &spec, &source,
                                  &publishing->result);
    if (rc == 0 && publishing->verification != NULL) rc = read_to_end(&source);
    if (rc > 0) progress_finish_bytes(stream->done_bytes);
    progress_end();
    free(except);
    return rc;
}

void publish_clear(struct publishing *publishing)
{
    pile_clear(&publishing->except);
    publishing->except = (struct pile){.count = 0};
}

int publish_fail(const struct stream *stream, int rc)
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
