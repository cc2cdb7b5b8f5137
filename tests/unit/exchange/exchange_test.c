/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exchange_test.c: streams that are not what they say (store/exchange/).
 *
 * Each is given to tamis_filter_import() whole; it must be refused with the reason and leave an
 * empty store.  Sound streams come back byte for byte.
 */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>

#include "dumps.h"
#include "exchanges.h"

EXCHANGE_CASE(exchange_unknown_format_is_refused)
{
    struct stream stream = {.data = NULL};
    exchanges_refused(p, "valkey", &EXCHANGES_NOTHING, &stream, TAMIS_EINVAL,
                      "there is no format 'valkey'; this version has redis-bitmap");
    exchanges_refused(p, NULL, &EXCHANGES_NOTHING, &stream, TAMIS_EINVAL, "there is no format ''");
}

/* ---- redisbloom ------------------------------------------------------------------------------ */

EXCHANGE_CASE(redisbloom_of_any_layers_and_chunks_comes_back)
{
    for (uint32_t layers = 1; layers <= 5; layers++) {
        struct dump dump = dump_of(layers);
        AUTO_STREAM whole = dump_stream(&dump);
        exchanges_come_back(p, "redisbloom", &EXCHANGES_NOTHING, &whole);
        dump.chunk_bytes = layers; /* other cuts: the same filter */
        AUTO_STREAM cut = dump_stream(&dump);
        assert_true(cut.bytes > whole.bytes);
        assert_done(exchanges_import(p, "redisbloom", &EXCHANGES_NOTHING, &cut));
        AUTO_STREAM out = exchanges_exported(p, "redisbloom");
        exchanges_same(&whole, &out);
    }
}

/* Pieces of 1 MiB, chunks of 16 MiB and a layer larger than both, none a multiple of another. */
EXCHANGE_CASE(redisbloom_of_several_chunks_comes_back)
{
    struct dump dump = dump_of(1);
    dump.layers[0] = dump_layer(13000000, 0.005, 9);
    dump.size = 9;
    assert_true(dump.layers[0].bytes > (16 << 20));
    AUTO_STREAM whole = dump_stream(&dump);
    exchanges_come_back(p, "redisbloom", &EXCHANGES_NOTHING, &whole);
}

EXCHANGE_CASE(redisbloom_keeps_options_growth_n2_and_sizes)
{
    struct dump dump = dump_of(2);
    dump.options = 13;
    dump.growth = 7;
    dump.layers[0].n2 = 7; /* 128 bits */
    AUTO_STREAM whole = dump_stream(&dump);
    exchanges_come_back(p, "redisbloom", &EXCHANGES_NOTHING, &whole);
    stream_free(&whole);
    dump.options = 4; /* sizes past the capacity, or 0, are what they are */
    dump.layers[0].size = 1000;
    dump.layers[1].size = 0;
    dump.size = 1000;
    whole = dump_stream(&dump);
    exchanges_come_back(p, "redisbloom", &EXCHANGES_NOTHING, &whole);
}

EXCHANGE_CASE(redisbloom_truncated_anywhere_is_refused)
{
    struct dump dump = dump_of(2);
    AUTO_STREAM whole = dump_stream(&dump);
    exchanges_truncated(p, "redisbloom", &whole);
}

static void refuse_dump(const struct exchanges *p, const struct dump *dump, int code,
                        const char *words)
{
    AUTO_STREAM stream = dump_stream(dump);
    exchanges_refused(p, "redisbloom", &EXCHANGES_NOTHING, &stream, code, words);
}

EXCHANGE_CASE(redisbloom_bad_layer_is_refused)
{
    static const double rates[] = {0, -0.0, -0.01, 1, 1.5, NAN, -NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct dump dump = dump_of(2);
        dump.layers[1].error = rates[i];
        refuse_dump(p, &dump, TAMIS_ECORRUPT, "gives layer 1 an error rate of");
    }
    static const double bpes[] = {0, -11, 1, 1e300, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bpes / sizeof bpes[0]; i++) {
        struct dump dump = dump_of(2);
        dump.layers[1].bpe = bpes[i];
        refuse_dump(p, &dump, TAMIS_ECORRUPT, "bits per entry contradict");
    }
    static const uint64_t entries[] = {0, ((uint64_t)1 << 56) + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        struct dump dump = dump_of(2);
        dump.layers[0].entries = entries[i];
        refuse_dump(p, &dump, TAMIS_ECORRUPT, "gives layer 0 room for");
    }
}

EXCHANGE_CASE(redisbloom_bad_hashes_are_refused)
{
    struct dump dump = dump_of(1);
    dump.layers[0].hashes = 0;
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "gives layer 0 0 hashes");
    dump.layers[0].bpe = -0.5; /* as ceil gives -0 for it */
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "gives layer 0 0 hashes; fetch it again");
    dump.layers[0].hashes = 1000000;
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "1000000 hashes, which its -0.5 bits");
    dump.layers[0].bpe = 999999.5 / 0.693147180559945;
    refuse_dump(p, &dump, TAMIS_EUNSUPPORTED,
                "1000000 hashes, and a filter of Tamis has 1 to 64; make it anew");
    dump.layers[0].hashes = 65;
    dump.layers[0].bpe = 64.5 / 0.693147180559945;
    refuse_dump(p, &dump, TAMIS_EUNSUPPORTED,
                "65 hashes, and a filter of Tamis has 1 to 64; make it anew");
    dump.layers[0].hashes = UINT32_MAX;
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "4294967295 hashes");
    dump.layers[0].hashes = 64;
    dump.layers[0].bpe = 63.5 / 0.693147180559945;
    AUTO_STREAM whole = dump_stream(&dump);
    exchanges_come_back(p, "redisbloom", &EXCHANGES_NOTHING, &whole);
}

EXCHANGE_CASE(redisbloom_bad_sizes_are_refused)
{
    static const struct {
        uint64_t bytes, bits;
    } sizes[] = {{0, 0},
                 {16, 0},
                 {16, 127},
                 {16, 129},
                 {(uint64_t)1 << 61, 0}, /* times 8 is 2^64, that is, 0 */
                 {((uint64_t)1 << 61) + 16, 128},
                 {((uint64_t)1 << 59) + 8, ((uint64_t)1 << 62) + 64},
                 {UINT64_MAX, UINT64_MAX - 7}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct dump dump = dump_of(2);
        AUTO_STREAM stream = dump_stream(&dump);
        memcpy(stream.data + 8 + 16 + 20, &sizes[i].bytes, 8);
        memcpy(stream.data + 8 + 16 + 28, &sizes[i].bits, 8);
        exchanges_refused(p, "redisbloom", &EXCHANGES_NOTHING, &stream, TAMIS_ECORRUPT,
                          "which do not go together");
    }
}

/* Layers that are each possible and together are not: 64 of 2^59 bytes are 2^65. */
EXCHANGE_CASE(redisbloom_overflowing_sums_are_refused)
{
    struct dump dump = dump_of(1);
    dump.layer_count = dump.layers_said = 64;
    for (uint32_t i = 0; i < 64; i++)
        dump.layers[i] = dump.layers[0];
    dump.size = 64 * dump.layers[0].size;
    struct stream stream = dump_stream(&dump);
    for (uint32_t i = 0; i < 64; i++) {
        const uint64_t bytes = (uint64_t)1 << 59, bits = bytes * 8;
        memcpy(stream.data + 44 + (size_t)i * 53, &bytes, 8);
        memcpy(stream.data + 52 + (size_t)i * 53, &bits, 8);
    }
    exchanges_refused(p, "redisbloom", &EXCHANGES_NOTHING, &stream, TAMIS_ECORRUPT,
                      "sizes overflow in layer 15");
    stream_free(&stream);

    dump = dump_of(2); /* sizes whose sum is 2^64 + 5 */
    dump.layers[0].size = UINT64_MAX;
    dump.layers[1].size = 6;
    dump.size = 5;
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "has 18446744073709551615 in it");
    dump = dump_of(2);
    dump.size++;
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "says that it holds 30 keys, and its layers say 29");
}

/* More than any disk has, of a stream that is short or does not say how long it is. */
EXCHANGE_CASE(redisbloom_larger_than_the_disk_is_refused)
{
    struct dump dump = dump_of(1);
    AUTO_STREAM stream = dump_stream(&dump);
    const uint64_t bytes = (uint64_t)1 << 50, bits = bytes * 8;
    memcpy(stream.data + 44, &bytes, 8);
    memcpy(stream.data + 52, &bits, 8);
    exchanges_refused(p, "redisbloom", &EXCHANGES_NOTHING, &stream, TAMIS_ECORRUPT, "is truncated");
    stream.length_hidden = true; /* seen to fail where room was made for what the head says */
    exchanges_refused(p, "redisbloom", &EXCHANGES_NOTHING, &stream, TAMIS_ECORRUPT, "is truncated");
}

EXCHANGE_CASE(redisbloom_bad_chain_is_refused)
{
    struct dump dump = dump_of(2);
    dump.layers_said = 0;
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "has a header of 126 bytes for 0 layers; fetch");
    dump.layers_said = 65;
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "has a header of 126 bytes for 65 layers");
    dump.layers_said = UINT32_MAX;
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "has a header of 126 bytes for 4294967295 layers");
    dump.layers_said = 1;
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "has a header of 126 bytes for 1 layer");
    dump.layers_said = 3;
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "has a header of 126 bytes for 3 layers");
    dump = dump_of(1);
    dump.options = 16 | 5;
    refuse_dump(p, &dump, TAMIS_EUNSUPPORTED, "options 0x15, of which 0x10 are not known; use");
    dump.options = 1;
    refuse_dump(p, &dump, TAMIS_EUNSUPPORTED, "hashed to 32 bits (no option FORCE64)");
    dump.options = 5;
    dump.layers[0].n2 = 6; /* modulo 64 of 128 bits */
    refuse_dump(p, &dump, TAMIS_EUNSUPPORTED, "modulo 2^6, but has 128 bits");
    dump.layers[0].n2 = 255;
    refuse_dump(p, &dump, TAMIS_EUNSUPPORTED, "modulo 2^255");
    dump = dump_of(0);
    refuse_dump(p, &dump, TAMIS_ECORRUPT, "has a header of 20 bytes");
    dump = dump_of(1);
    dump.layer_count = dump.layers_said = 65;
    refuse_dump(p, &dump, TAMIS_EUNSUPPORTED, "has 65 layers, and a filter of Tamis at");
}

/* Put `value` over eight bytes of a sound dump of two layers (16 and 32 bytes of data). */
static void refuse_poked(const struct exchanges *p, size_t at, uint64_t value, int code,
                         const char *words)
{
    struct dump dump = dump_of(2);
    AUTO_STREAM stream = dump_stream(&dump);
    memcpy(stream.data + at, &value, sizeof value);
    stream.length_hidden = true;
    exchanges_refused(p, "redisbloom", &EXCHANGES_NOTHING, &stream, code, words);
}

EXCHANGE_CASE(redisbloom_bad_frames_are_refused)
{
    const size_t first = 8 + 16 + 20 + 2 * 53, second = first + 16 + 16, end = second + 16 + 32;
    refuse_poked(p, 0, 0, TAMIS_ECORRUPT, "does not begin with SCANDUMP");
    refuse_poked(p, 8, 2, TAMIS_ECORRUPT, "begins with iterator 2");
    refuse_poked(p, 8, 0, TAMIS_ECORRUPT, "begins with iterator 0");
    refuse_poked(p, 16, 127, TAMIS_ECORRUPT, "has a header of 127 bytes, which no");
    refuse_poked(p, 16, UINT64_MAX, TAMIS_ECORRUPT, "has a header of 18446744073709551615");
    refuse_poked(p, first, 16, TAMIS_ECORRUPT, "iterator 16 where 17 comes next");
    refuse_poked(p, first, 0, TAMIS_ECORRUPT, "out of order");
    refuse_poked(p, first, UINT64_MAX, TAMIS_ECORRUPT, "out of order");
    refuse_poked(p, first + 8, 17, TAMIS_ECORRUPT, "chunk of 17 bytes where its layer has 16");
    refuse_poked(p, first + 8, UINT64_MAX, TAMIS_ECORRUPT, "where its layer has 16 left");
    refuse_poked(p, first + 8, 0, TAMIS_ECORRUPT, "ends before the data of all its layers");
    refuse_poked(p, second, 17, TAMIS_ECORRUPT, "iterator 17 where 49 comes next");
    refuse_poked(p, end, 1, TAMIS_ECORRUPT, "goes on after the data");
    refuse_poked(p, end + 8, 1, TAMIS_ECORRUPT, "goes on after the data");
}

EXCHANGE_CASE(redisbloom_chunks_out_of_order_are_refused)
{
    struct dump dump = dump_of(2);
    AUTO_STREAM sound = dump_stream(&dump);
    static const struct {
        uint64_t iterators[4], lengths[4];
        const char *words;
    } orders[] = {
        {{49, 17, 0}, {32, 16, 0}, "chunk of 32 bytes where its layer has 16 left"},
        {{17, 17, 49, 0}, {16, 16, 32, 0}, "iterator 17 where 33 comes next"},
        {{17, 33, 33, 0}, {16, 16, 16, 0}, "iterator 33 where 49 comes next"},
        {{49, 0}, {48, 0}, "chunk of 48 bytes where its layer has 16 left"}, /* across a layer */
        {{17, 0}, {16, 0}, "ends before"},
    };
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        AUTO_STREAM stream = stream_of(sound.data, 8 + 16 + 20 + 2 * 53);
        for (size_t j = 0; j < 4; j++)
            dump_frame(&stream, orders[i].iterators[j], orders[i].lengths[j]);
        stream.length_hidden = true;
        exchanges_refused(p, "redisbloom", &EXCHANGES_NOTHING, &stream, TAMIS_ECORRUPT,
                          orders[i].words);
    }
}

/* ---- guava ----------------------------------------------------------------------------------- */

static struct stream guava_stream(unsigned char strategy, unsigned char k, uint32_t longs_said,
                                  uint32_t longs)
{
    const unsigned char head[6] = {strategy,
                                   k,
                                   (unsigned char)(longs_said >> 24),
                                   (unsigned char)(longs_said >> 16),
                                   (unsigned char)(longs_said >> 8),
                                   (unsigned char)longs_said};
    struct stream stream = stream_of(head, sizeof head);
    for (uint64_t i = 0; i < (uint64_t)longs * 8; i++) {
        const unsigned char byte = dump_byte(i);
        stream_put(&stream, &byte, 1);
    }
    return stream;
}

EXCHANGE_CASE(guava_of_any_size_comes_back)
{
    static const uint32_t longs[] = {1, 2, 5, 131072, 131073, 300000};
    for (size_t i = 0; i < sizeof longs / sizeof longs[0]; i++) {
        AUTO_STREAM stream = guava_stream(1, (unsigned char)(1 + i * 12), longs[i], longs[i]);
        exchanges_come_back(p, "guava", &EXCHANGES_NOTHING, &stream);
    }
}

EXCHANGE_CASE(guava_truncated_anywhere_is_refused)
{
    AUTO_STREAM stream = guava_stream(1, 7, 3, 3);
    exchanges_truncated(p, "guava", &stream);
}

EXCHANGE_CASE(guava_bad_head_is_refused)
{
    static const struct {
        unsigned char strategy, k;
        uint32_t longs;
        int code;
        const char *words;
    } heads[] = {
        {0, 5, 3, TAMIS_EUNSUPPORTED, "is of strategy 0 (MURMUR128_MITZ_32"},
        {2, 5, 3, TAMIS_ECORRUPT, "begins with strategy 2"},
        {255, 5, 3, TAMIS_ECORRUPT, "begins with strategy 255"},
        {1, 0, 3, TAMIS_ECORRUPT, "has a k of 0; fetch it again"},
        {1, 65, 3, TAMIS_EUNSUPPORTED,
         "has a k of 65, and a filter of Tamis 1 to 64; make it anew"},
        {1, 255, 3, TAMIS_EUNSUPPORTED, "has a k of 255"},
        {1, 5, 0, TAMIS_ECORRUPT, "says that it has 0 longs"},
        {1, 5, 0x80000000, TAMIS_ECORRUPT, "says that it has -2147483648 longs"},
        {1, 5, 0xFFFFFFFF, TAMIS_ECORRUPT, "says that it has -1 longs"},
        {1, 5, 4, TAMIS_ECORRUPT, "is truncated"},
        {1, 5, 2, TAMIS_ECORRUPT, "goes on after its end"},
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        AUTO_STREAM stream = guava_stream(heads[i].strategy, heads[i].k, heads[i].longs, 3);
        exchanges_refused(p, "guava", &EXCHANGES_NOTHING, &stream, heads[i].code, heads[i].words);
    }
}

/* ---- redis-bitmap ---------------------------------------------------------------------------- */

static const struct tamis_import_spec BITMAP = {
    .size = sizeof BITMAP, .hash_set = "php:js,pjw", .m_bits = 1003};

EXCHANGE_CASE(bitmap_of_any_length_comes_back)
{
    unsigned char bytes[126];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(dump_byte(i) | 1);
    bytes[125] = 0xE0; /* positions 1000 to 1002 */
    for (size_t length = 0; length <= sizeof bytes; length++) {
        AUTO_STREAM stream = stream_of(bytes, length);
        exchanges_come_back(p, "redis-bitmap", &BITMAP, &stream);
        stream.length_hidden = true;
        stream.most = 1 + length % 9;
        exchanges_come_back(p, "redis-bitmap", &BITMAP, &stream);
    }
}

/* Sparse and longer than a piece: zeros are not written, and still are there. */
EXCHANGE_CASE(bitmap_of_many_pieces_comes_back)
{
    const struct tamis_import_spec spec = {
        .size = sizeof spec, .hash_set = "php:js", .m_bits = (uint64_t)1 << 26};
    static const size_t set[] = {0, 4095, 4096, 1 << 20, (1 << 20) + 5, 5000000, 8388607};
    AUTO_STREAM stream = {.data = calloc(1, 8388608), .bytes = 8388608};
    assert_non_null(stream.data);
    for (size_t i = 0; i < sizeof set / sizeof set[0]; i++)
        stream.data[set[i]] = (unsigned char)(i + 1);
    exchanges_come_back(p, "redis-bitmap", &spec, &stream);
    for (size_t i = sizeof set / sizeof set[0]; i-- > 0;) { /* behind it all pieces are zero */
        stream.bytes = set[i] + 1;
        exchanges_come_back(p, "redis-bitmap", &spec, &stream);
    }
    stream.bytes = 0;
    exchanges_come_back(p, "redis-bitmap", &spec, &stream);
}

EXCHANGE_CASE(bitmap_past_its_m_is_refused)
{
    unsigned char bytes[200] = {0};
    AUTO_STREAM stream = stream_of(bytes, 127);
    exchanges_refused(p, "redis-bitmap", &BITMAP, &stream, TAMIS_EINVAL,
                      "is longer than m = 1003 bits");
    stream.bytes = 126;
    stream.data[125] = 0x10; /* position 1003 */
    exchanges_refused(p, "redis-bitmap", &BITMAP, &stream, TAMIS_EINVAL,
                      "has a bit past m = 1003 bits");
    stream.data[125] = 0x20;
    exchanges_come_back(p, "redis-bitmap", &BITMAP, &stream);
}

EXCHANGE_CASE(bitmap_without_what_it_needs_is_refused)
{
    static const struct {
        struct tamis_import_spec spec;
        const char *words;
    } specs[] = {
        {IMPORT_FIELD(.m_bits = 1000, .k = 3), "does not say how its bits were set"},
        {IMPORT_FIELD(.hash_set = "bkdr"), "there is no hash set 'bkdr'"},
        {IMPORT_FIELD(.hash_set = "php-mt", .k = 3), "does not say its m"},
        {IMPORT_FIELD(.hash_set = "php-mt", .m_bits = 1000),
         "m alone does not make a filter; give m, of 1 bit or more, and k"},
        {IMPORT_FIELD(.hash_set = "php:js", .k = 2), "so k is 1 here, not 2"},
        {IMPORT_FIELD(.hash_set = "php:js,js", .m_bits = 100, .fp_rate = 2), "2"},
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        AUTO_STREAM stream = stream_of("x", 1);
        exchanges_refused(p, "redis-bitmap", &specs[i].spec, &stream, TAMIS_EINVAL, specs[i].words);
    }
}

EXCHANGE_CASE(streams_that_tell_are_not_contradicted)
{
    static const struct tamis_import_spec specs[] = {{.size = sizeof specs[0], .hash_set = "md5"},
                                                     {.size = sizeof specs[0], .m_bits = 5},
                                                     {.size = sizeof specs[0], .k = 3},
                                                     {.size = sizeof specs[0], .capacity = 100},
                                                     {.size = sizeof specs[0], .fp_rate = 0.5}};
    struct dump dump = dump_of(1);
    AUTO_STREAM stream = dump_stream(&dump), guava = guava_stream(1, 7, 3, 3);
    for (size_t i = 0; i < 5; i++)
        exchanges_refused(p, "redisbloom", &specs[i], &stream, TAMIS_EINVAL, "tells its");
    for (size_t i = 0; i < 3; i++)
        exchanges_refused(p, "guava", &specs[i], &guava, TAMIS_EINVAL, "tells its");
    exchanges_refused(p, "guava", IMPORT_SPEC(.fp_rate = -1), &guava, TAMIS_EINVAL, "rate of -1");
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
