/* SPDX-License-Identifier: BSD-2-Clause */
/* begin.c: where keys will come from, by the options of a call; see keys.h. */
#include <sys/stat.h>
#include <unistd.h>

#include "input/keys.h"

#define FIRST_BATCH 16 /* as long as it is not known what a key takes */

/* The byte of --separator; below 0: it is none. */
static int separator_of(const char *text)
{
    if (strcmp(text, "\\t") == 0 || strcmp(text, "tab") == 0) return '\t';
    return strlen(text) == 1 && text[0] != '"' && text[0] != '\n' ? (unsigned char)text[0] : -1;
}

static bool is_guessed(const struct options *options)
{
    return options_have(options, TAKES(FORMAT)) && strcmp(options->format, "auto") == 0;
}

/* The format that was asked for, or is the default. NULL: there is none of this name. */
static const struct format *format_of(const struct options *options)
{
    const bool is_named = options_have(options, TAKES(FORMAT)) && !is_guessed(options);
    return is_named ? format_named(options->format) : &format_lines;
}

bool key_source_format_is_sound(const struct invocation *call)
{
    const struct options *options = &call->options;
    const bool has_format = cli_given(call, TAKES(FORMAT));
    const struct format *format = has_format ? format_of(options) : NULL;
    if (has_format && format == NULL)
        (void)cli_fail_usage(call->command,
                             "there is no format '%s'; give auto, lines, hosts, adblock, "
                             "domains, csv, tsv, jsonl or cdx",
                             options->format);
    else if (cli_given(call, TAKES(FIELD)) && (format == NULL || !format->has_fields))
        (void)cli_fail_usage(call->command, "--field goes with --format csv, tsv or jsonl");
    else if (cli_given(call, TAKES(FIELD)) && strcmp(options->field, "0") == 0)
        (void)cli_fail_usage(call->command, "fields are counted from 1");
    else if (cli_given(call, TAKES(SEPARATOR)) && (format == NULL || format->separator == 0))
        (void)cli_fail_usage(call->command, "--separator goes with --format csv or tsv");
    else if (cli_given(call, TAKES(SEPARATOR)) && separator_of(options->separator) < 0)
        (void)cli_fail_usage(call->command,
                             "--separator '%s' is not one character; \\t stands for a tab",
                             options->separator);
    else
        return true;
    return false;
}

static struct taking make_taking(const struct options *options)
{
    const struct format *format = format_of(options);
    struct taking taking = {.format = format,
                            .line_end = options_have(options, TAKES(ZERO)) ? '\0' : '\n',
                            .separator = format->separator,
                            .hex = options_have(options, TAKES(HEX)),
                            .rules = line_rules_of(options)};
    if (options_have(options, TAKES(SEPARATOR)))
        taking.separator = (char)separator_of(options->separator);
    if (options_have(options, TAKES(FIELD))) taking.field = options->field;
    return taking;
}

static struct key_source *make_source(const struct invocation *call)
{
    struct key_source *source = cli_alloc(sizeof *source);
    const struct options *options = &call->options;
    const bool is_remote = call->remote != NULL;
    const size_t batch = is_remote ? KEY_BATCH_REMOTE : KEY_BATCH;
    *source = (struct key_source){.batch = batch,
                                  .room = batch,
                                  .lines_taken = cli_alloc(batch * sizeof *source->lines_taken),
                                  .answers = cli_alloc(batch),
                                  .hex = options_have(options, TAKES(HEX)),
                                  .raw = options_have(options, TAKES(RAW)),
                                  .separator = options_have(options, TAKES(ZERO)) ? '\0' : '\n',
                                  .out = call->out,
                                  .taking = make_taking(options),
                                  .guesses = is_guessed(options),
                                  .is_quiet = options_have(options, TAKES(QUIET)),
                                  .flushed = progress_clock()};
    source->out->line_end = source->separator;
    source->keys = source->taken = source->lines_taken;
    pace_init(&source->pace, is_remote ? batch : FIRST_BATCH, batch);
    return source;
}

struct key_source *key_source_of(const struct invocation *call, struct input *input)
{
    struct key_source *source = make_source(call);
    input->raw = source->raw;
    source->input = input;
    source->is_borrowed = true;
    key_source_begin_file(source);
    return source;
}

/* Prints a note if the only KEY looks like the name of a file with keys. After `--` it is meant as
 * a key. */
static void hint_at_file(const struct invocation *call, const char *key)
{
    struct stat status;
    if (call->dashes || cli_given(call, TAKES(QUIET))) return;
    if (strcmp(key, "-") == 0)
        cli_tell("'-' is taken as a key; keys are read from standard input where no KEY is given");
    else if (stat(key, &status) == 0 && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)))
        cli_tell("'%s' is taken as a key; to read keys from the file: --file %s", key, key);
}

/* The bytes of all files of --file, as far as they are known. */
static bool files_are_there(const struct invocation *call, uint64_t *all)
{
    unsigned standard = 0;
    *all = 0;
    if (!inputs_are_there(&call->options.files, all, &standard)) return false;
    if (standard > 1) (void)cli_fail_usage(call->command, "standard input can be read once only");
    return standard <= 1;
}

bool key_source_can_be(const struct invocation *call, size_t first)
{
    uint64_t bytes;
    if (!key_source_format_is_sound(call)) return false;
    if (call->options.files.count == 0) {
        if (call->arg_count == first + 1) hint_at_file(call, call->args[first]);
        return true;
    }
    if (call->arg_count <= first) return files_are_there(call, &bytes);
    (void)cli_fail_usage(call->command, "keys are given twice: '%s' as an argument, and by --file",
                         call->args[first]);
    return false;
}

/* Keys that no argument names are about to be read. */
static void begin_reading(const struct invocation *call, bool standard, uint64_t bytes)
{
    const bool typed = standard && isatty(STDIN_FILENO) == 1;
    if (typed) cli_tell("reading keys from the terminal, one a line; end with Ctrl-D");
    /* A user who types the keys sees the progress anyway, and the line would be in the way. */
    if (!typed || cli_given(call, TAKES(PROGRESS))) progress_start(&call->options, bytes);
}

struct key_source *key_source_new(const struct invocation *call, size_t first)
{
    static const char *const standard_input[] = {"-"};
    struct option_files files = call->options.files;
    struct key_source *source = make_source(call);
    unsigned standard = 0;
    if (first < call->arg_count) {
        source->args = call->args + first;
        source->args_end = call->args + call->arg_count;
        return source;
    }
    if (files.count == 0)
        files = (struct option_files){(const char **)(uintptr_t)standard_input, 1};
    source->files = (const char *const *)files.paths;
    source->files_end = source->files + files.count;
    source->at_end = true; /* of what there is before the first of them */
    source->failed = !inputs_are_there(&files, &source->bytes_all, &standard);
    if (!source->failed) begin_reading(call, standard > 0, source->bytes_all);
    return source;
}

void key_source_free(struct key_source *source)
{
    if (source == NULL) return;
    if (!source->is_borrowed) progress_end();
    (void)out_flush(source->out); /* lines of the buffer may be lent to it */
    if (!source->is_borrowed) input_close(source->input);
    free(source->lines_taken);
    taking_clear(&source->taking);
    free(source->answers);
    free(source->buffer);
    free(source->error);
    free(source);
}
