/* SPDX-License-Identifier: BSD-2-Clause */
/* cli_shown.c: what --json tells is what the library tells, which the model judges.  cli_texts.py
 * holds the texts to --json. */
#include <jansson.h>
#include <math.h>
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

static bool is_time(const json_t *value, int64_t ns)
{
    char text[40];
    struct tm parts;
    const time_t seconds = (time_t)(ns / 1000000000);
    if (ns == 0) return json_is_null(value);
    (void)gmtime_r(&seconds, &parts);
    (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static bool is_number(const json_t *value, uint64_t number)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    return json_is_string(value)
               ? number > INT64_MAX && strcmp(json_string_value(value), digits) == 0
               : json_is_integer(value) && (uint64_t)json_integer_value(value) == number;
}

static bool is_value(const json_t *value, uint32_t type, const struct tamis_field_value *is)
{
    switch (type) {
    case TAMIS_FIELD_TEXT:
    case TAMIS_FIELD_WORD:
        return is->text == NULL
                   ? json_is_null(value)
                   : json_is_string(value) && strcmp(json_string_value(value), is->text) == 0;
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
    return json_is_string(value) &&
           strcmp(json_string_value(value), *text != '\0' ? text + 2 : "ok") == 0;
}

/* Words that the command makes of numbers; shows_filter() asks for bit_order. */
static bool is_word_of(const struct tamis_field *field, const void *record, const json_t *value,
                       uint64_t number)
{
    const struct tamis_filter_stat *stat = record;
    if (strcmp(field->info_name, "state") == 0) return is_state(value, number);
    if (strcmp(field->info_name, "bit_order") == 0) return true;
    if (strcmp(field->info_name, "window_from") != 0 || !json_is_string(value)) return false;
    const bool first = (stat->flags & TAMIS_FILTER_FROM_FIRST) != 0;
    const char *word = stat->slices == 0 ? "none" : first ? "first" : "last";
    return strcmp(json_string_value(value), word) == 0;
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
    line->json = true;
    if (!next_piece(line, &piece, &bytes)) return NULL;
    json_t *object = json_loadb(piece, bytes, JSON_ALLOW_NUL, NULL);
    if (object == NULL) (void)trouble_of(line, "no JSON: %.*s", (int)bytes, piece);
    return object;
}

bool shows_filter(struct line *line, tamis_filter *filter)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    json_t *object = next_object(line);
    const json_t *segments = json_object_get(object, "segments");
    if (tamis_filter_stat(filter, &stat) < 0) return trouble_of(line, "%s", tamis_last_error());
    bool fits = is_record(line, TAMIS_FIELDS_FILTER, &stat, object);
    if (json_array_size(segments) != stat.segment_count)
        fits =
            trouble_of(line, "%zu segments of %u", json_array_size(segments), stat.segment_count);
    for (uint32_t i = 0; fits && i < stat.segment_count; i++) {
        char name[TAMIS_SEGMENT_FILE_BYTES];
        struct tamis_segment_stat s = {.size = sizeof s};
        const json_t *shown = json_array_get(segments, i);
        if (tamis_filter_fill(filter, i, &s) < 0) return trouble_of(line, "%s", tamis_last_error());
        fits = is_record(line, TAMIS_FIELDS_SEGMENT, &s, shown);
        const char *file = json_string_value(json_object_get(shown, "file"));
        const char *order = json_string_value(json_object_get(shown, "bit_order"));
        const json_t *live = json_object_get(shown, "live");
        if (file == NULL || strcmp(file, tamis_segment_file(s.number, name)) != 0 ||
            order == NULL || strcmp(order, s.bit_order != 0 ? "msb-first" : "lsb-first") != 0 ||
            (live != NULL && json_is_true(live) != ((s.flags & TAMIS_SEGMENT_PAST) == 0)) ||
            (live != NULL) != (s.slice_start != 0))
            fits = trouble_of(line, "file, bit_order or live of segment %u", i);
    }
    json_decref(object);
    return fits;
}

bool shows_list(struct line *line)
{
    bool fits = true;
    for (uint32_t i = 0; fits && i < line->out->listed; i++) {
        json_t *object = next_object(line);
        fits = is_record(line, TAMIS_FIELDS_FILTER, &line->out->list[i], object);
        json_decref(object);
    }
    return fits && (line->at == line->bytes || trouble_of(line, "more filters are listed"));
}

static bool is_digest(const json_t *value, const uint8_t *digest)
{
    char text[33];
    static const uint8_t none[16];
    for (size_t i = 0; i < 16; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
    if (memcmp(digest, none, sizeof none) == 0) return value == NULL || json_is_null(value);
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static bool is_generation(const json_t *object, const struct tamis_generation_stat *g)
{
    const char *state = json_string_value(json_object_get(object, "state"));
    const char *kind = json_string_value(json_object_get(object, "kind"));
    return is_number(json_object_get(object, "generation"), g->generation) && state != NULL &&
           strcmp(state, g->in_force != 0 ? "in-force" : "kept") == 0 && kind != NULL &&
           strcmp(kind, tamis_kind_name(g->kind)) == 0 &&
           is_number(json_object_get(object, "items"), g->items) &&
           is_near(json_real_value(json_object_get(object, "fp_rate")), g->fp_rate) &&
           is_number(json_object_get(object, "segments"), g->segment_count) &&
           is_number(json_object_get(object, "size_bytes"), g->size_bytes) &&
           is_number(json_object_get(object, "found"), g->exceptions) &&
           is_time(json_object_get(object, "published_at"), g->published_at) &&
           is_digest(json_object_get(object, "key_digest"), g->key_digest);
}

bool shows_generations(struct line *line)
{
    for (uint32_t i = 0; i < line->out->generations; i++) {
        json_t *object = next_object(line);
        const bool fits = is_generation(object, &line->out->generation[i]);
        json_decref(object);
        if (!fits)
            return trouble_of(line, "generation %u is shown as another: %s", i, line->printed);
    }
    return line->at == line->bytes || trouble_of(line, "more generations");
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

/* Numbers of keys are shown as whole ones. */
bool shows_comparison(struct line *line)
{
    const struct tamis_comparison *c = &line->out->comparison;
    return (fabs(number_of(line, "items_a") - c->items_a) <= 0.51 &&
            fabs(number_of(line, "items_b") - c->items_b) <= 0.51 &&
            fabs(number_of(line, "items_union") - c->items_union) <= 0.51 &&
            fabs(number_of(line, "items_both") - c->items_both) <= 0.51 &&
            fabs(number_of(line, "error") - c->error) <= 1.01 &&
            is_near(number_of(line, "jaccard"), c->jaccard)) ||
           trouble_of(line, "%s", line->printed);
}

bool reads_built(struct line *line)
{
    struct tamis_build_result *built = &line->out->built;
    built->keys = (uint64_t)number_of(line, "keys");
    built->distinct = (uint64_t)number_of(line, "distinct");
    built->generation = (uint64_t)number_of(line, "generation");
    built->exceptions = (uint64_t)number_of(line, "exceptions");
    built->found = (uint64_t)number_of(line, "found");
    built->conflicts = (uint64_t)number_of(line, "conflicts");
    built->size_bytes = (uint64_t)number_of(line, "size_bytes");
    line->out->rc = number_of(line, "published") != 0;
    line->at = 0;
    json_t *object = next_object(line);
    const char *digest = json_string_value(json_object_get(object, "key_digest"));
    const char *name = json_string_value(json_object_get(object, "name"));
    bool fits = name != NULL && strcmp(name, line->name) == 0;
    memset(built->key_digest, 0, sizeof built->key_digest);
    for (size_t i = 0; fits && digest != NULL && i < 16; i++) {
        unsigned byte = 0;
        fits = sscanf(digest + 2 * i, "%2x", &byte) == 1; // NOLINT(cert-err34-c): two digits
        built->key_digest[i] = (uint8_t)byte;
    }
    json_decref(object);
    return fits || trouble_of(line, "%s", line->printed);
}

bool reads_published(struct line *line)
{
    line->out->published.generation = (uint64_t)number_of(line, "generation");
    line->out->published.exceptions = (uint64_t)number_of(line, "exceptions");
    line->out->rc = number_of(line, "published") != 0;
    return true;
}
