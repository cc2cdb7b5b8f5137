/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish_test.c: generations are published as fast as they can be, under readers that never stop.
 *
 * One process changes the filter step by step and says in shared memory which step it has begun and
 * which is done.  Four others (one of several threads, one that opens the filter again and again,
 * one with a handle that its parent opened) ask without a pause, in batches and key by key.  Each
 * generation has three keys of its own in every batch, far apart from each other: a batch that two
 * generations had answered would show keys of both, or not all of one.  Fingerprints of 32 bits:
 * that any stranger here ever passes has a chance of 1 in 50,000 for all generations together.
 *
 * Seen to fail: with contains_batch entering the view anew after each part of its keys; with
 * tamis__raise_epochs and tell() of change.c left out, and with tell() alone left out (a call after
 * a change is answered from before it); with the index of a rollback not made (an exception answers
 * yes); with views given back while threads are in them (readers die), and with none ever given
 * back (mapped files).
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "builds.h"
#include "fixture.h"
#include "spawn.h"

#define READERS 4u
#define THREADS 3u /* of the first reader */
#define FIXED 3000u
#define OWN 500u
#define MARKS 3u
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define STEPS 60u
#else
#define STEPS 200u
#endif
#define GENERATIONS_MAX STEPS
#define BATCH (2 * MARKS * GENERATIONS_MAX + 1)
#define EXCEPTED 1000000u /* a key of every generation, which is an exception now and then */

/* What is in force once a step is done. */
struct step {
    uint64_t generation;
    bool excepted;
};

struct stage {
    tamis_store *store;
    tamis_filter *filter; /* opened before the readers are born */
    struct step steps[STEPS + 1];
    uint64_t begun, done, over;
    uint64_t batches;
};

/* ---- Keys ------------------------------------------------------------------------------------ */

static uint64_t mark_of(uint64_t generation, uint64_t mark)
{
    return ((uint64_t)1 << 40) + generation * MARKS + mark;
}

static uint64_t own_key(uint64_t generation, uint64_t i)
{
    return (generation << 20) + ((uint64_t)1 << 48) + i;
}

static int publish(tamis_store *store, uint64_t generation)
{
    static uint64_t keys[FIXED + OWN + MARKS + 1];
    struct tamis_build_result result = {.size = sizeof result};
    size_t count = 0;
    for (uint64_t i = 0; i < FIXED; i++)
        keys[count++] = i;
    for (uint64_t i = 0; i < OWN; i++)
        keys[count++] = own_key(generation, i);
    for (uint64_t i = 0; i < MARKS; i++)
        keys[count++] = mark_of(generation, i);
    keys[count++] = EXCEPTED;
    const int rc = builds_publish(store, "list",
                                  BUILD_SPEC(.filter = SPEC(.fp_rate = 0x1p-32), .threads = 1,
                                             .flags = TAMIS_BUILD_KEEP, .keep = 3),
                                  keys, count, &result);
    return rc == 1 && result.generation != generation ? TAMIS_ECORRUPT : rc;
}

/* ---- Readers --------------------------------------------------------------------------------- */

struct reader {
    struct stage *stage;
    tamis_filter *filter;
    uint64_t last; /* the earliest step that the last answer can be of */
    uint64_t random;
    uint64_t numbers[BATCH];
    struct tamis_key keys[BATCH];
    uint8_t answers[BATCH];
};

/* All first marks, then all second ones, ..., each before a fixed key; the last one is EXCEPTED. */
static void fill_batch(struct reader *reader)
{
    size_t at = 0;
    for (uint64_t mark = 0; mark < MARKS; mark++)
        for (uint64_t g = 1; g <= GENERATIONS_MAX; g++) {
            reader->numbers[at++] = mark_of(g, mark);
            reader->numbers[at++] = random_below(&reader->random, FIXED);
        }
    reader->numbers[at++] = EXCEPTED;
    for (size_t i = 0; i < BATCH; i++)
        reader->keys[i] = (struct tamis_key){&reader->numbers[i], sizeof reader->numbers[i]};
}

/* The one generation that has answered; every fixed key must have been there. */
static uint64_t who_answered(const struct reader *reader)
{
    uint64_t answered = 0;
    for (uint64_t g = 1; g <= GENERATIONS_MAX; g++) {
        unsigned marks = 0;
        for (uint64_t mark = 0; mark < MARKS; mark++)
            marks += reader->answers[2 * (mark * GENERATIONS_MAX + g - 1)];
        SPAWN_CHECK(marks == 0 || marks == MARKS); /* else mixed */
        if (marks == 0) continue;
        SPAWN_CHECK(answered == 0); /* else mixed */
        answered = g;
    }
    for (size_t i = 1; i < BATCH - 1; i += 2)
        SPAWN_CHECK(reader->answers[i] == 1);
    return answered;
}

/* A step from `first` to `last` has that outcome: the earliest one; else last + 1. */
static uint64_t find_step(const struct stage *stage, uint64_t first, uint64_t last,
                          uint64_t generation, bool excepted)
{
    while (first <= last && (stage->steps[first].generation != generation ||
                             stage->steps[first].excepted != excepted))
        first++;
    return first;
}

static void ask_batch(struct reader *reader)
{
    struct stage *stage = reader->stage;
    fill_batch(reader);
    const uint64_t done = __atomic_load_n(&stage->done, __ATOMIC_ACQUIRE);
    const int64_t rc =
        tamis_filter_contains_batch(reader->filter, reader->keys, BATCH, reader->answers);
    const uint64_t begun = __atomic_load_n(&stage->begun, __ATOMIC_ACQUIRE);
    SPAWN_CHECK(rc >= 0);
    const uint64_t generation = who_answered(reader);
    SPAWN_CHECK(generation != 0);
    const uint64_t first = done > reader->last ? done : reader->last;
    const uint64_t step =
        find_step(stage, first, begun, generation, reader->answers[BATCH - 1] == 0);
    SPAWN_CHECK(step <= begun); /* that step, or a later one */
    reader->last = step;
    (void)__atomic_add_fetch(&stage->batches, 1, __ATOMIC_RELAXED);
}

/* Fixed keys; and keys of the generation in force, which must be there unless another step was
 * begun. */
static void ask_singly(struct reader *reader)
{
    struct stage *stage = reader->stage;
    for (int i = 0; i < 8; i++) {
        const uint64_t fixed = random_below(&reader->random, FIXED);
        SPAWN_CHECK(tamis_filter_contains(reader->filter, &fixed, sizeof fixed) == 1);
        const uint64_t done = __atomic_load_n(&stage->done, __ATOMIC_ACQUIRE);
        const uint64_t g = stage->steps[done].generation;
        const uint64_t own = own_key(g, random_below(&reader->random, OWN));
        const uint64_t other = own_key(g % GENERATIONS_MAX + 1, random_below(&reader->random, OWN));
        const int is = tamis_filter_contains(reader->filter, &own, sizeof own);
        const int is_other = tamis_filter_contains(reader->filter, &other, sizeof other);
        SPAWN_CHECK(is >= 0 && is_other >= 0);
        if (__atomic_load_n(&stage->begun, __ATOMIC_ACQUIRE) != done) continue;
        SPAWN_CHECK(is == 1);
        SPAWN_CHECK(is_other == 0);
    }
}

static void read_until_the_end(struct reader *reader)
{
    while (__atomic_load_n(&reader->stage->over, __ATOMIC_ACQUIRE) == 0) {
        ask_batch(reader);
        ask_singly(reader);
    }
    ask_batch(reader); /* begins after the last step: its own must answer */
}

static struct reader *new_reader(struct stage *stage, tamis_filter *filter, uint64_t seed)
{
    struct reader *reader = calloc(1, sizeof *reader);
    SPAWN_CHECK(reader != NULL);
    reader->stage = stage;
    reader->filter = filter;
    reader->random = random_seed() + seed;
    return reader;
}

static void *reading_thread(void *context)
{
    read_until_the_end(context);
    free(context);
    return NULL;
}

/* One handle for all threads. */
static void read_in_threads(struct stage *stage, tamis_filter *filter)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        SPAWN_CHECK(pthread_create(&threads[i], NULL, reading_thread,
                                   new_reader(stage, filter, 10 + i)) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        SPAWN_CHECK(pthread_join(threads[i], NULL) == 0);
}

/* Opened anew every 20 batches: what the catalog names can be mapped whenever it is looked at. */
static void read_by_many_handles(struct stage *stage)
{
    AUTO_FREE struct reader *reader = new_reader(stage, NULL, 2);
    while (__atomic_load_n(&stage->over, __ATOMIC_ACQUIRE) == 0) {
        SPAWN_CHECK(
            tamis_filter_open(stage->store, "list", TAMIS_OPEN_READ_ONLY, &reader->filter) == 0);
        for (int i = 0; i < 20; i++)
            ask_batch(reader);
        SPAWN_CHECK(tamis_filter_close(reader->filter) == 0);
    }
}

static void read_in_process(void *context, unsigned index)
{
    struct stage *stage = context;
    tamis_filter *filter = stage->filter; /* born with it; only the last one goes on with it */
    if (index < READERS - 1) SPAWN_CHECK(tamis_filter_close(filter) == 0);
    if (index == 2) {
        read_by_many_handles(stage);
        return;
    }
    if (index < 2)
        SPAWN_CHECK(tamis_filter_open(stage->store, "list", index == 0 ? TAMIS_OPEN_READ_ONLY : 0,
                                      &filter) == 0);
    if (index == 0) {
        read_in_threads(stage, filter);
    } else {
        AUTO_FREE struct reader *reader = new_reader(stage, filter, index);
        read_until_the_end(reader);
    }
    SPAWN_CHECK(builds_mapped_files() <= 2); /* a segment, and an index */
    SPAWN_CHECK(tamis_filter_close(filter) == 0);
}

/* ---- The stage ------------------------------------------------------------------------------- */

static void begin_step(struct stage *stage, uint64_t generation, bool excepted)
{
    const uint64_t step = stage->begun + 1;
    stage->steps[step] = (struct step){generation, excepted};
    __atomic_store_n(&stage->begun, step, __ATOMIC_RELEASE);
}

static void end_step(struct stage *stage)
{
    __atomic_store_n(&stage->done, stage->begun, __ATOMIC_RELEASE);
}

/* A store whose filter has its first generation, and the readers. */
static struct stage *begin(char **path, pid_t readers[READERS])
{
    struct stage *stage = spawn_shared(sizeof *stage);
    *path = scratch_path("publish");
    (void)random_seed();
    stage->store = fixture_open(*path, TAMIS_OPEN_CREATE);
    stage->steps[0].generation = 1;
    assert_int_equal(publish(stage->store, 1), 1);
    stage->filter = fixture_opened(stage->store, "list", TAMIS_OPEN_READ_ONLY);
    for (unsigned i = 0; i < READERS; i++)
        readers[i] = spawn_one(read_in_process, stage, i);
    return stage;
}

/* Readers must have lived to the end; the store is whole. */
static void end(char *path, struct stage *stage, const pid_t readers[READERS])
{
    unsigned failed = 0;
    __atomic_store_n(&stage->over, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < READERS; i++) {
        int status;
        assert_int_equal(waitpid(readers[i], &status, 0), readers[i]);
        failed += status != 0;
    }
    assert_int_equal(failed, 0);
    assert_int_equal(tamis_filter_close(stage->filter), 0);
    assert_int_equal(tamis_store_verify(stage->store, NULL, builds_print_problem, NULL), 0);
    tamis_store_close(stage->store);
    free(path);
}

struct kept {
    uint64_t generations[8];
    size_t count;
};

static int note_kept(void *context, const struct tamis_generation_stat *stat)
{
    struct kept *kept = context;
    if (!stat->in_force) kept->generations[kept->count++] = stat->generation;
    return 0;
}

/* Put any of the kept ones in force. */
static void roll_back(struct stage *stage, uint64_t *random, bool excepted)
{
    struct kept kept = {.count = 0};
    assert_int_equal(tamis_filter_generations(stage->store, "list", note_kept, &kept), 0);
    assert_true(kept.count > 0);
    const uint64_t to = kept.generations[random_below(random, kept.count)];
    begin_step(stage, to, excepted);
    assert_int_equal(tamis_filter_rollback(stage->store, "list", to), 0);
}

static void take_any_step(struct stage *stage, uint64_t *random, uint64_t *newest)
{
    static const uint64_t number = EXCEPTED;
    const struct tamis_key key = {&number, sizeof number};
    const struct step now = stage->steps[stage->begun];
    const uint64_t dice = random_below(random, 4);
    if (dice == 0 && *newest > 1) {
        roll_back(stage, random, now.excepted);
    } else if (dice == 1) {
        begin_step(stage, now.generation, !now.excepted);
        const int64_t rc = now.excepted ? tamis_filter_unexcept(stage->store, "list", &key, 1, NULL)
                                        : tamis_filter_except(stage->store, "list", &key, 1);
        assert_int_equal(rc, 1);
    } else {
        begin_step(stage, ++*newest, now.excepted);
        assert_int_equal(publish(stage->store, *newest), 1);
    }
    end_step(stage);
}

CASE(any_change_under_readers_is_seen_by_the_next_call)
{
    pid_t readers[READERS];
    char *path;
    struct stage *stage = begin(&path, readers);
    uint64_t random = random_seed() + 1, newest = 1;
    for (unsigned i = 0; i < STEPS - 1; i++)
        take_any_step(stage, &random, &newest);
    end(path, stage, readers);
    printf("%u steps to generation %" PRIu64 "\n", STEPS - 1, newest);
}
