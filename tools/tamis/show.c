/* SPDX-License-Identifier: BSD-2-Clause */
/* show.c: what is known of a filter, as text; see show.h. */
#include "show.h"

#include <math.h>

#include "command.h"

static bool is_segments(const struct field *field)
{
    return strcmp(field->name, "segments") == 0;
}

static void print_segment(const struct tamis_segment_stat *segment, struct out *out)
{
    char file[TAMIS_SEGMENT_FILE_BYTES];
    char size[RECORD_HUMAN_BYTES];
    text_size(size, sizeof size, (double)segment->file_bytes);
    const char *kind = tamis_kind_name(segment->kind);
    out_format(out, "%s %s %s, %ju %s, k %u, %ju of %ju item%s, %.1f %% set, %s\n",
               tamis_segment_file(segment->number, file), kind != NULL ? kind : "?",
               segment->hash_set, (uintmax_t)segment->m_bits,
               segment->counter_bits != 0 ? "counters"
               : segment->m_bits == 1     ? "bit"
                                          : "bits",
               segment->k, (uintmax_t)segment->items, (uintmax_t)segment->capacity,
               text_plural(segment->capacity), 100 * segment->fill, size);
}

static bool is_whole(double number)
{
    return fabs(number) < 1e15 && number == floor(number);
}

/* Prints the value, and the end of the line; for people with fewer digits, and the human form in
 * brackets. */
static void print_value(const struct filter_view *view, const struct field *field, bool human,
                        struct out *out)
{
    json_t *value = record_value(field, view);
    if (json_is_string(value))
        out_text(out, json_string_value(value));
    else if (json_is_null(value))
        out_text(out, "never");
    else if (human && json_is_real(value))
        out_format(out, is_whole(json_real_value(value)) ? "%.0f" : "%.3g", json_real_value(value));
    else
        json_write(out, value);
    json_decref(value);
    char text[RECORD_HUMAN_BYTES] = "";
    if (human && field->human != NULL) field->human(view, text);
    if (text[0]) out_format(out, " (%s)", text);
    out_char(out, '\n');
}

static void print_field(const struct filter_view *view, const struct field *field, bool labelled,
                        struct out *out)
{
    const bool each_segment = is_segments(field);
    uint32_t lines = each_segment ? view->stat.segment_count : 1;
    for (uint32_t i = 0; i < lines; i++) {
        if (labelled) out_format(out, "%s: ", field->name);
        if (each_segment)
            print_segment(&view->segments[i], out);
        else
            print_value(view, field, labelled, out);
    }
}

/* Does the value say anything? */
static bool is_set(const struct filter_view *view, const struct field *field)
{
    static const char *const nothing[] = {"", "none", "auto", "bytes"};
    json_t *value = record_value(field, view);
    bool set = !json_is_null(value) && !json_is_false(value) &&
               !(json_is_number(value) && json_number_value(value) == 0);
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (json_is_string(value) && strcmp(json_string_value(value), nothing[i]) == 0) set = false;
    json_decref(value);
    return set;
}

static bool is_shown(const struct filter_view *view, const struct field *field)
{
    switch (field->shown) {
    case SHOWN_ALWAYS:
        return true;
    case SHOWN_IF_SET:
        return is_set(view, field);
    case SHOWN_IF_PUBLISHED:
        return view_was_published(view);
    case SHOWN_IF_DYNAMIC:
        return !tamis_kind_has(view->stat.kind, TAMIS_KIND_IS_STATIC);
    default:
        return false;
    }
}

void view_print(const struct filter_view *view, bool all, struct out *out)
{
    const struct fields *fields = view_fields();
    for (size_t i = 0; i < fields->count; i++) {
        const struct field *field = &fields->all[i];
        if ((field->needs & ~view->holds) != 0 || (!all && !is_shown(view, field))) continue;
        if (all || !is_segments(field))
            print_field(view, field, true, out);
        else if (view->stat.segment_count > 1)
            out_format(out, "segments: %u\n", view->stat.segment_count);
    }
}

void view_print_field(const struct filter_view *view, const struct field *field, bool json,
                      struct out *out)
{
    if (json)
        json_print(out, record_value(field, view));
    else
        print_field(view, field, false, out);
}

void view_print_labelled(const struct filter_view *view, const struct field *field, struct out *out)
{
    print_field(view, field, true, out);
}
