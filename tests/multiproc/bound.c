/* SPDX-License-Identifier: BSD-2-Clause */
#include "bound.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "auto.h"
#include "random.h"
#include "scratch.h"
#include "spawn.h"

#define STRANGERS (UINT64_C(1) << 40)
#define HITS_WANTED                                                                                \
    2000.0 /* strangers let in at the rate asked for: its standard deviation is 2.2 % of it */
#define NO_ANSWER 0xEEu /* is in the place of an answer before the call */
#define GIVE_UP_NS INT64_C(300000000000)

int64_t bound_clock_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

struct bound_keys *bound_keys_new(uint64_t base, uint64_t count)
{
    struct bound_keys *keys = spawn_shared(sizeof *keys);
    keys->base = base;
    keys->count = count;
    keys->bytes = (size_t)(2 * count);
    keys->told = spawn_shared(keys->bytes);
    keys->answered = keys->told + count;
    return keys;
}

void bound_keys_free(struct bound_keys *keys)
{
    (void)munmap(keys->told, keys->bytes);
    (void)munmap(keys, sizeof *keys);
}

/* One batch, with the bytes of its keys. */
struct batch {
    uint64_t numbers[BOUND_BATCH_MAX];
    char texts[BOUND_BATCH_MAX][RANDOM_KEY_BYTES];
    struct tamis_key keys[BOUND_BATCH_MAX];
    uint8_t answers[BOUND_BATCH_MAX];
};

static void put_key(struct batch *batch, size_t at, const struct bound_keys *keys, uint64_t index)
{
    batch->numbers[at] = keys->base + index;
    batch->keys[at] = (struct tamis_key){&batch->numbers[at], sizeof batch->numbers[at]};
    if (keys->as_text)
        batch->keys[at] =
            (struct tamis_key){batch->texts[at], random_key(keys->base + index, batch->texts[at])};
}

static void raise_to(uint64_t *greatest, uint64_t value)
{
    uint64_t was = __atomic_load_n(greatest, __ATOMIC_RELAXED);
    while (was < value && !__atomic_compare_exchange_n(greatest, &was, value, false,
                                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* One call, timed. */
static int64_t call_add(struct bound_keys *keys, tamis_filter *filter, struct batch *batch,
                        size_t count)
{
    const int64_t start = bound_clock_ns();
    int64_t rc;
    memset(batch->answers, NO_ANSWER, count);
    if (count == 1) {
        rc = tamis_filter_add(filter, batch->keys[0].data, batch->keys[0].bytes);
        if (rc >= 0) batch->answers[0] = (uint8_t)rc;
    } else {
        rc = tamis_filter_add_batch(filter, batch->keys, count, batch->answers);
    }
    const uint64_t took = (uint64_t)(bound_clock_ns() - start);
    raise_to(&keys->longest_ns, took);
    if (rc == TAMIS_EBUSY) {
        (void)__atomic_add_fetch(&keys->busy, 1, __ATOMIC_RELAXED);
        raise_to(&keys->longest_busy_ns, took);
    }
    if (rc == TAMIS_ENOSPACE) (void)__atomic_add_fetch(&keys->no_space, 1, __ATOMIC_RELAXED);
    return rc;
}

void bound_add(struct bound_keys *keys, tamis_filter *filter, const uint64_t *indexes, size_t count)
{
    static struct batch batch;
    const int64_t end = bound_clock_ns() + GIVE_UP_NS;
    for (size_t i = 0; i < count; i++)
        put_key(&batch, i, keys, indexes[i]);
    for (;;) {
        const int64_t rc = call_add(keys, filter, &batch, count);
        SPAWN_CHECK(rc >= 0 || rc == TAMIS_EBUSY || rc == TAMIS_ENOSPACE || rc == TAMIS_EFULL);
        /* What was added before an error is told with it: nobody else is ever told. */
        for (size_t i = 0; i < count; i++)
            if (batch.answers[i] == 1)
                (void)__atomic_add_fetch(&keys->told[indexes[i]], 1, __ATOMIC_RELAXED);
        const bool is_done = rc >= 0 || rc == TAMIS_EFULL;
        for (size_t i = 0; i < count; i++)
            if (batch.answers[i] == 1 || (is_done && batch.answers[i] == 0))
                __atomic_store_n(&keys->answered[indexes[i]], 1, __ATOMIC_RELEASE);
        if (is_done) return;
        SPAWN_CHECK(bound_clock_ns() < end); /* it never went on */
        if (rc == TAMIS_ENOSPACE) (void)usleep(2000);
    }
}

void bound_add_range(struct bound_keys *keys, tamis_filter *filter, uint64_t from, uint64_t count,
                     size_t batch, bool descending)
{
    uint64_t indexes[BOUND_BATCH_MAX];
    for (uint64_t done = 0; done < count;) {
        size_t now = 0;
        for (; now < batch && done < count; now++, done++)
            indexes[now] =
                keys->first + (from - keys->first + (descending ? count - 1 - done : done)) %
                                  (keys->count - keys->first);
        bound_add(keys, filter, indexes, now);
    }
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* How many of the keys from .. from + count - 1 the filter answers yes to; only of those that were
 * answered. */
static uint64_t count_present(tamis_filter *filter, const struct bound_keys *keys, uint64_t from,
                              uint64_t count, const uint8_t *answered, uint64_t *asked)
{
    static struct batch batch;
    uint64_t yes = 0;
    *asked = 0;
    for (uint64_t done = 0; done < count;) {
        size_t now = 0;
        for (; now < 1024 && done < count; done++)
            if (answered == NULL || answered[done]) put_key(&batch, now++, keys, from + done);
        const int64_t ones = tamis_filter_contains_batch(filter, batch.keys, now, NULL);
        SPAWN_CHECK(ones >= 0);
        yes += (uint64_t)ones;
        *asked += now;
    }
    return yes;
}

/* Keys that were answered and are not found. */
static uint64_t count_lost(tamis_filter *filter, const struct bound_keys *keys)
{
    uint64_t asked;
    const uint64_t yes = count_present(filter, keys, 0, keys->count, keys->answered, &asked);
    return asked - yes;
}

struct look {
    const char *store_path, *name;
    const struct bound_keys *keys;
    uint64_t lost;
};

static void look_afresh(void *context, unsigned index)
{
    struct look *look = context;
    AUTO_STORE *store;
    AUTO_FILTER *filter;
    (void)index;
    SPAWN_CHECK(tamis_store_open(look->store_path, TAMIS_OPEN_READ_ONLY, &store) == 0);
    SPAWN_CHECK(tamis_filter_open(store, look->name, 0, &filter) == 0);
    look->lost = count_lost(filter, look->keys);
}

static uint64_t lost_afresh(const char *store_path, const char *name, const struct bound_keys *keys)
{
    struct look *look = spawn_shared(sizeof *look);
    *look = (struct look){.store_path = store_path, .name = name, .keys = keys};
    uint64_t lost = spawn_all(1, look_afresh, look) > 0 ? UINT64_MAX : look->lost;
    (void)munmap(look, sizeof *look);
    return lost;
}

void bound_fail(struct bound_outcome *outcome, const char *what)
{
    const size_t used = strlen(outcome->failures);
    if (strstr(outcome->failures, what) != NULL) return;
    (void)snprintf(outcome->failures + used, sizeof outcome->failures - used, "%s%s",
                   used > 0 ? ", " : "", what);
}

static void measure_rate(tamis_filter *filter, const struct bound_keys *keys,
                         const struct bound_demand *demand, struct bound_outcome *outcome)
{
    const double p = demand->fp_rate;
    uint64_t asked;
    const uint64_t n = (uint64_t)(HITS_WANTED / p);
    const uint64_t hits = count_present(filter, keys, STRANGERS, n, NULL, &asked);
    const double variance = p * (1 - p) / (double)n + demand->spread * p * demand->spread * p;
    outcome->rate = (double)hits / (double)n;
    outcome->rate_max = p + 4 * sqrt(variance);
    if (outcome->rate > outcome->rate_max) bound_fail(outcome, "rate");
}

static void measure_segments(tamis_filter *filter, struct bound_outcome *outcome)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    SPAWN_CHECK(tamis_filter_stat(filter, &stat) == 0);
    outcome->segments = stat.segment_count;
    outcome->items = stat.items;
    outcome->state = stat.state;
    outcome->predicted = stat.predicted_rate;
    outcome->over = INT64_MIN;
    for (uint32_t i = 0; i < stat.segment_count; i++) {
        struct tamis_segment_stat s = {.size = sizeof s};
        SPAWN_CHECK(tamis_filter_segment(filter, i, &s) == 0);
        const int64_t over = (int64_t)(s.items - s.capacity);
        if (over > outcome->over) outcome->over = over;
    }
    if (outcome->over > 0) bound_fail(outcome, "bound");
}

void bound_measure(const char *store_path, const char *name, tamis_filter *filter,
                   const struct bound_keys *keys, const struct bound_demand *demand,
                   struct bound_outcome *outcome)
{
    *outcome = (struct bound_outcome){.over = 0};
    measure_rate(filter, keys, demand, outcome);
    measure_segments(filter, outcome);
    for (uint64_t i = 0; i < keys->count; i++) {
        outcome->told += keys->told[i];
        outcome->twice += keys->told[i] > 1;
    }
    if (outcome->segments < demand->segments_min) bound_fail(outcome, "growth");
    /* By the items the rate is above what was asked for, and no warning is given. */
    if (outcome->predicted > demand->fp_rate && (outcome->state & TAMIS_STATE_FULL) == 0)
        bound_fail(outcome, "state");
    if (demand->forgets) return;
    outcome->lost = count_lost(filter, keys);
    if (outcome->lost == 0) outcome->lost = lost_afresh(store_path, name, keys);
    if (outcome->lost > 0) bound_fail(outcome, "lost");
    if (demand->counts_nothing) return;
    if (outcome->twice > 0) bound_fail(outcome, "twice");
    if (outcome->items < outcome->told || outcome->items > outcome->told + demand->in_flight)
        bound_fail(outcome, "items");
}

void bound_print(const struct bound_outcome *outcome)
{
    printf("rate %.3g (at most %.3g), over capacity %+" PRId64 ", segments %u, items %" PRIu64
           ", told NEW %" PRIu64 ", twice %" PRIu64 ", lost %" PRIu64,
           outcome->rate, outcome->rate_max, outcome->over, outcome->segments, outcome->items,
           outcome->told, outcome->twice, outcome->lost);
    if (outcome->failures[0] != '\0') printf("; FAILED: %s", outcome->failures);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static char *directories[8];
static unsigned directory_count;
static pid_t directory_maker;

static void remove_directories(void)
{
    if (getpid() != directory_maker) return;
    for (unsigned i = 0; i < directory_count; i++)
        scratch_remove(directories[i]);
}

const char *bound_directory(const char *parent)
{
    char *path = NULL;
    SPAWN_CHECK(directory_count < sizeof directories / sizeof directories[0]);
    SPAWN_CHECK(asprintf(&path, "%s/tamis-bound-XXXXXX", parent) > 0);
    if (mkdtemp(path) == NULL) {
        perror(path);
        exit(1);
    }
    if (directory_count == 0) {
        directory_maker = getpid();
        (void)atexit(remove_directories);
    }
    directories[directory_count++] = path;
    return path;
}

const char *bound_file_system(const char *path)
{
    static const struct {
        uint64_t magic;
        const char *name;
    } names[] = {
        {0xEF53, "ext4"}, {0x01021994, "tmpfs"}, {0x9123683E, "btrfs"}, {0x58465342, "xfs"}};
    struct statfs fs;
    if (statfs(path, &fs) != 0) return "unknown";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((uint64_t)fs.f_type == names[i].magic) return names[i].name;
    return "unknown";
}
