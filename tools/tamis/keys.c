/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.c: keys from arguments, standard input and files; see keys.h.
 *
 *      0          start             scanned     end        buffer_bytes
 *      |  done    |  not handed out |  not      |  room     |
 *      |          |  no separator   |  searched |           |
 *
 * When no whole key is left, the rest [start, end) moves to the front and the room is read full.
 * `scanned` keeps one long key that comes in small pieces from being searched again each time.
 */
#include "keys.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lines.h"
#include "scan.h"

#define BUFFER_BYTES ((size_t)1024 * 1024)
_Static_assert(KEY_BYTES_MAX == (size_t)64 * 1024 * 1024,
               "make_room_for_key() names it in a message");

/* How many bytes standard input will give, for the percentage; 0 if that is not known. */
static uint64_t input_bytes(void)
{
    struct stat status;
    if (fstat(STDIN_FILENO, &status) < 0 || !S_ISREG(status.st_mode)) return 0;
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    return at >= 0 && at < status.st_size ? (uint64_t)(status.st_size - at) : 0;
}

static struct key_source *make_source(const struct invocation *call)
{
    struct key_source *source = cli_alloc(sizeof *source);
    const struct options *options = &call->options;
    const size_t batch = call->remote != NULL ? KEY_BATCH_REMOTE : KEY_BATCH;
    *source = (struct key_source){.batch = batch,
                                  .keys = cli_alloc(batch * sizeof *source->keys),
                                  .answers = cli_alloc(batch),
                                  .hex = options_have(options, TAKES(HEX)),
                                  .separator = options_have(options, TAKES(ZERO)) ? '\0' : '\n',
                                  .out = call->out};
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
    const struct options *options = &call->options;
    source->input = input;
    source->interruptible = true;
    make_buffer(source, BUFFER_BYTES);
    source->skip_blank = options_have(options, TAKES(SKIP_BLANK));
    source->strip_return = options_have(options, TAKES(CRLF));
    if (options_have(options, TAKES(COMMENTS))) source->comments = options->comments;
    source->comments_bytes = source->comments != NULL ? strlen(source->comments) : 0;
    source->has_rules = source->skip_blank || source->strip_return || source->comments != NULL;
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
    const struct option_files *files = &call->options.files;
    struct key_source *source = make_source(call);
    uint64_t bytes;
    if (first < call->arg_count) {
        source->args = call->args + first;
        source->args_end = call->args + call->arg_count;
        return source;
    }
    make_buffer(source, BUFFER_BYTES);
    if (files->count == 0) {
        source->bytes_all = input_bytes();
        begin_reading(call, true, source->bytes_all);
        return source;
    }
    source->files = (const char *const *)files->paths;
    source->files_end = source->files + files->count;
    source->at_end = true; /* of what there is before the first of them */
    source->failed = !files_are_there(call, &bytes);
    bool standard = false;
    for (size_t i = 0; i < files->count; i++)
        standard |= strcmp(files->paths[i], "-") == 0;
    if (source->failed) return source;
    source->bytes_all = bytes;
    begin_reading(call, standard, bytes);
    return source;
}

void key_source_free(struct key_source *source)
{
    if (source == NULL) return;
    if (source->input == NULL || source->files != NULL) progress_end();
    (void)out_flush(source->out); /* lines of the buffer may be lent to it */
    if (source->files != NULL) input_close(source->input);
    free(source->keys);
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

/* Stops at key number `number`, counted from 1, which is malformed. */
static void stop_at_key(struct key_source *source, uint64_t number, const char *why)
{
    if (source->input != NULL)
        stop_with(source, "%s: line %ju %s%s", source->input->name,
                  (uintmax_t)(number + source->skipped - source->lines_before), why,
                  source->files != NULL && !source->all_or_none ? "; the keys before it were done"
                                                                : "");
    else if (source->all_or_none)
        stop_with(source, "key %ju %s", (uintmax_t)number, why);
    else
        stop_with(source, "key %ju %s; %s", (uintmax_t)number, why,
                  number > 1 ? "the keys before it were done" : "nothing was done");
}

/* ---- One key ------------------------------------------------------------------------------ */

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

/* Puts a key into the batch as its `count`th.  false: it is malformed, which ends the reading. */
static inline bool take_key(struct key_source *source, size_t count, char *text, size_t bytes)
{
    if (source->hex) {
        const char *why = hex_decode(text, &bytes);
        if (why != NULL) {
            stop_at_key(source, source->keys_done + count + 1, why);
            return false;
        }
    }
    source->keys[count] = (struct tamis_key){.data = text, .bytes = bytes};
    return true;
}

/* Is the line a key, by the rules? Takes a carriage return off its end if the rules say so. */
static bool passes_rules(struct key_source *source, const char *text, size_t *bytes)
{
    if (source->strip_return && *bytes > 0 && text[*bytes - 1] == '\r') --*bytes;
    size_t blank = 0;
    while (source->skip_blank && blank < *bytes && (text[blank] == ' ' || text[blank] == '\t'))
        blank++;
    const bool skipped = (source->skip_blank && blank == *bytes) ||
                         (source->comments != NULL && *bytes >= source->comments_bytes &&
                          memcmp(text, source->comments, source->comments_bytes) == 0);
    source->skipped += skipped;
    return !skipped;
}

/* ---- Standard input ----------------------------------------------------------------------- */

/* Keeps the lines of the batch that are keys, decoded; returns their number. */
static size_t keep_keys(struct key_source *source, size_t lines)
{
    if (!source->hex && !source->has_rules) return lines;
    size_t count = 0;
    for (size_t i = 0; i < lines; i++) {
        char *text = source->buffer + ((const char *)source->keys[i].data - source->buffer);
        size_t bytes = source->keys[i].bytes;
        if (source->has_rules && !passes_rules(source, text, &bytes)) continue;
        if (!take_key(source, count, text, bytes)) break;
        count++;
    }
    return count;
}

/* Puts the whole keys of the buffer into the batch. 0: it has none. */
static size_t split(struct key_source *source)
{
    struct lines lines = {.start = source->buffer + source->start,
                          .scanned = source->buffer + source->scanned,
                          .end = source->buffer + source->end,
                          .separator = source->separator};
    size_t taken, count;
    do {
        taken = lines_take(&lines, source->keys, source->batch);
        count = keep_keys(source, taken);
    } while (count == 0 && taken > 0 && !source->failed);
    source->start = (size_t)(lines.start - source->buffer);
    source->scanned = (size_t)(lines.scanned - source->buffer);
    return count;
}

/* Takes the last key, which may lack its separator. If nothing follows the last separator, there is
 * no such key. */
static size_t split_last(struct key_source *source)
{
    char *at = source->buffer + source->start;
    size_t bytes = source->end - source->start;
    source->buffer[source->end] = source->separator; /* it is printed with the line */
    source->start = source->scanned = source->end;
    if (bytes == 0 || (source->has_rules && !passes_rules(source, at, &bytes))) return 0;
    return take_key(source, 0, at, bytes);
}

/* Makes room for more of the key that fills the buffer. false: the key is too long. */
static bool make_room_for_key(struct key_source *source)
{
    size_t rest = source->end - source->start;
    if (source->start > 0) memmove(source->buffer, source->buffer + source->start, rest);
    source->scanned -= source->start;
    source->start = 0;
    source->end = rest;
    if (rest < source->buffer_bytes) return true;
    if (rest > KEY_BYTES_MAX) {
        stop_at_key(source, source->keys_done + 1, "is longer than 64 MiB, the limit");
        return false;
    }
    /* One byte more than the longest key, for its separator. */
    size_t bytes = source->buffer_bytes * 2;
    if (bytes > KEY_BYTES_MAX) bytes = KEY_BYTES_MAX + 1;
    make_buffer(source, bytes);
    return true;
}

static bool interrupted(const struct key_source *source)
{
    return source->interruptible && interrupt_signal() != 0;
}

static void read_input(struct key_source *source)
{
    const ssize_t n =
        input_read(source->input, source->buffer + source->end, source->buffer_bytes - source->end);
    if (n > 0)
        source->end += (size_t)n;
    else
        source->at_end = true;
    if (n < 0 && source->input->error != NULL) stop_with(source, "%s", source->input->error);
}

/* Reads once into the room. At the end of the input, at a signal and at a failure it sets at_end.
 */
static void read_more(struct key_source *source)
{
    if (source->input != NULL) {
        read_input(source);
        return;
    }
    for (;;) {
        if (source->interruptible) interrupt_wait_readable(STDIN_FILENO);
        if (interrupted(source)) break;
        ssize_t n =
            read(STDIN_FILENO, source->buffer + source->end, source->buffer_bytes - source->end);
        if (n > 0) {
            source->end += (size_t)n;
            source->bytes_read += (uint64_t)n;
            return;
        }
        if (n == 0) break;
        if (errno == EAGAIN || errno == EWOULDBLOCK) { /* someone made it non-blocking */
            interrupt_wait_readable(STDIN_FILENO);
        } else if (errno != EINTR) {
            stop_with(source, "cannot read standard input: %s", strerror(errno));
            return;
        }
    }
    source->at_end = true;
}

/* Would a read of standard input give something at once? */
static bool has_more(const struct key_source *source)
{
    struct pollfd one = {.fd = STDIN_FILENO, .events = POLLIN};
    return source->input == NULL && source->end < source->buffer_bytes && !source->at_end &&
           poll(&one, 1, 0) == 1;
}

static void refill(struct key_source *source)
{
    if (!out_flush(source->out)) {              /* before what is lent to it moves */
        source->at_end = source->failed = true; /* told already */
    } else if (make_room_for_key(source)) {
        read_more(source);
        while (source->batch > KEY_BATCH && has_more(source))
            read_more(source);
    }
}

static size_t next_lines(struct key_source *source)
{
    size_t count = split(source);
    while (count == 0 && !source->at_end) {
        refill(source);
        count = split(source);
    }
    if (count > 0 || source->failed) return count;
    return interrupted(source) ? 0 : split_last(source); /* a signal may leave half a key */
}

/* Opens the next file of --file. false: there is none, or it cannot be read, after a message. */
static bool next_file(struct key_source *source)
{
    if (source->failed || interrupted(source) || source->files == source->files_end) return false;
    if (source->input != NULL) source->bytes_before += source->input->done_bytes;
    input_close(source->input);
    source->input = input_open(*source->files++);
    source->failed = source->input == NULL && !interrupted(source);
    source->lines_before = source->keys_done;
    source->start = source->scanned = source->end = 0;
    source->at_end = source->input == NULL;
    return source->input != NULL;
}

/* ---- Both --------------------------------------------------------------------------------- */

static size_t next_arguments(struct key_source *source)
{
    size_t count = 0;
    for (; count < source->batch && source->args < source->args_end; count++, source->args++)
        if (!take_key(source, count, *source->args, strlen(*source->args))) break;
    return count;
}

ssize_t key_source_next(struct key_source *source)
{
    size_t count = 0;
    progress_update(source->keys_before + source->keys_done,
                    source->input != NULL ? source->bytes_before + source->input->done_bytes
                                          : source->bytes_read - (source->end - source->start));
    if (!source->failed) count = source->args != NULL ? next_arguments(source) : next_lines(source);
    while (count == 0 && next_file(source))
        count = next_lines(source);
    source->keys_done += count;
    if (count > 0) return (ssize_t)count;
    if (source->error != NULL) cli_tell("%s", source->error);
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

uint64_t key_source_estimate(const struct key_source *source, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += source->keys[i].bytes + 1; /* with its separator */
    return bytes > 0 ? (uint64_t)((double)source->bytes_all / (double)bytes * (double)count) : 0;
}

#define SHOWN_BYTES 200 /* of a key, in a message */

void key_source_tell_missing(const struct key_source *source, const struct tamis_key *key,
                             const char *format, ...)
{
    const size_t bytes = key->bytes < SHOWN_BYTES ? key->bytes : SHOWN_BYTES;
    const unsigned char *data = key->data;
    const char *quote = source->hex ? "" : "'";
    char shown[2 * SHOWN_BYTES + 1] = "";
    va_list args;
    if (!source->hex && bytes > 0) memcpy(shown, key->data, bytes);
    if (!source->hex) shown[bytes] = '\0';
    for (size_t i = 0; source->hex && i < bytes; i++)
        (void)snprintf(shown + 2 * i, 3, "%02x", data[i]);
    va_start(args, format);
    char *what = cli_vformat(format, args);
    va_end(args);
    cli_tell("key %s%s%s%s %s", quote, shown, bytes < key->bytes ? "..." : "", quote, what);
    free(what);
}

void key_source_print_key(const struct key_source *source, const struct tamis_key *key)
{
    if (source->hex)
        out_hex(source->out, key->data, key->bytes);
    else
        out_bytes(source->out, key->data, key->bytes);
}

void key_source_tell_stats(const struct key_source *source, uint64_t new_keys, double seconds,
                           bool json)
{
    const uint64_t keys = source->keys_done;
    char line[160];
    int bytes;
    if (json)
        bytes = snprintf(line, sizeof line,
                         "{\"keys\":%" PRIu64 ",\"new\":%" PRIu64 ",\"seconds\":%.3f}\n", keys,
                         new_keys, seconds);
    else
        bytes = snprintf(line, sizeof line, "%" PRIu64 " key%s, %" PRIu64 " new, %.3f s\n", keys,
                         text_plural(keys), new_keys, seconds);
    progress_end();
    if (write(STDERR_FILENO, line, (size_t)bytes) < 0) return; /* nowhere to tell it */
}

int key_source_status(const struct key_source *source, int status, const char *done)
{
    if (interrupt_signal() == 0) return status;
    return cli_interrupted(" after %" PRIu64 " key%s, %s %s", source->keys_done,
                           text_plural(source->keys_done),
                           source->keys_done == 1 ? "which was" : "all of them", done);
}

/* Prints the keys whose bits are set in `hits`, one by one. */
static void print_keys(const struct key_source *source, const struct tamis_key *keys, uint64_t hits)
{
    for (; hits != 0; hits &= hits - 1) {
        key_source_print_key(source, &keys[__builtin_ctzll(hits)]);
        out_char(source->out, source->separator);
    }
}

/* The same for keys that are lines of the buffer: neighbours are printed at once, with their
 * separators. */
static void lend_lines(const struct key_source *source, const struct tamis_key *keys, uint64_t hits)
{
    while (hits != 0) {
        const struct tamis_key *first = &keys[__builtin_ctzll(hits)];
        const uint64_t gaps = ~(hits | (hits - 1)); /* behind the run */
        const struct tamis_key *last = &keys[gaps ? __builtin_ctzll(gaps) - 1 : 63];
        const char *start = first->data, *end = (const char *)last->data + last->bytes + 1;
        out_lend(source->out, start, (size_t)(end - start));
        hits &= gaps ? -(gaps & -gaps) : 0;
    }
}

void key_source_print(struct key_source *source, size_t count, uint8_t wanted)
{
    const bool as_read = source->args == NULL && !source->hex && !source->has_rules;
    for (size_t i = 0; i < count; i += SCAN_BYTES) {
        uint64_t hits = scan(source->answers + i, wanted);
        if (count - i < SCAN_BYTES) hits &= ((uint64_t)1 << (count - i)) - 1;
        if (as_read)
            lend_lines(source, source->keys + i, hits);
        else
            print_keys(source, source->keys + i, hits);
    }
}
