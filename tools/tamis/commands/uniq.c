/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uniq.c: tamis uniq [FILE...]
 *
 * A `sort -u` that streams and needs no store: each line is printed when it comes for the first
 * time. The lines that were there are known by a filter in memory, which grows and goes with the
 * command (private_store.h).
 */
#include "command.h"
#include "input/keys.h"
#include "private_store.h"

#define FIRST_CAPACITY UINT64_C(1000000)
#define FIRST_RATE 1e-6
#define NAME "uniq" /* of the filter */

struct reading {
    const struct invocation *call;
    struct key_source *source;
    tamis_filter *filter;
    uint64_t new_keys;
};

/* Also from the beginning, as /dev/shm of a container often has 64 MB. */
static int fail_without_memory(const struct invocation *call)
{
    (void)cli_fail_library();
    return cli_fail("the filter in memory could not take more; for so many lines use a store on a "
                    "disk: tamis create NAME -n LINES -p %.3g, then tamis add --new NAME",
                    cli_given(call, TAKES(RATE)) ? call->options.fp_rate : FIRST_RATE);
}

static int add_uniq_batch(void *context, size_t count)
{
    struct reading *reading = context;
    struct key_source *source = reading->source;
    const int64_t new_keys =
        tamis_filter_add_batch(reading->filter, source->keys, count, source->answers);
    const uint8_t wanted = cli_given(reading->call, TAKES(SEEN)) ? 0 : 1;
    key_source_print(source, count, wanted);
    if (new_keys >= 0) {
        reading->new_keys += (uint64_t)new_keys;
        return CLI_DONE;
    }
    (void)out_flush(source->out);
    return fail_without_memory(reading->call);
}

static int read_lines(struct reading *reading)
{
    const struct invocation *call = reading->call;
    reading->source = key_source_new(call, call->arg_count);
    /* Two lines are one if their ends differ: this is about text. */
    reading->source->taking.rules.strip_return = !cli_given(call, TAKES(ZERO) | TAKES(RAW));
    const double start = progress_clock();
    int status = key_source_each(reading->source, add_uniq_batch, reading);
    progress_end();
    (void)out_flush(call->out);
    if (cli_given(call, TAKES(STATS)))
        key_source_tell_stats(reading->source, reading->new_keys, progress_clock() - start, false);
    if (status == CLI_DONE) status = key_source_status(reading->source, status, "answered");
    key_source_free(reading->source);
    return status;
}

static int uniq(struct invocation *call)
{
    const struct options *options = &call->options;
    const struct tamis_filter_spec spec = {
        .size = sizeof spec,
        .capacity = cli_given(call, TAKES(CAPACITY)) ? options->capacity : FIRST_CAPACITY,
        .fp_rate = cli_given(call, TAKES(RATE)) ? options->fp_rate : FIRST_RATE,
        .key_rule = options->key_rule};
    struct reading reading = {.call = call};
    const int rc = tamis_filter_create(call->store, NAME, &spec, NULL);
    if (rc == TAMIS_ENOSPACE) return fail_without_memory(call);
    if (rc < 0 || tamis_filter_open(call->store, NAME, TAMIS_OPEN_NO_SYNC, &reading.filter) < 0)
        return cli_fail_library();
    const int status = read_lines(&reading);
    return cli_filter_close(reading.filter, status);
}

/* The operands are files, as those of --file are elsewhere. */
static int run_uniq(struct invocation *call)
{
    const struct option_files given = call->options.files;
    const char **paths = cli_alloc((call->arg_count + 1) * sizeof *paths);
    for (size_t i = 0; i < call->arg_count; i++)
        paths[i] = call->args[i];
    call->options.files = (struct option_files){paths, call->arg_count};
    int status = CLI_ERROR;
    if (key_source_can_be(call, call->arg_count)) status = private_store_run(call, uniq);
    call->options.files = given;
    free(paths);
    return status;
}

const struct command cli_command_uniq = {
    .name = "uniq",
    .summary = "print each line once, without a store",
    .operands = "[FILE...]",
    .options = TAKES(CAPACITY) | TAKES(RATE) | TAKES(SEEN) | TAKES(STATS) | TAKES_LINES |
               TAKES(KEY_RULE) | TAKES_PROGRESS,
    .args_optional = true,
    .run = run_uniq,
};
