/* SPDX-License-Identifier: BSD-2-Clause */
/* fill_map_test.c: how full each part of a segment is (store/filter/fill_map.c), against the bits
 * one by one. */
#include "keys.h"

#include <stdio.h>

#include "handle/follow.h"
#include "tamis.h"
#include "txn/store.h"

/* Bytes of the data, with lanes of that many bits from byte `offset` on, msb: the first bit of a
 * byte is its greatest.  The share of lanes of part `part` of `count` that are not 0, told lane by
 * lane. */
struct expected {
    const uint8_t *data;
    uint64_t offset, lanes;
    unsigned width;
    bool msb;
};

static bool is_set(const struct expected *e, uint64_t lane)
{
    for (uint64_t bit = lane * e->width; bit < (lane + 1) * e->width; bit++) {
        const uint8_t byte = e->data[e->offset + bit / 8];
        if (byte >> (e->msb ? 7 - bit % 8 : bit % 8) & 1) return true;
    }
    return false;
}

static double share(const struct expected *e, size_t part, size_t count)
{
    uint64_t first = e->lanes * part / count, end = e->lanes * (part + 1) / count, set = 0;
    if (end == first) end++;
    for (uint64_t lane = first; lane < end; lane++)
        set += is_set(e, lane);
    return (double)set / (double)(end - first);
}

/* Hold the map of segment 0 of the filter, in several numbers of parts, against its bytes. */
static void check_map(tamis_filter *filter)
{
    static const size_t counts[] = {1, 2, 7, 64, 256, 1000};
    static double fill[1000];
    struct tamis__view *view;
    assert_done(tamis__visit_segment(filter, 0, &view));
    const struct tamis__segment_header *h = view->segments[0].segment.header;
    struct expected e = {.data = (const uint8_t *)view->segments[0].segment.data,
                         .lanes = h->m_bits,
                         .width = h->counter_bits ? h->counter_bits : 1,
                         .msb = h->bit_order == TAMIS__BITS_MSB_FIRST};
    if (h->fingerprint_bits != 0) {
        e.width = h->fingerprint_bits;
        e.lanes = h->m_bits / e.width;
        e.offset = 64; /* the seeds of up to 8 pieces */
        assert_in_range(h->pieces, 1, 8);
    }
    tamis__leave(filter, view);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_done(tamis_filter_fill_map(filter, 0, fill, counts[i]));
        for (size_t part = 0; part < counts[i]; part++)
            assert_true(fill[part] == share(&e, part, counts[i]));
    }
}

static tamis_filter *make(tamis_store *store, const char *name,
                          const struct tamis_filter_spec *spec)
{
    tamis_filter *filter = fixture_create(store, name, spec);
    texts_add(filter, 0, 700);
    return filter;
}

STORE_CASE(map_of_each_kind_is_that_of_its_bits)
{
    const struct tamis_filter_spec specs[] = {
        {.size = sizeof specs[0], .capacity = 1000, .fp_rate = 0.01},
        {.size = sizeof specs[0], .kind = TAMIS_KIND_BLOOM, .m_bits = 10007, .k = 5},
        {.size = sizeof specs[0],
         .kind = TAMIS_KIND_BLOOM,
         .m_bits = 77,
         .k = 3}, /* fewer bits than parts */
        {.size = sizeof specs[0],
         .kind = TAMIS_KIND_BLOOM,
         .m_bits = 10007,
         .k = 3,
         .hash_set = "php:js,sdbm,bkdr"},
        {.size = sizeof specs[0], .kind = TAMIS_KIND_COUNTING, .capacity = 1000, .fp_rate = 0.01},
        {.size = sizeof specs[0],
         .kind = TAMIS_KIND_COUNTING,
         .capacity = 1000,
         .fp_rate = 0.01,
         .counter_bits = 8},
        {.size = sizeof specs[0],
         .kind = TAMIS_KIND_COUNTING,
         .capacity = 1000,
         .fp_rate = 0.01,
         .counter_bits = 16},
        {.size = sizeof specs[0],
         .kind = TAMIS_KIND_COUNTING,
         .capacity = 1000,
         .fp_rate = 0.01,
         .counter_bits = 32},
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "filter-%zu", i);
        AUTO_FILTER *filter = make(store, name, &specs[i]);
        check_map(filter);
    }
}

STORE_CASE(map_of_fingerprints_is_that_of_those_that_are_not_0)
{
    static const double rates[] = {0.01, 1e-4, 1e-9};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        char name[16], key[RANDOM_KEY_BYTES];
        tamis_build *build;
        (void)snprintf(name, sizeof name, "fuse-%zu", i);
        assert_done(tamis_build_begin(store, name, BUILD_SPEC(.filter = SPEC(.fp_rate = rates[i])),
                                      &build));
        for (uint64_t j = 0; j < 3000; j++) {
            const struct tamis_key one = {key, random_key(j, key)};
            assert_done(tamis_build_add(build, &one, 1));
        }
        assert_done(tamis_build_publish(build, NULL));
        tamis_build_close(build);
        AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_OPEN_READ_ONLY);
        check_map(filter);
    }
}

/* Several pieces of those that are let go of: the parts together have all bits. */
STORE_CASE(map_of_a_large_segment_sums_to_its_fill)
{
    enum { PARTS = 333 };
    static double fill[PARTS];
    struct tamis_segment_stat stat = {.size = sizeof stat};
    double ones = 0;
    AUTO_FILTER *filter = make(
        store, "large", SPEC(.kind = TAMIS_KIND_BLOOM, .m_bits = (uint64_t)PARTS * 100003, .k = 7));
    assert_done(tamis_filter_fill(filter, 0, &stat));
    assert_done(tamis_filter_fill_map(filter, 0, fill, PARTS));
    for (size_t i = 0; i < PARTS; i++)
        ones += fill[i] * 100003;
    assert_int_equal((uint64_t)(ones + 0.5), stat.ones);
    assert_true(stat.ones > 4000);
}

STORE_CASE(map_of_nothing_is_refused)
{
    double fill;
    AUTO_FILTER *filter = fixture_filter(store, "one", 100);
    assert_refused(TAMIS_EINVAL, "room", tamis_filter_fill_map(filter, 0, NULL, 1));
    assert_refused(TAMIS_EINVAL, "room", tamis_filter_fill_map(filter, 0, &fill, 0));
    assert_refused(TAMIS_EINVAL, "no segment 1", tamis_filter_fill_map(filter, 1, &fill, 1));
    assert_done(tamis_filter_fill_map(filter, 0, &fill, 1));
    assert_true(fill == 0);
}
