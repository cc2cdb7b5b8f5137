/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build_test.c: what builds make: the answers, the bytes, which depend on the keys and the spec
 * alone, exceptions, and when there is nothing to do.  build_faults_test.c has what ends them.
 */
#include "builds.h"

#include <stdlib.h>

#include "base/point.h"
#include "build/budget.h"
#include "segment/header.h"
#include "txn/store.h"

#define KEYS 20000u
static const struct builds_keys keys = {.family = 'k', .count = KEYS};
static const struct builds_keys strangers = {.family = 's', .count = 100000};

/* ---- Answers --------------------------------------------------------------------------------- */

static const struct tamis_filter_spec specs[] = {
    {.size = sizeof specs[0], .fp_rate = 0},
    {.size = sizeof specs[0], .fp_rate = 1.0 / 256, .seed = 7},
    {.size = sizeof specs[0], .kind = TAMIS_KIND_FUSE, .fp_rate = 0.001},
    {.size = sizeof specs[0], .kind = TAMIS_KIND_FUSE, .fp_rate = 1e-9},
    {.size = sizeof specs[0], .kind = TAMIS_KIND_BLOCKED, .fp_rate = 0.01, .seed = 7},
    {.size = sizeof specs[0], .kind = TAMIS_KIND_BLOCKED, .fp_rate = 0.001, .capacity = 3 * KEYS},
    {.size = sizeof specs[0],
     .kind = TAMIS_KIND_BLOCKED,
     .fp_rate = 0.01,
     .on_full = TAMIS_ON_FULL_REFUSE},
    {.size = sizeof specs[0], .kind = TAMIS_KIND_BLOOM, .fp_rate = 0.001},
    {.size = sizeof specs[0], .kind = TAMIS_KIND_BLOOM, .m_bits = 300000, .k = 7},
    {.size = sizeof specs[0],
     .kind = TAMIS_KIND_BLOOM,
     .m_bits = 400000,
     .hash_set = "php:bkdr,sdbm,js"},
    {.size = sizeof specs[0], .kind = TAMIS_KIND_BLOOM, .hash_set = "guava", .fp_rate = 0.01},
};
#define SPECS (sizeof specs / sizeof specs[0])

static void check_result(const struct tamis_build_result *result, const struct builds_keys *given)
{
    const unsigned times = given->times ? given->times : 1;
    assert_int_equal(result->keys, given->count * times);
    assert_int_equal(result->distinct, given->count);
    assert_int_equal(result->sampled, 1 << 20);
    assert_int_equal(result->exceptions, 0);
    assert_true(result->size_bytes >= TAMIS__HEADER_BYTES);
}

CASE(build_of_any_kind_answers_for_its_keys)
{
    struct builds_keys twice = keys;
    const uint64_t samples = tamis__point_samples;
    twice.times = 2;
    twice.shuffle = random_seed();
    tamis__point_samples = (uint64_t)1 << 20; /* as installed */
    for (size_t i = 0; i < SPECS; i++) {
        AUTO_FREE char *path;
        AUTO_STORE *store = fixture_store(&path);
        const struct tamis_build_spec spec = {.size = sizeof spec, .filter = &specs[i]};
        struct tamis_build_result result = {.size = sizeof result};
        assert_int_equal(assert_done(builds_run(store, "list", &spec, &twice, &result)), 1);
        check_result(&result, &twice);
        assert_int_equal(result.generation, 1);
        assert_int_equal(builds_count_yes(store, "list", &keys), KEYS);
        const double rate = specs[i].fp_rate > 0 ? specs[i].fp_rate : 0.011;
        const uint64_t yes = builds_count_yes(store, "list", &strangers);
        if (specs[i].m_bits == 0 || specs[i].hash_set == NULL)
            assert_true((double)yes < rate * 100000 * 1.2 + 40);
        assert_int_equal(fixture_problems(path), 0);
        assert_int_equal(fixture_files(path, "segments"), 1);
        assert_int_equal(fixture_files(path, "staging"), 0);
    }
    tamis__point_samples = samples;
}

/*
 * The rate of a filter of a few hundred keys is its own, as a few blocks are filled unevenly.  Seen
 * to fail while the sampled rate was held against the mean of all key sets alone: one build in nine
 * published nothing.
 */
STORE_CASE(build_of_few_keys_is_not_taken_for_damaged)
{
    static const uint32_t kinds[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM};
    const uint64_t samples = tamis__point_samples;
    tamis__point_samples = (uint64_t)1 << 20; /* as installed */
    for (uint64_t i = 0; i < 60; i++) {
        const struct builds_keys few = {.family = 'f', .first = i * 1000, .count = 655 >> i % 8};
        const struct tamis_build_spec spec = {.size = sizeof spec,
                                              .filter = SPEC(.kind = kinds[i % 5 == 4], .seed = i)};
        struct tamis_build_result result = {.size = sizeof result};
        assert_int_equal(assert_done(builds_run(store, "few", &spec, &few, &result)), 1);
        assert_int_equal(result.sampled, 1 << 20);
    }
    tamis__point_samples = samples;
}

STORE_CASE(build_that_is_outgrown_by_its_capacity_holds_all)
{
    const struct tamis_build_spec spec = {
        .size = sizeof spec,
        .filter = SPEC(.kind = TAMIS_KIND_BLOCKED, .capacity = 10, .fp_rate = 0.01)};
    assert_done(builds_run(store, "list", &spec, &keys, NULL));
    AUTO_FILTER *filter = fixture_opened(store, "list", 0);
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.capacity, KEYS);
    assert_int_equal(stat.items, KEYS);
    assert_int_equal(stat.kind, TAMIS_KIND_BLOCKED);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

struct bytes {
    struct tamis__segment_header header;
    char *data;
};

static struct bytes read_segment(const char *path, tamis_store *store, const char *name)
{
    struct bytes bytes;
    const char *file = fixture_segment_path(path, builds_segment(store, name));
    fixture_peek(file, 0, &bytes.header, sizeof bytes.header);
    assert_int_equal(fixture_size(file), bytes.header.file_bytes);
    bytes.data = malloc((size_t)bytes.header.data_bytes);
    fixture_peek(file, bytes.header.data_offset, bytes.data, (size_t)bytes.header.data_bytes);
    return bytes;
}

/* But for number, times and what counts publications the constant part is the same too. */
static void assert_same_bytes(struct bytes *a, struct bytes *b)
{
    a->header.number = b->header.number;
    a->header.created_at = b->header.created_at;
    a->header.publication = b->header.publication;
    a->header.generation = b->header.generation;
    a->header.checksum = b->header.checksum;
    assert_memory_equal(&a->header, &b->header, offsetof(struct tamis__segment_header, labels));
    assert_int_equal(tamis__header_items(&a->header), tamis__header_items(&b->header));
    assert_memory_equal(a->data, b->data, (size_t)a->header.data_bytes);
}

/* Seen to fail: with pieces, and with a capacity, that follow from the keys that were added and not
 * from the distinct ones. */
static void check_same(const struct tamis_filter_spec *filter, uint64_t count)
{
    static const struct {
        unsigned times;
        uint64_t shuffle, memory_bytes;
        uint32_t threads;
    } ways[] = {{1, 0, 0, 1}, {3, 1, 0, 2}, {2, 2, 1 << 20, 1}, {1, 3, 1 << 20, 4}};
    AUTO_FREE char *path;
    AUTO_STORE *store = fixture_store(&path);
    struct bytes first = {.data = NULL};
    uint8_t digest[16];
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const struct tamis_build_spec spec = {.size = sizeof spec,
                                              .filter = filter,
                                              .memory_bytes = ways[i].memory_bytes,
                                              .threads = ways[i].threads};
        struct builds_keys given = {.family = 'k', .count = count, .times = ways[i].times};
        struct tamis_build_result result = {.size = sizeof result};
        given.shuffle = ways[i].shuffle != 0 ? random_seed() + ways[i].shuffle : 0;
        assert_int_equal(assert_done(builds_run(store, "list", &spec, &given, &result)), 1);
        struct bytes now = read_segment(path, store, "list");
        if (i == 0) {
            first = now;
            memcpy(digest, result.key_digest, sizeof digest);
            continue;
        }
        assert_memory_equal(digest, result.key_digest, sizeof digest);
        assert_same_bytes(&first, &now);
        free(now.data);
    }
    free(first.data);
}

CASE(build_bytes_depend_on_keys_and_spec_alone)
{
    for (size_t i = 0; i < SPECS; i++)
        check_same(&specs[i], KEYS);
    check_same(&specs[0], 100000);                          /* does not fit into 1 MiB */
    if (!FIXTURE_SANITIZED) check_same(&specs[1], 3100000); /* several pieces */
}

/* ---- Exceptions ------------------------------------------------------------------------------ */

static void give(tamis_build *build, builds_fn *fn, const struct builds_keys *given)
{
    assert_done(builds_give(build, fn, given));
}

static void check_against(const struct tamis_filter_spec *filter, uint64_t memory_bytes)
{
    AUTO_FREE char *path;
    AUTO_STORE *store = fixture_store(&path);
    const struct tamis_build_spec spec = {
        .size = sizeof spec, .filter = filter, .memory_bytes = memory_bytes};
    const struct builds_keys both = {.family = 'k', .first = KEYS - 100, .count = 100, .times = 3};
    struct tamis_build_result result = {.size = sizeof result};
    tamis_build *build;
    assert_done(tamis_build_begin(store, "list", &spec, &build));
    give(build, tamis_build_against, &strangers);
    give(build, tamis_build_add, &keys);
    give(build, tamis_build_against, &strangers);
    give(build, tamis_build_against, &both);
    assert_int_equal(assert_done(tamis_build_publish(build, &result)), 1);
    tamis_build_close(build);
    assert_true(result.found > 20 && result.found < strangers.count / 2);
    assert_int_equal(result.exceptions, result.found);
    assert_int_equal(result.conflicts, 100);
    assert_int_equal(builds_count_yes(store, "list", &strangers), 0);
    assert_int_equal(builds_count_yes(store, "list", &keys), KEYS);
    assert_int_equal(fixture_problems(path), 0);
}

/* Seen to fail: with found exceptions that are not given to the publisher, and with added keys that
 * are not looked for in the keyset. */
CASE(build_against_known_good_keys_answers_no_to_them)
{
    check_against(&specs[1], 0);
    check_against(&specs[1], 1 << 20);
    check_against(&specs[4], 0);
    check_against(&specs[10], 0);
}

/* ---- Nothing to do --------------------------------------------------------------------------- */

struct change {
    const char *what;
    const struct tamis_filter_spec *filter;
    uint32_t flags;
    const struct builds_keys *keys, *except, *against;
    int published;
};

static int run_change(tamis_store *store, const struct change *change,
                      struct tamis_build_result *result)
{
    const struct tamis_build_spec spec = {
        .size = sizeof spec, .filter = change->filter, .flags = change->flags, .keep = 3};
    AUTO_BUILD *build;
    assert_done(tamis_build_begin(store, "list", &spec, &build));
    give(build, tamis_build_add, change->keys);
    give(build, tamis_build_except, change->except);
    give(build, tamis_build_against, change->against);
    return (int)assert_done(tamis_build_publish(build, result));
}

/* Strangers are found in it: a filter that may grow has a lower rate while it is small. */
#define PLAIN                                                                                      \
    .size = sizeof(struct tamis_filter_spec), .kind = TAMIS_KIND_BLOCKED,                          \
    .on_full = TAMIS_ON_FULL_WARN, .fp_rate = 0.01

/* Each after the one before it. */
STORE_CASE(build_if_changed_publishes_what_has_changed)
{
    const uint32_t flags = TAMIS_BUILD_IF_CHANGED;
    const struct tamis_filter_spec fuse = {.size = sizeof fuse, .fp_rate = 1.0 / 256},
                                   other = {.size = sizeof other, .fp_rate = 0.001},
                                   blocked = {PLAIN}, larger = {PLAIN, .capacity = 2 * KEYS},
                                   durable = {PLAIN, .flags = TAMIS_FILTER_DURABLE};
    const struct builds_keys shuffled = {.family = 'k', .count = KEYS, .times = 2, .shuffle = 5},
                             more = {.family = 'k', .count = KEYS + 1},
                             some = {.family = 'k', .count = 5},
                             good = {.family = 's', .count = 50000}, none = {.count = 0};
    const struct change changes[] = {
        {"a new filter", &fuse, flags, &keys, &none, &none, 1},
        {"nothing", &fuse, flags, &shuffled, &none, &none, 0},
        {"without the flag", &fuse, 0, &keys, &none, &none, 1},
        {"a key", &fuse, flags, &more, &none, &none, 1},
        {"the rate", &other, flags, &more, &none, &none, 1},
        {"nothing, again", &other, flags, &more, &none, &none, 0},
        {"keep", &other, flags | TAMIS_BUILD_KEEP, &more, &none, &none, 1},
        {"keep not", &other, flags | TAMIS_BUILD_KEEP, &more, &none, &none, 0},
        {"exceptions", &other, flags, &more, &some, &none, 1},
        {"those", &other, flags, &more, &some, &none, 0},
        {"fewer of them", &other, flags, &more, &none, &none, 0},
        {"the kind", &blocked, flags, &more, &none, &none, 1},
        {"nothing of it", &blocked, flags, &more, &none, &none, 0},
        /* Seen to fail with same_policy() that does not look at `durable`. */
        {"durable", &durable, flags, &more, &none, &none, 1},
        {"durable already", &durable, flags, &more, &none, &none, 0},
        {"it stays so", &blocked, flags, &more, &none, &none, 0},
        {"the capacity", &larger, flags, &more, &none, &none, 1},
        {"good keys", &larger, flags, &more, &none, &good, 1},
        {"the same", &larger, flags, &more, &none, &good, 0},
        {"none of them", &larger, flags, &more, &none, &none, 1},
    };
    struct tamis_build_result result = {.size = sizeof result};
    uint64_t generation = 0;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const int published = run_change(store, &changes[i], &result);
        if (published != changes[i].published) fail_msg("%s: %d", changes[i].what, published);
        generation += (uint64_t)published;
        assert_int_equal(result.generation, generation);
        assert_int_equal(result.distinct, changes[i].keys->count);
    }
    /* One that is durable is so after each build over it. */
    tamis_filter *filter = fixture_opened(store, "list", TAMIS_OPEN_READ_ONLY);
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_true((stat.flags & TAMIS_FILTER_DURABLE) != 0);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(fixture_files(path, "staging"), 0);
    assert_int_equal(fixture_problems(path), 0);
}

/* Its adders would end.  Seen to fail with check_default_kind() always 0. */
STORE_CASE(build_of_no_kind_replaces_no_other_kind)
{
    const struct builds_keys some = {.family = 'k', .count = 100};
    struct tamis_filter_spec wanted = {.size = sizeof wanted, .fp_rate = 0.01};
    const struct tamis_build_spec spec = {.size = sizeof spec, .filter = &wanted};
    struct tamis_build_result result = {.size = sizeof result};
    tamis_build *build;
    assert_done(tamis_filter_create(store, "list", SPEC(.capacity = 1000), NULL));
    assert_done(tamis_build_begin(store, "list", &spec, &build));
    give(build, tamis_build_add, &some);
    assert_refused(TAMIS_EMISMATCH, "give --kind blocked to build it as it is, or --kind fuse",
                   tamis_build_publish(build, &result));
    tamis_build_close(build);
    const uint32_t kinds[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_FUSE, TAMIS_KIND_DEFAULT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        wanted.kind = kinds[i];
        assert_done(tamis_build_begin(store, "list", &spec, &build));
        give(build, tamis_build_add, &some);
        assert_int_equal(assert_done(tamis_build_publish(build, &result)), 1);
        tamis_build_close(build);
    }
}

STORE_CASE(build_if_changed_sees_what_others_have_added)
{
    const struct tamis_build_spec spec = {
        .size = sizeof spec,
        .filter = SPEC(.kind = TAMIS_KIND_BLOCKED, .fp_rate = 1e-6, .capacity = 2 * KEYS),
        .flags = TAMIS_BUILD_IF_CHANGED};
    assert_int_equal(assert_done(builds_run(store, "list", &spec, &keys, NULL)), 1);
    assert_int_equal(assert_done(builds_run(store, "list", &spec, &keys, NULL)), 0);
    AUTO_FILTER *filter = fixture_opened(store, "list", 0);
    assert_int_equal(tamis_filter_add(filter, "another", 7), 1);
    assert_int_equal(assert_done(builds_run(store, "list", &spec, &keys, NULL)), 1);
    assert_int_equal(tamis_filter_contains(filter, "another", 7), 0);
}

/* ---- Refused --------------------------------------------------------------------------------- */

#define OF_BUILD(...)                                                                              \
    {                                                                                              \
        .size = sizeof(struct tamis_build_spec), __VA_ARGS__                                       \
    }
#define OF_FILTER(...)                                                                             \
    OF_BUILD(.filter = &(const struct tamis_filter_spec){.size = sizeof(struct tamis_filter_spec), \
                                                         __VA_ARGS__})

CASE(build_with_a_wrong_spec_is_refused)
{
    const struct {
        struct tamis_build_spec spec;
        int code;
        const char *words;
    } cases[] = {
        {OF_FILTER(.kind = TAMIS_KIND_COUNTING), TAMIS_EUNSUPPORTED, "counting is not built"},
        {OF_FILTER(.kind = 77), TAMIS_EINVAL, "no kind of number 77"},
        {OF_FILTER(.window_ns = 1), TAMIS_EUNSUPPORTED, "with a window"},
        {OF_FILTER(.window_items = 1), TAMIS_EUNSUPPORTED, "with a window"},
        {OF_FILTER(.hash_set = "guava"), TAMIS_EUNSUPPORTED, "xxh3 or sip only"},
        {OF_FILTER(.hash_set = "sip", .seed = 1), TAMIS_EINVAL, "sip has no seed"},
        {OF_FILTER(.secret = {1}), TAMIS_EINVAL, "xxh3 has no secret"},
        {OF_FILTER(.fp_rate = 1e-10), TAMIS_EUNSUPPORTED, "build another kind"},
        {OF_FILTER(.fp_rate = 2), TAMIS_EINVAL, "a rate of 2"},
        {OF_FILTER(.m_bits = 1000), TAMIS_EINVAL, "neither m nor k"},
        {OF_FILTER(.on_full = TAMIS_ON_FULL_GROW), TAMIS_EINVAL, "never full"},
        {OF_FILTER(.flags = 2), TAMIS_EINVAL, "filter flags 0x2"},
        {OF_FILTER(.reserved = 7), TAMIS_EINVAL, "'reserved'"},
        {OF_FILTER(.kind = TAMIS_KIND_BLOCKED, .k = 3), TAMIS_EINVAL, "k alone"},
        {OF_FILTER(.kind = TAMIS_KIND_BLOCKED, .hash_set = "md6"), TAMIS_EINVAL, "md6"},
        {OF_BUILD(.flags = 8), TAMIS_EINVAL, "build flags 0x8"},
        {OF_BUILD(.flags = TAMIS_BUILD_KEEP, .keep = 1001), TAMIS_EINVAL, "1001 older generations"},
        {OF_BUILD(.memory_bytes = 1000), TAMIS_EINVAL, "1 MiB or more"},
        {OF_BUILD(.threads = 5000), TAMIS_EINVAL, "5000 threads"},
    };
    AUTO_FREE char *path;
    AUTO_STORE *store = fixture_store(&path);
    tamis_build *build = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i].code, cases[i].words,
                       tamis_build_begin(store, "list", &cases[i].spec, &build));
    static const struct tamis_build_spec good = {.size = sizeof good};
    assert_refused(TAMIS_EINVAL, "cannot be empty", tamis_build_begin(store, "", &good, &build));
    assert_refused(TAMIS_EINVAL, "'store' is NULL", tamis_build_begin(NULL, "list", &good, &build));
    assert_refused(TAMIS_EINVAL, "'build' is NULL", tamis_build_begin(store, "list", NULL, NULL));
    assert_refused(TAMIS_EINVAL, "set it to sizeof",
                   tamis_build_begin(store, "list", &(struct tamis_build_spec){.size = 0}, &build));
    tamis_store_close(store);
    store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    assert_refused(TAMIS_EREADONLY, "", tamis_build_begin(store, "list", &good, &build));
}

STORE_CASE(build_of_a_filter_that_counts_or_forgets_is_refused)
{
    static const struct tamis_filter_spec there[] = {
        {.size = sizeof there[0], .kind = TAMIS_KIND_COUNTING, .capacity = 100},
        {.size = sizeof there[0], .capacity = 100, .window_items = 100}};
    static const char *const words[] = {"counting", "a window"};
    static const struct tamis_build_spec spec = {.size = sizeof spec};
    for (size_t i = 0; i < 2; i++) {
        assert_done(tamis_filter_create(store, words[i], &there[i], NULL));
        assert_refused(TAMIS_EMISMATCH, words[i], builds_run(store, words[i], &spec, &keys, NULL));
    }
}

CASE(build_that_is_over_takes_no_more)
{
    static const struct tamis_build_spec spec = {.size = sizeof spec};
    tamis_store *store = fixture_store(NULL);
    AUTO_BUILD *build;
    tamis_build_close(NULL);
    assert_done(tamis_build_begin(store, "list", &spec, &build));
    assert_refused(TAMIS_EINVAL, "key 0",
                   tamis_build_add(build, &(struct tamis_key){.bytes = 1}, 1));
    give(build, tamis_build_add, &keys); /* what was refused whole does no harm */
    assert_int_equal(assert_done(tamis_build_publish(build, NULL)), 1);
    assert_refused(TAMIS_EINVAL, "is over", builds_give(build, tamis_build_add, &keys));
    assert_refused(TAMIS_EINVAL, "is over", tamis_build_publish(build, NULL));
    tamis_store_close(store); /* the build holds it */
}

/* ---- Memory ---------------------------------------------------------------------------------- */

CASE(build_budget_reads_what_the_system_says)
{
    char path[64];
    bool is_v1;
    assert_int_equal(tamis__meminfo_available("MemTotal: 9 kB\nMemAvailable:   123 kB\n"),
                     123 << 10);
    assert_int_equal(tamis__meminfo_available("MemTotal: 9 kB\n"), 0);
    assert_true(tamis__cgroup_path("0::/user.slice/a\n", path, sizeof path, &is_v1));
    assert_string_equal(path, "/user.slice/a");
    assert_false(is_v1);
    assert_true(tamis__cgroup_path("5:cpu:/x\n4:memory:/b\n0::/\n", path, sizeof path, &is_v1));
    assert_string_equal(path, "/b");
    assert_true(is_v1);
    assert_false(tamis__cgroup_path("5:cpu:/x\nnothing", path, sizeof path, &is_v1));
    assert_false(
        tamis__cgroup_path("0::/a-name-longer-than-there-is-room-for-it-in-this-very-array-here",
                           path, sizeof path, &is_v1));
    assert_true(tamis__budget() >= TAMIS__BUDGET_MIN);
}

CASE(build_budget_says_how_many_threads_have_memory)
{
    tamis__budget_available = (uint64_t)160 << 20;
    assert_int_equal(tamis__budget_threads(16, (uint64_t)70 << 20), 1);
    assert_int_equal(tamis__budget_threads(16, (uint64_t)20 << 20), 4);
    assert_int_equal(tamis__budget_threads(16, (uint64_t)900 << 20), 1);
    assert_int_equal(tamis__budget_threads(2, 1), 2);
    tamis__budget_available = 0;
}
