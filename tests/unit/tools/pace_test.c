/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches of keys that take 100 ms at most (tools/tamis/input/pace.h). */
#include "input/pace.h"

#include <stdlib.h>

#include "fixture.h"

#define MOST 1024

/* What a batch costs: so much, and so much for each key. */
struct cost {
    double batch_s;
    double key_s;
};

static double batch_of(struct pace *pace, const struct cost *cost)
{
    const size_t keys = pace->keys;
    const double seconds = cost->batch_s + cost->key_s * (double)keys;
    pace_note(pace, keys, seconds);
    return seconds;
}

static void pace_of_fast_keys_is_the_full_batch(void **state)
{
    (void)state;
    struct pace pace;
    pace_init(&pace, 16, MOST);
    for (int i = 0; i < 6; i++)
        batch_of(&pace, &(struct cost){1e-6, 3e-8});
    assert_int_equal(pace.keys, MOST);
}

static void pace_of_slow_keys_keeps_batches_short(void **state)
{
    (void)state;
    for (double key_s = 1e-4; key_s < 0.05; key_s *= 1.7) {
        struct pace pace;
        pace_init(&pace, 16, MOST);
        double first_s = batch_of(&pace, &(struct cost){1e-5, key_s});
        assert_true(first_s <= 16 * key_s + 1e-4);
        for (int i = 0; i < 200; i++)
            assert_true(batch_of(&pace, &(struct cost){1e-5, key_s}) <= 0.1);
    }
}

/* The filter leaves the memory: one batch is as slow as it is, and the next are short again. */
static void pace_follows_keys_that_become_slow_and_fast(void **state)
{
    (void)state;
    struct pace pace;
    pace_init(&pace, MOST, MOST);
    (void)batch_of(&pace, &(struct cost){0, 0.01}); /* 10 s */
    (void)batch_of(&pace, &(struct cost){0, 0.01}); /* the probe */
    assert_true(batch_of(&pace, &(struct cost){0, 0.01}) <= 0.1);
    for (int i = 0; i < 12; i++)
        batch_of(&pace, &(struct cost){0, 1e-7});
    assert_int_equal(pace.keys, MOST);
}

/* A sync takes 150 ms, whatever the number of keys: small batches would only make it slower. */
static void pace_of_slow_syncs_is_the_full_batch(void **state)
{
    (void)state;
    struct pace pace;
    size_t keys = 0, batches = 400;
    pace_init(&pace, 16, MOST);
    for (size_t i = 0; i < batches; i++) {
        if (i >= batches / 2) keys += pace.keys;
        batch_of(&pace, &(struct cost){0.15, 1e-7});
    }
    assert_true(keys > batches / 2 * MOST * 9 / 10);
}

static void pace_ignores_batches_that_had_few_keys(void **state)
{
    (void)state;
    struct pace pace;
    pace_init(&pace, 16, MOST);
    for (int i = 0; i < 100; i++)
        pace_note(&pace, 1, 1e-6); /* a coprocess asks one by one */
    assert_int_equal(pace.keys, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pace_of_fast_keys_is_the_full_batch),
        cmocka_unit_test(pace_of_slow_keys_keeps_batches_short),
        cmocka_unit_test(pace_follows_keys_that_become_slow_and_fast),
        cmocka_unit_test(pace_of_slow_syncs_is_the_full_batch),
        cmocka_unit_test(pace_ignores_batches_that_had_few_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
