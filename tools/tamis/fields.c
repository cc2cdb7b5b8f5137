/* SPDX-License-Identifier: BSD-2-Clause */
/* fields.c: what is known of a filter, field by field; see fields.h. */
#include "fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "text.h"

#define HUMAN_BYTES 64

struct field {
    const char *name;
    unsigned needs; /* without these the field is left out */
    unsigned loads; /* what `info` loads for it */
    json_t *(*value)(const struct filter_view *view);
    /* What stands in brackets behind the value; NULL, or leaves text empty, for nothing. */
    void (*human)(const struct filter_view *view, char text[HUMAN_BYTES]);
};

static void add_state(char text[STATE_BYTES], const char *name, int64_t since)
{
    char time[32];
    size_t used = strlen(text);
    if (since != 0) text_time(time, sizeof time, since);
    snprintf(text + used, STATE_BYTES - used, "%s%s%s%s", used ? ", " : "", name,
             since != 0 ? " since " : "", since != 0 ? time : "");
}

void state_text(const struct tamis_filter_stat *stat, char text[STATE_BYTES])
{
    text[0] = '\0';
    if (stat->state & TAMIS_STATE_OVER)
        add_state(text, "over", 0); /* and full, then */
    else if (stat->state & TAMIS_STATE_FULL)
        add_state(text, "full", 0);
    if (stat->state & TAMIS_STATE_DAMAGED) add_state(text, "damaged", 0);
    if (stat->state & TAMIS_STATE_DEGRADED) add_state(text, "degraded", stat->degraded_since);
    if (stat->state & TAMIS_STATE_UNCLEAN) add_state(text, "unclean", stat->unclean_since);
    if (!text[0]) add_state(text, "ok", 0);
}

const char *state_name(uint32_t state, char text[STATE_BYTES])
{
    const struct tamis_filter_stat stat = {.size = sizeof stat, .state = state}; /* without times */
    state_text(&stat, text);
    return text;
}

/* ---- Sums over segments ------------------------------------------------------------------- */

/* Are keys still found in it?  Not where the window has left it behind. */
static bool is_live(const struct tamis_segment_stat *segment)
{
    return (segment->flags & TAMIS_SEGMENT_PAST) == 0;
}

/* Share of all bits that are set, or of all fingerprints that are not 0. */
static double fill_of(const struct filter_view *view)
{
    double ones = 0;
    for (uint32_t i = 0; i < view->stat.segment_count; i++)
        ones += (double)view->segments[i].ones;
    const uint32_t place_bits = view->stat.fingerprint_bits ? view->stat.fingerprint_bits : 1;
    return ones * place_bits / (double)view->stat.m_bits;
}

/* A stranger is let in if any segment lets it in: 1 - prod(1 - rate), kept exact for tiny rates.
 * Without the segments, the rate that the formulas give for the item count. */
static double rate_now_of(const struct filter_view *view)
{
    if (!(view->holds & VIEW_FILL)) return view->stat.predicted_rate;
    double log_refused = 0;
    for (uint32_t i = 0; i < view->stat.segment_count; i++)
        if (is_live(&view->segments[i])) log_refused += log1p(-view->segments[i].fp_rate_now);
    return fabs(expm1(log_refused)); /* not -0 */
}

/* ---- Values ------------------------------------------------------------------------------- */

static json_t *kind_text(uint32_t kind)
{
    const char *name = tamis_kind_name(kind);
    return name ? json_text(name) : json_unsigned(kind);
}

static json_t *value_name(const struct filter_view *view)
{
    return json_text(view->stat.name);
}

static json_t *value_kind(const struct filter_view *view)
{
    return kind_text(view->stat.kind);
}

static json_t *value_hash_set(const struct filter_view *view)
{
    return json_text(view->stat.hash_set);
}

static json_t *value_m_bits(const struct filter_view *view)
{
    return json_unsigned(view->stat.m_bits);
}

static json_t *value_counter_bits(const struct filter_view *view)
{
    return json_unsigned(view->stat.counter_bits);
}

static json_t *value_keep(const struct filter_view *view)
{
    return json_unsigned(view->stat.keep);
}

static json_t *value_exceptions(const struct filter_view *view)
{
    return json_unsigned(view->stat.exceptions);
}

static json_t *value_fingerprint_bits(const struct filter_view *view)
{
    return json_unsigned(view->stat.fingerprint_bits);
}

static json_t *value_k(const struct filter_view *view)
{
    return json_unsigned(view->stat.k);
}

static json_t *value_seed(const struct filter_view *view)
{
    return json_unsigned(view->stat.seed);
}

static json_t *value_capacity(const struct filter_view *view)
{
    return json_unsigned(view->stat.capacity);
}

static json_t *value_fp_rate(const struct filter_view *view)
{
    return json_rate(view->stat.fp_rate);
}

static json_t *value_items(const struct filter_view *view)
{
    return json_unsigned(view->stat.items);
}

static json_t *value_items_estimated(const struct filter_view *view)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < view->stat.segment_count; i++)
        if (is_live(&view->segments[i])) items += view->segments[i].items_estimated;
    return json_unsigned(items);
}

static json_t *value_fill(const struct filter_view *view)
{
    return json_rate(fill_of(view));
}

static json_t *value_fp_rate_now(const struct filter_view *view)
{
    return json_rate(rate_now_of(view));
}

static json_t *value_bits_per_key(const struct filter_view *view)
{
    return json_rate(view->stat.bits_per_key);
}

static json_t *value_size_bytes(const struct filter_view *view)
{
    return json_unsigned(view->stat.size_bytes);
}

static json_t *value_generation(const struct filter_view *view)
{
    return json_unsigned(view->stat.generation);
}

static void segment_file(const struct tamis_segment_stat *segment, char text[HUMAN_BYTES])
{
    snprintf(text, HUMAN_BYTES, "segments/%016" PRIu64 ".seg", segment->number);
}

static json_t *segment_json(const struct tamis_segment_stat *segment, unsigned holds)
{
    char file[HUMAN_BYTES];
    segment_file(segment, file);
    json_t *object = json_new();
    json_put(object, "number", json_unsigned(segment->number));
    json_put(object, "kind", kind_text(segment->kind));
    json_put(object, "hash_set", json_text(segment->hash_set));
    json_put(object, "m_bits", json_unsigned(segment->m_bits));
    json_put(object, "k", json_unsigned(segment->k));
    json_put(object, "words", json_unsigned(segment->words));
    json_put(object, "seed", json_unsigned(segment->seed));
    json_put(object, "bit_order", json_text(segment->bit_order ? "msb-first" : "lsb-first"));
    json_put(object, "capacity", json_unsigned(segment->capacity));
    json_put(object, "fp_rate", json_rate(segment->fp_rate));
    json_put(object, "items", json_unsigned(segment->items));
    json_put(object, "step", json_unsigned(segment->step));
    json_put(object, "counter_bits", json_unsigned(segment->counter_bits));
    json_put(object, "fingerprint_bits", json_unsigned(segment->fingerprint_bits));
    json_put(object, "pieces", json_unsigned(segment->pieces));
    if (segment->slice_start != 0) {
        json_put(object, "slice", json_unsigned(segment->slice));
        json_put(object, "slice_start", json_time(segment->slice_start));
        json_put(object, "live", json_boolean(is_live(segment)));
    }
    if (holds & VIEW_FILL) {
        json_put(object, "items_estimated", json_unsigned(segment->items_estimated));
        json_put(object, "fill", json_rate(segment->fill));
        json_put(object, "fp_rate_now", json_rate(segment->fp_rate_now));
    }
    json_put(object, "size_bytes", json_unsigned(segment->file_bytes));
    json_put(object, "data_offset", json_unsigned(segment->data_offset));
    json_put(object, "file", json_text(file));
    return object;
}

static json_t *value_segments(const struct filter_view *view)
{
    json_t *array = json_array();
    if (!array) cli_no_memory();
    for (uint32_t i = 0; i < view->stat.segment_count; i++)
        if (json_array_append_new(array, segment_json(&view->segments[i], view->holds)) < 0)
            cli_no_memory();
    return array;
}

static json_t *value_created_at(const struct filter_view *view)
{
    return json_time(view->stat.created_at);
}

static json_t *value_published_at(const struct filter_view *view)
{
    return json_time(view->stat.published_at);
}

static json_t *value_checkpointed_at(const struct filter_view *view)
{
    return json_time(view->stat.checkpointed_at);
}

static json_t *value_state(const struct filter_view *view)
{
    char text[STATE_BYTES];
    return json_text(state_name(view->stat.state, text));
}

static json_t *value_durable(const struct filter_view *view)
{
    return json_boolean((view->stat.flags & TAMIS_FILTER_DURABLE) != 0);
}

static json_t *value_unclean_since(const struct filter_view *view)
{
    return json_time(view->stat.unclean_since);
}

static json_t *value_degraded_since(const struct filter_view *view)
{
    return json_time(view->stat.degraded_since);
}

static json_t *value_on_full(const struct filter_view *view)
{
    return json_text(tamis_on_full_name(view->stat.on_full));
}

/* Seconds, or keys; both 0 where nothing is forgotten. */
static json_t *value_window_seconds(const struct filter_view *view)
{
    return json_rate((double)view->stat.window_ns / 1e9);
}

static json_t *value_window_items(const struct filter_view *view)
{
    return json_unsigned(view->stat.window_items);
}

static json_t *value_slices(const struct filter_view *view)
{
    return json_unsigned(view->stat.slices);
}

/* Those in which keys are still found. */
static json_t *value_live_slices(const struct filter_view *view)
{
    return json_unsigned(view->stat.live_slices);
}

static const char FULL[] =
    "the filter holds as many keys as it was made for or more, and the rate rises with every "
    "further one; make a filter of a greater capacity";
static const char REFUSES[] = "the filter holds as many keys as it was made for, and refuses more; "
                              "make a filter of a greater "
                              "capacity, or one that grows";
static const char SLICE_REFUSES[] =
    "the newest slice of the window holds its share of the keys, and refuses more until the next "
    "one begins; make a filter of a greater capacity, or one that grows";
static const char ESTIMATED[] =
    "the filter was merged, or imported from a format that does not say how many keys it holds, so "
    "items began with an estimate from the set bits";

static const char OVER[] = "the filter holds more keys than its rate bears, so strangers pass more "
                           "often than was asked for; make one of a "
                           "greater capacity, or one that grows, from its keys";
static const char DAMAGED[] = "the filter is damaged, and its answers may be wrong; 'tamis verify' "
                              "says where, 'tamis repair' what can be done";
static const char UNCLEAN[] =
    "the machine went down before all that was added was on the disk, so keys that were added "
    "since "
    "unclean_since may be missing; add them again and run 'tamis sync --accept'";
static const char DEGRADED[] = "a sync has failed, so a power cut may lose keys; look at the disk "
                               "(dmesg), then run 'tamis sync'";

/* Add a note to those there are; each once. */
static void add_note(char **notes, const char *note)
{
    char *longer = NULL;
    if (note == NULL || strstr(*notes, note) != NULL) return;
    if (asprintf(&longer, "%s%s%s", *notes, **notes ? "; " : "", note) < 0) cli_no_memory();
    free(*notes);
    *notes = longer;
}

static json_t *value_note(const struct filter_view *view)
{
    char *notes = cli_copy("", 0);
    if (view->stat.state & TAMIS_STATE_DAMAGED) add_note(&notes, DAMAGED);
    if (view->stat.state & TAMIS_STATE_OVER) add_note(&notes, OVER);
    if ((view->stat.state & (TAMIS_STATE_FULL | TAMIS_STATE_OVER)) == TAMIS_STATE_FULL)
        add_note(&notes, view->stat.on_full != TAMIS_ON_FULL_REFUSE ? FULL
                         : view->stat.slices > 0                    ? SLICE_REFUSES
                                                                    : REFUSES);
    if (view->stat.state & TAMIS_STATE_UNCLEAN) add_note(&notes, UNCLEAN);
    if (view->stat.state & TAMIS_STATE_DEGRADED) add_note(&notes, DEGRADED);
    add_note(&notes, tamis_hash_set_weakness(view->stat.hash_set));
    for (uint32_t i = 0; view->segments && i < view->stat.segment_count; i++) {
        if (view->segments[i].flags & TAMIS_SEGMENT_ITEMS_ESTIMATED) add_note(&notes, ESTIMATED);
        add_note(&notes, tamis_hash_set_weakness(view->segments[i].hash_set));
    }
    json_t *note = json_text(notes);
    free(notes);
    return note;
}

/* ---- Human forms -------------------------------------------------------------------------- */

static void human_bits(const struct filter_view *view, char text[HUMAN_BYTES])
{
    if (view->stat.counter_bits != 0)
        snprintf(text, HUMAN_BYTES, "counters of %u bits", view->stat.counter_bits);
    else if (view->stat.fingerprint_bits != 0)
        snprintf(text, HUMAN_BYTES, "fingerprints of %u bits", view->stat.fingerprint_bits);
    else
        text_size(text, HUMAN_BYTES, (double)view->stat.m_bits / 8);
}

static void human_size(const struct filter_view *view, char text[HUMAN_BYTES])
{
    text_size(text, HUMAN_BYTES, (double)view->stat.size_bytes);
}

static void human_items(const struct filter_view *view, char text[HUMAN_BYTES])
{
    if (view->stat.capacity == 0) return;
    snprintf(text, HUMAN_BYTES, "%.1f %% of the capacity",
             100 * (double)view->stat.items / (double)view->stat.capacity);
}

static void human_fill(const struct filter_view *view, char text[HUMAN_BYTES])
{
    snprintf(text, HUMAN_BYTES, "%.1f %% of the %s", 100 * fill_of(view),
             view->stat.counter_bits != 0       ? "counters are above 0"
             : view->stat.fingerprint_bits != 0 ? "fingerprints are not 0"
                                                : "bits are set");
}

static void one_in(double rate, char text[HUMAN_BYTES])
{
    if (rate > 0 && rate < 1)
        snprintf(text, HUMAN_BYTES, rate > 1e-6 ? "1 in %.0f" : "1 in %.3g", 1 / rate);
}

static void human_fp_rate(const struct filter_view *view, char text[HUMAN_BYTES])
{
    one_in(view->stat.fp_rate, text);
}

static void human_fp_rate_now(const struct filter_view *view, char text[HUMAN_BYTES])
{
    one_in(rate_now_of(view), text);
}

/* ---- The table ---------------------------------------------------------------------------- */

static const struct field FIELDS[] = {
    {"name", 0, 0, value_name, NULL},
    {"kind", 0, 0, value_kind, NULL},
    {"hash_set", 0, 0, value_hash_set, NULL},
    {"m_bits", 0, 0, value_m_bits, human_bits},
    {"k", 0, 0, value_k, NULL},
    {"seed", 0, 0, value_seed, NULL},
    {"capacity", 0, 0, value_capacity, NULL},
    {"fp_rate", 0, 0, value_fp_rate, human_fp_rate},
    {"items", 0, 0, value_items, human_items},
    {"items_estimated", VIEW_FILL, VIEW_FILL, value_items_estimated, NULL},
    {"fill", VIEW_FILL, VIEW_FILL, value_fill, human_fill},
    {"fp_rate_now", 0, VIEW_FILL, value_fp_rate_now, human_fp_rate_now},
    {"bits_per_key", 0, 0, value_bits_per_key, NULL},
    {"size_bytes", 0, 0, value_size_bytes, human_size},
    {"generation", 0, 0, value_generation, NULL},
    {"segments", VIEW_SEGMENTS, VIEW_FILL, value_segments, NULL},
    {"created_at", 0, 0, value_created_at, NULL},
    {"published_at", 0, 0, value_published_at, NULL},
    {"checkpointed_at", 0, 0, value_checkpointed_at, NULL},
    {"on_full", 0, 0, value_on_full, NULL},
    {"window_seconds", 0, 0, value_window_seconds, NULL},
    {"window_items", 0, 0, value_window_items, NULL},
    {"slices", 0, 0, value_slices, NULL},
    {"live_slices", 0, 0, value_live_slices, NULL},
    {"counter_bits", 0, 0, value_counter_bits, NULL},
    {"fingerprint_bits", 0, 0, value_fingerprint_bits, NULL},
    {"keep", 0, 0, value_keep, NULL},
    {"exceptions", 0, 0, value_exceptions, NULL},
    {"durable", 0, 0, value_durable, NULL},
    {"state", 0, 0, value_state, NULL},
    {"unclean_since", 0, 0, value_unclean_since, NULL},
    {"degraded_since", 0, 0, value_degraded_since, NULL},
    {"note", 0, VIEW_SEGMENTS, value_note, NULL},
};
#define FIELD_COUNT (sizeof FIELDS / sizeof *FIELDS)

const struct field *field_find(const char *name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(FIELDS[i].name, name) == 0) return &FIELDS[i];
    return NULL;
}

unsigned field_loads(const struct field *field)
{
    return field->loads;
}

char *field_names(void)
{
    size_t bytes = 1;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        bytes += strlen(FIELDS[i].name) + 1;
    char *names = cli_alloc(bytes);
    char *end = names;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        end += sprintf(end, "%s%s", i > 0 ? " " : "", FIELDS[i].name);
    return names;
}

/* ---- Views -------------------------------------------------------------------------------- */

int view_load(struct filter_view *view, tamis_filter *filter, unsigned loads)
{
    *view = (struct filter_view){0};
    view->stat.size = sizeof view->stat;
    int rc = tamis_filter_stat(filter, &view->stat);
    if (rc < 0 || loads == 0) return rc;
    view->segments = cli_alloc(view->stat.segment_count * sizeof *view->segments);
    for (uint32_t i = 0; i < view->stat.segment_count && rc == 0; i++) {
        view->segments[i].size = sizeof view->segments[i];
        if (loads & VIEW_FILL)
            rc = tamis_filter_fill(filter, i, &view->segments[i]);
        else
            rc = tamis_filter_segment(filter, i, &view->segments[i]);
    }
    view->holds = loads | VIEW_SEGMENTS;
    return rc;
}

void view_clear(struct filter_view *view)
{
    free(view->segments);
    *view = (struct filter_view){0};
}

json_t *view_json(const struct filter_view *view)
{
    json_t *object = json_new();
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if ((FIELDS[i].needs & ~view->holds) == 0)
            json_put(object, FIELDS[i].name, FIELDS[i].value(view));
    return object;
}

int view_show_json(struct out *out, tamis_filter *filter, unsigned loads)
{
    struct filter_view view;
    if (view_load(&view, filter, loads) < 0) return cli_fail_library();
    json_print(out, view_json(&view));
    view_clear(&view);
    return CLI_DONE;
}

static void print_segment(const struct tamis_segment_stat *segment, struct out *out)
{
    char file[HUMAN_BYTES];
    char size[HUMAN_BYTES];
    segment_file(segment, file);
    text_size(size, sizeof size, (double)segment->file_bytes);
    const char *kind = tamis_kind_name(segment->kind);
    out_format(out, "%s %s %s, %ju %s, k %u, %ju of %ju item%s, %.1f %% set, %s\n", file,
               kind ? kind : "?", segment->hash_set, (uintmax_t)segment->m_bits,
               segment->counter_bits != 0 ? "counters"
               : segment->m_bits == 1     ? "bit"
                                          : "bits",
               segment->k, (uintmax_t)segment->items, (uintmax_t)segment->capacity,
               text_plural(segment->capacity), 100 * segment->fill, size);
}

/* The value, in brackets the human form, and the end of the line. */
static void print_value(const struct filter_view *view, const struct field *field, bool human,
                        struct out *out)
{
    json_t *value = field->value(view);
    if (json_is_string(value))
        out_text(out, json_string_value(value));
    else if (json_is_null(value))
        out_text(out, "never");
    else
        json_write(out, value);
    json_decref(value);
    char text[HUMAN_BYTES] = "";
    if (human && field->human) field->human(view, text);
    if (text[0]) out_format(out, " (%s)", text);
    out_char(out, '\n');
}

static void print_field(const struct filter_view *view, const struct field *field, bool labelled,
                        struct out *out)
{
    bool each_segment = field->value == value_segments;
    uint32_t lines = each_segment ? view->stat.segment_count : 1;
    for (uint32_t i = 0; i < lines; i++) {
        if (labelled) out_format(out, "%s: ", field->name);
        if (each_segment)
            print_segment(&view->segments[i], out);
        else
            print_value(view, field, labelled, out);
    }
}

void view_print(const struct filter_view *view, struct out *out)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        print_field(view, &FIELDS[i], true, out);
}

void view_print_field(const struct filter_view *view, const struct field *field, bool json,
                      struct out *out)
{
    if (json)
        json_print(out, field->value(view));
    else
        print_field(view, field, false, out);
}
