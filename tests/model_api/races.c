/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * races.c: see generate.h.
 *
 * Some processes of two threads each add overlapping keys to one filter, in batches and one by one,
 * ask for them, and change the store meanwhile (sync, exceptions, pages, names, a build of another
 * filter, backups).  The one that waits for them stops some, lets them go on, and kills some.
 * Whatever the order:
 *
 *     a key is NEW once at most (to nobody, if another key sets its last bits at that moment)
 *     a key whose add has returned is found, also by who is told so while it adds
 *     items are the NEW answers; with kills, more by what was in flight at most
 *     no segment holds more keys than its capacity, if the filter has a limit
 *     verify is content, and the store is open to the next process
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/point.h"
#include "generate.h"
#include "random.h"
#include "scratch.h"
#include "tamis.h"

#define KEYS 2000u
#define PROCESSES 3u
#define THREADS 2u
#define ROUNDS 60u
#define BUSY_MS 60000

struct shared {
    uint8_t news[KEYS], answered[KEYS];
    uint8_t made[2][4096]; /* generations of the other filters */
    char complaint[600];
    uint64_t seed;
    char path[400];
    struct tamis_filter_spec spec;
};

struct racer {
    struct shared *shared;
    tamis_store *store;
    tamis_filter *filter;
    uint64_t random;
    uint32_t number;
};

static void complain(struct shared *shared, const char *what, uint32_t key)
{
    if (*shared->complaint == '\0')
        (void)snprintf(shared->complaint, sizeof shared->complaint, "%s (key %u): %s", what, key,
                       tamis_last_error());
}

static void yield_now(unsigned point)
{
    static _Thread_local uint64_t random = 1;
    (void)point;
    if (random_below(&random, 64) == 0) (void)sched_yield();
}

/* Adds some keys, and notes what was answered. */
static void add_some(struct racer *r)
{
    struct shared *shared = r->shared;
    struct tamis_key keys[64];
    uint32_t numbers[64];
    uint8_t answers[64];
    const uint32_t from = (uint32_t)random_below(&r->random, KEYS),
                   count = (uint32_t)random_below(&r->random, 64) + 1;
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = (from + i) % KEYS;
        keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
    }
    int64_t rc;
    if (count < 8) {
        const int one = tamis_filter_add(r->filter, keys[0].data, keys[0].bytes);
        rc = one;
        answers[0] = one == TAMIS_EFULL ? TAMIS_ANSWER_REFUSED : (uint8_t)one;
    } else {
        rc = tamis_filter_add_batch(r->filter, keys, count, answers);
    }
    if (rc < 0 && rc != TAMIS_EFULL) complain(shared, "an add fails", numbers[0]);
    for (uint32_t i = 0; (rc >= 0 || rc == TAMIS_EFULL) && i < (count < 8 ? 1 : count); i++) {
        if (answers[i] == 1)
            (void)__atomic_fetch_add(&shared->news[numbers[i]], 1, __ATOMIC_RELAXED);
        if (answers[i] != TAMIS_ANSWER_REFUSED)
            __atomic_store_n(&shared->answered[numbers[i]], 1, __ATOMIC_RELEASE);
    }
}

static void ask_some(struct racer *r)
{
    const uint32_t key = (uint32_t)random_below(&r->random, KEYS);
    const bool was = __atomic_load_n(&r->shared->answered[key], __ATOMIC_ACQUIRE) != 0;
    const int has = tamis_filter_contains(r->filter, &key, sizeof key);
    if (has < 0 || (was && has == 0))
        complain(r->shared, "a key that was answered is asked for in vain", key);
}

/* Each build that is published is a generation of its own. */
static void build_other(struct racer *r)
{
    char name[16];
    tamis_build *build = NULL;
    struct tamis_build_result result = {.size = sizeof result};
    const uint32_t key = (uint32_t)random_below(&r->random, KEYS), which = key % 2;
    const struct tamis_key one = {&key, sizeof key};
    (void)snprintf(name, sizeof name, "other%u", which);
    int rc = tamis_build_begin(r->store, name, NULL, &build);
    if (rc == 0) rc = tamis_build_add(build, &one, 1);
    if (rc == 0) rc = tamis_build_publish(build, &result);
    tamis_build_close(build);
    if (rc < 0) complain(r->shared, "a build fails", key);
    uint8_t *made = &r->shared->made[which][result.generation % 4096];
    if (rc > 0 && __atomic_fetch_add(made, 1, __ATOMIC_RELAXED) != 0)
        complain(r->shared, "two builds made the same generation", which);
}

struct ends {
    struct racer *r;
    unsigned char head[32], tail[16];
    size_t bytes;
};

/* Keeps both ends of a stream.  Keys are added when its head is written. */
static int keep_ends(void *context, const void *buffer, size_t bytes)
{
    struct ends *e = context;
    const unsigned char *b = buffer;
    if (e->bytes == 0) add_some(e->r);
    for (size_t i = 0; i < bytes; i++, e->bytes++) {
        if (e->bytes < sizeof e->head) e->head[e->bytes] = b[i];
        memmove(e->tail, e->tail + 1, sizeof e->tail - 1);
        e->tail[sizeof e->tail - 1] = b[i];
    }
    return 0;
}

/* What a stream has for its digest at its head stands at its end too (docs/exchange.md); or the
 * export has failed, as keys came in between. */
static void export_digest(struct racer *r)
{
    struct ends ends = {.r = r};
    const struct tamis_sink sink = {.size = sizeof sink, .write = keep_ends, .context = &ends};
    const unsigned flags = TAMIS_EXPORT_WITH_KEY | TAMIS_EXPORT_WITH_DIGEST;
    const int rc = tamis_filter_export(r->filter, "tamis", flags, &sink);
    if (rc < 0 && rc != TAMIS_ELIMIT) complain(r->shared, "an export fails", 0);
    if (rc == 0 && memcmp(ends.head + 16, ends.tail, sizeof ends.tail) != 0)
        complain(r->shared, "the digest at the head of a stream is not that of its end", 0);
}

static void change_something(struct racer *r)
{
    const uint32_t stranger = KEYS + (uint32_t)random_below(&r->random, 50);
    const struct tamis_key key = {&stranger, sizeof stranger};
    struct tamis_filter_stat stat = {.size = sizeof stat};
    int64_t rc = 0;
    switch (random_below(&r->random, 9)) {
    case 0:
        rc = tamis_filter_sync(r->filter);
        break;
    case 1:
        rc = tamis_filter_except(r->store, "raced", &key, 1);
        break;
    case 2:
        rc = tamis_filter_unexcept(r->store, "raced", &key, 1, NULL);
        break;
    case 3:
        rc = tamis_filter_set_pages(r->store, "raced", (uint32_t)random_below(&r->random, 3));
        break;
    case 4:
        rc = tamis_filter_stat(r->filter, &stat);
        break;
    case 5:
        rc = tamis_store_verify(r->store, "raced", NULL, NULL);
        break;
    case 6:
        rc = tamis_filter_prepare(r->filter, 0);
        break;
    case 7:
        export_digest(r);
        break;
    default:
        build_other(r);
    }
    if (rc < 0) complain(r->shared, "a change fails", stranger);
}

static void *run_thread(void *context)
{
    struct racer *r = context;
    for (uint32_t i = 0; i < ROUNDS && *r->shared->complaint == '\0'; i++) {
        add_some(r);
        for (int j = 0; j < 4; j++)
            ask_some(r);
        if (random_below(&r->random, 5) == 0) change_something(r);
    }
    return NULL;
}

/* Another process, or thread, has the lock that this one waits for. */
static int note_wait(void *context, int64_t waited_ms, int64_t holder)
{
    if (waited_ms < 0 || waited_ms > BUSY_MS || holder < 0)
        complain(context, "an odd wait is told", 0);
    return 0;
}

static void run_process(struct shared *shared, uint32_t number)
{
    const struct tamis_store_options options = {.size = sizeof options,
                                                .busy_timeout_ms = BUSY_MS,
                                                .busy_every_ms = 1,
                                                .busy_fn = note_wait,
                                                .busy_context = shared};
    struct racer racers[THREADS];
    pthread_t threads[THREADS];
    tamis_store *store = NULL;
    tamis_filter *filter = NULL;
    tamis__point_hook = yield_now;
    if (tamis_store_open_with(shared->path, &options, &store) < 0 ||
        tamis_filter_open(store, "raced", 0, &filter) < 0)
        complain(shared, "it cannot be opened", 0);
    for (uint32_t i = 0; filter != NULL && i < THREADS; i++) {
        racers[i] = (struct racer){shared, store, filter, shared->seed + 977 * number + i, number};
        if (pthread_create(&threads[i], NULL, run_thread, &racers[i]) != 0)
            err(1, "pthread_create");
    }
    for (uint32_t i = 0; filter != NULL && i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    if (tamis_filter_close(filter) < 0) complain(shared, "a close fails", 0);
    tamis_store_close(store);
    _exit(0);
}

/* Stops some of them for a moment, and kills some; returns how many were killed. */
static uint32_t disturb(const pid_t *pids, uint64_t *random, bool kills)
{
    uint32_t killed = 0;
    bool alive[PROCESSES];
    memset(alive, 1, sizeof alive);
    for (uint32_t left = PROCESSES; left > 0;) {
        const uint32_t i = (uint32_t)random_below(random, PROCESSES);
        int status;
        if (!alive[i]) continue;
        if (waitpid(pids[i], &status, WNOHANG) == pids[i]) {
            alive[i] = false;
            left--;
            killed += WIFSIGNALED(status) != 0;
            continue;
        }
        (void)usleep((useconds_t)random_below(random, 3000));
        if (kills && random_below(random, 12) == 0) {
            (void)kill(pids[i], SIGKILL);
        } else if (random_below(random, 3) == 0) {
            (void)kill(pids[i], SIGSTOP);
            (void)usleep((useconds_t)random_below(random, 4000));
            (void)kill(pids[i], SIGCONT);
        }
    }
    return killed;
}

static int note_problem(void *context, const struct tamis_problem *problem)
{
    struct shared *shared = context;
    if (problem->error != 0 && *shared->complaint == '\0')
        (void)snprintf(shared->complaint, sizeof shared->complaint, "verify: %s: %s", problem->file,
                       problem->reason);
    return 0;
}

/* What must hold when all have ended. */
static void judge(struct shared *shared, tamis_store *store, tamis_filter *filter, uint32_t killed)
{
    uint64_t news = 0;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    const bool counting = shared->spec.kind == TAMIS_KIND_COUNTING;
    for (uint32_t key = 0; key < KEYS; key++) {
        news += shared->news[key];
        if (shared->news[key] > 1) complain(shared, "a key was new twice", key);
        if (shared->answered[key] && tamis_filter_contains(filter, &key, sizeof key) != 1)
            complain(shared, "a key that was answered is gone", key);
    }
    const uint64_t items = (uint64_t)tamis_filter_items(filter);
    const uint64_t flight =
        killed * THREADS * 64u +
        PROCESSES * THREADS * 64u * (shared->spec.on_full == TAMIS_ON_FULL_GROW);
    if (items + (killed > 0 && counting ? flight : 0) < news || items > news + flight) {
        (void)snprintf(shared->complaint, sizeof shared->complaint,
                       "%llu items, and %llu keys were new", (unsigned long long)items,
                       (unsigned long long)news);
    }
    for (uint32_t i = 0; tamis_filter_segment(filter, i, &segment) == 0; i++)
        if (shared->spec.on_full != TAMIS_ON_FULL_WARN &&
            segment.items > segment.capacity + (killed > 0 ? flight : 0))
            complain(shared, "a segment holds more than it was made for", i);
    if (tamis_store_verify(store, NULL, note_problem, shared) < 0)
        complain(shared, "verify fails", 0);
}

bool race(uint64_t seed, char *complaint, size_t bytes)
{
    static const uint32_t kinds[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM, TAMIS_KIND_COUNTING};
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) err(1, "mmap");
    char *path = scratch_path("race");
    uint64_t random = seed;
    const uint32_t kind = kinds[random_below(&random, 3)];
    const bool kills = random_below(&random, 2) == 0;
    tamis_store *store = NULL;
    tamis_filter *filter = NULL;
    pid_t pids[PROCESSES];
    shared->seed = seed;
    (void)snprintf(shared->path, sizeof shared->path, "%s-%ld", path, (long)getpid());
    shared->spec = (struct tamis_filter_spec){
        .size = sizeof shared->spec,
        .capacity = random_below(&random, 2) == 0 ? KEYS : 50 + random_below(&random, 1500),
        .fp_rate = 1e-9,
        .kind = kind,
        .on_full = kind == TAMIS_KIND_COUNTING ? TAMIS_ON_FULL_WARN
                                               : 1 + (uint32_t)random_below(&random, 3),
        .flags = kind != TAMIS_KIND_COUNTING && random_below(&random, 3) == 0 ? TAMIS_FILTER_DURABLE
                                                                              : 0};
    if (tamis_store_open(shared->path, TAMIS_OPEN_CREATE, &store) < 0 ||
        tamis_filter_create(store, "raced", &shared->spec, NULL) < 0)
        errx(1, "%s", tamis_last_error());
    for (uint32_t i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] < 0) err(1, "fork");
        if (pids[i] == 0) run_process(shared, i);
    }
    const uint32_t killed = disturb(pids, &random, kills);
    if (tamis_filter_open(store, "raced", 0, &filter) < 0)
        complain(shared, "it cannot be opened afterwards", 0);
    if (filter != NULL) judge(shared, store, filter, killed);
    if (tamis_filter_close(filter) < 0) complain(shared, "the last close fails", 0);
    tamis_store_close(store);
    scratch_remove(shared->path);
    free(path);
    if (*shared->complaint != '\0')
        (void)snprintf(
            complaint, bytes, "race of kind %u, %s, capacity %llu, flags %u, %u killed: %s", kind,
            tamis_on_full_name(shared->spec.on_full), (unsigned long long)shared->spec.capacity,
            shared->spec.flags, killed, shared->complaint);
    else
        *complaint = '\0';
    (void)munmap(shared, sizeof *shared);
    return *complaint == '\0';
}
