/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kill_storm_test.c: thousands of kill -9 of adders and of writers of the catalog, all on one
 * store.
 *
 * Adders race for the same keys in filters of every kind that is added to, one that grows among
 * them, with single keys and batches; an answer counts as told once it is noted in memory that
 * outlives the process. Writers (storm.c) create, drop, rename, sync, build and publish, rotate,
 * let grow, make exceptions.  The parent kills one of them from outside, after a random pause, or
 * finds one dead by its own hand at a named point; then it changes the catalog itself and adds a
 * key: the next writer, whose delay is measured from the kill on.  Every process that takes the
 * place of a dead one opens the store afresh, and each error is one too many.
 *
 * With TAMIS_TEST_PAGES=huge (huge_pages.sh) the filters are set to have huge pages.  Of one of
 * them the sort changes all the time in any case, and each of its syncs has pages come anew.
 *
 * The disk is left out (nosync.c, and tmpfs where there is one): a kill is no power cut.
 *
 * Seen to fail, in 2,000 kills: with the garbage of reserve() in change.c not noted, and with
 * staging/ not swept by the next maker (files that belong to nobody); with "NEW if I flipped any
 * bit" (tamis__point_any_bit_rule = 1: 933 of 1.0 million adds told NEW twice).
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "builds.h"
#include "keys.h"
#include "killer.h"
#include "numbers.h"
#include "pages.h"
#include "points.h"
#include "rounds.h"
#include "storm.h"

#define ADDERS 2u
#define WRITERS 2u
#define FILTERS 4u
#define KEYS (UINT64_C(1) << 20) /* of each filter, at most */
#define CHUNK_MAX 64u
#define FIRST_KEYS (100 * CHUNK_MAX) /* that may be added before the first death */
#define PAUSE_NS_MAX 1500000u
#define KILLS 3000u
#define KILLS_MAX 10000u /* the long form */
#define HUGE_KILLS 400u  /* with huge pages (huge_pages.sh) */

static unsigned kills;

static const struct {
    const char *name;
    struct tamis_filter_spec spec;
} filters[FILTERS] = {
    {"blocked", SPEC_FIELD(.capacity = KEYS, .fp_rate = 1e-4)}, /* and changes its pages */
    {"bloom", SPEC_FIELD(.capacity = KEYS, .fp_rate = 1e-3, .kind = TAMIS_KIND_BLOOM)},
    {"counting", SPEC_FIELD(.capacity = KEYS, .fp_rate = 1e-3, .kind = TAMIS_KIND_COUNTING)},
    {"growing", SPEC_FIELD(.capacity = 1000, .fp_rate = 1e-3)},
};

/* All points that adders and these writers pass. */
static const unsigned points[] = {
    TAMIS__POINT_ADD_LOADED,     TAMIS__POINT_ADD_ORED,      TAMIS__POINT_COUNT,
    TAMIS__POINT_CELL_RAISED,    TAMIS__POINT_SLOT_SEEN,     TAMIS__POINT_SLOT_TAKEN,
    TAMIS__POINT_LEVEL_GROWN,    TAMIS__POINT_STAGED,        TAMIS__POINT_RENAMED,
    TAMIS__POINT_COMMITTED,      TAMIS__POINT_PUBLISH_EPOCH, TAMIS__POINT_PUBLISH_TOLD,
    TAMIS__POINT_DROP_EPOCH,     TAMIS__POINT_DROP_UNLINK,   TAMIS__POINT_RENAME_LABEL,
    TAMIS__POINT_STORE_MADE,     TAMIS__POINT_GROW_STAGED,   TAMIS__POINT_GROW_LEFT,
    TAMIS__POINT_ADD_WON,        TAMIS__POINT_BUILD_SORTED,  TAMIS__POINT_BUILD_MADE,
    TAMIS__POINT_BUILD_VERIFIED,
};
#define POINTS (sizeof points / sizeof points[0])

struct race {
    uint64_t head, limit;         /* keys below head were tried by somebody; it stays below limit */
    uint8_t *told_new, *answered; /* per key: how often, whether */
};

struct arena {
    struct killer killer;
    struct race races[FILTERS];
    struct storm_writer writers[WRITERS];
};

/* ---- Those that are killed ------------------------------------------------------------------- */

static uint64_t arm(struct arena *arena, unsigned index)
{
    uint64_t random = killer_arm(&arena->killer, index, index < ADDERS ? 3000 : 300);
    if (random_below(&random, 2) == 0)
        killer_arm_at(points[random_below(&random, POINTS)], random_below(&random, 2));
    return random;
}

static void note(struct race *race, uint64_t key, int answer)
{
    if (answer == 1) (void)__atomic_add_fetch(&race->told_new[key], 1, __ATOMIC_RELAXED);
    __atomic_store_n(&race->answered[key], 1, __ATOMIC_RELAXED);
}

static void add_singly(tamis_filter *filter, struct race *race, uint64_t from, uint64_t count)
{
    for (uint64_t key = from; key < from + count; key++) {
        const int rc = tamis_filter_add(filter, &key, sizeof key);
        SPAWN_CHECK(rc >= 0);
        note(race, key, rc);
    }
}

static void add_batch(tamis_filter *filter, struct race *race, uint64_t from, uint64_t count)
{
    uint64_t numbers[CHUNK_MAX];
    struct tamis_key keys[CHUNK_MAX] = {0};
    uint8_t answers[CHUNK_MAX];
    numbers_from(from, count, numbers, keys);
    SPAWN_CHECK(tamis_filter_add_batch(filter, keys, count, answers) >= 0);
    for (uint64_t i = 0; i < count; i++)
        note(race, from + i, answers[i]);
}

static void add_some(tamis_filter *filter, struct race *race, uint64_t *random)
{
    uint64_t head = __atomic_load_n(&race->head, __ATOMIC_RELAXED);
    const uint64_t count = 1 + random_below(random, CHUNK_MAX);
    const bool is_new = head < __atomic_load_n(&race->limit, __ATOMIC_RELAXED);
    const uint64_t from = is_new ? head : random_below(random, head - CHUNK_MAX);
    if (random_below(random, 2) == 0)
        add_singly(filter, race, from, count);
    else
        add_batch(filter, race, from, count);
    if (!is_new) return;
    const uint64_t end = head + count;
    while (head < end && !__atomic_compare_exchange_n(&race->head, &head, end, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void adder(struct arena *arena, tamis_store *store, uint64_t random)
{
    tamis_filter *open[FILTERS];
    for (unsigned f = 0; f < FILTERS; f++)
        SPAWN_CHECK(tamis_filter_open(store, filters[f].name, 0, &open[f]) == 0);
    for (;;) {
        const uint64_t f = random_below(&random, FILTERS);
        add_some(open[f], &arena->races[f], &random);
        /* So often that its counters go on in the table, and that grows. */
        SPAWN_CHECK(tamis_filter_add(open[2], "often", 5) >= 0);
    }
}

static void victim(void *context, unsigned index)
{
    struct arena *arena = context;
    tamis_store *store;
    const uint64_t random = arm(arena, index);
    SPAWN_CHECK(tamis_store_open(scratch_directory(), TAMIS_OPEN_CREATE, &store) == 0);
    if (index < ADDERS)
        adder(arena, store, random);
    else
        storm_write(store, index, &arena->writers[index - ADDERS], random);
}

/* ---- The parent ------------------------------------------------------------------------------ */

struct witness {
    tamis_store *store;
    tamis_filter *filter;
    uint64_t keys;
    unsigned named; /* 0 or 1 */
};

/* Another process's write of the catalog, and its add.  Its time, ns on the monotonic clock. */
static int64_t write_and_add(struct witness *witness)
{
    static const char *const names[] = {"witness", "witness-again"};
    const unsigned now = witness->named;
    assert_int_equal(tamis_filter_rename(witness->store, names[now], names[!now]), 0);
    witness->named = !now;
    assert_true(tamis_filter_add(witness->filter, &witness->keys, sizeof witness->keys) >= 0);
    witness->keys++;
    return killer_clock();
}

/* Wait for a death, and bring one about where none comes by itself.  Returns who it was. */
static unsigned await_death(struct killer *killer, uint64_t *random)
{
    sigset_t child;
    int index;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    while ((index = killer_reap(killer)) < 0) {
        const struct timespec pause = {.tv_nsec = (long)random_below(random, PAUSE_NS_MAX)};
        if (sigtimedwait(&child, NULL, &pause) == SIGCHLD) continue;
        const unsigned next = (unsigned)random_below(random, killer->count);
        if (killer->died_at[next] == 0) killer->died_at[next] = killer_clock();
        killer_kill(killer, next);
    }
    return (unsigned)index;
}

static int compare_delays(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Of the sorted delays, the one that so many per cent are not above. */
static double milliseconds(const int64_t *delays, unsigned percent)
{
    const size_t rank = (size_t)kills * percent / 100;
    return (double)delays[rank > 0 ? rank - 1 : 0] / 1e6;
}

/* Of a filter of some MiB, under its adders: the next sort each time. */
static void change_pages(struct witness *witness, uint64_t turn)
{
    if (turn % 8 == 0)
        assert_int_equal(
            tamis_filter_set_pages(witness->store, filters[0].name, (uint32_t)(turn / 8 % 3)), 0);
}

static void run_storm(struct arena *arena, struct witness *witness)
{
    static int64_t delays[KILLS_MAX];
    struct killer *killer = &arena->killer;
    uint64_t random = random_seed();
    sigset_t child;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &child, NULL);
    killer_begin(killer, random, ADDERS + WRITERS, victim, arena);
    while (killer->kills < kills) {
        /* The keys last to the end. */
        for (unsigned f = 0; f < FILTERS; f++)
            arena->races[f].limit += (KEYS - FIRST_KEYS - CHUNK_MAX) / kills;
        const unsigned dead = await_death(killer, &random);
        delays[killer->kills - 1] = write_and_add(witness) - killer->died_at[dead];
        change_pages(witness, killer->kills);
        killer_start(killer, dead);
    }
    killer_end(killer);
    qsort(delays, kills, sizeof delays[0], compare_delays);
    printf("kill-storm: %" PRIu64 " kills; the next writer's delay: p50 %.2f ms, p99 %.2f ms, "
           "max %.2f ms\n",
           killer->kills, milliseconds(delays, 50), milliseconds(delays, 99),
           milliseconds(delays, 100));
}

static void check_points(const struct killer *killer)
{
    uint64_t reached = 0, deaths = 0;
    for (size_t i = 0; i < POINTS; i++) {
        reached += killer->deaths_at[points[i]] > 0;
        deaths += killer->deaths_at[points[i]];
        if (killer->deaths_at[points[i]] == 0)
            printf("nobody died at point %u\n", (unsigned)points[i]);
    }
    printf("%" PRIu64 " died by their own hand, at %" PRIu64 " of the %zu named points on their "
           "way (%u in all)\n",
           deaths, reached, POINTS, TAMIS__POINT_COUNT_OF);
    if (pages_are_huge()) return; /* too few kills to pass all of them */
    assert_true(reached + (kills == KILLS_MAX ? 2 : 6) >= POINTS); /* some are seldom passed */
}

static void check_keys(struct arena *arena, tamis_store *store)
{
    uint64_t answered = 0, lost = 0, twice = 0;
    for (unsigned f = 0; f < FILTERS; f++) {
        const struct race *race = &arena->races[f];
        uint64_t told = 0;
        tamis_filter *filter = fixture_opened(store, filters[f].name, 0);
        for (uint64_t key = 0; key < KEYS; key++) {
            told += race->answered[key];
            twice += race->told_new[key] > 1;
            if (race->answered[key]) lost += tamis_filter_contains(filter, &key, sizeof key) != 1;
        }
        assert_int_equal(tamis_filter_close(filter), 0);
        assert_true(told > kills / 10);
        answered += told;
    }
    printf("%" PRIu64 " adds told: lost %" PRIu64 ", told NEW twice %" PRIu64 "\n", answered, lost,
           twice);
    assert_int_equal(lost, 0);
    assert_int_equal(twice, 0);
}

static void check_catalog(struct arena *arena, struct witness *witness)
{
    static const char *const verbs[] = {"create",  "drop",   "rename", "sync",
                                        "publish", "rotate", "grow",   "except"};
    uint64_t done[8] = {0};
    for (unsigned w = 0; w < WRITERS; w++) {
        storm_check(witness->store, ADDERS + w, &arena->writers[w]); /* ends the program */
        for (unsigned i = 0; i < 8; i++)
            done[i] += arena->writers[w].operations[i];
    }
    assert_int_equal(keys_found(witness->filter, 0, witness->keys), witness->keys);
    printf("catalog errors 0; done:");
    for (unsigned i = 0; i < 8; i++)
        printf(" %s %" PRIu64, verbs[i], done[i]);
    printf("\n");
    for (unsigned i = 0; i < 8 && !pages_are_huge(); i++)
        assert_true(done[i] > 0);
}

CASE(kill_storm_loses_nothing)
{
    const struct tamis_filter_spec *small = SPEC(.capacity = 2 * (uint64_t)KILLS_MAX);
    struct arena *arena = spawn_shared(sizeof *arena);
    struct witness witness = {.named = 0};
    witness.store = fixture_open(scratch_directory(), TAMIS_OPEN_CREATE);
    witness.filter = fixture_create(witness.store, "witness", small);
    for (unsigned f = 0; f < FILTERS; f++) {
        struct tamis_filter_spec spec = filters[f].spec;
        if (pages_are_huge()) spec.pages = TAMIS_PAGES_HUGE;
        assert_int_equal(tamis_filter_create(witness.store, filters[f].name, &spec, NULL), 0);
        arena->races[f].limit = FIRST_KEYS;
        arena->races[f].told_new = spawn_shared(KEYS);
        arena->races[f].answered = spawn_shared(KEYS);
    }
    kills = pages_are_huge() ? HUGE_KILLS : rounds(KILLS, KILLS_MAX);
    run_storm(arena, &witness);
    check_points(&arena->killer);
    check_keys(arena, witness.store);
    check_catalog(arena, &witness);
    /* The next maker removes what the dead had staged, and the writer what they had not unlinked.
     * */
    assert_int_equal(tamis_filter_create(witness.store, "last", small, NULL), 0);
    builds_check_no_leak(witness.store, scratch_directory());
    assert_int_equal(tamis_filter_close(witness.filter), 0);
    tamis_store_close(witness.store);
}

CASES_PREPARE
{
    scratch_in_memory();
}
