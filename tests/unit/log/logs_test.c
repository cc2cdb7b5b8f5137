/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logs_test.c: logs that nobody needs, that cannot be read, or that are not what their names say:
 * what verify and repair tell of them, and what opening the filter does.
 *
 * Seen to fail: with the lock not asked for (the log of a handle that lives is removed), with the
 * catalog not asked (that of a filter that is there is); a damaged log settled without a word: no
 * filter unclean.
 */
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/point.h"
#include "log/log.h"
#include "numbers.h"
#include "scratch.h"
#include "told.h"
#include "txn/store.h"

static const struct tamis_filter_spec durable = {
    .size = sizeof durable, .capacity = 10000, .fp_rate = 0.001, .flags = TAMIS_FILTER_DURABLE};

static tamis_filter *open_filter(tamis_store *store, const char *name)
{
    return fixture_opened(store, name, 0);
}

static void add_range(tamis_filter *filter, uint64_t from, uint64_t count)
{
    keys_add(filter, from, from + count);
}

struct death {
    const char *path, *filter;
};

/* 500 keys; its log is left. */
static void add_and_die(void *context)
{
    const struct death *death = context;
    tamis_store *store = fixture_open(death->path, 0);
    add_range(open_filter(store, death->filter), 0, 500);
    _exit(3);
}

static void leave_log(const char *path, const char *filter)
{
    struct death death = {path, filter};
    assert_int_equal(fixture_child(add_and_die, &death), 3);
}

static int keep_name(void *context, uint64_t filter_id, const char *name)
{
    char *path = context;
    (void)filter_id;
    (void)snprintf(path, 64, "logs/%s", name);
    return 0;
}

/* "logs/<name>" of the only one. */
static void find_log(tamis_store *store, char file[64])
{
    const struct tamis__logs logs = {.root_fd = store->root_fd, .path = store->place.path};
    *file = '\0';
    assert_int_equal(tamis__logs_each(&logs, 0, keep_name, file), 0);
    assert_true(*file != '\0');
}

static int note_step(void *context, const struct tamis_repair_step *step)
{
    struct told *told = context;
    told->count++;
    told->error = step->error;
    (void)snprintf(told->file, sizeof told->file, "%s", step->file);
    (void)snprintf(told->reason, sizeof told->reason, "%s", step->what);
    return 0;
}

static struct told repair(const char *path, unsigned flags)
{
    struct told told = {0};
    assert_done(tamis_store_repair(path, flags, note_step, &told));
    return told;
}

static void assert_told(const struct told *told, int error, const char *file, const char *words)
{
    if (told->count != 1 || told->error != error || strcmp(told->file, file) != 0 ||
        strstr(told->reason, words) == NULL)
        fail_msg("%d told, the last of %s, %d: %s; not one of %s, %d: %s", (int)told->count,
                 told->file, told->error, told->reason, file, error, words);
}

/* ---- Orphans --------------------------------------------------------------------------------- */

CASE(orphan_is_put_aside_when_its_lock_is_free)
{
    char *path, file[64];
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = fixture_create(store, "gone", &durable);
    add_range(filter, 0, 10);
    find_log(store, file);
    tamis_filter *other = fixture_create(store, "stays", &durable);
    assert_done(tamis_filter_drop(store, "gone"));
    /* The handle lives: it takes its log away itself. */
    assert_int_equal(told_of(path, NULL).count, 0);
    assert_int_equal(repair(path, 0).count, 0);
    assert_int_equal(fixture_files(path, "logs"), 1);
    /* As one that was killed would leave it. */
    char *kept = strdup(fixture_join(path, "kept")), *log = strdup(fixture_join(path, file));
    assert_int_equal(rename(log, kept), 0);
    assert_int_equal(tamis_filter_close(filter), 0);
    assert_int_equal(rename(kept, log), 0);
    struct told told = told_of(path, NULL);
    assert_told(&told, TAMIS_EFOREIGN, file,
                "belongs to no filter of the catalog; 'tamis repair' puts it aside");
    told = repair(path, TAMIS_REPAIR_DRY_RUN);
    assert_told(&told, 0, file, "would be put aside in lost/");
    assert_int_equal(fixture_files(path, "logs"), 1);
    told = repair(path, 0);
    assert_told(&told, 0, file, "is put aside in lost/: it was of a filter that is dropped");
    assert_int_equal(fixture_files(path, "logs"), 0);
    assert_int_equal(told_of(path, NULL).count, 0);
    assert_int_equal(tamis_filter_close(other), 0);
    tamis_store_close(store);
    free(kept);
    free(log);
    free(path);
}

STORE_CASE(log_of_a_filter_that_is_there_stays)
{
    assert_done(tamis_filter_create(store, "seen", &durable, NULL));
    leave_log(path, "seen");
    assert_int_equal(told_of(path, NULL).count, 0);
    assert_int_equal(repair(path, 0).count, 0);
    assert_int_equal(fixture_files(path, "logs"), 1);
    (void)repair(path, TAMIS_REPAIR_REBUILD);
    assert_int_equal(fixture_files(path, "logs"), 1);
    /* A catalog that has lost the filter with its only segment does not make an orphan of it. */
    assert_int_equal(truncate(fixture_segment_path(path, 1), 1000), 0);
    (void)repair(path, TAMIS_REPAIR_REBUILD);
    assert_int_equal(fixture_files(path, "logs"), 1);
}

/* ---- What is no log -------------------------------------------------------------------------- */

CASE(foreign_files_are_told)
{
    char *path, file[64];
    tamis_store *store = fixture_store(&path), *another = fixture_store(NULL);
    assert_done(tamis_filter_create(store, "seen", &durable, NULL));
    assert_done(tamis_filter_create(another, "seen", &durable, NULL));
    leave_log(another->place.path, "seen");
    find_log(another, file);
    char from[4200], to[4200];
    (void)snprintf(from, sizeof from, "%s", fixture_join(another->place.path, "logs"));
    (void)snprintf(to, sizeof to, "%s", fixture_join(path, "logs"));
    scratch_copy(from, to);
    struct told told = told_of(path, "seen");
    assert_told(&told, TAMIS_EFOREIGN, file, "belongs to another store; take it away");
    assert_string_equal(told.filter, "seen");
    told = repair(path, 0);
    assert_told(&told, TAMIS_EFOREIGN, file, "belongs to another store; take it away");
    tamis_filter *filter;
    assert_refused(TAMIS_EFOREIGN, "belongs to another store",
                   tamis_filter_open(store, "seen", 0, &filter));
    (void)snprintf(from, sizeof from, "%s", fixture_join(path, file));
    (void)snprintf(to, sizeof to, "%s", fixture_join(path, "logs/notes.txt"));
    assert_int_equal(rename(from, to), 0);
    told = told_of(path, NULL);
    assert_told(&told, TAMIS_EFOREIGN, "logs/notes.txt", "is not a log's name; remove the file");
    assert_int_equal(told_of(path, "seen").count, 0);
    told = repair(path, 0);
    assert_told(&told, TAMIS_EFOREIGN, "logs/notes.txt", "is not a log's name; remove the file");
    tamis_store_close(store);
    tamis_store_close(another);
    free(path);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

#define KEYS 6000u /* their frames need more than the 64 KiB that a log has at first */

static void add_many_and_die(void *context)
{
    static uint64_t numbers[KEYS];
    static struct tamis_key keys[KEYS];
    tamis_store *store = fixture_open(context, 0);
    tamis_filter *filter = open_filter(store, "seen");
    numbers_from(0, KEYS, numbers, keys);
    assert_done(tamis_filter_add_batch(filter, keys, KEYS, NULL));
    _exit(3);
}

static void flip_header(const char *log)
{
    fixture_poke(log, 20, "XXXX", 4);
}

static void zero_header(const char *log)
{
    static const unsigned char zeros[4096];
    fixture_poke(log, 0, zeros, sizeof zeros);
}

static void cut_header(const char *log)
{
    assert_int_equal(truncate(log, 100), 0);
}

static void empty(const char *log)
{
    assert_int_equal(truncate(log, 0), 0);
}

static void cut_first_bytes(const char *log)
{
    assert_int_equal(truncate(log, 4096 + 16448), 0);
}

/* Within the fifth of 16448 bytes, which verify does not look for. */
static void cut_frame(const char *log)
{
    assert_int_equal(truncate(log, 4096 + 4 * 16448 + 112), 0);
}

static int note_unclean(void *context, const struct tamis_filter_stat *stat)
{
    int64_t *since = context;
    *since = stat->unclean_since;
    return 0;
}

static void assert_unclean(const char *path, int64_t until, bool keeps_keys)
{
    AUTO_STORE *store = fixture_open(path, 0);
    AUTO_FILTER *filter = open_filter(store, "seen");
    int64_t listed = 0;
    uint64_t missing = 0;
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.state & TAMIS_STATE_UNCLEAN, TAMIS_STATE_UNCLEAN);
    assert_true(stat.unclean_since > 0 && stat.unclean_since <= until);
    assert_done(tamis_store_list(store, NULL, note_unclean, &listed));
    assert_int_equal(listed, stat.unclean_since);
    for (uint64_t key = 0; key < KEYS; key++)
        missing += tamis_filter_contains(filter, &key, sizeof key) == 0;
    assert_true(keeps_keys ? missing == 0 : missing > 0);
    assert_int_equal(fixture_files(path, "logs"), 0);
}

/* The machine goes down: `down` has the segment as a handle had marked it, and the log, which is
 * damaged. */
CASE(damaged_log_leaves_its_filter_unclean)
{
    static const struct {
        void (*damage)(const char *log);
        bool keeps_keys, verify_tells;
    } cases[] = {
        {flip_header, true, true}, {zero_header, true, true},      {cut_header, false, true},
        {empty, false, true},      {cut_first_bytes, false, true}, {cut_frame, false, false},
    };
    static const uint8_t other_boot[16] = "another boot...";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *path, file[64], from[4200], *down = scratch_path("down");
        const uint64_t key = 0;
        tamis_store *store = fixture_store(&path);
        tamis_filter *filter = fixture_create(store, "seen", &durable);
        assert_int_equal(tamis_filter_add(filter, &key, sizeof key), 1); /* marks it */
        const int64_t until = tamis__now_ns();
        scratch_copy(path, down);
        scratch_remove(fixture_join(down, "logs"));
        assert_int_equal(tamis_filter_close(filter), 0);
        assert_int_equal(fixture_child(add_many_and_die, path), 3);
        find_log(store, file);
        (void)snprintf(from, sizeof from, "%s", fixture_join(path, "logs"));
        scratch_copy(from, fixture_join(down, "logs"));
        cases[i].damage(fixture_join(down, file));
        struct told told = told_of(down, NULL);
        if (cases[i].verify_tells)
            assert_told(&told, TAMIS_ECORRUPT, file, "open the filter for writing");
        tamis__boot_hook = other_boot;
        assert_unclean(down, until, cases[i].keeps_keys);
        tamis__boot_hook = NULL;
        /* The owner alone died: all is there, and it is told all the same. */
        cases[i].damage(fixture_join(path, file));
        assert_unclean(path, tamis__now_ns(), true);
        tamis_store_close(store);
        free(down);
        free(path);
    }
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
