/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vm_guest.c: what runs in the machine of vm.sh.
 *
 *     vm_guest DIRECTORY judge DURABLE PLAIN SYNCED EDITION     what of the boot before is there
 *     vm_guest DIRECTORY work DURABLE SYNCED EDITION            from these numbers on, until the
 *     power goes
 *
 * It has three filters: keys 0, 1, 2 .. of a durable one and of one that is not, and a list that is
 * built again and again.  A line is written to standard output, the serial console, when a call has
 * returned, in one write.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tamis.h"

#define BATCH 64u
#define EDITION_KEYS 500u

static _Noreturn void fail(const char *what)
{
    printf("FAILED %s: %s\n", what, tamis_last_error());
    (void)fflush(stdout);
    exit(1);
}

static size_t key_of(char sort, uint64_t number, char out[32])
{
    return (size_t)snprintf(out, 32, "%c %" PRIu64, sort, number);
}

static void say(const char *what, uint64_t number)
{
    char line[64];
    const int bytes = snprintf(line, sizeof line, "%s %" PRIu64 "\n", what, number);
    if (write(STDOUT_FILENO, line, (size_t)bytes) != bytes) exit(1);
}

/* ---- Work ------------------------------------------------------------------------------------ */

/* Some in one call, one by one now and then; returns the number that comes next. */
static uint64_t add_some(tamis_filter *filter, char sort, uint64_t from, const char *word)
{
    char texts[BATCH][32];
    struct tamis_key keys[BATCH];
    const size_t count = from % 5 == 0 ? 1 : BATCH;
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tamis_key){texts[i], key_of(sort, from + i, texts[i])};
    if (tamis_filter_add_batch(filter, keys, count, NULL) < 0) fail(word);
    say(word, from + count);
    return from + count;
}

static void publish(tamis_store *store, uint64_t edition)
{
    const struct tamis_build_spec spec = {
        .size = sizeof spec,
        .filter = &(struct tamis_filter_spec){.size = sizeof(struct tamis_filter_spec),
                                              .fp_rate = 0x1p-32},
        .threads = 1};
    tamis_build *build;
    char text[32];
    if (tamis_build_begin(store, "list", &spec, &build) < 0) fail("build");
    for (unsigned i = 0; i < EDITION_KEYS; i++) {
        const struct tamis_key key = {text, key_of('l', edition * EDITION_KEYS + i, text)};
        if (tamis_build_add(build, &key, 1) < 0) fail("build");
    }
    if (tamis_build_publish(build, NULL) < 0) fail("publish");
    tamis_build_close(build);
    say("published", edition);
}

static int work(tamis_store *store, char **argv)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 20000, .fp_rate = 1e-9};
    struct tamis_filter_spec durable = spec;
    tamis_filter *safe, *plain;
    uint64_t d = strtoull(argv[0], NULL, 10), p = strtoull(argv[1], NULL, 10),
             edition = strtoull(argv[2], NULL, 10);
    durable.flags = TAMIS_FILTER_DURABLE;
    if (tamis_filter_open_or_create(store, "durable", &durable, &safe) < 0) fail("open");
    if (tamis_filter_open_or_create(store, "plain", &spec, &plain) < 0) fail("open");
    say("working", 0);
    for (unsigned i = 1;; i++) {
        d = add_some(safe, 'd', d, "durable");
        p = add_some(plain, 'p', p, "plain");
        if (i % 200 == 0) {
            if (tamis_filter_sync(plain) < 0) fail("sync");
            say("synced", p);
        }
        if (i % 97 == 0) publish(store, ++edition);
    }
}

/* ---- Judgement ------------------------------------------------------------------------------- */

static uint64_t count_lost(tamis_filter *filter, char sort, uint64_t from, uint64_t to)
{
    char text[32];
    uint64_t lost = 0;
    for (uint64_t i = from; i < to; i++) {
        const int rc = tamis_filter_contains(filter, text, key_of(sort, i, text));
        if (rc < 0) fail("contains");
        lost += rc == 0;
    }
    return lost;
}

static int print_problem(void *context, const struct tamis_problem *problem)
{
    (void)context;
    printf("problem %s: %s\n", problem->file, problem->reason);
    return 0;
}

/* The list that answers: `edition`, or the one after it, whose publication had not been told of. */
static uint64_t lost_of_list(tamis_store *store, uint64_t edition)
{
    tamis_filter *list;
    uint64_t lost = edition > 0 ? EDITION_KEYS : 0;
    if (tamis_filter_open(store, "list", 0, &list) < 0) return lost;
    for (uint64_t e = edition > 0 ? edition : 1; e <= edition + 1; e++) {
        const uint64_t of_e = count_lost(list, 'l', e * EDITION_KEYS, (e + 1) * EDITION_KEYS);
        if (of_e < lost) lost = of_e;
    }
    tamis_filter_release(list);
    return lost;
}

static int judge(tamis_store *store, char **argv)
{
    uint64_t numbers[4], lost_durable = 0, lost_synced = 0, lost_after = 0;
    struct tamis_filter_stat stat = {.size = sizeof stat, .state = 0};
    tamis_filter *filter;
    for (size_t i = 0; i < 4; i++)
        numbers[i] = strtoull(argv[i], NULL, 10);
    if (tamis_filter_open(store, "durable", 0, &filter) == 0) {
        lost_durable = count_lost(filter, 'd', 0, numbers[0]);
        tamis_filter_release(filter);
    } else if (numbers[0] > 0) {
        fail("durable");
    }
    if (tamis_filter_open(store, "plain", 0, &filter) == 0) {
        lost_synced = count_lost(filter, 'p', 0, numbers[2]);
        lost_after = count_lost(filter, 'p', numbers[2], numbers[1]);
        if (tamis_filter_stat(filter, &stat) < 0) fail("stat");
        tamis_filter_release(filter);
    } else if (numbers[1] > 0) {
        fail("plain");
    }
    const int64_t problems = tamis_store_verify(store, NULL, print_problem, NULL);
    printf("judged: lost durable %" PRIu64 ", synced %" PRIu64 ", of the list %" PRIu64
           ", after the sync %" PRIu64 "; unclean %d; problems %" PRId64 "\n",
           lost_durable, lost_synced, lost_of_list(store, numbers[3]), lost_after,
           (stat.state & TAMIS_STATE_UNCLEAN) != 0, problems);
    return 0;
}

int main(int argc, char **argv)
{
    tamis_store *store;
    if (argc != 6 && argc != 7) return 2;
    if (tamis_store_open(argv[1], TAMIS_OPEN_CREATE, &store) < 0) fail("open the store");
    const int rc = strcmp(argv[2], "judge") == 0 ? judge(store, argv + 3) : work(store, argv + 3);
    tamis_store_close(store);
    return rc;
}
