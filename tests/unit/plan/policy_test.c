/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy_test.c: the arithmetic of growth and windows, each sentence of plan/policy.h by a table.
 *
 * A model by sequences seldom has a clock that is a day ahead, a window that is short of places, or
 * a list that is built anew under another policy.  Here each is a row.
 */
#include "fixture.h"

#include <math.h>

#include "plan/policy.h"

#define HOUR_NS ((int64_t)3600 * 1000000000)

/* ---- A policy that stays --------------------------------------------------------------------- */

static const struct tamis__policy usual = {.on_full = TAMIS_ON_FULL_GROW,
                                           .slices = 4,
                                           .window_ns = 4 * HOUR_NS,
                                           .capacity = 1000,
                                           .fp_rate = 0.01,
                                           .key_rule = "name"};

CASE(policy_a_policy_stays_if_the_new_list_asks_for_the_same)
{
    struct tamis__policy asked = usual;
    assert_true(tamis__policy_stays(&usual, &asked));
    struct tamis__policy others[] = {usual, usual, usual, usual, usual, usual, usual};
    others[0].on_full = TAMIS_ON_FULL_REFUSE;
    others[1].slices = 5;
    others[2].window_ns += HOUR_NS;
    others[3].window_items = 7;
    others[4].key_rule[0] = '\0';
    others[5].window_from = 1;
    others[6].fp_rate = 0.02;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(tamis__policy_stays(&usual, &others[i]));
}

CASE(policy_a_durable_filter_stays_durable_though_nobody_asks)
{
    struct tamis__policy durable = usual, asked = usual;
    durable.durable = 1;
    assert_true(tamis__policy_stays(&durable, &asked));
    assert_true(tamis__policy_stays(&durable, &durable));
    assert_false(tamis__policy_stays(&usual, &durable));
}

CASE(policy_a_file_without_a_policy_warns)
{
    struct tamis__policy none = usual, warns = usual;
    none.on_full = 0;
    warns.on_full = TAMIS_ON_FULL_WARN;
    assert_true(tamis__policy_stays(&none, &warns));
    assert_true(tamis__policy_stays(&warns, &none));
}

/* ---- Slices and the clock -------------------------------------------------------------------- */

CASE(policy_a_slice_is_over_after_its_time_and_if_the_clock_was_ahead)
{
    static const struct {
        int64_t start_h, now_h;
        bool over;
    } rows[] = {
        {100, 100, false}, {100, 101, true}, {100, 500, true},
        {100, 99, false}, /* behind by a slice: that may be a clock that is corrected a little */
        {100, 98, true},  /* by more */
        {100, 74, true},  /* by 26 hours, more than time zones differ */
        {100, 73, false}, /* by more than that: the machine has not got the time yet */
        {100, 1, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(tamis__policy_is_slice_over(HOUR_NS, rows[i].start_h * HOUR_NS,
                                                     rows[i].now_h * HOUR_NS),
                         rows[i].over);
    assert_false(tamis__policy_is_slice_over(0, 0, INT64_MAX)); /* no window in time */
}

CASE(policy_slices_begin_on_the_grid_of_those_before)
{
    static const struct {
        int64_t now, next; /* minutes since the begin of a slice of an hour */
    } rows[] = {{60, 60}, {61, 60}, {119, 60}, {120, 120}, {200, 180}, {59, 59}, {-61, -61}};
    const int64_t minute = HOUR_NS / 60, start = 1000 * HOUR_NS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(tamis__policy_next_slice(&usual, start, start + rows[i].now * minute),
                         start + rows[i].next * minute);
    const struct tamis__policy in_items = {.slices = 4, .window_items = 1000};
    assert_int_equal(tamis__policy_next_slice(&in_items, 5, 77), 77);
}

CASE(policy_a_slice_is_past_when_its_last_key_is_as_old_as_the_window)
{
    assert_int_equal(tamis__policy_slice_ns(&usual), HOUR_NS);
    assert_int_equal(tamis__policy_past_at(&usual, 100), 100 + 5 * HOUR_NS);
    const struct tamis__policy in_items = {.slices = 4, .window_items = 1000};
    assert_int_equal(tamis__policy_past_at(&in_items, 100), INT64_MAX);
}

CASE(policy_the_window_leaves_slices_behind_by_their_number)
{
    static const struct {
        uint64_t slice, newest;
        bool behind;
    } rows[] = {{0, 0, false}, {0, 4, false},   {0, 5, true},
                {1, 5, false}, {95, 100, true}, {96, 100, false}};
    const struct tamis__policy none = {.slices = 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(tamis__policy_is_behind(&usual, rows[i].slice, rows[i].newest),
                         rows[i].behind);
    assert_false(tamis__policy_is_behind(&none, 0, 100));
}

/* ---- Lists ----------------------------------------------------------------------------------- */

CASE(policy_a_list_tells_the_keys_of_its_newest_slice_and_of_the_fullest)
{
    static const struct {
        uint64_t slice, items, slices, last, most;
    } rows[] = {{7, 10, 1, 10, 10},
                {7, 5, 1, 15, 15},
                {8, 2, 2, 2, 15},
                {9, 0, 3, 0, 15},
                {9, 20, 3, 20, 20}};
    struct tamis__policy_list list = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tamis__policy_list_add(&list, rows[i].slice, rows[i].items);
        assert_int_equal(list.count, i + 1);
        assert_int_equal(list.slices, rows[i].slices);
        assert_int_equal(list.slice, rows[i].slice);
        assert_int_equal(list.last_items, rows[i].last);
        assert_int_equal(list.most_items, rows[i].most);
    }
}

CASE(policy_growth_leaves_a_place_for_each_slice_to_come)
{
    const struct tamis__policy none = {.on_full = TAMIS_ON_FULL_GROW};
    const struct tamis__policy_list list = {.count = 10, .slices = 2};
    const struct tamis__policy_list full = {.count = TAMIS__SEGMENTS_MAX, .slices = 5};
    assert_int_equal(tamis__policy_places(&usual, &list), TAMIS__SEGMENTS_MAX - 10 - 3);
    assert_int_equal(tamis__policy_places(&none, &list), TAMIS__SEGMENTS_MAX - 10);
    assert_int_equal(tamis__policy_places(&usual, &full), 0);
}

static uint64_t slice_for(const struct tamis__policy *policy, struct tamis__policy_list list)
{
    struct tamis_sizing sizing = {.kind = TAMIS_KIND_BLOCKED};
    assert_int_equal(tamis__policy_size_slice(policy, &list, &sizing), 0);
    return sizing.capacity;
}

CASE(policy_a_slice_is_made_for_what_the_last_one_got)
{
    struct tamis__policy refuses = usual;
    refuses.on_full = TAMIS_ON_FULL_REFUSE;
    const struct tamis__policy_list few = {.count = 1, .slices = 1, .last_items = 250},
                                    more = {.count = 1, .slices = 1, .last_items = 300},
                                    many = {.count = 1, .slices = 1, .last_items = 1000000},
                                    was_many = {.count = 2,
                                                .slices = 2,
                                                .last_items = 1,
                                                .most_items = 1000000};
    assert_int_equal(slice_for(&usual, few), 250);   /* its share of the 1000 keys */
    assert_int_equal(slice_for(&usual, more), 1200); /* four times as many, as that costs little */
    assert_int_equal(slice_for(&usual, many), 1250005);
    assert_int_equal(slice_for(&refuses, many), 250);
    assert_int_equal(slice_for(&usual, was_many), 250);
    struct tamis__policy_list is_short = was_many;
    is_short.count = TAMIS__SEGMENTS_MAX - (TAMIS__SEGMENTS_MAX - 5) / 3;
    assert_int_equal(slice_for(&usual, is_short), 2000000);
    is_short.count = TAMIS__SEGMENTS_MAX - (TAMIS__SEGMENTS_MAX - 5) / 5;
    assert_int_equal(slice_for(&usual, is_short), 8000000);
}

static struct tamis_sizing next_of(const struct tamis__policy *policy, uint32_t count,
                                   uint64_t capacity)
{
    const struct tamis__policy_list list = {.count = count, .slices = 1};
    struct tamis_sizing sizing = {.kind = TAMIS_KIND_BLOCKED};
    assert_int_equal(tamis__policy_size_next(policy, &list, capacity, 0.004, &sizing), 0);
    return sizing;
}

CASE(policy_the_next_segment_is_larger_and_larger_still_where_places_are_short)
{
    static const struct {
        uint64_t capacity, next;
        double share;
    } rows[] = {{100, 65536, 0.12},
                {40000, 80000, 0.12},
                {65536, 1 << 20, 0.3},
                {1 << 20, 1 << 21, 0.4},
                {5000000, 10000000, 0.4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tamis_sizing next = next_of(&usual, 1, rows[i].capacity);
        assert_int_equal(next.capacity, rows[i].next);
        assert_true(fabs(next.fp_rate - rows[i].share * 0.004) < 1e-9);
    }
    const uint32_t places = TAMIS__SEGMENTS_MAX - 5;
    assert_int_equal(next_of(&usual, 1 + places * 2 / 3, 5000000).capacity, 20000000);
    assert_int_equal(next_of(&usual, 1 + places * 4 / 5, 5000000).capacity, 80000000);
    assert_int_equal(next_of(&usual, 1, TAMIS__CAPACITY_MAX).capacity, TAMIS__CAPACITY_MAX);
}

CASE(policy_all_segments_together_have_the_rate)
{
    const struct tamis__policy grows = {
        .on_full = TAMIS_ON_FULL_GROW, .capacity = 1000000, .fp_rate = 0.01};
    struct tamis_sizing first = {.kind = TAMIS_KIND_BLOCKED};
    assert_int_equal(tamis__policy_size_first(&grows, &first), 0);
    assert_true(first.fp_rate <= 0.005);
    double sum = first.fp_rate, left = tamis__policy_left(&grows, 0);
    uint64_t capacity = first.capacity;
    const struct tamis__policy_list list = {.count = 1, .slices = 1};
    for (uint32_t step = 0; step < 12 && capacity < TAMIS__CAPACITY_MAX; step++) {
        struct tamis_sizing next = {.kind = TAMIS_KIND_BLOCKED};
        assert_int_equal(tamis__policy_size_next(&grows, &list, capacity, left, &next), 0);
        sum += next.fp_rate;
        assert_true(tamis__policy_left(&grows, step + 1) <= left - next.fp_rate + 1e-12);
        left = tamis__policy_left(&grows, step + 1);
        capacity = next.capacity;
    }
    assert_true(sum <= 0.01);
}

CASE(policy_a_window_shares_its_rate_with_the_slice_that_goes_out)
{
    const struct tamis__policy none = {.capacity = 1000, .fp_rate = 0.01};
    assert_true(fabs(tamis__policy_rate(&usual) - 0.01 / 5) < 1e-12);
    assert_true(fabs(tamis__policy_rate(&none) - 0.01) < 1e-12);
}

CASE(policy_a_list_without_places_does_not_grow)
{
    const struct tamis__policy_list list = {.count = 1, .slices = 1},
                                    full = {.count = TAMIS__SEGMENTS_MAX, .slices = 5};
    struct tamis__policy warns = usual, in_items = usual;
    warns.on_full = TAMIS_ON_FULL_WARN;
    in_items.window_ns = 0;
    in_items.window_items = 1000;
    assert_true(tamis__policy_grows(&usual, 0, &list));
    assert_false(tamis__policy_grows(&usual, 0, &full));
    assert_false(tamis__policy_grows(&warns, 0, &list));
    assert_false(tamis__policy_grows(&in_items, 0, &list)); /* it rotates */
}
