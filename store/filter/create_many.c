/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create_many.c: makes many filters, a batch at a time.
 *
 * To make a filter takes some five syncs, each of which may wait for the disk.  The files of a
 * batch go through one transaction of the file system's log, a few threads wait for them, and the
 * batch has two commits of the catalog (txn/commit.c: the files are noted as garbage first, so that
 * nothing is left of a maker that dies).  What a filter is says a spec, or a stream that it comes
 * from (import_filled.c).
 */
#include <stdlib.h>

#include "filter/create.h"
#include "filter/import.h"
#include "hash/hash_set.h"
#include "key/form.h"
#include "kind/kind.h"
#include "txn/spares.h"
#include "txn/store.h"

#define BATCH TAMIS_FILLED_MAX
/* A batch holds a descriptor for each file that it stages, and the store's lock while it names
 * them.  So those that tamis_filter_create_many() chooses are smaller. */
#define BATCH_OF_MANY 256u
/* So many keys are added by one call. */
#define KEYS_A_CALL 256u

struct batch {
    struct tamis_store *store;
    const struct tamis_filled *wanted;
    uint32_t count;
    unsigned flags;
    /* The plan of the last spec, which often is that of the next filter too. */
    bool has_plan;
    struct tamis_filter_spec planned;
    struct tamis__plan plan;
    struct tamis__intake *intake; /* for streams; NULL: there was none yet */
    /* Of those that are to be made; `from` has their places in `wanted`. */
    uint32_t made;
    struct tamis__draft *drafts;
    struct tamis__entry *entries;
    uint32_t from[BATCH];
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Neither name is in the catalog yet, so the transaction would not notice. */
static int check_twins(const struct batch *b)
{
    const char *sorted[BATCH] = {NULL};
    char quoted[TAMIS__QUOTED_BYTES];
    for (uint32_t i = 0; i < b->count; i++)
        sorted[i] = b->wanted[i].name;
    qsort(sorted, b->count, sizeof *sorted, compare_names);
    for (uint32_t i = 1; i < b->count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return tamis__fail(TAMIS_EINVAL, "the name %s comes twice; give each name once",
                               tamis__quote(quoted, sorted[i]));
    return 0;
}

/* Makes a plan, by a computation that takes some 10 us, or takes the last one.  A plan with a
 * secret that it drew is for one filter. */
static int plan_spec(struct batch *b, const struct tamis_filled *wanted, struct tamis__plan *plan)
{
    const struct tamis_filter_spec *spec = wanted->spec;
    const bool is_whole = spec != NULL && spec->size == sizeof *spec;
    /* Where only the bytes between members differ, the plan is made once more. */
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c)
    if (is_whole && b->has_plan && memcmp(spec, &b->planned, sizeof *spec) == 0) {
        *plan = b->plan;
        return tamis__check_name(wanted->name);
    }
    const int rc = tamis__create_plan(wanted->name, spec, plan);
    b->has_plan = rc == 0 && is_whole && !(plan->hash_set->keyed && plan->any_secret);
    if (b->has_plan) {
        b->planned = *spec;
        b->plan = *plan;
    }
    return rc;
}

/* What a filter of that name, which is there already, means: 0 if it may be there. */
static int meet(const struct batch *b, const char *name, const struct tamis__plan *plan,
                const struct tamis__record *record)
{
    return plan != NULL && (b->flags & TAMIS_MANY_IF_MISSING) != 0
               ? tamis__create_compare(name, plan, record)
               : tamis__fail_exists(name);
}

static int describe_stream(struct batch *b, const struct tamis_filled *wanted,
                           struct tamis__draft *draft, struct tamis__entry *entry)
{
    int rc = b->intake == NULL ? tamis__intake_new(b->store, &b->intake) : 0;
    return rc < 0 ? rc : tamis__intake_describe(b->intake, wanted, draft, entry);
}

static void describe_plan(struct batch *b, const struct tamis_filled *wanted,
                          const struct tamis__plan *plan, struct tamis__draft *draft,
                          struct tamis__entry *entry)
{
    const int64_t created_at = wanted->created_at;
    tamis__create_describe(b->store, wanted->name, plan, draft, entry);
    if (created_at != 0) draft->header.created_at = entry->created_at = created_at;
}

/* Plans and describes a filter, if it is to be made: it is not if it is there already, and may
 * be. */
static int describe_one(struct batch *b, struct tamis__catalog_txn *txn, uint32_t i)
{
    const struct tamis_filled *wanted = &b->wanted[i];
    struct tamis__draft *draft = &b->drafts[b->made];
    struct tamis__entry *entry = &b->entries[b->made];
    struct tamis__record record;
    struct tamis__plan plan;
    const bool from_stream = wanted->stream != NULL;
    int rc = from_stream ? tamis__check_name(wanted->name) : plan_spec(b, wanted, &plan);
    if (rc < 0) return rc;
    rc = tamis__store_get(b->store, txn, wanted->name, &record);
    if (rc == 0) return meet(b, wanted->name, from_stream ? NULL : &plan, &record);
    if (rc != TAMIS_ENOTFOUND) return rc;
    if (!from_stream && !plan.owned) {
        rc = tamis__check_new_name(wanted->name);
        if (rc < 0) return rc;
    }
    rc = from_stream ? describe_stream(b, wanted, draft, entry) : 0;
    if (rc < 0) return rc;
    if (!from_stream) describe_plan(b, wanted, &plan, draft, entry);
    b->from[b->made++] = i;
    return 0;
}

/* Plans and describes all that are to be made. */
static int plan_batch(struct batch *b)
{
    struct tamis__catalog_txn *txn;
    uint64_t bytes = 0;
    int rc = tamis__catalog_begin(&b->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    b->made = 0;
    for (uint32_t i = 0; rc == 0 && i < b->count; i++)
        rc = describe_one(b, txn, i);
    tamis__catalog_end(txn);
    if (rc < 0 || b->made == 0) return rc;
    for (uint32_t i = 0; i < b->made; i++)
        if (__builtin_add_overflow(bytes, b->drafts[i].header.file_bytes, &bytes))
            bytes = UINT64_MAX;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the caller has refused NULL
    return tamis__create_check_room(b->store->root_fd, bytes, b->entries[b->made - 1].name);
}

/* Adds forms of keys to a draft that nobody else knows of.  Returns how many were new. */
static int64_t add_forms(const struct tamis__segment *segment, const struct tamis_key *keys,
                         size_t count)
{
    const struct tamis__kind *kind = tamis__kind_by_id(segment->header->kind);
    uint8_t answers[KEYS_A_CALL];
    int64_t items = 0, rc = 0;
    for (size_t at = 0; rc >= 0 && at < count; at += KEYS_A_CALL) {
        const size_t left = count - at;
        rc = kind->add_batch(segment, keys + at, left < KEYS_A_CALL ? left : KEYS_A_CALL, answers);
        items += rc;
    }
    return rc < 0 ? rc : items;
}

/* Adds the first keys of a filter. */
static int64_t add_keys(const struct tamis__segment *segment, const struct tamis_filled *wanted)
{
    struct tamis__form_walk walk;
    struct tamis__key_rule rule;
    const struct tamis__policy policy = tamis__header_policy(segment->header);
    int64_t items = 0, rc = tamis__key_rule_open(wanted->name, policy.key_rule, &rule);
    if (rc < 0 || rule.id == TAMIS__KEY_BYTES)
        return rc < 0 ? rc : add_forms(segment, wanted->keys, wanted->key_count);
    tamis__form_walk_begin(&walk, &rule, wanted->keys, wanted->key_count);
    while (rc >= 0 && (rc = tamis__form_walk_next(&walk)) > 0) {
        rc = add_forms(segment, walk.forms, walk.now);
        items += rc;
    }
    tamis__form_walk_end(&walk);
    return rc < 0 ? rc : items;
}

/* Fails if the first keys have no room beside what came with the stream. */
static int check_first_keys(const struct tamis__segment_header *header,
                            const struct tamis_filled *wanted)
{
    char quoted[TAMIS__QUOTED_BYTES];
    const uint64_t capacity = header->capacity; /* 0: it follows from no bits and hashes */
    const uint64_t items = tamis__header_items(header);
    if (wanted->key_count == 0 || capacity == 0) return 0;
    if (items <= capacity && wanted->key_count <= capacity - items) return 0;
    return tamis__fail(TAMIS_EFULL,
                       "%zu first keys for the filter %s of capacity %llu, which has %llu; add the "
                       "others when it is made",
                       wanted->key_count, tamis__quote(quoted, wanted->name),
                       (unsigned long long)capacity, (unsigned long long)items);
}

static int64_t fill_file(struct tamis_store *store, struct tamis__draft *draft,
                         const struct tamis_filled *wanted)
{
    struct tamis__segment segment;
    const int rc =
        tamis__segment_map_staged(&store->place, &draft->staged, &draft->header, &segment);
    if (rc < 0) return rc;
    const int64_t items = add_keys(&segment, wanted);
    const int broken = items < 0 ? 0 : tamis__segment_check(&segment);
    draft->header.live.overflow_levels = segment.live->overflow_levels; /* kind counting */
    tamis__segment_close(&segment);
    return broken < 0 ? broken : items;
}

static int64_t fill_sheet(struct tamis__draft *draft, const struct tamis_filled *wanted)
{
    const int rc = draft->data == NULL ? tamis__draft_take_memory(draft) : 0;
    if (rc < 0) return rc;
    const struct tamis__segment segment = tamis__segment_at(&draft->header, draft->data);
    return add_keys(&segment, wanted);
}

/* Brings what the stream has, and its first keys, into a draft. */
static int fill(const struct batch *b, struct tamis__draft *draft,
                const struct tamis_filled *wanted)
{
    const uint64_t before = tamis__header_items(&draft->header);
    int rc = check_first_keys(&draft->header, wanted);
    if (rc == 0 && wanted->stream != NULL) rc = tamis__intake_load(b->intake, wanted, draft);
    if (rc < 0 || wanted->key_count == 0) return rc;
    const int64_t items =
        draft->is_sheet ? fill_sheet(draft, wanted) : fill_file(b->store, draft, wanted);
    if (items < 0) return (int)items;
    tamis__header_set_items(&draft->header, before + (uint64_t)items);
    return 0;
}

static int stage_batch(struct batch *b)
{
    int rc = 0;
    uint32_t staged = 0;
    while (rc == 0 && staged < b->made) {
        struct tamis__draft *draft = &b->drafts[staged];
        rc = staged == 0 ? tamis__draft_stage(b->store, draft)
                         : tamis__draft_stage_more(b->store, draft);
        if (rc < 0) break;
        rc = fill(b, draft, &b->wanted[b->from[staged++]]);
    }
    if (rc < 0) tamis__drafts_discard(b->store, b->drafts, staged);
    return rc;
}

static int make_batch(struct batch *b)
{
    int rc = check_twins(b);
    do { /* again if another process made one of them in between */
        if (rc == 0 || rc == TAMIS_EEXIST) rc = plan_batch(b);
        if (rc == 0 && b->made > 0) rc = stage_batch(b);
        if (rc == 0 && b->made > 0) rc = tamis__drafts_enter_many(b->store, b->entries, b->made);
    } while (rc == TAMIS_EEXIST && (b->flags & TAMIS_MANY_IF_MISSING) != 0);
    return rc;
}

static int begin_batches(tamis_store *store, size_t most, unsigned flags, struct batch *b)
{
    *b = (struct batch){.store = store,
                        .flags = flags,
                        .drafts = calloc(most, sizeof *b->drafts),
                        .entries = calloc(most, sizeof *b->entries)};
    return b->drafts != NULL && b->entries != NULL
               ? 0
               : tamis__fail(TAMIS_ENOMEM, "out of memory making many filters");
}

static void end_batches(struct batch *b)
{
    free(b->drafts);
    free(b->entries);
    tamis__intake_free(b->intake);
}

static int check_filled(const struct tamis_filled *filled)
{
    TAMIS__REFUSE_NULL(filled->name, "a name");
    if (filled->key_count > 0) TAMIS__REFUSE_NULL(filled->keys, "keys");
    if (filled->stream != NULL && filled->spec != NULL)
        return tamis__fail(TAMIS_EINVAL, "a stream says what the filter is; leave the spec out");
    if (filled->stream == NULL && (filled->flags != 0 || filled->format != NULL))
        return tamis__fail(TAMIS_EINVAL, "format and flags are those of a stream; leave them out");
    const int rc = filled->stream != NULL ? tamis__intake_check(filled) : 0;
    if (rc < 0) return rc;
    return tamis__check_keys(filled->keys, filled->key_count);
}

TAMIS_API int tamis_filter_create_filled(tamis_store *store, const struct tamis_filled *filters,
                                         size_t count)
{
    struct batch b;
    TAMIS__REFUSE_NULL(store, "store");
    if (count > BATCH)
        return tamis__fail(TAMIS_EINVAL, "%zu filters at once; give at most %u", count, BATCH);
    if (count > 0) TAMIS__REFUSE_NULL(filters, "filters");
    int rc = tamis__check_writable(store);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = check_filled(&filters[i]);
    if (rc < 0 || count == 0) return rc;
    rc = begin_batches(store, count, 0, &b);
    b.wanted = filters;
    b.count = (uint32_t)count;
    if (rc == 0) rc = make_batch(&b);
    end_batches(&b);
    return rc;
}

/* `is_ours`: no server owns the filters, whose names are those of its keys. */
static int check_arguments(tamis_store *store, const char *const *names, size_t count, bool is_ours,
                           unsigned flags)
{
    TAMIS__REFUSE_NULL(store, "store");
    if ((flags & ~TAMIS_MANY_IF_MISSING) != 0)
        return tamis__fail(TAMIS_EINVAL,
                           "tamis_filter_create_many flags %#x: use 0 or TAMIS_MANY_IF_MISSING",
                           flags);
    if (count > 0) TAMIS__REFUSE_NULL(names, "names");
    int rc = tamis__check_writable(store);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        TAMIS__REFUSE_NULL(names[i], "a name");
        /* Before the first batch is made.  What is there already may have any name. */
        rc = is_ours && flags == 0 ? tamis__check_new_name(names[i]) : tamis__check_name(names[i]);
    }
    return rc;
}

TAMIS_API int64_t tamis_filter_create_many(tamis_store *store, const char *const *names,
                                           size_t count, const struct tamis_filter_spec *spec,
                                           unsigned flags)
{
    struct tamis_filled wanted[BATCH_OF_MANY];
    struct batch b;
    int64_t made = 0;
    const bool is_ours = spec == NULL || (spec->flags & TAMIS_FILTER_OWNED) == 0;
    int rc = check_arguments(store, names, count, is_ours, flags);
    if (rc < 0 || count == 0) return rc;
    rc = begin_batches(store, BATCH_OF_MANY, flags, &b);
    b.wanted = wanted;
    for (size_t at = 0; rc == 0 && at < count; at += b.count) {
        b.count = count - at < BATCH_OF_MANY ? (uint32_t)(count - at) : BATCH_OF_MANY;
        for (uint32_t i = 0; i < b.count; i++)
            wanted[i] = (struct tamis_filled){.name = names[at + i], .spec = spec};
        rc = make_batch(&b);
        if (rc == 0) made += b.made;
    }
    end_batches(&b);
    return rc < 0 ? rc : made;
}
