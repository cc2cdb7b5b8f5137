/* SPDX-License-Identifier: BSD-2-Clause */
/* answers.c: how keys, and what is said of them, are printed; see keys.h. */
#include <unistd.h>

#include "input/keys.h"
#include "input/scan.h"

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

/* Where the line of a key ends, with the carriage return that was taken off, and the separator. */
static const char *line_end(const struct key_source *source, const struct tamis_key *key)
{
    const char *end = (const char *)key->data + key->bytes;
    return end + (*end != source->separator) + 1;
}

/* Lends the output the lines of the keys whose bits are set in `hits`; neighbours at once. */
static void lend_lines(const struct key_source *source, const struct tamis_key *keys, uint64_t hits)
{
    while (hits != 0) {
        const struct tamis_key *first = &keys[__builtin_ctzll(hits)];
        const uint64_t gaps = ~(hits | (hits - 1)); /* behind the run */
        const struct tamis_key *last = &keys[gaps ? __builtin_ctzll(gaps) - 1 : 63];
        const char *start = first->data;
        out_lend(source->out, start, (size_t)(line_end(source, last) - start));
        hits &= gaps ? -(gaps & -gaps) : 0;
    }
}

/* ---- Records --------------------------------------------------------------------------------- */

/* The answer of the record that key number *at is the first of, and the number of the key behind
 * it: 1 if a key of it has this answer, 0 if all have 0, else TAMIS_ANSWER_REFUSED. */
static uint8_t answer_of_record(const struct key_source *source, size_t *at, size_t count)
{
    const void *record = source->records[*at].data;
    uint8_t answer = 0;
    for (; *at < count && source->records[*at].data == record; ++*at)
        if (answer != 1 && source->answers[*at] != 0) answer = source->answers[*at];
    return answer;
}

uint64_t key_source_count(const struct key_source *source, size_t count, uint8_t wanted)
{
    uint64_t records = 0;
    for (size_t at = 0; at < count;)
        records += answer_of_record(source, &at, count) == wanted;
    return records;
}

static void lend_records(const struct key_source *source, size_t count, uint8_t wanted)
{
    for (size_t at = 0; at < count;) {
        const struct tamis_key *record = &source->records[at];
        if (answer_of_record(source, &at, count) == wanted)
            out_lend(source->out, record->data, record->bytes + 1);
    }
}

void key_source_print(struct key_source *source, size_t count, uint8_t wanted)
{
    const bool in_hex = source->hex && source->taking.format == &format_lines;
    if (source->records != NULL && !in_hex) {
        lend_records(source, count, wanted);
        return;
    }
    for (size_t i = 0; i < count; i += SCAN_BYTES) {
        uint64_t hits = scan(source->answers + i, wanted);
        if (count - i < SCAN_BYTES) hits &= ((uint64_t)1 << (count - i)) - 1;
        if (source->args == NULL && !in_hex)
            lend_lines(source, source->keys + i, hits);
        else
            print_keys(source, source->keys + i, hits);
    }
}
