/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build.c: the public calls of a build, and its steps in their order.  A build makes a filter anew
 * from all of its keys.
 *
 *     add        digests go to the keyset; for another kind than fuse, the keys go to the spool too
 *     sort       sort the keyset: how many keys there are, and which set of keys it is
 *     compare    with what is in force, if the caller allows an unchanged result
 *     make       fill a staged file and bring it to the disk
 *     verify     ask through a mapping of that file
 *     publish    see publish.h
 *
 * However a build ends, its staged file is removed before tamis_build_publish() returns.  If the
 * maker is killed, the next maker removes the file.
 */
#include "build/build.h"

#include "build/budget.h"
#include "build/points.h"
#include "filter/publish.h"
#include "hash/hash_set.h"
#include "key/form.h"
#include "os/io.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "segment/broken.h"
#include "sizing/sizing.h"
#include "txn/spares.h"

#define THREADS_MAX 1024u
#define DIGESTS_AT_ONCE 512u
#define WRITE_OUT_BYTES ((uint64_t)4 << 20) /* 40 ms of a disk of 100 MB/s */
#define SPOOL_BYTES_MAX                                                                            \
    ((uint64_t)16 << 20) /* above this the spool is a file, which the page cache holds anyway */

/* ---- Begin ----------------------------------------------------------------------------------- */

static struct tamis__guards guards_of(const struct tamis_build_spec *spec)
{
    return (struct tamis__guards){.at_least = spec->at_least,
                                  .has_max_shrink = (spec->flags & TAMIS_BUILD_MAX_SHRINK) != 0,
                                  .max_shrink = spec->max_shrink};
}

static int check_build_spec(const struct tamis_build_spec *spec)
{
    const uint32_t known = TAMIS_BUILD_IF_CHANGED | TAMIS_BUILD_KEEP | TAMIS_BUILD_MAX_SHRINK;
    const struct tamis__guards guards = guards_of(spec);
    if ((spec->flags & ~known) != 0)
        return tamis__fail(TAMIS_EINVAL, "build flags %#x: use those of TAMIS_BUILD_*",
                           spec->flags);
    int rc = (spec->flags & TAMIS_BUILD_KEEP) != 0 ? tamis__check_keep(spec->keep) : 0;
    if (rc == 0) rc = tamis__guards_check(&guards);
    if (rc < 0) return rc;
    if (spec->memory_bytes != 0 && spec->memory_bytes < TAMIS__BUDGET_MIN)
        return tamis__fail(
            TAMIS_EINVAL,
            "a memory of %llu byte%s is too little for a build; give it 1 MiB or more",
            (unsigned long long)spec->memory_bytes, tamis__plural(spec->memory_bytes));
    if (spec->threads > THREADS_MAX)
        return tamis__fail(TAMIS_EINVAL, "%u threads are too many; the most is %u", spec->threads,
                           THREADS_MAX);
    return 0;
}

static int check_kind_of_spec(const struct tamis_filter_spec *spec)
{
    if (spec->window_ns != 0 || spec->window_items != 0 || spec->slices != 0)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a filter with a window forgets by time, and is not built as a whole; "
                           "leave the window out, or create it and add to it");
    if (tamis_kind_has(spec->kind, TAMIS_KIND_COUNTS))
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a filter of kind %s is not built as a whole, as its keys come and go; "
                           "create it and add to it, or build another kind",
                           tamis_kind_name(spec->kind));
    if ((spec->flags & ~(uint32_t)TAMIS_FILTER_DURABLE) != 0)
        return tamis__fail(TAMIS_EINVAL, "filter flags %#x: use 0 or TAMIS_FILTER_DURABLE",
                           spec->flags);
    if (tamis__kind_by_id(spec->kind) == NULL)
        return tamis__fail(TAMIS_EINVAL, "there is no kind of number %u", spec->kind);
    if (tamis_kind_has(spec->kind, TAMIS_KIND_IS_STATIC) &&
        (spec->flags & TAMIS_FILTER_DURABLE) != 0)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a filter of kind %s is on the disk once it is built, and takes no keys "
                           "after that which could be lost; leave durable out",
                           tamis_kind_name(spec->kind));
    return 0;
}

/* The hash set, with its seed, if filters of the kind that is built have it. */
static void inherit_hash_set(struct tamis_build *build, const struct tamis__listed_segment *newest)
{
    struct tamis_filter_spec *spec = &build->filter;
    const struct tamis__hash_set *set = tamis__hash_set_by_id(newest->hash_set);
    if (spec->hash_set != NULL || set == NULL) return;
    if (spec->kind != newest->kind && !set->any_kind) return;
    tamis__hash_set_name(newest->hash_set, newest->parameters, build->hash_set);
    spec->hash_set = build->hash_set;
    if (spec->seed == 0) spec->seed = newest->seed;
}

/* The key rule is of the filter, for life. */
static int inherit_rule(struct tamis_build *build, const struct tamis__record *record)
{
    if (build->filter.key_rule == NULL)
        return tamis__key_rule_open(build->name, record->policy.key_rule, &build->rule);
    return tamis__check_key_rule(record, build->rule.text);
}

/*
 * What the spec leaves out is taken from the filter in force, as it was asked for when that was
 * made: the rate, the hash set, and of bits the policy when full, for `refuse` with the capacity,
 * and whether they are durable.  The kind is taken only if the filter was built, as
 * check_default_kind() says why; so is the policy `warn`, which imported filters have unasked.
 */
static int inherit(struct tamis_build *build)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    struct tamis_filter_spec *spec = &build->filter;
    int rc = tamis__catalog_begin(&build->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(build->store, txn, build->name, &record);
    tamis__catalog_end(txn);
    if (rc < 0) return rc == TAMIS_ENOTFOUND ? tamis__check_new_name(build->name) : rc;
    rc = inherit_rule(build, &record);
    if (rc < 0) return rc;
    const struct tamis__listed_segment *newest = tamis__record_newest(&record);
    const bool was_built = !tamis__is_zero(record.key_digest, sizeof record.key_digest);
    if (spec->fp_rate == 0 && spec->m_bits == 0 && spec->k == 0 &&
        tamis__rate_is_valid(record.fp_rate))
        spec->fp_rate = record.fp_rate;
    if (was_built && spec->kind == TAMIS_KIND_DEFAULT) spec->kind = newest->kind;
    inherit_hash_set(build, newest);
    if (!tamis_kind_has(spec->kind, TAMIS_KIND_MAY_BE_DURABLE) ||
        !tamis_kind_has(newest->kind, TAMIS_KIND_MAY_BE_DURABLE))
        return 0;
    const uint32_t on_full = tamis__policy_on_full(&record.policy);
    if (spec->on_full == TAMIS_ON_FULL_DEFAULT && (was_built || on_full == TAMIS_ON_FULL_REFUSE))
        spec->on_full = on_full;
    if (spec->on_full == TAMIS_ON_FULL_REFUSE && spec->capacity == 0)
        spec->capacity = record.capacity; /* without it there would be no room for one more key */
    if (record.policy.durable) spec->flags |= TAMIS_FILTER_DURABLE;
    return 0;
}

/* Takes the secret of the filter in force, so that the same keys have the same digests from build
 * to build.  If nothing of that hash set is in force, takes the spec's secret or a random one. */
static int choose_secret(struct tamis_build *build)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    struct tamis__plan *plan = &build->plan;
    const char *name = build->filter.hash_set;
    int rc = tamis__hash_set_parse(name ? name : "xxh3", &plan->hash_set, plan->parameters);
    if (rc < 0) return rc;
    struct tamis_filter_spec *spec = &build->filter;
    if (plan->hash_set->keyed && tamis__is_zero(spec->secret, sizeof spec->secret)) {
        rc = tamis__catalog_begin(&build->store->catalog, TAMIS__LOCK_SHARED, &txn);
        if (rc < 0) return rc;
        rc = tamis__store_get(build->store, txn, build->name, &record);
        tamis__catalog_end(txn);
        if (rc < 0 && rc != TAMIS_ENOTFOUND) return rc;
        const struct tamis__listed_segment *newest = &record.segments[0];
        if (rc == 0) newest += record.segment_count - 1;
        if (rc == 0 && newest->hash_set == plan->hash_set->id)
            memcpy(spec->secret, newest->parameters, sizeof spec->secret);
    }
    rc = tamis__plan_secret(plan->hash_set, spec->secret, plan->parameters);
    struct tamis__hashing hashing = {
        .set = plan->hash_set, .parameters = plan->parameters, .seed = spec->seed};
    if (rc == 0) rc = tamis__hashing_check(&hashing);
    if (rc < 0) return rc;
    memcpy(spec->secret, plan->parameters, plan->hash_set->keyed ? sizeof spec->secret : 0);
    if (plan->hash_set->keyed)
        build->by = (struct tamis__digester){.other = tamis__digest_sip, .secret = spec->secret};
    else
        build->by = (struct tamis__digester){.other = NULL, .seed = spec->seed};
    return 0;
}

static int init(struct tamis_build *build, const char *name, const struct tamis_build_spec *spec)
{
    (void)snprintf(build->name, sizeof build->name, "%s", name);
    build->spec = *spec;
    if (spec->filter != NULL) {
        const int taken = tamis__take_spec(spec->filter, &build->filter);
        if (taken < 0) return taken;
    }
    int rc = tamis__key_rule_parse(build->filter.key_rule, &build->rule);
    if (rc == 0) rc = inherit(build);
    if (rc < 0) return rc;
    build->default_kind = build->filter.kind == TAMIS_KIND_DEFAULT;
    if (build->default_kind) build->filter.kind = TAMIS_KIND_FUSE;
    rc = check_kind_of_spec(&build->filter);
    if (rc == 0) rc = choose_secret(build);
    if (rc == 0)
        rc = tamis_kind_has(build->filter.kind, TAMIS_KIND_IS_STATIC)
                 ? tamis__build_plan_fuse(build)
                 : tamis__build_plan_bits(build);
    if (rc < 0) return rc;
    memcpy(build->plan.policy.key_rule, build->rule.text, sizeof build->rule.text);
    const uint64_t memory = spec->memory_bytes ? spec->memory_bytes : tamis__budget();
    uint64_t spool = memory / 16;
    if (spool > SPOOL_BYTES_MAX) spool = SPOOL_BYTES_MAX;
    build->crew = (struct tamis__crew){
        .threads = spec->threads ? spec->threads : tamis__processors(),
        .progress = spec->progress,
        .context = spec->context,
        .phase = TAMIS_BUILD_READING,
    };
    tamis__keyset_init(&build->keyset, &build->store->place, &build->crew, memory - 2 * spool);
    tamis__spool_init(&build->raw, &build->store->place, (size_t)spool);
    tamis__spool_init(&build->against, &build->store->place, (size_t)spool);
    return 0;
}

TAMIS_API int tamis_build_begin(tamis_store *store, const char *name,
                                const struct tamis_build_spec *given, tamis_build **out)
{
    struct tamis_build_spec spec = {.size = sizeof spec};
    TAMIS__REFUSE_NULL(store, "store");
    TAMIS__REFUSE_NULL(out, "build");
    int rc = tamis__check_name(name);
    if (rc == 0 && given != NULL)
        rc = tamis__take_struct(given, &spec, sizeof spec, "struct tamis_build_spec");
    if (rc == 0) rc = check_build_spec(&spec);
    if (rc == 0) rc = tamis__check_writable(store);
    if (rc < 0) return rc;
    struct tamis_build *build = calloc(1, sizeof *build);
    if (build == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory building '%s'", name);
    build->store = tamis__store_reference(store);
    rc = init(build, name, &spec);
    if (rc < 0) {
        tamis_build_close(build);
        return rc;
    }
    *out = build;
    return 0;
}

/* Frees what publishing does not need. */
static void drop_keys(struct tamis_build *build)
{
    tamis__segment_close(&build->segment);
    tamis__keyset_clear(&build->keyset);
    tamis__keyset_clear(&build->conflicts);
    tamis__spool_clear(&build->raw);
    tamis__spool_clear(&build->against);
    free(build->pieces);
    build->pieces = NULL;
}

TAMIS_API void tamis_build_close(tamis_build *build)
{
    if (build == NULL) return;
    drop_keys(build);
    tamis__exceptions_clear(&build->by_hand);
    tamis__exceptions_clear(&build->found);
    tamis_store_close(build->store);
    explicit_bzero(build->filter.secret, sizeof build->filter.secret);
    explicit_bzero(build->plan.parameters, sizeof build->plan.parameters);
    explicit_bzero(&build->draft, sizeof build->draft);
    free(build);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static int check_open(const struct tamis_build *build)
{
    if (build == NULL) return tamis__fail_null("a build", "build");
    if (build->failed != 0 && build->crew.ended)
        return tamis__fail(build->failed,
                           "the build of '%s' was ended by its progress function; close it and "
                           "begin another",
                           build->name);
    if (build->failed != 0)
        return tamis__fail(build->failed,
                           "the build of '%s' has failed before (%s); close it and begin another",
                           build->name, tamis_error_message(build->failed));
    if (build->over)
        return tamis__fail(TAMIS_EINVAL, "the build of '%s' is over; begin another", build->name);
    return 0;
}

/* Notes a failure: what has failed once is not complete any more. */
static int note_failure(struct tamis_build *build, int rc)
{
    if (rc != 0) build->failed = rc;
    return rc;
}

static int add_some(struct tamis_build *build, const struct tamis_key *keys, size_t count)
{
    uint64_t digests[DIGESTS_AT_ONCE];
    for (size_t i = 0; i < count; i++)
        digests[i] = tamis__build_digest(build, &keys[i]);
    int rc = tamis__keyset_add(&build->keyset, digests, count);
    if (rc == 0 && build->fingerprint_bits == 0) rc = tamis__spool_add(&build->raw, keys, count);
    if (rc != 0) return rc;
    tamis__crew_done(&build->crew, count);
    return tamis__crew_tell(&build->crew);
}

/* Takes some keys, which are forms already. */
typedef int take_fn(struct tamis_build *build, const struct tamis_key *forms, size_t count);

/* Calls `take` for the keys by their forms, some at a time. */
static int take_by_forms(struct tamis_build *build, const struct tamis_key *keys, size_t count,
                         take_fn *take)
{
    struct tamis__form_walk walk;
    int64_t rc = 0;
    tamis__form_walk_begin(&walk, &build->rule, keys, count);
    while (rc == 0 && (rc = tamis__form_walk_next(&walk)) > 0)
        rc = take(build, walk.forms, walk.now);
    tamis__form_walk_end(&walk);
    return (int)rc;
}

static int take_keys(struct tamis_build *build, const struct tamis_key *keys, size_t count,
                     take_fn *take)
{
    int rc = check_open(build);
    if (rc == 0) rc = tamis__check_keys(keys, count);
    if (rc != 0) return rc;
    const bool plain = build->rule.id == TAMIS__KEY_BYTES;
    rc = plain ? take(build, keys, count) : take_by_forms(build, keys, count, take);
    return note_failure(build, rc);
}

static int add_forms(struct tamis_build *build, const struct tamis_key *keys, size_t count)
{
    int rc = 0;
    for (size_t done = 0; rc == 0 && done < count; done += DIGESTS_AT_ONCE)
        rc = add_some(build, keys + done,
                      count - done < DIGESTS_AT_ONCE ? count - done : DIGESTS_AT_ONCE);
    return rc;
}

TAMIS_API int tamis_build_add(tamis_build *build, const struct tamis_key *keys, size_t count)
{
    return take_keys(build, keys, count, add_forms);
}

static int spool_good(struct tamis_build *build, const struct tamis_key *keys, size_t count)
{
    const int rc = tamis__spool_add(&build->against, keys, count);
    return rc == 0 ? tamis__crew_tell(&build->crew) : rc;
}

TAMIS_API int tamis_build_against(tamis_build *build, const struct tamis_key *keys, size_t count)
{
    return take_keys(build, keys, count, spool_good);
}

static int except_forms(struct tamis_build *build, const struct tamis_key *keys, size_t count)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = keys[i].bytes <= TAMIS_EXCEPTION_BYTES_MAX
                 ? 0
                 : tamis__fail(TAMIS_EINVAL,
                               "a key of %zu bytes cannot be an exception: they have at most %d",
                               keys[i].bytes, TAMIS_EXCEPTION_BYTES_MAX);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = tamis__exceptions_add(&build->by_hand, keys[i].data, keys[i].bytes, 0);
    return rc;
}

TAMIS_API int tamis_build_except(tamis_build *build, const struct tamis_key *keys, size_t count)
{
    return take_keys(build, keys, count, except_forms);
}

/* ---- Publish --------------------------------------------------------------------------------- */

/* A build that replaces a filter which takes keys by one which takes none ends the work of all who
 * add to it.  So the caller must ask for that kind. */
static int check_default_kind(const struct tamis_build *build, const struct tamis__record *record)
{
    const uint32_t kind = record->segments[record->segment_count - 1].kind;
    if (!build->default_kind || kind == build->filter.kind) return 0;
    return tamis__fail(
        TAMIS_EMISMATCH,
        "the filter '%s' is of kind %s, and a build makes kind %s where none is given; "
        "give --kind %s to build it as it is, or --kind %s to replace it by a "
        "filter that takes no further keys",
        build->name, tamis_kind_name(kind), tamis_kind_name(build->filter.kind),
        tamis_kind_name(kind), tamis_kind_name(build->filter.kind));
}

/* Refuses now what publishing would refuse after all the work. */
static int check_filter_in_force(struct tamis_build *build)
{
    struct tamis__catalog_txn *txn;
    struct tamis__record record;
    int rc = tamis__catalog_begin(&build->store->catalog, TAMIS__LOCK_SHARED, &txn);
    if (rc < 0) return rc;
    rc = tamis__store_get(build->store, txn, build->name, &record);
    tamis__catalog_end(txn);
    if (rc == TAMIS_ENOTFOUND) return 0;
    if (rc == 0) rc = tamis__check_replaceable(&record);
    if (rc == 0) rc = tamis__check_key_rule(&record, build->rule.text);
    return rc < 0 ? rc : check_default_kind(build, &record);
}

static int sort(struct tamis_build *build)
{
    int rc = check_filter_in_force(build);
    if (rc == 0) rc = tamis__exceptions_sort(&build->by_hand);
    if (rc == 0) rc = tamis__keyset_sort(&build->keyset);
    if (rc != 0) return rc;
    build->result.keys = build->keyset.added;
    build->result.distinct = build->keyset.distinct;
    tamis__digests_sum_bytes(build->keyset.sum, build->result.key_digest);
    TAMIS__POINT(TAMIS__POINT_BUILD_SORTED);
    return build->fingerprint_bits != 0 ? 0 : tamis__build_size_bits(build);
}

/* Brings the staged file to the disk.  A sync cannot be ended, and of a large file it takes seconds
 * on a slow disk.  So the file is written out in pieces, and little is left for the sync. */
static int bring_to_disk(struct tamis_build *build)
{
    const struct tamis__place *place = &build->store->place;
    struct tamis__staged *staged = &build->draft.staged;
    const uint64_t bytes = tamis__header_file_bytes(&build->draft.header);
    int rc = 0;
    for (uint64_t at = 0; rc == 0 && at < bytes; at += WRITE_OUT_BYTES) {
        rc = tamis__segment_write_out(place, staged, at, WRITE_OUT_BYTES);
        if (rc == 0) rc = tamis__crew_tell(&build->crew);
    }
    return rc != 0 ? rc : tamis__segment_sync_staged(place, staged, &build->draft.header);
}

static int make_build(struct tamis_build *build)
{
    const bool fuse = build->fingerprint_bits != 0;
    int rc = fuse ? tamis__build_make_fuse(build) : tamis__build_make_bits(build);
    if (rc == 0) rc = bring_to_disk(build);
    if (rc != 0) return rc;
    TAMIS__POINT(TAMIS__POINT_BUILD_MADE);
    rc = tamis__build_verify(build);
    if (rc == 0) rc = tamis__build_judge(build, &build->segment);
    if (rc != 0) return rc;
    TAMIS__POINT(TAMIS__POINT_BUILD_VERIFIED);
    if (fuse)
        build->draft.header.data_checksum =
            tamis__checksum(build->segment.data, (size_t)build->draft.header.data_bytes);
    return tamis__segment_check(&build->segment);
}

static struct tamis__edition edition_of(struct tamis_build *build)
{
    const bool fuse = build->fingerprint_bits != 0;
    struct tamis__edition edition = {
        .name = build->name,
        .drafts = &build->draft,
        .count = 1,
        .capacity = build->draft.header.capacity,
        .fp_rate = build->filter.fp_rate,
        .policy = {.on_full = TAMIS_ON_FULL_WARN,
                   .capacity = build->draft.header.capacity,
                   .fp_rate = build->filter.fp_rate},
        .guards = guards_of(&build->spec),
        .set_keep = (build->spec.flags & TAMIS_BUILD_KEEP) != 0,
        .keep = build->spec.keep,
        .by_hand = &build->by_hand,
        .found = &build->found,
    };
    if (!fuse) {
        edition.capacity = build->plan.sizing.capacity;
        edition.fp_rate = build->plan.policy.fp_rate;
        edition.policy = build->plan.policy;
    }
    memcpy(edition.policy.key_rule, build->rule.text, sizeof edition.policy.key_rule);
    memcpy(edition.key_digest, build->result.key_digest, sizeof edition.key_digest);
    return edition;
}

static int publish_build(struct tamis_build *build)
{
    int rc = tamis__crew_phase(&build->crew, TAMIS_BUILD_PUBLISHING, 1);
    if (rc != 0) return rc;
    drop_keys(build);
    struct tamis__edition edition = edition_of(build);
    struct tamis__published published;
    rc = tamis__publish_edition(build->store, &edition, &published);
    if (rc < 0) return rc;
    build->result.generation = published.generation;
    build->result.exceptions = published.exceptions;
    build->result.size_bytes = published.size_bytes;
    build->crew.done = 1;
    build->crew.told_at = 0;
    (void)tamis__crew_tell(&build->crew); /* it is too late to end it */
    return 1;
}

static int run_build(struct tamis_build *build)
{
    const struct tamis__guards guards = guards_of(&build->spec);
    int rc = sort(build);
    if (rc == 0)
        rc = tamis__guards_pass(&guards, build->store, build->name, build->keyset.distinct);
    if (rc == 0 && (build->spec.flags & TAMIS_BUILD_IF_CHANGED) != 0) {
        rc = tamis__build_is_in_force(build);
        if (rc != 0) return rc == 1 ? 0 : rc;
    }
    if (rc == 0) rc = make_build(build);
    return rc != 0 ? rc : publish_build(build);
}

TAMIS_API int tamis_build_publish(tamis_build *build, struct tamis_build_result *result)
{
    int rc = check_open(build);
    if (rc == 0 && result != NULL) rc = tamis__check_struct(result, "struct tamis_build_result");
    if (rc != 0) return rc;
    rc = run_build(build);
    build->over = true;
    drop_keys(build);
    tamis__segment_discard(&build->store->place, &build->draft.staged);
    if (rc < 0) return note_failure(build, rc);
    build->result.size = sizeof build->result;
    if (result != NULL) tamis__give_struct(&build->result, sizeof build->result, result);
    return rc;
}
