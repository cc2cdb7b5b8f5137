/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create_many_test.c: many filters by one call.
 *
 * Broken to see it fail: names that come twice and were not looked for (one file belonged to no
 * filter); a batch that was not noted as garbage before its files got their names (a death left
 * files there); one secret for all; a commit for each filter; a filter that was there and was not
 * compared.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "hooks.h"
#include "os/io.h"
#include "points.h"

#define COUNT 600u /* three batches */

static const struct tamis_filter_spec plain = {
    .size = sizeof plain, .capacity = 100, .fp_rate = 0.01};

static char texts[COUNT][16];
static const char *names[COUNT];

static void name_all(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "host %u", i);
        names[i] = texts[i];
    }
}

static unsigned files_of(const char *path)
{
    char segments[4096];
    unsigned count = 0;
    (void)snprintf(segments, sizeof segments, "%s/segments", path);
    for (uint64_t number = 1; number < 3 * COUNT; number++)
        count += access(fixture_segment_path(path, number), F_OK) == 0;
    return count;
}

static void assert_sound(tamis_store *store)
{
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

static unsigned commits;

static void count_commits(unsigned point)
{
    commits += point == TAMIS__POINT_COMMITTED;
}

STORE_CASE(create_many_has_two_commits_for_a_batch)
{
    name_all();
    (void)path;
    commits = 0;
    tamis__point_hook = count_commits;
    assert_int_equal(tamis_filter_create_many(store, names, COUNT, &plain, 0), COUNT);
    tamis__point_hook = NULL;
    assert_int_equal(commits, 2 * ((COUNT + 255) / 256));
}

/* ---- The list of very many ------------------------------------------------------------------ */

enum { LISTED = 9000, LONGEST = TAMIS_NAME_MAX };

/* Names of all lengths up to the longest, in their order. */
static void name_of_listed(unsigned i, char name[LONGEST + 1])
{
    const unsigned bytes = 6 + i * 7 % (LONGEST - 5);
    (void)snprintf(name, LONGEST + 1, "%05u/", i);
    memset(name + 6, 'a' + (int)(i % 26), bytes - 6);
    name[bytes] = '\0';
}

struct seen {
    tamis_store *store;
    unsigned next, end;
};

static int look_at_listed(void *context, const struct tamis_filter_stat *stat)
{
    struct seen *seen = context;
    char name[LONGEST + 1];
    name_of_listed(seen->next, name);
    assert_string_equal(stat->name, name);
    if (seen->next % 500 == 0) { /* all that a list tells is what the filter tells */
        AUTO_FILTER *filter = fixture_opened(seen->store, name, TAMIS_OPEN_READ_ONLY);
        const struct tamis_filter_stat told = fixture_stat(filter);
        assert_string_equal(stat->hash_set, told.hash_set);
        assert_int_equal(stat->m_bits, told.m_bits);
        assert_int_equal(stat->capacity, told.capacity);
        assert_true(stat->fp_rate == told.fp_rate && stat->bits_per_key == told.bits_per_key);
        assert_int_equal(stat->created_at, told.created_at);
        assert_int_equal(stat->flags, told.flags);
        assert_int_equal(stat->pages, told.pages);
        assert_string_equal(stat->imported_from, "");
    }
    return ++seen->next == seen->end ? 7 : 0;
}

/* More than the list keeps in one block.  Seen to fail with each block but the last left out, and
 * with the members kept up to `pages` only. */
STORE_CASE(nine_thousand_filters_are_listed)
{
    static char words[LISTED][LONGEST + 1];
    static const char *all[LISTED];
    (void)path;
    for (unsigned i = 0; i < LISTED; i++) {
        name_of_listed(i, words[i]);
        all[i] = words[i];
    }
    struct tamis_filter_spec spec = plain;
    spec.pages = TAMIS_PAGES_SMALL;
    assert_int_equal(tamis_filter_create_many(store, all, LISTED, &spec, 0), LISTED);
    struct seen seen = {.store = store};
    assert_int_equal(tamis_store_list(store, NULL, look_at_listed, &seen), 0);
    assert_int_equal(seen.next, LISTED);
    seen = (struct seen){.store = store, .next = 1000};
    assert_int_equal(tamis_store_list(store, "01", look_at_listed, &seen), 0);
    assert_int_equal(seen.next, 2000);
    seen = (struct seen){.store = store, .end = 6000};
    assert_int_equal(tamis_store_list(store, NULL, look_at_listed, &seen), 7);
}

/* A batch with an error makes none of its filters; those before it are there. */
STORE_CASE(create_many_refuses_a_batch_as_a_whole)
{
    name_all();
    assert_done(tamis_filter_create(store, names[300], &plain, NULL));
    assert_int_equal(tamis_filter_create_many(store, names, COUNT, &plain, 0), TAMIS_EEXIST);
    assert_non_null(strstr(tamis_last_error(), "host 300"));
    assert_int_equal(fixture_filters(store), 256 + 1);
    assert_int_equal(files_of(path), 256 + 1);
    const char *twice[] = {"a", "b", "a"};
    assert_int_equal(tamis_filter_create_many(store, twice, 3, &plain, 0), TAMIS_EINVAL);
    assert_non_null(strstr(tamis_last_error(), "'a' comes twice"));
    const char *bad[] = {"a", "b\n"};
    assert_int_equal(tamis_filter_create_many(store, bad, 2, &plain, 0), TAMIS_EINVAL);
    assert_int_equal(tamis_filter_create_many(store, twice, 2, &plain, 6), TAMIS_EINVAL);
    assert_int_equal(tamis_filter_create_many(store, NULL, 2, &plain, 0), TAMIS_EINVAL);
    const char *hole[] = {"a", NULL};
    assert_int_equal(tamis_filter_create_many(store, hole, 2, &plain, 0), TAMIS_EINVAL);
    assert_int_equal(fixture_filters(store), 256 + 1);
    assert_sound(store);
}

/* Seen to fail with names that are checked batch by batch. */
STORE_CASE(create_many_makes_nothing_if_a_name_cannot_be_one)
{
    name_all();
    names[COUNT - 1] = "a\tb";
    assert_int_equal(tamis_filter_create_many(store, names, COUNT, &plain, 0), TAMIS_EINVAL);
    assert_non_null(strstr(tamis_last_error(), "a\\x09b"));
    assert_int_equal(fixture_filters(store), 0);
    assert_int_equal(files_of(path), 0);
}

STORE_CASE(create_many_gives_each_a_secret_of_its_own)
{
    struct tamis_filter_spec spec = plain;
    (void)path;
    spec.hash_set = "sip";
    const char *two[] = {"a", "b"};
    assert_int_equal(tamis_filter_create_many(store, two, 2, &spec, 0), 2);
    const struct tamis__segment_header a = fixture_header_of(fixture_segment_path(path, 1)),
                                       b = fixture_header_of(fixture_segment_path(path, 2));
    assert_memory_not_equal(a.parameters, b.parameters, sizeof a.parameters);
}

/* ---- Deaths and failures --------------------------------------------------------------------- */

static unsigned deadly, reached;

static void die_at(unsigned point)
{
    if (point == TAMIS__POINT_RENAMED && ++reached == deadly) _exit(0);
}

/* The maker dies between the names of its files and the commit: the next writers remove them. */
STORE_CASE(create_many_of_a_dead_maker_leaves_nothing)
{
    name_all();
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        deadly = 100;
        tamis__point_hook = die_at;
        _exit(tamis_filter_create_many(store, names, 200, &plain, 0) == 200 ? 1 : 2);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(fixture_filters(store), 0);
    assert_int_equal(files_of(path), 100);
    for (unsigned i = 0; i < 4; i++) /* each removes some of the garbage */
        assert_done(tamis_filter_create(store, names[i], &plain, NULL));
    assert_int_equal(files_of(path), 4);
    assert_int_equal(tamis_filter_create_many(store, names, COUNT, &plain, TAMIS_MANY_IF_MISSING),
                     COUNT - 4);
    assert_sound(store);
}

STORE_CASE(create_many_without_a_disk_that_syncs_makes_nothing)
{
    name_all();
    hooks_fail_calls("fsync", EIO);
    assert_int_equal(tamis_filter_create_many(store, names, 10, &plain, 0), TAMIS_EIO);
    assert_int_equal(tamis_filter_create_many(store, names, 200, &plain, 0), TAMIS_EIO);
    assert_non_null(strstr(tamis_last_error(), path));
    tamis__io_hook = NULL;
    assert_int_equal(fixture_filters(store), 0);
    assert_int_equal(files_of(path), 0);
    assert_int_equal(tamis_filter_create_many(store, names, 10, &plain, 0), 10);
    assert_sound(store);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
