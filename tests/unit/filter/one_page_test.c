/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * one_page_test.c: filters whose header and data share one page of a file (docs/format.md 3.1.9).
 *
 * Broken to see it fail: a header that is written whole, over the data; the item counters counted
 * as 32; a tail among the data; no look for the constants of a header after a cut (SIGFPE); locks
 * of removers where the key rule is; a backup that zeroes all of these; a commit that does not
 * raise the number of the store's format.
 */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "keys.h"
#include "spawn.h"

/* A key rule as long as there can be: it goes on behind the stripes. */
static const char *long_rule(void)
{
    static char rule[512];
    size_t bytes = (size_t)snprintf(rule, sizeof rule, "url:drop=p000");
    for (int i = 1; bytes + 6 < sizeof rule; i++)
        bytes += (size_t)snprintf(rule + bytes, sizeof rule - bytes, "+p%03d", i);
    return rule;
}

struct shape {
    const char *name;
    struct tamis_filter_spec spec;
};

#define SHAPES 7
static void shapes_fill(struct shape shapes[SHAPES])
{
#define SHAPE(text, ...)                                                                           \
    {                                                                                              \
        text,                                                                                      \
        {                                                                                          \
            .size = sizeof(struct tamis_filter_spec), __VA_ARGS__                                  \
        }                                                                                          \
    }
    const struct shape all[SHAPES] = {
        SHAPE("blocked", .capacity = 700),
        SHAPE("bloom", .kind = TAMIS_KIND_BLOOM, .capacity = 700),
        SHAPE("counting", .kind = TAMIS_KIND_COUNTING, .capacity = 200,
              .on_full = TAMIS_ON_FULL_WARN),
        SHAPE("durable", .capacity = 500, .flags = TAMIS_FILTER_DURABLE),
        SHAPE("window", .capacity = 600, .window_items = 600, .slices = 2),
        SHAPE("ruled", .capacity = 500, .key_rule = long_rule()),
        SHAPE("counted", .kind = TAMIS_KIND_COUNTING, .capacity = 200, .key_rule = long_rule(),
              .on_full = TAMIS_ON_FULL_WARN)};
    memcpy(shapes, all, sizeof all);
}

/* ---- Somebody cuts the file ------------------------------------------------------------------ */

struct cut {
    const char *name;
    off_t bytes;
    char *path; /* of a store of its own */
};

/* In a child, and before any other case, as cmocka handles SIGBUS itself from then on. */
static void lose_a_part(void *context)
{
    const struct cut *cut = context;
    struct shape shapes[SHAPES];
    tamis_store *store = fixture_open(cut->path, TAMIS_OPEN_CREATE);
    shapes_fill(shapes);
    for (int i = 0; i < SHAPES; i++) {
        if (strcmp(shapes[i].name, cut->name) != 0) continue;
        tamis_filter *filter = fixture_create(store, cut->name, &shapes[i].spec);
        const char *file = fixture_segment_path(cut->path, 1);
        SPAWN_CHECK(truncate(file, cut->bytes) == 0);
        SPAWN_CHECK(text_has(filter, 0) == TAMIS_ECORRUPT);
        SPAWN_CHECK(strstr(tamis_last_error(), "was truncated by somebody else") != NULL);
        SPAWN_CHECK(text_add(filter, 0) < 0);
        SPAWN_CHECK(truncate(file, 4096) == 0); /* as long again, and without its end */
        SPAWN_CHECK(text_has(filter, 0) < 0);
        SPAWN_CHECK(tamis_filter_open(store, cut->name, 0, &filter) == TAMIS_ECORRUPT ||
                    cut->bytes == 0);
    }
}

/* An empty filter, so that no bit shows the cut. */
CASE(one_page_file_that_is_cut_is_an_error_wherever_the_cut_is)
{
    static const char *const names[] = {"blocked", "bloom", "counting", "ruled"};
    static const off_t cuts[] = {0, 16, 70, 100, 500, 1600, 2100, 2304, 3000, 4088};
    (void)scratch_directory();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t j = 0; j < sizeof cuts / sizeof *cuts; j++) {
            struct cut cut = {names[i], cuts[j], scratch_path("cut")};
            if (fixture_child(lose_a_part, &cut) != 0)
                fail_msg("%s cut to %d bytes", cut.name, (int)cut.bytes);
            free(cut.path);
        }
}

/* ---- All sorts --------------------------------------------------------------------------------
 */

static void assert_has(tamis_store *store, const char *name)
{
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_OPEN_READ_ONLY);
    for (uint64_t n = 0; n < 150; n++)
        if (text_has(filter, n) != 1) fail_msg("%s lacks key %d", name, (int)n);
    assert_int_equal(tamis_filter_items(filter), 150);
    for (uint32_t i = 0; i < fixture_stat(filter).segment_count; i++) {
        const struct tamis_segment_stat s = fixture_segment_stat(filter, i);
        assert_int_equal(s.data_offset, 2304);
        assert_int_equal(s.file_bytes, s.counter_bits == 0 ? 4096 : s.file_bytes);
    }
}

static void assert_all_have(const char *path, const struct shape shapes[SHAPES])
{
    AUTO_STORE *store = fixture_open(path, 0);
    assert_int_equal(fixture_problems(path), 0);
    for (int i = 0; i < SHAPES; i++)
        assert_has(store, shapes[i].name);
}

/* Of every kind and policy: adds, a backup, a second one upon it, a catalog that is made anew. */
STORE_CASE(one_page_filters_of_all_sorts_keep_their_keys)
{
    struct shape shapes[SHAPES];
    AUTO_FREE char *to = scratch_path("copy");
    shapes_fill(shapes);
    for (int i = 0; i < SHAPES; i++) {
        AUTO_FILTER *filter = fixture_create(store, shapes[i].name, &shapes[i].spec);
        assert_int_equal(texts_add(filter, 0, 150), 150);
        assert_int_equal(texts_add(filter, 0, 150), 0);
        assert_done(tamis_filter_sync(filter));
    }
    assert_int_equal(fixture_size(fixture_segment_path(path, 1)), 4096);
    assert_all_have(path, shapes);
    assert_int_equal(tamis_store_backup(store, to, NULL, NULL), SHAPES);
    assert_all_have(to, shapes);
    assert_int_equal(tamis_store_backup(store, to, NULL, NULL), SHAPES);
    assert_all_have(to, shapes);
    assert_int_equal(unlink(fixture_join(to, "catalog.mdb")), 0);
    assert_true(tamis_store_repair(to, TAMIS_REPAIR_REBUILD, NULL, NULL) >= 0);
    assert_all_have(to, shapes);
}

/* More adds of a key than four bits count, and removes under the few locks that there are. */
STORE_CASE(one_page_counting_filter_overflows_and_goes_back)
{
    AUTO_FILTER *filter =
        fixture_create(store, "x",
                       SPEC(.kind = TAMIS_KIND_COUNTING, .capacity = 200, .key_rule = long_rule(),
                            .on_full = TAMIS_ON_FULL_WARN));
    for (int times = 0; times < 40; times++)
        (void)texts_add(filter, 0, 20);
    assert_int_equal(tamis_filter_items(filter), 20);
    for (int times = 0; times < 40; times++)
        for (uint64_t n = 0; n < 20; n++) {
            char text[RANDOM_KEY_BYTES];
            const size_t bytes = random_key(n, text);
            assert_int_equal(tamis_filter_remove(filter, text, bytes), 1);
        }
    for (uint64_t n = 0; n < 20; n++)
        assert_int_equal(text_has(filter, n), 0);
    assert_int_equal(fixture_problems(path), 0);
}
