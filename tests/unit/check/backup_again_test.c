/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backup_again_test.c: a backup into the place of an earlier one (store/check/backup_place.c).
 *
 * Seen to fail: with the older copy removed before the swap, killed there, there is none; with the
 * comparison of data left out of copy.c, the copy lacks keys; without the mark in the older copy,
 * the next backup is refused.
 */
#include "fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include "editions.h"
#include "hooks.h"
#include "keys.h"
#include "riches.h"
#include "spawn.h"

static int64_t backup(const char *path, const char *to, struct tamis_backup_result *result)
{
    AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    return tamis_store_backup_with(store, to, NULL, result);
}

static char *partial_of(const char *path)
{
    char *partial = NULL;
    assert_true(asprintf(&partial, "%s.partial", path) > 0);
    return partial;
}

/* A filter that stays as it is, one that gets keys, and a list of two generations. */
static char *make_store(void)
{
    char *path;
    AUTO_STORE *store = fixture_store(&path);
    AUTO_FILTER *still = fixture_filter(store, "still", 1000);
    AUTO_FILTER *moves = fixture_filter(store, "moves", 1000);
    assert_true(keys_add(still, 0, 500) > 490 && keys_add(moves, 0, 100) > 95);
    assert_done(editions_publish(store, "list", 0, 100, NULL, NULL));
    assert_done(editions_publish(store, "list", 100, 100, NULL, NULL));
    return path;
}

static void change_store(const char *path)
{
    AUTO_STORE *store = fixture_open(path, 0);
    AUTO_FILTER *moves = NULL;
    assert_done(tamis_filter_open(store, "moves", 0, &moves));
    assert_true(keys_add(moves, 100, 200) > 95);
    assert_done(tamis_filter_rename(store, "list", "renamed"));
}

static nlink_t links_of(const char *path, uint64_t number)
{
    struct stat st;
    assert_int_equal(stat(fixture_segment_path(path, number), &st), 0);
    return st.st_nlink;
}

CASE(backup_again_writes_what_has_changed)
{
    AUTO_FREE char *path = make_store(), *to = scratch_path("copy"), *partial = partial_of(to);
    struct tamis_backup_result result = {.size = sizeof result};
    assert_int_equal(backup(path, to, &result), 3);
    assert_true(result.written_bytes > 0 && result.kept_bytes == 0);
    const uint64_t all = result.written_bytes;
    assert_int_equal(backup(path, to, &result), 3);
    assert_true(result.written_bytes == 0 && result.kept_bytes > 0);
    change_store(path);
    assert_int_equal(backup(path, to, &result), 3);
    assert_true(result.written_bytes > 0 && result.written_bytes < all);
    assert_int_equal(result.left_out, 0);
    AUTO_FREE char *source = riches_portrait(path);
    riches_assert_portrait(to, source);
    assert_int_equal(fixture_problems(to), 0);
    assert_int_equal(access(partial, F_OK), -1);
    for (uint64_t number = 1; number <= 4; number++)
        assert_int_equal(links_of(to, number), 1);
}

/* Bytes of the earlier copy that the disk has changed are not taken over. */
CASE(backup_again_writes_what_is_damaged_in_the_copy)
{
    AUTO_FREE char *path = make_store(), *to = scratch_path("copy");
    struct tamis_backup_result result = {.size = sizeof result};
    const unsigned char zero[256] = {0};
    assert_int_equal(backup(path, to, NULL), 3);
    fixture_poke(fixture_segment_path(to, 1), 5000, zero, sizeof zero);
    assert_int_equal(backup(path, to, &result), 3);
    assert_true(result.written_bytes > 0 && result.kept_bytes > 0);
    AUTO_FREE char *source = riches_portrait(path);
    riches_assert_portrait(to, source);
}

CASE(backup_again_replaces_its_own_only)
{
    AUTO_FREE char *path = make_store(), *other, *to = scratch_path("copy");
    assert_int_equal(backup(path, to, NULL), 3);
    tamis_store_close(fixture_store(&other));
    assert_refused(TAMIS_EEXIST, "a backup of another store", backup(other, to, NULL));
    assert_refused(TAMIS_EEXIST, "the store itself", backup(path, path, NULL));
    AUTO_FREE char *stray =
        fixture_join(to, "notes.txt") ? strdup(fixture_join(to, "notes.txt")) : NULL;
    FILE *file = fopen(stray, "w");
    assert_true(file != NULL && fclose(file) == 0);
    assert_refused(TAMIS_EEXIST, "files that no backup has put there", backup(path, to, NULL));
    assert_int_equal(unlink(stray), 0);
    change_store(to); /* somebody works with it as with a store */
    assert_refused(TAMIS_EEXIST, "was written to since", backup(path, to, NULL));
    assert_int_equal(fixture_problems(to), 0);
}

static int count_problem(void *context, const struct tamis_problem *problem)
{
    assert_string_equal(problem->filter, "moves");
    assert_int_equal(problem->error, TAMIS_ECORRUPT);
    ++*(int *)context;
    return 0;
}

CASE(backup_again_keeps_what_is_damaged_now)
{
    AUTO_FREE char *path = make_store(), *to = scratch_path("copy"), *first = scratch_path("new");
    struct tamis_backup_result result = {.size = sizeof result};
    int told = 0;
    const struct tamis_backup_options options = {
        .size = sizeof options, .fn = count_problem, .context = &told};
    assert_int_equal(backup(path, to, NULL), 3);
    AUTO_FREE char *before = riches_portrait(to);
    assert_int_equal(truncate(fixture_segment_path(path, 2), 5000), 0);
    AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    assert_true(tamis_store_backup_with(store, to, NULL, NULL) == TAMIS_ECORRUPT);
    riches_assert_portrait(to, before);
    assert_int_equal(tamis_store_backup_with(store, to, &options, &result), 3);
    riches_assert_portrait(to, before);
    assert_int_equal(fixture_problems(to), 0);
    assert_int_equal(told, 1);
    assert_int_equal(result.left_out, 1);
    assert_int_equal(tamis_store_backup_with(store, first, &options, &result), 2);
    assert_int_equal(fixture_problems(first), 0);
    assert_int_equal(told, 2);
}

static unsigned calls_before; /* the death of the child */

static void back_up_in_child(void *context)
{
    const char *const *paths = context;
    tamis_store *store;
    if (tamis_store_open(paths[0], 0, &store) < 0) _exit(1);
    hooks_kill_before_call(calls_before);
    if (tamis_store_backup(store, paths[1], NULL, NULL) < 0) _exit(1);
}

/* Killed before each call of the system, there is the earlier backup or the new one, whole, and the
 * next backup works. */
CASE(backup_again_that_is_killed_leaves_one_of_both)
{
    AUTO_FREE char *path = make_store(), *old = scratch_path("old"), *to = scratch_path("copy");
    AUTO_FREE char *partial = partial_of(to);
    scratch_copy(path, old);
    AUTO_FREE char *before = riches_portrait(old);
    change_store(path);
    AUTO_FREE char *after = riches_portrait(path);
    const char *paths[2] = {path, to};
    int status = SPAWN_KILLED, olds = 0, news = 0;
    for (unsigned calls = 0; status == SPAWN_KILLED; calls++) {
        assert_int_equal(backup(old, to, NULL), 3);
        calls_before = calls;
        status = fixture_child(back_up_in_child, (void *)paths);
        assert_true(status == SPAWN_KILLED || status == 0);
        AUTO_FREE char *is = riches_portrait(to);
        const bool is_new = strcmp(is, after) == 0;
        olds += !is_new;
        news += is_new;
        if (!is_new) assert_string_equal(is, before);
        assert_int_equal(fixture_problems(to), 0);
        assert_int_equal(backup(path, to, NULL), 3);
        riches_assert_portrait(to, after);
        assert_int_not_equal(access(partial, F_OK), 0);
        scratch_remove(to);
    }
    assert_true(olds > 20 && news > 3);
}
