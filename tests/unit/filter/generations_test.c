/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * generations_test.c: another list for a filter that is in use (store/filter/change.c,
 * filter/publish.c, filter/rollback.c).
 *
 * Handles are opened before each change and asked after it; every test ends with a look at the
 * files that are left, and with a verify.
 */
#include "editions.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.h"
#include "points.h"
#include "txn/store.h"

static sem_t locked;

struct generations {
    uint64_t numbers[32], in_force;
    size_t count;
};

static int note_generation(void *context, const struct tamis_generation_stat *stat)
{
    struct generations *g = context;
    g->numbers[g->count++] = stat->generation;
    if (stat->in_force) g->in_force = stat->generation;
    assert_int_equal(stat->items, EDITIONS_KEYS);
    return 0;
}

static struct generations generations_of(tamis_store *store)
{
    struct generations g = {.count = 0};
    assert_done(tamis_filter_generations(store, "list", note_generation, &g));
    return g;
}

SOUND_CASE(handles_follow_a_publish)
{
    tamis_store *reader = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    editions_put(store, 0);
    tamis_filter *writing = fixture_opened(store, "list", 0),
                 *reading = fixture_opened(reader, "list", 0);
    for (int g = 1; g < 8; g++) {
        editions_put(store, g);
        assert_int_equal(editions_answering(writing), g);
        assert_int_equal(editions_answering(reading), g);
    }
    editions_put(store, 8);
    editions_put(store, 9); /* two at once: the file of the first is kept, or the catalog says it */
    assert_int_equal(editions_answering(reading), 9);
    const struct generations g = generations_of(store);
    assert_int_equal(g.count, 2);
    assert_int_equal(g.in_force, 10);
    assert_int_equal(g.numbers[0], 9);
    assert_done(tamis_filter_close(writing));
    assert_done(tamis_filter_close(reading));
    tamis_store_close(reader);
    assert_int_equal(fixture_files(path, "segments"), 2);
}

/* The lock of the catalog is not needed to follow: a stopped writer keeps no reader on the old
 * list. */
SOUND_CASE(handles_follow_beside_a_locked_catalog)
{
    struct tamis__catalog_txn *txn;
    editions_put(store, 0);
    tamis_filter *filter = fixture_opened(store, "list", TAMIS_OPEN_READ_ONLY);
    editions_put(store, 1);
    assert_done(tamis__catalog_begin(&store->catalog, TAMIS__LOCK_EXCLUSIVE, &txn));
    (void)alarm(60);
    assert_int_equal(editions_answering(filter), 1);
    (void)alarm(0);
    tamis__catalog_end(txn);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(fixture_files(path, "segments"), 2);
}

static uint64_t epoch_of(const char *path, uint64_t number)
{
    uint64_t epoch;
    fixture_peek(fixture_segment_path(path, number),
                 offsetof(struct tamis__segment_header, live.epoch), &epoch, sizeof epoch);
    return epoch;
}

/* A handle looks at the epoch of the newest segment that it knows, whichever that is.  (Broken:
 * tamis__raise_epochs() raises that of the first alone.) */
SOUND_CASE(every_segment_of_a_list_is_told_of_a_change)
{
    const struct tamis_key key = {"an exception", 12};
    uint64_t before[3];
    AUTO_FILTER *filter = fixture_create(store, "list",
                                         SPEC(.capacity = 100, .fp_rate = 0.01, .slices = 4,
                                              .window_ns = INT64_C(3600) * 1000000000));
    for (unsigned i = 0; i < 2; i++)
        assert_done(tamis_filter_rotate(filter));
    for (unsigned i = 0; i < 3; i++)
        before[i] = epoch_of(path, i + 1);
    assert_done(tamis_filter_except(store, "list", &key, 1));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(epoch_of(path, i + 1), before[i] + 1);
}

/* One that adds goes on adding in the list that is in force, and is told NEW there once. */
SOUND_CASE(adders_go_on_after_a_rollback)
{
    editions_put(store, 0);
    editions_put(store, 1);
    tamis_filter *one = fixture_opened(store, "list", 0), *two = fixture_opened(store, "list", 0);
    assert_done(tamis_filter_rollback(store, "list", 1));
    for (uint64_t key = 5 * EDITIONS_KEYS; key < 5 * EDITIONS_KEYS + 100; key++) {
        assert_int_equal(assert_done(tamis_filter_add(one, &key, sizeof key)), 1);
        assert_int_equal(assert_done(tamis_filter_add(two, &key, sizeof key)), 0);
    }
    editions_put(store, 2);
    for (uint64_t key = 5 * EDITIONS_KEYS; key < 5 * EDITIONS_KEYS + 100; key++) {
        assert_int_equal(key_has(two, key), 0);
        assert_int_equal(assert_done(tamis_filter_add(two, &key, sizeof key)), 1);
        assert_int_equal(assert_done(tamis_filter_add(one, &key, sizeof key)), 0);
    }
    assert_done(tamis_filter_close(one));
    assert_done(tamis_filter_close(two));
    assert_int_equal(fixture_files(path, "segments"), 4); /* two lists, which have grown */
}

SOUND_CASE(a_filter_that_grows_is_replaced)
{
    const uint64_t third = 70 * EDITIONS_KEYS,
                   fourth = 1140 * EDITIONS_KEYS; /* segments that are begun */
    tamis_filter *filter = fixture_create(store, "list", SPEC(.capacity = 100));
    (void)keys_add(filter, 0, third);
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_true(stat.segment_count > 2);
    const uint64_t grown = stat.generation;
    editions_put(store, 3);
    assert_int_equal(editions_answering(filter), 3);
    assert_done(tamis_filter_rollback(store, "list", 0));
    assert_int_equal(keys_found(filter, 0, third), third);
    stat = fixture_stat(filter);
    assert_int_equal(stat.generation, grown);
    (void)keys_add(filter, third, fourth);
    assert_int_equal(keys_found(filter, third, fourth), fourth - third);
    stat = fixture_stat(filter);
    assert_int_equal(stat.generation > grown + 1, 1);
    const int files = (int)stat.segment_count + 1;
    assert_done(tamis_filter_close(filter));
    const struct tamis_filter_spec counts = {
        .size = sizeof counts, .capacity = 100, .kind = TAMIS_KIND_COUNTING};
    tamis_filter *counting = fixture_create(store, "counts", &counts);
    assert_refused(TAMIS_EMISMATCH, "kind counting",
                   editions_publish(store, "counts", 0, EDITIONS_KEYS, NULL, NULL));
    assert_done(tamis_filter_close(counting));
    assert_int_equal(fixture_files(path, "segments"), files + 1);
}

/* Has the catalog's lock for a while. */
static void *hold_the_lock(void *context)
{
    struct tamis__catalog_txn *txn;
    tamis_store *store = context;
    if (tamis__catalog_begin(&store->catalog, TAMIS__LOCK_EXCLUSIVE, &txn) < 0) abort();
    (void)sem_post(&locked);
    (void)usleep(300000);
    tamis__catalog_end(txn);
    return NULL;
}

/*
 * A handle sleeps in a list while the one before it comes back, grows, goes and comes back again,
 * and wakes while the catalog is locked.  Seen to fail with rollbacks that tell the list they leave
 * of the newest segment of the other: the handle put that one behind its own list, and missed the
 * keys of those before it.
 */
SOUND_CASE(a_sleeper_finds_all_of_a_list_that_has_grown)
{
    tamis_store *other = fixture_open(path, 0);
    pthread_t holder;
    tamis_filter *adder =
        fixture_create(store, "list", SPEC(.capacity = EDITIONS_KEYS, .fp_rate = 1e-6));
    (void)keys_add(adder, 0, EDITIONS_KEYS / 2);
    editions_put(store, 1);
    assert_int_equal(editions_in_force(store), 2);
    tamis_filter *sleeper = fixture_opened(store, "list", TAMIS_OPEN_READ_ONLY);
    assert_done(tamis_filter_rollback(store, "list", 1));
    (void)keys_add(adder, 2 * EDITIONS_KEYS, 3 * EDITIONS_KEYS);
    const uint64_t grown = editions_in_force(store);
    assert_true(grown > 2); /* so it has grown since the sleeper's list was made */
    assert_done(tamis_filter_rollback(store, "list", 2));
    assert_done(tamis_filter_rollback(store, "list", grown));
    assert_int_equal(sem_init(&locked, 0, 0), 0);
    assert_int_equal(pthread_create(&holder, NULL, hold_the_lock, other), 0);
    while (sem_wait(&locked) != 0)
        continue;
    assert_int_equal(keys_found(sleeper, 0, EDITIONS_KEYS / 2), EDITIONS_KEYS / 2);
    assert_int_equal(keys_found(sleeper, 2 * EDITIONS_KEYS, 3 * EDITIONS_KEYS), EDITIONS_KEYS);
    assert_int_equal(pthread_join(holder, NULL), 0);
    assert_done(tamis_filter_close(adder));
    assert_done(tamis_filter_close(sleeper));
    tamis_store_close(other);
    assert_int_equal(fixture_files(path, "segments"), 3);
}

/* A rollback whose process is stopped with the catalog's lock, after it has told. */
static void roll_back_and_stop(void *context, unsigned index)
{
    tamis_store *store = fixture_open(context, 0);
    (void)index;
    hooks_signal_at(TAMIS__POINT_PUBLISH_TOLD, SIGSTOP, 0);
    (void)!tamis_filter_rollback(store, "list", 0);
}

/*
 * Those who ask go on in the list that a rollback put in force, without the catalog: also one that
 * was in it before.  Seen to fail while a list was taken to be as old as its making: the call
 * waited for the lock.
 */
SOUND_CASE(nobody_waits_for_a_rollback_that_is_stopped)
{
    editions_put(store, 0);
    tamis_filter *early = fixture_opened(store, "list", TAMIS_OPEN_READ_ONLY);
    editions_put(store, 1);
    tamis_filter *reading = fixture_opened(store, "list", TAMIS_OPEN_READ_ONLY),
                 *writing = fixture_opened(store, "list", 0);
    const pid_t child = spawn_until_stopped(roll_back_and_stop, path, 0);
    (void)alarm(60);
    assert_int_equal(
        editions_answering(reading) + editions_answering(writing) + editions_answering(early), 0);
    (void)alarm(0);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(spawn_end(child), SPAWN_KILLED);
    editions_put(store, 2);
    assert_int_equal(editions_answering(reading), 2);
    assert_int_equal(editions_answering(early), 2);
    assert_done(tamis_filter_close(early));
    assert_done(tamis_filter_close(reading));
    assert_done(tamis_filter_close(writing));
    assert_int_equal(fixture_files(path, "segments"), 2);
}

static void die_when_committed(unsigned point)
{
    static bool last; /* the commit that follows the epochs */
    last |= point == TAMIS__POINT_PUBLISH_EPOCH;
    if (last && point == TAMIS__POINT_COMMITTED) (void)raise(SIGKILL);
}

static void roll_back_and_die(void *context)
{
    tamis_store *store = fixture_open(context, 0);
    tamis__point_hook = die_when_committed;
    (void)!tamis_filter_rollback(store, "list", 0);
}

/*
 * A rollback died before it could tell of itself; the next to open the filter for writing does, all
 * of it. Seen to fail while that one left in_force as it was: repair put the other list in force.
 */
SOUND_CASE(a_catalog_made_anew_has_the_rollback_that_died)
{
    editions_put(store, 0);
    editions_put(store, 1);
    assert_int_equal(fixture_child(roll_back_and_die, path), SPAWN_KILLED);
    tamis_filter *filter = fixture_opened(store, "list", 0);
    assert_int_equal(editions_answering(filter), 0);
    assert_done(tamis_store_repair(path, TAMIS_REPAIR_REBUILD, NULL, NULL));
    assert_int_equal(editions_answering(filter), 0);
    assert_int_equal(editions_in_force(store), 1);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(fixture_files(path, "segments"), 2);
}

/* Seen to fail while the first that was refused was the staging of an index, as an I/O error. */
SOUND_CASE(a_read_only_store_changes_nothing)
{
    const uint64_t three = 3;
    const struct tamis_key key = {&three, 8};
    tamis_store *reader = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    editions_put(store, 0);
    editions_put(store, 0);
    assert_int_equal(key_except(store, "list", 3), 1);
    assert_refused(TAMIS_EREADONLY, "read-only", tamis_filter_except(reader, "list", &key, 1));
    assert_refused(TAMIS_EREADONLY, "read-only",
                   tamis_filter_unexcept(reader, "list", &key, 1, NULL));
    assert_refused(TAMIS_EREADONLY, "read-only", tamis_filter_rollback(reader, "list", 0));
    tamis_store_close(reader);
    assert_int_equal(fixture_files(path, "segments"), 3);
}

/* (Broken: roll_back_once() keeps the pages of the generation that comes back.) */
SOUND_CASE(pages_are_of_the_filter_and_not_of_a_generation)
{
    struct tamis_filter_stat stat;
    editions_put(store, 0);
    editions_put(store, 1);
    assert_done(tamis_filter_set_pages(store, "list", TAMIS_PAGES_SMALL));
    tamis_filter *filter = fixture_opened(store, "list", 0);
    const int64_t put_at = fixture_stat(filter).published_at;
    assert_done(tamis_filter_rollback(store, "list", 0));
    stat = fixture_stat(filter);
    assert_int_equal(stat.pages, TAMIS_PAGES_SMALL);
    assert_true(stat.published_at > put_at);
    editions_put(store, 2);
    assert_int_equal(fixture_stat(filter).pages, TAMIS_PAGES_SMALL);
    assert_done(tamis_filter_close(filter));
}

static int find_left(void *context, const struct tamis_generation_stat *stat)
{
    if (!stat->in_force) *(uint64_t *)context = stat->items;
    return 0;
}

/* (Broken: roll_back_once() does not count the list that it leaves.) */
SOUND_CASE(a_list_that_is_left_by_a_rollback_has_its_last_keys)
{
    uint64_t items = 0;
    editions_put(store, 0);
    editions_put(store, 1);
    tamis_filter *filter = fixture_opened(store, "list", 0);
    for (uint64_t key = 1; key <= 5; key++) {
        const uint64_t strange = key << 40;
        assert_int_equal(tamis_filter_add(filter, &strange, sizeof strange), 1);
    }
    assert_done(tamis_filter_rollback(store, "list", 0));
    assert_done(tamis_filter_generations(store, "list", find_left, &items));
    assert_int_equal(items, EDITIONS_KEYS + 5);
    assert_done(tamis_filter_close(filter));
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}

/* (Broken: roll_back_once() does not look at the files first; the filter could not be opened
 * then.) */
STORE_CASE(rollback_to_a_damaged_list_is_refused)
{
    const uint8_t damage[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    editions_put(store, 0);
    editions_put(store, 1);
    fixture_poke(fixture_segment_path(path, 1), 24, damage, sizeof damage);
    assert_int_equal(tamis_filter_rollback(store, "list", 0), TAMIS_ECORRUPT);
    assert_int_equal(editions_in_force(store), 2);
}
