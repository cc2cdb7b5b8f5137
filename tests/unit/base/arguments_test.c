/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arguments_test.c: what callers of other versions, and careless ones, pass
 * (store/base/arguments.h).
 *
 * A smaller struct is that of an older program, a larger one that of a newer.  Seen to fail before
 * structs had a size: a new field at the end was written past the struct of whoever was compiled
 * earlier.  Before pointers were checked most of the calls below ended in SIGSEGV.
 */
#include "fixture.h"

#include <string.h>

#include "tamis.h"
#include "txn/store.h"

#define UNTOUCHED 0xa5

/* A struct of any size with what must stay as it is behind it. */
union room {
    struct tamis_filter_stat stat;
    struct tamis_segment_stat segment;
    struct tamis_filter_spec spec;
    struct tamis_sizing sizing;
    struct tamis_comparison comparison;
    unsigned char bytes[4096];
};

static void fresh(union room *room, size_t size)
{
    memset(room->bytes, UNTOUCHED, sizeof room->bytes);
    memcpy(room->bytes, &size, sizeof size);
}

static void assert_untouched(const union room *room, size_t from)
{
    for (size_t i = from; i < sizeof room->bytes; i++)
        assert_int_equal(room->bytes[i], UNTOUCHED);
}

STORE_CASE(struct_of_an_older_program_is_filled_as_far_as_it_goes)
{
    AUTO_FILTER *filter = fixture_filter(store, "a", 1000);
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    union room room;
    assert_int_equal(tamis_filter_add(filter, "k", 1), 1);
    size_t size = offsetof(struct tamis_filter_stat, size_bytes);
    fresh(&room, size);
    assert_done(tamis_filter_stat(filter, &room.stat));
    assert_int_equal(room.stat.items, 1);
    assert_int_equal(room.stat.size, size);
    assert_untouched(&room, size);
    size = offsetof(struct tamis_segment_stat, ones);
    fresh(&room, size);
    assert_done(tamis_filter_fill(filter, 0, &room.segment));
    assert_int_equal(room.segment.items, 1);
    assert_untouched(&room, size);
    size = offsetof(struct tamis_filter_spec, on_full);
    fresh(&room, size);
    assert_done(tamis_filter_like(filter, &room.spec, hash_set));
    assert_int_equal(room.spec.capacity, 1000);
    assert_untouched(&room, size);
    size = offsetof(struct tamis_comparison, jaccard);
    fresh(&room, size);
    assert_done(tamis_filter_compare(filter, filter, &room.comparison));
    assert_true(room.comparison.items_both > 0.9);
    assert_untouched(&room, size);
}

STORE_CASE(struct_of_a_newer_program_is_filled_as_far_as_the_library_knows)
{
    AUTO_FILTER *filter = fixture_filter(store, "a", 1000);
    union room room;
    fresh(&room, sizeof room.stat + 64);
    assert_done(tamis_filter_stat(filter, &room.stat));
    assert_int_equal(room.stat.size, sizeof room.stat);
    assert_int_equal(room.stat.capacity, 1000);
    assert_untouched(&room, sizeof room.stat);
    fresh(&room, sizeof room.segment + 64);
    assert_done(tamis_filter_segment(filter, 0, &room.segment));
    assert_int_equal(room.segment.size, sizeof room.segment);
    assert_untouched(&room, sizeof room.segment);
}

/* What an older program has no field for counts as 0, whatever lies behind its struct. */
STORE_CASE(spec_of_an_older_program_means_what_it_meant)
{
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    union room room;
    fresh(&room, offsetof(struct tamis_filter_spec, k));
    room.spec.capacity = 500;
    room.spec.fp_rate = 0.001;
    room.spec.kind = TAMIS_KIND_BLOOM;
    tamis_filter *filter = fixture_create(store, "a", &room.spec);
    stat = fixture_stat(filter);
    assert_true(stat.capacity == 500 && stat.kind == TAMIS_KIND_BLOOM && stat.seed == 0);
    assert_int_equal(stat.on_full, TAMIS_ON_FULL_GROW);
    assert_done(tamis_filter_close(filter));
    fresh(&room, offsetof(struct tamis_sizing, data_bytes));
    memset(room.bytes + sizeof(size_t), 0, room.sizing.size - sizeof(size_t));
    room.sizing.capacity = 1000;
    room.sizing.fp_rate = 0.01;
    assert_done(tamis_size(&room.sizing));
    assert_true(room.sizing.m_bits > 9000);
    assert_untouched(&room, offsetof(struct tamis_sizing, data_bytes));
}

STORE_CASE(spec_of_a_newer_program_is_taken_unless_it_asks_for_what_is_not_known)
{
    union room room;
    memset(&room, 0, sizeof room);
    room.spec.size = sizeof room.spec + 64;
    room.spec.capacity = 500;
    assert_done(tamis_filter_create(store, "a", &room.spec, NULL));
    room.bytes[sizeof room.spec + 8] = 1;
    assert_refused(TAMIS_EUNSUPPORTED, "use a newer library",
                   tamis_filter_create(store, "b", &room.spec, NULL));
    room.spec.size = sizeof room.spec;
    assert_done(tamis_filter_create(store, "b", &room.spec, NULL));
}

static int64_t read_nothing(void *context, void *buffer, size_t bytes)
{
    (void)context;
    (void)buffer;
    return bytes > 0 ? 0 : TAMIS_EINVAL;
}

STORE_CASE(struct_without_its_size_is_refused)
{
    tamis_filter *filter = fixture_filter(store, "a", 1000), *other = NULL;
    tamis_store *opened = NULL;
    const struct tamis_source source = {.size = sizeof source, .read = read_nothing};
    tamis_build *build;
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    union room room;
    static const size_t wrong[] = {0, sizeof(size_t), 4097, SIZE_MAX, 0xa5a5a5a5a5a5a5a5};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        fresh(&room, wrong[i]);
        void *any = &room;
        const int results[] = {
            tamis_filter_stat(filter, any),
            tamis_filter_segment(filter, 0, any),
            tamis_filter_fill(filter, 0, any),
            tamis_filter_like(filter, any, hash_set),
            tamis_filter_compare(filter, filter, any),
            tamis_filter_explain(filter, 0, "k", 1, any),
            tamis_explain(NULL, 100, 3, 0, "k", 1, any),
            tamis_filter_check(NULL, "b", any),
            tamis_filter_create(store, "b", any, NULL),
            tamis_filter_open_or_create(store, "b", any, &other),
            tamis_filter_merge(filter, any),
            tamis_filter_create_merged(store, "b", any, NULL),
            tamis_filter_import(store, "b", "tamis", any, &source, NULL),
            tamis_filter_import(store, "b", "tamis", NULL, any, NULL),
            tamis_filter_export(filter, "tamis", 0, any),
            tamis_build_begin(store, "b", any, &build),
            tamis_store_open_with("b", any, &opened),
            tamis_size(any),
        };
        for (size_t j = 0; j < sizeof results / sizeof results[0]; j++)
            if (results[j] != TAMIS_EINVAL) fail_msg("size %zu, call %zu", wrong[i], j);
        assert_non_null(strstr(tamis_last_error(), "sizeof(struct tamis_sizing)"));
        assert_untouched(&room, sizeof(size_t));
    }
    const struct tamis_build_spec spec = TAMIS_INIT(struct tamis_build_spec);
    assert_done(tamis_build_begin(store, "b", &spec, &build));
    fresh(&room, 0);
    assert_refused(TAMIS_EINVAL, "sizeof(struct tamis_build_result)",
                   tamis_build_publish(build, (struct tamis_build_result *)(void *)&room));
    assert_int_equal(tamis_build_publish(build, NULL), 1); /* and nothing was lost by it */
    tamis_build_close(build);
    assert_done(tamis_filter_close(filter));
}

/* ---- NULL ------------------------------------------------------------------------------------ */

static int list_nothing(void *context, const struct tamis_filter_stat *stat)
{
    (void)context;
    (void)stat;
    return 0;
}

static int generations_nothing(void *context, const struct tamis_generation_stat *stat)
{
    (void)context;
    (void)stat;
    return 0;
}

/* Each of these calls has one argument NULL that it needs. */
// NOLINTNEXTLINE(readability-function-size): a list of all calls
CASE(null_arguments_are_refused_with_a_sentence)
{
    AUTO_STORE *store = fixture_store(NULL);
    tamis_filter *filter = fixture_filter(store, "a", 1000), *other = NULL;
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 10};
    const struct tamis_source source = {.size = sizeof source};
    const struct tamis_sink sink = {.size = sizeof sink};
    const struct tamis_merge merge = {.size = sizeof merge, .count = 1};
    const struct tamis_merge hole = {
        .size = sizeof hole, .count = 1, .sources = (tamis_filter *[]){NULL}};
    struct tamis_comparison comparison = TAMIS_INIT(struct tamis_comparison);
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    struct tamis_segment_stat segment = TAMIS_INIT(struct tamis_segment_stat);
    struct tamis_filter_spec like = TAMIS_INIT(struct tamis_filter_spec);
    char text[64], hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    uint64_t count, positions[TAMIS_K_MAX];
    struct tamis_explanation explanation = {.size = sizeof explanation,
                                            .positions_max = TAMIS_K_MAX};
    struct tamis_explanation silent = {.size = sizeof silent,
                                       .positions = positions,
                                       .positions_max = TAMIS_K_MAX,
                                       .hashes_bytes = sizeof text};
    double fill;
    uint8_t answers[1];
    uint32_t kind;
    tamis_store *opened;
    tamis_build *build;
    const int64_t results[] = {
        tamis_store_open(NULL, 0, &opened),
        tamis_store_open("x", 0, NULL),
        tamis_store_open_with(NULL, NULL, &opened),
        tamis_store_open_with("x", NULL, NULL),
        tamis_store_set_busy_timeout(NULL, 1),
        tamis_store_set_busy_callback(NULL, NULL, NULL),
        tamis_size(NULL),
        tamis_kind_from_name(NULL, &kind),
        tamis_kind_from_name("bloom", NULL),
        tamis_filter_check(NULL, NULL, &spec),
        tamis_filter_check(NULL, "x", NULL),
        tamis_filter_create(NULL, "x", &spec, &other),
        tamis_filter_create(store, NULL, &spec, &other),
        tamis_filter_create(store, "x", NULL, &other),
        tamis_filter_open(NULL, "a", 0, &other),
        tamis_filter_open(store, NULL, 0, &other),
        tamis_filter_open(store, "a", 0, NULL),
        tamis_filter_open_or_create(NULL, "x", &spec, &other),
        tamis_filter_open_or_create(store, NULL, &spec, &other),
        tamis_filter_open_or_create(store, "x", NULL, &other),
        tamis_filter_open_or_create(store, "x", &spec, NULL),
    };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i] != TAMIS_EINVAL) fail_msg("making and opening: call %zu", i);
    const int64_t more[] = {
        tamis_filter_add(NULL, "k", 1),
        tamis_filter_add(filter, NULL, 1),
        tamis_filter_contains(NULL, "k", 1),
        tamis_filter_contains(filter, NULL, 1),
        tamis_filter_exists(NULL, "k"),
        tamis_filter_prefetch(NULL, "k", 1),
        tamis_filter_prefetch(filter, NULL, 1),
        tamis_filter_add_batch(NULL, NULL, 0, NULL),
        tamis_filter_add_batch(filter, NULL, 1, NULL),
        tamis_filter_contains_batch(NULL, NULL, 0, NULL),
        tamis_filter_contains_batch(filter, NULL, 1, NULL),
        tamis_filter_remove(NULL, "k", 1),
        tamis_filter_remove_batch(filter, NULL, 1, answers),
        tamis_filter_count(NULL, "k", 1),
        tamis_filter_count_batch(filter, NULL, 1, &count),
        tamis_filter_rotate(NULL),
        tamis_filter_sync(NULL),
        tamis_filter_set_sync_interval(NULL, 0),
        tamis_filter_accept(NULL),
        tamis_filter_stat(NULL, &stat),
        tamis_filter_stat(filter, NULL),
        tamis_filter_items(NULL),
        tamis_filter_segment(NULL, 0, &segment),
        tamis_filter_segment(filter, 0, NULL),
        tamis_filter_fill(NULL, 0, &segment),
        tamis_filter_fill(filter, 0, NULL),
        tamis_filter_fill_map(NULL, 0, &fill, 1),
        tamis_filter_fill_map(filter, 0, NULL, 1),
        tamis_filter_explain(NULL, 0, "k", 1, &silent),
        tamis_filter_explain(filter, 0, "k", 1, NULL),
        tamis_filter_explain(filter, 0, "k", 1, &explanation),
        tamis_filter_explain(filter, 0, "k", 1, &silent),
        tamis_filter_explain(filter, 0, NULL, 1, &silent),
        tamis_explain("xxh3", 100, 3, 0, "k", 1, NULL),
        tamis_explain("xxh3", 100, 3, 0, "k", 1, &explanation),
        tamis_explain("xxh3", 100, 3, 0, "k", 1, &silent),
        tamis_filter_import(NULL, "x", "tamis", NULL, &source, NULL),
        tamis_filter_import(store, NULL, "tamis", NULL, &source, NULL),
        tamis_filter_import(store, "x", NULL, NULL, &source, NULL),
        tamis_filter_import(store, "x", "tamis", NULL, NULL, NULL),
        tamis_filter_import(store, "x", "tamis", NULL, &source, NULL),
        tamis_filter_export(NULL, "tamis", 0, &sink),
        tamis_filter_export(filter, NULL, 0, &sink),
        tamis_filter_export(filter, "tamis", 0, NULL),
        tamis_filter_export(filter, "tamis", 0, &sink),
        tamis_filter_merge(NULL, &merge),
        tamis_filter_merge(filter, NULL),
        tamis_filter_merge(filter, &merge),
        tamis_filter_merge(filter, &hole),
        tamis_filter_create_merged(NULL, "x", &merge, NULL),
        tamis_filter_create_merged(store, "x", NULL, NULL),
        tamis_filter_create_merged(store, "x", &hole, NULL),
        tamis_filter_like(NULL, &like, hash_set),
        tamis_filter_like(filter, NULL, hash_set),
        tamis_filter_like(filter, &like, NULL),
        tamis_filter_compare(NULL, filter, &comparison),
        tamis_filter_compare(filter, NULL, &comparison),
        tamis_filter_compare(filter, filter, NULL),
        tamis_store_list(NULL, NULL, list_nothing, NULL),
        tamis_store_list(store, NULL, NULL, NULL),
        tamis_filter_may_wait(NULL, 1),
        tamis_filter_prepare(NULL, 0),
        tamis_filter_drop(NULL, "x"),
        tamis_filter_drop(store, NULL),
        tamis_filter_drop_many(NULL, NULL, NULL, 0),
        tamis_filter_drop_many(store, NULL, NULL, 1),
        tamis_filter_rename(NULL, "a", "b"),
        tamis_filter_rename(store, NULL, "b"),
        tamis_filter_rename(store, "a", NULL),
        tamis_store_verify(NULL, NULL, NULL, NULL),
        tamis_build_begin(NULL, "x", NULL, &build),
        tamis_build_begin(store, NULL, NULL, &build),
        tamis_build_begin(store, "x", NULL, NULL),
        tamis_build_add(NULL, NULL, 0),
        tamis_build_against(NULL, NULL, 0),
        tamis_build_except(NULL, NULL, 0),
        tamis_build_publish(NULL, NULL),
        tamis_filter_generations(NULL, "a", generations_nothing, NULL),
        tamis_filter_generations(store, NULL, generations_nothing, NULL),
        tamis_filter_generations(store, "a", NULL, NULL),
        tamis_filter_rollback(NULL, "a", 0),
        tamis_filter_rollback(store, NULL, 0),
        tamis_filter_except(NULL, "a", NULL, 0),
        tamis_filter_except(store, "a", NULL, 1),
        tamis_filter_unexcept(NULL, "a", NULL, 0, NULL),
        tamis_filter_unexcept(store, "a", NULL, 1, answers),
        tamis_filter_exceptions(NULL, "a", NULL, NULL),
        tamis_filter_exceptions(store, "a", NULL, NULL),
        tamis_store_repair(NULL, 0, NULL, NULL),
        tamis_store_backup(NULL, "x", NULL, NULL),
        tamis_store_backup(store, NULL, NULL, NULL),
    };
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (more[i] != TAMIS_EINVAL) fail_msg("call %zu: %lld", i, (long long)more[i]);
    assert_string_not_equal(tamis_last_error(), "");
    assert_null(tamis_hash_set_weakness(NULL));
    assert_int_equal(fixture_problems(store->place.path), 0);
    assert_done(tamis_filter_close(filter));
}
