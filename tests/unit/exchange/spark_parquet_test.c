/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spark_parquet_test.c: streams of Apache Spark and of Parquet files, sound ones and others; see
 * exchange_test.c.
 */
#include "fixture.h"

#include "dumps.h"
#include "exchanges.h"

static void put_data(struct stream *stream, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++) {
        const unsigned char byte = dump_byte(i);
        stream_put(stream, &byte, 1);
    }
}

/* A stream with a head of big-endian numbers, and so many longs. */
static struct stream spark_stream(const uint32_t *numbers, size_t count, uint32_t longs)
{
    struct stream stream = {.data = NULL};
    for (size_t i = 0; i < count; i++) {
        const uint32_t big = __builtin_bswap32(numbers[i]);
        stream_put(&stream, &big, sizeof big);
    }
    put_data(&stream, (uint64_t)longs * 8);
    return stream;
}

EXCHANGE_CASE(spark_of_any_size_and_version_comes_back)
{
    static const uint32_t longs[] = {1, 2, 5, 131072, 131073};
    for (uint32_t i = 0; i < sizeof longs / sizeof longs[0]; i++) {
        AUTO_STREAM v1 = spark_stream((const uint32_t[]){1, 1 + i * 15, longs[i]}, 3, longs[i]);
        AUTO_STREAM v2 = spark_stream((const uint32_t[]){2, 64, 0, longs[i]}, 4, longs[i]);
        exchanges_come_back(p, "spark", &EXCHANGES_NOTHING, &v1);
        exchanges_come_back(p, "spark", &EXCHANGES_NOTHING, &v2);
    }
}

/* A seed is told only with leave, as it is by format tamis. */
EXCHANGE_CASE(spark_seed_is_kept_and_told_with_leave)
{
    AUTO_STREAM stream = spark_stream((const uint32_t[]){2, 5, 0xFFFFFFFB, 3}, 4, 3);
    struct stream out = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&out);
    tamis_filter *filter;
    const struct tamis_source source = stream_source(&stream);
    assert_done(tamis_filter_import(p->store, "x", "spark", NULL, &source, &filter));
    assert_refused(TAMIS_EINVAL, "the stream would hold the seed of the filter 'x'",
                   tamis_filter_export(filter, "spark", 0, &sink));
    assert_int_equal(out.bytes, 0);
    assert_done(tamis_filter_export(filter, "spark", TAMIS_EXPORT_WITH_KEY, &sink));
    exchanges_same(&stream, &out);
    stream_free(&out);
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_drop(p->store, "x"));
}

EXCHANGE_CASE(spark_truncated_anywhere_is_refused)
{
    AUTO_STREAM v1 = spark_stream((const uint32_t[]){1, 7, 3}, 3, 3);
    AUTO_STREAM v2 = spark_stream((const uint32_t[]){2, 7, 0, 3}, 4, 3);
    exchanges_truncated(p, "spark", &v1);
    exchanges_truncated(p, "spark", &v2);
}

EXCHANGE_CASE(spark_bad_head_is_refused)
{
    static const struct {
        uint32_t numbers[4];
        int code;
        const char *words;
    } heads[] = {
        {{0, 5, 0, 3}, TAMIS_ECORRUPT, "begins with version 0, and Spark writes 1 or 2"},
        {{3, 5, 0, 3}, TAMIS_ECORRUPT, "begins with version 3"},
        {{0xFFFFFFFF, 5, 0, 3}, TAMIS_ECORRUPT, "begins with version -1"},
        {{2, 0, 0, 3}, TAMIS_ECORRUPT, "has a k of 0"},
        {{2, 0x80000000, 0, 3}, TAMIS_ECORRUPT, "has a k of -2147483648"},
        {{2, 65, 0, 3}, TAMIS_EUNSUPPORTED, "has a k of 65, and a filter of Tamis 1 to 64"},
        {{2, 0x7FFFFFFF, 0, 3}, TAMIS_EUNSUPPORTED, "has a k of 2147483647"},
        {{2, 5, 0, 0}, TAMIS_ECORRUPT, "says that it has 0 longs"},
        {{2, 5, 0, 0xFFFFFFFF}, TAMIS_ECORRUPT, "says that it has -1 longs"},
        {{2, 5, 0, 4}, TAMIS_ECORRUPT, "is truncated"},
        {{2, 5, 0, 2}, TAMIS_ECORRUPT, "goes on after its end"},
        {{1, 5, 0, 3}, TAMIS_ECORRUPT, "says that it has 0 longs"}, /* there is no seed in it */
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        AUTO_STREAM stream = spark_stream(heads[i].numbers, 4, 3);
        exchanges_refused(p, "spark", &EXCHANGES_NOTHING, &stream, heads[i].code, heads[i].words);
    }
}

#define PARQUET_REST "\x1C\x1C\0\0\x1C\x1C\0\0\x1C\x1C\0\0\0"

/* A header, of which some bytes are given, and so many blocks of 32 bytes. */
static struct stream parquet_stream(const char *head, size_t head_bytes, uint32_t blocks)
{
    struct stream stream = stream_of(head, head_bytes);
    put_data(&stream, (uint64_t)blocks * 32);
    return stream;
}
#define PARQUET(head, blocks) parquet_stream(head, sizeof head - 1, blocks)

EXCHANGE_CASE(parquet_of_any_size_comes_back)
{
    /* The size is twice the bytes, seven bits a byte: of 1, 2, 3 and 4 bytes. */
    AUTO_STREAM one = PARQUET("\x15\x40" PARQUET_REST, 1);
    AUTO_STREAM three = PARQUET("\x15\xC0\x01" PARQUET_REST, 3);
    AUTO_STREAM many = PARQUET("\x15\x80\x80\x08" PARQUET_REST, 2048);
    AUTO_STREAM large = PARQUET("\x15\xC0\x80\x80\x01" PARQUET_REST, 32769);
    exchanges_come_back(p, "parquet", &EXCHANGES_NOTHING, &one);
    exchanges_come_back(p, "parquet", &EXCHANGES_NOTHING, &three);
    exchanges_come_back(p, "parquet", &EXCHANGES_NOTHING, &many);
    exchanges_come_back(p, "parquet", &EXCHANGES_NOTHING, &large);
}

EXCHANGE_CASE(parquet_truncated_anywhere_is_refused)
{
    AUTO_STREAM stream = PARQUET("\x15\xC0\x01" PARQUET_REST, 3);
    exchanges_truncated(p, "parquet", &stream);
}

EXCHANGE_CASE(parquet_bad_head_is_refused)
{
    static const struct {
        struct {
            const char *bytes;
            size_t count;
        } head;
        int code;
        const char *words;
    } heads[] = {
#define HEAD(text) {text, sizeof text - 1}
        {HEAD("PAR1"), TAMIS_ECORRUPT, "is a whole Parquet file; give bloom_filter_length"},
        {HEAD("\x25\x40" PARQUET_REST), TAMIS_ECORRUPT, "does not begin as the header"},
        {HEAD("\x15\x00" PARQUET_REST), TAMIS_ECORRUPT, "says that it has 0 bytes"},
        {HEAD("\x15\x3F" PARQUET_REST), TAMIS_ECORRUPT, "says that it has -32 bytes"},
        {HEAD("\x15\x20" PARQUET_REST), TAMIS_ECORRUPT, "says that it has 16 bytes"},
        {HEAD("\x15\xC0\x00" PARQUET_REST), TAMIS_ECORRUPT, "not a number as Thrift writes it"},
        {HEAD("\x15\xC0\x80\x80\x80\x80\x01" PARQUET_REST), TAMIS_ECORRUPT,
         "not a number as Thrift writes it"},
        {HEAD("\x15\xC0\x80\x80\x80\x10" PARQUET_REST), TAMIS_ECORRUPT,
         "not a number as Thrift writes it"},
        {HEAD("\x15\x40\x1C\x2C\0\0\x1C\x1C\0\0\x1C\x1C\0\0\0"), TAMIS_EUNSUPPORTED,
         "has an algorithm of number 2, and only number 1 (BLOCK)"},
        {HEAD("\x15\x40\x1C\x1C\0\0\x1C\xFC\0\0\x1C\x1C\0\0\0"), TAMIS_EUNSUPPORTED,
         "has a hash function of number 15, and only number 1 (XXHASH)"},
        {HEAD("\x15\x40\x1C\x1C\0\0\x1C\x1C\0\0\x1C\x3C\0\0\0"), TAMIS_EUNSUPPORTED,
         "has a compression of number 3, and only number 1 (UNCOMPRESSED)"},
        {HEAD("\x15\x40\x1C\x1C\0\0\x2C\x1C\0\0\x1C\x1C\0\0\0"), TAMIS_ECORRUPT,
         "does not say a hash function as the writers of Parquet do"},
        {HEAD("\x15\x40\x1C\x1C\0\0\x1C\x1C\0\0\x1C\x1C\0\0\x15"), TAMIS_EUNSUPPORTED,
         "with more fields than the four"},
        {HEAD("\x15\x80\x01" PARQUET_REST), TAMIS_ECORRUPT, "goes on after its end"},
        {HEAD("\x15\x80\x02" PARQUET_REST), TAMIS_ECORRUPT, "is truncated"},
#undef HEAD
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        AUTO_STREAM stream = parquet_stream(heads[i].head.bytes, heads[i].head.count, 3);
        exchanges_refused(p, "parquet", &EXCHANGES_NOTHING, &stream, heads[i].code, heads[i].words);
    }
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
