/* SPDX-License-Identifier: BSD-2-Clause */
/* run_several.c: operations that take several calls, and what is called back by them. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_api.h"

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
    if (w->inner != NULL && w->op->inner == 2) {
        unsigned char key[KEY_BYTES_MAX];
        const int added =
            tamis_filter_add(w->inner, key, key_of((uint32_t)w->op->number % 4096, key));
        w->out->counts[0] = added > 0;
        w->inner = NULL;
    }
}

int tell_filter(void *context, const struct tamis_filter_stat *stat)
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

int tell_problem(void *context, const struct tamis_problem *problem)
{
    struct world *w = context;
    look_at_locks(w);
    w->out->problems += problem->error != 0;
    if (problem->error == 0 && w->killed) return 0; /* what a process that died leaves looks odd */
    if (*w->out->trouble == '\0')
        (void)snprintf(w->out->trouble, sizeof w->out->trouble, "verify: %s: %s: %s",
                       problem->filter, problem->file, problem->reason);
    return 0;
}

int tell_step(void *context, const struct tamis_repair_step *step)
{
    struct world *w = context;
    if (step->error == 0 && w->killed) return 0; /* what a process that died was making goes */
    if (step->error != 0 || (w->op->flags & TAMIS_REPAIR_REBUILD) == 0)
        (void)snprintf(w->out->trouble, sizeof w->out->trouble, "repair: %s: %s", step->file,
                       step->what);
    return 0;
}

static int64_t last_share; /* of progress: done of all, in millionths */
int tell_progress(void *context, uint64_t done, uint64_t all)
{
    struct world *w = context;
    look_at_locks(w);
    if (done > all) trouble(w, "progress is past its end");
    last_share = all > 0 ? (int64_t)(done * 1000000 / all) : 1000000;
    return 0;
}

static int tell_phase(void *context, uint32_t phase, uint64_t done, uint64_t all)
{
    struct world *w = context;
    look_at_locks(w);
    if (phase > TAMIS_BUILD_PUBLISHING || (phase != TAMIS_BUILD_READING && done > all))
        trouble(w, "progress of a build is past its end");
    return 0;
}

int write_stream(void *context, const void *buffer, size_t bytes)
{
    struct world *w = context;
    const uint32_t which = w->op->stream;
    look_at_locks(w);
    unsigned char *more = realloc(w->streams[which].data, w->streams[which].bytes + bytes + 1);
    if (more == NULL) return TAMIS_ENOMEM;
    memcpy(more + w->streams[which].bytes, buffer, bytes);
    w->streams[which].data = more;
    w->streams[which].bytes += bytes;
    return 0;
}

static int64_t read_stream(void *context, void *buffer, size_t bytes)
{
    struct world *w = context;
    const uint32_t which = w->op->stream;
    const size_t left = w->streams[which].bytes - w->streams[which].at;
    look_at_locks(w);
    if (bytes > left) bytes = left;
    if (w->op->flags & 0x8000u && bytes > 77) bytes = 77; /* in small pieces */
    memcpy(buffer, w->streams[which].data + w->streams[which].at, bytes);
    w->streams[which].at += bytes;
    return (int64_t)bytes;
}

/* ---- Operations of several calls ---------------------------------------------------------------
 */

int64_t run_fill(struct world *w, tamis_filter *filter)
{
    int64_t rc = 0;
    for (uint32_t i = 0; rc >= 0 && i < SEGMENTS_MAX; i++) {
        struct tamis_segment_stat segment = {.size = sizeof segment};
        rc = tamis_filter_fill(filter, i, &segment);
        if (rc < 0) return i > 0 && rc == TAMIS_EINVAL ? 0 : rc;
        w->out->segment[i] = segment;
        w->out->segments = i + 1;
        rc = tamis_filter_fill_map(filter, i, w->out->parts[i], FILL_PARTS);
    }
    return rc;
}

int64_t run_read_data(struct world *w, tamis_filter *filter)
{
    size_t at = 0;
    free(w->data);
    w->data = NULL;
    for (uint32_t i = 0;; i++) {
        struct tamis_segment_stat segment = {.size = sizeof segment};
        int rc = tamis_filter_segment(filter, i, &segment);
        if (rc < 0) {
            w->out->data = w->data;
            return i > 0 && rc == TAMIS_EINVAL ? 0 : rc;
        }
        uint8_t *more = realloc(w->data, at + segment.data_bytes + 1);
        if (more == NULL) err(1, "realloc");
        w->data = more;
        const size_t half = (size_t)segment.data_bytes / 3; /* two pieces, not on a boundary */
        rc = tamis_filter_read_data(filter, i, 0, more + at, half);
        if (rc == 0)
            rc = tamis_filter_read_data(filter, i, half, more + at + half,
                                        (size_t)segment.data_bytes - half);
        if (rc < 0) return rc;
        at += segment.data_bytes;
        w->out->data_bytes = at;
    }
}

uint32_t explain(tamis_filter *filter, const struct tamis_segment_stat *like, uint32_t key,
                 uint64_t *positions)
{
    unsigned char bytes[KEY_BYTES_MAX];
    char hashes[64 * TAMIS_K_MAX];
    struct tamis_explanation e = {.size = sizeof e,
                                  .hashes = hashes,
                                  .hashes_bytes = sizeof hashes,
                                  .positions = positions,
                                  .positions_max = TAMIS_K_MAX};
    const size_t length = key_of(key, bytes);
    if (like->kind == TAMIS_KIND_BLOOM && strcmp(like->hash_set, "sip") != 0)
        return tamis_explain(like->hash_set, like->m_bits, like->k, like->seed, bytes, length, &e) <
                       0
                   ? 0
                   : (uint32_t)e.positions_count;
    for (uint32_t i = 0;; i++) {
        struct tamis_segment_stat segment = {.size = sizeof segment};
        if (filter == NULL || tamis_filter_segment(filter, i, &segment) < 0) return 0;
        if (segment.kind != like->kind || segment.m_bits != like->m_bits || segment.k != like->k ||
            segment.seed != like->seed)
            continue;
        return tamis_filter_explain(filter, i, bytes, length, &e) < 0 ? 0
                                                                      : (uint32_t)e.positions_count;
    }
}

/* The bits of the keys, set in the data of the first segment at once. */
int64_t run_write_data(struct world *w, tamis_filter *filter, const struct op_keys *keys)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    uint64_t positions[TAMIS_K_MAX];
    int64_t rc = tamis_filter_segment(filter, 0, &segment);
    if (rc < 0) return rc;
    const bool counts = segment.counter_bits != 0 || segment.fingerprint_bits != 0;
    uint8_t *data = calloc(segment.data_bytes + 8, 1);
    if (data == NULL) err(1, "calloc");
    for (uint32_t i = 0; !counts && i < keys->count; i++)
        for (uint32_t n = explain(filter, &segment, key_at(keys, i), positions); n > 0; n--) {
            const uint64_t bit = segment.bit_order != 0 ? positions[n - 1] ^ 7 : positions[n - 1];
            data[bit / 8] = (uint8_t)(data[bit / 8] | 1u << (bit % 8));
        }
    if (w->op->kind == OP_SET_BIT) {
        const uint32_t count = explain(filter, &segment, keys->from, positions);
        w->out->counts[0] = count > 0 ? positions[0] : 0;
        rc = tamis_filter_set_bit(filter, 0, w->out->counts[0]);
    } else {
        const size_t half = (size_t)segment.data_bytes / 2 + 3;
        rc = tamis_filter_write_data(filter, 0, 0, data,
                                     half < segment.data_bytes ? half : segment.data_bytes);
        if (rc == 0 && half < segment.data_bytes)
            rc = tamis_filter_write_data(filter, 0, half, data + half,
                                         (size_t)segment.data_bytes - half);
    }
    free(data);
    return rc;
}

int64_t run_build(struct world *w, tamis_store *store, const struct op *op)
{
    struct tamis_filter_spec filter = spec_of(op);
    const struct tamis_build_spec spec = {
        .size = sizeof spec,
        .filter = &filter,
        .memory_bytes = 1 << 20,
        .threads = 1 + op->keys.count % 2,
        .flags = op->flags & 3u,
        .keep = op->flags & TAMIS_BUILD_KEEP ? (uint32_t)op->number : 0,
        .progress = tell_phase,
        .context = w};
    tamis_build *build = NULL;
    int64_t rc = tamis_build_begin(store, names[op->name], &spec, &build);
    const uint32_t half = op->keys.count / 2;
    const struct tamis_key *keys = lists[0];
    if (rc == 0) rc = tamis_build_add(build, keys, half);
    if (rc == 0) rc = tamis_build_against(build, lists[1], op->against.count);
    if (rc == 0) rc = tamis_build_add(build, keys + half, op->keys.count - half);
    if (rc == 0) rc = tamis_build_except(build, lists[2], op->except.count);
    w->out->built.size = sizeof w->out->built;
    if (rc == 0) rc = tamis_build_publish(build, &w->out->built);
    tamis_build_close(build);
    if (rc >= 0 && tamis_filter_exceptions(store, names[op->name], tell_exception, w) < 0)
        trouble(w, "the exceptions of what was built");
    return rc;
}

int64_t run_import(struct world *w, tamis_store *store, const struct op *op, tamis_filter **filter)
{
    const uint32_t which = op->stream;
    const char *format = tamis_format_name(w->streams[which].format);
    const bool noted = (op->flags & 0x4000u) != 0, bare = strcmp(format, "redis-bitmap") == 0;
    const struct tamis_segment_stat *like = &w->streams[which].like;
    const struct tamis_import_spec spec = {
        .size = sizeof spec,
        .flags = op->flags & (TAMIS_IMPORT_OWNED | TAMIS_IMPORT_DURABLE),
        .hash_set = bare ? like->hash_set : NULL,
        .m_bits = bare ? like->m_bits : 0,
        .k = bare ? like->k : 0,
        .created_at = op->kind == OP_IMPORT && (op->flags & 0x1000u) != 0 ? 1111111111 : 0,
        .origin = noted ? "a stream" : NULL,
        .signed_at = noted ? 1234567890 : 0,
        .signed_by = noted ? "signer" : NULL,
        .signed_comment = noted ? "a comment" : NULL};
    const struct tamis_source source = {.size = sizeof source,
                                        .read = read_stream,
                                        .context = w,
                                        .bytes = op->flags & 0x2000u ? w->streams[which].bytes : 0};
    w->streams[which].at = 0;
    if (op->kind == OP_IMPORT)
        return tamis_filter_import(store, names[op->name], format, &spec, &source, filter);
    struct tamis_import_spec generation = spec;
    generation.flags = 0;
    const struct tamis_publish_spec publish = {
        .size = sizeof publish,
        .import = &generation,
        .except = lists[2],
        .except_count = op->except.count,
        .flags = op->flags & 7u,
        .keep = op->flags & TAMIS_PUBLISH_KEEP ? (uint32_t)op->number : 0};
    w->out->published.size = sizeof w->out->published;
    return tamis_filter_publish(store, names[op->name], format, &publish, &source,
                                &w->out->published);
}

int64_t run_merge(struct world *w, const struct op *op, tamis_filter *filter, tamis_store *store)
{
    tamis_filter *sources[] = {filter, w->filters[op->source], filter};
    const struct tamis_merge into = {.size = sizeof into,
                                     .sources = sources + 1,
                                     .count = 1,
                                     .flags = op->flags & 1u,
                                     .progress = tell_progress,
                                     .context = w};
    struct tamis_merge fresh = into;
    fresh.sources = sources;
    fresh.count = 3; /* the first one twice, which counts once */
    if (op->kind == OP_MERGE) return tamis_filter_merge(filter, &into);
    return tamis_filter_create_merged(store, names[op->name], &fresh, NULL);
}

int64_t run_backup(struct world *w, tamis_store *store)
{
    char copy[600], line[700];
    tamis_store *opened = NULL;
    (void)snprintf(copy, sizeof copy, "%s.copy", w->path);
    const int64_t rc = tamis_store_backup(store, copy, tell_progress, w);
    if (rc >= 0 && tamis_store_open(copy, TAMIS_READ_ONLY, &opened) < 0) trouble(w, "the copy");
    if (opened != NULL && tamis_store_verify(opened, NULL, tell_problem, w) != 0)
        trouble(w, "the copy");
    for (uint32_t i = 0; opened != NULL && i < NAMES;
         i++) { /* as full as the filter that it is of */
        struct tamis_segment_stat a = {.size = sizeof a}, b = {.size = sizeof b};
        tamis_filter *from = NULL, *to = NULL;
        if (tamis_filter_exists(store, names[i]) != 1) continue;
        if (tamis_filter_open(store, names[i], TAMIS_READ_ONLY, &from) < 0 ||
            tamis_filter_open(opened, names[i], 0, &to) < 0)
            trouble(w, "a filter of the copy");
        for (uint32_t j = 0; from != NULL && to != NULL && tamis_filter_fill(from, j, &a) == 0; j++)
            if (tamis_filter_fill(to, j, &b) < 0 || a.ones != b.ones || a.items != b.items ||
                a.seed != b.seed || a.capacity != b.capacity || a.slice != b.slice ||
                a.slice_start != b.slice_start)
                trouble(w, "a segment of the copy is another one");
        (void)tamis_filter_close(from);
        (void)tamis_filter_close(to);
    }
    tamis_store_close(opened);
    (void)snprintf(line, sizeof line, "rm -rf '%s'", copy);
    if (system(line) != 0) err(1, "%s", line); // NOLINT(cert-env33-c): a fixed command
    return rc;
}

/* Keys are added between two looks, of which the second one tells how many were new. */
int64_t run_watch(struct world *w, tamis_store *store, tamis_filter *filter)
{
    tamis_watch *watch = NULL;
    int64_t added = 0, rc = tamis_watch_new(store, NULL, &watch);
    for (int i = 0; rc == 0 && i < 2; i++) {
        w->out->listed = 0;
        if (i == 1)
            added = tamis_filter_add_batch(filter, lists[0], w->op->keys.count, w->out->answers);
        if (added < 0)
            (void)snprintf(w->out->sentence, sizeof w->out->sentence, "%s", tamis_last_error());
        rc = tamis_watch_look(watch, tell_filter, w);
    }
    tamis_watch_free(watch);
    return rc < 0 ? rc : added;
}

int64_t run_many(struct world *w, tamis_store *store, const struct op *op)
{
    const char *const both[] = {names[op->name], names[op->other]};
    int64_t created[] = {0, 0};
    const struct tamis_filter_spec spec = spec_of(op);
    if (op->kind == OP_CREATE_MANY)
        return tamis_filter_create_many(store, both, 2, &spec, op->flags & 1u);
    for (int i = 0; i < 2 && op->flags != 0; i++) {
        tamis_filter *filter = NULL;
        if (tamis_filter_exists(store, both[i]) != 1 ||
            tamis_filter_open(store, both[i], TAMIS_READ_ONLY, &filter) < 0)
            continue;
        created[i] = tamis_filter_created_at(filter) + (op->flags == 2 && i == 1);
        (void)tamis_filter_close(filter);
    }
    (void)w;
    return tamis_filter_drop_many(store, both, op->flags != 0 ? created : NULL, 2);
}

int64_t run_open_store(struct world *w, const struct op *op)
{
    const bool reads = op->store == STORES - 1;
    const struct tamis_store_options options = {.size = sizeof options,
                                                .flags = reads ? TAMIS_READ_ONLY : TAMIS_CREATE,
                                                .busy_timeout_ms = 120000};
    return op->number % 2 == 0 ? tamis_store_open(w->path, options.flags, &w->stores[op->store])
                               : tamis_store_open_with(w->path, &options, &w->stores[op->store]);
}

int64_t run_filled(tamis_store *store, const char *name, const struct tamis_filter_spec *spec,
                   size_t count)
{
    const struct tamis_filled filled = {
        .name = name, .spec = spec, .keys = lists[0], .key_count = count};
    return tamis_filter_create_filled(store, &filled, 1);
}

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

int64_t run_stat(struct world *w, tamis_filter *filter, struct outcome *out)
{
    const int64_t items = tamis_filter_items(filter);
    out->counts[0] = (uint64_t)items;
    out->stat.size = sizeof out->stat;
    const int rc = items < 0 ? (int)items : tamis_filter_stat(filter, &out->stat);
    struct tamis_segment_stat segment = {.size = sizeof segment};
    if (rc == 0) check_fields(w, TAMIS_FIELDS_FILTER, &out->stat, sizeof out->stat);
    if (rc == 0 && tamis_filter_segment(filter, 0, &segment) == 0)
        check_fields(w, TAMIS_FIELDS_SEGMENT, &segment, sizeof segment);
    struct tamis_filter_stat old = {
        .size = offsetof(struct tamis_filter_stat, keep)}; /* of an older program */
    old.keep = 77;
    if (rc == 0 &&
        (tamis_filter_stat(filter, &old) < 0 || old.keep != 77 || old.items != out->stat.items))
        trouble(w, "an older program's struct");
    if (rc == 0 && tamis_filter_created_at(filter) != out->stat.created_at)
        trouble(w, "created_at");
    return rc;
}

static int check_part(void *context, const void *buffer, size_t bytes)
{
    struct world *w = context;
    const uint32_t which = w->op->stream;
    const size_t end = w->streams[which].bytes;
    for (size_t i = 0; i < bytes; i++) {
        const size_t at = w->streams[which].at++;
        const unsigned char is = ((const unsigned char *)buffer)[i];
        if (at >= end || (is != w->streams[which].data[at] && (at + 16 < end || is != 0))) {
            trouble(w, "a part of a stream is not that of the whole");
            break;
        }
    }
    return 0;
}

/* The stream once more, in parts of some bytes: each is that part of the whole. */
static void check_parts(struct world *w, tamis_filter *filter, const char *format)
{
    const uint64_t whole = w->streams[w->op->stream].bytes, part = whole / 3 + 1;
    for (uint64_t from = 0; from < whole; from += part) {
        uint64_t all = 0;
        const struct tamis_sink sink = {.size = sizeof sink,
                                        .write = check_part,
                                        .context = w,
                                        .from = from,
                                        .bytes = part,
                                        .all_bytes = &all};
        w->streams[w->op->stream].at = (size_t)from;
        if (tamis_filter_export(filter, format, w->op->flags & 3u, &sink) < 0 || all != whole)
            trouble(w, "a part of a stream");
        const uint64_t to = from + part < whole ? from + part : whole;
        if (w->streams[w->op->stream].at != to) trouble(w, "a part of a stream is too short");
    }
}

int64_t run_export(struct world *w, tamis_filter *filter)
{
    const struct op *op = w->op;
    const struct tamis_sink sink = {.size = sizeof sink, .write = write_stream, .context = w};
    w->streams[op->stream].bytes = 0;
    w->streams[op->stream].format = op->format;
    w->streams[op->stream].like.size = sizeof w->streams[op->stream].like;
    int64_t rc = tamis_filter_segment(filter, 0, &w->streams[op->stream].like);
    if (rc == 0)
        rc = tamis_filter_export(filter, tamis_format_name(op->format), op->flags & 7u, &sink);
    if (rc < 0) w->streams[op->stream].bytes = 0;
    if (rc == 0 && op->fault == NO_FAULT && (op->flags & TAMIS_EXPORT_WITH_DIGEST) == 0)
        check_parts(w, filter, tamis_format_name(op->format));
    return rc;
}

int64_t run_list(struct world *w, tamis_store *store, const struct op *op)
{
    const char prefix[] = {names[op->name][0], '\0'}, *of = op->flags & 2u ? prefix : NULL;
    return (op->flags & 1u ? tamis_store_list_live : tamis_store_list)(store, of, tell_filter, w);
}

int64_t run_verify(struct world *w, tamis_store *store, const struct op *op)
{
    const struct tamis_verify_options options = {
        .size = sizeof options, .fn = tell_problem, .progress = tell_progress, .context = w};
    const char *of = op->flags & 1u ? names[op->name] : NULL;
    return op->flags & 2u ? tamis_store_verify_with(store, of, &options)
                          : tamis_store_verify(store, of, tell_problem, w);
}
