/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guess.c: which format a list is in; see guess.h.
 *
 * Each line is of one sort at most, and a sort that more than half of the lines are of is that of
 * the list.  Lists of names are read as what they are.  Of tables and JSON nobody can tell which
 * field is meant, so it is said how they are read.
 */
#include "input/guess.h"

#include <string.h>

#include "text.h"

#define TITLE_LINES 20 /* in which a list of rules has its title */

enum sort {
    COMMENT,
    HOSTS,
    ADBLOCK,
    DOMAINS,
    JSON,
    JSON_ARRAY,
    HASH_COUNT,
    TABS,
    CSV,
    OTHER,
    SORTS
};

static bool contains(const char *text, size_t bytes, const char *what)
{
    return memmem(text, bytes, what, strlen(what)) != NULL;
}

static bool begins(const char *text, size_t bytes, const char *with)
{
    return bytes >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* HASH:COUNT, as lists of leaked passwords have it. */
static bool is_hash_count(const char *text, size_t bytes)
{
    const char *colon = memchr(text, ':', bytes);
    const size_t hash = colon != NULL ? (size_t)(colon - text) : 0;
    if (hash < 6 || hash + 1 == bytes) return false;
    for (size_t i = 0; i < hash; i++)
        if (text_hex_digit(text[i]) < 0) return false;
    for (size_t i = hash + 1; i < bytes; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return true;
}

static bool is_domain(const char *text, size_t bytes)
{
    size_t dots;
    const size_t word = format_word(text, bytes);
    const char *rest = text + word;
    size_t rest_bytes = bytes - word;
    format_trim(&rest, &rest_bytes);
    if (rest_bytes > 0 && rest[0] != '#') return false;
    const size_t from = begins(text, word, "*.") ? 2 : begins(text, word, ".") ? 1 : 0;
    return format_is_name(text + from, word - from, &dots) && (dots > 0 || from > 0);
}

static bool is_adblock(const char *text, size_t bytes)
{
    return begins(text, bytes, "||") || begins(text, bytes, "@@|") || contains(text, bytes, "##") ||
           contains(text, bytes, "#@#") || contains(text, bytes, "#?#") ||
           (text[0] == '/' && contains(text + 1, bytes - 1, "/$")) || contains(text, bytes, "^$");
}

static enum sort sort_of(const char *text, size_t bytes)
{
    const char last = text[bytes - 1];
    const size_t word = format_word(text, bytes);
    if (word < bytes && format_is_address(text, word)) return HOSTS;
    if (is_adblock(text, bytes)) return ADBLOCK;
    if (text[0] == '#' || text[0] == '!' || text[0] == ';' || begins(text, bytes, "//") ||
        begins(text, bytes, "[Adblock"))
        return COMMENT;
    if (is_domain(text, bytes)) return DOMAINS;
    if (bytes > 1 && text[0] == '{' && last == '}') return JSON;
    if (bytes > 1 && text[0] == '"' && (last == '"' || (last == ',' && text[bytes - 2] == '"')))
        return JSON_ARRAY;
    if (is_hash_count(text, bytes)) return HASH_COUNT;
    if (memchr(text, '\t', bytes) != NULL) return TABS;
    if (memchr(text, ',', bytes) != NULL && memchr(text, ' ', bytes) == NULL &&
        !contains(text, bytes, "://"))
        return CSV;
    return OTHER;
}

/* Would another reader take another key from the line, or the key rule `name` make one of it? */
static bool line_changes(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((text[i] >= 'A' && text[i] <= 'Z') || format_is_blank(text[i]) || text[i] == '*')
            return true;
    return text[0] == '.' || text[bytes - 1] == '.' || memchr(text, '#', bytes) != NULL;
}

static const struct {
    const struct format *format;
    const char *fits, *options;
} SORT[SORTS] = {
    [HOSTS] = {&format_hosts, "are an address with names behind it", "--format hosts"},
    [ADBLOCK] = {&format_adblock, "are rules of an ad blocker", "--format adblock"},
    [DOMAINS] = {&format_domains, "are names of hosts", "--format domains"},
    [JSON] = {&format_jsonl, "are JSON objects", "--format jsonl --field NAME"},
    [JSON_ARRAY] = {NULL, "are lines of a JSON array",
                    "jq -c '.[]' FILE | tamis ... --format jsonl"},
    [HASH_COUNT] = {&format_csv, "are a hash and a count",
                    "--format csv --separator : (with --hex, if the keys are the bytes)"},
    [TABS] = {&format_tsv, "have tabs", "--format tsv --field NUMBER"},
    [CSV] = {&format_csv, "have commas", "--format csv --field NUMBER"},
};

/* Lists of rules say so in their first lines, and may have none that names a host for long. */
static bool is_title_of_rules(const char *text, size_t bytes)
{
    return begins(text, bytes, "[Adblock") || begins(text, bytes, "[uBlock") ||
           begins(text, bytes, "! Title:");
}

struct guess guess_format(const char *text, const char *limit)
{
    size_t of[SORTS] = {0}, lines = 0, titles = 0;
    bool changes = false;
    for (size_t seen = 0; text < limit && seen < GUESS_LINES; seen++) {
        const char *newline = memchr(text, '\n', (size_t)(limit - text));
        const char *line = text;
        size_t bytes = (size_t)((newline != NULL ? newline : limit) - text);
        text += bytes + 1;
        const size_t with_blanks = bytes;
        format_trim(&line, &bytes);
        if (bytes == 0) continue;
        const enum sort sort = sort_of(line, bytes);
        titles += seen < TITLE_LINES && is_title_of_rules(line, bytes);
        changes |= sort == COMMENT || bytes < with_blanks || line_changes(line, bytes);
        of[sort]++;
        lines += sort != COMMENT;
    }
    struct guess guess = {.format = &format_lines, .lines = lines, .changes = changes};
    for (enum sort sort = HOSTS; sort < OTHER; sort++) {
        if (2 * of[sort] <= lines && (sort != ADBLOCK || titles == 0)) continue;
        guess.format = SORT[sort].format;
        guess.fits = SORT[sort].fits;
        guess.options = SORT[sort].options;
        guess.fitting = of[sort];
        guess.has_title = sort == ADBLOCK && titles > 0;
        guess.is_sure = sort == HOSTS || sort == ADBLOCK || sort == DOMAINS;
        guess.is_refused = sort == JSON || sort == JSON_ARRAY || sort == HASH_COUNT;
    }
    return guess;
}
