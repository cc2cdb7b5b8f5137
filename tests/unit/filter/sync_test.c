/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many filters are brought to the disk by one call: what is clean costs no write, what fails is
 * told and holds nobody up.
 *
 * Broken to see it fail: a call that took each filter for clean, or none; one that did not look at
 * the mark, at the counts, or at the trouble that the catalog has; one that took the catalog's list
 * for the list in force; one that ended with the first failure; a commit for each filter.
 */
#include <errno.h>
#include <stdlib.h>

#include "catalog/points.h"
#include "fixture.h"
#include "handle/view.h"
#include "segment/mark.h"

#define FILTERS 100u

static unsigned writes, commits;
static const char *broken; /* calls on that file fail */

static int watch_calls(const char *verb, const char *what)
{
    const bool syncs = strstr(verb, "sync") != NULL || strcmp(verb, "write") == 0;
    if (syncs) writes++;
    return syncs && broken != NULL && strstr(what, broken) != NULL ? EIO : 0;
}

static void count_commits(unsigned point)
{
    if (point == TAMIS__POINT_COMMITTED) commits++;
}

/* What a call tells of filters that failed. */
struct told {
    unsigned count;
    char name[TAMIS_NAME_MAX + 1];
    char sentence[1024];
    int error, answer;
};

static int keep_told(void *context, const char *name, int error)
{
    struct told *told = context;
    told->count++;
    told->error = error;
    (void)snprintf(told->name, sizeof told->name, "%s", name);
    (void)snprintf(told->sentence, sizeof told->sentence, "%s", tamis_last_error());
    return told->answer;
}

static int64_t sync_watched(tamis_store *store, struct told *told)
{
    *told = (struct told){.answer = told->answer};
    writes = commits = 0;
    tamis__io_hook = watch_calls;
    tamis__point_hook = count_commits;
    const int64_t rc = tamis_store_sync(store, NULL, 0, keep_told, told);
    tamis__io_hook = NULL;
    tamis__point_hook = NULL;
    return rc;
}

static void name_of(unsigned i, char name[16])
{
    (void)snprintf(name, 16, "f%03u", i);
}

static void make_filters(tamis_store *store)
{
    char name[16];
    for (unsigned i = 0; i < FILTERS; i++) {
        name_of(i, name);
        assert_done(tamis_filter_close(fixture_filter(store, name, 1000)));
    }
}

/* Adds a key to each, by handles that bring nothing to the disk. */
static void write_to_all(tamis_store *store, const char *key)
{
    char name[16];
    for (unsigned i = 0; i < FILTERS; i++) {
        name_of(i, name);
        tamis_filter *filter = fixture_opened(store, name, 0);
        assert_int_equal(tamis_filter_add(filter, key, strlen(key)), 1);
        tamis_filter_release(filter);
    }
}

static int sum_items(void *context, const struct tamis_filter_stat *stat)
{
    *(uint64_t *)context += stat->items;
    return 0;
}

static uint64_t recorded(tamis_store *store)
{
    uint64_t items = 0;
    assert_done(tamis_store_list(store, NULL, sum_items, &items));
    return items;
}

static int keep_state(void *context, const struct tamis_filter_stat *stat)
{
    *(uint32_t *)context = stat->state;
    return 0;
}

static uint32_t state_of(tamis_store *store, const char *name)
{
    uint32_t state = 0;
    assert_done(tamis_store_list(store, name, keep_state, &state));
    return state;
}

static bool is_clean(char *path, uint64_t number)
{
    const struct tamis__segment_header header =
        fixture_header_of(fixture_segment_path(path, number));
    return tamis__mark_is_clean(&header.live);
}

STORE_CASE(sync_of_clean_filters_writes_nothing)
{
    struct told told = {.answer = 0};
    make_filters(store);
    assert_int_equal(sync_watched(store, &told), 0);
    assert_int_equal(writes, 0);
    assert_int_equal(commits, 0);
    write_to_all(store, "a");
    assert_int_equal(sync_watched(store, &told), 0);
    assert_true(writes >= FILTERS);
    assert_int_equal(commits, 2); /* 64 filters, and 36 */
    assert_int_equal(recorded(store), FILTERS);
    for (unsigned i = 1; i <= FILTERS; i++)
        assert_true(is_clean(path, i));
    assert_int_equal(sync_watched(store, &told), 0);
    assert_int_equal(writes, 0);
}

static tamis_filter *added(tamis_store *store, const char *name, const char *key)
{
    tamis_filter *filter = fixture_opened(store, name, 0);
    assert_int_equal(tamis_filter_add(filter, key, strlen(key)), 1);
    return filter;
}

/* What a process leaves that is killed between two steps of a checkpoint. */
STORE_CASE(sync_ends_a_checkpoint_that_was_cut)
{
    struct told told = {.answer = 0};
    make_filters(store);
    tamis_filter *filter = added(store, "f007", "a"); /* on the disk, and the catalog not told */
    assert_int_equal(tamis__mark_leave(&filter->view->segments[0].segment), 1);
    tamis_filter_release(filter);
    filter = added(store, "f008", "a"); /* the catalog told, and the mark stays */
    assert_done(tamis_filter_sync(filter));
    tamis_filter_release(filter);
    assert_int_equal(recorded(store), 1);
    assert_true(is_clean(path, 8));
    assert_false(is_clean(path, 9));
    assert_int_equal(sync_watched(store, &told), 0);
    assert_int_equal(recorded(store), 2);
    assert_true(is_clean(path, 9));
    assert_int_equal(commits, 1);
}

STORE_CASE(sync_follows_a_filter_that_grows)
{
    struct told told = {.answer = 0};
    uint64_t items = 0;
    assert_done(
        tamis_filter_close(fixture_create(store, "x", SPEC(.capacity = 100, .fp_rate = 0.01))));
    for (uint32_t i = 0; i < 300; i++) {
        tamis_filter *filter = fixture_opened(store, "x", 0);
        assert_int_equal(tamis_filter_add(filter, &i, sizeof i), 1);
        items = fixture_stat(filter).items;
        tamis_filter_release(filter);
        assert_int_equal(sync_watched(store, &told), 0);
        assert_int_equal(recorded(store), items);
    }
    assert_int_equal(items, 300);
    assert_int_equal(sync_watched(store, &told), 0);
    assert_int_equal(writes, 0);
}

STORE_CASE(sync_goes_on_behind_a_filter_that_fails)
{
    struct told told = {.answer = 0};
    make_filters(store);
    write_to_all(store, "a");
    broken = "0000000000000042.seg";
    assert_int_equal(sync_watched(store, &told), 1);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.error, TAMIS_EIO);
    assert_string_equal(told.name, "f041");
    assert_non_null(strstr(told.sentence, broken));
    assert_int_equal(recorded(store), FILTERS);
    assert_false(is_clean(path, 42));
    assert_true(is_clean(path, 41) && is_clean(path, 43) && is_clean(path, FILTERS));
    assert_true((state_of(store, "f041") & TAMIS_STATE_DEGRADED) != 0);
    broken = NULL;
    /* Another process has written it, and did not come to tell the catalog. */
    tamis_filter *filter = fixture_opened(store, "f041", 0);
    assert_int_equal(tamis__mark_checkpoint(&filter->view->segments[0].segment), 1);
    tamis_filter_release(filter);
    assert_true((state_of(store, "f041") & TAMIS_STATE_DEGRADED) != 0);
    assert_int_equal(sync_watched(store, &told), 0);
    assert_true(is_clean(path, 42));
    assert_int_equal(state_of(store, "f041") & TAMIS_STATE_DEGRADED, 0);
}

STORE_CASE(sync_ends_when_it_is_told_to)
{
    struct told told = {.answer = -77};
    make_filters(store);
    write_to_all(store, "a");
    broken = "0000000000000001.seg";
    assert_int_equal(sync_watched(store, &told), -77);
    tamis__io_hook = watch_calls;
    assert_refused(TAMIS_EIO, broken, tamis_store_sync(store, NULL, 0, NULL, NULL));
    tamis__io_hook = NULL;
    assert_false(is_clean(path, 2));
    broken = NULL;
    assert_int_equal(tamis_store_sync(store, NULL, 0, NULL, NULL), 0);
    assert_true(is_clean(path, 1) && is_clean(path, 2));
}

STORE_CASE(sync_takes_names)
{
    const char *const names[] = {"f001", "absent", "f003", "f003"};
    struct told told = {.answer = 0};
    make_filters(store);
    write_to_all(store, "a");
    assert_int_equal(tamis_store_sync(store, names, 4, keep_told, &told), 1);
    assert_string_equal(told.name, "absent");
    assert_int_equal(told.error, TAMIS_ENOTFOUND);
    assert_int_equal(recorded(store), 2);
    assert_int_equal(tamis_store_sync(store, names, 0, NULL, NULL), 0);
    assert_int_equal(recorded(store), 2);
    AUTO_STORE *reader = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    assert_refused(TAMIS_EREADONLY, "open it for writing",
                   tamis_store_sync(reader, NULL, 0, NULL, NULL));
    assert_refused(TAMIS_EINVAL, "store", tamis_store_sync(NULL, NULL, 0, NULL, NULL));
    assert_int_equal(tamis_store_sync(store, NULL, 0, NULL, NULL), 0);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
