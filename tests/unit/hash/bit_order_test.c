/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bit_order_test.c: position b of a hash set is byte b / 8 of the data, mask 1 << b % 8 or, most
 * significant bit first, 0x80 >> b % 8; for adding, asking and verifying alike.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "hash/hash_set.h"
#include "kind/kind.h"

#define M 1000003u /* 3 bits in its last byte */

/* A segment in memory over that hash set and bit order. */
static void segment_over(struct tamis__segment *segment, const char *name, uint32_t k,
                         uint32_t bit_order)
{
    const struct tamis__hash_set *set = NULL;
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
    const char *reason = NULL;
    assert_done(tamis__hash_set_parse(name, &set, parameters));
    fixture_segment(segment, TAMIS_KIND_BLOOM, M, set->fixed_k ? set->fixed_k(parameters) : k);
    segment->header->hash_set = set->id;
    memcpy(segment->header->parameters, parameters, sizeof parameters);
    segment->header->seed = 0;
    segment->header->bit_order = bit_order;
    assert_int_equal(tamis__kind_bloom.check(segment->header, &reason), 0);
}

static unsigned bit_at(const struct tamis__segment *segment, uint64_t position)
{
    const uint8_t byte = ((const uint8_t *)segment->data)[position / 8];
    const bool msb_first = segment->header->bit_order == TAMIS__BITS_MSB_FIRST;
    return byte >> (msb_first ? 7 - position % 8 : position % 8) & 1u;
}

/* Add keys one by one; each sets the bits of its positions, and no others are set in the end. */
static void check_adding(const char *name, uint32_t k, uint32_t bit_order)
{
    enum { KEYS = 300 };
    static uint8_t expected[M];
    struct tamis__segment segment;
    uint64_t ones = 0, count = 0;
    double fp_rate;
    memset(expected, 0, sizeof expected);
    segment_over(&segment, name, k, bit_order);
    for (uint64_t i = 0; i < KEYS; i++) {
        char key[RANDOM_KEY_BYTES];
        uint64_t positions[TAMIS_K_MAX];
        const size_t bytes = random_key(i, key);
        tamis__kind_bloom.positions(segment.header, key, bytes, positions);
        for (uint32_t j = 0; j < segment.header->k; j++)
            expected[positions[j]] = 1;
        (void)tamis__kind_bloom.add(&segment, key, bytes);
        assert_int_equal(tamis__kind_bloom.contains(&segment, key, bytes), 1);
        assert_int_equal(tamis__kind_bloom.add(&segment, key, bytes), 0);
    }
    for (uint64_t position = 0; position < M; position++) {
        assert_int_equal(bit_at(&segment, position), expected[position]);
        count += expected[position];
    }
    tamis__kind_bloom.measure(&segment, &ones, &fp_rate);
    assert_int_equal(ones, count);
    free(segment.header);
}

CASE(bit_order_is_that_of_the_header)
{
    for (uint32_t order = 0; order <= 1; order++) {
        check_adding("php:js,pjw,elf,bkdr,sdbm,djb,dek,fnv", 0, order);
        check_adding("php:fnv", 0, order);
        check_adding("php-mt", 14, order);
        check_adding("redisbloom", 10, order);
        check_adding("guava", 10, order);
        check_adding("xxh3", 7, order);
    }
}

/* A batch leaves the same bytes as single calls, and the same answers. */
CASE(bit_order_is_the_same_in_batches)
{
    enum { KEYS = 500 };
    static char text[KEYS][RANDOM_KEY_BYTES];
    struct tamis_key keys[KEYS];
    uint8_t answers[KEYS];
    struct tamis__segment single, batch;
    segment_over(&single, "php:js,fnv,djb", 0, TAMIS__BITS_MSB_FIRST);
    segment_over(&batch, "php:js,fnv,djb", 0, TAMIS__BITS_MSB_FIRST);
    for (uint64_t i = 0; i < KEYS; i++)
        keys[i] = (struct tamis_key){text[i], random_key(i % 400, text[i])};
    (void)tamis__kind_bloom.add_batch(&batch, keys, KEYS, answers);
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(tamis__kind_bloom.add(&single, keys[i].data, keys[i].bytes), answers[i]);
    assert_memory_equal(single.data, batch.data, single.header->data_bytes);
    assert_int_equal(tamis__kind_bloom.contains_batch(&batch, keys, KEYS, answers), KEYS);
    free(single.header);
    free(batch.header);
}

/* In the last byte of m = 1000003 three bits are of the filter and five are padding, at the end
 * where the bit order has them. */
static void check_padding(const char *hash_set, uint32_t k, uint8_t last_bits, uint8_t padding_bit)
{
    char *path, file[512];
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter =
        fixture_create(store, "padded", SPEC(.m_bits = M, .k = k, .hash_set = hash_set));
    for (uint64_t i = 0; i < 2000; i++) {
        char key[RANDOM_KEY_BYTES];
        assert_done(tamis_filter_add(filter, key, random_key(i, key)));
    }
    struct tamis_segment_stat stat = fixture_segment_stat(filter, 0);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    (void)snprintf(file, sizeof file, "%s", fixture_segment_path(path, stat.number));
    assert_int_equal(fixture_problems(path), 0);
    fixture_poke(file, stat.data_offset + M / 8, &last_bits, 1);
    assert_int_equal(fixture_problems(path), 0);
    fixture_poke(file, stat.data_offset + M / 8, &padding_bit, 1);
    assert_int_equal(fixture_problems(path), 1);
    last_bits = 0;
    fixture_poke(file, stat.data_offset + M / 8, &last_bits, 1);
    last_bits = 1;
    fixture_poke(file, stat.data_offset + M / 8 + 1, &last_bits, 1); /* the byte after the last */
    assert_int_equal(fixture_problems(path), 1);
    free(path);
}

CASE(bit_order_tells_padding_from_bits)
{
    check_padding("php:js,pjw", 0, 0xE0, 0x10);
    check_padding("guava", 2, 0x07, 0x08);
}
