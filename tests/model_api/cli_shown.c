/* SPDX-License-Identifier: BSD-2-Clause */
/* cli_shown.c: what --json tells is what the library tells, which the model judges.  cli_texts.py
 * holds the texts to --json. */
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run_cli.h"
#include "tamis_fields.h"

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-13 * fabs(b) + 1e-300; /* 15 digits are shown */
}

static bool is_text(const json_t *value, const char *text)
{
    return json_is_string(value) && text != NULL && strcmp(json_string_value(value), text) == 0;
}

static bool is_time(const json_t *value, int64_t ns)
{
    char text[40];
    struct tm parts;
    const time_t seconds = (time_t)(ns / 1000000000);
    if (ns == 0) return json_is_null(value);
    (void)gmtime_r(&seconds, &parts);
    (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return is_text(value, text);
}

static bool is_number(const json_t *value, uint64_t number)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    return number > INT64_MAX
               ? is_text(value, digits)
               : json_is_integer(value) && json_integer_value(value) == (json_int_t)number;
}

static bool is_value(const json_t *value, uint32_t type, const struct tamis_field_value *is)
{
    switch (type) {
    case TAMIS_FIELD_TEXT:
    case TAMIS_FIELD_WORD:
        return is->text == NULL ? json_is_null(value) : is_text(value, is->text);
    case TAMIS_FIELD_LIMIT:
        if (is->number == UINT64_MAX) return json_is_null(value);
        return is_number(value, is->number);
    case TAMIS_FIELD_YES:
        return json_is_boolean(value) && json_is_true(value) == (is->number != 0);
    case TAMIS_FIELD_REAL:
        return json_is_real(value) && is_near(json_real_value(value), is->real);
    case TAMIS_FIELD_TIME:
        return is_time(value, is->ns);
    case TAMIS_FIELD_SPAN:
        return json_is_real(value) && is_near(json_real_value(value), (double)is->ns / 1e9);
    default:
        return is_number(value, is->number);
    }
}

static bool is_state(const json_t *value, uint64_t state)
{
    char text[60];
    const bool over = (state & TAMIS_STATE_OVER) != 0;
    (void)snprintf(text, sizeof text, "%s%s%s%s",
                   over                              ? ", over"
                   : (state & TAMIS_STATE_FULL) != 0 ? ", full"
                                                     : "",
                   (state & TAMIS_STATE_DAMAGED) != 0 ? ", damaged" : "",
                   (state & TAMIS_STATE_DEGRADED) != 0 ? ", degraded" : "",
                   (state & TAMIS_STATE_UNCLEAN) != 0 ? ", unclean" : "");
    return is_text(value, *text != '\0' ? text + 2 : "ok");
}

/* Words that the command makes of numbers; shows_filter() asks for bit_order. */
static bool is_word_of(const struct tamis_field *field, const void *record, const json_t *value,
                       uint64_t number)
{
    const struct tamis_filter_stat *stat = record;
    if (strcmp(field->info_name, "state") == 0) return is_state(value, number);
    if (strcmp(field->info_name, "bit_order") == 0) return true;
    const bool first = (stat->flags & TAMIS_FILTER_FROM_FIRST) != 0;
    return strcmp(field->info_name, "window_from") == 0 && is_text(value, stat->slices == 0 ? "none"
                                                                          : first ? "first"
                                                                                  : "last");
}

/* Each field that the library has of the record; one that is left out has nothing to tell. */
static bool is_record(struct line *line, uint32_t of, const void *record, const json_t *object)
{
    struct tamis_field field = {.size = sizeof field};
    for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_BY_INFO, i, &field) > 0; i++) {
        struct tamis_field_value is = {.size = sizeof is};
        const json_t *value = json_object_get(object, field.info_name);
        if (tamis_field_get(&field, record, &is) != 1) continue;
        const bool none =
            is.number == 0 && is.ns == 0 && is.real == 0 && (is.text == NULL || *is.text == '\0');
        if (is_word_of(&field, record, value, is.number)) continue;
        if (value == NULL ? none : is_value(value, field.type, &is)) continue;
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        (void)trouble_of(line, "%s is %.60s: '%.60s', %llu, %lld, %.17g", field.info_name,
                         text != NULL ? text : "missing", is.text != NULL ? is.text : "",
                         (unsigned long long)is.number, (long long)is.ns, is.real);
        free(text);
        return false;
    }
    return true;
}

static json_t *next_object(struct line *line)
{
    const char *piece = NULL;
    size_t bytes = 0;
    if (!next_piece(line, '\n', &piece, &bytes)) return NULL;
    json_t *object = json_loadb(piece, bytes, JSON_ALLOW_NUL, NULL);
    if (object == NULL) (void)trouble_of(line, "no JSON: %.*s", (int)bytes, piece);
    return object;
}

static bool is_at_end(struct line *line)
{
    return line->at == line->bytes || trouble_of(line, "more is printed: %s", line->printed);
}

double number_of(struct line *line, const char *member)
{
    line->at = 0;
    json_t *object = next_object(line);
    const json_t *value = json_object_get(object, member);
    if (value == NULL) (void)trouble_of(line, "no '%s': %s", member, line->printed);
    const double number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
    json_decref(object);
    return number;
}

bool values_by_json(struct line *line, const char *member, uint64_t *values)
{
    for (uint32_t i = 0; i < line->op->keys.count; i++) {
        json_t *object = next_object(line);
        struct line as = {.hex = json_object_get(object, "key_hex") != NULL};
        const json_t *key = json_object_get(object, as.hex ? "key_hex" : "key"),
                     *value = json_object_get(object, member);
        const bool fits =
            json_is_string(key) && json_object_size(object) == 2 && value != NULL &&
            (as.hex || !line->hex) &&
            is_key(&as, json_string_value(key), json_string_length(key), &lists[0][i]);
        values[i] =
            json_is_boolean(value) ? json_is_true(value) : (uint64_t)json_integer_value(value);
        json_decref(object);
        if (!fits) return trouble_of(line, "line %u of the keys: %s", i, line->printed);
    }
    return is_at_end(line);
}

/* ---- Filters --------------------------------------------------------------------------------- */

static bool is_segment(struct line *line, const struct tamis_segment_stat *s, const json_t *shown)
{
    char name[TAMIS_SEGMENT_FILE_BYTES];
    const char *order = s->bit_order != 0 ? "msb-first" : "lsb-first";
    const json_t *live = json_object_get(shown, "live");
    if (!is_record(line, TAMIS_FIELDS_SEGMENT, s, shown)) return false;
    if (is_text(json_object_get(shown, "file"), tamis_segment_file(s->number, name)) &&
        is_text(json_object_get(shown, "bit_order"), order) &&
        (live != NULL) == (s->slice_start != 0) &&
        (live == NULL || json_is_true(live) == ((s->flags & TAMIS_SEGMENT_PAST) == 0)))
        return true;
    return trouble_of(line, "file, bit_order or live of segment %llu",
                      (unsigned long long)s->number);
}

bool shows_filter(struct line *line, tamis_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    json_t *object = next_object(line);
    const json_t *segments = json_object_get(object, "segments");
    if (tamis_filter_stat(filter, &stat) < 0) return trouble_of(line, "%s", tamis_last_error());
    bool fits = is_record(line, TAMIS_FIELDS_FILTER, &stat, object);
    if (fits && json_array_size(segments) != stat.segment_count)
        fits = trouble_of(line, "%zu segments", json_array_size(segments));
    for (uint32_t i = 0; fits && i < stat.segment_count; i++) {
        struct tamis_segment_stat s = {.size = sizeof s};
        fits = tamis_filter_fill(filter, i, &s) < 0
                   ? trouble_of(line, "%s", tamis_last_error())
                   : is_segment(line, &s, json_array_get(segments, i));
    }
    json_decref(object);
    return fits && is_at_end(line);
}

bool shows_list(struct line *line)
{
    bool fits = true;
    for (uint32_t i = 0; fits && i < line->out->listed; i++) {
        json_t *object = next_object(line);
        fits = is_record(line, TAMIS_FIELDS_FILTER, &line->out->list[i], object);
        json_decref(object);
    }
    return fits && is_at_end(line);
}

/* ---- Other records: which member of a struct is shown under which name, and how -----------------
 */

enum how { NUMBER, SMALL, RATE, TIME, DIGEST, KIND, FORCE, WHOLE, ABOVE };
struct row {
    const char *shown;
    size_t at;
    enum how how; /* SMALL: of 32 bits; WHOLE, ABOVE: rounded, rounded up */
};
#define ROW(of, member, how) AS(#member, of, member, how)
#define AS(name, of, member, how)                                                                  \
    {                                                                                              \
        name, offsetof(struct tamis_##of, member), how                                             \
    }
#define ROWS(table) table, sizeof(table) / sizeof *(table)

static const struct row generation_rows[] = {ROW(generation_stat, generation, NUMBER),
                                             ROW(generation_stat, items, NUMBER),
                                             ROW(generation_stat, size_bytes, NUMBER),
                                             ROW(generation_stat, kind, KIND),
                                             ROW(generation_stat, fp_rate, RATE),
                                             ROW(generation_stat, published_at, TIME),
                                             ROW(generation_stat, key_digest, DIGEST),
                                             AS("state", generation_stat, in_force, FORCE),
                                             AS("segments", generation_stat, segment_count, SMALL),
                                             AS("found", generation_stat, exceptions, NUMBER)};
static const struct row comparison_rows[] = {
    ROW(comparison, items_a, WHOLE),     ROW(comparison, items_b, WHOLE),
    ROW(comparison, items_union, WHOLE), ROW(comparison, items_both, WHOLE),
    ROW(comparison, error, ABOVE),       ROW(comparison, jaccard, RATE)};
static const struct row synced_rows[] = {ROW(filter_stat, items, NUMBER),
                                         ROW(filter_stat, checkpointed_at, TIME)};
static const struct row built_rows[] = {
    ROW(build_result, keys, NUMBER),       ROW(build_result, distinct, NUMBER),
    ROW(build_result, generation, NUMBER), ROW(build_result, exceptions, NUMBER),
    ROW(build_result, found, NUMBER),      ROW(build_result, conflicts, NUMBER),
    ROW(build_result, size_bytes, NUMBER), ROW(build_result, key_digest, DIGEST)};
static const struct row published_rows[] = {ROW(publish_result, generation, NUMBER),
                                            ROW(publish_result, exceptions, NUMBER),
                                            ROW(publish_result, size_bytes, NUMBER)};

static bool is_digest(const json_t *value, const uint8_t *digest)
{
    char text[33];
    static const uint8_t none[16];
    for (size_t i = 0; i < 16; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return memcmp(digest, none, sizeof none) == 0 ? json_is_null(value) : is_text(value, text);
}

static bool is_shown(const json_t *value, enum how how, const void *member)
{
    switch (how) {
    case SMALL:
        return is_number(value, *(const uint32_t *)member);
    case RATE:
        return is_near(json_real_value(value), *(const double *)member);
    case TIME:
        return is_time(value, *(const int64_t *)member);
    case DIGEST:
        return is_digest(value, member);
    case KIND:
        return is_text(value, tamis_kind_name(*(const uint32_t *)member));
    case FORCE:
        return is_text(value, *(const uint32_t *)member != 0 ? "in-force" : "kept");
    case WHOLE:
        return is_number(value, (uint64_t)llround(*(const double *)member));
    case ABOVE:
        return is_number(value, (uint64_t)ceil(*(const double *)member));
    default:
        return is_number(value, *(const uint64_t *)member);
    }
}

static bool shows(struct line *line, const struct row *rows, size_t count, const void *record)
{
    json_t *object = next_object(line);
    bool fits = true;
    for (size_t i = 0; fits && i < count; i++)
        if (!is_shown(json_object_get(object, rows[i].shown), rows[i].how,
                      (const char *)record + rows[i].at))
            fits = trouble_of(line, "%s is another: %s", rows[i].shown, line->printed);
    json_decref(object);
    return fits;
}

bool shows_generations(struct line *line)
{
    for (uint32_t i = 0; i < line->out->generations; i++)
        if (!shows(line, ROWS(generation_rows), &line->out->generation[i])) return false;
    return is_at_end(line);
}

bool shows_comparison(struct line *line)
{
    return shows(line, ROWS(comparison_rows), &line->out->comparison) && is_at_end(line);
}

bool shows_synced(struct line *line, tamis_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    if (tamis_filter_stat(filter, &stat) < 0) return trouble_of(line, "%s", tamis_last_error());
    return shows(line, ROWS(synced_rows), &stat) && is_at_end(line);
}

/* The other way: the record is what was printed, and the model judges it. */
static bool reads(struct line *line, const struct row *rows, size_t count, void *record)
{
    json_t *object = next_object(line);
    bool fits = is_text(json_object_get(object, "name"), line->name);
    for (size_t i = 0; fits && i < count; i++) {
        unsigned char *to = (unsigned char *)record + rows[i].at;
        const json_t *value = json_object_get(object, rows[i].shown);
        const char *digits = json_string_value(value);
        const uint64_t number = (uint64_t)json_integer_value(value);
        unsigned byte = 0;
        memset(to, 0, rows[i].how == DIGEST ? 16 : sizeof number);
        fits = rows[i].how == DIGEST ? value != NULL : json_is_integer(value);
        if (rows[i].how == NUMBER) memcpy(to, &number, sizeof number);
        for (size_t j = 0; digits != NULL && j < 16 && fits; j++) {
            fits = sscanf(digits + 2 * j, "%2x", &byte) == 1; // NOLINT(cert-err34-c): two digits
            to[j] = (uint8_t)byte;
        }
    }
    line->out->rc = json_is_true(json_object_get(object, "published"));
    json_decref(object);
    return (fits || trouble_of(line, "%s", line->printed)) && is_at_end(line);
}

bool reads_built(struct line *line)
{
    return reads(line, ROWS(built_rows), &line->out->built);
}

bool reads_published(struct line *line)
{
    return reads(line, ROWS(published_rows), &line->out->published);
}
