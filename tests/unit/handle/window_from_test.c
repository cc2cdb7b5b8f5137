/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window_from_test.c: windows that count from the first add of a key (TAMIS_FILTER_FROM_FIRST).
 *
 * Seen to fail: with a window that counts from the last add, as all did: a key that keeps coming
 * was NEW once only.
 */
#include "windows.h"

#include "spawn.h"

static tamis_filter *from_first(tamis_store *store, uint32_t flags)
{
    return fixture_create(store, "w",
                          SPEC(.capacity = 1000, .fp_rate = 1e-6, .slices = 10,
                               .window_ns = 10 * DAY, .flags = TAMIS_FILTER_FROM_FIRST | flags));
}

static int add_in_batch(tamis_filter *filter, uint64_t number)
{
    const struct tamis_key keys[] = {{&number, sizeof number}};
    uint8_t answer = 9;
    assert_true(tamis_filter_add_batch(filter, keys, 1, &answer) >= 0);
    return answer;
}

/* A key comes every quarter of a day for 60 days.  It is NEW after 10 days at least and 11 at most,
 * and the items count each life once. */
static void check_lives(tamis_filter *filter, int (*add)(tamis_filter *, uint64_t))
{
    int64_t born = *now;
    unsigned lives = 1;
    assert_int_equal(add(filter, 1), 1);
    for (unsigned i = 1; i < 240; i++) {
        *now = BEGIN + (int64_t)i * DAY / 4;
        assert_int_equal(key_has(filter, 1), *now - born <= 10 * DAY ? 1 : key_has(filter, 1));
        const int is_new = add(filter, 1);
        assert_int_equal(key_has(filter, 1), 1);
        if (!is_new) {
            assert_true(*now - born < 11 * DAY);
            continue;
        }
        assert_true(*now - born >= 10 * DAY);
        born = *now;
        lives++;
        assert_int_equal(fixture_stat(filter).items, 1);
    }
    assert_int_equal(lives, 6);
}

WINDOW_CASE(window_from_first_forgets_a_key_that_keeps_coming)
{
    AUTO_FILTER *filter = from_first(store, 0);
    check_lives(filter, key_add);
    assert_int_equal(fixture_problems(path), 0);
}

WINDOW_CASE(window_from_first_forgets_a_key_of_batches)
{
    AUTO_FILTER *filter = from_first(store, 0);
    check_lives(filter, add_in_batch);
}

WINDOW_CASE(window_from_first_forgets_a_key_of_a_durable_filter)
{
    AUTO_FILTER *filter = from_first(store, TAMIS_FILTER_DURABLE);
    check_lives(filter, key_add);
    assert_int_equal(fixture_problems(path), 0);
}

WINDOW_CASE(window_from_first_forgets_a_key_of_durable_batches)
{
    AUTO_FILTER *filter = from_first(store, TAMIS_FILTER_DURABLE);
    check_lives(filter, add_in_batch);
}

/* Of keys: a key that keeps coming takes no further place, and is NEW again. */
WINDOW_CASE(window_from_first_of_keys)
{
    unsigned lives = 0;
    AUTO_FILTER *filter = fixture_create(
        store, "w",
        SPEC(.fp_rate = 1e-6, .slices = 5, .window_items = 100, .flags = TAMIS_FILTER_FROM_FIRST));
    for (uint64_t i = 0; i < 1000; i++) {
        lives += key_add(filter, UINT64_C(1) << 40) == 1;
        assert_int_equal(key_add(filter, i), 1);
        assert_int_equal(key_has(filter, i), 1);
    }
    assert_true(lives >= 9 && lives <= 11);
}

/* The filter says so, others are compared with it, and one like it is made. */
WINDOW_CASE(window_from_first_is_told)
{
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    struct tamis_filter_spec spec = {.size = sizeof spec};
    tamis_filter *other = NULL;
    tamis_filter_close(from_first(store, 0));
    AUTO_FILTER *filter = fixture_opened(store, "w", 0);
    assert_int_equal(fixture_stat(filter).flags, TAMIS_FILTER_FROM_FIRST);
    assert_done(tamis_filter_like(filter, &spec, hash_set));
    assert_int_equal(spec.flags, TAMIS_FILTER_FROM_FIRST);
    assert_done(tamis_filter_open_or_create(store, "w", &spec, &other));
    tamis_filter_close(other);
    spec.flags = 0;
    assert_refused(TAMIS_EMISMATCH, "window",
                   tamis_filter_open_or_create(store, "w", &spec, &other));
    spec = (struct tamis_filter_spec){
        .size = sizeof spec, .capacity = 10, .flags = TAMIS_FILTER_FROM_FIRST};
    assert_refused(TAMIS_EINVAL, "window", tamis_filter_create(store, "plain", &spec, NULL));
}

/* ---- Several processes ----------------------------------------------------------------------- */

#define PROCESSES 6u
#define KEYS 400u
#define ROUNDS 40u

struct storm {
    const char *path;
    struct spawn_barrier barrier;
    int64_t told[KEYS]; /* when a key was NEW last */
    unsigned lives;
};

/* All add the same keys again and again, while the clock runs and the window moves.  Nobody is told
 * NEW for a key before the window is over for it. */
static void add_again(void *context, unsigned index)
{
    struct storm *storm = context;
    tamis_store *store;
    tamis_filter *filter;
    SPAWN_CHECK(tamis_store_open(storm->path, 0, &store) == 0);
    SPAWN_CHECK(tamis_filter_open(store, "w", 0, &filter) == 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        spawn_wait(&storm->barrier);
        for (uint64_t i = 0; i < KEYS; i++) {
            if (index == 0 && i % 40 == 0) *now += DAY / 10;
            const int64_t before = windows_clock();
            const int rc =
                index % 2 == 0 ? tamis_filter_add(filter, &i, sizeof i) : add_in_batch(filter, i);
            SPAWN_CHECK(rc == 0 || rc == 1);
            if (rc == 0) continue;
            const int64_t last =
                __atomic_exchange_n(&storm->told[i], windows_clock(), __ATOMIC_SEQ_CST);
            /* Others may have been told between `before` and now. */
            SPAWN_CHECK(last == 0 || windows_clock() - last >= 10 * DAY - (DAY / 2) ||
                        before - last >= 10 * DAY);
            (void)__atomic_add_fetch(&storm->lives, 1, __ATOMIC_SEQ_CST);
        }
    }
    SPAWN_CHECK(tamis_filter_close(filter) == 0);
    tamis_store_close(store);
}

WINDOW_CASE(window_from_first_tells_new_once_a_life_in_many_processes)
{
    tamis_filter_close(from_first(store, 0));
    struct storm *storm = spawn_shared(sizeof *storm);
    *storm = (struct storm){.path = path, .barrier = {.count = PROCESSES}};
    assert_int_equal(spawn_all(PROCESSES, add_again, storm), 0);
    assert_true(storm->lives >= 3 * KEYS && storm->lives <= 4 * KEYS);
    assert_int_equal(fixture_problems(path), 0);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
