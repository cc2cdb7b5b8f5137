/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jsonl.c: JSON Lines: a document a line, of which --field a.b.c names a value.
 *
 * A string is a key without its quotes and escapes, a number is one as it is written, and of an
 * array each of these is one.  Arrays on the way are gone through, and a name that has dots itself
 * is found too.  What the path does not lead to is skipped, and checked no further than its quotes
 * and brackets are.
 */
#include <string.h>

#include "input/format.h"
#include "text.h"

#define DEPTH_MOST 64 /* of what is gone into; what is skipped may be nested deeper */

struct json {
    struct taking *taking;
    const char *at;
    const char *end;
};

static bool give_value(struct json *json, const char *path, unsigned depth);

static void skip_blanks(struct json *json)
{
    while (json->at < json->end && (format_is_blank(*json->at) || *json->at == '\n'))
        json->at++;
}

static bool take_char(struct json *json, char c)
{
    skip_blanks(json);
    if (json->at == json->end || *json->at != c) return false;
    json->at++;
    return true;
}

/* Goes behind a string, and says what is between its quotes. */
static bool skip_string(struct json *json, const char **text, size_t *bytes)
{
    if (json->at == json->end || *json->at != '"') return false;
    const char *begin = ++json->at;
    for (;;) {
        const char *quote = memchr(json->at, '"', (size_t)(json->end - json->at));
        if (quote == NULL) return false;
        size_t slashes = 0;
        while (quote - slashes > begin && quote[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        json->at = quote + 1;
        if (slashes % 2 != 0) continue;
        *text = begin;
        *bytes = (size_t)(quote - begin);
        return true;
    }
}

/* Goes behind a value whose text does not matter. */
static bool skip_value(struct json *json)
{
    const char *text;
    size_t bytes, depth = 0;
    skip_blanks(json);
    const char *begin = json->at;
    while (json->at < json->end) {
        const char c = *json->at;
        if (c == '"') {
            if (!skip_string(json, &text, &bytes)) return false;
            if (depth == 0) return true;
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']')) return json->at > begin;
        json->at++;
        if (c == '{' || c == '[') depth++;
        if ((c == '}' || c == ']') && --depth == 0) return true;
    }
    return depth == 0 && json->at > begin;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* The four digits behind "\u"; below 0: they are none. */
static long hex4(const char *text, const char *end)
{
    long value = 0;
    if (end - text < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const int digit = text_hex_digit(text[i]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

static size_t put_utf8(char *to, long c)
{
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char heads[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(heads[more] | c >> 6 * more);
    for (int i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    return (size_t)more + 1;
}

/* The character of "\uXXXX" at *text, or of two of these; what is half of a pair is U+FFFD. */
static long take_escape_u(const char **text, const char *end)
{
    long c = hex4(*text + 2, end);
    if (c < 0) return -1;
    *text += 6;
    if (c < 0xd800 || c > 0xdfff) return c;
    const bool has_other =
        c < 0xdc00 && end - *text >= 6 && (*text)[0] == '\\' && (*text)[1] == 'u';
    const long low = has_other ? hex4(*text + 2, end) : -1;
    if (low < 0xdc00 || low > 0xdfff) return 0xfffd;
    *text += 6;
    return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* Unescapes into `to`.  false: an escape is none. */
static bool unescape(char *to, const char *text, size_t bytes, size_t *put)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *end = text + bytes;
    *put = 0;
    while (text < end) {
        if (*text != '\\') {
            to[(*put)++] = *text++;
            continue;
        }
        if (text + 1 == end) return false;
        if (text[1] == 'u') {
            const long c = take_escape_u(&text, end);
            if (c < 0) return false;
            *put += put_utf8(to + *put, c);
            continue;
        }
        const char *name = memchr(names, text[1], sizeof names - 1);
        if (name == NULL) return false;
        to[(*put)++] = values[name - names];
        text += 2;
    }
    return true;
}

/* The string at the place, without escapes. */
static bool take_string(struct json *json, const char **text, size_t *bytes)
{
    if (!skip_string(json, text, bytes)) return false;
    if (memchr(*text, '\\', *bytes) == NULL) return true;
    char *to = taking_scratch(json->taking, *text);
    const char *from = *text;
    *text = to;
    return unescape(to, from, *bytes, bytes);
}

/* ---- The path -------------------------------------------------------------------------------- */

static bool equals(const char *text, size_t bytes, const char *name, size_t name_bytes)
{
    return bytes == name_bytes && memcmp(text, name, bytes) == 0;
}

/* What is left of the path behind this member; NULL: it does not lead there. */
static const char *path_behind(const char *path, const char *name, size_t bytes)
{
    const size_t all = strlen(path);
    const char *dot = strchr(path, '.');
    if (equals(name, bytes, path, all)) return path + all;
    if (dot != NULL && equals(name, bytes, path, (size_t)(dot - path))) return dot + 1;
    return NULL;
}

static bool go_through_object(struct json *json, const char *path, unsigned depth)
{
    if (take_char(json, '}')) return true;
    do {
        const char *name;
        size_t bytes;
        skip_blanks(json);
        if (!take_string(json, &name, &bytes) || !take_char(json, ':')) return false;
        const char *behind = *path ? path_behind(path, name, bytes) : NULL;
        if (behind != NULL ? !give_value(json, behind, depth + 1) : !skip_value(json)) return false;
    } while (take_char(json, ','));
    return take_char(json, '}');
}

static bool go_through_array(struct json *json, const char *path, unsigned depth)
{
    if (take_char(json, ']')) return true;
    do {
        if (!give_value(json, path, depth + 1)) return false;
    } while (take_char(json, ','));
    return take_char(json, ']');
}

/* A number, or a word; the number is a key. */
static bool give_plain(struct json *json, bool is_wanted)
{
    const char *begin = json->at;
    while (json->at < json->end && strchr(",]} \t\r\n", *json->at) == NULL)
        json->at++;
    const size_t bytes = (size_t)(json->at - begin);
    const bool is_number = bytes > 0 && (*begin == '-' || (*begin >= '0' && *begin <= '9'));
    if (is_number && is_wanted) taking_give(json->taking, begin, bytes);
    return is_number || equals(begin, bytes, "true", 4) || equals(begin, bytes, "false", 5) ||
           equals(begin, bytes, "null", 4);
}

static bool give_value(struct json *json, const char *path, unsigned depth)
{
    skip_blanks(json);
    if (json->at == json->end || depth > DEPTH_MOST) return false;
    const bool is_wanted = *path == '\0';
    const char c = *json->at;
    if (c == '[' || c == '{') {
        json->at++;
        return c == '[' ? go_through_array(json, path, depth)
                        : go_through_object(json, path, depth);
    }
    if (c != '"') return give_plain(json, is_wanted);
    const char *text;
    size_t bytes;
    if (!take_string(json, &text, &bytes)) return false;
    if (is_wanted && bytes > 0) taking_give(json->taking, text, bytes);
    return true;
}

bool format_give_json(struct taking *taking, const char *field, const char *text, size_t bytes)
{
    struct json json = {.taking = taking, .at = text, .end = text + bytes};
    const size_t count = taking->count;
    const uint64_t keys = taking->counts.keys;
    bool is_whole = give_value(&json, field, 0);
    skip_blanks(&json);
    is_whole &= json.at == json.end;
    if (!is_whole) { /* its first keys are none, either */
        taking->count = count;
        taking->counts.keys = keys;
    }
    return is_whole;
}

static void jsonl_take(struct taking *taking, const char *text, size_t bytes)
{
    const uint64_t before = taking->counts.keys;
    format_trim(&text, &bytes);
    if (bytes == 0) return;
    taking->counts.records++;
    if (!format_give_json(taking, taking->field != NULL ? taking->field : "", text, bytes))
        taking->counts.foreign++;
    else if (taking->counts.keys == before)
        taking->counts.lacking++;
}

const struct format format_jsonl = {
    .name = "jsonl", .what = "JSON lines", .has_fields = true, .take = jsonl_take};
