/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_test.c: a store that is copied file by file while four processes change it.
 *
 * Such a copy is of no one moment: its catalog may be older than its segments, or newer, or torn.
 * Whatever is asked of it is answered, or refused with a sentence; 'tamis repair' on it, and where
 * that tells of something it must not mend, --rebuild, makes a store of it that has every key whose
 * add had returned before the copy began, and no generation older than the one in force then;
 * unless more builds were published meanwhile than generations are kept: then the files that the
 * copier had listed are gone before it comes to them.
 *
 * Seen to fail (20 rounds) with rescue.c taking the first list of a filter for the one in force.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "spawn.h"
#include "tamis.h"

#define WRITERS 4u
#define ROUNDS 20
#define FIXED 200u /* keys that every generation has */

struct live {
    char path[512];
    unsigned stop;
    uint64_t grown, counted, published; /* so many are in, for certain */
    uint64_t begun;                     /* builds */
};

static void add_keys(tamis_filter *filter, uint64_t first, uint64_t count)
{
    for (uint64_t key = first; key < first + count; key++)
        SPAWN_CHECK(tamis_filter_add(filter, &key, sizeof key) >= 0);
}

static void grow(struct live *live, tamis_store *store)
{
    AUTO_FILTER *filter;
    SPAWN_CHECK(tamis_filter_open(store, "grows", 0, &filter) == 0);
    for (uint64_t n = 0; !__atomic_load_n(&live->stop, __ATOMIC_ACQUIRE); n++) {
        add_keys(filter, n * 20, 20);
        __atomic_store_n(&live->grown, (n + 1) * 20, __ATOMIC_RELEASE);
        if (n % 10 == 0) SPAWN_CHECK(tamis_filter_sync(filter) == 0);
        usleep(1000);
    }
}

static void count(struct live *live, tamis_store *store)
{
    AUTO_FILTER *filter;
    SPAWN_CHECK(tamis_filter_open(store, "counts", 0, &filter) == 0);
    for (uint64_t n = 0; !__atomic_load_n(&live->stop, __ATOMIC_ACQUIRE); n++) {
        for (int i = 0; i < 20; i++) /* outgrows its bits */
            add_keys(filter, n, 1);
        __atomic_store_n(&live->counted, n + 1, __ATOMIC_RELEASE);
        usleep(1000);
    }
}

static int build(tamis_store *store, uint64_t n)
{
    tamis_build *made;
    int rc = tamis_build_begin(store, "built", BUILD_SPEC(.filter = SPEC(.fp_rate = 0.001)), &made);
    if (rc < 0) return rc;
    for (uint64_t i = 0; rc == 0 && i < FIXED + 50; i++) {
        const uint64_t number = i < FIXED ? i : n << 32 | i;
        const struct tamis_key key = {&number, sizeof number};
        rc = tamis_build_add(made, &key, 1);
    }
    if (rc == 0) rc = tamis_build_publish(made, NULL);
    tamis_build_close(made);
    return rc;
}

static void publish(struct live *live, tamis_store *store)
{
    for (uint64_t n = 1; !__atomic_load_n(&live->stop, __ATOMIC_ACQUIRE); n++) {
        __atomic_store_n(&live->begun, n, __ATOMIC_SEQ_CST);
        SPAWN_CHECK(build(store, n) == 1);
        if (n % 5 == 0) SPAWN_CHECK(tamis_filter_rollback(store, "built", 0) == 0);
        __atomic_store_n(&live->published, n, __ATOMIC_RELEASE);
        usleep(30000);
    }
}

static void churn(struct live *live, tamis_store *store)
{
    for (uint64_t n = 0; !__atomic_load_n(&live->stop, __ATOMIC_ACQUIRE); n++) {
        char name[32], other[32];
        (void)snprintf(name, sizeof name, "passing-%u", (unsigned)(n % 7));
        (void)snprintf(other, sizeof other, "other-%u", (unsigned)(n % 5));
        (void)!tamis_filter_create(store, name, SPEC(.capacity = 100), NULL);
        (void)!tamis_filter_rename(store, name, other);
        (void)!tamis_filter_drop(store, n % 3 ? name : other);
        usleep(2000);
    }
}

static void write_on(void *context, unsigned index)
{
    static void (*const writers[WRITERS])(struct live *, tamis_store *) = {grow, count, publish,
                                                                           churn};
    struct live *live = context;
    AUTO_STORE *store;
    SPAWN_CHECK(tamis_store_open(live->path, 0, &store) == 0);
    writers[index](live, store);
}

/* ---- The copy -------------------------------------------------------------------------------- */

static int ignore_problem(void *context, const struct tamis_problem *problem)
{
    (void)context;
    assert_true(*problem->reason != '\0' && *problem->file != '\0');
    return 0;
}

static int look_at(void *context, const struct tamis_filter_stat *stat)
{
    tamis_store *store = context;
    tamis_filter *filter;
    if (tamis_filter_open(store, stat->name, TAMIS_OPEN_READ_ONLY, &filter) < 0) {
        assert_true(*tamis_last_error() != '\0');
        return 0;
    }
    for (uint64_t key = 0; key < 100; key++)
        assert_true(tamis_filter_contains(filter, &key, sizeof key) >= 0);
    struct tamis_segment_stat segment = {.size = sizeof segment};
    for (uint32_t i = 0; i < stat->segment_count; i++)
        assert_int_equal(tamis_filter_fill(filter, i, &segment), 0);
    assert_int_equal(tamis_filter_close(filter), 0);
    return 0;
}

/* As the commands do that only look.  Returns the number of problems; below 0: it cannot be read.
 * */
static int64_t inspect(const char *copy)
{
    tamis_store *store;
    int64_t rc = tamis_store_open(copy, TAMIS_OPEN_READ_ONLY, &store);
    if (rc < 0) {
        if (strstr(tamis_last_error(), "'tamis repair'") == NULL)
            fail_msg("%s", tamis_last_error());
        return rc;
    }
    rc = tamis_store_list(store, NULL, look_at, store);
    if (rc == 0) rc = tamis_store_verify(store, NULL, ignore_problem, NULL);
    if (rc < 0 && strstr(tamis_last_error(), "'tamis repair'") == NULL)
        fail_msg("%s", tamis_last_error());
    tamis_store_close(store);
    return rc;
}

static int count_failed(void *context, const struct tamis_repair_step *step)
{
    if (step->error != 0) ++*(int *)context;
    return 0;
}

static void assert_has(tamis_store *store, const char *name, uint64_t keys)
{
    AUTO_FILTER *filter;
    if (tamis_filter_open(store, name, 0, &filter) != 0)
        fail_msg("%s: %s", name, tamis_last_error());
    for (uint64_t key = 0; key < keys; key++)
        if (tamis_filter_contains(filter, &key, sizeof key) != 1)
            fail_msg("key %" PRIu64 " of %" PRIu64 " is not in %s", key, keys, name);
}

/* A key that only generation n has: one not older than that in force when the copy began must
 * answer. */
static void assert_generation(tamis_store *store, uint64_t least)
{
    bool found = false;
    AUTO_FILTER *filter = fixture_opened(store, "built", 0);
    for (uint64_t n = least; !found && n < least + 20; n++) {
        bool all = true;
        for (uint64_t i = FIXED; all && i < FIXED + 50; i++) {
            const uint64_t key = n << 32 | i;
            all = tamis_filter_contains(filter, &key, sizeof key) == 1;
        }
        found = all;
    }
    if (!found) fail_msg("what is in force is older than generation %" PRIu64, least);
}

struct tally {
    int unreadable, problems, rebuilt, sound, generations;
};

/* `begun` builds when the copy ended: of more than one, both generations that were there may have
 * gone. */
static void check_copy(const char *copy, const struct live *before, uint64_t begun,
                       struct tally *tally)
{
    int failed = 0;
    const int64_t problems = inspect(copy);
    tally->unreadable += problems < 0;
    tally->problems += problems > 0;
    tally->sound += problems == 0;
    if (tamis_store_repair(copy, 0, count_failed, &failed) < 0) fail_msg("%s", tamis_last_error());
    if (failed > 0) {
        tally->rebuilt++;
        assert_true(tamis_store_repair(copy, TAMIS_REPAIR_REBUILD, NULL, NULL) >= 0);
    }
    AUTO_STORE *store = fixture_open(copy, 0);
    assert_has(store, "grows", before->grown);
    assert_has(store, "counts", before->counted);
    if (before->published > 0 && begun <= before->published + 1) {
        tally->generations++;
        assert_has(store, "built", FIXED);
        assert_generation(store, before->published - (before->published % 5 == 0));
    }
}

static bool run(const char *command)
{
    return system(command) == 0;
}

CASE(copies_of_a_store_in_use_are_whole_after_repair)
{
    struct live *live = spawn_shared(sizeof *live);
    struct tally tally = {0, 0, 0, 0, 0};
    const struct tamis_filter_spec grows = {.size = sizeof grows, .capacity = 100},
                                   counts = {.size = sizeof counts,
                                             .capacity = 100000,
                                             .kind = TAMIS_KIND_COUNTING};
    AUTO_STORE *store;
    pid_t writers[WRITERS];
    AUTO_FREE char *path = scratch_path("store");
    const bool has_rsync = run("command -v rsync >/dev/null");
    (void)snprintf(live->path, sizeof live->path, "%s", path);
    store = fixture_open(path, TAMIS_OPEN_CREATE);
    assert_int_equal(tamis_filter_create(store, "grows", &grows, NULL), 0);
    assert_int_equal(tamis_filter_create(store, "counts", &counts, NULL), 0);
    for (unsigned i = 0; i < WRITERS; i++)
        writers[i] = spawn_one(write_on, live, i);
    for (int round = 0; round < ROUNDS * (has_rsync ? 2 : 1); round++) {
        char command[2048], *copy = scratch_path("copy");
        usleep(50000);
        const struct live before = *live;
        const bool rsync = has_rsync && round % 2 != 0;
        (void)snprintf(command, sizeof command, "%s '%s%s' '%s' 2>/dev/null",
                       rsync ? "rsync -a" : "cp -r", path, rsync ? "/" : "", copy);
        (void)!run(command); /* files that went meanwhile are an error to them */
        check_copy(copy, &before, __atomic_load_n(&live->begun, __ATOMIC_SEQ_CST), &tally);
        scratch_remove(copy);
        free(copy);
    }
    __atomic_store_n(&live->stop, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
        assert_int_equal(status, 0);
    }
    printf("copies: %d sound, %d with problems, %d unreadable; %d made anew from the segments; "
           "%" PRIu64 " generations published\n",
           tally.sound, tally.problems, tally.unreadable, tally.rebuilt, live->published);
    assert_true(tally.generations > 0);
}
