/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * publish_import_test.c: lists are imported and published, one after the other, while other
 * processes ask all the time.  (Kills: publish_kill_test.)
 *
 * Two lists, of several kinds and of several segments, have known keys of their own and some in
 * common.  Each batch that a reader asks must be answered wholly by the one or wholly by the other,
 * with one exception of one of them; and every key that is in both is always there.
 *
 * Seen to fail: with tamis__raise_epochs() and `next` left out of txn/commit.c (a handle from
 * before answers from the list before).
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>

#include "builds.h"
#include "fixture.h"
#include "spawn.h"
#include "streams.h"

#define READERS 4u
#define PUBLICATIONS 60u
#define COMMON 500u
#define OWN 300u /* keys of one list alone */
#define LISTS 4u /* streams: two of each list */

struct publishing {
    tamis_store *store;
    uint64_t over;
    uint64_t begun, done; /* publications */
    uint64_t asked[READERS], of_list[READERS][2];
    struct stream streams[LISTS];
};

/* Key i of the batch: those in common, then those of list 0, then those of list 1. */
static uint64_t key_of(uint64_t i)
{
    return ((uint64_t)1 << 40) + i;
}
#define ALL (COMMON + 2 * OWN)

static void put_keys(uint64_t *keys, unsigned list)
{
    for (uint64_t i = 0; i < COMMON + OWN; i++)
        keys[i] = key_of(i < COMMON ? i : i + (uint64_t)list * OWN);
}

/* The stream of a list that is built elsewhere.  The last key of list 1 is an exception there. */
static struct stream make_stream(tamis_store *store, unsigned list, uint32_t kind)
{
    uint64_t keys[COMMON + OWN];
    char name[32];
    struct stream stream = stream_of(NULL, 0);
    (void)snprintf(name, sizeof name, "%u-%u", list, kind);
    put_keys(keys, list);
    assert_int_equal(
        builds_publish(store, name,
                       BUILD_SPEC(.filter = SPEC(.kind = kind, .fp_rate = 1e-9), .threads = 1),
                       keys, COMMON + OWN, NULL),
        1);
    const struct tamis_key last = {&keys[COMMON + OWN - 1], sizeof keys[0]};
    if (list == 1) assert_int_equal(tamis_filter_except(store, name, &last, 1), 1);
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_OPEN_READ_ONLY);
    const struct tamis_sink sink = stream_sink(&stream);
    assert_done(tamis_filter_export(filter, "tamis", TAMIS_EXPORT_WITH_DIGEST, &sink));
    return stream;
}

/* Which list has answered a batch?  Any other answer ends the process. */
static unsigned list_of(const uint8_t *answers)
{
    const unsigned list = answers[COMMON] ? 0 : 1;
    for (size_t i = 0; i < ALL; i++) {
        const bool is_there = i < COMMON || (i < COMMON + OWN) == (list == 0);
        const bool excepted = list == 1 && i == ALL - 1;
        SPAWN_CHECK(answers[i] == (is_there && !excepted));
    }
    return list;
}

static void reader(void *context, unsigned index)
{
    struct publishing *p = context;
    uint64_t numbers[ALL];
    struct tamis_key keys[ALL];
    uint8_t answers[ALL];
    AUTO_FILTER *filter;
    for (size_t i = 0; i < ALL; i++) {
        numbers[i] = key_of(i);
        keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
    }
    SPAWN_CHECK(
        tamis_filter_open(p->store, "list", index % 2 ? 0 : TAMIS_OPEN_READ_ONLY, &filter) == 0);
    while (__atomic_load_n(&p->over, __ATOMIC_ACQUIRE) == 0) {
        const uint64_t done = __atomic_load_n(&p->done, __ATOMIC_ACQUIRE);
        SPAWN_CHECK(tamis_filter_contains_batch(filter, keys, ALL, answers) >= 0);
        const unsigned list = list_of(answers);
        /* What had returned before the batch began is what answers, if nothing has begun since. */
        if (__atomic_load_n(&p->begun, __ATOMIC_ACQUIRE) == done) SPAWN_CHECK(list == done % 2);
        p->of_list[index][list]++;
        (void)__atomic_add_fetch(&p->asked[index], 1, __ATOMIC_RELEASE);
    }
}

static void publish(struct publishing *p, uint64_t number)
{
    struct stream *stream = &p->streams[number % LISTS];
    const struct tamis_import_spec import = {.size = sizeof import, .seal_capacity = 100};
    const struct tamis_publish_spec spec = {.size = sizeof spec,
                                            .import = number % LISTS > 1 ? &import : NULL,
                                            .flags = TAMIS_PUBLISH_KEEP,
                                            .keep = 2};
    const struct tamis_source source = stream_source(stream);
    __atomic_store_n(&p->begun, number, __ATOMIC_RELEASE);
    assert_int_equal(tamis_filter_publish(p->store, "list", "tamis", &spec, &source, NULL), 1);
    __atomic_store_n(&p->done, number, __ATOMIC_RELEASE);
}

/* Each reader asks a batch after each publication. */
static void wait_for_readers(const struct publishing *p)
{
    uint64_t before[READERS];
    for (unsigned i = 0; i < READERS; i++)
        before[i] = __atomic_load_n(&p->asked[i], __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < READERS; i++)
        for (int64_t since = 0; __atomic_load_n(&p->asked[i], __ATOMIC_ACQUIRE) < before[i] + 2;)
            spawn_idle(&since);
}

CASE(every_batch_is_answered_by_one_list_while_lists_are_imported)
{
    struct publishing *p = spawn_shared(sizeof *p);
    AUTO_FREE char *path = scratch_path("import_publish");
    pid_t pids[READERS];
    int status;
    p->store = fixture_open(path, TAMIS_OPEN_CREATE);
    for (unsigned i = 0; i < LISTS; i++)
        p->streams[i] = make_stream(p->store, i % 2, i < 2 ? TAMIS_KIND_FUSE : TAMIS_KIND_BLOCKED);
    publish(p, 0);
    for (unsigned i = 0; i < READERS; i++)
        pids[i] = spawn_one(reader, p, i);
    for (uint64_t number = 1; number <= PUBLICATIONS; number++) {
        publish(p, number);
        wait_for_readers(p);
    }
    __atomic_store_n(&p->over, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < READERS; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
        printf("reader %u: %" PRIu64 " batches of list 0, %" PRIu64 " of list 1\n", i,
               p->of_list[i][0], p->of_list[i][1]);
        assert_true(p->of_list[i][0] > 0 && p->of_list[i][1] > 0);
    }
    builds_check_no_leak(p->store, path);
    for (unsigned i = 0; i < LISTS; i++)
        stream_free(&p->streams[i]);
    tamis_store_close(p->store);
}

CASES_PREPARE
{
    (void)alarm(200); /* who waits for a lock that is held waits for ever */
}
