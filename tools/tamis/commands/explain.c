/* SPDX-License-Identifier: BSD-2-Clause */
/* explain.c: tamis explain NAME [KEY...] - where a key goes, in a filter or without one. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "form.h"
#include "input/keys.h"
#include "remote/remote.h"

#define TAKES_GEOMETRY (TAKES(BITS) | TAKES(HASHES) | TAKES(SEED))
#define HASH_TEXT_BYTES 64 /* of one hash value, by tamis_stat.h */

struct explainer {
    const struct invocation *call;
    tamis_filter *filter; /* NULL: the geometry of the options */
    uint32_t segments;    /* 1 without a filter */
    struct key_source *source;
    struct tamis_explanation explanation; /* its buffers are ours and grow */
    const char *key_rule;                 /* of the filter; NULL: bytes */
};

static void print_form(const struct explainer *explainer, const struct tamis_key *key)
{
    struct form form;
    form_init(&form, explainer->key_rule, key);
    out_char(explainer->call->out, '\t');
    key_source_print_key(explainer->source, &form.key);
    form_clear(&form);
}

static void put_form(const struct explainer *explainer, const struct tamis_key *key, json_t *line)
{
    struct form form;
    form_init(&form, explainer->key_rule, key);
    json_put_form(line, &form.key, explainer->source->hex);
    form_clear(&form);
}

static void make_room_for_positions(struct tamis_explanation *explanation, size_t positions)
{
    explanation->positions_max = positions;
    explanation->positions =
        cli_realloc(explanation->positions, positions * sizeof *explanation->positions);
    explanation->hashes_bytes = positions * HASH_TEXT_BYTES;
    explanation->hashes = cli_realloc(explanation->hashes, explanation->hashes_bytes);
}

static int explain_once(struct explainer *explainer, const struct tamis_key *key, uint32_t segment)
{
    const struct options *options = &explainer->call->options;
    if (explainer->filter != NULL)
        return tamis_filter_explain(explainer->filter, segment, key->data, key->bytes,
                                    &explainer->explanation);
    return tamis_explain(options->hash_set, options->m_bits, options->k, options->seed, key->data,
                         key->bytes, &explainer->explanation);
}

/* The library says how many positions there are when the buffers are too small for them. */
static int explain_key(struct explainer *explainer, const struct tamis_key *key, uint32_t segment)
{
    struct tamis_explanation *explanation = &explainer->explanation;
    explanation->positions_count = 0;
    int rc = explain_once(explainer, key, segment);
    if (rc == TAMIS_EINVAL && explanation->positions_count > explanation->positions_max) {
        make_room_for_positions(explanation, explanation->positions_count);
        rc = explain_once(explainer, key, segment);
    }
    return rc < 0 ? cli_fail_library() : CLI_DONE;
}

static void print_text(const struct explainer *explainer, const struct tamis_key *key)
{
    const struct tamis_explanation *explanation = &explainer->explanation;
    struct out *out = explainer->call->out;
    key_source_print_key(explainer->source, key);
    out_char(out, '\t');
    out_text(out, explanation->hashes);
    for (size_t i = 0; i < explanation->positions_count; i++)
        out_format(out, "%c%ju", i == 0 ? '\t' : ',', (uintmax_t)explanation->positions[i]);
    if (explainer->key_rule != NULL) print_form(explainer, key);
    out_char(out, explainer->source->separator);
}

static json_t *hashes_json(const char *hashes)
{
    json_t *array = json_array();
    while (*hashes) {
        size_t bytes = strcspn(hashes, ",");
        json_append(array, json_stringn(hashes, bytes));
        hashes += bytes;
        hashes += *hashes == ',';
    }
    return array;
}

static void print_explained_json(const struct explainer *explainer, const struct tamis_key *key,
                                 uint32_t segment)
{
    const struct tamis_explanation *explanation = &explainer->explanation;
    json_t *positions = json_array();
    for (size_t i = 0; i < explanation->positions_count; i++)
        json_append(positions, json_unsigned(explanation->positions[i]));
    json_t *line = json_new();
    json_put_key(line, key, explainer->source->hex);
    if (explainer->key_rule != NULL) put_form(explainer, key, line);
    if (explainer->segments > 1) json_put(line, "segment", json_unsigned(segment));
    json_put(line, "hashes", hashes_json(explanation->hashes));
    json_put(line, "positions", positions);
    json_print(explainer->call->out, line);
}

static int explain_and_print(struct explainer *explainer, const struct tamis_key *key)
{
    for (uint32_t segment = 0; segment < explainer->segments; segment++) {
        if (explain_key(explainer, key, segment) != CLI_DONE) return CLI_ERROR;
        if (cli_given(explainer->call, TAKES(JSON)))
            print_explained_json(explainer, key, segment);
        else
            print_text(explainer, key);
    }
    return CLI_DONE;
}

/* Some hash sets fix k, others take any k. A set that accepts k = 1 but not k = 0 needs -k. */
static bool k_is_missing(const struct options *options)
{
    uint64_t position;
    char text[HASH_TEXT_BYTES * 4];
    struct tamis_explanation probe = {.size = sizeof probe,
                                      .hashes = text,
                                      .hashes_bytes = sizeof text,
                                      .positions = &position,
                                      .positions_max = 1};
    const char *set = options->hash_set;
    if (options_have(options, TAKES(HASHES))) return false;
    return tamis_explain(set, options->m_bits, 0, options->seed, "", 0, &probe) < 0 &&
           tamis_explain(set, options->m_bits, 1, options->seed, "", 0, &probe) == 0;
}

/* What a server says of a key in one segment. */
static int print_told(void *context, const struct tamis_key *key, uint32_t segment,
                      uint32_t segments, const struct tamis_explanation *told)
{
    struct explainer *explainer = context;
    const struct tamis_explanation own = explainer->explanation;
    explainer->explanation = *told;
    explainer->segments = segments;
    if (cli_given(explainer->call, TAKES(JSON)))
        print_explained_json(explainer, key, segment);
    else
        print_text(explainer, key);
    explainer->explanation = own;
    return 0;
}

static int explain_batch(void *context, size_t count)
{
    struct explainer *explainer = context;
    struct remote_filter *asked = explainer->call->remote;
    if (asked != NULL) {
        const int rc = remote_explain(asked, explainer->source->keys, count, print_told, explainer);
        return rc < 0 ? CLI_ERROR : CLI_DONE;
    }
    for (size_t i = 0; i < count; i++)
        if (explain_and_print(explainer, &explainer->source->keys[i]) != CLI_DONE) return CLI_ERROR;
    return CLI_DONE;
}

static int explain_keys(struct explainer *explainer, size_t first_key, const char *hash_set)
{
    if (isatty(STDERR_FILENO) == 1) cli_tell_weakness(hash_set); /* people; scripts know */
    explainer->source = key_source_new(explainer->call, first_key);
    make_room_for_positions(&explainer->explanation, TAMIS_K_MAX);
    const int status = key_source_each(explainer->source, explain_batch, explainer);
    key_source_free(explainer->source);
    free(explainer->explanation.hashes);
    free(explainer->explanation.positions);
    return status;
}

static int explain_filter(struct invocation *call)
{
    struct explainer explainer = {
        .explanation.size = sizeof explainer.explanation, .call = call, .filter = call->filter};
    struct tamis_filter_stat stat;
    if (cli_stat(call, &stat) != CLI_DONE) return CLI_ERROR;
    explainer.segments = stat.segment_count;
    if (stat.key_rule[0] != '\0' && strcmp(stat.key_rule, "bytes") != 0)
        explainer.key_rule = stat.key_rule;
    if (explainer.key_rule != NULL && tamis_key_form(stat.key_rule, "", 0, NULL, 0) < 0) {
        cli_tell("note: the forms of keys are not shown: %s", tamis_last_error());
        explainer.key_rule = NULL; /* of a server that has another library */
    }
    return explain_keys(&explainer, 1, stat.hash_set);
}

static int run_filter(struct invocation *call)
{
    if (call->arg_count == 0)
        return cli_fail_usage(call->command,
                              "arguments are missing: explain takes %s, or "
                              "--hash-set SET -m BITS -k HASHES [KEY...]",
                              call->command->operands);
    if (cli_given(call, TAKES_GEOMETRY))
        return cli_fail_usage(call->command,
                              "-m, -k and --seed go with --hash-set; a filter has its own");
    if (!key_source_can_be(call, 1)) return CLI_ERROR;
    return cli_with_filter(call, TAMIS_OPEN_READ_ONLY, explain_filter);
}

static int run_explain(struct invocation *call)
{
    struct explainer explainer = {
        .explanation.size = sizeof explainer.explanation, .call = call, .segments = 1};
    if (!cli_given(call, TAKES(HASH_SET))) return run_filter(call);
    if (!cli_given(call, TAKES(BITS)))
        return cli_fail_usage(call->command, "--hash-set needs -m BITS");
    if (k_is_missing(&call->options))
        return cli_fail_usage(call->command, "hash set '%s' needs -k HASHES",
                              call->options.hash_set);
    if (!key_source_can_be(call, 0)) return CLI_ERROR;
    return explain_keys(&explainer, 0, call->options.hash_set);
}

const struct command cli_command_explain = {
    .name = "explain",
    .summary = "hash values and bit positions of keys",
    .operands = "NAME [KEY...]",
    .options = TAKES_KEYS_OF_FILES | TAKES(HASH_SET) | TAKES_GEOMETRY,
    .hashes_max = UINT32_MAX, /* no filter is made, so any k that a hash set takes is allowed */
    .args_optional = true,
    .run = run_explain,
    .run_remote = run_explain,
};
