/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * corrupt_test.c: 600 damaged stores (1,200 in the long form), each used as a program would use it.
 *
 * A store with a filter of every sort (riches.c) has one of its files damaged: bits flipped, bytes
 * replaced, pages or sectors zeroed, exchanged or written twice, the file cut short or lengthened.
 * A child looks at all of it, verifies it, adds to every filter and makes another.  Then one of
 * these:
 *
 *     refused   an error of opening, listing or asking
 *     told      no error, and tamis_store_verify() tells of a problem
 *     true      neither, and everything that is asked is answered as by the sound store
 *     silent    neither, and something is answered otherwise
 *     crashed   a signal, or 60 seconds
 *
 * Where a checksum covers what was damaged nothing may be silent.  It covers none of the bits that
 * are added to, nor the live words of a header.  (Catalogs: pages_mutation_test; streams:
 * exchange_test and its neighbours, and the corpora of tests/fuzz/.)
 *
 * Seen to fail:
 * With the checksum of static data not compared, and that of headers: 69 of 300 of the static data
 * silent (a header is held against the catalog besides).
 */
#include "fixture.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "damages.h"
#include "riches.h"
#include "rounds.h"
#include "spawn.h"

#define SHARE (FIXTURE_SANITIZED ? 10u : rounds(2, 1))
#define ALARM_SECONDS 60u
#define SEGMENTS_MAX 64u

enum outcome { REFUSED, TOLD, TRUE, SILENT, CRASHED, OUTCOMES };

struct count {
    uint64_t of[OUTCOMES];
};

/* ---- The store ------------------------------------------------------------------------------- */

enum part { HEADER, LIVE_WORDS, STATIC_DATA, MUTABLE_DATA, LENGTH, PARTS };
static const struct {
    const char *name;
    bool covered;
    unsigned mutations;
} parts[PARTS] = {
    [HEADER] = {"header, constant part and names", true, 500},
    [LIVE_WORDS] = {"header, live words and counts", false, 100},
    [STATIC_DATA] = {"static data and exceptions", true, 300},
    [MUTABLE_DATA] = {"bits and counters", false, 150},
    [LENGTH] = {"length of a segment", true, 150},
};

struct truth {
    char *path, *portrait;
    uint64_t segments[SEGMENTS_MAX]; /* numbers of files */
    size_t segment_count;
};

struct scene {
    const struct truth *truth;
    const char *path;
};

static void learn(struct truth *truth)
{
    riches_make(&truth->path);
    truth->portrait = riches_portrait(truth->path);
    for (uint64_t n = 1; n < 1000 && truth->segment_count < SEGMENTS_MAX; n++)
        if (access(fixture_segment_path(truth->path, n), F_OK) == 0)
            truth->segments[truth->segment_count++] = n;
    assert_true(truth->segment_count > 10);
}

static int add_to(void *context, const struct tamis_filter_stat *stat)
{
    tamis_filter *filter;
    const uint64_t key = UINT64_C(1) << 40;
    if (tamis_filter_open(context, stat->name, 0, &filter) < 0) return 0;
    if (tamis_filter_add(filter, &key, sizeof key) >= 0 && stat->exceptions == 0)
        SPAWN_CHECK(tamis_filter_contains(filter, &key, sizeof key) == 1);
    close_anyhow(filter);
    return 0;
}

/* All that a program would do; errors are as good as success. */
static void use(const char *path)
{
    tamis_store *store;
    if (tamis_store_open(path, 0, &store) < 0) return;
    (void)!tamis_store_list(store, NULL, add_to, store);
    (void)!tamis_filter_create(store, "another", SPEC(.capacity = 100), NULL);
    tamis_store_close(store);
}

static enum outcome judge(const char *path, const char *expected)
{
    tamis_store *store;
    char *portrait;
    if (riches_try_portrait(path, &portrait) < 0) return REFUSED;
    const bool is_true = strcmp(portrait, expected) == 0;
    free(portrait);
    if (tamis_store_open(path, TAMIS_OPEN_READ_ONLY, &store) < 0) return REFUSED;
    const int64_t problems = tamis_store_verify(store, NULL, NULL, NULL);
    tamis_store_close(store);
    return problems < 0 ? REFUSED : problems > 0 ? TOLD : is_true ? TRUE : SILENT;
}

static void look_and_use(void *context)
{
    const struct scene *scene = context;
    (void)alarm(ALARM_SECONDS);
    const enum outcome outcome = judge(scene->path, scene->truth->portrait);
    use(scene->path);
    _exit((int)outcome);
}

/* In a child, whose crash is its own. */
static enum outcome outcome_of(fixture_body *body, void *context)
{
    const int status = fixture_child(body, context);
    return status < CRASHED ? (enum outcome)status : CRASHED;
}

static bool is_of_part(enum part part, const struct tamis__segment_header *h)
{
    return part == STATIC_DATA    ? h->data_checksum != 0 && h->data_bytes > 0
           : part == MUTABLE_DATA ? h->data_checksum == 0
                                  : true;
}

/* Read it, damage it; *file is where it is in the store. */
static struct bytes damaged(const struct truth *truth, enum part part, const char *path,
                            char file[4200], uint64_t *random)
{
    struct bytes b = {.data = NULL};
    struct tamis__segment_header header;
    const char *from;
    do {
        const uint64_t number = truth->segments[random_below(random, truth->segment_count)];
        from = fixture_segment_path(truth->path, number);
        header = fixture_header_of(from);
        (void)snprintf(file, 4200, "%s", fixture_segment_path(path, number));
        from = fixture_segment_path(truth->path, number);
    } while (!is_of_part(part, &header));
    b.count = (size_t)fixture_size(from);
    b.data = malloc(b.count + 8192);
    if (b.data == NULL) err(1, "malloc");
    fixture_peek(from, 0, b.data, b.count);
    const size_t data = (size_t)header.data_offset;
    switch (part) {
    case HEADER:
        damage(&b, 0, 1152, 512, random);
        break;
    case LIVE_WORDS:
        damage(&b, 1536, TAMIS__HEADER_BYTES, 512, random);
        break;
    case LENGTH:
        damage_length(&b, random);
        break;
    default:
        damage(&b, data, data + (size_t)header.data_bytes, 512, random);
    }
    return b;
}

static void print_count(const char *name, bool covered, const struct count *count)
{
    printf("%-34s %s: refused %3" PRIu64 ", told %3" PRIu64 ", true %3" PRIu64 ", silent %" PRIu64
           ", crashed %" PRIu64 "\n",
           name, covered ? "covered    " : "not covered", count->of[REFUSED], count->of[TOLD],
           count->of[TRUE], count->of[SILENT], count->of[CRASHED]);
    assert_int_equal(count->of[CRASHED], 0);
    if (covered) assert_int_equal(count->of[SILENT], 0);
}

CASE(corrupt_stores_are_refused_told_or_true)
{
    struct truth truth = {.path = NULL};
    uint64_t random = random_seed();
    learn(&truth);
    for (enum part part = 0; part < PARTS; part++) {
        struct count count = {{0}};
        for (unsigned i = 0; i < parts[part].mutations / SHARE; i++) {
            char *path = scratch_path("corrupt"), file[4200];
            scratch_copy(truth.path, path);
            struct bytes b = damaged(&truth, part, path, file, &random);
            damage_write(file, &b);
            struct scene scene = {.truth = &truth, .path = path};
            const enum outcome outcome = outcome_of(look_and_use, &scene);
            count.of[outcome]++;
            if (outcome == CRASHED || (outcome == SILENT && parts[part].covered))
                printf("%s: %s\n", outcome == CRASHED ? "crashed" : "silent", file);
            free(b.data);
            scratch_remove(path);
            free(path);
        }
        print_count(parts[part].name, parts[part].covered, &count);
    }
    free(truth.portrait);
    free(truth.path);
}

CASES_PREPARE
{
    scratch_in_memory();
}
