/* SPDX-License-Identifier: BSD-2-Clause */
/* alike_test.c: which filters can be merged, and a filter like another (store/filter/alike.c). */
#include "merges.h"

/* ---- Differences ----------------------------------------------------------------------------- */

STORE_CASE(merge_of_filters_that_differ_names_every_field)
{
    static const struct {
        struct tamis_filter_spec spec;
        const char *words;
    } others[] = {
        {SPEC_FIELD(.m_bits = 8000, .k = 5, .seed = 2), "'x' and 'a' differ in seed; "},
        {SPEC_FIELD(.m_bits = 8001, .k = 5, .seed = 1), "differ in m (8001 and 8000); "},
        {SPEC_FIELD(.m_bits = 8000, .k = 4, .seed = 1), "differ in k (4 and 5); "},
        {SPEC_FIELD(.m_bits = 8000, .k = 5, .hash_set = "guava"),
         "differ in hash set (guava and xxh3), seed; "},
        {SPEC_FIELD(.m_bits = 512, .hash_set = "php:js"),
         "differ in hash set (php:js and xxh3), seed, m (512 and 8000), k (1 and 5), "
         "bit order (most significant first and least significant first); "},
        {SPEC_FIELD(.capacity = 10, .fp_rate = 0.01, .on_full = TAMIS_ON_FULL_WARN),
         "differ in kind (blocked and bloom), seed, m (512 and 8000), k (10 and 5); "},
    };
    const struct tamis_filter_spec spec = {.size = sizeof spec, .m_bits = 8000, .k = 5, .seed = 1};
    AUTO_FILTER *a = merges_make(store, "a", &spec);
    struct tamis_comparison comparison = {.size = sizeof comparison};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        tamis_filter *x = merges_make(store, "x", &others[i].spec), *both[] = {x, a},
                     *back[] = {a, x};
        assert_refused(TAMIS_EMISMATCH, others[i].words, merges_into(a, x));
        assert_refused(TAMIS_EMISMATCH, others[i].words, tamis_filter_compare(x, a, &comparison));
        assert_refused(TAMIS_EMISMATCH, others[i].words,
                       merges_new(store, "made", back, 2, 0, NULL));
        assert_refused(TAMIS_EMISMATCH, "'a' and 'x' differ",
                       merges_new(store, "made", both, 2, TAMIS_MERGE_INTERSECT, NULL));
        assert_done(tamis_filter_close(x));
        assert_done(tamis_filter_drop(store, "x"));
    }
}

STORE_CASE(merge_of_bit_orders_and_lists_that_differ_is_refused)
{
    const struct tamis_filter_spec guava = {
        .size = sizeof guava, .m_bits = 50000, .k = 5, .hash_set = "guava"};
    const struct tamis_filter_spec grows = {.size = sizeof grows, .capacity = 100, .fp_rate = 0.01};
    AUTO_FILTER *msb = merges_import_empty(store, "msb"), *lsb = merges_make(store, "lsb", &guava);
    AUTO_FILTER *one = merges_make(store, "one", &grows), *two = merges_make(store, "two", &grows);
    assert_refused(TAMIS_EMISMATCH,
                   "differ in bit order (most significant first and least significant first)",
                   merges_into(lsb, msb));
    merges_add(two, 0, 150, 1);
    assert_refused(TAMIS_EMISMATCH,
                   "'two' and 'one' differ in number of segments (2 and 1); make both with room",
                   merges_into(one, two));
}

/* ---- A filter like another ------------------------------------------------------------------- */

static const struct tamis_filter_spec specs[] = {
    {.size = sizeof specs[0], .capacity = 1000},
    {.size = sizeof specs[0],
     .capacity = 1000,
     .fp_rate = 1e-5,
     .seed = 7,
     .on_full = TAMIS_ON_FULL_WARN},
    {.size = sizeof specs[0],
     .capacity = 1000,
     .kind = TAMIS_KIND_BLOOM,
     .on_full = TAMIS_ON_FULL_REFUSE},
    {.size = sizeof specs[0], .capacity = 1000, .kind = TAMIS_KIND_BLOOM},
    {.size = sizeof specs[0], .m_bits = 1000003, .k = 7},
    {.size = sizeof specs[0],
     .m_bits = 5003,
     .k = 7,
     .capacity = 500,
     .fp_rate = 0.02,
     .on_full = TAMIS_ON_FULL_GROW},
    {.size = sizeof specs[0], .m_bits = 5003, .hash_set = "php:js,elf"},
    {.size = sizeof specs[0], .capacity = 300, .hash_set = "guava", .fp_rate = 0.02},
    {.size = sizeof specs[0], .capacity = 1000, .window_ns = 3600000000000, .slices = 4},
    {.size = sizeof specs[0], .window_items = 1000, .slices = 3},
};

/* Whatever it was made by, and has become: what is made like it can be merged at first. */
STORE_CASE(like_makes_filters_that_can_be_merged)
{
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        char set[TAMIS_HASH_SET_NAME_MAX + 1];
        struct tamis_filter_spec spec = {.size = sizeof spec};
        struct tamis_segment_stat s[2] = {{.size = sizeof s[0]}, {.size = sizeof s[0]}};
        struct tamis_filter_stat f[2] = {{.size = sizeof f[0]}, {.size = sizeof f[0]}};
        tamis_filter *first = merges_make(store, "first", &specs[i]), *a, *b;
        assert_done(tamis_filter_like(first, &spec, set));
        a = merges_make(store, "a", &spec);
        if (specs[i].on_full != TAMIS_ON_FULL_REFUSE) merges_add(first, 0, 2500, 1);
        assert_done(tamis_filter_like(first, &spec, set)); /* and after it has grown */
        b = merges_make(store, "b", &spec);
        if (specs[i].window_ns == 0 && specs[i].window_items == 0) assert_done(merges_into(a, b));
        assert_done(tamis_filter_segment(a, 0, &s[0]));
        assert_done(tamis_filter_segment(b, 0, &s[1]));
        assert_int_equal(s[0].m_bits, s[1].m_bits);
        assert_int_equal(s[0].k, s[1].k);
        assert_int_equal(s[0].capacity, s[1].capacity);
        assert_done(tamis_filter_stat(first, &f[0]));
        assert_done(tamis_filter_stat(b, &f[1]));
        assert_int_equal(f[0].on_full, f[1].on_full);
        assert_int_equal(f[0].slices, f[1].slices);
        assert_int_equal(f[0].window_ns, f[1].window_ns);
        assert_int_equal(f[0].window_items, f[1].window_items);
        assert_int_equal(f[0].seed, f[1].seed);
        assert_true(f[0].fp_rate == f[1].fp_rate);
        assert_string_equal(f[0].hash_set, f[1].hash_set);
        assert_done(tamis_filter_close(first));
        assert_done(tamis_filter_close(a));
        assert_done(tamis_filter_close(b));
        assert_done(tamis_filter_drop(store, "first"));
        assert_done(tamis_filter_drop(store, "a"));
        assert_done(tamis_filter_drop(store, "b"));
    }
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
