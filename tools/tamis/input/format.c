/* SPDX-License-Identifier: BSD-2-Clause */
/* format.c: records of an input, by its format; see format.h. */
#include "input/format.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "pile.h"
#include "text.h"

static void take_whole_line(struct taking *taking, const char *text, size_t bytes)
{
    const bool returns = bytes > 0 && text[bytes - 1] == '\r';
    taking->counts.returns += returns;
    taking->counts.records++;
    taking_give(taking, text, bytes);
    if (taking->why != NULL && returns)
        taking->why = "ends with a carriage return, which --crlf takes off";
}

const struct format format_lines = {
    .name = "lines", .what = "a list of lines", .take = take_whole_line};

bool format_is_name(const char *text, size_t bytes, size_t *dots)
{
    bool has_letter = false;
    *dots = 0;
    if (bytes > 0 && text[bytes - 1] == '.') bytes--;
    if (bytes == 0 || text[0] == '.') return false;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool is_letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c >= 0x80;
        has_letter |= is_letter;
        if (c == '.') {
            if (text[i - 1] == '.') return false;
            ++*dots;
        } else if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '_') {
            return false;
        }
    }
    return has_letter;
}

bool format_is_address(const char *text, size_t bytes)
{
    size_t dots = 0, colons = 0, digits = 0;
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        if (c == '%' && colons >= 2) break; /* a zone */
        if (c == '.')
            dots++;
        else if (c == ':')
            colons++;
        else if (text_hex_digit(c) >= 0)
            digits += c >= '0' && c <= '9';
        else
            return false;
    }
    if (colons > 0) return colons >= 2;
    return dots == 3 && digits >= 4 && digits + dots == bytes && bytes <= 15;
}

void taking_clear(struct taking *taking)
{
    free(taking->keys);
    free(taking->records);
    free(taking->scratch);
}

void taking_begin(struct taking *taking, const char *buffer, size_t buffer_bytes)
{
    taking->count = 0;
    taking->buffer = buffer;
    taking->buffer_bytes = buffer_bytes;
}

/* Has the text bytes beyond ASCII? */
static bool is_beyond_ascii(const char *data, size_t bytes)
{
    uint64_t bits = 0, word;
    for (; bytes >= sizeof word; data += sizeof word, bytes -= sizeof word) {
        memcpy(&word, data, sizeof word);
        bits |= word;
    }
    for (; bytes > 0; bytes--)
        bits |= (uint64_t)(unsigned char)*data++;
    return (bits & UINT64_C(0x8080808080808080)) != 0;
}

static void add_key(struct taking *taking, const char *data, size_t bytes)
{
    if (taking->count == taking->room) {
        size_t room = taking->room;
        taking->keys =
            cli_grow(taking->keys, taking->count + 1, &taking->room, sizeof *taking->keys);
        taking->records =
            cli_grow(taking->records, taking->count + 1, &room, sizeof *taking->records);
    }
    taking->keys[taking->count] = (struct tamis_key){.data = data, .bytes = bytes};
    taking->records[taking->count++] = taking->record;
    taking->counts.keys++;
    taking->counts.unicode += taking->format->has_names && is_beyond_ascii(data, bytes);
}

const char *format_decode_hex(char *to, const char *text, size_t bytes)
{
    if (bytes % 2 != 0) return "has an odd number of hexadecimal digits";
    for (size_t i = 0; i < bytes; i += 2) {
        const int high = text_hex_digit(text[i]), low = text_hex_digit(text[i + 1]);
        if (high < 0 || low < 0) return "is not hexadecimal";
        to[i / 2] = (char)(high << 4 | low);
    }
    return NULL;
}

void taking_give(struct taking *taking, const char *data, size_t bytes)
{
    if (!taking->hex) {
        add_key(taking, data, bytes);
        return;
    }
    const bool is_own = data >= taking->buffer && data < taking->buffer + taking->buffer_bytes;
    char *to = is_own ? taking_scratch(taking, data) : taking->scratch + (data - taking->scratch);
    taking->why = format_decode_hex(to, data, bytes);
    if (taking->why == NULL) add_key(taking, to, bytes / 2);
}

void taking_give_exception(struct taking *taking, const char *data, size_t bytes)
{
    const struct tamis_key key = {.data = data, .bytes = bytes};
    taking->counts.exceptions++;
    if (taking->exceptions != NULL) pile_add(taking->exceptions, &key);
}

char *taking_scratch(struct taking *taking, const char *at)
{
    if (taking->scratch_bytes < taking->buffer_bytes) {
        /* No key of the scratch is older than this record: it would lose its bytes. */
        char *larger = cli_alloc(taking->buffer_bytes);
        if (taking->scratch_bytes > 0) memcpy(larger, taking->scratch, taking->scratch_bytes);
        for (size_t i = 0; taking->scratch != NULL && i < taking->count; i++) {
            const char *data = taking->keys[i].data;
            if (data >= taking->scratch && data < taking->scratch + taking->scratch_bytes)
                taking->keys[i].data = larger + (data - taking->scratch);
        }
        free(taking->scratch);
        taking->scratch = larger;
        taking->scratch_bytes = taking->buffer_bytes;
    }
    return taking->scratch + (at - taking->buffer);
}

const char *taking_take(struct taking *taking, const char *text, const char *limit, bool is_last,
                        size_t most)
{
    const struct format *format = taking->format;
    while (text < limit && taking->count < most && taking->why == NULL) {
        const char *end = format->find_end != NULL
                              ? format->find_end(taking, text, limit)
                              : memchr(text, taking->line_end, (size_t)(limit - text));
        if (end == NULL && !is_last) break;
        const char *next = end != NULL ? end + 1 : limit;
        const size_t bytes = (size_t)((end != NULL ? end : limit) - text);
        taking->record = (struct tamis_key){.data = text, .bytes = bytes};
        size_t ruled = bytes;
        taking->counts.lines++;
        if (line_rules_pass(&taking->rules, text, &ruled)) format->take(taking, text, ruled);
        text = next;
    }
    return text;
}
