/* SPDX-License-Identifier: BSD-2-Clause */
/* repair_kill_test.c: a repair that is killed, wherever, is done again by the next. */
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "catalogs.h"
#include "editions.h"
#include "hooks.h"
#include "points.h"
#include "repairs.h"
#include "riches.h"

static int last_point;
static unsigned calls_before; /* where last_point is -1 */

static void repair_in_child(void *path)
{
    if (last_point >= 0)
        hooks_signal_at((unsigned)last_point, SIGKILL, 0);
    else
        hooks_kill_before_call(calls_before);
    if (tamis_store_repair(path, 0, NULL, NULL) < 0) _exit(1);
}

static void spoil(const char *path, bool lost)
{
    if (lost) {
        repairs_zero(path);
        return;
    }
    free(repairs_copy_segment(path, 1, 135));
    free(repairs_copy_segment(path, 1, 136));
    repairs_set_counters(path, 140, 0);
    AUTO_STORE *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    assert_done(tamis__catalog_put_garbage(txn, 136));
    catalogs_commit(txn);
}

/* Of the dead nothing is left over, and the next repair does what it had not. */
static void assert_mended(const char *path, const char *portrait, int files)
{
    (void)repairs_done(path, 0);
    riches_assert_portrait(path, portrait);
    assert_int_equal(fixture_problems(path), 0);
    tamis_store *store = fixture_open(path, 0);
    assert_done(tamis_filter_create(store, "next", SPEC(.capacity = 10),
                                    NULL)); /* unlinks garbage, as any writer */
    assert_done(tamis_filter_drop(store, "next"));
    tamis_store_close(store);
    assert_int_equal(fixture_files(path, "segments"), files);
    assert_int_equal(fixture_files(path, "staging"), 0);
    assert_int_not_equal(access(fixture_join(path, "catalog.mdb.new"), F_OK), 0);
}

CASE(repair_that_is_killed_at_a_point_is_done_again)
{
    static const struct {
        int point;
        bool lost;
    } cases[] = {{TAMIS__POINT_REPAIR_SCANNED, true},  {TAMIS__POINT_REPAIR_WRITTEN, true},
                 {TAMIS__POINT_REPAIR_RENAMED, true},  {TAMIS__POINT_COMMITTED, true},
                 {TAMIS__POINT_REPAIR_CLEANED, true},  {TAMIS__POINT_REPAIR_SCANNED, false},
                 {TAMIS__POINT_REPAIR_CLEANED, false}, {TAMIS__POINT_COMMITTED, false}};
    AUTO_FREE char *path, *copy = scratch_path("copy");
    riches_make(&path);
    AUTO_FREE char *before = riches_portrait(path);
    const int files = fixture_files(path, "segments");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scratch_copy(path, copy);
        spoil(copy, cases[i].lost);
        last_point = cases[i].point;
        assert_int_equal(fixture_child(repair_in_child, copy), SPAWN_KILLED);
        assert_mended(copy, before, files);
        scratch_remove(copy);
    }
}

/* A small store, as it is done for every call. */
CASE(repair_that_is_killed_before_any_call_is_done_again)
{
    AUTO_FREE char *path, *copy = scratch_path("copy");
    tamis_store *store = fixture_store(&path);
    uint64_t key = 5;
    const struct tamis_key one = {&key, sizeof key};
    assert_done(editions_publish(store, "list", 0, 100, NULL, NULL));
    assert_done(editions_publish(store, "list", 100, 100, NULL, NULL));
    assert_int_equal(tamis_filter_except(store, "list", &one, 1), 1);
    tamis_store_close(store);
    AUTO_FREE char *before = riches_portrait(path);
    const int files = fixture_files(path, "segments");
    last_point = -1;
    for (int lost = 0; lost < 2; lost++) {
        unsigned calls = 0;
        for (int status = SPAWN_KILLED; status == SPAWN_KILLED; calls++) {
            scratch_copy(path, copy);
            spoil(copy, lost);
            calls_before = calls;
            status = fixture_child(repair_in_child, copy);
            assert_true(status == SPAWN_KILLED || status == 0);
            assert_mended(copy, before, files);
            scratch_remove(copy);
        }
        assert_true(calls > 30);
    }
}

CASES_PREPARE
{
    scratch_in_memory();
}
