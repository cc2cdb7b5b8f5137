/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * merge_test.c: filters into one (store/filter/merge.c).
 *
 * The measure is the filter that was built at once: what is merged from parts has the same bits.
 */
#include "merges.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hooks.h"
#include "os/io.h"
#include "points.h"

#define PARTS 8u
#define KEYS 4000u

static uint64_t present(tamis_filter *filter, uint64_t from, uint64_t to)
{
    char key[RANDOM_KEY_BYTES];
    uint64_t found = 0;
    for (uint64_t i = from; i < to; i++)
        found += (uint64_t)assert_done(tamis_filter_contains(filter, key, random_key(i, key)));
    return found;
}

/* The data of every segment of the one are those of the other, byte for byte. */
static void assert_same_bits(const char *path, tamis_filter *a, tamis_filter *b)
{
    struct tamis_filter_stat stats[2] = {{.size = sizeof stats[0]}, {.size = sizeof stats[0]}};
    struct tamis_segment_stat s[2] = {{.size = sizeof s[0]}, {.size = sizeof s[0]}};
    assert_done(tamis_filter_stat(a, &stats[0]));
    assert_done(tamis_filter_stat(b, &stats[1]));
    assert_int_equal(stats[0].segment_count, stats[1].segment_count);
    for (uint32_t i = 0; i < stats[0].segment_count; i++) {
        assert_done(tamis_filter_segment(a, i, &s[0]));
        assert_done(tamis_filter_segment(b, i, &s[1]));
        assert_int_equal(s[0].data_bytes, s[1].data_bytes);
        unsigned char *data[2];
        for (int j = 0; j < 2; j++) {
            data[j] = malloc(s[j].data_bytes);
            assert_non_null(data[j]);
            fixture_peek(fixture_segment_path(path, s[j].number), s[j].data_offset, data[j],
                         s[j].data_bytes);
        }
        assert_memory_equal(data[0], data[1], s[0].data_bytes);
        free(data[0]);
        free(data[1]);
    }
}

static uint64_t items_by_bits(tamis_filter *filter)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    assert_done(tamis_filter_fill(filter, 0, &segment));
    return segment.items_estimated;
}

/* ---- The same as built at once --------------------------------------------------------------- */

static tamis_filter *make_shape(tamis_store *store, const char *name, const void *spec)
{
    return spec ? merges_make(store, name, spec) : merges_import_empty(store, name);
}

static void check_parts(const struct tamis_filter_spec *spec)
{
    char *path, name[16];
    tamis_store *store = fixture_store(&path);
    tamis_filter *parts[PARTS], *whole = make_shape(store, "whole", spec), *made = NULL;
    tamis_filter *into = make_shape(store, "into", spec);
    merges_add(whole, 0, KEYS, 1);
    for (unsigned i = 0; i < PARTS; i++) {
        (void)snprintf(name, sizeof name, "part%u", i);
        parts[i] = make_shape(store, name, spec);
        merges_add(parts[i], i, KEYS, PARTS);
    }
    assert_done(merges_new(store, "made", parts, PARTS, 0, &made));
    for (unsigned i = 0; i < PARTS; i++)
        assert_done(merges_into(into, parts[i]));
    assert_same_bits(path, whole, made);
    assert_same_bits(path, whole, into);
    assert_int_equal(present(made, 0, KEYS), KEYS);
    assert_int_equal(assert_done(tamis_filter_items(made)), items_by_bits(whole));
    assert_int_equal(assert_done(tamis_filter_items(into)), items_by_bits(whole));
    for (unsigned i = 0; i < PARTS; i++)
        assert_done(tamis_filter_close(parts[i]));
    assert_done(tamis_filter_close(made));
    assert_done(tamis_filter_close(into));
    assert_done(tamis_filter_close(whole));
    assert_int_equal(fixture_problems(path), 0);
    tamis_store_close(store);
    free(path);
}

CASE(merge_of_8_parts_is_the_filter_built_at_once)
{
    static const struct tamis_filter_spec specs[] = {
        {.size = sizeof specs[0],
         .capacity = KEYS,
         .fp_rate = 0.01,
         .kind = TAMIS_KIND_BLOCKED}, /* z = 2 */
        {.size = sizeof specs[0],
         .capacity = KEYS,
         .fp_rate = 1e-5,
         .kind = TAMIS_KIND_BLOCKED,
         .seed = 9}, /* z = 4 */
        {.size = sizeof specs[0], .capacity = KEYS, .fp_rate = 0.01, .kind = TAMIS_KIND_BLOOM},
        {.size = sizeof specs[0],
         .m_bits = 44449,
         .k = 7,
         .capacity = KEYS}, /* ends in the middle of a byte */
        {.size = sizeof specs[0], .m_bits = 100003, .hash_set = "php:bkdr,sdbm,fnv"},
        {.size = sizeof specs[0], .capacity = KEYS, .hash_set = "redisbloom"},
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        check_parts(&specs[i]);
}

CASE(merge_of_msb_first_bitmaps_is_the_one_built_at_once)
{
    check_parts(NULL);
}

/* More than a piece (1 MiB), and no multiple of it. */
STORE_CASE(merge_of_large_filters_reaches_every_word)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .m_bits = (3u << 23) + 77, .k = 3};
    tamis_filter *a = merges_make(store, "a", &spec), *b = merges_make(store, "b", &spec);
    tamis_filter *both[] = {a, b}, *whole = merges_make(store, "whole", &spec), *made;
    const uint64_t keys = FIXTURE_SANITIZED ? 100000 : 1000000;
    merges_add(a, 0, keys, 2);
    merges_add(b, 1, keys, 2);
    merges_add(whole, 0, keys, 1);
    assert_done(merges_new(store, "made", both, 2, 0, &made));
    assert_same_bits(path, whole, made);
    assert_done(merges_into(a, b));
    assert_same_bits(path, whole, a);
    for (int i = 0; i < 2; i++)
        assert_done(tamis_filter_close(both[i]));
    assert_done(tamis_filter_close(whole));
    assert_done(tamis_filter_close(made));
}

/* The most memory that this process has had, bytes. */
static uint64_t peak_bytes(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmHWM: %llu kB", &kib) == 1) break;
    if (status != NULL) (void)fclose(status);
    return kib * 1024;
}

/* Makes its way through 64 MiB filters: into one that is there, into a new one, and compares. */
static void merge_large(void *path)
{
    tamis_store *store = fixture_open(path, 0);
    tamis_filter *a, *b;
    struct tamis_comparison comparison = {.size = sizeof comparison};
    if (tamis_filter_open(store, "a", 0, &a) < 0 || tamis_filter_open(store, "b", 0, &b) < 0)
        _exit(2);
    if (merges_into(a, b) < 0 || merges_new(store, "made", &b, 1, 0, NULL) < 0 ||
        tamis_filter_compare(a, b, &comparison) < 0)
        _exit(3);
    _exit(peak_bytes() < ((uint64_t)16 << 20) ? 0 : 1);
}

STORE_CASE(merge_of_large_filters_takes_little_memory)
{
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .m_bits = (uint64_t)1 << 29, .k = 3};
    AUTO_FILTER *a = merges_make(store, "a", &spec), *b = merges_make(store, "b", &spec);
    merges_add(b, 0, 100000, 1);
    if (FIXTURE_SANITIZED)
        print_message("a sanitizer has memory of its own; not measured\n");
    else
        assert_int_equal(fixture_child(merge_large, path), 0);
}

/* Filters that grew alike: oldest with oldest, newest with newest. */
STORE_CASE(merge_of_lists_is_pairwise)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 1000, .fp_rate = 0.01};
    tamis_filter *a = merges_make(store, "a", &spec), *b = merges_make(store, "b", &spec), *made;
    tamis_filter *sources[] = {a, b};
    struct tamis_filter_stat stats[2] = {{.size = sizeof stats[0]}, {.size = sizeof stats[0]}};
    merges_add(a, 0, 70000, 1);
    merges_add(b, 100000, 170000, 1);
    assert_done(tamis_filter_stat(a, &stats[0]));
    assert_int_equal(stats[0].segment_count, 3);
    assert_done(merges_new(store, "made", sources, 2, 0, &made));
    assert_int_equal(present(made, 0, 70000) + present(made, 100000, 170000), 140000);
    assert_done(tamis_filter_stat(made, &stats[1]));
    assert_int_equal(stats[1].segment_count, 3);
    assert_true(stats[1].items > 137000 && stats[1].items < 143000);
    assert_true(stats[1].fp_rate == stats[0].fp_rate);
    assert_done(merges_into(a, b));
    assert_same_bits(path, a, made);
    merges_add(made, 200000, 1400000, 1); /* it goes on growing, after 2^20 keys */
    assert_done(tamis_filter_stat(made, &stats[1]));
    assert_true(stats[1].segment_count > 3);
    assert_done(tamis_filter_close(a));
    assert_done(tamis_filter_close(b));
    assert_done(tamis_filter_close(made));
    assert_int_equal(fixture_problems(path), 0);
}

/* ---- Intersections --------------------------------------------------------------------------- */

STORE_CASE(intersection_has_the_common_keys)
{
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 10000, .fp_rate = 0.001};
    tamis_filter *a = merges_make(store, "a", &spec), *b = merges_make(store, "b", &spec);
    tamis_filter *c = merges_make(store, "c", &spec), *made;
    tamis_filter *sources[] = {a, b, c, a};
    merges_add(a, 0, 6000, 1);
    merges_add(b, 4000, 10000, 1);
    merges_add(c, 3000, 8000, 1);
    assert_done(merges_new(store, "made", sources, 4, TAMIS_MERGE_INTERSECT, &made));
    assert_int_equal(present(made, 4000, 6000), 2000);
    /* A key of one or two is a stranger to another: at most the rate of one filter, 1e-3; 8,000
     * keys let 8 in, and 40 by less than 1 in 10^12. */
    assert_true(present(made, 0, 4000) + present(made, 6000, 10000) < 40);
    assert_int_equal(present(a, 0, 6000), 6000); /* the sources are as they were */
    assert_refused(TAMIS_EEXIST, "'made' exists already",
                   merges_new(store, "made", sources, 3, TAMIS_MERGE_INTERSECT, NULL));
    assert_refused(TAMIS_EUNSUPPORTED, "would take keys out of it",
                   tamis_filter_merge(made, MERGE(.sources = sources, .count = 1,
                                                  .flags = TAMIS_MERGE_INTERSECT)));
    assert_int_equal(present(made, 4000, 6000), 2000);
    for (int i = 0; i < 3; i++)
        assert_done(tamis_filter_close(sources[i]));
    assert_done(tamis_filter_close(made));
}

STORE_CASE(intersection_of_lists_is_refused)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 100, .fp_rate = 0.01};
    AUTO_FILTER *a = merges_make(store, "a", &spec), *b = merges_make(store, "b", &spec);
    tamis_filter *sources[] = {a, b};
    struct tamis_comparison comparison = {.size = sizeof comparison};
    merges_add(a, 0, 150, 1);
    merges_add(b, 0, 150, 1);
    assert_refused(TAMIS_EUNSUPPORTED, "has 2 segments and cannot be intersected",
                   merges_new(store, "x", sources, 2, TAMIS_MERGE_INTERSECT, NULL));
    assert_refused(TAMIS_EUNSUPPORTED, "has 2 segments and cannot be compared",
                   tamis_filter_compare(a, b, &comparison));
}

/* ---- Items, and what follows from them ------------------------------------------------------- */

STORE_CASE(merge_raises_items_and_never_lowers_them)
{
    AUTO_FILTER *a = fixture_filter(store, "a", 20000), *b = fixture_filter(store, "b", 20000);
    AUTO_FILTER *empty = fixture_filter(store, "empty", 20000);
    merges_add(a, 0, 5000, 1);
    merges_add(b, 4000, 9000, 1);
    const int64_t counted = assert_done(tamis_filter_items(a));
    assert_done(merges_into(a, empty));
    const int64_t raised = assert_done(tamis_filter_items(a));
    assert_true(raised >= counted && raised <= counted + counted / 100);
    assert_done(merges_into(a, b));
    const int64_t all = assert_done(tamis_filter_items(a));
    assert_true(all > 8900 && all < 9100);
    assert_done(merges_into(a, b)); /* again: nothing changes */
    assert_int_equal(assert_done(tamis_filter_items(a)), all);
}

/* What a merge has filled does what it was made to do when full. */
STORE_CASE(merge_past_the_capacity_is_for_the_policy)
{
    for (uint32_t policy = TAMIS_ON_FULL_GROW; policy <= TAMIS_ON_FULL_WARN; policy++) {
        const struct tamis_filter_spec *spec =
            SPEC(.capacity = 1000, .fp_rate = 0.001, .on_full = policy, .seed = policy);
        tamis_filter *a = merges_make(store, "a", spec), *b = merges_make(store, "b", spec);
        merges_add(a, 0, 900, 1);
        merges_add(b, 900, 1800, 1);
        struct tamis_filter_stat stat = fixture_stat(a);
        assert_int_equal(stat.state, 0);
        assert_done(merges_into(a, b));
        assert_int_equal(present(a, 0, 1800), 1800);
        stat = fixture_stat(a);
        assert_int_equal(stat.segment_count, 1);
        assert_int_equal(stat.state & ~TAMIS_STATE_OVER,
                         policy == TAMIS_ON_FULL_GROW ? 0 : (int)TAMIS_STATE_FULL);
        assert_true((stat.state & TAMIS_STATE_OVER) != 0);
        if (policy == TAMIS_ON_FULL_REFUSE)
            assert_refused(TAMIS_EFULL, "refuses more", tamis_filter_add(a, "stranger", 8));
        else
            assert_int_equal(assert_done(tamis_filter_add(a, "stranger", 8)), 1);
        stat = fixture_stat(a);
        assert_int_equal(stat.segment_count, policy == TAMIS_ON_FULL_GROW ? 2 : 1);
        assert_done(tamis_filter_close(a));
        assert_done(tamis_filter_close(b));
        assert_done(tamis_filter_drop(store, "a"));
        assert_done(tamis_filter_drop(store, "b"));
    }
}

STORE_CASE(merged_filters_are_marked_and_a_source_counts_once)
{
    AUTO_FILTER *a = fixture_filter(store, "a", 1000), *made;
    struct tamis_segment_stat segment = {.size = sizeof segment};
    merges_add(a, 0, 500, 1);
    AUTO_FILTER *again = fixture_opened(store, "a", TAMIS_READ_ONLY);
    tamis_filter *sources[] = {a, again, a};
    assert_done(merges_new(store, "made", sources, 3, 0, &made));
    assert_done(tamis_filter_fill(made, 0, &segment));
    assert_int_equal(segment.flags, TAMIS_SEGMENT_ITEMS_ESTIMATED);
    assert_int_equal(segment.items, segment.items_estimated);
    assert_int_equal(segment.items, items_by_bits(a));
}

/* ---- Refusals -------------------------------------------------------------------------------- */

STORE_CASE(merge_with_wrong_arguments_is_refused)
{
    AUTO_STORE *read_only;
    tamis_filter *a = fixture_filter(store, "a", 100), *b = fixture_filter(store, "b", 100);
    const struct tamis_filter_spec window = {
        .size = sizeof window, .capacity = 100, .window_items = 100};
    tamis_filter *w = merges_make(store, "w", &window), *sources[] = {b};
    struct tamis_merge merge = {.size = sizeof merge, .sources = sources, .count = 1};
    assert_refused(TAMIS_EINVAL, "merged into itself", merges_into(a, a));
    assert_refused(TAMIS_EUNSUPPORTED, "'w' has a window", merges_into(a, w));
    assert_refused(TAMIS_EUNSUPPORTED, "'w' has a window", merges_into(w, a));
    assert_refused(TAMIS_EINVAL, "name cannot be empty",
                   merges_new(store, "", sources, 1, 0, NULL));
    merge.flags = 2;
    assert_refused(TAMIS_EINVAL, "flags 0x2", tamis_filter_merge(a, &merge));
    merge.flags = 0;
    merge.count = 0;
    assert_refused(TAMIS_EINVAL, "at least one source", tamis_filter_merge(a, &merge));
    read_only = fixture_open(path, TAMIS_READ_ONLY);
    tamis_filter *ro = fixture_opened(read_only, "a", 0);
    assert_refused(TAMIS_EREADONLY, "open read-only", merges_into(ro, b));
    assert_refused(TAMIS_EREADONLY, "open read-only",
                   merges_new(read_only, "x", sources, 1, 0, NULL));
    assert_done(merges_into(b, ro)); /* as a source it will do */
    assert_done(tamis_filter_drop(store, "b"));
    assert_refused(TAMIS_EDROPPED, "'b'", merges_into(b, a));
    assert_refused(TAMIS_EDROPPED, "'b'", merges_into(a, b));
    assert_refused(TAMIS_EDROPPED, "'b'", merges_new(store, "x", sources, 1, 0, NULL));
    assert_done(tamis_filter_close(ro));
    assert_done(tamis_filter_close(a));
    assert_done(tamis_filter_close(b));
    assert_done(tamis_filter_close(w));
}

/* ---- Stopped, killed, failed ----------------------------------------------------------------- */

STORE_CASE(merge_stopped_leaves_a_superset_or_nothing)
{
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .m_bits = 3u << 23, .k = 3}; /* three pieces */
    tamis_filter *a = merges_make(store, "a", &spec), *b = merges_make(store, "b", &spec);
    int pieces = 2;
    const struct tamis_merge *merge =
        MERGE(.sources = &b, .count = 1, .progress = merges_stop, .context = &pieces);
    merges_add(a, 0, 1000, 1);
    merges_add(b, 1000, 2000, 1);
    assert_int_equal(tamis_filter_merge(a, merge), TAMIS_ELIMIT);
    assert_int_equal(present(a, 0, 1000), 1000);
    pieces = 2;
    assert_int_equal(tamis_filter_create_merged(store, "made", merge, NULL), TAMIS_ELIMIT);
    assert_int_equal(fixture_files(path, "staging"), 0);
    assert_int_equal(fixture_files(path, "segments"), 2);
    pieces = 4; /* one more than there are */
    assert_done(tamis_filter_merge(a, merge));
    assert_int_equal(pieces, 1);
    assert_int_equal(present(a, 0, 2000), 2000);
    assert_done(tamis_filter_close(a));
    assert_done(tamis_filter_close(b));
}

/* Killed at a word, and before the count: all that was there is there, and the next merge
 * completes. */
CASE(merge_killed_keeps_what_there_was_and_is_completed)
{
    static const struct {
        unsigned point;
        unsigned passes;
    } steps[] = {{TAMIS__POINT_MERGE_LOADED, 0},
                 {TAMIS__POINT_MERGE_LOADED, 1000},
                 {TAMIS__POINT_MERGE_DONE, 0}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        AUTO_FREE char *path;
        AUTO_STORE *store = fixture_store(&path);
        AUTO_FILTER *a = fixture_filter(store, "a", 20000), *b = fixture_filter(store, "b", 20000);
        merges_add(a, 0, 5000, 1);
        merges_add(b, 5000, 10000, 1);
        merges_killed(path, steps[i].point, steps[i].passes, NULL);
        assert_int_equal(present(a, 0, 5000), 5000);
        assert_int_equal(fixture_problems(path), 0);
        assert_done(merges_into(a, b));
        assert_int_equal(present(a, 0, 10000), 10000);
        assert_int_equal(assert_done(tamis_filter_items(a)), items_by_bits(a));
    }
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
