/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * repair_clean_test.c: nothing that anybody may need goes when a store is repaired
 * (store/check/clean.c).
 */
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "catalogs.h"
#include "editions.h"
#include "os/io.h"
#include "points.h"
#include "repairs.h"
#include "riches.h"
#include "segment/stage.h"

/* ---- Cleaning -------------------------------------------------------------------------------- */

/* Seen to fail: with the test for next_segment left out of is_newer(), the second part. */
CASE(repair_puts_aside_what_no_list_has_and_keeps_what_is_newer)
{
    AUTO_FREE char *path;
    riches_make(&path);
    AUTO_FREE char *before = riches_portrait(path);
    repairs_set_counters(path, 200, 0);
    AUTO_FREE char *dropped = repairs_copy_segment(path, 1, 150),
                   *newer = repairs_copy_segment(path, 1, 250);
    assert_int_equal(fixture_problems(path), 2);
    const struct repairs_said *said = repairs_done(path, 0);
    repairs_assert_said(
        said, 1, "0000000000000150.seg: done: is put aside in lost/: its filter has another");
    repairs_assert_said(said, 1,
                        "0000000000000250.seg: TAMIS_ECORRUPT: is not in the catalog, which may "
                        "be older than this segment; 'tamis repair --rebuild'");
    assert_int_not_equal(access(dropped, F_OK), 0);
    assert_int_equal(access(fixture_join(path, "lost/0000000000000150.seg"), F_OK), 0);
    assert_int_equal(access(newer, F_OK), 0);
    free(dropped);
    dropped = repairs_copy_segment(path, 1, 150);
    repairs_set_counters(path, 300,
                         140); /* found in the way: it may be of a newer catalog that is lost */
    said = repairs_done(path, 0);
    repairs_assert_said(said, 2, "0000000000000150.seg: TAMIS_ECORRUPT: is not in the catalog");
    assert_int_equal(access(dropped, F_OK) | access(newer, F_OK), 0);
    assert_int_equal(unlink(dropped) | unlink(newer), 0);
    riches_assert_portrait(path, before);
}

/* A catalog of before, restored: what was made since must come back with --rebuild.  Seen to fail
 * with `passed` not set in take_number() of txn/commit.c. */
CASE(repair_of_an_older_catalog_keeps_what_it_does_not_know)
{
    AUTO_FREE char *path, *old;
    riches_make(&path);
    old = scratch_path("old-catalog");
    scratch_copy(fixture_join(path, "catalog.mdb"), old);
    tamis_store *store = fixture_open(path, 0);
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 100};
    tamis_filter *filter = fixture_create(store, "young", &spec);
    assert_int_equal(keys_add(filter, 0, 50), 50);
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_open(store, "grown", 0, &filter));
    keys_add(filter, 100000, 1300000); /* two segments more */
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    AUTO_FREE char *latest = riches_portrait(path);
    repairs_lose(path);
    scratch_copy(old, fixture_join(path, "catalog.mdb"));
    const int files = fixture_files(path, "segments");
    assert_true(repairs_done(path, 0)->failed >= 2);
    store = fixture_open(path, 0); /* the numbers are given out anew, and found taken */
    assert_done(tamis_filter_create(store, "younger", &spec, &filter));
    assert_int_equal(tamis_filter_add(filter, "k", 1), 1);
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_drop(store, "younger"));
    tamis_store_close(store);
    assert_true(repairs_done(path, 0)->failed >= 2);
    assert_int_equal(fixture_files(path, "segments"), files);
    (void)repairs_done(path, TAMIS_REPAIR_REBUILD);
    riches_assert_portrait(path, latest);
    assert_int_equal(fixture_problems(path), 0);
}

CASE(repair_sweeps_staging_and_leaves_garbage_to_the_next_writer)
{
    AUTO_FREE char *path, *left, *garbage;
    struct tamis__staged staged;
    riches_make(&path);
    tamis_store *store = fixture_open(path, 0);
    left = strdup(fixture_join(path, "staging/0123456789abcdef.seg"));
    scratch_copy(fixture_segment_path(path, 1), left);
    scratch_copy(left, fixture_join(path, "catalog.mdb.new"));
    garbage = repairs_copy_segment(path, 1, 130);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    assert_done(tamis__catalog_put_garbage(txn, 130));
    catalogs_commit(txn);
    scratch_remove(left);
    assert_done(
        tamis__segment_stage(&store->place, 8192, "a segment", &staged)); /* its maker lives */
    scratch_copy(fixture_segment_path(path, 1), left);
    const struct repairs_said *said = repairs_done(path, 0);
    repairs_assert_said(said, 0, "staging/0123456789abcdef.seg: done: is removed");
    repairs_assert_said(said, 0, "catalog.mdb.new: done: is removed");
    assert_int_equal(said->done, 2);
    assert_int_equal(fixture_files(path, "staging"), 1);
    assert_int_equal(access(garbage, F_OK), 0);
    tamis__segment_discard(&store->place, &staged);
    assert_done(tamis_filter_drop(store, "plain"));
    assert_int_not_equal(access(garbage, F_OK), 0);
    tamis_store_close(store);
    assert_int_equal(repairs_done(path, 0)->done, 0);
}

static int count_generation(void *context, const struct tamis_generation_stat *stat)
{
    (void)stat;
    ++*(int *)context;
    return 0;
}

CASE(repair_keeps_a_generation_whose_file_is_missing)
{
    AUTO_FREE char *path;
    int count = 0;
    riches_make(&path);
    AUTO_STORE *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_SHARED);
    struct tamis__record record;
    assert_done(tamis__catalog_get(txn, "list", &record));
    struct tamis__segment_header header;
    tamis__catalog_end(txn);
    uint64_t number = 0;
    for (uint64_t i = 1; i < record.segments[0].number; i++) {
        if (access(fixture_segment_path(path, i), F_OK) != 0) continue;
        header = fixture_header_of(fixture_segment_path(path, i));
        if (header.filter_id == record.filter_id && header.kind != 5) number = i;
    }
    assert_true(number != 0);
    AUTO_FREE char *file = strdup(fixture_segment_path(path, number));
    AUTO_FREE char *away = scratch_path("away");
    assert_int_equal(rename(file, away), 0);
    for (unsigned flags = 0; flags <= TAMIS_REPAIR_REBUILD; flags += TAMIS_REPAIR_REBUILD)
        repairs_assert_said(repairs_done(path, flags), 1, "cannot be in force again");
    assert_true(fixture_problems(path) > 0);
    assert_done(tamis_filter_generations(store, "list", count_generation, &count));
    assert_int_equal(count, 2);
    assert_int_equal(rename(away, file), 0);
    assert_int_equal(fixture_problems(path), 0);
    assert_int_equal(repairs_done(path, 0)->done, 0);
}

CASE(repair_tells_of_a_missing_segment_in_force)
{
    AUTO_FREE char *path;
    riches_make(&path);
    assert_int_equal(unlink(fixture_segment_path(path, 1)), 0);
    repairs_assert_said(repairs_done(path, 0), 1,
                        "[plain] segments/0000000000000001.seg: TAMIS_ECORRUPT: is "
                        "missing, though the catalog has it");
}

/* Keys that a power cut took: the catalog's count is what the segments say. */
CASE(repair_sets_a_count_right_that_went_back)
{
    AUTO_FREE char *path;
    const unsigned char zero[4 * 64] = {0}; /* all stripes of a file of one page */
    riches_make(&path);
    fixture_poke(fixture_segment_path(path, 1), 2048, zero, sizeof zero);
    assert_int_equal(fixture_problems(path), 1);
    repairs_assert_said(repairs_done(path, 0), 1,
                        "[plain] segments/0000000000000001.seg: done: has counted 0 "
                        "items, and the catalog knew of 500; the catalog counts");
    assert_int_equal(fixture_problems(path), 0);
}

/* Segment 1 once more, as number `to`, with a field of 8 bytes changed. */
static char *copy_with(const char *path, uint64_t to, size_t offset, uint64_t value)
{
    char *copy = repairs_copy_segment(path, 1, to);
    struct tamis__segment_header header = fixture_header_of(copy);
    memcpy((char *)&header + offset, &value, sizeof value);
    fixture_reseal(copy, &header);
    return copy;
}

/* (Broken: each comparison of is_newer() and is_later() off by one or left out; is_blank() looks
 * at the items alone, where an adder died before it could count.) */
CASE(repair_keeps_what_a_newer_catalog_may_have)
{
    AUTO_FREE char *path;
    const unsigned char zero[4 * 64] = {0}; /* all stripes of a file of one page */
    riches_make(&path);
    repairs_set_counters(path, 200, 0);
    AUTO_FREE char *next = repairs_copy_segment(path, 1, 200),
                   *uncounted = repairs_copy_segment(path, 1, 250),
                   *filter =
                       copy_with(path, 150, offsetof(struct tamis__segment_header, filter_id), 999),
                   *publication = copy_with(
                       path, 151, offsetof(struct tamis__segment_header, publication), 1000);
    fixture_poke(uncounted, 2048, zero, sizeof zero);
    const struct repairs_said *said = repairs_done(path, 0);
    repairs_assert_said(said, 4, "0000000000000200.seg: TAMIS_ECORRUPT: is not in the catalog");
    repairs_assert_said(said, 4, "0000000000000250.seg: TAMIS_ECORRUPT: is not in the catalog");
    repairs_assert_said(said, 4, "0000000000000150.seg: TAMIS_ECORRUPT: is not in the catalog");
    repairs_assert_said(said, 4, "0000000000000151.seg: TAMIS_ECORRUPT: is not in the catalog");
    assert_int_equal(access(next, F_OK) | access(uncounted, F_OK) | access(filter, F_OK) |
                         access(publication, F_OK),
                     0);
}

/* What a maker that died has left.  (Broken: judge_newer() leaves it.) */
CASE(repair_puts_aside_a_newer_segment_that_is_blank)
{
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    assert_done(tamis_filter_create(store, "x", SPEC(.capacity = 10), NULL)); /* segment 1 */
    tamis_store_close(store);
    AUTO_FREE char *blank = repairs_copy_segment(path, 1, 70);
    repairs_assert_said(repairs_done(path, 0), 0,
                        "0000000000000070.seg: done: is put aside in lost/: it was being made by");
    assert_int_not_equal(access(blank, F_OK), 0);
}

/* With nothing else to be written.  (Broken: finish() commits only what it knows of garbage.) */
CASE(repair_writes_a_count_that_it_sets_right)
{
    AUTO_FREE char *path;
    const unsigned char zero[4 * 64] = {0}; /* all stripes of a file of one page */
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_filter(store, "x", 1000);
    assert_true(keys_add(filter, 0, 500) > 490);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    fixture_poke(fixture_segment_path(path, 1), 2048, zero, sizeof zero);
    assert_int_equal(fixture_problems(path), 1);
    repairs_assert_said(repairs_done(path, 0), 1,
                        "[x] segments/0000000000000001.seg: done: has counted 0 items");
    assert_int_equal(fixture_problems(path), 0);
}

/* ---- Dry runs -------------------------------------------------------------------------------- */

CASE(repair_that_is_dry_changes_nothing)
{
    AUTO_FREE char *path;
    riches_make(&path);
    repairs_lose(path);
    const int files = fixture_files(path, ".");
    const struct repairs_said *said = repairs_done(path, TAMIS_REPAIR_DRY_RUN);
    repairs_assert_said(said, 0, "would be made anew from");
    repairs_assert_said(said, 0,
                        "[list] catalog.mdb: done: would get its record from the segments: 1000 "
                        "items in 1 segment, 1 kept generation, 3 exceptions");
    assert_int_equal(fixture_files(path, "."), files);
    assert_int_not_equal(access(fixture_join(path, "catalog.mdb"), F_OK), 0);
    (void)repairs_done(path, 0);
    repairs_set_counters(path, 200, 0);
    AUTO_FREE char *dropped = repairs_copy_segment(path, 1, 150),
                   *catalog = strdup(fixture_join(path, "catalog.mdb.new")),
                   *staged = strdup(fixture_join(path, "staging/0123456789abcdef.seg"));
    scratch_copy(dropped, catalog);
    scratch_copy(dropped, staged);
    said = repairs_done(path, TAMIS_REPAIR_DRY_RUN);
    repairs_assert_said(said, 0, "would be put aside in lost/: its filter has another");
    repairs_assert_said(said, 0, "catalog.mdb.new: done: would be removed");
    assert_int_equal(access(dropped, F_OK) | access(catalog, F_OK) | access(staged, F_OK), 0);
}

static void add_and_die(void *context)
{
    tamis_store *store = fixture_open(context, 0);
    tamis_filter *filter = fixture_opened(store, "durable", 0);
    assert_int_equal(tamis_filter_add(filter, "k", 1), 1);
    _exit(3);
}

/* The log of a filter that is dropped, whose adder had died.  (Broken: judge_log() removes it in a
 * dry run too.) */
CASE(repair_that_is_dry_leaves_logs)
{
    AUTO_FREE char *path, *kept = scratch_path("logs");
    tamis_store *store = fixture_store(&path);
    assert_done(tamis_filter_create(store, "durable",
                                    SPEC(.capacity = 100, .flags = TAMIS_FILTER_DURABLE), NULL));
    assert_int_equal(fixture_child(add_and_die, path), 3);
    scratch_copy(fixture_join(path, "logs"), kept);
    assert_done(tamis_filter_drop(store, "durable"));
    tamis_store_close(store);
    scratch_remove(fixture_join(path, "logs"));
    scratch_copy(kept, fixture_join(path, "logs"));
    assert_int_equal(fixture_files(path, "logs"), 1);
    repairs_assert_said(repairs_done(path, TAMIS_REPAIR_DRY_RUN), 0, "would be put aside");
    assert_int_equal(fixture_files(path, "logs"), 1);
    /* The segment of its filter may be one that cannot be read.  (Broken: one is not enough.) */
    AUTO_FREE char *unreadable = strdup(fixture_segment_path(path, 77));
    scratch_copy(fixture_join(path, "catalog.mdb"), unreadable);
    repairs_assert_said(repairs_done(path, 0), 2, "is left alone, as segments that cannot be read");
    assert_int_equal(fixture_files(path, "logs"), 1);
    assert_int_equal(unlink(unreadable), 0);
    repairs_assert_said(repairs_done(path, 0), 0, "is put aside in lost/");
    assert_int_equal(fixture_files(path, "logs"), 0);
    assert_int_equal(fixture_files(path, "lost"), 2); /* with its note */
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
