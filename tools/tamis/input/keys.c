/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.c: keys from arguments, standard input and files; see keys.h.
 *
 *      0          start             scanned     end        buffer_bytes
 *      |  done    |  not taken      |  not      |  room     |
 *      |          |  no separator   |  searched |           |
 *
 * When no whole key is left, the rest [start, end) moves to the front and the room is read full.
 * `scanned` keeps one long key that comes in small pieces from being searched again each time.
 */
#include "input/keys.h"

#include <sys/stat.h>
#include <unistd.h>

#include "input/encoding.h"
#include "input/lines.h"

#define BUFFER_BYTES ((size_t)1024 * 1024)
_Static_assert(KEY_BYTES_MAX == (size_t)64 * 1024 * 1024,
               "make_room_for_key() names it in a message");

#define FIRST_BATCH 16              /* as long as it is not known what a key takes */
#define FLUSH_BYTES 65536           /* what a pipe holds */
#define FLUSH_S 0.1                 /* nobody waits longer for an answer that is known */
#define RETURNS_SURE UINT64_C(1000) /* so many lines are enough to tell of their ends */

static struct key_source *make_source(const struct invocation *call)
{
    struct key_source *source = cli_alloc(sizeof *source);
    const struct options *options = &call->options;
    const bool is_remote = call->remote != NULL;
    const size_t batch = is_remote ? KEY_BATCH_REMOTE : KEY_BATCH;
    *source = (struct key_source){.batch = batch,
                                  .taken = cli_alloc(batch * sizeof *source->taken),
                                  .answers = cli_alloc(batch),
                                  .hex = options_have(options, TAKES(HEX)),
                                  .raw = options_have(options, TAKES(RAW)),
                                  .separator = options_have(options, TAKES(ZERO)) ? '\0' : '\n',
                                  .out = call->out,
                                  .rules = line_rules_of(options),
                                  .flushed = progress_clock()};
    source->out->line_end = source->separator;
    source->keys = source->taken;
    source->has_rules = source->rules.skip_blank || source->rules.comments != NULL || source->hex;
    pace_init(&source->pace, is_remote ? batch : FIRST_BATCH, batch);
    return source;
}

/* Makes the buffer, or makes it larger. It has room for the separator that the last line may lack.
 */
static void make_buffer(struct key_source *source, size_t bytes)
{
    source->buffer = cli_realloc(source->buffer, bytes + 1);
    source->buffer_bytes = bytes;
}

struct key_source *key_source_of(const struct invocation *call, struct input *input)
{
    struct key_source *source = make_source(call);
    input->raw = source->raw;
    source->input = input;
    source->is_borrowed = true;
    make_buffer(source, BUFFER_BYTES);
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
    make_buffer(source, BUFFER_BYTES);
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
    free(source->taken);
    free(source->answers);
    free(source->buffer);
    free(source->error);
    free(source);
}

/* Keeps the sentence until the keys before the failure are done. */
__attribute__((format(printf, 2, 3))) static void stop_with(struct key_source *source,
                                                            const char *format, ...)
{
    va_list args;
    va_start(args, format);
    source->error = cli_vformat(format, args);
    va_end(args);
    source->at_end = true;
    source->failed = true;
}

/* Stops at the line that was taken last, or at argument number `number`, which is malformed. */
static void stop_at_line(struct key_source *source, const char *why)
{
    stop_with(source, "%s: line %ju %s", source->input->name, (uintmax_t)source->lines, why);
}

static void stop_at_argument(struct key_source *source, size_t number, const char *why)
{
    stop_with(source, "key %zu %s", number, why);
}

/* What stopped the reading, and what was done before. */
static void tell_error(const struct key_source *source)
{
    const uintmax_t done = source->keys_done;
    if (source->all_or_none || source->is_borrowed) /* the caller says that nothing was done */
        cli_tell("%s", source->error);
    else if (done == 0)
        cli_tell("%s; nothing was done", source->error);
    else if (done == 1)
        cli_tell("%s; the key before it was done", source->error);
    else
        cli_tell("%s; the %ju keys before it were done", source->error, done);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

/* Decodes a key in place.  Returns NULL, or what is wrong with the text. */
static const char *hex_decode(char *text, size_t *bytes)
{
    if (*bytes % 2 != 0) return "has an odd number of hexadecimal digits";
    for (size_t i = 0; i < *bytes; i += 2) {
        int high = text_hex_digit(text[i]), low = text_hex_digit(text[i + 1]);
        if (high < 0 || low < 0) return "is not hexadecimal";
        text[i / 2] = (char)(high << 4 | low);
    }
    *bytes /= 2;
    return NULL;
}

/* Counts the keys that end with a carriage return, or takes it off.  Where the first lines have
 * none, one key of sixteen is looked at, as all of them would take one nanosecond each. */
static void look_at_returns(struct key_source *source, size_t count)
{
    const size_t off = source->rules.strip_return ? 1 : 0;
    const bool all = off || source->returns > 0 || source->texts <= RETURNS_SURE + count;
    for (size_t i = 0; i < count; i += all ? 1 : 16) {
        struct tamis_key *key = &source->taken[i];
        const size_t ends = key->bytes > 0 && ((const char *)key->data)[key->bytes - 1] == '\r';
        source->returns += ends;
        key->bytes -= ends & off;
    }
}

/* The same for one line, if it is a key, which is decoded. false: it is none. */
static bool take_line(struct key_source *source, struct tamis_key *key)
{
    char *text = source->buffer + ((const char *)key->data - source->buffer);
    source->lines++;
    if (!line_rules_pass(&source->rules, text, &key->bytes)) return false;
    const bool ends = key->bytes > 0 && text[key->bytes - 1] == '\r';
    source->returns += ends;
    source->texts++;
    const char *why = source->hex ? hex_decode(text, &key->bytes) : NULL;
    if (why == NULL) return true;
    stop_at_line(source, ends ? "ends with a carriage return, which --crlf takes off" : why);
    return false;
}

/* Keeps the lines that are keys, decoded; returns their number. */
static size_t keep_keys(struct key_source *source, size_t lines)
{
    size_t count = 0;
    if (!source->has_rules) {
        source->lines += lines;
        source->texts += lines;
        if (source->separator == '\n') look_at_returns(source, lines);
        return lines;
    }
    for (size_t i = 0; i < lines && !source->failed; i++) {
        struct tamis_key key = source->taken[i];
        if (take_line(source, &key)) source->taken[count++] = key;
    }
    return count;
}

/* A text whose lines end with CR LF, or in part: its keys are most likely meant without CR. */
static void tell_returns(struct key_source *source, bool at_end)
{
    static bool told; /* of one file, and not of each of a hundred */
    const bool all = source->returns == source->texts;
    if (told || source->returns == 0 || source->rules.strip_return || source->raw || source->hex ||
        source->separator != '\n')
        return;
    if (!at_end && !(all && source->texts >= RETURNS_SURE)) return;
    told = true;
    if (all)
        cli_tell("note: %s: all lines end in CR LF; --crlf if that is not part of the keys",
                 source->input->name);
    else
        cli_tell("note: %s: at least %" PRIu64 " of %" PRIu64
                 " lines end in CR LF; --crlf if that is not part of the keys",
                 source->input->name, source->returns, source->texts);
}

/* Looks at the first bytes of a file, once. false: more of them are needed. */
static bool look_at_beginning(struct key_source *source)
{
    const char *text = source->buffer + source->start, *name = source->input->name;
    const size_t bytes = source->end - source->start;
    if (source->looked) return true;
    if (!source->at_end && bytes < ENCODING_LOOK_BYTES &&
        memchr(text, source->separator, bytes) == NULL)
        return false;
    source->looked = true;
    if (source->raw || source->separator != '\n') return true;
    const enum encoding encoding = encoding_of(text, bytes);
    if (encoding == ENCODING_MARK && source->rules.strip_return)
        source->start += ENCODING_MARK_BYTES;
    else if (encoding == ENCODING_MARK)
        cli_tell("note: %s begins with a byte order mark, which is taken for a part of the first "
                 "key; --crlf takes it off",
                 name);
    else if (encoding != ENCODING_BYTES)
        stop_with(
            source,
            "%s is UTF-%d text, and keys are bytes; convert it: iconv -f UTF-%d -t UTF-8 FILE "
            "| tamis ...; --raw if these bytes are the keys",
            name, encoding == ENCODING_UTF16 ? 16 : 32, encoding == ENCODING_UTF16 ? 16 : 32);
    return true;
}

/* Takes the whole keys of the buffer. 0: it has none. */
static size_t split(struct key_source *source)
{
    size_t lines, count;
    if (source->input == NULL || !look_at_beginning(source)) return 0;
    struct lines text = {.start = source->buffer + source->start,
                         .scanned = source->buffer + source->scanned,
                         .end = source->buffer + source->end,
                         .separator = source->separator};
    if (text.scanned < text.start) text.scanned = text.start;
    do {
        lines = source->failed ? 0 : lines_take(&text, source->taken, source->batch);
        count = keep_keys(source, lines);
    } while (count == 0 && lines > 0);
    source->start = (size_t)(text.start - source->buffer);
    source->scanned = (size_t)(text.scanned - source->buffer);
    tell_returns(source, false);
    return count;
}

/* Takes the last key, which may lack its separator. If nothing follows the last separator, there is
 * no such key. */
static size_t split_last(struct key_source *source)
{
    source->taken[0] = (struct tamis_key){.data = source->buffer + source->start,
                                          .bytes = source->end - source->start};
    source->buffer[source->end] = source->separator; /* it is printed with the line */
    source->start = source->scanned = source->end;
    return source->taken[0].bytes > 0 ? keep_keys(source, 1) : 0;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Makes room for more of the key that fills the buffer. false: the key is too long. */
static bool make_room_for_key(struct key_source *source)
{
    size_t rest = source->end - source->start;
    if (source->start > 0) memmove(source->buffer, source->buffer + source->start, rest);
    source->scanned -= source->scanned < source->start ? source->scanned : source->start;
    source->start = 0;
    source->end = rest;
    if (rest < source->buffer_bytes) return true;
    if (rest > KEY_BYTES_MAX) {
        source->lines++;
        stop_at_line(source, "is longer than 64 MiB, the limit");
        return false;
    }
    /* One byte more than the longest key, for its separator. */
    size_t bytes = source->buffer_bytes * 2;
    if (bytes > KEY_BYTES_MAX) bytes = KEY_BYTES_MAX + 1;
    make_buffer(source, bytes);
    return true;
}

/* Reads once into the room. At the end of the input, at a signal and at a failure it sets at_end.
 */
static void read_more(struct key_source *source)
{
    const ssize_t n =
        input_read(source->input, source->buffer + source->end, source->buffer_bytes - source->end);
    if (n > 0)
        source->end += (size_t)n;
    else
        source->at_end = true;
    if (n < 0 && source->input->error != NULL) stop_with(source, "%s", source->input->error);
    if (n < 0 && !interrupt_signal()) source->failed = true; /* told already, or just now */
}

static bool flush(struct key_source *source)
{
    source->flushed = progress_clock();
    if (out_flush(source->out)) return true;
    source->at_end = source->failed = true; /* told already */
    return false;
}

static void refill(struct key_source *source)
{
    if (!flush(source) || !make_room_for_key(source)) return; /* what is lent to it moves */
    read_more(source);
    while (source->batch > KEY_BATCH && source->end < source->buffer_bytes && !source->at_end &&
           input_is_ready(source->input))
        read_more(source);
}

static size_t take_lines(struct key_source *source)
{
    size_t count = split(source);
    while (count == 0 && !source->at_end) {
        refill(source);
        count = split(source);
    }
    if (count > 0 || source->failed || source->input == NULL) return count;
    if (interrupt_signal()) return 0; /* a signal may leave half a key */
    count = split_last(source);
    if (count == 0 && !source->failed) tell_returns(source, true);
    return count;
}

/* Opens the next file of --file. false: there is none, or it cannot be read, after a message. */
static bool next_file(struct key_source *source)
{
    if (source->failed || interrupt_signal() || source->files == source->files_end) return false;
    if (source->input != NULL) source->bytes_before += source->input->done_bytes;
    input_close(source->input);
    source->input = input_open(*source->files++);
    source->failed = source->input == NULL && !interrupt_signal();
    source->start = source->scanned = source->end = 0;
    source->lines = source->texts = source->returns = 0;
    source->looked = false;
    source->at_end = source->input == NULL;
    if (source->input != NULL) source->input->raw = source->raw;
    return source->input != NULL;
}

static size_t take_arguments(struct key_source *source)
{
    size_t count = 0;
    for (; count < source->batch && source->args < source->args_end; count++, source->args++) {
        struct tamis_key *key = &source->taken[count];
        *key = (struct tamis_key){.data = *source->args, .bytes = strlen(*source->args)};
        const char *why = source->hex ? hex_decode(*source->args, &key->bytes) : NULL;
        if (why == NULL) continue;
        stop_at_argument(source, (size_t)source->keys_done + count + 1, why);
        break;
    }
    return count;
}

/* Takes more keys when all that were taken are handed out. false: there are none. */
static bool take_more(struct key_source *source)
{
    source->handed = source->taken_count = 0;
    if (source->failed) return false;
    if (source->args != NULL) {
        source->taken_count = take_arguments(source);
        return source->taken_count > 0;
    }
    do {
        source->taken_count = take_lines(source);
    } while (source->taken_count == 0 && next_file(source));
    return source->taken_count > 0;
}

/* The bytes that are done, for the progress display. */
static uint64_t bytes_done(const struct key_source *source)
{
    if (source->input == NULL) return source->bytes_before;
    const size_t rest = source->input->state == NULL ? source->end - source->start : 0;
    return source->bytes_before + source->input->done_bytes - rest;
}

/* Between two batches: what is known is printed in time. false: it cannot be. */
static bool keep_time(struct key_source *source)
{
    const double now = progress_clock();
    if (source->batch_keys > 0)
        pace_note(&source->pace, source->batch_keys, now - source->batch_start);
    progress_update(source->keys_before + source->keys_done, bytes_done(source));
    if (out_held(source->out) < FLUSH_BYTES && now - source->flushed < FLUSH_S) return true;
    return flush(source);
}

ssize_t key_source_next(struct key_source *source)
{
    if (!keep_time(source)) return -1;
    source->batch_keys = 0;
    if (interrupt_signal()) return 0; /* what was read and not handed out is not done */
    if (source->handed < source->taken_count || take_more(source)) {
        const size_t rest = source->taken_count - source->handed;
        source->batch_keys = rest < source->pace.keys ? rest : source->pace.keys;
        source->keys = source->taken + source->handed;
        source->handed += source->batch_keys;
        source->keys_done += source->batch_keys;
        source->batch_start = progress_clock();
        return (ssize_t)source->batch_keys;
    }
    if (source->error != NULL) tell_error(source);
    return source->failed ? -1 : 0;
}

int key_source_each(struct key_source *source, int (*batch)(void *context, size_t count),
                    void *context)
{
    for (;;) {
        const ssize_t count = key_source_next(source);
        if (count < 0) return CLI_ERROR;
        if (count == 0) return CLI_DONE;
        const int status = batch(context, (size_t)count);
        if (status != CLI_DONE) return status;
    }
}

uint64_t key_source_estimate(const struct key_source *source)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < source->taken_count; i++)
        bytes += source->taken[i].bytes + 1; /* with its separator */
    const double share = bytes > 0 ? (double)source->bytes_all / (double)bytes : 0;
    return (uint64_t)(share * (double)source->taken_count);
}
