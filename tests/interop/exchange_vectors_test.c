/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exchange_vectors_test.c: what RedisBloom, Guava, Spark, writers of Parquet, and PHP on Redis
 * wrote, as they wrote it.
 *
 * Each dump is imported, must answer every recorded operation as the other program did, and come
 * out again byte for byte.  The same filters are also made from nothing by adding the keys; then
 * the stream must be that of the other program too.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "tsv.h"

static tamis_store *store;

/* The stream as filter "x", open. */
static tamis_filter *imported(const char *format, const struct tamis_import_spec *spec,
                              struct stream *stream)
{
    const struct tamis_source source = stream_source(stream);
    tamis_filter *filter;
    assert_done(tamis_filter_import(store, "x", format, spec, &source, &filter));
    return filter;
}

static struct stream exported(tamis_filter *filter, const char *format)
{
    struct stream out = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&out);
    assert_done(tamis_filter_export(filter, format, TAMIS_EXPORT_WITH_KEY, &sink));
    return out;
}

static void close_and_drop(tamis_filter *filter)
{
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_drop(store, "x"));
}

/* The filter, which is then dropped, comes out as this stream. */
static void assert_comes_out(tamis_filter *filter, const char *format, const char *what,
                             const struct stream *expected)
{
    AUTO_STREAM got = exported(filter, format);
    if (expected->bytes != got.bytes || memcmp(expected->data, got.data, got.bytes) != 0)
        fail_msg("%s: %zu bytes came out that are not the %zu that went in", what, got.bytes,
                 expected->bytes);
    close_and_drop(filter);
}

static void assert_sha256(const char *what, const void *data, size_t bytes, const char *expected)
{
    char hex[65];
    if (!stream_sha256(data, bytes, hex)) fail_msg("there is no sha256sum");
    if (strcmp(hex, expected) != 0) fail_msg("%s: SHA-256 is %s, not %s", what, hex, expected);
}

static bool is_op(const struct tsv *ops, size_t row, const char *op)
{
    return strcmp(tsv_cell(ops, row, "op"), op) == 0;
}

static int contains(tamis_filter *filter, const struct tsv *ops, size_t row)
{
    AUTO_STREAM key = tsv_bytes(ops, row, "key_hex");
    return tamis_filter_contains(filter, key.data, key.bytes);
}

static int add(tamis_filter *filter, const struct tsv *ops, size_t row)
{
    AUTO_STREAM key = tsv_bytes(ops, row, "key_hex");
    return tamis_filter_add(filter, key.data, key.bytes);
}

/* The recorded answer of a key: a number, or -1 where the key was not sent. */
static int recorded(const struct tsv *ops, size_t row, const char *column)
{
    const char *cell = tsv_cell(ops, row, column);
    if (strcmp(cell, "E") == 0) return 0; /* the filter was full and did not have the key */
    return *cell == '\0' ? -1 : atoi(cell);
}

/* In the final state: an added key is there, a refused one is not, a query is answered. */
static size_t assert_answers(tamis_filter *filter, const struct tsv *ops, const char *column)
{
    size_t asked = 0;
    for (size_t row = 0; row < ops->rows; row++) {
        int expected = recorded(ops, row, column);
        if (expected < 0) continue;
        if (is_op(ops, row, "add") && tsv_cell(ops, row, column)[0] != 'E') expected = 1;
        if (contains(filter, ops, row) != expected)
            fail_msg("%s row %zu: not answered as recorded", column, row + 2);
        asked++;
    }
    return asked;
}

/* The other system gave fill^k.  Our rate is that, and what its hash set repeats of few keys. */
static struct tamis_segment_stat filled_as_recorded(tamis_filter *filter, const struct tsv *dumps,
                                                    size_t row)
{
    struct tamis_segment_stat segment = {.size = sizeof segment};
    const double rate = tsv_double(dumps, row, "expectedFpp");
    assert_done(tamis_filter_fill(filter, 0, &segment));
    assert_true(fabs(pow(segment.fill, segment.k) / rate - 1) < 1e-9);
    assert_true(segment.fp_rate_now / rate > 1 - 1e-9);
    return segment;
}

/* Makes a filter as that of the dump was made, adds the same keys, and compares the streams.  If
 * `replies`, the ops have what was answered to each add. */
static void check_made(const char *format, const struct tsv *dumps, size_t row,
                       const struct tamis_filter_spec *spec, const struct tsv *ops, bool replies)
{
    const char *name = tsv_cell(dumps, row, "name");
    AUTO_STREAM dump = tsv_bytes(dumps, row, "data_hex");
    tamis_filter *filter = fixture_create(store, "x", spec);
    for (size_t op = 0; op < ops->rows; op++) {
        const int expected = recorded(ops, op, name);
        if (!is_op(ops, op, "add") || expected < 0) continue;
        const int64_t new = assert_done(add(filter, ops, op));
        if (replies) assert_int_equal(new, expected);
    }
    assert_comes_out(filter, format, name, &dump);
}

/* ---- RedisBloom ------------------------------------------------------------------------------ */

/* The rows of one dump, as a container; *first is the row of its header. */
static struct stream container(const struct tsv *dumps, const char *name, size_t *first)
{
    struct stream stream = stream_of("SCANDUMP", 8);
    bool found = false;
    for (size_t row = 0; row < dumps->rows; row++) {
        if (strcmp(tsv_cell(dumps, row, "name"), name) != 0) continue;
        const uint64_t bytes = tsv_number(dumps, row, "len");
        AUTO_STREAM data = tsv_bytes(dumps, row, "data_hex");
        if (!found) *first = row;
        found = true;
        stream_put64(&stream, tsv_number(dumps, row, "iterator_returned"));
        stream_put64(&stream, bytes);
        if (data.bytes != bytes) { /* too long for the vectors: only its sum is known */
            data.data = realloc(data.data, bytes);
            assert_non_null(data.data);
            memset(data.data, 0, bytes);
            data.bytes = bytes;
        }
        stream_put(&stream, data.data, data.bytes);
    }
    assert_true(found);
    return stream;
}

CASE(redisbloom_dumps_answer_as_recorded_and_come_back)
{
    static const char *const names[] = {"scale", "expand4", "nonscaling", "default", "expand1"};
    AUTO_TSV dumps = tsv_read("rb_dumps.tsv"), ops = tsv_read("rb_ops.tsv");
    size_t first, asked = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        AUTO_STREAM dump = container(&dumps, names[i], &first);
        tamis_filter *filter = imported("redisbloom", NULL, &dump);
        asked += assert_answers(filter, &ops, names[i]);
        assert_comes_out(filter, "redisbloom", names[i], &dump);
    }
    print_message("%zu answers\n", asked);
    assert_true(asked > 1000);
}

/* Filters of one layer, empty, are added to as RedisBloom was: same answers, same dump. */
CASE(redisbloom_adds_give_the_recorded_dump)
{
    AUTO_TSV dumps = tsv_read("rb_dumps.tsv"), ops = tsv_read("rb_ops.tsv");
    size_t header;
    AUTO_STREAM dump = container(&dumps, "nonscaling", &header);
    AUTO_STREAM empty = stream_of(dump.data, dump.bytes);
    memset(empty.data + 24, 0, 8);           /* size of the chain, */
    memset(empty.data + 24 + 20 + 16, 0, 8); /* of the layer, */
    memset(empty.data + 24 + 73 + 16, 0, 184);
    tamis_filter *filter = imported("redisbloom", NULL, &empty);
    for (size_t row = 0; row < ops.rows; row++) {
        const char *reply = tsv_cell(&ops, row, "nonscaling");
        if (!is_op(&ops, row, "add") || *reply == '\0' || *reply == 'E') continue;
        assert_int_equal(add(filter, &ops, row), atoi(reply));
    }
    assert_comes_out(filter, "redisbloom", "nonscaling", &dump);
}

/* 10 million entries, so two chunks, of which the vectors have the sums. */
CASE(redisbloom_dump_of_two_chunks_is_cut_as_recorded)
{
    AUTO_TSV dumps = tsv_read("rb_dumps.tsv"), ops = tsv_read("rb_ops.tsv");
    size_t header, added = 0;
    AUTO_STREAM empty = container(&dumps, "big", &header);
    memset(empty.data + 24, 0, 8);
    memset(empty.data + 24 + 20 + 16, 0, 8);
    tamis_filter *filter = imported("redisbloom", NULL, &empty);
    for (size_t row = 0; added < 200; row++)
        if (is_op(&ops, row, "add")) added += (size_t)assert_done(add(filter, &ops, row));
    AUTO_STREAM out = exported(filter, "redisbloom");
    assert_int_equal(out.bytes, empty.bytes);
    size_t at = 8;
    for (size_t row = header; row < dumps.rows; row++) {
        uint64_t frame[2];
        memcpy(frame, out.data + at, sizeof frame);
        assert_int_equal(frame[0], tsv_number(&dumps, row, "iterator_returned"));
        assert_int_equal(frame[1], tsv_number(&dumps, row, "len"));
        assert_sha256("big", out.data + at + 16, frame[1], tsv_cell(&dumps, row, "sha256"));
        at += 16 + frame[1];
    }
    assert_int_equal(at, out.bytes);
    close_and_drop(filter);
}

/* ---- Guava ----------------------------------------------------------------------------------- */

CASE(guava_dumps_answer_as_recorded_and_come_back)
{
    AUTO_TSV dumps = tsv_read("guava_dumps.tsv"), ops = tsv_read("guava_ops.tsv");
    for (size_t row = 0; row < dumps.rows; row++) {
        const char *name = tsv_cell(&dumps, row, "name");
        AUTO_STREAM dump = tsv_bytes(&dumps, row, "data_hex");
        const struct tamis_import_spec *spec = IMPORT_SPEC(.capacity = tsv_number(&dumps, row, "n"),
                                                           .fp_rate = tsv_double(&dumps, row, "p"));
        tamis_filter *filter = imported("guava", spec, &dump);
        assert_true(assert_answers(filter, &ops, name) > 100);
        struct tamis_filter_stat stat = fixture_stat(filter);
        assert_int_equal(stat.capacity, spec->capacity);
        assert_true(stat.fp_rate == spec->fp_rate);
        /* Guava estimates by the same formula */
        assert_int_equal(stat.items, atoi(tsv_cell(&dumps, row, "approximateElementCount")));
        (void)filled_as_recorded(filter, &dumps, row);
        assert_comes_out(filter, "guava", name, &dump);
    }
}

CASE(guava_filters_made_here_give_the_recorded_dump)
{
    AUTO_TSV dumps = tsv_read("guava_dumps.tsv"), ops = tsv_read("guava_ops.tsv");
    for (size_t row = 0; row < dumps.rows; row++)
        check_made("guava", &dumps, row,
                   SPEC(.capacity = tsv_number(&dumps, row, "n"),
                        .fp_rate = tsv_double(&dumps, row, "p"), .hash_set = "guava"),
                   &ops, true);
}

/* ---- Spark and Parquet ----------------------------------------------------------------------- */

/* Imports each dump, asks it all that the other system was asked, and exports it again. */
static void check_dumps(const char *format, const struct tsv *dumps, const struct tsv *ops)
{
    for (size_t row = 0; row < dumps->rows; row++) {
        const char *name = tsv_cell(dumps, row, "name");
        AUTO_STREAM dump = tsv_bytes(dumps, row, "data_hex");
        assert_sha256(name, dump.data, dump.bytes, tsv_cell(dumps, row, "sha256"));
        tamis_filter *filter = imported(format, NULL, &dump);
        assert_true(assert_answers(filter, ops, name) > ops->rows / 3);
        assert_comes_out(filter, format, name, &dump);
    }
}

CASE(spark_dumps_answer_as_recorded_and_come_back)
{
    AUTO_TSV dumps = tsv_read("spark_dumps.tsv"), ops = tsv_read("spark_ops.tsv");
    check_dumps("spark", &dumps, &ops);
}

CASE(spark_rates_are_those_of_spark)
{
    AUTO_TSV dumps = tsv_read("spark_dumps.tsv");
    for (size_t row = 0; row < dumps.rows; row++) {
        AUTO_STREAM dump = tsv_bytes(&dumps, row, "data_hex");
        tamis_filter *filter = imported("spark", NULL, &dump);
        const struct tamis_segment_stat segment = filled_as_recorded(filter, &dumps, row);
        assert_int_equal(segment.seed, (uint32_t)atoi(tsv_cell(&dumps, row, "seed")));
        close_and_drop(filter);
    }
}

CASE(spark_filters_made_here_give_the_recorded_dump)
{
    AUTO_TSV dumps = tsv_read("spark_dumps.tsv"), ops = tsv_read("spark_ops.tsv");
    for (size_t row = 0; row < dumps.rows; row++) {
        const bool old = strcmp(tsv_cell(&dumps, row, "version"), "V1") == 0;
        check_made("spark", &dumps, row,
                   SPEC(.capacity = tsv_number(&dumps, row, "n"),
                        .fp_rate = tsv_double(&dumps, row, "p"),
                        .seed = (uint32_t)atoi(tsv_cell(&dumps, row, "seed")),
                        .hash_set = old ? "spark-v1" : "spark-v2"),
                   &ops, true);
    }
}

/* What DCSO's program had attached comes back too. */
CASE(dcso_dumps_answer_as_recorded_and_come_back)
{
    AUTO_TSV dumps = tsv_read("dcso_dumps.tsv"), ops = tsv_read("dcso_ops.tsv");
    check_dumps("dcso", &dumps, &ops);
    for (size_t row = 0; row < dumps.rows; row++) {
        AUTO_STREAM dump = tsv_bytes(&dumps, row, "data_hex");
        tamis_filter *filter = imported("dcso", NULL, &dump);
        struct tamis_filter_stat stat = fixture_stat(filter);
        assert_int_equal(stat.capacity, tsv_number(&dumps, row, "n"));
        assert_true(stat.fp_rate == tsv_double(&dumps, row, "p"));
        assert_int_equal(stat.items, tsv_number(&dumps, row, "keys"));
        close_and_drop(filter);
    }
}

CASE(dcso_filters_made_here_give_the_recorded_dump)
{
    AUTO_TSV dumps = tsv_read("dcso_dumps.tsv"), ops = tsv_read("dcso_ops.tsv");
    check_made("dcso", &dumps, 0, /* the one without an attachment */
               SPEC(.capacity = tsv_number(&dumps, 0, "n"), .fp_rate = tsv_double(&dumps, 0, "p"),
                    .hash_set = "dcso"),
               &ops, true);
}

/* Also one of an older version, whose m is no multiple of 8, and whose head has remains of others'
 * memory. */
CASE(pybloomfilter_dumps_answer_as_recorded_and_come_back)
{
    AUTO_TSV dumps = tsv_read("pybloomfilter_dumps.tsv"), ops = tsv_read("pybloomfilter_ops.tsv");
    check_dumps("pybloomfilter", &dumps, &ops);
    for (size_t row = 0; row < dumps.rows; row++) {
        AUTO_STREAM dump = tsv_bytes(&dumps, row, "data_hex");
        tamis_filter *filter = imported("pybloomfilter", NULL, &dump);
        struct tamis_filter_stat stat = fixture_stat(filter);
        assert_string_equal(strchr(stat.hash_set, ':') + 1, tsv_cell(&dumps, row, "seeds"));
        assert_int_equal(stat.capacity, tsv_number(&dumps, row, "n"));
        assert_true(stat.fp_rate == tsv_double(&dumps, row, "p"));
        assert_int_equal(stat.m_bits, tsv_number(&dumps, row, "m"));
        close_and_drop(filter);
    }
}

/* The package leaves its count of keys at 0; ours is right, and all else is the same. */
CASE(pybloomfilter_filters_made_here_give_the_recorded_dump)
{
    AUTO_TSV dumps = tsv_read("pybloomfilter_dumps.tsv"), ops = tsv_read("pybloomfilter_ops.tsv");
    const char *name = tsv_cell(&dumps, 0, "name");
    AUTO_STREAM dump = tsv_bytes(&dumps, 0, "data_hex");
    char set[TAMIS_HASH_SET_NAME_MAX + 1];
    (void)snprintf(set, sizeof set, "pybloomfilter:%s", tsv_cell(&dumps, 0, "seeds"));
    tamis_filter *filter =
        fixture_create(store, "x",
                       SPEC(.capacity = tsv_number(&dumps, 0, "n"),
                            .m_bits = tsv_number(&dumps, 0, "m"), .fp_rate = 0.5, .hash_set = set));
    uint64_t keys = 0;
    for (size_t op = 0; op < ops.rows; op++) {
        if (!is_op(&ops, op, "add")) continue;
        const int64_t new = assert_done(add(filter, &ops, op));
        assert_int_equal(new, recorded(&ops, op, name));
        keys += (uint64_t) new;
    }
    AUTO_STREAM got = exported(filter, "pybloomfilter");
    const uint64_t none = 0;
    assert_memory_equal(got.data + 21 + 1064, &keys, sizeof keys);
    memcpy(got.data + 21 + 1064, &none, sizeof none);
    memcpy(got.data + 21 + 8, dump.data + 21 + 8, 8); /* the rate */
    assert_int_equal(got.bytes, dump.bytes);
    assert_memory_equal(got.data, dump.data, got.bytes);
    close_and_drop(filter);
}

CASE(parquet_dumps_answer_as_recorded_and_come_back)
{
    AUTO_TSV dumps = tsv_read("parquet_dumps.tsv"), ops = tsv_read("parquet_ops.tsv");
    check_dumps("parquet", &dumps, &ops);
}

CASE(parquet_filters_made_here_give_the_recorded_dump)
{
    AUTO_TSV dumps = tsv_read("parquet_dumps.tsv"), ops = tsv_read("parquet_ops.tsv");
    for (size_t row = 0; row < dumps.rows; row++)
        check_made("parquet", &dumps, row,
                   SPEC(.capacity = tsv_number(&dumps, row, "n"),
                        .fp_rate = tsv_double(&dumps, row, "p"), .hash_set = "parquet"),
                   &ops, false);
}

/* ---- PHP on Redis ---------------------------------------------------------------------------- */

/* A string of some set bits, most significant first, made as it is read: it may be 512 MiB. */
struct bits {
    uint64_t *offsets; /* ascending */
    size_t count, next;
    uint64_t at, bytes;
};

static struct bits read_bits(const char *key)
{
    struct bits bits = {.offsets = NULL};
    char name[64];
    (void)snprintf(name, sizeof name, "redis_bits_%s.txt", key);
    AUTO_TSV lines = tsv_read(name); /* one column; the first line is a bit as well */
    bits.count = lines.rows + 1;
    bits.offsets = calloc(bits.count, sizeof *bits.offsets);
    assert_non_null(bits.offsets);
    for (size_t i = 0; i < bits.count; i++)
        bits.offsets[i] = strtoull(lines.cells[i], NULL, 10);
    bits.bytes = bits.offsets[bits.count - 1] / 8 + 1;
    return bits;
}

static int64_t read_string(void *context, void *buffer, size_t bytes)
{
    struct bits *bits = context;
    const uint64_t left = bits->bytes - bits->at;
    const size_t now = left < bytes ? (size_t)left : bytes;
    unsigned char *string = buffer;
    memset(string, 0, now);
    for (; bits->next < bits->count && bits->offsets[bits->next] / 8 < bits->at + now; bits->next++)
        string[bits->offsets[bits->next] / 8 - bits->at] |=
            (unsigned char)(0x80 >> bits->offsets[bits->next] % 8);
    bits->at += now;
    return (int64_t)now;
}

static int write_pipe(void *context, const void *buffer, size_t bytes)
{
    return fwrite(buffer, 1, bytes, context) == bytes ? 0 : TAMIS_EIO;
}

/* What an export sums to, without keeping it. */
static void assert_export_sha256(tamis_filter *filter, const char *key, const char *expected)
{
    char command[4096], hex[65] = "";
    AUTO_FREE char *path = scratch_path("sum");
    (void)snprintf(command, sizeof command, "sha256sum >'%s'", path);
    FILE *pipe = popen(command, "we");
    assert_non_null(pipe);
    const struct tamis_sink sink = {.size = sizeof sink, .write = write_pipe, .context = pipe};
    assert_done(tamis_filter_export(filter, "redis-bitmap", 0, &sink));
    assert_int_equal(pclose(pipe), 0);
    fixture_peek(path, 0, hex, 64);
    if (strcmp(hex, expected) != 0) fail_msg("%s: SHA-256 is %s, not %s", key, hex, expected);
}

static int compare_piece(void *context, const void *buffer, size_t bytes)
{
    static unsigned char expected[1 << 16];
    for (size_t done = 0, now; done < bytes; done += now) {
        now = bytes - done < sizeof expected ? bytes - done : sizeof expected;
        if (read_string(context, expected, now) != (int64_t)now ||
            memcmp(expected, (const unsigned char *)buffer + done, now) != 0)
            return TAMIS_EIO;
    }
    return 0;
}

/* The export is the recorded string, bit for bit: that one's SHA-256 has been seen to be the
 * recorded one when it was imported.  A sum of 512 MiB takes two seconds. */
static void assert_export_is_recorded(tamis_filter *filter, const char *key)
{
    struct bits bits = read_bits(key);
    const struct tamis_sink sink = {.size = sizeof sink, .write = compare_piece, .context = &bits};
    assert_done(tamis_filter_export(filter, "redis-bitmap", 0, &sink));
    assert_int_equal(bits.at, bits.bytes);
    free(bits.offsets);
}

static const char *string_field(const struct tsv *strings, const char *key, const char *field)
{
    for (size_t row = 0; row < strings->rows; row++)
        if (strcmp(tsv_cell(strings, row, "redis_key"), key) == 0)
            return tsv_cell(strings, row, field);
    fail_msg("there is no string %s", key);
    return NULL;
}

static const struct {
    const char *key, *hash_set;
    uint64_t m_bits;
} strings_of[] = {
    {"rptc", "php:bkdr,sdbm,js", 0},
    {"bl0", "php:js,pjw", 0},
    {"bl8", "php:js,pjw", 8},
    {"bl1000003", "php:js,pjw", 1000003},
    {"all8_1000003", "php:js,pjw,elf,bkdr,sdbm,djb,dek,fnv", 1000003},
};
#define STRINGS (sizeof strings_of / sizeof strings_of[0])

static void assert_exists(tamis_filter *filter, const struct tsv *ops, const char *key)
{
    char column[64];
    (void)snprintf(column, sizeof column, "%s_exists", key);
    for (size_t row = 0; row < ops->rows; row++)
        if (contains(filter, ops, row) != atoi(tsv_cell(ops, row, column)))
            fail_msg("%s row %zu: not answered as recorded", column, row + 2);
}

CASE(redis_strings_answer_as_recorded_and_come_back)
{
    AUTO_TSV strings = tsv_read("redis_strings.tsv"), ops = tsv_read("redis_ops.tsv");
    for (size_t i = 0; i < STRINGS; i++) {
        if (FIXTURE_SANITIZED && strings_of[i].m_bits == 0) continue; /* 512 MiB */
        const char *key = strings_of[i].key;
        const bool short_one = strings_of[i].m_bits == 8;
        uint64_t all[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        struct bits bits = {.offsets = all, .count = 8, .bytes = 1};
        struct tamis_segment_stat segment = {.size = sizeof segment};
        tamis_filter *filter;
        if (!short_one) bits = read_bits(key);
        const struct tamis_source source = {
            .size = sizeof source, .read = read_string, .context = &bits, .bytes = bits.bytes};
        assert_done(tamis_filter_import(
            store, "x", "redis-bitmap",
            IMPORT_SPEC(.hash_set = strings_of[i].hash_set, .m_bits = strings_of[i].m_bits),
            &source, &filter));
        assert_exists(filter, &ops, key);
        assert_done(tamis_filter_fill(filter, 0, &segment));
        assert_int_equal(segment.ones, atoi(string_field(&strings, key, "bitcount")));
        assert_int_equal(bits.bytes, atoi(string_field(&strings, key, "strlen")));
        assert_export_sha256(filter, key, string_field(&strings, key, "sha256_of_GET"));
        if (!short_one) free(bits.offsets);
        close_and_drop(filter);
    }
}

/* The keys added to an empty filter of the same hash set make the same string. */
CASE(redis_strings_are_made_by_the_same_adds)
{
    AUTO_TSV strings = tsv_read("redis_strings.tsv"), ops = tsv_read("redis_ops.tsv");
    for (size_t i = 0; i < STRINGS; i++) {
        if (FIXTURE_SANITIZED && strings_of[i].m_bits == 0) continue; /* 512 MiB */
        const uint64_t m_bits = strings_of[i].m_bits ? strings_of[i].m_bits : (uint64_t)1 << 32;
        tamis_filter *filter =
            fixture_create(store, "x", SPEC(.hash_set = strings_of[i].hash_set, .m_bits = m_bits));
        for (size_t row = 0; row < ops.rows; row++)
            if (is_op(&ops, row, "add")) assert_done(add(filter, &ops, row));
        assert_exists(filter, &ops, strings_of[i].key);
        if (strings_of[i].m_bits == 8) /* has no list of bits */
            assert_export_sha256(filter, strings_of[i].key,
                                 string_field(&strings, strings_of[i].key, "sha256_of_GET"));
        else
            assert_export_is_recorded(filter, strings_of[i].key);
        close_and_drop(filter);
    }
    AUTO_STREAM joker = stream_of("\x28", 1);
    tamis_filter *filter = fixture_create(store, "x", SPEC(.hash_set = "php:js,pjw", .m_bits = 8));
    assert_done(tamis_filter_add(filter, "joker", 5));
    assert_comes_out(filter, "redis-bitmap", "joker", &joker);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
    store = fixture_store(NULL);
}
