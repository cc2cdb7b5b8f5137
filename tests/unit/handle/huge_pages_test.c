/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * huge_pages_test.c: in which pages a filter is mapped (store/segment/pages.c,
 * store/handle/pages.c).
 *
 * Whether the system gives pages of 2 MiB depends on kernel and file system; what a filter asks for
 * does not.  The cases look at that, and one looks at what is had where the system gives it.
 *
 * Seen to fail: with the advice of static segments left out; with the epochs not raised by
 * tamis_filter_set_pages() (the other handle goes on as it was); with the setting not written to
 * the record; with inherit() left out; with the close that does not bring small pages back; with
 * MADV_REMOVE in the place of MADV_DONTNEED in range_anew() (keys are lost); with pages not brought
 * anew (huge_bytes stays 0); with syncs left out of what ends a count; with CALM_TENTHS 5 or 9;
 * without the advice of what advise() finds noted by another process.
 */
#include "fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "handle/pages.h"
#include "handle/view.h"
#include "numbers.h"
#include "segment/pages.h"
#include "smaps.h"
#include "spawn.h"

#define MIB ((uint64_t)1 << 20)
#define BATCH 1000u
#define KEYS_4_MIB 1649u /* busy: ln 5 x 1,024 pages, and more */

static tamis_store *store;
static char *store_path;

CASES_PREPARE
{
    scratch_on_disk();
    store = fixture_store(&store_path);
}

/* A filter in the place of that of the case before. */
static tamis_filter *fresh(const char *name, const struct tamis_filter_spec *spec)
{
    const int rc = tamis_filter_drop(store, name);
    assert_true(rc == 0 || rc == TAMIS_ENOTFOUND);
    return fixture_create(store, name, spec);
}

/* Of kind blocked, and of so many bytes. */
static tamis_filter *make(const char *name, uint64_t bytes, uint32_t pages)
{
    struct tamis_sizing sizing = {.size = sizeof sizing, .capacity = bytes, .fp_rate = 0.01};
    assert_done(tamis_size(&sizing));
    const double keys = (double)bytes * (double)bytes / (double)sizing.file_bytes;
    return fresh(name,
                 SPEC(.capacity = (uint64_t)keys, .on_full = TAMIS_ON_FULL_WARN, .pages = pages));
}

static struct tamis_filter_mapped mapped(tamis_filter *filter)
{
    struct tamis_filter_mapped got = {.size = sizeof got};
    assert_done(tamis_filter_mapped(filter, &got));
    return got;
}

static uint32_t wanted(tamis_filter *filter)
{
    return mapped(filter).wanted;
}

static void add(tamis_filter *filter, uint64_t from, uint64_t count)
{
    uint64_t numbers[BATCH];
    struct tamis_key keys[BATCH];
    for (uint64_t done = 0; done < count; done += BATCH) {
        numbers_from(from + done, BATCH, numbers, keys);
        assert_done(tamis_filter_add_batch(filter, keys, BATCH, NULL));
    }
}

CASE(number_of_keys_follows_from_the_pages_and_the_places_of_a_key)
{
    struct tamis__segment_header header = {
        .number = 1, .file_bytes = 1024 * MIB, .data_bytes = 1024 * MIB, .k = 8, .words = 8};
    assert_int_equal(tamis__pages_keys(&header), 421905);
    header.words = 0; /* bloom: each of its places is on a page of its own */
    assert_int_equal(tamis__pages_keys(&header), 52739);
    header.file_bytes = 2 * MIB - 1;
    assert_int_equal(tamis__pages_keys(&header), UINT64_MAX);
}

CASE(setting_has_names_and_is_kept)
{
    assert_string_equal(tamis_pages_name(TAMIS_PAGES_AUTO), "auto");
    assert_string_equal(tamis_pages_name(TAMIS_PAGES_SMALL), "small");
    assert_string_equal(tamis_pages_name(TAMIS_PAGES_HUGE), "huge");
    assert_null(tamis_pages_name(3));
    AUTO_FILTER *filter = make("x", 4 * MIB, TAMIS_PAGES_HUGE);
    assert_int_equal(fixture_stat(filter).pages, TAMIS_PAGES_HUGE);
    assert_done(tamis_filter_set_pages(store, "x", TAMIS_PAGES_SMALL));
    AUTO_STORE *again = fixture_open(store_path, 0);
    AUTO_FILTER *opened = fixture_opened(again, "x", TAMIS_OPEN_READ_ONLY);
    assert_int_equal(fixture_stat(opened).pages, TAMIS_PAGES_SMALL);
    assert_int_equal(wanted(opened), TAMIS_PAGES_SMALL);
}

CASE(wrong_calls_are_refused)
{
    AUTO_FILTER *filter = make("x", 4 * MIB, TAMIS_PAGES_AUTO);
    AUTO_STORE *reader = fixture_open(store_path, TAMIS_OPEN_READ_ONLY);
    AUTO_FILTER *read = fixture_opened(reader, "x", 0);
    assert_refused(TAMIS_EINVAL, "pages 3", tamis_filter_set_pages(store, "x", 3));
    assert_refused(TAMIS_ENOTFOUND, "y", tamis_filter_set_pages(store, "y", TAMIS_PAGES_HUGE));
    assert_refused(TAMIS_EREADONLY, "read-only",
                   tamis_filter_set_pages(reader, "x", TAMIS_PAGES_HUGE));
    assert_refused(TAMIS_EREADONLY, "", tamis_filter_prepare(read, 1));
    assert_refused(TAMIS_EINVAL, "pages 7",
                   tamis_filter_create(store, "z", SPEC(.capacity = 10, .pages = 7), NULL));
    assert_int_equal(fixture_stat(filter).pages, TAMIS_PAGES_AUTO);
}

CASE(open_handles_obey_a_change)
{
    AUTO_FILTER *filter = make("x", 4 * MIB, TAMIS_PAGES_AUTO);
    AUTO_STORE *other = fixture_open(store_path, 0);
    AUTO_FILTER *writer = fixture_opened(other, "x", 0);
    AUTO_FILTER *reader = fixture_opened(other, "x", TAMIS_OPEN_READ_ONLY);
    const uint32_t sorts[] = {TAMIS_PAGES_HUGE, TAMIS_PAGES_SMALL, TAMIS_PAGES_HUGE};
    for (unsigned i = 0; i < 3; i++) {
        assert_done(tamis_filter_set_pages(store, "x", sorts[i]));
        add(writer, i * BATCH, BATCH);
        assert_int_equal(wanted(writer), sorts[i]);
        assert_int_equal(wanted(reader), sorts[i]);
    }
}

CASE(what_takes_no_more_keys_is_huge)
{
    const unsigned before = smaps_flagged("hg");
    AUTO_FILTER *filter = fresh("x", SPEC(.capacity = 3000000));
    assert_int_equal(smaps_flagged("hg"), before);
    for (uint64_t at = 0; fixture_stat(filter).segment_count == 1; at += BATCH)
        add(filter, at, BATCH);
    assert_true(tamis__pages_are_huge(&filter->view->segments[0].segment));
    assert_true(smaps_flagged("hg") > before);
}

CASE(few_expected_keys_change_nothing_and_many_do)
{
    AUTO_FILTER *filter = make("x", 4 * MIB, TAMIS_PAGES_AUTO);
    assert_int_equal(wanted(filter), TAMIS_PAGES_SMALL);
    assert_done(tamis_filter_prepare(filter, KEYS_4_MIB / 2));
    assert_int_equal(wanted(filter), TAMIS_PAGES_SMALL);
    assert_done(tamis_filter_prepare(filter, 2 * KEYS_4_MIB));
    assert_int_equal(wanted(filter), TAMIS_PAGES_HUGE);
    add(filter, 0, BATCH);
    assert_done(tamis_filter_close(filter)); /* the last that wrote */
    filter = fixture_opened(store, "x", 0);
    assert_int_equal(wanted(filter), TAMIS_PAGES_SMALL);
}

CASE(what_is_asked_for_goes_before_what_is_expected)
{
    AUTO_FILTER *filter = make("x", 4 * MIB, TAMIS_PAGES_SMALL);
    assert_done(tamis_filter_prepare(filter, UINT64_MAX));
    assert_int_equal(wanted(filter), TAMIS_PAGES_SMALL);
    AUTO_FILTER *tiny = fresh("tiny", SPEC(.capacity = 100));
    assert_done(tamis_filter_prepare(tiny, UINT64_MAX));
    assert_int_equal(wanted(tiny), TAMIS_PAGES_SMALL);
    assert_int_equal(mapped(tiny).huge_bytes, 0);
}

CASE(many_keys_make_a_filter_huge_and_its_close_small)
{
    AUTO_FILTER *filter = make("x", 4 * MIB, TAMIS_PAGES_AUTO);
    uint64_t at = 0;
    /* Two looks, at least 50 ms apart, with more keys between them than make it busy. */
    while (wanted(filter) == TAMIS_PAGES_SMALL && at < 1000 * MIB) {
        add(filter, at, 4 * BATCH);
        at += 4 * (uint64_t)BATCH;
    }
    assert_int_equal(wanted(filter), TAMIS_PAGES_HUGE);
    AUTO_FILTER *beside = fixture_opened(store, "x", 0);
    assert_int_equal(wanted(beside), TAMIS_PAGES_HUGE);
    assert_done(tamis_filter_close(beside)); /* it has not written */
    assert_done(tamis_filter_close(filter));
    beside = fixture_opened(store, "x", 0);
    assert_int_equal(wanted(beside), TAMIS_PAGES_SMALL);
    filter = fixture_opened(store, "x", 0);
}

CASE(next_segment_is_as_the_one_before_it)
{
    AUTO_FILTER *filter = fresh("x", SPEC(.capacity = 2000000));
    assert_done(tamis_filter_prepare(filter, 3000000));
    add(filter, 0, 3000000);
    assert_true(fixture_stat(filter).segment_count >= 2);
    assert_int_equal(wanted(filter), TAMIS_PAGES_HUGE); /* of the newest */
}

/* ---- New segments ---------------------------------------------------------------------------- */

static bool has_huge_pages(void);

/* Each segment is of some MiB. */
static void new_segment_is_huge(tamis_filter *filter, uint64_t *at)
{
    const uint32_t before = fixture_stat(filter).segment_count;
    for (; fixture_stat(filter).segment_count == before; *at += BATCH)
        add(filter, *at, BATCH);
    const struct tamis__segment *newest = &tamis__newest(filter->view)->segment;
    struct tamis__pages_count count = {0};
    assert_int_equal(wanted(filter), TAMIS_PAGES_HUGE);
    assert_done(tamis__pages_count(newest, &count));
    /* The keys of one batch are everywhere in it.  What shares 2 MiB with the header, or is read
     * ahead with that, comes small and stays so until the next sync. */
    if (has_huge_pages() && count.mapped >= 16 * MIB) assert_true(count.huge >= 4 * MIB);
}

CASE(new_segments_have_huge_pages_from_the_first_keys)
{
    uint64_t at = 0;
    tamis_filter *filter = fresh("x", SPEC(.capacity = 5000000, .pages = TAMIS_PAGES_HUGE));
    new_segment_is_huge(filter, &at);
    assert_done(tamis_filter_close(filter));
    filter = fresh("x", SPEC(.window_items = 10000000, .slices = 2, .pages = TAMIS_PAGES_HUGE));
    new_segment_is_huge(filter, &at);
    assert_done(tamis_filter_close(filter));
    filter = fresh("x", SPEC(.window_items = 10000000, .slices = 2));
    assert_done(tamis_filter_prepare(filter, UINT64_MAX)); /* it fills fast */
    new_segment_is_huge(filter, &at);
    assert_done(tamis_filter_close(filter));
}

/* ---- A filter that changes its habits -------------------------------------------------------- */

#define SECOND_NS ((int64_t)1000000000)

/* So many keys, and a look at a time that the caller says. */
static uint32_t wanted_after(tamis_filter *filter, uint64_t *at, uint64_t keys, int64_t now)
{
    add(filter, *at, keys);
    *at += keys;
    tamis__view_look_at_pages(filter->view, now);
    return wanted(filter);
}

CASE(filter_that_fills_fast_and_then_slowly_goes_back_to_small_pages)
{
    AUTO_FILTER *filter = make("x", 64 * MIB, TAMIS_PAGES_AUTO);
    AUTO_STORE *other = fixture_open(store_path, 0);
    AUTO_FILTER *beside = fixture_opened(other, "x", 0);
    const uint64_t busy = filter->view->busy_keys;
    /* Ahead of the clock, so that adds of their own do not look. */
    int64_t now = tamis__steady_ns() + 3600 * SECOND_NS;
    uint64_t at = 0;
    (void)wanted_after(filter, &at, BATCH, now);
    assert_int_equal(wanted_after(filter, &at, 2 * busy, now + SECOND_NS), TAMIS_PAGES_HUGE);
    /* A little less stays as it is. */
    now += 31 * SECOND_NS;
    assert_int_equal(wanted_after(filter, &at, BATCH, now), TAMIS_PAGES_HUGE);
    now += 31 * SECOND_NS;
    assert_int_equal(wanted_after(filter, &at, busy / 10 * 8, now), TAMIS_PAGES_HUGE);
    /* Much less does not. */
    now += 31 * SECOND_NS;
    assert_int_equal(wanted_after(filter, &at, busy / 10 * 6, now), TAMIS_PAGES_SMALL);
    (void)wanted_after(beside, &at, BATCH, now); /* the other handle follows */
    assert_int_equal(wanted(beside), TAMIS_PAGES_SMALL);
    assert_done(tamis_filter_close(beside));
    beside = NULL;
    assert_done(tamis_filter_sync(filter));
    assert_int_equal(mapped(filter).huge_bytes, 0);
}

/* Between two syncs come few keys, in 30 seconds many: huge pages would be written whole by each.
 */
CASE(syncs_count_as_write_backs)
{
    AUTO_FILTER *filter = make("x", 16 * MIB, TAMIS_PAGES_AUTO);
    const uint64_t busy = filter->view->busy_keys;
    int64_t now = tamis__steady_ns() + 3600 * SECOND_NS;
    uint64_t at = 0;
    (void)wanted_after(filter, &at, BATCH, now);
    for (uint32_t i = 0; i < 8; i++) {
        assert_done(tamis_filter_sync(filter));
        now += SECOND_NS;
        assert_int_equal(wanted_after(filter, &at, busy / 2 / BATCH * BATCH, now),
                         TAMIS_PAGES_SMALL);
    }
    assert_done(tamis_filter_prepare(filter, 2 * busy)); /* and it had huge ones */
    assert_int_equal(wanted(filter), TAMIS_PAGES_HUGE);
    for (uint32_t i = 0; i < 2; i++) {
        assert_done(tamis_filter_sync(filter));
        now += SECOND_NS;
        (void)wanted_after(filter, &at, BATCH, now);
    }
    assert_int_equal(wanted(filter), TAMIS_PAGES_SMALL);
}

/* ---- Where the system gives them ------------------------------------------------------------- */

/* Has this file system pages of 2 MiB for a file that is written to? */
static bool has_huge_pages(void)
{
    AUTO_FILTER *probe = make("probe", 16 * MIB, TAMIS_PAGES_HUGE);
    add(probe, 0, 100 * BATCH);
    assert_done(tamis_filter_sync(probe));
    return mapped(probe).huge_bytes >= 12 * MIB;
}

CASE(pages_come_anew_in_either_sort)
{
    if (!has_huge_pages()) {
        cases_skip("this file system has no pages of 2 MiB");
    }
    AUTO_FILTER *filter = make("x", 32 * MIB, TAMIS_PAGES_SMALL);
    add(filter, 0, 1000 * (uint64_t)BATCH);
    assert_int_equal(mapped(filter).huge_bytes, 0);
    assert_done(tamis_filter_set_pages(store, "x", TAMIS_PAGES_HUGE));
    assert_done(tamis_filter_sync(filter));
    struct tamis_filter_mapped got = mapped(filter);
    assert_true(got.huge_bytes >= 8 * MIB); /* memory may lack pieces of 2 MiB for the others */
    for (uint64_t key = 0; key < 1000 * (uint64_t)BATCH; key += 7)
        assert_int_equal(tamis_filter_contains(filter, &key, sizeof key), 1);
    assert_done(tamis_filter_set_pages(store, "x", TAMIS_PAGES_SMALL));
    assert_done(tamis_filter_sync(filter));
    AUTO_FILTER *reader = fixture_opened(store, "x", TAMIS_OPEN_READ_ONLY);
    (void)reader;
    got = mapped(filter);
    assert_true(got.huge_bytes <= 8 * MIB);
}

CASE(obstacle_is_told_where_pages_are_small_and_another_has_them)
{
    if (!has_huge_pages()) cases_skip("this file system has no pages of 2 MiB");
    AUTO_FILTER *filter = make("x", 32 * MIB, TAMIS_PAGES_SMALL);
    add(filter, 0, 1000 * (uint64_t)BATCH);
    AUTO_STORE *other = fixture_open(store_path, TAMIS_OPEN_READ_ONLY);
    AUTO_FILTER *reader = fixture_opened(other, "x", TAMIS_OPEN_POPULATE); /* has them all mapped */
    assert_done(tamis_filter_set_pages(store, "x", TAMIS_PAGES_HUGE));
    assert_done(tamis_filter_sync(filter));
    const struct tamis_filter_mapped got = mapped(filter);
    if (got.huge_bytes >= 8 * MIB) return; /* a tmpfs puts them together in place */
    assert_non_null(got.obstacle);
    assert_non_null(strstr(got.mend_command, "tamis sync"));
    assert_done(tamis_filter_set_pages(store, "x", TAMIS_PAGES_SMALL));
    assert_int_equal(wanted(reader), TAMIS_PAGES_SMALL);
}

/* ---- Under adders ---------------------------------------------------------------------------- */

#define ADDERS 3u
#define ADDER_KEYS (200 * (uint64_t)BATCH)

struct crowd {
    struct spawn_barrier barrier;
    uint64_t fresh[ADDERS];
    unsigned done; /* atomic */
};

/* All add the same keys; the last one changes the pages until they are done. */
static void run_one(void *context, unsigned index)
{
    struct crowd *crowd = context;
    tamis_store *own = NULL;
    tamis_filter *filter = NULL;
    uint64_t numbers[BATCH];
    struct tamis_key keys[BATCH];
    bool ok =
        tamis_store_open(store_path, 0, &own) == 0 && tamis_filter_open(own, "x", 0, &filter) == 0;
    spawn_wait(&crowd->barrier);
    for (uint64_t at = 0; ok && index < ADDERS && at < ADDER_KEYS; at += BATCH) {
        numbers_from(at, BATCH, numbers, keys);
        const int64_t fresh = tamis_filter_add_batch(filter, keys, BATCH, NULL);
        ok = fresh >= 0;
        if (ok) crowd->fresh[index] += (uint64_t)fresh;
    }
    if (index < ADDERS) (void)__atomic_add_fetch(&crowd->done, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0;
         ok && index == ADDERS && __atomic_load_n(&crowd->done, __ATOMIC_SEQ_CST) < ADDERS; i++)
        ok = tamis_filter_set_pages(own, "x", 1 + i % 2) == 0 && tamis_filter_sync(filter) == 0;
    ok = tamis_filter_close(filter) == 0 && ok;
    tamis_store_close(own);
    if (!ok) {
        (void)fprintf(stderr, "%s\n", tamis_last_error());
        _exit(1);
    }
}

CASE(no_key_is_lost_while_pages_come_anew_under_adders)
{
    struct crowd *crowd = spawn_shared(sizeof *crowd);
    AUTO_FILTER *filter = make("x", 16 * MIB, TAMIS_PAGES_AUTO);
    crowd->barrier.count = ADDERS + 1;
    assert_int_equal(spawn_all(ADDERS + 1, run_one, crowd), 0);
    uint64_t fresh = 0;
    for (unsigned i = 0; i < ADDERS; i++)
        fresh += crowd->fresh[i];
    assert_true(fresh <= ADDER_KEYS); /* each was new at most once; some seem known */
    assert_true(fresh > ADDER_KEYS - ADDER_KEYS / 50);
    for (uint64_t key = 0; key < ADDER_KEYS; key++)
        assert_int_equal(tamis_filter_contains(filter, &key, sizeof key), 1);
}
