/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge_live_test.c: a filter is merged into while three processes add to it.
 *
 * The adders race each other for the same keys, and a fourth process merges one source after the
 * other into the same filter, again and again as long as they add.  The filter is small enough for
 * them to meet in its words all the time.  Afterwards every key of an adder and of a source must be
 * there, no key may have been told NEW twice, and the bits are those of a filter that was filled at
 * once.
 *
 * The keys of half of the adders' race are in a source too: the merge brings them in the middle of
 * an add.  Then nobody may be told NEW; never may two.
 *
 * Seen to fail: with the OR of store/kind/bits.c made a store of what was loaded before (kind
 * blocked, 3 runs: 0, 5 and 6 of the adders' keys lost, and 1, 4 and 3 told NEW twice, since an
 * adder of a bit that is gone sets it again).
 */
#include <inttypes.h>
#include <stdio.h>

#include "keys.h"
#include "numbers.h"
#include "points.h"
#include "spawn.h"

#define ADDERS 3u
#define SOURCES 4u
#define SOURCE_KEYS 20000u
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ADDED_KEYS 100000u
#else
#define ADDED_KEYS 400000u
#endif

struct race {
    tamis_filter *filter, *sources[SOURCES];
    uint8_t *answers; /* [adder * ADDED_KEYS + key] */
    struct spawn_barrier barrier;
    unsigned adding, merges; /* atomic */
};

/* Keys of source s: every other one is of the adders' too. */
static uint64_t source_key(unsigned s, uint64_t i)
{
    const uint64_t number = s * SOURCE_KEYS + i;
    return number % 2 ? ADDED_KEYS + number : number * (ADDED_KEYS / (SOURCES * SOURCE_KEYS));
}

static void add_all(struct race *race, unsigned index)
{
    enum { BATCH = 64 };
    uint64_t numbers[BATCH];
    struct tamis_key keys[BATCH];
    for (uint64_t first = 0; first < ADDED_KEYS; first += BATCH) {
        const size_t count = ADDED_KEYS - first < BATCH ? ADDED_KEYS - first : BATCH;
        numbers_from(first, count, numbers, keys);
        SPAWN_CHECK(tamis_filter_add_batch(race->filter, keys, count,
                                           race->answers + index * ADDED_KEYS + first) >= 0);
    }
    (void)__atomic_sub_fetch(&race->adding, 1, __ATOMIC_RELEASE);
}

static uint64_t hesitation = 4;

/* Let the others at the word that was read, and is not written yet. */
static void hesitate(unsigned point)
{
    if (point == TAMIS__POINT_MERGE_LOADED && random_next(&hesitation) % 16 == 0) spawn_yield();
}

static void merge_all(struct race *race)
{
    tamis__point_hook = hesitate;
    do
        for (unsigned s = 0; s < SOURCES; s++) {
            SPAWN_CHECK(tamis_filter_merge(race->filter,
                                           MERGE(.sources = &race->sources[s], .count = 1)) == 0);
            (void)__atomic_add_fetch(&race->merges, 1, __ATOMIC_RELAXED);
        }
    while (__atomic_load_n(&race->adding, __ATOMIC_ACQUIRE) > 0);
}

static void run(void *context, unsigned index)
{
    struct race *race = context;
    spawn_wait(&race->barrier);
    if (index < ADDERS)
        add_all(race, index);
    else
        merge_all(race);
}

static void check_outcome(const struct race *race)
{
    uint64_t lost = 0, lost_of_sources = 0, twice = 0, told = 0;
    for (uint64_t key = 0; key < ADDED_KEYS; key++) {
        unsigned news = 0;
        for (unsigned adder = 0; adder < ADDERS; adder++)
            news += race->answers[adder * ADDED_KEYS + key];
        twice += news > 1;
        told += news;
        lost += keys_found(race->filter, key, key + 1) == 0;
    }
    for (uint64_t i = 0; i < SOURCES * SOURCE_KEYS; i++) {
        const uint64_t key = source_key((unsigned)(i / SOURCE_KEYS), i % SOURCE_KEYS);
        lost_of_sources += keys_found(race->filter, key, key + 1) == 0;
    }
    printf("%u merges into a filter that 3 processes add %u keys to: lost %" PRIu64
           " of them and %" PRIu64 " of the sources', NEW %" PRIu64 ", twice %" PRIu64
           "; items %" PRId64 "\n",
           race->merges, ADDED_KEYS, lost, lost_of_sources, told, twice,
           tamis_filter_items(race->filter));
    assert_int_equal(lost, 0);
    assert_int_equal(lost_of_sources, 0);
    assert_int_equal(twice, 0);
    assert_true(told > ADDED_KEYS / 2);
}

/* The set bits of a filter that got the same keys one after the other. */
static uint64_t ones_in_sequence(tamis_store *store, const struct tamis_filter_spec *spec)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    tamis_filter *whole = fixture_create(store, "whole", spec);
    (void)keys_add(whole, 0, ADDED_KEYS);
    for (uint64_t i = 0; i < SOURCES * SOURCE_KEYS; i++) {
        const uint64_t key = source_key((unsigned)(i / SOURCE_KEYS), i % SOURCE_KEYS);
        assert_done(key_add(whole, key));
    }
    assert_int_equal(tamis_filter_fill(whole, 0, &segment), 0);
    assert_int_equal(tamis_filter_close(whole), 0);
    assert_int_equal(tamis_filter_drop(store, "whole"), 0);
    return segment.ones;
}

static void race_with_merges(const struct tamis_filter_spec *spec)
{
    struct race *race = spawn_shared(sizeof *race);
    struct tamis_segment_stat segment = {.size = sizeof segment};
    char name[16];
    AUTO_STORE *store = fixture_open(scratch_directory(), TAMIS_OPEN_CREATE);
    race->filter = fixture_create(store, "live", spec);
    race->answers = spawn_shared((size_t)ADDERS * ADDED_KEYS);
    race->barrier.count = ADDERS + 1;
    race->adding = ADDERS;
    for (unsigned s = 0; s < SOURCES; s++) {
        (void)snprintf(name, sizeof name, "source%u", s);
        race->sources[s] = fixture_create(store, name, spec);
        for (uint64_t i = 0; i < SOURCE_KEYS; i++) {
            const uint64_t key = source_key(s, i);
            assert_true(tamis_filter_add(race->sources[s], &key, sizeof key) >= 0);
        }
    }
    assert_int_equal(spawn_all(ADDERS + 1, run, race), 0);
    check_outcome(race);
    assert_int_equal(tamis_filter_fill(race->filter, 0, &segment), 0);
    assert_int_equal(segment.ones, ones_in_sequence(store, spec));
    assert_int_equal(tamis_filter_close(race->filter), 0);
    assert_int_equal(tamis_filter_drop(store, "live"), 0);
    for (unsigned s = 0; s < SOURCES; s++) {
        (void)snprintf(name, sizeof name, "source%u", s);
        assert_int_equal(tamis_filter_close(race->sources[s]), 0);
        assert_int_equal(tamis_filter_drop(store, name), 0);
    }
}

CASE(merge_into_a_blocked_filter_in_use_loses_nothing)
{
    race_with_merges(SPEC(.capacity = ADDED_KEYS + SOURCES * SOURCE_KEYS, .fp_rate = 0.01,
                          .on_full = TAMIS_ON_FULL_WARN));
}

CASE(merge_into_a_bloom_filter_in_use_loses_nothing)
{
    race_with_merges(SPEC(.capacity = ADDED_KEYS + SOURCES * SOURCE_KEYS, .fp_rate = 0.01,
                          .kind = TAMIS_KIND_BLOOM, .on_full = TAMIS_ON_FULL_WARN));
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
