/* SPDX-License-Identifier: BSD-2-Clause */
/* fields.c: what is known of a filter, field by field; see fields.h. */
#include "fields.h"

#include <math.h>
#include <time.h>

#include "command.h"
#include "findings.h"
#include "order.h"
#include "remote/remote.h"

#define HUGE_PAGE_BYTES ((uint64_t)2 << 20)

/* ---- Sums over segments ------------------------------------------------------------------- */

/* Are keys still found in the segment? They are not if the window has left it behind. */
static bool is_live(const struct tamis_segment_stat *segment)
{
    return (segment->flags & TAMIS_SEGMENT_PAST) == 0;
}

/* Returns the share of all bits that are set, or of all fingerprints that are not 0. */
static double fill_of(const struct filter_view *view)
{
    double ones = 0;
    for (uint32_t i = 0; i < view->stat.segment_count; i++)
        ones += (double)view->segments[i].ones;
    const uint32_t place_bits = view->stat.fingerprint_bits ? view->stat.fingerprint_bits : 1;
    return ones * place_bits / (double)view->stat.m_bits;
}

/* A key that was never added seems present if it seems so in any segment: 1 - prod(1 - rate),
 * computed so that tiny rates stay exact. Without the segments, the rate that the formulas give for
 * the item count. */
static double rate_now_of(const struct filter_view *view)
{
    if (!(view->holds & VIEW_FILL)) return view->stat.predicted_rate;
    double log_refused = 0;
    for (uint32_t i = 0; i < view->stat.segment_count; i++)
        if (is_live(&view->segments[i])) log_refused += log1p(-view->segments[i].fp_rate_now);
    return fabs(expm1(log_refused)); /* not -0 */
}

/* ---- A segment ---------------------------------------------------------------------------- */

/* What a segment's record may hold besides VIEW_FILL. */
#define SEGMENT_SLICED 4u /* it belongs to a slice of a window */

static void segment_file(const struct tamis_segment_stat *segment, char text[RECORD_HUMAN_BYTES])
{
    char file[TAMIS_SEGMENT_FILE_BYTES];
    (void)snprintf(text, RECORD_HUMAN_BYTES, "%s", tamis_segment_file(segment->number, file));
}

static json_t *segment_file_json(const void *segment)
{
    char file[RECORD_HUMAN_BYTES];
    segment_file(segment, file);
    return json_text(file);
}

static json_t *segment_bit_order(const void *segment)
{
    const struct tamis_segment_stat *stat = segment;
    return json_text(stat->bit_order ? "msb-first" : "lsb-first");
}

static json_t *segment_live(const void *segment)
{
    return json_boolean(is_live(segment));
}

/* What no field of the library says: how a field is made of others, what it needs, and what stands
 * in brackets behind it.  A field that is not here is shown as the library has it. */
struct more {
    const char *name; /* as shown */
    json_t *(*make)(const void *record);
    void (*human)(const void *record, char text[RECORD_HUMAN_BYTES]);
    unsigned needs, loads;
    enum field_shown shown;
};

static const struct more SEGMENT_MORE[] = {
    {"bit_order", .make = segment_bit_order},
    {"slice", .needs = SEGMENT_SLICED},
    {"slice_start", .needs = SEGMENT_SLICED},
    {"live", .make = segment_live, .needs = SEGMENT_SLICED},
    {"items_estimated", .needs = VIEW_FILL},
    {"fill", .needs = VIEW_FILL},
    {"fp_rate_now", .needs = VIEW_FILL},
    {"file", .make = segment_file_json},
};

static const struct more *more_of(const char *name, const struct more *more, size_t count)
{
    static const struct more nothing;
    for (size_t i = 0; i < count; i++)
        if (strcmp(more[i].name, name) == 0) return &more[i];
    return &nothing;
}

/* The fields of TAMIS_FIELDS_*, which lie at `offset` of the record. */
static struct fields fields_of(uint32_t of, size_t offset, const struct more *more, size_t count)
{
    struct field *all = NULL;
    struct tamis_field one = TAMIS_INIT(struct tamis_field);
    size_t known = 0, room = 0;
    for (uint32_t i = 0; tamis_field(of, TAMIS_SHOWN_BY_INFO, i, &one) > 0; i++) {
        const struct more *m = more_of(one.info_name, more, count);
        if (one.type == TAMIS_FIELD_MADE && m->make == NULL) continue; /* fields.py tells */
        all = cli_grow(all, known + 1, &room, sizeof *all);
        all[known++] = (struct field){.name = one.info_name,
                                      .type = m->make != NULL ? RECORD_MADE : RECORD_FIELD,
                                      .offset = offset,
                                      .field = one,
                                      .needs = m->needs,
                                      .loads = m->loads,
                                      .make = m->make,
                                      .human = m->human,
                                      .shown = m->shown};
    }
    return (struct fields){all, known};
}

static struct fields segment_fields(void)
{
    static struct fields fields; /* made once, and there to the end */
    if (fields.all == NULL)
        fields = fields_of(TAMIS_FIELDS_SEGMENT, 0, SEGMENT_MORE,
                           sizeof SEGMENT_MORE / sizeof *SEGMENT_MORE);
    return fields;
}

/* ---- A generation -------------------------------------------------------------------------- */

static json_t *generation_state_json(const void *generation)
{
    return json_text(generation_state(generation));
}

#define OF_GENERATION(how, member) RECORD_MEMBER(how, tamis_generation_stat, member)

static const struct field GENERATION_FIELDS[] = {
    {"generation", OF_GENERATION(U64, generation)},
    {"state", .make = generation_state_json},
    {"kind", OF_GENERATION(KIND, kind), .needs = GENERATION_BUILD},
    {"items", OF_GENERATION(U64, items)},
    {"fp_rate", OF_GENERATION(RATE, fp_rate)},
    {"segments", OF_GENERATION(U32, segment_count)},
    {"size_bytes", OF_GENERATION(U64, size_bytes)},
    {"found", OF_GENERATION(U64, exceptions)},
    {"published_at", OF_GENERATION(TIME, published_at)},
    {"key_digest", OF_GENERATION(DIGEST, key_digest), .needs = GENERATION_BUILD},
};

const char *generation_state(const struct tamis_generation_stat *stat)
{
    return stat->in_force ? "in-force" : "kept";
}

json_t *generation_json(const struct tamis_generation_stat *stat, unsigned holds)
{
    return record_json(FIELDS(GENERATION_FIELDS), holds, stat);
}

/* ---- Values of a filter that no member has -------------------------------------------------- */

static json_t *value_items_estimated(const void *record)
{
    const struct filter_view *view = record;
    uint64_t items = 0;
    for (uint32_t i = 0; i < view->stat.segment_count; i++)
        if (is_live(&view->segments[i])) items += view->segments[i].items_estimated;
    return json_unsigned(items);
}

static json_t *value_fill(const void *view)
{
    return json_rate(fill_of(view));
}

static json_t *value_fp_rate_now(const void *view)
{
    return json_rate(rate_now_of(view));
}

static json_t *value_segments(const void *record)
{
    const struct filter_view *view = record;
    json_t *array = json_array();
    for (uint32_t i = 0; i < view->stat.segment_count; i++) {
        const struct tamis_segment_stat *segment = &view->segments[i];
        const unsigned sliced = segment->slice_start != 0 ? SEGMENT_SLICED : 0;
        json_append(array, record_json(segment_fields(), view->holds | sliced, segment));
    }
    return array;
}

static json_t *value_shards(const void *record)
{
    const struct filter_view *view = record;
    return json_unsigned(view->shards);
}

static json_t *value_state(const void *record)
{
    const struct filter_view *view = record;
    char text[STATE_BYTES];
    return json_text(state_name(view->stat.state, text));
}

static json_t *value_window_from(const void *record)
{
    const struct filter_view *view = record;
    if (view->stat.slices == 0) return json_text("none");
    return json_text(view->stat.flags & TAMIS_FILTER_FROM_FIRST ? "first" : "last");
}

static const char FULL[] = "the filter holds as many keys as it was made for, or more, and its "
                           "rate rises with every further key; "
                           "make a filter of a greater capacity";
static const char REFUSES[] = "the filter holds as many keys as it was made for, and refuses more; "
                              "make a filter of a greater "
                              "capacity, or one that grows";
static const char SLICE_REFUSES[] =
    "the newest slice of the window holds its share of the keys, and refuses more until the next "
    "one begins; make a filter of a greater capacity, or one that grows";
static const char LOST_ROOM[] =
    "the filter holds fewer keys than it was made for, and refuses more, because adders that were "
    "killed, or are stopped, have taken room for the others; end what adds to it, then run 'tamis "
    "sync'";
static const char NO_DISK[] = "the filter takes no more keys, because the disk has no room for its "
                              "next segment; free some, and the next add goes on";
static const char NO_LOG[] =
    "the filter takes no more keys, because it is durable and the disk has "
    "no room for its log; free some, and the next add goes on";
static const char ESTIMATED[] =
    "the filter was merged, or imported from a format that does not say how many keys it holds, so "
    "items began with an estimate from the set bits";

static const char OVER[] = "the filter holds too many keys for its rate, so keys that were never "
                           "added seem present more often than was asked for; "
                           "from its keys, make a filter of a greater capacity, or one that grows";
static const char DAMAGED[] = "the filter is damaged, and its answers may be wrong; 'tamis verify' "
                              "says where, 'tamis repair' what can be done";
static const char UNCLEAN[] =
    "the machine went down, or a file was lost or is an older copy, so keys that were added since "
    "unclean_since may be missing (missing_keys of them are known to be); add them again and run "
    "'tamis sync --accept'";
static const char DEGRADED[] = "a sync has failed, so a power cut may lose keys; look at the disk "
                               "(dmesg), then run 'tamis sync'";

static const char AHEAD[] =
    "the newest slice of the window began in the future, so the clock was ahead, or is behind now; "
    "it takes all keys until that time, and is forgotten after it; set the clock, or begin a slice "
    "by 'tamis rotate'";

/* A slice that began a little ahead is ended by the next add (tamis-create(1)); until then, and for
 * a longer time, the note says so. */
static bool is_ahead(const struct filter_view *view)
{
    struct timespec now;
    const struct tamis_filter_stat *stat = &view->stat;
    if (view->segments == NULL || stat->window_ns == 0) return false;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return view->segments[stat->segment_count - 1].slice_start - now_ns >
           stat->window_ns / stat->slices;
}

/* Adds a note to *notes, unless it is there already. */
static void add_note(char **notes, const char *note)
{
    if (note == NULL || strstr(*notes, note) != NULL) return;
    char *longer = cli_format("%s%s%s", *notes, **notes ? "; " : "", note);
    free(*notes);
    *notes = longer;
}

/* Why the filter is full; NULL: it is not. */
static const char *fullness_note(const struct tamis_filter_stat *stat)
{
    if (!(stat->state & TAMIS_STATE_FULL)) return NULL;
    if (stat->lacks_bytes > 0) return stat->room > 0 ? NO_LOG : NO_DISK;
    if (stat->state & TAMIS_STATE_OVER) return NULL; /* that says more */
    if (stat->on_full != TAMIS_ON_FULL_REFUSE) return FULL;
    if (stat->slices > 0) return SLICE_REFUSES;
    return stat->room == 0 && stat->items < stat->capacity ? LOST_ROOM : REFUSES;
}

static json_t *value_note(const void *record)
{
    const struct filter_view *view = record;
    char *notes = cli_copy("", 0);
    if (view->stat.state & TAMIS_STATE_DAMAGED) add_note(&notes, DAMAGED);
    if (view->stat.state & TAMIS_STATE_OVER) add_note(&notes, OVER);
    add_note(&notes, fullness_note(&view->stat));
    if (view->stat.state & TAMIS_STATE_UNCLEAN) add_note(&notes, UNCLEAN);
    if (view->stat.state & TAMIS_STATE_DEGRADED) add_note(&notes, DEGRADED);
    if (is_ahead(view)) add_note(&notes, AHEAD);
    add_note(&notes, tamis_hash_set_weakness(view->stat.hash_set));
    for (uint32_t i = 0; view->segments != NULL && i < view->stat.segment_count; i++) {
        if (view->segments[i].flags & TAMIS_SEGMENT_ITEMS_ESTIMATED) add_note(&notes, ESTIMATED);
        add_note(&notes, tamis_hash_set_weakness(view->segments[i].hash_set));
    }
    json_t *note = json_text(notes);
    free(notes);
    return note;
}

static json_t *value_sealed(const void *record)
{
    const struct filter_view *view = record;
    unsigned sealed = 0;
    for (uint32_t i = 0; view->segments != NULL && i < view->stat.segment_count; i++)
        sealed += (view->segments[i].flags & TAMIS_SEGMENT_SEALED) != 0;
    return json_unsigned(sealed);
}

/* ---- Human forms -------------------------------------------------------------------------- */

static void human_bits(const void *record, char text[RECORD_HUMAN_BYTES])
{
    const struct filter_view *view = record;
    if (view->stat.counter_bits != 0)
        (void)snprintf(text, RECORD_HUMAN_BYTES, "counters of %u bits", view->stat.counter_bits);
    else if (view->stat.fingerprint_bits != 0)
        (void)snprintf(text, RECORD_HUMAN_BYTES, "fingerprints of %u bits",
                       view->stat.fingerprint_bits);
    else
        text_size(text, RECORD_HUMAN_BYTES, (double)view->stat.m_bits / 8);
}

/* By what is in: a filter that is half empty takes twice as many for each key that it has.  Left
 * out where it differs by less than a twentieth. */
static void human_bits_per_key(const void *record, char text[RECORD_HUMAN_BYTES])
{
    const struct filter_view *view = record;
    const struct tamis_filter_stat *stat = &view->stat;
    const double bits = (double)stat->m_bits * (stat->counter_bits ? stat->counter_bits : 1);
    const double filled = (double)stat->items / (double)stat->capacity;
    if (stat->items == 0 || fabs(filled - 1) < 0.05) return;
    (void)snprintf(text, RECORD_HUMAN_BYTES, "of the capacity; %.4g for each item",
                   bits / (double)stat->items);
}

static void human_size(const void *record, char text[RECORD_HUMAN_BYTES])
{
    const struct filter_view *view = record;
    text_size(text, RECORD_HUMAN_BYTES, (double)view->stat.size_bytes);
}

static void human_items(const void *record, char text[RECORD_HUMAN_BYTES])
{
    const struct filter_view *view = record;
    if (view->stat.capacity == 0) return;
    (void)snprintf(text, RECORD_HUMAN_BYTES, "%.1f %% of the capacity",
                   100 * order_used(&view->stat));
}

static void human_fill(const void *record, char text[RECORD_HUMAN_BYTES])
{
    const struct filter_view *view = record;
    (void)snprintf(text, RECORD_HUMAN_BYTES, "%.1f %% of the %s", 100 * fill_of(view),
                   view->stat.counter_bits != 0       ? "counters are above 0"
                   : view->stat.fingerprint_bits != 0 ? "fingerprints are not 0"
                                                      : "bits are set");
}

/* "1 in 30,700": three digits that count. */
static void one_in(double rate, char text[RECORD_HUMAN_BYTES])
{
    char count[TEXT_COUNT_BYTES];
    if (!(rate > 0 && rate < 1)) return;
    const double unit = pow(10, fmax(0, floor(log10(1 / rate)) - 2));
    if (rate < 1e-12) {
        (void)snprintf(text, RECORD_HUMAN_BYTES, "1 in %.3g", 1 / rate);
        return;
    }
    text_count(count, (uint64_t)(round(1 / rate / unit) * unit));
    (void)snprintf(text, RECORD_HUMAN_BYTES, "1 in %s", count);
}

static void human_fp_rate(const void *record, char text[RECORD_HUMAN_BYTES])
{
    const struct filter_view *view = record;
    one_in(view->stat.fp_rate, text);
}

static void human_fp_rate_now(const void *record, char text[RECORD_HUMAN_BYTES])
{
    const struct filter_view *view = record;
    one_in(rate_now_of(view), text);
}

static void human_window(const void *record, char text[RECORD_HUMAN_BYTES])
{
    const struct filter_view *view = record;
    const int64_t day_ns = INT64_C(86400) * 1000000000, ns = view->stat.window_ns;
    if (ns > 0 && ns % day_ns == 0)
        (void)snprintf(text, RECORD_HUMAN_BYTES, "%jd day%s", (intmax_t)(ns / day_ns),
                       text_plural((uint64_t)(ns / day_ns)));
    else if (ns >= INT64_C(60) * 1000000000)
        text_duration(text, RECORD_HUMAN_BYTES, (double)ns / 1e9);
}

static json_t *value_huge_bytes(const void *record)
{
    const struct filter_view *view = record;
    return json_unsigned(view->mapped.huge_bytes);
}

static void human_huge(const void *record, char text[RECORD_HUMAN_BYTES])
{
    const struct filter_view *view = record;
    char size[24];
    text_size(size, sizeof size, (double)view->mapped.present);
    (void)snprintf(text, RECORD_HUMAN_BYTES, "of %s in memory; wanted: %s", size,
                   tamis_pages_name(view->mapped.wanted));
}

static json_t *value_huge_note(const void *record)
{
    const struct filter_view *view = record;
    const struct tamis_filter_mapped *mapped = &view->mapped;
    const char *command = mapped->mend_command;
    char *why = mapped->obstacle == NULL
                    ? cli_strdup("")
                    : cli_format("%s; %s%s%s", mapped->obstacle, mapped->mend,
                                 command != NULL ? ": " : "", command != NULL ? command : "");
    char *note = finding_command(why, view->stat.name);
    free(why);
    json_t *value = json_text(note);
    free(note);
    return value;
}

/* ---- The table ---------------------------------------------------------------------------- */

static const struct more FILTER_MORE[] = {
    {"name", .shown = SHOWN_ALWAYS},
    {"state", .make = value_state, .shown = SHOWN_ALWAYS},
    {"items", .human = human_items, .shown = SHOWN_ALWAYS},
    {"fp_rate", .human = human_fp_rate, .shown = SHOWN_ALWAYS},
    {"fp_rate_now", .make = value_fp_rate_now, .loads = VIEW_FILL, .human = human_fp_rate_now,
     .shown = SHOWN_ALWAYS},
    {"kind", .shown = SHOWN_ALWAYS},
    {"hash_set", .shown = SHOWN_ALWAYS},
    {"capacity", .shown = SHOWN_ALWAYS},
    {"bits_per_key", .human = human_bits_per_key, .shown = SHOWN_ALWAYS},
    {"created_at", .shown = SHOWN_ALWAYS},
    {"generation", .shown = SHOWN_IF_PUBLISHED},
    {"published_at", .shown = SHOWN_IF_PUBLISHED},
    {"on_full", .shown = SHOWN_IF_DYNAMIC},
    {"window_seconds", .human = human_window, .shown = SHOWN_IF_SET},
    {"window_items", .shown = SHOWN_IF_SET},
    {"slices", .shown = SHOWN_IF_SET},
    {"live_slices", .shown = SHOWN_IF_SET},
    {"counter_bits", .shown = SHOWN_IF_SET},
    {"fingerprint_bits", .shown = SHOWN_IF_SET},
    {"exceptions", .shown = SHOWN_IF_SET},
    {"durable", .shown = SHOWN_IF_SET},
    {"key_rule", .shown = SHOWN_IF_SET},
    {"pages", .shown = SHOWN_IF_SET},
    {"unclean_since", .shown = SHOWN_IF_SET},
    {"degraded_since", .shown = SHOWN_IF_SET},
    {"m_bits", .human = human_bits},
    {"items_estimated", .make = value_items_estimated, .needs = VIEW_FILL, .loads = VIEW_FILL},
    {"fill", .make = value_fill, .needs = VIEW_FILL, .loads = VIEW_FILL, .human = human_fill},
    {"size_bytes", .human = human_size, .shown = SHOWN_ALWAYS},
    {"shards", .make = value_shards, .needs = VIEW_SHARDED, .shown = SHOWN_IF_SET},
    {"segments", .make = value_segments, .needs = VIEW_SEGMENTS, .loads = VIEW_FILL,
     .shown = SHOWN_IF_SET},
    {"sealed", .make = value_sealed, .needs = VIEW_SEGMENTS, .loads = VIEW_SEGMENTS,
     .shown = SHOWN_IF_SET},
    {"window_from", .make = value_window_from, .shown = SHOWN_IF_SET},
    {"huge_bytes", .make = value_huge_bytes, .needs = VIEW_MAPPED, .loads = VIEW_MAPPED,
     .human = human_huge},
    {"huge_note", .make = value_huge_note, .needs = VIEW_MAPPED, .loads = VIEW_MAPPED,
     .shown = SHOWN_IF_SET},
    {"imported_at", .needs = VIEW_IMPORTED, .shown = SHOWN_IF_SET},
    {"imported_from", .needs = VIEW_IMPORTED, .shown = SHOWN_IF_SET},
    {"imported_digest", .needs = VIEW_IMPORTED},
    {"imported_signed_at", .needs = VIEW_SIGNED, .shown = SHOWN_IF_SET},
    {"imported_signed_by", .needs = VIEW_SIGNED, .shown = SHOWN_IF_SET},
    {"imported_signed_comment", .needs = VIEW_SIGNED, .shown = SHOWN_IF_SET},
    {"missing_keys", .needs = VIEW_UNCLEAN, .shown = SHOWN_IF_SET},
    {"note", .make = value_note, .loads = VIEW_SEGMENTS, .shown = SHOWN_IF_SET},
};

const struct fields *view_fields(void)
{
    static struct fields fields; /* made once, and there to the end */
    if (fields.all == NULL)
        fields = fields_of(TAMIS_FIELDS_FILTER, offsetof(struct filter_view, stat), FILTER_MORE,
                           sizeof FILTER_MORE / sizeof *FILTER_MORE);
    return &fields;
}

const struct field *field_find(const char *name)
{
    const struct fields *fields = view_fields();
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(fields->all[i].name, name) == 0) return &fields->all[i];
    return NULL;
}

char *field_names(void)
{
    const struct fields *fields = view_fields();
    size_t bytes = 1;
    for (size_t i = 0; i < fields->count; i++)
        bytes += strlen(fields->all[i].name) + 1;
    char *names = cli_alloc(bytes);
    char *end = names;
    for (size_t i = 0; i < fields->count; i++)
        end += sprintf(end, "%s%s", i > 0 ? " " : "", fields->all[i].name);
    return names;
}

/* ---- Views -------------------------------------------------------------------------------- */

/* Where the system's table cannot be read, or the filter is too small to have huge pages, the
 * fields are left out. */
static int load_mapped(struct filter_view *view, tamis_filter *filter, unsigned loads)
{
    view->mapped.size = sizeof view->mapped;
    if ((loads & VIEW_MAPPED) == 0) return 0;
    const int rc = tamis_filter_mapped(filter, &view->mapped);
    if (rc == 0 && view->mapped.bytes >= HUGE_PAGE_BYTES) view->holds |= VIEW_MAPPED;
    return rc == TAMIS_EDROPPED ? rc : 0;
}

int view_load(struct filter_view *view, tamis_filter *filter, unsigned loads)
{
    *view = (struct filter_view){0};
    view->stat.size = sizeof view->stat;
    int rc = tamis_filter_stat(filter, &view->stat);
    if (view->stat.state & TAMIS_STATE_UNCLEAN) view->holds |= VIEW_UNCLEAN;
    if (view->stat.imported_at != 0) view->holds |= VIEW_IMPORTED;
    if (view->stat.imported_signed_by[0] != '\0') view->holds |= VIEW_SIGNED;
    if (rc < 0) return rc;
    if ((loads & ~VIEW_MAPPED) == 0) return load_mapped(view, filter, loads);
    view->segments = cli_alloc(view->stat.segment_count * sizeof *view->segments);
    for (uint32_t i = 0; i < view->stat.segment_count && rc == 0; i++) {
        view->segments[i].size = sizeof view->segments[i];
        rc = (loads & VIEW_FILL) != 0 ? tamis_filter_fill(filter, i, &view->segments[i])
                                      : tamis_filter_segment(filter, i, &view->segments[i]);
    }
    view->holds |= (loads & ~VIEW_MAPPED) | VIEW_SEGMENTS;
    return rc < 0 ? rc : load_mapped(view, filter, loads);
}

/* For a filter in shards, a server tells what can be summed up, and no segments. */
static int load_remote(struct filter_view *view, struct remote_filter *filter, unsigned loads)
{
    *view = (struct filter_view){.shards = remote_filter_shards(filter)};
    if (view->shards > 0) view->holds |= VIEW_SHARDED;
    if (view->shards > 0 || (loads & ~VIEW_MAPPED) == 0) return remote_stat(filter, &view->stat);
    view->holds |= (loads & ~VIEW_MAPPED) | VIEW_SEGMENTS;
    return remote_segments(filter, (loads & VIEW_FILL) != 0, &view->stat, &view->segments);
}

int view_of_call(const struct invocation *call, unsigned loads, struct filter_view *view)
{
    if (call->remote != NULL)
        return load_remote(view, call->remote, loads) < 0 ? CLI_ERROR : CLI_DONE;
    return view_load(view, call->filter, loads) < 0 ? cli_fail_library() : CLI_DONE;
}

void view_clear(struct filter_view *view)
{
    free(view->segments);
    *view = (struct filter_view){0};
}

json_t *view_json(const struct filter_view *view)
{
    return record_json(*view_fields(), view->holds, view);
}

int view_show_json(struct out *out, tamis_filter *filter, unsigned loads)
{
    struct filter_view view;
    if (view_load(&view, filter, loads) < 0) return cli_fail_library();
    json_print(out, view_json(&view));
    view_clear(&view);
    return CLI_DONE;
}

/* Growth and rotation make generations too, one a segment, and a window forgets its segments. */
bool view_was_published(const struct filter_view *view)
{
    const struct tamis_filter_stat *stat = &view->stat;
    return tamis_kind_has(stat->kind, TAMIS_KIND_IS_STATIC) ||
           (stat->slices == 0 && stat->generation > stat->segment_count);
}
