/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create.c: from a spec to a filter in the store.
 *
 * The segment is staged before the catalog's exclusive lock is taken (allocating may take long),
 * then named and entered under it.  Whatever fails on the way is undone; what a crash leaves is
 * swept by the next maker (segment.h).
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hash/hash_set.h"
#include "store.h"

/* Explicit geometry: m and k are given, n or p or neither. */
static int plan_geometry(const struct tamis_filter_spec *spec, struct tamis_sizing *sizing)
{
    const double rate = tamis_predict_rate(TAMIS_KIND_BLOOM, spec->m_bits, spec->k, spec->capacity);
    if (spec->k == 0 || spec->k > TAMIS_K_MAX || spec->m_bits == 0)
        return tamis__fail(
            TAMIS_EINVAL,
            "an explicit geometry needs m of at least 1 bit and k of 1 to %d hashes, "
            "not m = %llu and k = %u",
            TAMIS_K_MAX, (unsigned long long)spec->m_bits, spec->k);
    if (sizing->kind != TAMIS_KIND_BLOOM)
        return tamis__fail(TAMIS_EINVAL,
                           "an explicit geometry is for kind bloom; give a capacity and a rate for "
                           "kind %s",
                           tamis_kind_name(sizing->kind));
    if (spec->capacity != 0 && spec->fp_rate != 0 && rate > spec->fp_rate)
        return tamis__fail(
            TAMIS_EINVAL,
            "m = %llu and k = %u hold %llu keys at a rate of %.3g, not %g; give more "
            "bits or a greater rate",
            (unsigned long long)spec->m_bits, spec->k, (unsigned long long)spec->capacity, rate,
            spec->fp_rate);
    sizing->m_bits = spec->m_bits;
    sizing->k = spec->k;
    return 0;
}

int tamis__plan_filter(const struct tamis_filter_spec *spec, struct tamis__plan *plan)
{
    char quoted[TAMIS__QUOTED_BYTES];
    struct tamis_sizing *sizing = &plan->sizing;
    const bool explicit_geometry = spec->m_bits != 0 || spec->k != 0;
    const char *set_name = spec->hash_set ? spec->hash_set : "xxh3";
    const struct tamis__hash_set *set = tamis__hash_set_by_name(set_name);
    *plan = (struct tamis__plan){.seed = spec->seed, .explicit_geometry = explicit_geometry};
    for (size_t i = 0; i < sizeof spec->reserved / sizeof spec->reserved[0]; i++)
        if (spec->reserved[i] != 0)
            return tamis__fail(TAMIS_EINVAL,
                               "a reserved field of the spec is not 0; clear the struct");
    sizing->kind = spec->kind;
    if (spec->kind == TAMIS_KIND_DEFAULT)
        sizing->kind = explicit_geometry ? TAMIS_KIND_BLOOM : TAMIS_KIND_BLOCKED;
    if (set == NULL) return TAMIS_EINVAL;
    plan->hash_set = set->id;
    if (tamis__kind_by_id(sizing->kind) == NULL)
        return tamis__fail(TAMIS_EINVAL, "there is no kind of number %u", sizing->kind);
    if (sizing->kind != TAMIS_KIND_BLOOM && set->id != TAMIS__HASH_XXH3)
        return tamis__fail(TAMIS_EUNSUPPORTED, "hash set %s goes with kind bloom only",
                           tamis__quote(quoted, set_name));
    if (spec->capacity == 0 && !explicit_geometry)
        return tamis__fail(TAMIS_EINVAL,
                           "capacity 0 is out of range; give the number of distinct keys to hold, "
                           "from 1 to %llu",
                           (unsigned long long)TAMIS__CAPACITY_MAX);
    sizing->capacity = spec->capacity;
    sizing->fp_rate = spec->fp_rate;
    if (spec->fp_rate != 0 && !tamis__rate_is_valid(spec->fp_rate)) /* tamis_size says it better */
        return tamis_size(sizing);
    if (explicit_geometry) {
        const int rc = plan_geometry(spec, sizing);
        if (rc < 0) return rc;
    } else if (spec->fp_rate == 0) {
        sizing->fp_rate = TAMIS_FP_RATE_DEFAULT;
    }
    const int rc = tamis_size(sizing);
    /* The least that a file can hold: a huge m with few keys underflows to a rate of 0. */
    if (rc == 0 && sizing->fp_rate == 0) sizing->fp_rate = TAMIS_FP_RATE_MIN;
    return rc;
}

/* Open the directory, or the nearest above it that is there. */
static int open_nearest(const char *path, int *fd)
{
    char *copy = strdup(path);
    if (copy == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for the path %s", path);
    int rc;
    for (;;) {
        char *absolute = NULL;
        rc = tamis__absolute_path(*copy ? copy : "/", &absolute);
        if (rc == 0) rc = tamis__open(AT_FDCWD, absolute, O_RDONLY | O_DIRECTORY, 0, absolute, fd);
        free(absolute);
        char *slash = strrchr(copy, '/');
        if (rc != TAMIS_ENOTFOUND || (slash == NULL && strcmp(copy, ".") == 0)) break;
        if (slash != NULL)
            *slash = '\0';
        else
            (void)strcpy(copy, "."); /* a path has at least one byte */
    }
    free(copy);
    return rc;
}

static int check_room(int dir_fd, uint64_t file_bytes, const char *name)
{
    char quoted[TAMIS__QUOTED_BYTES], what[TAMIS__QUOTED_BYTES + 16];
    (void)snprintf(what, sizeof what, "the filter %s", tamis__quote(quoted, name));
    return tamis__check_room(dir_fd, file_bytes, what);
}

TAMIS_API int tamis_filter_check(const char *store_path, const char *name,
                                 const struct tamis_filter_spec *spec)
{
    struct tamis__plan plan;
    int fd = -1, rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__plan_filter(spec, &plan);
    if (rc < 0 || store_path == NULL) return rc;
    rc = open_nearest(store_path, &fd);
    if (rc < 0) return rc;
    rc = check_room(fd, plan.sizing.file_bytes, name);
    tamis__close(fd);
    return rc;
}

static void fill_header(const struct tamis_store *store, const char *name,
                        const struct tamis__plan *plan, struct tamis__segment_header *header)
{
    struct tamis__layout layout;
    const struct tamis_sizing *sizing = &plan->sizing;
    tamis__layout(sizing->m_bits, &layout);
    memset(header, 0, sizeof *header);
    memcpy(header->magic, TAMIS__SEGMENT_MAGIC, sizeof header->magic);
    header->format_version = TAMIS__FORMAT_VERSION;
    header->header_bytes = TAMIS__HEADER_BYTES;
    header->store_id = store->store_id;
    header->kind = sizing->kind;
    header->hash_set = plan->hash_set;
    header->seed = plan->seed;
    header->m_bits = sizing->m_bits;
    header->k = sizing->k;
    header->words = sizing->words;
    header->capacity = sizing->capacity;
    header->fp_rate = tamis__double_to_bits(sizing->fp_rate);
    header->data_offset = layout.data_offset;
    header->data_bytes = layout.data_bytes;
    header->file_bytes = layout.file_bytes;
    header->created_at = tamis__now_ns();
    header->bit_order = TAMIS__BITS_LSB_FIRST;
    header->stripes = TAMIS__STRIPES;
    header->generation = 1;
    tamis__label_write(&header->labels[0], 1, name);
}

/*
 * The next segment number that is free.  A file that has it already is an orphan of a maker that died
 * before its commit, and is removed if nothing was ever added to it.  Otherwise this catalog is older
 * than its segments (restored from a copy): the file is left alone, and ids go on above its own.
 */
static int take_number(struct tamis_store *store, struct tamis__store_record *counters,
                       uint64_t *number)
{
    for (;;) {
        uint64_t filter_id = 0;
        *number = counters->next_segment++;
        const int rc = tamis__segment_vacate(&store->place, *number, &filter_id);
        if (rc != 0) return rc < 0 ? rc : 0;
        if (filter_id >= counters->next_filter_id) counters->next_filter_id = filter_id + 1;
    }
}

/* Under the exclusive lock: give the staged segment its number and name, enter it, commit. */
static int enter(struct tamis_store *store, struct tamis__catalog_txn *txn, const char *name,
                 struct tamis__segment_header *header, struct tamis__staged *staged,
                 tamis_filter **filter)
{
    struct tamis__record record;
    struct tamis__store_record *counters = tamis__catalog_store(txn);
    int rc = tamis__catalog_get(txn, name, &record);
    if (rc == 0) return tamis__fail_exists(name);
    if (rc != TAMIS_ENOTFOUND) return rc;
    rc = take_number(store, counters, &header->number);
    if (rc < 0) return rc;
    header->filter_id = counters->next_filter_id++;
    rc = tamis__segment_publish(&store->place, staged, header);
    if (rc < 0) return rc;
    record = (struct tamis__record){.filter_id = header->filter_id,
                                    .name_sequence = 1,
                                    .generation = 1,
                                    .capacity = header->capacity,
                                    .fp_rate = tamis__double_from_bits(header->fp_rate),
                                    .created_at = header->created_at,
                                    .published_at = tamis__now_ns(),
                                    .segment_count = 1};
    (void)snprintf(record.name, sizeof record.name, "%s", name);
    tamis__record_segment_from_header(header, &record.segments[0]);
    /* The handle first: after the commit nothing can fail any more. */
    if (filter != NULL) rc = tamis__filter_open_record(store, &record, false, filter);
    if (rc < 0) filter = NULL;
    if (rc == 0) rc = tamis__catalog_put(txn, &record);
    if (rc == 0) rc = tamis__catalog_commit(txn);
    if (rc == 0) return 0;
    if (filter != NULL) (void)tamis_filter_close(*filter);
    (void)tamis__segment_remove(&store->place, header->number);
    return rc;
}

/* TAMIS_EEXIST now rather than after allocating gigabytes. */
static int check_absent(struct tamis_store *store, const char *name)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    tamis__catalog_end(txn);
    if (rc == TAMIS_ENOTFOUND) return 0;
    return rc < 0 ? rc : tamis__fail_exists(name);
}

static int create(struct tamis_store *store, const char *name, const struct tamis__plan *plan,
                  tamis_filter **filter)
{
    struct tamis__segment_header header;
    struct tamis__staged staged;
    struct tamis__catalog_txn *txn;
    const uint64_t file_bytes = plan->sizing.file_bytes;
    int rc = check_absent(store, name);
    if (rc == 0) rc = check_room(store->root_fd, file_bytes, name);
    if (rc == 0) rc = tamis__segment_stage(&store->place, file_bytes, &staged);
    if (rc < 0) return rc;
    fill_header(store, name, plan, &header);
    rc = tamis__store_begin_write(store, &txn);
    if (rc == 0) {
        rc = enter(store, txn, name, &header, &staged, filter);
        tamis__catalog_end(txn);
    }
    tamis__segment_discard(&store->place, &staged);
    return rc;
}

TAMIS_API int tamis_filter_create(tamis_store *store, const char *name,
                                  const struct tamis_filter_spec *spec, tamis_filter **filter)
{
    struct tamis__plan plan;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__plan_filter(spec, &plan);
    if (rc < 0) return rc;
    if (store->read_only)
        return tamis__fail(TAMIS_EREADONLY, "the store %s is open read-only; open it for writing",
                           store->place.path);
    return create(store, name, &plan, filter);
}

static int fail_mismatch(const char *name, const char *field, const char *have, const char *want)
{
    char quoted[TAMIS__QUOTED_BYTES];
    return tamis__fail(
        TAMIS_EMISMATCH,
        "the filter %s exists with %s %s, not %s; ask for the same, or choose another "
        "name",
        tamis__quote(quoted, name), field, have, want);
}

static int compare_numbers(const char *name, const char *field, uint64_t have, uint64_t want)
{
    char have_text[24], want_text[24];
    if (have == want) return 0;
    (void)snprintf(have_text, sizeof have_text, "%llu", (unsigned long long)have);
    (void)snprintf(want_text, sizeof want_text, "%llu", (unsigned long long)want);
    return fail_mismatch(name, field, have_text, want_text);
}

static int compare_rates(const char *name, double have, double want)
{
    char have_text[32], want_text[32];
    if (fabs(have - want) <= 1e-9 * have) return 0;
    (void)snprintf(have_text, sizeof have_text, "%.6g", have);
    (void)snprintf(want_text, sizeof want_text, "%.6g", want);
    return fail_mismatch(name, "rate", have_text, want_text);
}

static const char *hash_set_name(uint32_t id)
{
    const struct tamis__hash_set *set = tamis__hash_set_by_id(id);
    return set ? set->name : "of another version";
}

static const char *kind_name(uint32_t id)
{
    const char *name = tamis_kind_name(id);
    return name ? name : "of another version";
}

/* Is the filter that is there what the plan wants?  TAMIS_EMISMATCH with the first difference. */
static int compare_plan(const char *name, const struct tamis__plan *plan,
                        const struct tamis__record *record)
{
    const struct tamis__record_segment *s = &record->segments[0];
    const struct tamis_sizing *want = &plan->sizing;
    int rc = 0;
    if (s->kind != want->kind)
        rc = fail_mismatch(name, "kind", kind_name(s->kind), kind_name(want->kind));
    if (rc == 0 && s->hash_set != plan->hash_set)
        rc = fail_mismatch(name, "hash set", hash_set_name(s->hash_set),
                           hash_set_name(plan->hash_set));
    if (rc == 0) rc = compare_numbers(name, "capacity", s->capacity, want->capacity);
    if (rc == 0) rc = compare_rates(name, s->fp_rate, want->fp_rate);
    /* Where m and k followed from n and p they may follow differently in another version. */
    if (rc == 0 && plan->explicit_geometry)
        rc = compare_numbers(name, "m", s->m_bits, want->m_bits);
    if (rc == 0 && plan->explicit_geometry) rc = compare_numbers(name, "k", s->k, want->k);
    return rc < 0 ? rc : compare_numbers(name, "seed", s->seed, plan->seed);
}

/* Open the filter if it is there and as planned; TAMIS_ENOTFOUND if it is not there. */
static int open_planned(struct tamis_store *store, const char *name, const struct tamis__plan *plan,
                        tamis_filter **filter)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__catalog_get(txn, name, &record);
    if (rc == 0) rc = compare_plan(name, plan, &record);
    if (rc == 0) rc = tamis__filter_open_record(store, &record, false, filter);
    tamis__catalog_end(txn);
    return rc;
}

TAMIS_API int tamis_filter_open_or_create(tamis_store *store, const char *name,
                                          const struct tamis_filter_spec *spec,
                                          tamis_filter **filter)
{
    struct tamis__plan plan;
    int rc = tamis__check_name(name);
    if (rc == 0) rc = tamis__plan_filter(spec, &plan);
    if (rc < 0) return rc;
    if (store->read_only)
        return tamis__fail(TAMIS_EREADONLY, "the store %s is open read-only; open it for writing",
                           store->place.path);
    do { /* again where another process made or dropped it in between */
        rc = open_planned(store, name, &plan, filter);
        if (rc == TAMIS_ENOTFOUND) rc = create(store, name, &plan, filter);
    } while (rc == TAMIS_EEXIST);
    return rc;
}
