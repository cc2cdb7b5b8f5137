/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * except_test.c: exceptions are changed beside others who need the catalog's lock.
 *
 * The keys are read, sorted and written without the lock, so nobody waits for a process that is
 * stopped among them.  (For how long the lock is held: `bound_faults_test except`.)
 *
 * Seen to fail: with the index read and staged under the lock (nobody gets it while one is
 * stopped).
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "hooks.h"
#include "points.h"
#include "spawn.h"
#include "tamis.h"

static tamis_store *open_store(const char *path)
{
    tamis_store *store;
    SPAWN_CHECK(tamis_store_open(path, TAMIS_OPEN_CREATE, &store) == 0);
    return store;
}

static void create(const char *path, const char *name, uint64_t capacity)
{
    AUTO_STORE *store = open_store(path);
    SPAWN_CHECK(tamis_filter_create(store, name, SPEC(.capacity = capacity), NULL) == 0);
}

struct edit {
    const char *path;
    unsigned stops_at;
    bool takes_off;
};

static const struct tamis_key old_key = {"old", 3}, mine = {"mine", 4}, others = {"other", 5};

static void edit_and_stop(void *context, unsigned index)
{
    const struct edit *edit = context;
    (void)index;
    AUTO_STORE *store = open_store(edit->path);
    hooks_signal_at(edit->stops_at, SIGSTOP, 0);
    SPAWN_CHECK((edit->takes_off ? tamis_filter_unexcept(store, "a", &old_key, 1, NULL)
                                 : tamis_filter_except(store, "a", &mine, 1)) == 1);
    tamis__point_hook = NULL;
}

static int see_filter(void *context, const struct tamis_filter_stat *stat)
{
    (void)stat;
    ++*(int *)context;
    return 0;
}

/* All that others do: who waited for ever is ended by the alarm. */
static void use_the_store(const char *path)
{
    AUTO_STORE *store = open_store(path);
    int filters = 0;
    (void)alarm(120);
    assert_int_equal(tamis_store_list(store, NULL, see_filter, &filters), 0);
    assert_int_equal(filters, 2);
    tamis_filter *b = fixture_opened(store, "b", 0);
    for (uint64_t i = 0; i < 5000; i++) /* grows several times */
        assert_true(tamis_filter_add(b, &i, sizeof i) >= 0);
    struct tamis_filter_stat stat = fixture_stat(b);
    assert_true(stat.segment_count > 1);
    assert_int_equal(tamis_filter_close(b), 0);
    assert_int_equal(tamis_filter_except(store, "b", &others, 1), 1);
    assert_int_equal(tamis_filter_except(store, "a", &others, 1), 1);
    assert_int_equal(tamis_filter_unexcept(store, "b", &others, 1, NULL), 1);
    (void)alarm(0);
}

static bool has_exception(const char *path, const struct tamis_key *key)
{
    tamis_store *store = open_store(path);
    tamis_filter *a = fixture_opened(store, "a", TAMIS_OPEN_READ_ONLY);
    const int has = tamis_filter_contains(a, key->data, key->bytes);
    assert_true(has >= 0);
    assert_int_equal(tamis_filter_close(a), 0);
    tamis_store_close(store);
    return !has;
}

static void stop_and_use(unsigned point, bool takes_off)
{
    char name[32];
    (void)snprintf(name, sizeof name, "stopped-%d-%d", (int)point, takes_off);
    AUTO_FREE char *path = scratch_path(name);
    struct edit edit = {path, point, takes_off};
    int status;
    create(path, "a", 1000);
    create(path, "b", 100);
    tamis_store *store = open_store(path);
    tamis_filter *a = fixture_opened(store, "a", 0);
    const struct tamis_key all[] = {old_key, mine, others};
    assert_int_equal(tamis_filter_add_batch(a, all, 3, NULL), 3);
    assert_int_equal(tamis_filter_close(a), 0);
    assert_int_equal(tamis_filter_except(store, "a", &old_key, 1), 1);
    tamis_store_close(store);
    const pid_t child = spawn_until_stopped(edit_and_stop, &edit, 0);
    use_the_store(path);
    do {
        assert_int_equal(kill(child, SIGCONT), 0); /* it stops again: another was faster */
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    } while (WIFSTOPPED(status));
    assert_int_equal(status, 0);
    assert_int_equal(has_exception(path, &old_key), !takes_off);
    assert_int_equal(has_exception(path, &mine), !takes_off);
    assert_true(has_exception(path, &others)); /* what was done meanwhile is not undone */
}

CASE(except_stopped_outside_of_its_commit_stops_nobody)
{
    static const unsigned points[] = {TAMIS__POINT_EXCEPT_LOADED, TAMIS__POINT_EXCEPT_STAGED};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        stop_and_use(points[i], false);
        stop_and_use(points[i], true);
    }
}
