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

#include "input/encoding.h"
#include "input/guess.h"
#include "input/lines.h"
#include "input/tell.h"

#define BUFFER_BYTES ((size_t)1024 * 1024)
_Static_assert(KEY_BYTES_MAX == (size_t)64 * 1024 * 1024,
               "make_room_for_key() names it in a message");

#define FLUSH_BYTES 65536           /* what a pipe holds */
#define FLUSH_S 0.1                 /* nobody waits longer for an answer that is known */
#define RETURNS_SURE UINT64_C(1000) /* so many lines are enough to tell of their ends */

/* Makes the buffer, or makes it larger. It has room for the separator that the last line may lack.
 */
static void make_buffer(struct key_source *source, size_t bytes)
{
    source->buffer = cli_realloc(source->buffer, bytes + 1);
    source->buffer_bytes = bytes;
}

/* The number of a field; 0: it has a name. */
static size_t field_number_of(const char *field)
{
    const bool is_number = field[0] != '\0' && strspn(field, "0123456789") == strlen(field);
    return is_number && strlen(field) < 10 ? (size_t)strtoul(field, NULL, 10) : 0;
}

void key_source_begin_file(struct key_source *source)
{
    struct taking *taking = &source->taking;
    taking->counts = (struct taking_counts){0};
    taking->field_number = taking->field != NULL ? field_number_of(taking->field) : 0;
    taking->header_is_next =
        taking->format->separator != 0 && taking->field != NULL && taking->field_number == 0;
    source->looked = false;
    if (source->buffer == NULL) make_buffer(source, BUFFER_BYTES);
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
    stop_with(source, "%s: line %ju %s", source->input->name,
              (uintmax_t)source->taking.counts.lines, why);
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

/* Is each line a key as it stands? */
static bool is_plain(const struct key_source *source)
{
    const struct taking *taking = &source->taking;
    return taking->format == &format_lines && !taking->hex && !taking->rules.skip_blank &&
           taking->rules.comments == NULL;
}

/* Counts the keys that end with a carriage return, or takes it off.  Where the first lines have
 * none, one key of sixteen is looked at, as all of them would take one nanosecond each. */
static void look_at_returns(struct key_source *source, size_t count)
{
    struct taking_counts *counts = &source->taking.counts;
    const size_t off = source->taking.rules.strip_return ? 1 : 0;
    const bool all = off || counts->returns > 0 || counts->records < RETURNS_SURE;
    counts->lines += count;
    counts->records += count;
    for (size_t i = 0; source->separator == '\n' && i < count; i += all ? 1 : 16) {
        struct tamis_key *key = &source->taken[i];
        const size_t ends = key->bytes > 0 && ((const char *)key->data)[key->bytes - 1] == '\r';
        counts->returns += ends;
        key->bytes -= ends & off;
    }
}

/* A text whose lines end with CR LF, or in part: its keys are most likely meant without CR. */
static void tell_returns(struct key_source *source, bool at_end)
{
    static bool told; /* of one file, and not of each of a hundred */
    const struct taking_counts *counts = &source->taking.counts;
    const bool all = counts->returns == counts->records;
    if (told || counts->returns == 0 || source->taking.rules.strip_return || source->raw ||
        source->hex || source->separator != '\n')
        return;
    if (!at_end && !(all && counts->records >= RETURNS_SURE)) return;
    told = true;
    if (all)
        cli_tell("note: %s: all lines end in CR LF; --crlf if that is not part of the keys",
                 source->input->name);
    else
        cli_tell("note: %s: at least %" PRIu64 " of %" PRIu64
                 " lines end in CR LF; --crlf if that is not part of the keys",
                 source->input->name, counts->returns, counts->records);
}

/* Finds the format of a list out, by its first lines.  false: more of them are needed. */
static bool guess(struct key_source *source)
{
    const char *text = source->buffer + source->start, *end = source->buffer + source->end;
    if (!source->guesses || source->has_guessed || source->separator != '\n' || source->hex ||
        source->raw)
        return true;
    size_t lines = 0;
    for (const char *at = text; lines < GUESS_LINES; lines++, at++)
        if ((at = memchr(at, '\n', (size_t)(end - at))) == NULL) break;
    if (lines < GUESS_LINES && !source->at_end && source->end < source->buffer_bytes) return false;
    source->has_guessed = true;
    struct guess guess = guess_format(text, end);
    guess.key_rule = source->rule_of_names;
    if (!format_tell_guess(&guess, source->input->name, source->is_quiet, &source->error)) {
        source->at_end = source->failed = true;
        return true;
    }
    if (guess.is_sure) source->taking.format = guess.format;
    return true;
}

/* A text that is not made of bytes, or begins with a mark. */
static void look_at_encoding(struct key_source *source)
{
    const char *text = source->buffer + source->start, *name = source->input->name;
    const enum encoding encoding = encoding_of(text, source->end - source->start);
    const int bits = encoding == ENCODING_UTF16 ? 16 : 32;
    const bool is_text = source->taking.rules.strip_return || !is_plain(source) || source->guesses;
    if (encoding == ENCODING_MARK && is_text)
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
            name, bits, bits);
}

/* Looks at the first bytes of a file, once. false: more of them are needed. */
static bool look_at_beginning(struct key_source *source)
{
    const char *text = source->buffer + source->start;
    const size_t bytes = source->end - source->start;
    if (!source->looked) {
        if (!source->at_end && bytes < ENCODING_LOOK_BYTES &&
            memchr(text, source->separator, bytes) == NULL)
            return false;
        source->looked = true;
        if (!source->raw && source->separator == '\n') look_at_encoding(source);
        if (!is_plain(source)) {
            const struct guess other = guess_format(text, text + bytes);
            source->looks_like = other.format != source->taking.format ? other.options : NULL;
        }
    }
    return source->failed || guess(source);
}

/* Most records are of another format: then the few keys that are there were not meant. */
static void look_at_foreign(struct key_source *source)
{
    const struct taking_counts *counts = &source->taking.counts;
    if (2 * counts->foreign <= counts->records || source->failed) return;
    const char *other = source->looks_like, *either = other != NULL ? ", or " : "";
    stop_with(source,
              "%s: %" PRIu64 " of %" PRIu64
              " lines are not those of %s; %s%s--format lines if these are the keys",
              source->input->name, counts->foreign, counts->records, source->taking.format->what,
              other != NULL ? other : "", either);
}

/* Takes the records of the buffer apart; returns the number of keys. */
static size_t take_records(struct key_source *source, bool is_last)
{
    struct taking *taking = &source->taking;
    taking_begin(taking, source->buffer, source->buffer_bytes + 1);
    const char *next = taking_take(taking, source->buffer + source->start,
                                   source->buffer + source->end, is_last, source->batch);
    source->start = source->scanned = (size_t)(next - source->buffer);
    if (taking->why != NULL) stop_at_line(source, taking->why);
    if (is_last || taking->counts.records >= GUESS_LINES) look_at_foreign(source);
    source->taken = taking->keys;
    source->taken_records = taking->records;
    if (taking->count > source->room) {
        source->room = taking->count;
        source->answers = cli_realloc(source->answers, source->room);
    }
    return taking->count;
}

static size_t take_plain_lines(struct key_source *source)
{
    struct lines text = {.start = source->buffer + source->start,
                         .scanned = source->buffer + source->scanned,
                         .end = source->buffer + source->end,
                         .separator = source->separator};
    if (text.scanned < text.start) text.scanned = text.start;
    source->taken = source->lines_taken;
    source->taken_records = NULL;
    const size_t count = lines_take(&text, source->taken, source->batch);
    source->start = (size_t)(text.start - source->buffer);
    source->scanned = (size_t)(text.scanned - source->buffer);
    look_at_returns(source, count);
    return count;
}

/* Takes the whole keys of the buffer. 0: it has none. */
static size_t split(struct key_source *source)
{
    if (source->input == NULL || !look_at_beginning(source) || source->failed) return 0;
    const size_t count = is_plain(source) ? take_plain_lines(source) : take_records(source, false);
    tell_returns(source, false);
    return count;
}

/* Does the key rule, where it is known, make names beyond ASCII those with xn--? */
static bool rule_has_idn(const struct key_source *source)
{
    const char *rule = source->rule_of_names;
    return rule != NULL && strncmp(rule, "name:idn", strlen("name:idn")) == 0;
}

/* Takes the last key, which may lack its separator. If nothing follows the last separator, there is
 * no such key. */
static size_t split_last(struct key_source *source)
{
    source->buffer[source->end] = source->separator; /* it is printed with the line */
    if (!is_plain(source)) return take_records(source, true);
    if (source->start == source->end) return 0;
    source->end++;
    return take_plain_lines(source);
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
        source->taking.counts.lines++;
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
    if (rule_has_idn(source)) source->taking.counts.unicode = 0;
    if (count == 0 && !source->failed && !source->is_quiet)
        format_tell_counts(&source->taking, source->input->name);
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
    key_source_begin_file(source);
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
        const char *why =
            source->hex ? format_decode_hex(*source->args, *source->args, key->bytes) : NULL;
        if (source->hex) key->bytes /= 2;
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

/* How many keys the next batch has: no record is in two batches. */
static size_t batch_of(const struct key_source *source)
{
    const size_t rest = source->taken_count - source->handed;
    const struct tamis_key *records = source->taken_records;
    size_t keys = rest < source->pace.keys ? rest : source->pace.keys;
    if (records == NULL) return keys;
    records += source->handed;
    while (keys < rest && records[keys].data == records[keys - 1].data)
        keys++;
    return keys;
}

ssize_t key_source_next(struct key_source *source)
{
    if (!keep_time(source)) return -1;
    source->batch_keys = 0;
    if (interrupt_signal()) return 0; /* what was read and not handed out is not done */
    if (source->handed < source->taken_count || take_more(source)) {
        source->batch_keys = batch_of(source);
        source->keys = source->taken + source->handed;
        source->records =
            source->taken_records != NULL ? source->taken_records + source->handed : NULL;
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
