/* SPDX-License-Identifier: BSD-2-Clause */
/* run_several.c: operations that take several calls, and what is called back by them. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auto.h"
#include "run_api.h"
#include "scratch.h"

/* ---- What is called back -----------------------------------------------------------------------
 */

static void trouble(struct world *w, const char *what)
{
    if (*w->out->trouble == '\0')
        (void)snprintf(w->out->trouble, sizeof w->out->trouble, "%s: %s", what, tamis_last_error());
}

/* While something is called back no lock may be held: another process would wait for it. */
static void look_at_locks(struct world *w)
{
    static const char *const nobody[] = {"nobody"};
    if (w->op->inner == 0 || w->beside == NULL) return;
    if (tamis_filter_drop_many(w->beside, nobody, NULL, 1) < 0) trouble(w, "while it calls back");
}

static int tell_filter(void *context, const struct tamis_filter_stat *stat)
{
    struct world *w = context;
    look_at_locks(w);
    if (w->out->listed < NAMES + 1) w->out->list[w->out->listed++] = *stat;
    return 0;
}

int tell_generation(void *context, const struct tamis_generation_stat *stat)
{
    struct world *w = context;
    look_at_locks(w);
    if (w->out->generations < GENERATIONS_MAX) w->out->generation[w->out->generations++] = *stat;
    return 0;
}

int tell_exception(void *context, const struct tamis_key *key, uint64_t generation)
{
    struct world *w = context;
    unsigned char last[KEY_BYTES_MAX];
    struct outcome *out = w->out;
    look_at_locks(w);
    const uint32_t number = key_number(key->data, key->bytes);
    if (number == UINT32_MAX) trouble(w, "an exception that nobody set");
    if (out->exceptions > 0) {
        const size_t bytes = key_of(out->exception[out->exceptions - 1].key, last);
        const size_t both = bytes < key->bytes ? bytes : key->bytes;
        const int order = both > 0 ? memcmp(last, key->data, both) : 0;
        if (order > 0 || (order == 0 && bytes >= key->bytes)) trouble(w, "exceptions out of order");
    }
    if (out->exceptions < KEYS_MAX)
        out->exception[out->exceptions++] = (struct told_exception){number, generation};
    return 0;
}

/* What a process that died was making, and has left, may be told. */
static int tell_problem(void *context, const struct tamis_problem *problem)
{
    struct world *w = context;
    look_at_locks(w);
    w->out->problems += problem->error != 0;
    if ((problem->error != 0 || !w->killed) && *w->out->trouble == '\0')
        (void)snprintf(w->out->trouble, sizeof w->out->trouble, "verify: %s: %s: %s",
                       problem->filter, problem->file, problem->reason);
    return 0;
}

int tell_step(void *context, const struct tamis_repair_step *step)
{
    struct world *w = context;
    const bool usual = w->killed || (w->op->flags & TAMIS_REPAIR_REBUILD) != 0;
    if (step->error != 0 || !usual)
        (void)snprintf(w->out->trouble, sizeof w->out->trouble, "repair: %s: %s", step->file,
                       step->what);
    return 0;
}

static int tell_progress(void *context, uint64_t done, uint64_t all)
{
    look_at_locks(context);
    if (done > all) trouble(context, "progress is past its end");
    return 0;
}

static int tell_phase(void *context, uint32_t phase, uint64_t done, uint64_t all)
{
    look_at_locks(context);
    if (phase > TAMIS_BUILD_PUBLISHING || (phase != TAMIS_BUILD_READING && done > all))
        trouble(context, "progress of a build is past its end");
    return 0;
}

/* ---- Segments and their data -------------------------------------------------------------------
 */

/* Behind the last segment each call must say that there is none. */
static int64_t end_of(uint32_t segments, int64_t rc)
{
    return segments > 0 && rc == TAMIS_EINVAL ? 0 : rc;
}

int64_t run_fill(struct world *w, tamis_filter *filter)
{
    int64_t rc = 0;
    for (uint32_t i = 0; rc >= 0 && i < SEGMENTS_MAX; i++) {
        struct tamis_segment_stat segment = {.size = sizeof segment};
        rc = tamis_filter_fill(filter, i, &segment);
        if (rc < 0) return end_of(i, rc);
        w->out->segment[i] = segment;
        w->out->segments = i + 1;
        rc = tamis_filter_fill_map(filter, i, w->out->parts[i], FILL_PARTS);
    }
    return rc;
}

int64_t run_read_data(struct world *w, tamis_filter *filter)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    size_t at = 0;
    int rc = 0;
    uint32_t i = 0;
    for (; (rc = tamis_filter_segment(filter, i, &segment)) == 0; i++) {
        w->data = realloc(w->data, at + segment.data_bytes + 1);
        if (w->data == NULL) err(1, "realloc");
        const size_t part = (size_t)segment.data_bytes / 3; /* two pieces, not on a boundary */
        rc = tamis_filter_read_data(filter, i, 0, w->data + at, part);
        if (rc == 0)
            rc = tamis_filter_read_data(filter, i, part, w->data + at + part,
                                        (size_t)segment.data_bytes - part);
        if (rc < 0) return rc;
        at += segment.data_bytes;
    }
    w->out->data = w->data;
    w->out->data_bytes = at;
    return end_of(i, rc);
}

/* Which segment of the filter is like this one?  What they are is asked once an operation, as the
 * model asks for each key. */
static uint32_t find_alike(struct world *w, tamis_filter *filter,
                           const struct tamis_segment_stat *like)
{
    if (w->alike_of != filter) {
        struct tamis_segment_stat is = {.size = sizeof is};
        w->alike_of = filter;
        w->alike_count = 0;
        while (filter != NULL && tamis_filter_segment(filter, w->alike_count, &is) == 0)
            w->alike[w->alike_count++] = is;
    }
    uint32_t i = 0;
    for (; i < w->alike_count; i++) {
        const struct tamis_segment_stat *is = &w->alike[i];
        if (is->kind == like->kind && is->m_bits == like->m_bits && is->k == like->k &&
            is->seed == like->seed)
            break;
    }
    return i;
}

uint32_t explain(struct world *w, tamis_filter *filter, const struct tamis_segment_stat *like,
                 uint32_t key, uint64_t *positions)
{
    unsigned char bytes[KEY_BYTES_MAX];
    char hashes[64 * TAMIS_K_MAX];
    struct tamis_explanation e = {.size = sizeof e,
                                  .hashes = hashes,
                                  .hashes_bytes = sizeof hashes,
                                  .positions = positions,
                                  .positions_max = TAMIS_K_MAX};
    const size_t length = key_of(key, bytes);
    int rc = TAMIS_EINVAL;
    if (like->kind == TAMIS_KIND_BLOOM && strcmp(like->hash_set, "sip") != 0)
        rc = tamis_explain(like->hash_set, like->m_bits, like->k, like->seed, bytes, length, &e);
    else if (filter != NULL)
        rc = tamis_filter_explain(filter, find_alike(w, filter, like), bytes, length, &e);
    return rc < 0 ? 0 : (uint32_t)e.positions_count;
}

/* The bits of the keys, set in the data of the first segment at once; or one bit. */
int64_t run_write_data(struct world *w, tamis_filter *filter)
{
    const struct op_keys *keys = &w->op->keys;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    uint64_t positions[TAMIS_K_MAX];
    int64_t rc = tamis_filter_segment(filter, 0, &segment);
    if (rc < 0) return rc;
    if (w->op->kind == OP_SET_BIT) {
        const uint32_t count = explain(w, filter, &segment, keys->from, positions);
        w->out->counts[0] = count > 0 ? positions[0] : 0;
        return tamis_filter_set_bit(filter, 0, w->out->counts[0]);
    }
    const bool counts = segment.counter_bits != 0 || segment.fingerprint_bits != 0;
    const size_t bytes = (size_t)segment.data_bytes,
                 part = bytes / 2 + 3 < bytes ? bytes / 2 + 3 : bytes;
    uint8_t *data = calloc(bytes + 8, 1);
    if (data == NULL) err(1, "calloc");
    for (uint32_t i = 0; !counts && i < keys->count; i++)
        for (uint32_t n = explain(w, filter, &segment, key_at(keys, i), positions); n > 0; n--) {
            const uint64_t bit = segment.bit_order != 0 ? positions[n - 1] ^ 7 : positions[n - 1];
            data[bit / 8] = (uint8_t)(data[bit / 8] | 1u << (bit % 8));
        }
    rc = tamis_filter_write_data(filter, 0, 0, data, part);
    if (rc == 0 && part < bytes)
        rc = tamis_filter_write_data(filter, 0, part, data + part, bytes - part);
    free(data);
    return rc;
}

/* ---- Builds and merges -------------------------------------------------------------------------
 */

int64_t run_build(struct world *w, tamis_store *store)
{
    const struct op *op = w->op;
    const struct tamis_filter_spec filter = spec_of(op);
    const struct tamis_build_spec spec = {
        .size = sizeof spec,
        .filter = &filter,
        .memory_bytes = 1 << 20,
        .threads = 1 + op->keys.count % 2,
        .flags = op->flags & (TAMIS_BUILD_IF_CHANGED | TAMIS_BUILD_KEEP),
        .keep = op->flags & TAMIS_BUILD_KEEP ? (uint32_t)op->number : 0,
        .progress = tell_phase,
        .context = w};
    const uint32_t half = op->keys.count / 2;
    tamis_build *build = NULL;
    int64_t rc = tamis_build_begin(store, names[op->name], &spec, &build);
    if (rc == 0) rc = tamis_build_add(build, lists[0], half);
    if (rc == 0) rc = tamis_build_against(build, lists[1], op->against.count);
    if (rc == 0) rc = tamis_build_add(build, lists[0] + half, op->keys.count - half);
    if (rc == 0) rc = tamis_build_except(build, lists[2], op->except.count);
    w->out->built.size = sizeof w->out->built;
    if (rc == 0) rc = tamis_build_publish(build, &w->out->built);
    tamis_build_close(build);
    if (rc >= 0 && tamis_filter_exceptions(store, names[op->name], tell_exception, w) < 0) {
        w->out->exceptions = 0; /* the fault came here, and comes once */
        if (tamis_filter_exceptions(store, names[op->name], tell_exception, w) < 0)
            trouble(w, "the exceptions of what was built");
    }
    return rc;
}

/* Into the filter; or, with a store, into a new one, to which the first source is given twice. */
int64_t run_merge(struct world *w, tamis_filter *filter, tamis_store *store)
{
    tamis_filter *sources[] = {filter, w->filters[w->op->source], filter};
    const struct tamis_merge merge = {.size = sizeof merge,
                                      .sources = store != NULL ? sources : sources + 1,
                                      .count = store != NULL ? 3 : 1,
                                      .flags = w->op->flags & TAMIS_MERGE_INTERSECT,
                                      .progress = tell_progress,
                                      .context = w};
    return store == NULL ? tamis_filter_merge(filter, &merge)
                         : tamis_filter_create_merged(store, names[w->op->name], &merge, NULL);
}

/* ---- Streams -----------------------------------------------------------------------------------
 */

static struct bytes *stream_of(struct world *w)
{
    return &w->streams[w->op->stream];
}

static int write_stream(void *context, const void *buffer, size_t bytes)
{
    struct bytes *stream = stream_of(context);
    look_at_locks(context);
    unsigned char *more = realloc(stream->data, stream->bytes + bytes + 1);
    if (more == NULL) return TAMIS_ENOMEM;
    memcpy(more + stream->bytes, buffer, bytes);
    stream->data = more;
    stream->bytes += bytes;
    return 0;
}

static int64_t read_stream(void *context, void *buffer, size_t bytes)
{
    const struct world *w = context;
    struct bytes *stream = stream_of(context);
    const size_t left = stream->bytes - stream->at;
    look_at_locks(context);
    if (bytes > left) bytes = left;
    if (w->op->flags & IN_PIECES && bytes > 77) bytes = 77;
    memcpy(buffer, stream->data + stream->at, bytes);
    stream->at += bytes;
    return (int64_t)bytes;
}

int64_t run_import(struct world *w, tamis_store *store, tamis_filter **filter)
{
    const struct op *op = w->op;
    struct bytes *stream = stream_of(w);
    const char *format = tamis_format_name(stream->format);
    const bool noted = (op->flags & WITH_NOTES) != 0, bare = strcmp(format, "redis-bitmap") == 0,
               publishes = op->kind == OP_PUBLISH;
    const struct tamis_import_spec spec = {
        .size = sizeof spec,
        .flags = publishes ? 0 : op->flags & (TAMIS_IMPORT_OWNED | TAMIS_IMPORT_DURABLE),
        .hash_set = bare ? stream->like.hash_set : NULL,
        .m_bits = bare ? stream->like.m_bits : 0,
        .k = bare ? stream->like.k : 0,
        .created_at = !publishes && (op->flags & OF_A_DATE) != 0 ? THE_DATE : 0,
        .origin = noted ? "a stream" : NULL,
        .signed_at = noted ? 1234567890 : 0,
        .signed_by = noted ? "signer" : NULL,
        .signed_comment = noted ? "a comment" : NULL};
    const struct tamis_source source = {.size = sizeof source,
                                        .read = read_stream,
                                        .context = w,
                                        .bytes = op->flags & OF_KNOWN_SIZE ? stream->bytes : 0};
    const struct tamis_publish_spec publish = {
        .size = sizeof publish,
        .import = &spec,
        .except = lists[2],
        .except_count = op->except.count,
        .flags = op->flags & (TAMIS_PUBLISH_IF_CHANGED | TAMIS_PUBLISH_KEEP | TAMIS_PUBLISH_NEWER),
        .keep = op->flags & TAMIS_PUBLISH_KEEP ? (uint32_t)op->number : 0};
    stream->at = 0;
    w->out->published.size = sizeof w->out->published;
    return publishes ? tamis_filter_publish(store, names[op->name], format, &publish, &source,
                                            &w->out->published)
                     : tamis_filter_import(store, names[op->name], format, &spec, &source, filter);
}

static int check_part(void *context, const void *buffer, size_t bytes)
{
    struct bytes *stream = stream_of(context);
    const unsigned char *is = buffer;
    for (size_t i = 0; i < bytes; i++, stream->at++) {
        const size_t at = stream->at, end = stream->bytes;
        if (at < end && (is[i] == stream->data[at] || (at + 16 >= end && is[i] == 0))) continue;
        trouble(context, "a part of a stream is not that of the whole");
        break;
    }
    return 0;
}

/* The stream once more, in parts of some bytes: each is that part of the whole. */
static void check_parts(struct world *w, tamis_filter *filter, const char *format)
{
    struct bytes *stream = stream_of(w);
    const uint64_t whole = stream->bytes, part = whole / 3 + 1;
    for (uint64_t from = 0; from < whole; from += part) {
        uint64_t all = 0;
        const struct tamis_sink sink = {.size = sizeof sink,
                                        .write = check_part,
                                        .context = w,
                                        .from = from,
                                        .bytes = part,
                                        .all_bytes = &all};
        stream->at = (size_t)from;
        if (tamis_filter_export(filter, format, w->op->flags & ~(uint32_t)TAMIS_EXPORT_WITH_DIGEST,
                                &sink) < 0 ||
            all != whole)
            trouble(w, "a part of a stream");
        if (stream->at != (from + part < whole ? from + part : whole))
            trouble(w, "a part of a stream is too short");
    }
}

int64_t run_export(struct world *w, tamis_filter *filter)
{
    const struct op *op = w->op;
    const char *format = tamis_format_name(op->format);
    const struct tamis_sink sink = {.size = sizeof sink, .write = write_stream, .context = w};
    struct bytes *stream = stream_of(w);
    stream->bytes = 0;
    stream->format = op->format;
    stream->like.size = sizeof stream->like;
    int64_t rc = tamis_filter_segment(filter, 0, &stream->like);
    if (rc == 0) rc = tamis_filter_export(filter, format, op->flags, &sink);
    if (rc < 0) stream->bytes = 0;
    if (rc == 0 && op->fault == NO_FAULT && (op->flags & TAMIS_EXPORT_WITH_DIGEST) == 0)
        check_parts(w, filter, format);
    return rc;
}

/* ---- Stores ------------------------------------------------------------------------------------
 */

/* A filter of the copy is as full as the filter that it is of. */
static void check_copy(struct world *w, tamis_filter *from, tamis_filter *to)
{
    struct tamis_segment_stat a = {.size = sizeof a}, b = {.size = sizeof b};
    for (uint32_t i = 0; tamis_filter_fill(from, i, &a) == 0; i++)
        if (tamis_filter_fill(to, i, &b) < 0 || a.ones != b.ones || a.items != b.items ||
            a.seed != b.seed || a.capacity != b.capacity || a.slice != b.slice ||
            a.slice_start != b.slice_start)
            trouble(w, "a segment of the copy is another one");
}

int64_t run_backup(struct world *w, tamis_store *store)
{
    char path[600], partial[620];
    tamis_store *copy = NULL;
    (void)snprintf(path, sizeof path, "%s.copy", w->path);
    (void)snprintf(partial, sizeof partial, "%s.partial", path);
    const struct tamis_backup_options options = {
        .size = sizeof options, .progress = tell_progress, .context = w};
    struct tamis_backup_result again = {.size = sizeof again};
    const int64_t rc = tamis_store_backup(store, path, tell_progress, w);
    if (rc >= 0 && (tamis_store_backup_with(store, path, &options, &again) != rc ||
                    again.filters != (uint64_t)rc))
        trouble(w, "a second backup");
    if (rc >= 0 && (tamis_store_open(path, TAMIS_OPEN_READ_ONLY, &copy) < 0 ||
                    tamis_store_verify(copy, NULL, tell_problem, w) != 0))
        trouble(w, "the copy");
    if (access(partial, F_OK) == 0) trouble(w, "a part of a copy is left");
    for (uint32_t i = 0; copy != NULL && i < NAMES; i++) {
        tamis_filter *from = NULL, *to = NULL;
        if (tamis_filter_exists(store, names[i]) != 1) continue;
        if (tamis_filter_open(store, names[i], TAMIS_OPEN_READ_ONLY, &from) < 0 ||
            tamis_filter_open(copy, names[i], 0, &to) < 0)
            trouble(w, "a filter of the copy");
        else
            check_copy(w, from, to);
        close_anyhow(from);
        close_anyhow(to);
    }
    tamis_store_close(copy);
    scratch_remove(path);
    return rc;
}

/* Keys are added between two looks, of which the second one tells how many were new. */
int64_t run_watch(struct world *w, tamis_store *store, tamis_filter *filter)
{
    tamis_watch *watch = NULL;
    int64_t added = 0, rc = tamis_watch_new(store, NULL, &watch);
    if (rc == 0) rc = tamis_watch_look(watch, tell_filter, w);
    if (rc == 0)
        added = tamis_filter_add_batch(filter, lists[0], w->op->keys.count, w->out->answers);
    if (added < 0)
        (void)snprintf(w->out->sentence, sizeof w->out->sentence, "%s", tamis_last_error());
    w->out->listed = 0;
    if (rc == 0) rc = tamis_watch_look(watch, tell_filter, w);
    tamis_watch_free(watch);
    return rc < 0 ? rc : added;
}

/* Two filters are made, or dropped: by name, if they were created then, or if one was not. */
/* What would be made of the spec, and, as a count, whether it would go on in another segment. */
int64_t run_check_spec(struct world *w, const char *name, const struct tamis_filter_spec *spec)
{
    struct tamis_sizing next = {.size = sizeof next};
    w->out->plan.size = sizeof w->out->plan;
    int rc = tamis_filter_check(w->path, name, spec);
    if (rc == 0 && tamis_filter_plan(spec, 0, &w->out->plan) != 1)
        trouble(w, "no plan of the spec");
    if (rc == 0) rc = tamis_filter_plan(spec, 1, &next);
    w->out->counts[0] = rc > 0 ? next.capacity : 0;
    return rc < 0 ? rc : 0;
}

/* The answers of this filter, and behind them those of the other. */
int64_t run_ask_several(struct world *w, tamis_filter *filter)
{
    tamis_filter *const both[] = {filter, w->filters[w->op->source]};
    return tamis_filters_contains_batch(both, 2, lists[0], w->op->keys.count, w->out->answers);
}

int64_t run_many(struct world *w, tamis_store *store)
{
    const struct op *op = w->op;
    const char *const both[] = {names[op->name], names[op->other]};
    const struct tamis_filter_spec spec = spec_of(op);
    int64_t created[] = {0, 0};
    if (op->kind == OP_CREATE_MANY)
        return tamis_filter_create_many(store, both, 2, &spec, op->flags & TAMIS_MANY_IF_MISSING);
    for (int i = 0; i < 2 && op->flags != 0; i++) {
        tamis_filter *filter = NULL;
        if (tamis_filter_exists(store, both[i]) != 1 ||
            tamis_filter_open(store, both[i], TAMIS_OPEN_READ_ONLY, &filter) < 0)
            continue;
        created[i] = tamis_filter_created_at(filter) + (op->flags == 2 && i == 1);
        close_anyhow(filter);
    }
    return tamis_filter_drop_many(store, both, op->flags != 0 ? created : NULL, 2);
}

int64_t run_list(struct world *w, tamis_store *store)
{
    const char prefix[] = {names[w->op->name][0], '\0'};
    const char *of = w->op->flags & 2u ? prefix : NULL;
    return (w->op->flags & 1u ? tamis_store_list_live : tamis_store_list)(store, of, tell_filter,
                                                                          w);
}

int64_t run_verify(struct world *w, tamis_store *store)
{
    const struct tamis_verify_options options = {
        .size = sizeof options, .fn = tell_problem, .progress = tell_progress, .context = w};
    const char *of = w->op->flags & 1u ? names[w->op->name] : NULL;
    return w->op->flags & 2u ? tamis_store_verify_with(store, of, &options)
                             : tamis_store_verify(store, of, tell_problem, w);
}

/* ---- Fields ------------------------------------------------------------------------------------
 */

/* Every field of a struct, taken out by its table and put into an empty one. */
static void check_fields(struct world *w, uint32_t of, const void *record, size_t bytes)
{
    struct tamis_field field = {.size = sizeof field};
    struct tamis_field_value value = {.size = sizeof value}, again = value;
    union {
        struct tamis_filter_stat filter;
        struct tamis_segment_stat segment;
        size_t size;
    } copy;
    memset(&copy, 0, sizeof copy);
    copy.size = bytes;
    uint32_t count = 0;
    for (; tamis_field(of, TAMIS_SHOWN_ANYWHERE, count, &field) > 0; count++) {
        if (*field.sentence == '\0' || field.type == TAMIS_FIELD_WORD ||
            tamis_field_get(&field, record, &value) <= 0)
            continue;
        if (tamis_field_set(&field, &copy, &value) <= 0 ||
            tamis_field_get(&field, &copy, &again) <= 0 ||
            (field.type == TAMIS_FIELD_TEXT && strcmp(value.text, again.text) != 0) ||
            value.number != again.number || value.ns != again.ns ||
            /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
            memcmp(&value.real, &again.real, sizeof value.real) != 0) /* not a number, too */
            trouble(w, field.name);
    }
    if (count < (of == TAMIS_FIELDS_FILTER ? 40 : 25)) trouble(w, "the table lacks fields");
    if (tamis_field(of, TAMIS_SHOWN_BY_INFO, count, &field) != 0)
        trouble(w, "the table has no end");
}

int64_t run_stat(struct world *w, tamis_filter *filter)
{
    struct tamis_filter_stat *stat = &w->out->stat;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    /* Of an older program, whose struct ends before `keep`. */
    struct tamis_filter_stat old = {.size = offsetof(struct tamis_filter_stat, keep), .keep = 77};
    const int64_t items = tamis_filter_items(filter);
    w->out->counts[0] = (uint64_t)items;
    stat->size = sizeof *stat;
    const int rc = items < 0 ? (int)items : tamis_filter_stat(filter, stat);
    if (rc < 0) return rc;
    check_fields(w, TAMIS_FIELDS_FILTER, stat, sizeof *stat);
    if (tamis_filter_segment(filter, 0, &segment) == 0)
        check_fields(w, TAMIS_FIELDS_SEGMENT, &segment, sizeof segment);
    if (tamis_filter_stat(filter, &old) < 0 || old.keep != 77 || old.items != stat->items)
        trouble(w, "an older program's struct");
    if (tamis_filter_created_at(filter) != stat->created_at) trouble(w, "created_at");
    if (tamis_filter_store(filter) == NULL) trouble(w, "the store of a filter");
    return rc;
}
