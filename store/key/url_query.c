/* SPDX-License-Identifier: BSD-2-Clause */
/* url_query.c: see url_query.h. */
#include "key/url_query.h"

/* ---- drop ------------------------------------------------------------------------------------ */

/* Does the name match the pattern up to `end`, where each * stands for any bytes? */
static bool matches(const char *pattern, const char *end, const unsigned char *name, size_t bytes)
{
    const char *star = NULL; /* the last one that was passed, and the byte from where it is tried */
    size_t at = 0, from = 0;
    while (at < bytes) {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            from = at;
        } else if (pattern < end && (unsigned char)*pattern == name[at]) {
            pattern++;
            at++;
        } else if (star != NULL) {
            pattern = star + 1;
            at = ++from;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

static bool is_dropped(const struct tamis__key_rule *rule, const unsigned char *name, size_t bytes)
{
    const unsigned char first = bytes > 0 ? name[0] : 0;
    if ((rule->drop_firsts[first / 64] >> first % 64 & 1) == 0) return false;
    const char *pattern = rule->text + rule->drops_at, *end = pattern + rule->drops_bytes;
    while (pattern < end) {
        const char *plus = memchr(pattern, '+', (size_t)(end - pattern));
        if (plus == NULL) plus = end;
        if (matches(pattern, plus, name, bytes)) return true;
        pattern = plus + 1;
    }
    return false;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Reads the parameter that begins at `at`, up to the ampersand. */
static struct tamis__url_parameter read_parameter(const unsigned char *query, size_t bytes,
                                                  size_t at)
{
    const unsigned char *and = memchr(query + at, '&', bytes - at);
    const size_t length = (and != NULL ? (size_t)(and-query) : bytes) - at;
    const unsigned char *equals = memchr(query + at, '=', length);
    const size_t name_bytes = equals != NULL ? (size_t)(equals - query) - at : length;
    return (struct tamis__url_parameter){(uint32_t)at, (uint32_t)length, (uint32_t)name_bytes};
}

/* Compares the names of two. */
static int compare(const unsigned char *query, const struct tamis__url_parameter *a,
                   const struct tamis__url_parameter *b)
{
    const size_t both = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
    const int order = memcmp(query + a->at, query + b->at, both);
    return order != 0 ? order : (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

bool tamis__url_query_is_form(const struct tamis__key_rule *rule, const unsigned char *query,
                              size_t bytes)
{
    struct tamis__url_parameter before = {0};
    for (size_t at = 0; at <= bytes; at += before.bytes + 1) {
        const struct tamis__url_parameter now = read_parameter(query, bytes, at);
        if (now.bytes == 0 || is_dropped(rule, query + at, now.name_bytes)) return false;
        if (at > 0 && (rule->options & TAMIS__URL_SORT) != 0 && compare(query, &before, &now) > 0)
            return false;
        before = now;
    }
    return true;
}

/* ---- sort ------------------------------------------------------------------------------------ */

/* Merges two sorted runs, `middle` and the rest of `count`; of equal names the earlier goes first.
 */
static void merge(const unsigned char *query, const struct tamis__url_parameter *from,
                  size_t middle, size_t count, struct tamis__url_parameter *to)
{
    size_t a = 0, b = middle;
    for (size_t i = 0; i < count; i++) {
        const bool first = b == count || (a < middle && compare(query, &from[a], &from[b]) <= 0);
        to[i] = from[first ? a++ : b++];
    }
}

/* Sorts by merging longer and longer runs.  `room` has as many.  Returns where the sorted are. */
static struct tamis__url_parameter *sort(const unsigned char *query,
                                         struct tamis__url_parameter *from,
                                         struct tamis__url_parameter *room, size_t count)
{
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            const size_t left = count - at, both = left < 2 * run ? left : 2 * run;
            merge(query, from + at, run < both ? run : both, both, room + at);
        }
        struct tamis__url_parameter *sorted = room;
        room = from;
        from = sorted;
    }
    return from;
}

static size_t write_parameters(const unsigned char *query,
                               const struct tamis__url_parameter *parameters, size_t count,
                               unsigned char *to)
{
    size_t written = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) to[written++] = '&';
        memcpy(to + written, query + parameters[i].at, parameters[i].bytes);
        written += parameters[i].bytes;
    }
    return written;
}

size_t tamis__url_query_write(const struct tamis__key_rule *rule, unsigned char *query,
                              size_t bytes, struct tamis__url_parameter *parameters,
                              unsigned char *copy)
{
    size_t count = 0;
    for (size_t at = 0; at <= bytes;) {
        const struct tamis__url_parameter now = read_parameter(query, bytes, at);
        if (now.bytes > 0 && !is_dropped(rule, query + at, now.name_bytes))
            parameters[count++] = now;
        at += now.bytes + 1;
    }
    if ((rule->options & TAMIS__URL_SORT) != 0)
        parameters = sort(query, parameters, parameters + count, count);
    const size_t written = write_parameters(query, parameters, count, copy);
    memcpy(query, copy, written);
    return written;
}
