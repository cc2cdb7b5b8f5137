/* SPDX-License-Identifier: BSD-2-Clause */
/* explain_test.c: a key's hash values and positions, with and without a filter; the fill of one
 * (store/filter/explain.c). */
#include "keys.h"

#include <math.h>
#include <stdlib.h>

static char text[64];
static uint64_t positions[64];

static struct tamis_explanation room(void)
{
    memset(text, 0, sizeof text);
    memset(positions, 0xFF, sizeof positions);
    return (struct tamis_explanation){
        .size = sizeof(struct tamis_explanation), text, sizeof text, positions, 64, 0};
}

STORE_CASE(explain_of_a_filter_names_the_bits_in_its_file)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    struct tamis_explanation e = room();
    for (uint32_t kind = TAMIS_KIND_BLOCKED; kind <= TAMIS_KIND_BLOOM; kind++) {
        const char *name = tamis_kind_name(kind);
        AUTO_FREE unsigned char *data;
        AUTO_FILTER *filter = fixture_create(
            store, name,
            SPEC(.capacity = 500, .on_full = TAMIS_ON_FULL_WARN, .kind = kind, .seed = 11));
        assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
        assert_done(tamis_filter_fill(filter, 0, &segment));
        e = room();
        assert_done(tamis_filter_explain(filter, 0, "key", 3, &e));
        assert_int_equal(e.positions_count, segment.k);
        data = calloc(1, segment.data_bytes);
        assert_non_null(data);
        for (size_t i = 0; i < e.positions_count; i++)
            data[positions[i] / 8] |= (unsigned char)(1u << positions[i] % 8);
        AUTO_FREE unsigned char *file = malloc(segment.data_bytes);
        assert_non_null(file);
        fixture_peek(fixture_segment_path(path, segment.number), segment.data_offset, file,
                     segment.data_bytes);
        assert_memory_equal(file, data, segment.data_bytes);
    }
}

STORE_CASE(explain_with_bad_arguments_is_refused)
{
    struct tamis_explanation e = room();
    AUTO_FILTER *filter = fixture_filter(store, "x", 100);
    assert_refused(TAMIS_EINVAL, "no hash set 'sha'", tamis_explain("sha", 1, 1, 0, "a", 1, &e));
    assert_refused(TAMIS_EINVAL, "m of 0 bits is out of range; give 1 to 2^64-1",
                   tamis_explain("xxh3", 0, 1, 0, "a", 1, &e));
    assert_refused(TAMIS_EINVAL, "k of 0 hashes", tamis_explain("xxh3", 1, 0, 0, "a", 1, &e));
    assert_refused(TAMIS_EINVAL, "k of 1048577 hashes is out of range; give 1 to 1048576",
                   tamis_explain("xxh3", 1, 1048577, 0, "a", 1, &e));
    assert_refused(TAMIS_EINVAL, "the key is NULL", tamis_explain("xxh3", 9, 1, 0, NULL, 1, &e));
    assert_refused(TAMIS_EINVAL, "the key is NULL", tamis_filter_explain(filter, 0, NULL, 1, &e));
    assert_refused(TAMIS_EINVAL, "no segment 1; the filter has 1",
                   tamis_filter_explain(filter, 1, "a", 1, &e));
    e = room();
    e.positions_max = 4;
    assert_refused(TAMIS_EINVAL, "5 positions do not fit in room for 4",
                   tamis_explain("xxh3", 100, 5, 0, "a", 1, &e));
    assert_int_equal(e.positions_count, 5); /* what is needed */
    assert_int_equal(positions[0], UINT64_MAX);
    assert_refused(TAMIS_EINVAL, "do not fit", tamis_filter_explain(filter, 0, "a", 1, &e));
    e = room();
    e.hashes_bytes = 33;
    assert_refused(TAMIS_EINVAL, "the hash values need 34 bytes of text, not 33",
                   tamis_explain("xxh3", 100, 5, 0, "a", 1, &e));
    e.hashes_bytes = 34;
    assert_done(tamis_explain("xxh3", 100, 5, 0, "a", 1, &e));
}

STORE_CASE(explain_fill_tells_bits_and_the_rate_now)
{
    struct tamis_segment_stat stat = {.size = sizeof stat};
    AUTO_FILTER *filter = fixture_filter(store, "x", 2000);
    assert_done(tamis_filter_fill(filter, 0, &stat));
    assert_true(stat.ones == 0 && stat.fill == 0 && stat.fp_rate_now == 0);
    texts_add(filter, 0, 2000);
    assert_done(tamis_filter_segment(filter, 0, &stat));
    assert_true(stat.ones == 0 && stat.fill == 0); /* this one reads no bits */
    assert_done(tamis_filter_fill(filter, 0, &stat));
    assert_true(stat.ones > 2000 && stat.ones <= 2000 * (uint64_t)stat.k);
    assert_true(stat.fill == (double)stat.ones / (double)stat.m_bits);
    /* 2,000 keys at 1 %: the rate by the bits is within a fifth of the one predicted */
    const double predicted = tamis_predict_rate(stat.kind, stat.m_bits, stat.k, stat.items);
    assert_true(fabs(stat.fp_rate_now - predicted) < 0.2 * predicted);
}
