/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork_test.c: handles opened before fork() work in the children, from several threads too, while
 * the parent goes on using and syncing them.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "keys.h"
#include "spawn.h"

#define CHILDREN 4u
#define THREADS 3u
#define KEYS_A_THREAD 20000u
#define KEYS ((uint64_t)(CHILDREN + 1) * THREADS * KEYS_A_THREAD)

struct shared {
    tamis_filter *filter;
    uint64_t told_new;
};

struct worker {
    struct shared *shared;
    uint64_t first;
};

/* Half of a thread's keys one by one, half in batches; some of its neighbour's too. */
static void *add_range(void *argument)
{
    const struct worker *worker = argument;
    tamis_filter *filter = worker->shared->filter;
    uint64_t told = 0;
    for (uint64_t i = 0; i < KEYS_A_THREAD; i++) {
        uint64_t numbers[2] = {worker->first + i, (worker->first + i + KEYS_A_THREAD) % KEYS};
        const struct tamis_key keys[2] = {{&numbers[0], 8}, {&numbers[1], 8}};
        if (i % 2) {
            const int64_t rc = tamis_filter_add_batch(filter, keys, 2, NULL);
            SPAWN_CHECK(rc >= 0);
            told += (uint64_t)rc;
        } else {
            const int rc = tamis_filter_add(filter, &numbers[0], 8);
            SPAWN_CHECK(rc >= 0);
            told += (uint64_t)rc;
        }
        SPAWN_CHECK(tamis_filter_contains(filter, &numbers[0], 8) == 1);
        if (i % 5000 == 0) SPAWN_CHECK(tamis_filter_sync(filter) == 0);
    }
    (void)__atomic_add_fetch(&worker->shared->told_new, told, __ATOMIC_RELAXED);
    return NULL;
}

static void run_threads(void *context, unsigned index)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (unsigned t = 0; t < THREADS; t++) {
        workers[t] = (struct worker){context, ((uint64_t)index * THREADS + t) * KEYS_A_THREAD};
        SPAWN_CHECK(pthread_create(&threads[t], NULL, add_range, &workers[t]) == 0);
    }
    for (unsigned t = 0; t < THREADS; t++)
        SPAWN_CHECK(pthread_join(threads[t], NULL) == 0);
}

/* A child uses the parent's handle, then closes its own copy of it. */
static void child(void *context, unsigned index)
{
    struct shared *shared = context;
    run_threads(shared, index);
    SPAWN_CHECK(tamis_filter_close(shared->filter) == 0);
}

CASE(fork_with_open_handle_works_in_children_and_threads)
{
    struct shared *shared = spawn_shared(sizeof *shared);
    pid_t children[CHILDREN];
    AUTO_STORE *store = fixture_open(scratch_directory(), TAMIS_OPEN_CREATE);
    shared->filter = fixture_create(
        store, "forked", SPEC(.capacity = KEYS, .on_full = TAMIS_ON_FULL_WARN, .fp_rate = 1e-6));
    for (unsigned c = 0; c < CHILDREN; c++)
        children[c] = spawn_one(child, shared, c);
    run_threads(shared, CHILDREN);
    for (unsigned c = 0; c < CHILDREN; c++)
        assert_int_equal(spawn_end(children[c]), 0);
    assert_int_equal(keys_found(shared->filter, 0, KEYS), KEYS);
    printf("%" PRIu64 " keys by %u processes of %u threads: NEW answers %" PRIu64
           ", item count %" PRId64 "\n",
           KEYS, CHILDREN + 1, THREADS, shared->told_new, tamis_filter_items(shared->filter));
    assert_int_equal(tamis_filter_items(shared->filter), shared->told_new);
    assert_true(shared->told_new <= KEYS && shared->told_new >= KEYS - 10); /* at 1e-6 */
    assert_int_equal(tamis_filter_close(shared->filter), 0);
    shared->filter = fixture_opened(store, "forked", TAMIS_OPEN_READ_ONLY);
    assert_int_equal(fixture_stat(shared->filter).items, shared->told_new);
    assert_int_equal(tamis_filter_close(shared->filter), 0);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
