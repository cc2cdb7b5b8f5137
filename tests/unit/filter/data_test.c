/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * data_test.c: filters that are made from a head alone and get their data in pieces, that grow as
 * RedisBloom's do, and that have an owner.
 *
 * The numbers of the layers are RedisBloom's own, for BF.RESERVE 0.02 50 EXPANSION 3 and the keys
 * u0 to u999.  The tests were seen to fail for a growth of 2, for the whole error rate in the next
 * layer, for a word that was stored instead of set, for bits in the other order, and for a record
 * that was written without its owner.
 */
#include "fixture.h"

#include <stdio.h>

#include "streams.h"

/* The first frame of a dump of RedisBloom: one layer without items. */
static struct stream head_of(uint32_t options, uint32_t growth, uint64_t bytes, double error,
                             double bpe, uint32_t hashes, uint64_t entries)
{
    struct stream s = stream_of("SCANDUMP", 8);
    const unsigned char n2 = 0;
    stream_put64(&s, 1);
    stream_put64(&s, 20 + 53);
    stream_put64(&s, 0);
    stream_put32(&s, 1);
    stream_put32(&s, options);
    stream_put32(&s, growth);
    stream_put64(&s, bytes);
    stream_put64(&s, bytes * 8);
    stream_put64(&s, 0);
    stream_put_double(&s, error);
    stream_put_double(&s, bpe);
    stream_put32(&s, hashes);
    stream_put64(&s, entries);
    stream_put(&s, &n2, 1);
    return s;
}

#define LN2_SQUARED 0.480453013918201
static const double ln_100 = 4.605170185988091;

static struct stream growing_by_three(void)
{
    return head_of(5, 3, 64, 0.01, ln_100 / LN2_SQUARED, 7, 50);
}

static int import(tamis_store *store, const char *name, const char *format, uint32_t flags,
                  struct stream *stream, tamis_filter **filter)
{
    const struct tamis_source source = stream_source(stream);
    return tamis_filter_import(store, name, format, IMPORT_SPEC(.flags = flags), &source, filter);
}

static int add_number(tamis_filter *filter, unsigned number)
{
    char key[16];
    const int bytes = snprintf(key, sizeof key, "u%u", number);
    return tamis_filter_add(filter, key, (size_t)bytes);
}

STORE_CASE(growth_is_redisblooms_layer_for_layer)
{
    static const struct {
        uint64_t bytes, capacity, items;
        uint32_t k;
    } layers[] = {{64, 50, 50, 7}, {208, 150, 150, 8}, {704, 450, 450, 9}, {2352, 1350, 337, 10}};
    AUTO_STREAM stream = growing_by_three();
    AUTO_FILTER *filter = NULL;
    assert_done(import(store, "x", "redisbloom", TAMIS_IMPORT_HEAD | TAMIS_IMPORT_AS_THERE, &stream,
                       &filter));
    for (unsigned i = 0; i < 1000; i++)
        assert_done(add_number(filter, i));
    assert_int_equal(fixture_stat(filter).segment_count, 4);
    assert_int_equal(fixture_stat(filter).items, 987);
    for (uint32_t i = 0; i < 4; i++) {
        const struct tamis_segment_stat s = fixture_segment_stat(filter, i);
        assert_int_equal(s.data_bytes, layers[i].bytes);
        assert_int_equal(s.capacity, layers[i].capacity);
        assert_int_equal(s.items, layers[i].items);
        assert_int_equal(s.k, layers[i].k);
    }
}

STORE_CASE(a_chain_without_scaling_refuses_when_it_is_full)
{
    AUTO_STREAM stream = head_of(13, 2, 64, 0.01, ln_100 / LN2_SQUARED, 7, 3);
    AUTO_FILTER *filter = NULL;
    assert_done(import(store, "x", "redisbloom", TAMIS_IMPORT_HEAD | TAMIS_IMPORT_AS_THERE, &stream,
                       &filter));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(add_number(filter, i), 1);
    assert_refused(TAMIS_EFULL, "full", add_number(filter, 9));
}

STORE_CASE(without_the_flag_an_import_takes_keys_on)
{
    AUTO_STREAM stream = growing_by_three();
    AUTO_FILTER *filter = NULL;
    assert_done(import(store, "x", "redisbloom", TAMIS_IMPORT_HEAD, &stream, &filter));
    assert_int_equal(fixture_stat(filter).on_full, TAMIS_ON_FULL_WARN);
}

STORE_CASE(a_layer_with_too_many_hashes_is_not_made)
{
    /* 2^-63.5 has 64 hashes; half of that would have 65. */
    const double error = 7.66e-20;
    const double bpe = 44.0153 / LN2_SQUARED;
    AUTO_STREAM stream = head_of(5, 2, 64, error, bpe, 64, 1);
    AUTO_FILTER *filter = NULL;
    assert_done(import(store, "x", "redisbloom", TAMIS_IMPORT_HEAD | TAMIS_IMPORT_AS_THERE, &stream,
                       &filter));
    assert_int_equal(add_number(filter, 0), 1);
    assert_refused(TAMIS_ELIMIT, "next layer", add_number(filter, 1));
}

STORE_CASE(a_head_takes_its_data_in_any_order)
{
    AUTO_STREAM head = growing_by_three(), again = growing_by_three();
    AUTO_FILTER *from = NULL, *to = NULL;
    unsigned char data[64];
    assert_done(import(store, "from", "redisbloom", TAMIS_IMPORT_HEAD, &head, &from));
    assert_done(import(store, "to", "redisbloom", TAMIS_IMPORT_HEAD, &again, &to));
    for (unsigned i = 0; i < 40; i++)
        assert_done(add_number(from, i));
    assert_done(tamis_filter_read_data(from, 0, 0, data, sizeof data));
    assert_done(tamis_filter_write_data(to, 0, 33, data + 33, 31));
    assert_done(tamis_filter_write_data(to, 0, 0, data, 33));
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(add_number(to, i), 0);
}

STORE_CASE(data_past_the_end_are_refused)
{
    AUTO_FILTER *filter =
        fixture_create(store, "x", SPEC(.kind = TAMIS_KIND_BLOOM, .m_bits = 100, .k = 2));
    unsigned char data[16] = {0};
    assert_refused(TAMIS_EINVAL, "pass the end", tamis_filter_read_data(filter, 0, 9, data, 8));
    assert_refused(TAMIS_EINVAL, "pass the end", tamis_filter_write_data(filter, 0, 16, data, 1));
    assert_refused(TAMIS_EINVAL, "pass the end",
                   tamis_filter_read_data(filter, 0, UINT64_MAX, data, 8));
    assert_refused(TAMIS_EINVAL, "segment", tamis_filter_read_data(filter, 1, 0, data, 1));
    data[12] = 1 << 4; /* position 100 */
    assert_refused(TAMIS_EINVAL, "past the m",
                   tamis_filter_write_data(filter, 0, 0, data, sizeof data));
    data[12] = 1 << 3;
    assert_done(tamis_filter_write_data(filter, 0, 0, data, sizeof data));
}

/* So a filter whose data came in pieces grows where its source does. */
STORE_CASE(items_are_told_behind_the_data)
{
    AUTO_STREAM head = growing_by_three(), again = growing_by_three();
    AUTO_FILTER *from = NULL, *to = NULL;
    unsigned char data[64];
    assert_done(import(store, "from", "redisbloom", TAMIS_IMPORT_HEAD, &head, &from));
    assert_done(import(store, "to", "redisbloom", TAMIS_IMPORT_HEAD, &again, &to));
    for (unsigned i = 0; i < 45; i++)
        assert_done(add_number(from, i));
    assert_done(tamis_filter_read_data(from, 0, 0, data, sizeof data));
    assert_done(tamis_filter_write_data(to, 0, 0, data, sizeof data));
    assert_int_equal(fixture_stat(to).items, 0);
    assert_done(tamis_filter_write_items(to, 0, fixture_stat(from).items));
    assert_int_equal(fixture_stat(to).items, fixture_stat(from).items);
    assert_refused(TAMIS_EINVAL, "segment", tamis_filter_write_items(to, 7, 1));
}

STORE_CASE(counters_are_not_written_as_data)
{
    AUTO_FILTER *filter =
        fixture_create(store, "x", SPEC(.kind = TAMIS_KIND_COUNTING, .capacity = 100));
    const unsigned char data[8] = {1};
    assert_refused(TAMIS_EUNSUPPORTED, "not bits that can be set",
                   tamis_filter_write_data(filter, 0, 0, data, 8));
    assert_refused(TAMIS_EUNSUPPORTED, "not bits that can be set",
                   tamis_filter_write_items(filter, 0, 1));
}

STORE_CASE(a_head_that_goes_on_is_refused)
{
    AUTO_STREAM stream = growing_by_three();
    stream_put64(&stream, 0);
    assert_refused(TAMIS_ECORRUPT, "goes on",
                   import(store, "x", "redisbloom", TAMIS_IMPORT_HEAD, &stream, NULL));
    AUTO_STREAM bits = stream_of("", 0);
    assert_refused(TAMIS_EINVAL, "no head",
                   import(store, "x", "redis-bitmap", TAMIS_IMPORT_HEAD, &bits, NULL));
    assert_refused(TAMIS_EINVAL, "AS_THERE",
                   import(store, "x", "tamis", TAMIS_IMPORT_AS_THERE, &bits, NULL));
    assert_refused(TAMIS_EINVAL, "import flags",
                   import(store, "x", "tamis", 1u << 31, &bits, NULL));
}

/* ---- Bits ------------------------------------------------------------------------------------ */

STORE_CASE(impossible_bits_are_refused)
{
    AUTO_FILTER *bloom =
        fixture_create(store, "bloom", SPEC(.kind = TAMIS_KIND_BLOOM, .m_bits = 100, .k = 2));
    AUTO_FILTER *blocked = fixture_filter(store, "blocked", 100);
    assert_int_equal(tamis_filter_set_bit(bloom, 0, 99), 0);
    assert_refused(TAMIS_EINVAL, "past the m", tamis_filter_set_bit(bloom, 0, 100));
    assert_refused(TAMIS_EINVAL, "segment", tamis_filter_set_bit(bloom, 1, 0));
    assert_refused(TAMIS_EUNSUPPORTED, "kind bloom", tamis_filter_set_bit(blocked, 0, 0));
}

/* ---- Owners ---------------------------------------------------------------------------------- */
