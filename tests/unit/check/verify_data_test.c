/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify_data_test.c: what is in the segments against what is said of it
 * (store/check/verify_data.c, verify.c): static data, counters, exceptions, kept generations; bits
 * flipped anywhere; and nothing is told of a sound store that others write to meanwhile.
 */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalogs.h"
#include "editions.h"
#include "numbers.h"
#include "riches.h"
#include "segment/mark.h"
#include "spawn.h"
#include "told.h"

#if FIXTURE_SANITIZED
#define FLIPS 60
#else
#define FLIPS 300
#endif

static void assert_told(const char *path, const char *filter, uint64_t number, uint64_t offset,
                        const char *words)
{
    char file[64];
    const struct told told = told_of(path, NULL);
    (void)snprintf(file, sizeof file, "segments/%016u.seg", (unsigned)number);
    if (told.count != 1) fail_msg("%d problems, the last: %s", (int)told.count, told.reason);
    assert_string_equal(told.filter, filter);
    assert_string_equal(told.file, file);
    assert_int_equal(told.offset, offset);
    told_assert_words(&told, words);
}

static void get_record(const char *path, const char *name, struct tamis__record *record)
{
    AUTO_STORE *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_SHARED);
    assert_done(tamis__catalog_get(txn, name, record));
    tamis__catalog_end(txn);
}

static void flip(const char *file, uint64_t bit)
{
    unsigned char byte;
    fixture_peek(file, bit / 8, &byte, 1);
    byte ^= (unsigned char)(1u << bit % 8);
    fixture_poke(file, bit / 8, &byte, 1);
}

/* Ask what is damaged: any answer, or an error, but no crash. */
static void ask(const char *path, const char *name)
{
    tamis_store *store;
    tamis_filter *filter;
    if (tamis_store_open(path, TAMIS_OPEN_READ_ONLY, &store) < 0) return;
    if (tamis_filter_open(store, name, TAMIS_OPEN_READ_ONLY, &filter) == 0) {
        for (uint64_t key = 0; key < 50; key++)
            (void)!tamis_filter_contains(filter, &key, sizeof key);
        close_anyhow(filter);
    }
    tamis_store_close(store);
}

/* ---- Bits flipped ---------------------------------------------------------------------------- */

/* In the constant part of the header and in the data, padding included: each one is found. */
static void flip_in_file(const char *path, const char *name, uint64_t number)
{
    AUTO_FREE char *file = strdup(fixture_segment_path(path, number));
    uint64_t random = random_seed();
    struct tamis__segment_header header = fixture_header_of(file);
    for (int i = 0; i < FLIPS; i++) {
        const uint64_t in_data =
            header.data_offset * 8 + random_below(&random, header.data_bytes * 8);
        const uint64_t bit = i % 4 ? in_data : random_below(&random, 512 * 8);
        flip(file, bit);
        const struct told told = told_of(path, NULL);
        if (told.count != 1 || strcmp(told.filter, name) != 0)
            fail_msg("bit %u of byte %u of segment %u: %d problems", (unsigned)(bit % 8),
                     (unsigned)(bit / 8), (unsigned)number, (int)told.count);
        ask(path, name);
        flip(file, bit);
    }
    assert_int_equal(told_of(path, NULL).count, 0);
}

/* Seen to fail with check_static() ended before the call of the kind's verify. */
CASE(verify_finds_every_flipped_bit_of_a_static_segment)
{
    AUTO_FREE char *path;
    struct tamis__record record;
    tamis_store_close(fixture_store(&path));
    tamis_store *store = fixture_open(path, 0);
    riches_publish_fuse(store, "static", 0, 1000);
    tamis_store_close(store);
    get_record(path, "static", &record);
    flip_in_file(path, "static", record.segments[0].number);
}

/* Seen to fail with sum_is_right() of store/exceptions/index.c always true. */
CASE(verify_finds_every_flipped_bit_of_an_index)
{
    AUTO_FREE char *path;
    struct tamis__record record;
    uint64_t numbers[100];
    struct tamis_key keys[100];
    tamis_store *store = fixture_store(&path);
    assert_done(editions_publish(store, "list", 0, 100, NULL, NULL));
    numbers_from(0, 100, numbers, keys);
    assert_int_equal(tamis_filter_except(store, "list", keys, 100), 100);
    tamis_store_close(store);
    get_record(path, "list", &record);
    flip_in_file(path, "list", record.exceptions);
}

/* Anywhere in the catalog: nothing crashes; what is told is an error, or the store is as it was. */
CASE(flipped_bits_of_a_catalog_are_an_error_or_change_nothing)
{
    AUTO_FREE char *path;
    uint64_t random = random_seed(), unseen = 0;
    riches_make(&path);
    AUTO_FREE char *before = riches_portrait(path);
    AUTO_FREE char *file = strdup(fixture_join(path, "catalog.mdb"));
    const uint64_t bits = fixture_size(file) * 8;
    for (int i = 0; i < FLIPS / 2; i++) {
        const uint64_t bit = random_below(&random, bits);
        flip(file, bit);
        const struct told told = told_of(path, NULL);
        if (told.count == 0) {
            riches_assert_portrait(path, before);
            unseen++;
        }
        ask(path, "list");
        flip(file, bit);
    }
    assert_true(unseen < FLIPS / 2);
    riches_assert_portrait(path, before);
}

/* ---- Counters -------------------------------------------------------------------------------- */

CASE(verify_tells_of_items_that_the_bits_cannot_be_of)
{
    AUTO_FREE char *path;
    uint64_t items;
    riches_make(&path); /* segment 1: "plain", 500 items; 2: "foreign", 100 items */
    for (uint64_t number = 1; number <= 2; number++) {
        const char *file = fixture_segment_path(path, number);
        fixture_peek(file, 2048 + 3 * 64, &items, sizeof items);
        const uint64_t too_many = items + 3000;
        fixture_poke(file, 2048 + 3 * 64, &too_many, sizeof too_many);
        assert_told(path, number == 1 ? "plain" : "foreign", number, 2048,
                    number == 1 ? "has counted 3500 items, but " : "has counted 3098 items, but ");
        fixture_poke(fixture_segment_path(path, number), 2048 + 3 * 64, &items, sizeof items);
    }
    assert_int_equal(told_of(path, NULL).count, 0);
}

/* A single add counts its key before it sets the bits.  64 adders that stand there, or died there,
 * are no damage. Seen to fail without TAMIS__ITEMS_AHEAD: beside writers, too, once in some hundred
 * runs.  What more of them can explain, as more handles have written, looks odd and is no problem.
 */
CASE(verify_allows_for_items_ahead_of_their_bits)
{
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    uint64_t items = 64;
    assert_done(tamis_filter_create(store, "ahead", SPEC(.capacity = 1000), NULL));
    tamis_store_close(store);
    const char *file = fixture_segment_path(path, 1);
    fixture_poke(file, 2048, &items, sizeof items);
    assert_int_equal(told_of(path, NULL).count, 0);
    items++;
    fixture_poke(file, 2048, &items, sizeof items);
    assert_told(path, "ahead", 1, 4096, "has counted items but not one bit set");
    const uint64_t mark = 2 * TAMIS__MARK_WRITER; /* two handles have written */
    items = 3 * 64;
    fixture_poke(file, offsetof(struct tamis__segment_header, live.mark), &mark, sizeof mark);
    fixture_poke(file, 2048, &items, sizeof items);
    const struct told told = told_of(path, NULL);
    assert_true(told.count == 0 && told.odd == 1 && told.error == 0);
    told_assert_words(&told, "looks odd: it has counted 192 items, and its bits tell of 0;");
    items++;
    fixture_poke(file, 2048, &items, sizeof items);
    assert_told(path, "ahead", 1, 4096, "has counted items but not one bit set");
}

/* Adders that take back what they had added for a key that was not new: the catalog may have been
 * told of it meanwhile.  (Broken: as it was, a loss of keys.) */
CASE(verify_finds_a_count_odd_that_went_back_by_few)
{
    AUTO_FREE char *path;
    riches_make(&path);
    uint64_t items = 0, stripe = 0;
    const char *file = fixture_segment_path(path, 1);
    for (; items == 0; stripe++)
        fixture_peek(file, 2048 + stripe * sizeof(struct tamis__stripe), &items, sizeof items);
    items -= 3;
    fixture_poke(file, 2048 + (stripe - 1) * sizeof(struct tamis__stripe), &items, sizeof items);
    const struct told told = told_of(path, NULL);
    assert_true(told.count == 0 && told.odd == 1);
    told_assert_words(&told, "looks odd: it has counted 497 items, and the catalog knew of 500;");
}

CASE(verify_tells_of_a_count_that_went_back)
{
    AUTO_FREE char *path;
    const unsigned char zero[4 * 64] = {0}; /* all stripes of a file of one page */
    riches_make(&path);
    fixture_poke(fixture_segment_path(path, 1), 2048, zero, sizeof zero);
    assert_told(path, "plain", 1, 2048, "has counted 0 items, and the catalog knew of 500");
}

CASE(verify_tells_of_a_static_count_that_changed)
{
    AUTO_FREE char *path;
    struct tamis__record record;
    const uint64_t more = 4000;
    riches_make(&path);
    get_record(path, "static", &record);
    const uint64_t number = record.segments[0].number;
    fixture_poke(fixture_segment_path(path, number), 2048, &more, sizeof more);
    assert_told(path, "static", number, 2048, "though a static filter never changes");
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static int find_kept(void *context, const struct tamis__record *record)
{
    *(uint64_t *)context = record->segments[0].number;
    return 0;
}

CASE(verify_looks_at_kept_generations)
{
    AUTO_FREE char *path;
    struct tamis__record record;
    uint64_t number = 0;
    riches_make(&path);
    get_record(path, "static", &record);
    tamis_store *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_SHARED);
    assert_done(tamis__catalog_each_generation(txn, record.filter_id, find_kept, &number));
    tamis__catalog_end(txn);
    tamis_store_close(store);
    flip(fixture_segment_path(path, number), 4096 * 8 + 1000);
    const struct told told = told_of(path, NULL);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.filter, "static");
    assert_int_equal(unlink(fixture_segment_path(path, number)), 0);
    assert_told(path, "static", number, 0, "(of generation 1, which is kept)");
}

CASE(verify_holds_the_index_against_the_catalog)
{
    AUTO_FREE char *path;
    struct tamis__record record;
    riches_make(&path);
    get_record(path, "list", &record);
    tamis_store *store = fixture_open(path, 0);
    struct tamis__catalog_txn *txn = catalogs_begin(store, TAMIS__LOCK_EXCLUSIVE);
    record.exception_count++;
    assert_done(tamis__catalog_put(txn, &record));
    catalogs_commit(txn);
    tamis_store_close(store);
    assert_told(path, "list", record.exceptions, 2304,
                "has another number of exceptions than the catalog");
}

/* ---- Beside writers -------------------------------------------------------------------------- */

#define WRITERS 4u
#define ROUNDS 300

struct busy {
    char path[512];
    unsigned stop;
    uint64_t changes[WRITERS];
};

static void add_some(tamis_store *store, const char *name, uint64_t from, uint64_t count)
{
    AUTO_FILTER *filter;
    SPAWN_CHECK(tamis_filter_open(store, name, 0, &filter) == 0);
    for (uint64_t key = from; key < from + count; key++)
        SPAWN_CHECK(tamis_filter_add(filter, &key, sizeof key) >= 0);
}

static void count_some(tamis_store *store, uint64_t from)
{
    AUTO_FILTER *filter;
    SPAWN_CHECK(tamis_filter_open(store, "counting", 0, &filter) == 0);
    for (uint64_t i = 0; i < 200; i++) {
        const uint64_t key = from + i % 10; /* now empty, now with overflow */
        SPAWN_CHECK(tamis_filter_add(filter, &key, sizeof key) >= 0);
    }
    for (uint64_t i = 0; i < 200; i++) {
        const uint64_t key = from + i % 10;
        SPAWN_CHECK(tamis_filter_remove(filter, &key, sizeof key) == 1);
    }
}

static void change_lists(tamis_store *store, uint64_t n)
{
    const struct tamis_key key = {&n, sizeof n};
    SPAWN_CHECK(editions_publish(store, "built", n % 10, 100, NULL, NULL) == 0);
    SPAWN_CHECK(tamis_filter_except(store, "built", &key, 1) >= 0);
    SPAWN_CHECK(tamis_filter_rollback(store, "built", 0) == 0);
    SPAWN_CHECK(tamis_filter_create(store, "passing", SPEC(.capacity = 10), NULL) == 0);
    SPAWN_CHECK(tamis_filter_rename(store, "passing", "past") == 0);
    SPAWN_CHECK(tamis_filter_drop(store, "past") == 0);
    riches_publish_fuse(store, "static", n, 50);
}

static void write_on(void *context, unsigned index)
{
    struct busy *busy = context;
    AUTO_STORE *store;
    tamis_filter *window;
    SPAWN_CHECK(tamis_store_open(busy->path, 0, &store) == 0);
    for (uint64_t n = 0; !__atomic_load_n(&busy->stop, __ATOMIC_ACQUIRE); n++) {
        if (index == 0) add_some(store, "grows", n * 100, 100);
        if (index == 1) count_some(store, n * 10);
        if (index == 2) change_lists(store, n);
        if (index == 3) {
            add_some(store, "built", 1000000 + n * 20, 20); /* whatever list is in force */
            SPAWN_CHECK(tamis_filter_open(store, "window", 0, &window) == 0);
            SPAWN_CHECK(tamis_filter_rotate(window) == 0);
            SPAWN_CHECK(tamis_filter_close(window) == 0);
            add_some(store, "window", n * 50, 50);
        }
        busy->changes[index] = n;
    }
}

/* Seen to fail with the directory read 2 ms after the lock was given back: strays. */
CASE(verify_beside_writers_tells_nothing)
{
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    struct busy *busy = spawn_shared(sizeof *busy);
    pid_t writers[WRITERS];
    const struct tamis_filter_spec grows = {.size = sizeof grows, .capacity = 100},
                                   window = {.size = sizeof window, .window_items = 1000},
                                   counting = {.size = sizeof counting,
                                               .capacity = 1000,
                                               .kind = TAMIS_KIND_COUNTING};
    assert_done(tamis_filter_create(store, "grows", &grows, NULL));
    assert_done(tamis_filter_create(store, "window", &window, NULL));
    assert_done(tamis_filter_create(store, "counting", &counting, NULL));
    assert_done(editions_publish(store, "built", 0, 100, NULL, NULL));
    (void)snprintf(busy->path, sizeof busy->path, "%s", path);
    for (unsigned i = 0; i < WRITERS; i++)
        writers[i] = spawn_one(write_on, busy, i);
    for (int round = 0; round < ROUNDS; round++) {
        const struct told told = told_of(path, NULL);
        if (told.count != 0) fail_msg("%s of '%s': %s", told.file, told.filter, told.reason);
    }
    __atomic_store_n(&busy->stop, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(writers[i], &status, 0), writers[i]);
        assert_int_equal(status, 0);
        assert_true(busy->changes[i] >= 1);
    }
    tamis_store_close(store);
    assert_int_equal(told_of(path, NULL).count, 0);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
