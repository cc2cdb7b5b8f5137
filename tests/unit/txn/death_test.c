/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * death_test.c: a process dies within create, drop, rename, sync, close or the making of a store,
 * at each named instant and before each of its system calls.  Afterwards the store is in the old or
 * in the new state; handles of the living go on; and once somebody has made another filter, no file
 * is left that belongs to nobody.
 */
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "hooks.h"
#include "os/io.h"
#include "points.h"

static const struct tamis_filter_spec plain = {.size = sizeof plain, .capacity = 100};

/* ---- What the dying do ----------------------------------------------------------------------- */

/* Each action opens the store before the hooks are set, but for the one that makes it. */
struct deed {
    const char *path;
    int point;      /* or -1 */
    unsigned calls; /* where point is -1: so many come through */
    void (*act)(tamis_store *store, tamis_filter *filter);
};

static void set_hooks(const struct deed *deed)
{
    if (deed->point >= 0)
        hooks_signal_at((unsigned)deed->point, SIGKILL, 0);
    else
        hooks_kill_before_call(deed->calls);
}

static void run_deed(void *context)
{
    const struct deed *deed = context;
    tamis_store *store = NULL;
    tamis_filter *filter = NULL;
    if (deed->act != NULL) {
        if (tamis_store_open(deed->path, 0, &store) < 0) _exit(1);
        if (tamis_filter_open(store, "old", 0, &filter) < 0) _exit(1);
        set_hooks(deed);
        deed->act(store, filter);
    } else {
        set_hooks(deed);
        if (tamis_store_open(deed->path, TAMIS_CREATE, &store) < 0) _exit(1);
    }
}

static void act_create(tamis_store *store, tamis_filter *filter)
{
    (void)filter;
    if (tamis_filter_create(store, "new", &plain, NULL) < 0) _exit(1);
}

static void act_drop(tamis_store *store, tamis_filter *filter)
{
    (void)filter;
    if (tamis_filter_drop(store, "old") < 0) _exit(1);
}

static void act_rename(tamis_store *store, tamis_filter *filter)
{
    (void)filter;
    if (tamis_filter_rename(store, "old", "renamed") < 0) _exit(1);
}

static void act_add(tamis_store *store, tamis_filter *filter)
{
    (void)store;
    if (tamis_filter_add(filter, "second", 6) < 0) _exit(1);
}

static void act_sync(tamis_store *store, tamis_filter *filter)
{
    (void)store;
    if (tamis_filter_add(filter, "second", 6) < 0 || tamis_filter_sync(filter) < 0) _exit(1);
}

static void act_close(tamis_store *store, tamis_filter *filter)
{
    (void)store;
    if (tamis_filter_add(filter, "second", 6) < 0 || tamis_filter_close(filter) < 0) _exit(1);
}

/* ---- What is there afterwards ---------------------------------------------------------------- */

static int note_name(void *context, const struct tamis_filter_stat *stat)
{
    strcat(strcat(context, stat->name), " ");
    return 0;
}

static const char *names_in(const char *path)
{
    static char names[256];
    AUTO_STORE *store = fixture_open(path, TAMIS_READ_ONLY);
    *names = '\0';
    assert_done(tamis_store_list(store, NULL, note_name, names));
    return names;
}

/* Make another filter, as anybody will sooner or later; then nothing may be amiss or left over. */
static void assert_sound_after_next_writer(const char *path, int filters)
{
    tamis_store *store = fixture_open(path, 0);
    assert_done(tamis_filter_create(store, "next", &plain, NULL));
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
    assert_int_equal(fixture_files(path, "segments"), filters + 1);
    assert_int_equal(fixture_files(path, "staging"), 0);
}

/* A store with the filter "old", that has one key, and a handle on it. */
struct living {
    char *path;
    tamis_store *store;
    tamis_filter *filter;
};

static struct living begin_living(void)
{
    struct living l;
    l.store = fixture_store(&l.path);
    l.filter = fixture_filter(l.store, "old", 100);
    assert_int_equal(tamis_filter_add(l.filter, "first", 5), 1);
    return l;
}

static void end_living(struct living *l)
{
    assert_done(tamis_filter_close(l->filter));
    tamis_store_close(l->store);
    free(l->path);
}
#define AUTO_LIVING __attribute__((cleanup(end_living))) struct living

static void assert_goes_on(const struct living *l)
{
    assert_int_equal(tamis_filter_contains(l->filter, "first", 5), 1);
    assert_int_equal(tamis_filter_add(l->filter, "first", 5), 0);
    assert_int_equal(tamis_filter_add(l->filter, "third", 5), 1);
    assert_done(tamis_filter_sync(l->filter));
}

/* ---- At each point --------------------------------------------------------------------------- */

static struct living after_death_at(int point, void (*act)(tamis_store *, tamis_filter *),
                                    const char *names)
{
    struct living l = begin_living();
    struct deed deed = {l.path, point, 0, act};
    assert_int_equal(fixture_child(run_deed, &deed), SPAWN_KILLED); /* the point was reached */
    assert_string_equal(names_in(l.path), names);
    return l;
}

CASE(death_in_create_leaves_none_or_the_new_filter)
{
    static const struct {
        int point;
        const char *names;
    } cases[] = {{TAMIS__POINT_STAGED, "old "},
                 {TAMIS__POINT_RENAMED, "old "},
                 {TAMIS__POINT_COMMITTED, "new old "}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_LIVING l = after_death_at(cases[i].point, act_create, cases[i].names);
        assert_goes_on(&l);
        assert_sound_after_next_writer(l.path, cases[i].point == TAMIS__POINT_COMMITTED ? 2 : 1);
        const int again = tamis_filter_create(l.store, "new", &plain, NULL);
        assert_int_equal(again, cases[i].point == TAMIS__POINT_COMMITTED ? TAMIS_EEXIST : 0);
    }
}

/* The publisher dies between epoch and commit: the handles look, find nothing changed, go on. */
CASE(death_in_drop_before_the_commit_leaves_handles_working)
{
    AUTO_LIVING l = after_death_at(TAMIS__POINT_DROP_EPOCH, act_drop, "old ");
    assert_goes_on(&l);
    assert_sound_after_next_writer(l.path, 1);
    assert_done(tamis_filter_drop(l.store, "old"));
    assert_refused(TAMIS_EDROPPED, "dropped", tamis_filter_contains(l.filter, "first", 5));
}

CASE(death_in_drop_after_the_commit_leaves_it_dropped)
{
    static const int points[] = {TAMIS__POINT_COMMITTED, TAMIS__POINT_DROP_UNLINK};
    for (size_t i = 0; i < 2; i++) {
        AUTO_LIVING l = after_death_at(points[i], act_drop, "");
        assert_refused(TAMIS_EDROPPED, "dropped", tamis_filter_contains(l.filter, "first", 5));
        assert_int_equal(fixture_problems(l.path), 0); /* the file is noted as garbage */
        assert_int_equal(fixture_files(l.path, "segments"), 1);
        assert_sound_after_next_writer(l.path, 0);
    }
}

CASE(death_in_rename_leaves_the_new_name_and_the_label_is_mended)
{
    static const int points[] = {TAMIS__POINT_COMMITTED, TAMIS__POINT_RENAME_LABEL};
    for (size_t i = 0; i < 2; i++) {
        AUTO_LIVING l = after_death_at(points[i], act_rename, "renamed ");
        assert_goes_on(&l);
        struct tamis__segment_header header = fixture_header_of(fixture_segment_path(l.path, 1));
        assert_string_equal(tamis__label_current(&header)->name, "old");
        assert_int_equal(fixture_problems(l.path), 0);
        tamis_filter *filter = fixture_opened(l.store, "renamed", 0);
        assert_done(tamis_filter_close(filter));
        header = fixture_header_of(fixture_segment_path(l.path, 1));
        assert_string_equal(tamis__label_current(&header)->name, "renamed");
        assert_sound_after_next_writer(l.path, 1);
    }
}

CASE(death_in_add_leaves_a_sound_filter)
{
    static const int points[] = {TAMIS__POINT_ADD_LOADED, TAMIS__POINT_ADD_ORED,
                                 TAMIS__POINT_COUNT};
    for (size_t i = 0; i < 3; i++) {
        AUTO_LIVING l = after_death_at(points[i], act_add, "old ");
        assert_goes_on(&l);
        const int again = assert_done(tamis_filter_add(l.filter, "second", 6)) != 0;
        assert_int_equal(again, points[i] != TAMIS__POINT_COUNT); /* at COUNT it was in */
        assert_int_equal(tamis_filter_contains(l.filter, "second", 6), 1);
        assert_sound_after_next_writer(l.path, 1);
    }
}

CASE(death_in_sync_leaves_the_old_count_or_the_new)
{
    AUTO_LIVING l = after_death_at(TAMIS__POINT_COMMITTED, act_sync, "old ");
    assert_goes_on(&l);
    assert_int_equal(tamis_filter_items(l.filter), 3);
    assert_sound_after_next_writer(l.path, 1);
}

CASE(death_in_making_a_store_leaves_it_to_be_made)
{
    AUTO_FREE char *path = scratch_path("store");
    struct deed deed = {path, TAMIS__POINT_STORE_MADE, 0, NULL};
    tamis_store *store;
    assert_int_equal(fixture_child(run_deed, &deed), SPAWN_KILLED);
    assert_refused(TAMIS_ENOSTORE, "there is no store", tamis_store_open(path, 0, &store));
    tamis_store_close(fixture_open(path, TAMIS_CREATE));
    assert_sound_after_next_writer(path, 0);
}

/* ---- Before each system call ----------------------------------------------------------------- */

/*
 * The same at the 1st, 2nd, ... system call, until the child comes through.  `after` is the list of
 * names if the change was made; the answer is the old list or that one, never another.
 */
static void die_at_every_call(void (*act)(tamis_store *, tamis_filter *), const char *after)
{
    unsigned calls = 0;
    for (int status = SPAWN_KILLED; status == SPAWN_KILLED; calls++) {
        AUTO_LIVING l = begin_living();
        struct deed deed = {l.path, -1, calls, act};
        status = fixture_child(run_deed, &deed);
        assert_true(status == SPAWN_KILLED || status == 0);
        const char *names = names_in(l.path);
        const bool changed = strcmp(names, after) == 0;
        if (!changed) assert_string_equal(names, "old ");
        if (status == 0) assert_true(changed);
        if (strstr(names, "old") != NULL || strstr(names, "renamed") != NULL) assert_goes_on(&l);
        const int filters =
            (strstr(names, "old") || strstr(names, "renamed")) + (strstr(names, "new ") != NULL);
        assert_sound_after_next_writer(l.path, filters);
    }
    assert_true(calls > 3);
}

CASE(death_before_any_call_of_create_leaves_a_sound_store)
{
    die_at_every_call(act_create, "new old ");
}

CASE(death_before_any_call_of_drop_leaves_a_sound_store)
{
    die_at_every_call(act_drop, "");
}

CASE(death_before_any_call_of_rename_leaves_a_sound_store)
{
    die_at_every_call(act_rename, "renamed ");
}

CASE(death_before_any_call_of_sync_leaves_a_sound_store)
{
    die_at_every_call(act_sync, "old ");
}

CASE(death_before_any_call_of_close_leaves_a_sound_store)
{
    die_at_every_call(act_close, "old ");
}

CASE(death_before_any_call_of_making_a_store_leaves_it_to_be_made)
{
    unsigned calls = 0;
    for (int status = SPAWN_KILLED; status == SPAWN_KILLED; calls++) {
        AUTO_FREE char *path = scratch_path("store");
        struct deed deed = {path, -1, calls, NULL};
        status = fixture_child(run_deed, &deed);
        assert_true(status == SPAWN_KILLED || status == 0);
        tamis_store_close(fixture_open(path, TAMIS_CREATE));
        assert_sound_after_next_writer(path, 0);
    }
    assert_true(calls > 8);
}

/* What the next writer does about an orphan where it is not a create. */
CASE(death_before_the_commit_of_create_is_cleared_by_any_writer)
{
    AUTO_LIVING l = after_death_at(TAMIS__POINT_RENAMED, act_create, "old ");
    assert_done(tamis_filter_rename(l.store, "old", "renamed"));
    tamis_filter *filter = fixture_opened(l.store, "renamed", 0);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(fixture_files(l.path, "segments"), 1);
    assert_int_equal(fixture_problems(l.path), 0);
}
