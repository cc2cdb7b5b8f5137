/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * digests_once_test.c: a call hashes a key once, whatever it does with it: one key of a single
 * call, n keys of a batch of n (store/handle/hashed.h).
 *
 * The library that tests link counts the keys that are hashed (tamis__point_hashed).
 *
 * Seen to fail: with the library as it was before store/handle/hashed.h was there (a durable add of
 * a key hashed it 20 times, a batch of 100 412 times); with all keys of an unfinished step of the
 * blocked kind's loop hashed, which are 16; with a frame of a log made from keys; with the digests
 * of a chunk not handed from the chores to the add; with removals that ask for a key and then
 * remove it by remove_batch (1,256 for 1,000 keys); with the pair of redisbloom taken out of its
 * table entry; with each 16th key of a batch that kind fuse is asked for hashed twice.
 */
#include "fixture.h"

#include <stdlib.h>

#include "base/point.h"
#include "hash/hash_set.h"

#define KEYS 4096u
#define DAY INT64_C(86400000000000)

/* A filter, and keys of 8 or 20 bytes that no scene before it has used. */
struct scene {
    tamis_store *store;
    tamis_filter *filter;
    struct tamis_key keys[KEYS];
    char bytes[KEYS][24];
    uint8_t answers[KEYS];
};

static uint64_t last_key;
static int64_t now = 20000 * DAY;

static int64_t test_clock(void)
{
    return now;
}

static const struct shape {
    const char *hash_set;
    uint32_t kind;
    size_t key_bytes;
} shapes[] = {
    {"xxh3", TAMIS_KIND_BLOCKED, 8}, {"xxh3", TAMIS_KIND_BLOCKED, 20},
    {"xxh3", TAMIS_KIND_BLOOM, 8},   {"sip", TAMIS_KIND_BLOCKED, 8},
    {"sip", TAMIS_KIND_BLOOM, 20},
};
#define SHAPES (sizeof shapes / sizeof shapes[0])
static const size_t sizes[] = {1, 2, 15, 100, 1024, 4096};
#define SIZES (sizeof sizes / sizeof sizes[0])

static bool is_missing(const struct shape *shape)
{
    return strcmp(shape->hash_set, "sip") == 0 &&
           tamis__hash_set_by_id(TAMIS__HASH_SIP)->missing != NULL;
}

static struct tamis_filter_spec spec_of(const struct shape *shape, uint64_t capacity,
                                        uint32_t on_full)
{
    return (struct tamis_filter_spec){.size = sizeof(struct tamis_filter_spec),
                                      .capacity = capacity,
                                      .fp_rate = 1e-9, /* so that a new key is new */
                                      .kind = shape->kind,
                                      .hash_set = shape->hash_set,
                                      .on_full = on_full};
}

static struct scene *begin(const struct tamis_filter_spec *spec)
{
    struct scene *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->store = fixture_store(NULL);
    assert_done(tamis_filter_create(s->store, "f", spec, &s->filter));
    return s;
}

static void end(struct scene *s)
{
    assert_done(tamis_filter_close(s->filter));
    tamis_store_close(s->store);
    free(s);
}

static void reopen(struct scene *s)
{
    assert_done(tamis_filter_close(s->filter));
    assert_done(tamis_filter_open(s->store, "f", 0, &s->filter));
}

/* Let keys `from` .. `from` + count - 1 be new ones. */
static void renew(struct scene *s, const struct shape *shape, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        memset(s->bytes[i], 'k', sizeof s->bytes[i]);
        last_key++;
        memcpy(s->bytes[i], &last_key, sizeof last_key);
        s->keys[i] = (struct tamis_key){.data = s->bytes[i], .bytes = shape->key_bytes};
    }
}

/* The call returns `expected` and hashes so many keys. */
#define assert_hashed(keys, expected, call)                                                        \
    do {                                                                                           \
        const uint64_t before_ = tamis__point_hashed;                                              \
        const int64_t returned_ = assert_done(call);                                               \
        assert_int_equal(tamis__point_hashed - before_, keys);                                     \
        assert_int_equal(returned_, expected);                                                     \
    } while (0)

static void check_single(struct scene *s, const struct shape *shape)
{
    for (unsigned i = 0; i < 3; i++) {
        renew(s, shape, 0, 1);
        const struct tamis_key *key = &s->keys[0];
        assert_hashed(1, 0, tamis_filter_contains(s->filter, key->data, key->bytes));
        assert_hashed(1, 1, tamis_filter_add(s->filter, key->data, key->bytes));
        assert_hashed(1, 0, tamis_filter_add(s->filter, key->data, key->bytes));
        assert_hashed(1, 1, tamis_filter_contains(s->filter, key->data, key->bytes));
    }
}

/* New, known, and half of either. */
static void check_batch(struct scene *s, const struct shape *shape, size_t count)
{
    const int64_t half = (int64_t)count / 2;
    renew(s, shape, 0, count);
    assert_hashed(count, (int64_t)count,
                  tamis_filter_add_batch(s->filter, s->keys, count, s->answers));
    assert_hashed(count, 0, tamis_filter_add_batch(s->filter, s->keys, count, NULL));
    renew(s, shape, 0, count / 2);
    assert_hashed(count, (int64_t)count - half,
                  tamis_filter_contains_batch(s->filter, s->keys, count, s->answers));
    assert_hashed(count, half, tamis_filter_add_batch(s->filter, s->keys, count, s->answers));
    assert_hashed(count, (int64_t)count,
                  tamis_filter_contains_batch(s->filter, s->keys, count, NULL));
}

static void check_all(struct scene *s, const struct shape *shape)
{
    check_single(s, shape);
    for (size_t i = 0; i < SIZES; i++)
        check_batch(s, shape, sizes[i]);
    check_single(s, shape);
}

/* The first calls after opening, which have chores to do. */
static void check_first(struct scene *s, const struct shape *shape)
{
    renew(s, shape, 0, 100);
    reopen(s);
    assert_hashed(1, 1, tamis_filter_add(s->filter, s->keys[0].data, s->keys[0].bytes));
    reopen(s);
    assert_hashed(1, 0, tamis_filter_add(s->filter, s->keys[0].data, s->keys[0].bytes));
    assert_hashed(1, 1, tamis_filter_add(s->filter, s->keys[1].data, s->keys[1].bytes));
    reopen(s);
    assert_hashed(100, 98, tamis_filter_add_batch(s->filter, s->keys, 100, s->answers));
    reopen(s);
    assert_hashed(100, 0, tamis_filter_add_batch(s->filter, s->keys, 100, s->answers));
}

static void check_spec(const struct shape *shape, const struct tamis_filter_spec *spec)
{
    struct scene *s = begin(spec);
    check_first(s, shape);
    check_all(s, shape);
    end(s);
}

/* Of little room a limit is taken key by key or in parts, of much for whole batches. */
static const struct {
    uint64_t capacity;
    uint32_t on_full, flags;
} filters[] = {{20000, TAMIS_ON_FULL_WARN, 0},
               {20000, TAMIS_ON_FULL_REFUSE, 0},
               {1000000, TAMIS_ON_FULL_REFUSE, 0},
               {20000, TAMIS_ON_FULL_WARN, TAMIS_FILTER_DURABLE},
               {20000, TAMIS_ON_FULL_REFUSE, TAMIS_FILTER_DURABLE},
               {100, TAMIS_ON_FULL_GROW, TAMIS_FILTER_DURABLE}};
#define FILTERS (sizeof filters / sizeof filters[0])

static void check_filters(const struct shape *shape, size_t count)
{
    for (size_t i = 0; !is_missing(shape) && i < count; i++) {
        struct tamis_filter_spec spec = spec_of(shape, filters[i].capacity, filters[i].on_full);
        spec.flags = filters[i].flags;
        check_spec(shape, &spec);
    }
}

CASE(keys_of_a_filter_are_hashed_once)
{
    /* Some hash sets without digests have pairs, which serve the same purpose. */
    static const struct shape paired[] = {{"redisbloom", TAMIS_KIND_BLOOM, 20},
                                          {"guava", TAMIS_KIND_BLOOM, 8}};
    for (size_t i = 0; i < SHAPES; i++)
        check_filters(&shapes[i], FILTERS);
    for (size_t i = 0; i < 2; i++)
        check_filters(&paired[i], 2);
}

/* From 100 keys on: one by one, so that a single key finds no room, wants a spare, goes on; and in
 * batches, which go on in their middle. */
CASE(keys_of_a_growing_list_are_hashed_once)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const struct shape *shape = &shapes[i];
        if (is_missing(shape)) continue;
        const struct tamis_filter_spec spec = spec_of(shape, 100, TAMIS_ON_FULL_GROW);
        struct scene *s = begin(&spec);
        for (unsigned n = 0; n < 1000; n++) {
            renew(s, shape, 0, 1);
            assert_hashed(1, 1, tamis_filter_add(s->filter, s->keys[0].data, s->keys[0].bytes));
        }
        check_all(s, shape);
        check_first(s, shape);
        end(s);
        check_spec(shape, &spec);
    }
}

/* A key that is refused, and one that is known to the full filter. */
CASE(keys_that_are_refused_are_hashed_once)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const struct shape *shape = &shapes[i];
        if (is_missing(shape)) continue;
        const struct tamis_filter_spec spec = spec_of(shape, 100, TAMIS_ON_FULL_REFUSE);
        struct scene *s = begin(&spec);
        renew(s, shape, 0, 200);
        for (unsigned n = 0; n < 3; n++) { /* the first time some are added */
            const uint64_t before = tamis__point_hashed;
            assert_refused(TAMIS_EFULL, "holds the 100 keys",
                           tamis_filter_add_batch(s->filter, s->keys, 200, s->answers));
            assert_int_equal(tamis__point_hashed - before, 200);
        }
        assert_hashed(1, 0, tamis_filter_add(s->filter, s->keys[0].data, s->keys[0].bytes));
        const uint64_t before = tamis__point_hashed;
        assert_refused(TAMIS_EFULL, "holds the 100 keys",
                       tamis_filter_add(s->filter, s->keys[199].data, s->keys[199].bytes));
        assert_int_equal(tamis__point_hashed - before, 1);
        end(s);
    }
}

/* Windows in time, with a slice that is over before some of the calls, and in items; both durable
 * too. */
CASE(keys_of_a_window_are_hashed_once)
{
    tamis__clock_hook = test_clock;
    for (size_t i = 0; i < 4 * SHAPES; i++) {
        const struct shape *shape = &shapes[i / 4];
        if (is_missing(shape)) continue;
        struct tamis_filter_spec spec = spec_of(shape, 20000, TAMIS_ON_FULL_DEFAULT);
        spec.slices = 3;
        if (i % 4 >= 2) spec.flags = TAMIS_FILTER_DURABLE;
        if (i % 2 == 0)
            spec.window_ns = 30 * DAY;
        else
            spec.window_items = 30000;
        struct scene *s = begin(&spec);
        for (unsigned slice = 0; slice < 5; slice++) {
            check_single(s, shape);
            now += 11 * DAY;
            check_batch(s, shape, 100);
            now += 11 * DAY;
            check_batch(s, shape, 2000);
            now += 11 * DAY;
        }
        check_first(s, shape);
        end(s);
    }
    tamis__clock_hook = NULL;
}

/* The first removals after opening, which must mark the segment if there is a key to remove. */
static void check_first_removals(struct scene *s, const struct shape *shape)
{
    renew(s, shape, 0, 1000);
    for (unsigned with_answers = 0; with_answers < 2; with_answers++) {
        uint8_t *answers = with_answers ? s->answers : NULL;
        assert_hashed(500, 500, tamis_filter_add_batch(s->filter, s->keys + 500, 500, NULL));
        reopen(s);
        assert_hashed(500, 0, tamis_filter_remove_batch(s->filter, s->keys, 500, answers));
        assert_hashed(1, 0, tamis_filter_remove(s->filter, s->keys[0].data, s->keys[0].bytes));
        memset(s->answers, 7, sizeof s->answers);
        assert_hashed(1000, 500, tamis_filter_remove_batch(s->filter, s->keys, 1000, answers));
        for (size_t i = 0; with_answers && i < 1000; i++)
            assert_int_equal(s->answers[i], i >= 500);
        assert_hashed(1, 1, tamis_filter_add(s->filter, s->keys[0].data, s->keys[0].bytes));
        reopen(s);
        assert_hashed(1, 1, tamis_filter_remove(s->filter, s->keys[0].data, s->keys[0].bytes));
    }
}

/* Keys of a filter that counts; what is added twice must be counted twice. */
CASE(keys_that_are_counted_are_hashed_once)
{
    static const struct shape shape = {"xxh3", TAMIS_KIND_COUNTING, 20};
    const struct tamis_filter_spec spec = spec_of(&shape, 20000, TAMIS_ON_FULL_WARN);
    uint64_t counts[100];
    struct scene *s = begin(&spec);
    check_first(s, &shape);
    check_all(s, &shape);
    renew(s, &shape, 0, 100);
    assert_hashed(100, 100, tamis_filter_add_batch(s->filter, s->keys, 100, NULL));
    assert_hashed(100, 100, tamis_filter_count_batch(s->filter, s->keys, 100, counts));
    assert_hashed(100, 100, tamis_filter_remove_batch(s->filter, s->keys, 100, s->answers));
    check_first_removals(s, &shape);
    end(s);
}

/* Keys of a filter that was built: half of those that are asked for are in it. */
CASE(keys_of_a_built_filter_are_hashed_once)
{
    static const struct shape shape = {"xxh3", TAMIS_KIND_FUSE, 20};
    struct scene *s = calloc(1, sizeof *s);
    tamis_build *build;
    assert_non_null(s);
    s->store = fixture_store(NULL);
    renew(s, &shape, 0, KEYS);
    assert_done(tamis_build_begin(s->store, "f", BUILD_SPEC(.threads = 1), &build));
    assert_done(tamis_build_add(build, s->keys, KEYS / 2));
    assert_done(tamis_build_publish(build, NULL));
    tamis_build_close(build);
    assert_done(tamis_filter_open(s->store, "f", 0, &s->filter));
    assert_hashed(1, 1, tamis_filter_contains(s->filter, s->keys[0].data, s->keys[0].bytes));
    for (size_t i = 0; i < SIZES; i++) {
        const size_t count = sizes[i] <= KEYS / 2 ? sizes[i] : KEYS / 2;
        assert_hashed(count, (int64_t)count,
                      tamis_filter_contains_batch(s->filter, s->keys, count, s->answers));
    }
    const uint64_t before = tamis__point_hashed;
    assert_in_range(tamis_filter_contains_batch(s->filter, s->keys, KEYS, NULL), KEYS / 2, KEYS);
    assert_int_equal(tamis__point_hashed - before, KEYS);
    end(s);
}

/* The positions of the other sets hang on the segment: they are computed for each question to one,
 * and each add.  So it is once for a key where no chore and no limit asks first. */
CASE(positions_without_pairs_are_computed_once_a_question)
{
    static const struct shape shape = {"php:bkdr,sdbm,js", TAMIS_KIND_BLOOM, 20};
    struct tamis_filter_spec spec = spec_of(&shape, 20000, TAMIS_ON_FULL_WARN);
    spec.capacity = 0;
    spec.fp_rate = 0;
    spec.m_bits = UINT64_C(1) << 32;
    struct scene *s = begin(&spec);
    renew(s, &shape, 0, 1);
    assert_hashed(2, 1, tamis_filter_add(s->filter, s->keys[0].data, s->keys[0].bytes));
    check_single(s, &shape);
    end(s);
}
