/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds that do not wait for the disk, as another thread does what they would wait for
 * (store/handle/prepare.c).
 *
 * Broken to see it fail: has_room() that is always true; may_wait() that does not look at the mark,
 * or at whether a spare is wanted; tamis__view_renew() that makes a spare for a prepared handle; a
 * prepare that makes none.
 */
#include "keys.h"
#include "numbers.h"

static unsigned calls; /* that go to the file system */

static int count_calls(const char *verb, const char *what)
{
    (void)verb;
    (void)what;
    calls++;
    return 0;
}

/* Adds keys [from, to) one by one, and prepares the filter if an add may wait, or from key
 * `prepared_from` on if that is wanted.  Returns how many adds might have had to wait. */
static unsigned add_prepared(tamis_filter *filter, uint64_t from, uint64_t to,
                             uint64_t prepared_from)
{
    unsigned waits = 0;
    for (uint64_t i = from; i < to; i++) {
        int may = tamis_filter_may_wait(filter, 1);
        assert_done(may);
        if (may == TAMIS_ADD_WANTS_PREPARE && i >= prepared_from) {
            assert_done(tamis_filter_prepare(filter, 0));
            assert_int_equal(tamis_filter_may_wait(filter, 1), TAMIS_ADD_AT_ONCE);
        }
        calls = 0;
        tamis__io_hook = may == TAMIS_ADD_MAY_WAIT ? NULL : count_calls;
        keys_add(filter, i, i + 1);
        tamis__io_hook = NULL;
        assert_int_equal(calls, 0);
        waits += may == TAMIS_ADD_MAY_WAIT;
    }
    return waits;
}

static tamis_filter *prepared(tamis_store *store, const struct tamis_filter_spec *spec)
{
    tamis_filter *filter = fixture_create(store, "x", spec);
    assert_done(tamis_filter_may_wait(filter, 0)); /* from now on it makes no spare by itself */
    return filter;
}

SOUND_CASE(prepared_adds_wait_only_for_the_mark_and_for_segments)
{
    AUTO_FILTER *filter = prepared(store, SPEC(.capacity = 1000, .fp_rate = 0.01));
    assert_int_equal(tamis_filter_may_wait(filter, 1), TAMIS_ADD_MAY_WAIT); /* for the mark */
    assert_done(tamis_filter_prepare(filter, 0));
    assert_int_equal(tamis_filter_may_wait(filter, 1), TAMIS_ADD_AT_ONCE);
    assert_int_equal(add_prepared(filter, 0, 600, 700), 0);
    assert_int_equal(tamis_filter_may_wait(filter, 1), TAMIS_ADD_WANTS_PREPARE);
    assert_int_equal(add_prepared(filter, 600, 900, 700), 0);
    /* The room of the first segment ends, and the spare is entered and marked. */
    const unsigned waits = add_prepared(filter, 900, 3000, 900);
    assert_in_range(waits, 1, 40);
    assert_int_equal(fixture_stat(filter).segment_count, 2);
    assert_int_equal(keys_found(filter, 0, 3000), 3000);
}

SOUND_CASE(prepared_adds_of_many_keys_wait_where_there_is_no_room)
{
    AUTO_FILTER *filter = prepared(store, SPEC(.capacity = 1000, .fp_rate = 0.01));
    assert_done(tamis_filter_prepare(filter, 0));
    assert_int_equal(tamis_filter_may_wait(filter, 1000), TAMIS_ADD_AT_ONCE);
    assert_int_equal(tamis_filter_may_wait(filter, 1001), TAMIS_ADD_MAY_WAIT);
}

SOUND_CASE(prepared_adds_to_filters_that_do_not_grow)
{
    AUTO_FILTER *full =
        prepared(store, SPEC(.capacity = 100, .fp_rate = 0.01, .on_full = TAMIS_ON_FULL_REFUSE));
    assert_done(tamis_filter_prepare(full, 0));
    assert_int_equal(add_prepared(full, 0, 90, 0), 0);
    assert_int_equal(tamis_filter_may_wait(full, 1000), TAMIS_ADD_AT_ONCE);
    AUTO_FILTER *durable = fixture_create(
        store, "durable", SPEC(.capacity = 100, .fp_rate = 0.01, .flags = TAMIS_FILTER_DURABLE));
    assert_done(tamis_filter_prepare(durable, 0));
    assert_int_equal(tamis_filter_may_wait(durable, 1), TAMIS_ADD_MAY_WAIT);
    AUTO_FILTER *reader = fixture_opened(store, "x", TAMIS_OPEN_READ_ONLY);
    assert_int_equal(tamis_filter_may_wait(reader, 1), TAMIS_EREADONLY);
    assert_int_equal(tamis_filter_prepare(reader, 0), TAMIS_EREADONLY);
}

SOUND_CASE(handle_that_was_never_asked_makes_its_spares)
{
    AUTO_FILTER *filter = fixture_create(store, "x", SPEC(.capacity = 1000, .fp_rate = 0.01));
    keys_add(filter, 0, 700);
    assert_int_equal(tamis_filter_may_wait(filter, 1), TAMIS_ADD_AT_ONCE);
    assert_int_equal(fixture_stat(filter).segment_count, 1);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
