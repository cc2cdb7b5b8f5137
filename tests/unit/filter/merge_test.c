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

#include "os/io.h"
#include "points.h"

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

/* ---- Large filters --------------------------------------------------------------------------- */

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

/* ---- Intersections --------------------------------------------------------------------------- */

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
    read_only = fixture_open(path, TAMIS_OPEN_READ_ONLY);
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
