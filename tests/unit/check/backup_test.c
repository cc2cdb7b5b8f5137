/* SPDX-License-Identifier: BSD-2-Clause */
/* backup_test.c: copies of stores in use (store/check/backup.c, copy.c). */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalogs.h"
#include "editions.h"
#include "hooks.h"
#include "os/io.h"
#include "riches.h"
#include "segment/live.h"
#include "spawn.h"

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static char *partial_of(const char *path)
{
    char *partial = NULL;
    assert_true(asprintf(&partial, "%s.partial", path) > 0);
    return partial;
}

static int64_t backup(const char *path, const char *to)
{
    AUTO_STORE *store = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    return tamis_store_backup(store, to, NULL, NULL);
}

/* ---- At rest --------------------------------------------------------------------------------- */

struct progress {
    uint64_t done, all;
    int calls;
};

static int note_progress(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    struct progress *p = context;
    assert_true(done_bytes >= p->done && done_bytes <= all_bytes);
    *p = (struct progress){done_bytes, all_bytes, p->calls + 1};
    return 0;
}

CASE(backup_answers_as_the_store_does)
{
    AUTO_FREE char *path, *to = scratch_path("copy");
    struct progress progress = {0, 0, 0};
    riches_make(&path);
    AUTO_FREE char *before = riches_portrait(path);
    tamis_store *store = fixture_open(path, 0);
    assert_int_equal(tamis_store_backup(store, to, note_progress, &progress), 12);
    assert_true(progress.calls > 12 && progress.done > 12 * 4096);
    riches_assert_portrait(to, before);
    riches_assert_portrait(path, before);
    assert_int_equal(fixture_problems(to), 0);
    assert_int_equal(fixture_files(to, "."), 5); /* catalog, its lock, segments, staging */
    tamis_store *copy = fixture_open(to, 0);
    assert_int_equal(copy->store_id, store->store_id);
    tamis_store_close(store);
    scratch_remove(path); /* it needs nothing of the other */
    assert_done(tamis_filter_create(copy, "after", SPEC(.capacity = 10), NULL));
    assert_done(tamis_filter_rollback(copy, "list", 0));
    assert_done(tamis_filter_rollback(copy, "static", 0));
    tamis_store_close(copy);
    assert_int_equal(fixture_problems(to), 0);
}

CASE(backup_of_an_empty_store_is_one)
{
    AUTO_FREE char *path, *to = scratch_path("copy");
    tamis_store_close(fixture_store(&path));
    assert_int_equal(mkdir(to, 0777), 0); /* an empty directory will do */
    assert_int_equal(backup(path, to), 0);
    assert_int_equal(fixture_problems(to), 0);
}

/* Locks of removers are about processes, and the copy has none. */
CASE(backup_frees_the_locks_of_removers)
{
    AUTO_FREE char *path, *to = scratch_path("copy");
    const uint64_t nonce = 12345;
    tamis_store *store = fixture_store(&path);
    assert_done(tamis_filter_create(store, "counting",
                                    SPEC(.capacity = 100, .kind = TAMIS_KIND_COUNTING), NULL));
    tamis_store_close(store);
    fixture_poke(fixture_segment_path(path, 1), offsetof(struct tamis__segment_header, block_locks),
                 &nonce, sizeof nonce);
    assert_int_equal(backup(path, to), 1);
    struct tamis__segment_header header = fixture_header_of(fixture_segment_path(to, 1));
    for (size_t i = 0; i < TAMIS__BLOCK_LOCKS; i++)
        assert_int_equal(header.block_locks[i], 0);
}

CASE(backup_fills_holes)
{
    AUTO_FREE char *path, *to = scratch_path("copy");
    struct stat st;
    tamis_store *store = fixture_store(&path);
    assert_done(tamis_filter_create(store, "sparse", SPEC(.capacity = 1000000), NULL));
    tamis_store_close(store);
    const char *file = fixture_segment_path(path, 1);
    unsigned char header[4096];
    const uint64_t bytes = fixture_size(file);
    fixture_peek(file, 0, header, sizeof header);
    assert_int_equal(truncate(file, 4096), 0);
    assert_int_equal(truncate(file, (off_t)bytes), 0);
    assert_int_equal(stat(file, &st), 0);
    const bool sparse = (uint64_t)st.st_blocks * 512 < bytes;
    assert_int_equal(backup(path, to), 1);
    assert_int_equal(stat(fixture_segment_path(to, 1), &st), 0);
    if (sparse) assert_true((uint64_t)st.st_blocks * 512 >= bytes);
}

/* ---- Where it may not go --------------------------------------------------------------------- */

CASE(backup_never_writes_over_anything)
{
    AUTO_FREE char *path, *to = scratch_path("copy");
    AUTO_FREE char *partial = partial_of(to);
    riches_make(&path);
    scratch_copy(path, to);
    assert_refused(TAMIS_EEXIST, "there is something at", backup(path, to));
    char *file = strdup(fixture_segment_path(to, 1));
    assert_refused(TAMIS_EEXIST, "there is something at", backup(path, file));
    free(file);
    scratch_remove(to);
    scratch_copy(path, partial); /* somebody's store, by chance of that name */
    const int files = fixture_files(partial, "segments");
    assert_refused(TAMIS_EEXIST, "that no backup has put there", backup(path, to));
    assert_int_equal(fixture_files(partial, "segments"), files);
    assert_int_equal(fixture_problems(partial), 0);
    assert_false(exists(to));
    assert_refused(TAMIS_EINVAL, "needs the path", backup(path, ""));
}

static int try_another(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    const char *const *paths = context;
    (void)done_bytes;
    (void)all_bytes;
    assert_refused(TAMIS_EEXIST, "another backup is being made", backup(paths[0], paths[1]));
    return 0;
}

CASE(backup_beside_another_leaves_that_alone)
{
    AUTO_FREE char *path, *to = scratch_path("copy");
    riches_make(&path);
    const char *paths[2] = {path, to};
    tamis_store *store = fixture_open(path, 0);
    assert_int_equal(tamis_store_backup(store, to, try_another, (void *)paths), 12);
    tamis_store_close(store);
    assert_int_equal(fixture_problems(to), 0);
}

CASE(backup_of_a_damaged_store_is_refused)
{
    AUTO_FREE char *path, *to = scratch_path("copy"), *partial = partial_of(to);
    const unsigned char zero[512] = {0};
    riches_make(&path);
    fixture_poke(fixture_segment_path(path, 1), 0, zero, sizeof zero);
    assert_refused(TAMIS_EFOREIGN, "not a segment of Tamis", backup(path, to));
    assert_false(exists(to) || exists(partial));
}

/* ---- What others do meanwhile ---------------------------------------------------------------- */

struct meddling {
    tamis_store *store;
    int calls;
};

/* The filters are copied in the order of their names: "a" first. */
static int meddle(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    struct meddling *m = context;
    (void)done_bytes;
    (void)all_bytes;
    if (m->calls++ > 0) return 0;
    assert_done(tamis_filter_rename(m->store, "a", "z")); /* copied, and renamed since */
    assert_done(tamis_filter_rename(m->store, "b", "a")); /* not copied yet, in its stead */
    assert_done(tamis_filter_drop(m->store, "c"));
    assert_done(tamis_filter_create(m->store, "c", SPEC(.capacity = 5), NULL));
    tamis_filter *filter = fixture_opened(m->store, "d", 0);
    keys_add(filter, 500, 3000);
    assert_done(tamis_filter_close(filter));
    assert_done(editions_publish(m->store, "e", 100, 100, NULL, NULL));
    assert_done(editions_publish(m->store, "e", 200, 100, NULL, NULL));
    return 0;
}

static int note_name(void *context, const struct tamis_filter_stat *stat)
{
    strcat(strcat(context, stat->name), " ");
    return 0;
}

/* Seen to fail with the names of the moment of copying: two filters want to be "a". */
CASE(backup_has_the_names_of_one_moment)
{
    char *path, *to = scratch_path("copy"), names[64] = "";
    tamis_store *store = fixture_store(&path);
    struct meddling meddling = {store, 0};
    tamis_filter *filter;
    for (char name[2] = "a"; *name <= 'd'; ++*name) {
        assert_done(tamis_filter_create(store, name, SPEC(.capacity = 100), &filter));
        keys_add(filter, 0, 300);
        assert_done(tamis_filter_add(filter, name, 1));
        assert_done(tamis_filter_close(filter));
    }
    assert_done(editions_publish(store, "e", 0, 100, NULL, NULL));
    assert_int_equal(tamis_store_backup(store, to, meddle, &meddling), 4);
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
    assert_int_equal(fixture_problems(to), 0);
    store = fixture_open(to, 0);
    assert_done(tamis_store_list(store, NULL, note_name, names));
    assert_string_equal(names, "a d e z ");
    for (char i = 0; i < 2; i++) {
        assert_done(tamis_filter_open(store, i ? "z" : "a", 0, &filter));
        assert_int_equal(tamis_filter_contains(filter, i ? "a" : "b", 1), 1);
        assert_int_equal(tamis_filter_contains(filter, i ? "b" : "a", 1), 0);
        assert_done(tamis_filter_close(filter));
    }
    tamis_store_close(store);
    assert_int_equal(fixture_problems(to), 0);
    free(to);
    free(path);
}

/* The first filter is copied by then, the second is not. */
static int drop_what_is_copied(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    struct meddling *m = context;
    (void)done_bytes;
    (void)all_bytes;
    if (m->calls++ == 1) assert_done(tamis_filter_drop(m->store, "a"));
    return 0;
}

/* Seen to fail with the first of such files not removed. */
STORE_CASE(backup_has_no_file_of_a_filter_that_is_dropped_meanwhile)
{
    AUTO_FREE char *to = scratch_path("copy");
    struct meddling meddling = {store, 0};
    assert_done(tamis_filter_create(store, "a", SPEC(.capacity = 100), NULL));
    assert_done(tamis_filter_create(store, "b", SPEC(.capacity = 100), NULL));
    assert_int_equal(tamis_store_backup(store, to, drop_what_is_copied, &meddling), 1);
    assert_int_equal(meddling.calls, 2);
    assert_int_equal(fixture_files(to, "segments"), 1);
    assert_int_equal(fixture_problems(to), 0);
}

static int add_a_key(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    (void)done_bytes;
    (void)all_bytes;
    return assert_done(tamis_filter_add(context, "key", 3)) == 1 ? 0 : TAMIS_ELIMIT;
}

/* The header says that the pages are of different moments, so that nobody takes uneven data for
 * damage.  Seen to fail with no word of it. */
STORE_CASE(backup_beside_a_writer_says_that_its_pages_are_mixed)
{
    AUTO_FREE char *quiet = scratch_path("quiet"), *to = scratch_path("copy");
    AUTO_FILTER *filter = fixture_filter(store, "a", 100);
    assert_int_equal(tamis_store_backup(store, quiet, NULL, NULL), 1);
    struct tamis__segment_header header = fixture_header_of(fixture_segment_path(quiet, 1));
    assert_int_equal(header.live.mixed, 0);
    assert_int_equal(tamis_store_backup(store, to, add_a_key, filter), 1);
    header = fixture_header_of(fixture_segment_path(to, 1));
    assert_int_equal(header.live.mixed, TAMIS__MIXED_BEGUN);
}

/* Seen to fail with the index of the list in force alone. */
STORE_CASE(backup_has_the_exceptions_of_kept_generations)
{
    AUTO_FREE char *to = scratch_path("copy");
    editions_put_excepting(store, 7);
    editions_put(store, 0);
    assert_int_equal(tamis_store_backup(store, to, NULL, NULL), 1);
    AUTO_STORE *copy = fixture_open(to, 0);
    assert_done(tamis_filter_rollback(copy, "list", 0));
    AUTO_FILTER *filter = fixture_opened(copy, "list", TAMIS_OPEN_READ_ONLY);
    assert_int_equal(key_has(filter, 7), 0);
    assert_int_equal(key_has(filter, 8), 1);
}

/* Spares are empty, and are not copied: the copy makes its own.  Seen to fail with a record that
 * names them. */
STORE_CASE(backup_of_a_filter_with_a_spare_grows_too)
{
    AUTO_FREE char *to = scratch_path("copy");
    AUTO_FILTER *filter = fixture_create(store, "a", SPEC(.capacity = 1000));
    keys_add(filter, 0, 900);
    struct tamis__segment_header header = fixture_header_of(fixture_segment_path(path, 1));
    assert_true(tamis__next_spare(header.live.next) != 0);
    assert_int_equal(tamis_store_backup(store, to, NULL, NULL), 1);
    assert_int_equal(fixture_problems(to), 0);
    AUTO_STORE *copy = fixture_open(to, 0);
    AUTO_FILTER *copied = fixture_opened(copy, "a", 0);
    header = fixture_header_of(fixture_segment_path(to, 1));
    assert_int_equal(header.live.next, 0);
    keys_add(copied, 900, 3000);
    assert_int_equal(keys_found(copied, 0, 3000), 3000);
    assert_true(fixture_stat(copied).segment_count > 1);
}

static tamis_filter *changed;

/* When the counters are copied, and their header is not read again yet. */
static int add_many(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    bool *is_done = context;
    (void)all_bytes;
    if (done_bytes > 0 && !*is_done) assert_int_equal(keys_add(changed, 0, 2000), 2000);
    *is_done = *is_done || done_bytes > 0;
    return 0;
}

/* When the header is read, and the counters are not copied yet. */
static int remove_all(const char *verb, const char *what)
{
    if (strcmp(verb, "allocate") != 0 || strstr(what, ".seg") == NULL) return 0;
    tamis__io_hook = NULL;
    for (uint64_t key = 0; key < 2000; key++)
        assert_int_equal(tamis_filter_remove(changed, &key, sizeof key), 1);
    return 0;
}

/* All keys came, or went, while the counters were copied: the copy has no counter above 0 both
 * times, and is sound.  (Broken: the header was read behind the counters, and the copy was called
 * lost: "has counted items but not one counter above 0"; on a busy machine that was the end of
 * backup_beside_adders_has_all_that_was_added.) */
STORE_CASE(backup_of_counters_that_came_or_went_meanwhile_is_sound)
{
    AUTO_FREE char *to = scratch_path("copy"), *again = scratch_path("again");
    bool is_done = false;
    changed = fixture_create(
        store, "a", SPEC(.capacity = 300000, .fp_rate = 1e-6, .kind = TAMIS_KIND_COUNTING));
    assert_int_equal(tamis_store_backup(store, to, add_many, &is_done), 1);
    assert_true(is_done);
    assert_int_equal(fixture_problems(to), 0);
    tamis__io_hook = remove_all;
    assert_int_equal(tamis_store_backup(store, again, NULL, NULL), 1);
    assert_null(tamis__io_hook);
    assert_int_equal(fixture_stat(changed).items, 0);
    assert_int_equal(fixture_problems(again), 0);
    assert_int_equal(tamis_filter_close(changed), 0);
}

#define ADDERS 3u
#define BUSY_TIMEOUT_MS 240000 /* longer than the test: only what never ends fails */
#define ADDED_MIN 100u         /* by each adder before the last copy is made */
#define SWIFT_KEYS 2000u
#define BACKUPS 8

struct live {
    char path[512];
    uint64_t added[ADDERS]; /* keys 0 .. added - 1 of each are in, for certain */
    unsigned stop;
};

static uint64_t key_of(unsigned adder, uint64_t number)
{
    return (uint64_t)adder << 40 | number;
}

/* Adder 0 to a filter that grows, 1 to one that counts, taking off others' keys, 2 both and a bloom
 * one. */
static void add_all(void *context, unsigned index)
{
    struct live *live = context;
    AUTO_STORE *store;
    tamis_filter *filters[3];
    static const char *const names[] = {"grows", "counts", "bloom"};
    const struct tamis_store_options patient = {.size = sizeof patient,
                                                .busy_timeout_ms = BUSY_TIMEOUT_MS};
    SPAWN_CHECK(tamis_store_open_with(live->path, &patient, &store) == 0);
    for (int i = 0; i < 3; i++)
        SPAWN_CHECK(tamis_filter_open(store, names[i], 0, &filters[i]) == 0);
    for (uint64_t n = 0; !__atomic_load_n(&live->stop, __ATOMIC_ACQUIRE); n++) {
        const uint64_t key = key_of(index, n), passing = key_of(100 + index, n),
                       often = key_of(50 + index, n);
        for (int i = 0; i < 3; i++)
            SPAWN_CHECK(tamis_filter_add(filters[i], &key, sizeof key) >= 0);
        SPAWN_CHECK(tamis_filter_add(filters[1], &passing, sizeof passing) >= 0);
        for (int i = 0; i < 20; i++) /* further counters outgrow their bits all the time */
            SPAWN_CHECK(tamis_filter_add(filters[1], &often, sizeof often) >= 0);
        SPAWN_CHECK(tamis_filter_remove(filters[1], &passing, sizeof passing) == 1);
        __atomic_store_n(&live->added[index], n + 1, __ATOMIC_RELEASE);
        /* Slowly after a while: each key is asked for in every copy, and a loaded machine, whose
         * rounds are long, would get more and more of them. */
        if (n % 8 == 0 || n > SWIFT_KEYS) usleep(n > SWIFT_KEYS ? 2000 : 1000);
    }
    for (int i = 0; i < 3; i++)
        SPAWN_CHECK(tamis_filter_close(filters[i]) == 0);
}

static void check_copy(const char *to, const uint64_t *added)
{
    static const char *const names[] = {"grows", "counts", "bloom"};
    assert_int_equal(fixture_problems(to), 0);
    tamis_store *store = fixture_open(to, 0);
    for (int i = 0; i < 3; i++) {
        AUTO_FILTER *filter = fixture_opened(store, names[i], 0);
        for (unsigned adder = 0; adder < ADDERS; adder++)
            for (uint64_t n = 0; n < added[adder]; n++) {
                const uint64_t key = key_of(adder, n);
                if (tamis_filter_contains(filter, &key, sizeof key) != 1)
                    fail_msg("key %u of adder %u is not in %s", (unsigned)n, adder, names[i]);
                const uint64_t often = key_of(50 + adder, n);
                if (i == 1 && tamis_filter_count(filter, &often, sizeof often) < 20)
                    fail_msg("key %u of adder %u is counted too low", (unsigned)n, adder);
            }
    }
    tamis_store_close(store);
    assert_int_equal(fixture_problems(to), 0);
}

/* Seen to fail: with the table of overflow copied before the counters (a marked counter lacks its
 * slot), with the header read after the data (more items than bits), with `next` copied as it
 * is. */
SOUND_CASE(backup_beside_adders_has_all_that_was_added)
{
    const struct tamis_filter_spec specs[] = {
        {.size = sizeof specs[0], .capacity = 200},
        {.size = sizeof specs[0], .capacity = 300000, .kind = TAMIS_KIND_COUNTING, .fp_rate = 1e-4},
        {.size = sizeof specs[0],
         .capacity = 300000,
         .kind = TAMIS_KIND_BLOOM,
         .on_full = TAMIS_ON_FULL_WARN}};
    static const char *const names[] = {"grows", "counts", "bloom"};
    struct live *live = spawn_shared(sizeof *live);
    pid_t adders[ADDERS];
    for (int i = 0; i < 3; i++)
        assert_done(tamis_filter_create(store, names[i], &specs[i], NULL));
    (void)snprintf(live->path, sizeof live->path, "%s", path);
    for (unsigned i = 0; i < ADDERS; i++)
        adders[i] = spawn_one(add_all, live, i);
    for (int round = 0; round < BACKUPS; round++) {
        uint64_t added[ADDERS];
        AUTO_FREE char *to = scratch_path("copy");
        usleep(30000);
        for (unsigned i = 0; i < ADDERS; i++) {
            /* Who is kept from the processor has added nothing yet. */
            while (round + 1 == BACKUPS &&
                   __atomic_load_n(&live->added[i], __ATOMIC_ACQUIRE) < ADDED_MIN)
                usleep(1000);
            added[i] = __atomic_load_n(&live->added[i], __ATOMIC_ACQUIRE);
        }
        assert_int_equal(tamis_store_backup(store, to, NULL, NULL), 3);
        check_copy(to, added);
        scratch_remove(to);
    }
    __atomic_store_n(&live->stop, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < ADDERS; i++) {
        int status;
        assert_int_equal(waitpid(adders[i], &status, 0), adders[i]);
        assert_int_equal(status, 0);
    }
}

/* ---- Failure and death ----------------------------------------------------------------------- */

static int give_up(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    (void)done_bytes;
    (void)all_bytes;
    return --*(int *)context > 0 ? 0 : TAMIS_EIO;
}

CASE(backup_that_is_given_up_leaves_nothing)
{
    AUTO_FREE char *path, *to = scratch_path("copy"), *partial = partial_of(to);
    riches_make(&path);
    AUTO_STORE *store = fixture_open(path, 0);
    for (int calls = 1; calls < 20; calls += 6) {
        int left = calls;
        assert_int_equal(tamis_store_backup(store, to, give_up, &left), TAMIS_EIO);
        assert_false(exists(to) || exists(partial));
    }
}

static unsigned calls_before; /* the death of the child */

static char *make_small(void)
{
    char *path;
    uint64_t key = 5;
    const struct tamis_key one = {&key, sizeof key};
    AUTO_STORE *store = fixture_store(&path);
    assert_done(editions_publish(store, "list", 0, 100, NULL, NULL));
    assert_done(editions_publish(store, "list", 100, 100, NULL, NULL));
    assert_int_equal(tamis_filter_except(store, "list", &one, 1), 1);
    return path;
}

static void back_up_in_child(void *context)
{
    const char *const *paths = context;
    tamis_store *store;
    if (tamis_store_open(paths[0], 0, &store) < 0) _exit(1);
    hooks_kill_before_call(calls_before);
    if (tamis_store_backup(store, paths[1], NULL, NULL) < 0) _exit(1);
}

/* Under the final name there is nothing, or a whole store; and the next backup works. */
CASE(backup_that_is_killed_leaves_no_half_store)
{
    AUTO_FREE char *path = make_small(), *to = scratch_path("copy"), *partial = partial_of(to);
    AUTO_FREE char *before = riches_portrait(path);
    const char *paths[2] = {path, to};
    int status = SPAWN_KILLED, refused = 0;
    for (unsigned calls = 0; status == SPAWN_KILLED; calls++) {
        calls_before = calls;
        status = fixture_child(back_up_in_child, (void *)paths);
        assert_true(status == SPAWN_KILLED || status == 0);
        if (!exists(to)) {
            const int64_t again = backup(path, to);
            if (again == TAMIS_EEXIST) { /* it died with all done but the rename */
                refused++;
                riches_assert_portrait(partial, before);
                scratch_remove(partial);
            } else {
                assert_int_equal(again, 1);
            }
        }
        if (exists(to)) riches_assert_portrait(to, before);
        assert_false(exists(partial));
        scratch_remove(to);
    }
    assert_true(refused <= 1);
    riches_assert_portrait(path, before);
}
