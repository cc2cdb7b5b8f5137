/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * except_test.c: exceptions are changed beside others who need the catalog's lock.
 *
 * The keys are read, sorted and written without the lock; so nobody waits long for ever so many,
 * and nobody for a process that is stopped among them.
 *
 *     TAMIS_TEST_EXCEPTIONS=10000000 except_test      as many as a filter can have; prints how long
 *     was waited
 *
 * On one machine of two cores, whose disk others use too, 10 M keys: 22 ms at most were waited for
 * the exclusive lock; 1971 ms when the keys lay in the catalog, and 162 ms with the files of a
 * change removed under the lock. Seen to fail: with the index read and staged under the lock
 * (nobody gets it while one is stopped).
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "hooks.h"
#include "points.h"
#include "spawn.h"
#include "tamis_build.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define KEYS 100000u
#define LONGEST_MS 5000
#else
#define KEYS 2000000u
#define LONGEST_MS                                                                                 \
    1000 /* one machine that does much else; what is measured on an idle one is in the docs */
#endif

#define KEY_BYTES 24

static tamis_store *open_store(const char *path)
{
    tamis_store *store;
    SPAWN_CHECK(tamis_store_open(path, TAMIS_CREATE, &store) == 0);
    return store;
}

static void create(const char *path, const char *name, uint64_t capacity)
{
    AUTO_STORE *store = open_store(path);
    SPAWN_CHECK(tamis_filter_create(store, name, SPEC(.capacity = capacity), NULL) == 0);
}

/* ---- Who waits how long ---------------------------------------------------------------------- */

static int64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct prober {
    const char *path;
    bool end;
    int64_t longest_ns, rounds;
};

/* Wants the exclusive lock all the time, as growth does. */
static void *probe(void *context)
{
    struct prober *prober = context;
    char lock[4096];
    (void)snprintf(lock, sizeof lock, "%s/catalog.lock", prober->path);
    const int fd = open(lock, O_RDWR | O_CLOEXEC);
    SPAWN_CHECK(fd >= 0);
    while (!__atomic_load_n(&prober->end, __ATOMIC_RELAXED)) {
        const int64_t begin = now_ns();
        SPAWN_CHECK(flock(fd, LOCK_EX) == 0);
        const int64_t waited = now_ns() - begin;
        SPAWN_CHECK(flock(fd, LOCK_UN) == 0);
        if (waited > prober->longest_ns) prober->longest_ns = waited;
        prober->rounds++;
        (void)usleep(200);
    }
    (void)close(fd);
    return NULL;
}

struct work {
    const char *path, *what;
    int (*body)(tamis_store *store);
};

static struct tamis_key *keys;
static size_t key_count;

static void work(void *context, unsigned index)
{
    const struct work *w = context;
    AUTO_STORE *store = open_store(w->path);
    (void)index;
    SPAWN_CHECK(w->body(store) >= 0);
}

static void do_while_probing(const char *path, const char *what, int (*body)(tamis_store *store))
{
    struct prober prober = {.path = path};
    struct work w = {path, what, body};
    pthread_t thread;
    int status = -1;
    const int64_t begin = now_ns();
    const pid_t child = spawn_one(work, &w, 0); /* before there are threads */
    assert_int_equal(pthread_create(&thread, NULL, probe, &prober), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    __atomic_store_n(&prober.end, true, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(status, 0);
    print_message("%-22s %6.1f s, lock got %" PRId64 " times, waited for %.1f ms at most\n", what,
                  (double)(now_ns() - begin) / 1e9, prober.rounds, (double)prober.longest_ns / 1e6);
    assert_true(prober.longest_ns < (int64_t)LONGEST_MS * 1000000);
}

static int put_on_most(tamis_store *store)
{
    return tamis_filter_except(store, "a", keys, key_count - 1) == (int64_t)key_count - 1 ? 0 : -1;
}

static int put_on_one(tamis_store *store)
{
    return tamis_filter_except(store, "a", keys + key_count - 1, 1) == 1 ? 0 : -1;
}

static int count_one(void *context, const struct tamis_key *key, uint64_t generation)
{
    (void)key;
    (void)generation;
    ++*(size_t *)context;
    return 0;
}

static int list_all(tamis_store *store)
{
    size_t count = 0;
    return tamis_filter_exceptions(store, "a", count_one, &count) == 0 && count == key_count ? 0
                                                                                             : -1;
}

static void die(unsigned point)
{
    if (point == TAMIS__POINT_PUBLISH_TOLD) _exit(0);
}

/* Dies before the file of the old ones is removed. */
static int take_off_and_die(tamis_store *store)
{
    tamis__point_hook = die;
    return (int)tamis_filter_unexcept(store, "a", keys, 1, NULL) - 2;
}

static int make_and_drop(tamis_store *store)
{
    const int rc = tamis_filter_create(store, "new", SPEC(.capacity = 10), NULL);
    return rc < 0 ? rc : tamis_filter_drop(store, "new");
}

static int drop(tamis_store *store)
{
    return tamis_filter_drop(store, "a");
}

static void make_keys(void)
{
    const char *wanted = getenv("TAMIS_TEST_EXCEPTIONS");
    key_count = wanted ? strtoul(wanted, NULL, 10) : KEYS;
    char(*text)[KEY_BYTES] = malloc(key_count * sizeof *text);
    keys = malloc(key_count * sizeof *keys);
    if (text == NULL || keys == NULL) abort();
    for (size_t i = 0; i < key_count; i++) {
        (void)snprintf(text[i], KEY_BYTES, "%016" PRIx64 ".test", i * UINT64_C(0x9E3779B97F4A7C15));
        keys[i] = (struct tamis_key){text[i], strlen(text[i])};
    }
}

CASE(except_of_many_keys_holds_the_lock_for_moments)
{
    const char *path = scratch_directory();
    make_keys();
    create(path, "a", 1000);
    print_message("%zu exceptions\n", key_count);
    do_while_probing(path, "except", put_on_most);
    do_while_probing(path, "except of one more", put_on_one);
    do_while_probing(path, "list", list_all);
    do_while_probing(path, "unexcept, killed", take_off_and_die);
    do_while_probing(path, "the next writer", make_and_drop);
    do_while_probing(path, "drop", drop);
}

/* ---- One that is stopped --------------------------------------------------------------------- */

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
    tamis_filter *a = fixture_opened(store, "a", TAMIS_READ_ONLY);
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
