/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window_from_test.c: windows that count from the first add of a key (TAMIS_FILTER_FROM_FIRST).
 *
 * Seen to fail: with a window that counts from the last add, as all did: a key that keeps coming
 * was NEW once only.
 */
#include "windows.h"

#include "spawn.h"

static tamis_filter *from_first(tamis_store *store)
{
    return fixture_create(store, "w",
                          SPEC(.capacity = 1000, .fp_rate = 1e-6, .slices = 10,
                               .window_ns = 10 * DAY, .flags = TAMIS_FILTER_FROM_FIRST));
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
static void check_lives(tamis_filter *filter)
{
    int64_t born = *now;
    unsigned lives = 1;
    assert_int_equal(key_add(filter, 1), 1);
    for (unsigned i = 1; i < 240; i++) {
        *now = BEGIN + (int64_t)i * DAY / 4;
        assert_int_equal(key_has(filter, 1), *now - born <= 10 * DAY ? 1 : key_has(filter, 1));
        const int is_new = key_add(filter, 1);
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
    AUTO_FILTER *filter = from_first(store);
    check_lives(filter);
    assert_int_equal(fixture_problems(path), 0);
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
    assert_done(tamis_filter_close(from_first(store)));
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
