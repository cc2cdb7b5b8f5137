/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * import_test.c: an import is whole or it was not (store/filter/import.c, store/txn/draft.c).
 *
 * The stream is a RedisBloom dump of three layers, sealed with a fourth segment, so that four files
 * must come into force in one step.
 */
#include "fixture.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "dumps.h"
#include "hooks.h"
#include "os/io.h"
#include "points.h"
#include "streams.h"

static const struct tamis_import_spec SEALED = {
    .size = sizeof SEALED, .seal_capacity = 1000, .seal_rate = 0.001};
#define SEGMENTS 4

static struct stream three_layers(void)
{
    const struct dump dump = dump_of(3);
    return dump_stream(&dump);
}

static int import(tamis_store *store, const char *name, const char *format,
                  const struct tamis_import_spec *spec, struct stream *stream,
                  tamis_filter **filter)
{
    const struct tamis_source source = stream_source(stream);
    return tamis_filter_import(store, name, format, spec, &source, filter);
}

static void assert_nothing_left(tamis_store *store, const char *path)
{
    assert_int_equal(fixture_filters(store), 0);
    assert_int_equal(fixture_files(path, "segments"), 0);
    assert_int_equal(fixture_files(path, "staging"), 0);
}

/* ---- What comes out -------------------------------------------------------------------------- */

STORE_CASE(import_counts_and_sums_what_the_stream_says)
{
    AUTO_STREAM stream = three_layers();
    struct tamis_segment_stat segment = {.size = sizeof segment};
    AUTO_FILTER *filter;
    assert_done(import(store, "x", "redisbloom", NULL, &stream, &filter));
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.segment_count, 3);
    assert_int_equal(stat.items, 10 + 19 + 38);
    assert_int_equal(stat.capacity, 10 + 19 + 40); /* the older ones hold, the newest takes */
    assert_true(fabs(stat.fp_rate - (1 - 0.995 * 0.9975 * 0.99875)) < 1e-12);
    assert_int_equal(stat.state, 0);
    for (uint32_t i = 0; i < 3; i++) {
        segment = fixture_segment_stat(filter, i);
        assert_int_equal(segment.capacity, 10u << i);
        assert_int_equal(segment.items, (10u << i) - i);
        assert_int_equal(segment.flags, TAMIS_SEGMENT_SEALED);
        assert_string_equal(segment.hash_set, "redisbloom");
    }
}

/* The rate of two layers far below 2^-53 each is their sum, and not 0, which no reader takes. */
STORE_CASE(import_of_layers_of_tiny_rates_keeps_the_rate)
{
    struct dump dump = dump_of(2);
    AUTO_FILTER *filter;
    for (uint32_t i = 0; i < 2; i++)
        dump.layers[i] = dump_layer(100, (i + 1) * 1e-18, dump.layers[i].size);
    AUTO_STREAM stream = dump_stream(&dump);
    assert_done(import(store, "x", "redisbloom", NULL, &stream, &filter));
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_true(fabs(stat.fp_rate - 3e-18) < 1e-30);
    assert_true(stat.predicted_rate > 0 && stat.predicted_rate < 1e-6);
}

/* Every key sets a bit, so a count without one is of a stream whose data were lost. */
STORE_CASE(import_of_items_without_a_bit_is_refused)
{
    for (uint64_t items = 0; items < 2; items++) {
        struct dump dump = dump_of(1);
        dump.size = dump.layers[0].size = items;
        struct stream stream = dump_stream(&dump);
        const size_t bytes = (size_t)dump.layers[0].bytes;
        memset(stream.data + stream.bytes - 16 - bytes, 0, bytes);
        const int rc = import(store, "x", "redisbloom", NULL, &stream, NULL);
        stream_free(&stream);
        if (items != 0) assert_refused(TAMIS_ECORRUPT, "has not one bit set for them", rc);
        if (items == 0) assert_done(rc < 0 ? rc : tamis_filter_drop(store, "x"));
        assert_nothing_left(store, path);
    }
}

/* Old keys answer from the old segments; a new one is new once, in the segment on top. */
STORE_CASE(import_sealed_takes_new_keys_on_top)
{
    const struct tamis_import_spec spec = {
        .size = sizeof spec, .hash_set = "php:js", .m_bits = 1000};
    struct tamis_import_spec sealed = spec;
    struct tamis_segment_stat after = {.size = sizeof after}, top = {.size = sizeof top};
    struct stream bits = {.data = NULL}, again = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&bits), sink_again = stream_sink(&again);
    tamis_filter *filter;
    sealed.seal_capacity = 50;
    assert_done(import(store, "old", "redis-bitmap", &spec, &bits, &filter));
    assert_int_equal(assert_done(tamis_filter_add(filter, "old key", 7)), 1);
    assert_done(tamis_filter_export(filter, "redis-bitmap", 0, &sink));
    assert_done(tamis_filter_close(filter));

    assert_done(import(store, "x", "redis-bitmap", &sealed, &bits, &filter));
    struct tamis_segment_stat before = fixture_segment_stat(filter, 0);
    assert_int_equal(before.flags, TAMIS_SEGMENT_ITEMS_ESTIMATED | TAMIS_SEGMENT_SEALED);
    assert_int_equal(assert_done(tamis_filter_add(filter, "old key", 7)), 0);
    assert_int_equal(assert_done(tamis_filter_add(filter, "new key", 7)), 1);
    assert_int_equal(assert_done(tamis_filter_add(filter, "new key", 7)), 0);
    assert_done(tamis_filter_fill(filter, 0, &after));
    assert_int_equal(after.ones, 1);
    assert_done(tamis_filter_fill(filter, 1, &top));
    assert_int_equal(top.items, 1);
    assert_int_equal(top.kind, TAMIS_KIND_BLOCKED);
    assert_int_equal(top.flags, 0);
    assert_string_equal(top.hash_set, "xxh3");
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.capacity, 50 + before.items);
    assert_refused(TAMIS_EUNSUPPORTED, "has 2 segments and format redis-bitmap has room for one",
                   tamis_filter_export(filter, "redis-bitmap", 0, &sink_again));
    assert_int_equal(again.bytes, 0);
    assert_done(tamis_filter_close(filter));
    stream_free(&bits);
}

/* n = -(m/k) ln(1 - X/m): 1,000 keys of 4 functions in 2^16 bits, within 5 standard deviations,
 * which for an estimate of n from X are about sqrt(n^2 k / 2m) = 5.5. */
STORE_CASE(import_estimates_items_from_the_bits)
{
    AUTO_STREAM stream = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream);
    char key[RANDOM_KEY_BYTES];
    AUTO_FILTER *filter =
        fixture_create(store, "a", SPEC(.m_bits = 65536, .k = 4, .hash_set = "guava"));
    for (uint64_t i = 0; i < 1000; i++) {
        const size_t bytes = random_key(i, key);
        assert_done(tamis_filter_add(filter, key, bytes));
    }
    assert_done(tamis_filter_export(filter, "guava", 0, &sink));
    assert_done(tamis_filter_close(filter));
    assert_done(import(store, "b", "guava", NULL, &stream, &filter));
    struct tamis_filter_stat stat = fixture_stat(filter);
    print_message("1000 keys, %u estimated\n", (unsigned)stat.items);
    assert_in_range(stat.items, 1000 - 28, 1000 + 28);
    /* m / k ln 2 = 11,356 keys is where k = 4 is best */
    assert_in_range(stat.capacity, 11300, 11400);
    assert_done(tamis_filter_close(filter));
    /* A filter that is full to the last bit: ln 0 is no number of keys. */
    memset(stream.data + 6, 0xFF, stream.bytes - 6);
    assert_done(import(store, "full", "guava", NULL, &stream, &filter));
    stat = fixture_stat(filter);
    assert_int_equal(stat.items, llround(65536.0 / 4 * log(65536)));
    assert_int_equal(stat.state, TAMIS_STATE_FULL | TAMIS_STATE_OVER);
}

STORE_CASE(import_takes_capacity_and_rate_of_the_caller)
{
    const struct tamis_import_spec spec = {
        .size = sizeof spec, .hash_set = "php-mt", .m_bits = 10000, .k = 5, .capacity = 700};
    AUTO_STREAM stream = stream_of("x", 1);
    AUTO_FILTER *filter;
    assert_done(import(store, "x", "redis-bitmap", &spec, &stream, &filter));
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.capacity, 700);
    assert_true(fabs(stat.fp_rate / tamis_predict_rate(TAMIS_KIND_BLOOM, 10000, 5, 700) - 1) <
                0.01);
    assert_int_equal(stat.m_bits, 10000);
    assert_int_equal(stat.k, 5);
}

/* A filter that Tamis made of the hash set of another system has a form there. */
STORE_CASE(export_of_own_filters_comes_back)
{
    static const struct {
        const char *format;
        struct tamis_filter_spec spec;
        struct tamis_import_spec import;
    } cases[] = {
        {"redisbloom",
         SPEC_FIELD(.capacity = 500, .fp_rate = 0.01, .hash_set = "redisbloom"),
         {.size = sizeof(struct tamis_import_spec)}},
        {"redisbloom",
         SPEC_FIELD(.m_bits = 8000, .k = 3, .hash_set = "redisbloom"),
         {.size = sizeof(struct tamis_import_spec)}},
        {"guava",
         SPEC_FIELD(.capacity = 500, .fp_rate = 0.01, .hash_set = "guava"),
         {.size = sizeof(struct tamis_import_spec)}},
        {"redis-bitmap", SPEC_FIELD(.m_bits = 8003, .k = 3),
         IMPORT_FIELD(.hash_set = "xxh3", .m_bits = 8003, .k = 3)},
        {"tamis",
         SPEC_FIELD(.capacity = 500, .seed = 7),
         {.size = sizeof(struct tamis_import_spec)}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_STREAM stream = {.data = NULL};
        const struct tamis_sink sink = stream_sink(&stream);
        tamis_filter *filter = fixture_create(store, "a", &cases[i].spec);
        for (char key[] = "a"; key[0] <= 'z'; key[0]++)
            assert_int_equal(assert_done(tamis_filter_add(filter, key, 1)), 1);
        assert_done(tamis_filter_export(filter, cases[i].format, TAMIS_EXPORT_WITH_KEY, &sink));
        assert_done(tamis_filter_close(filter));
        assert_done(import(store, "b", cases[i].format, &cases[i].import, &stream, &filter));
        for (char key[] = "a"; key[0] <= 'z'; key[0]++)
            assert_int_equal(assert_done(tamis_filter_contains(filter, key, 1)), 1);
        assert_int_equal(assert_done(tamis_filter_contains(filter, "absent", 6)), 0);
        assert_done(tamis_filter_close(filter));
        assert_done(tamis_filter_drop(store, "a"));
        assert_done(tamis_filter_drop(store, "b"));
    }
}

STORE_CASE(export_of_what_a_format_cannot_say_is_refused)
{
    static const struct {
        struct tamis_filter_spec spec;
        const char *format, *words;
    } cases[] = {
        {SPEC_FIELD(.capacity = 100), "redis-bitmap", "of this kind has no form"},
        {SPEC_FIELD(.capacity = 100), "guava", "of this kind has no form"},
        {SPEC_FIELD(.capacity = 100), "redisbloom", "by its own hash set only"},
        {SPEC_FIELD(.m_bits = 640, .k = 3), "redisbloom", "by its own hash set only"},
        {SPEC_FIELD(.m_bits = 640, .k = 3), "guava", "by its own hash set only"},
        {SPEC_FIELD(.m_bits = 650, .k = 3, .hash_set = "guava"), "guava", "stores whole longs"},
        {SPEC_FIELD(.m_bits = 640, .k = 3, .hash_set = "guava"), "spark",
         "by the hash sets spark-v1 and spark-v2 only"},
        {SPEC_FIELD(.m_bits = 650, .k = 3, .hash_set = "spark-v1"), "spark",
         "Spark stores whole longs"},
        {SPEC_FIELD(.m_bits = 768, .k = 8), "parquet", "by its own hash set only"},
        {SPEC_FIELD(.m_bits = 650, .k = 3, .hash_set = "redisbloom"), "redisbloom",
         "stores whole bytes"},
    };
    struct stream stream = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream);
    tamis_filter *filter;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_done(tamis_filter_create(store, "x", &cases[i].spec, &filter));
        assert_refused(TAMIS_EUNSUPPORTED, cases[i].words,
                       tamis_filter_export(filter, cases[i].format, 0, &sink));
        assert_refused(TAMIS_EINVAL, "there is no format 'x'",
                       tamis_filter_export(filter, "x", 0, &sink));
        assert_done(tamis_filter_close(filter));
        assert_done(tamis_filter_drop(store, "x"));
    }
    assert_int_equal(stream.calls, 0);
}

/* ---- What does not go ------------------------------------------------------------------------ */

STORE_CASE(import_is_refused_before_the_stream_is_read)
{
    AUTO_STREAM stream = three_layers();
    assert_done(import(store, "x", "redisbloom", NULL, &stream, NULL));
    stream.calls = 0;
    assert_refused(TAMIS_EEXIST, "'x' exists already",
                   import(store, "x", "redisbloom", NULL, &stream, NULL));
    assert_refused(TAMIS_EINVAL, "empty", import(store, "", "redisbloom", NULL, &stream, NULL));
    AUTO_STORE *reading = fixture_open(path, TAMIS_OPEN_READ_ONLY);
    assert_refused(TAMIS_EREADONLY, "open read-only",
                   import(reading, "y", "redisbloom", NULL, &stream, NULL));
    assert_int_equal(stream.calls, 0);
}

STORE_CASE(import_sealed_past_the_last_segment_is_refused)
{
    struct dump dump = dump_of(1);
    dump.layer_count = dump.layers_said = 64;
    for (uint32_t i = 0; i < 64; i++)
        dump.layers[i] = dump.layers[0];
    dump.size = 64 * dump.layers[0].size;
    AUTO_STREAM stream = dump_stream(&dump);
    assert_refused(TAMIS_EUNSUPPORTED, "64 segments already",
                   import(store, "x", "redisbloom", &SEALED, &stream, NULL));
    assert_nothing_left(store, path);
    assert_done(import(store, "x", "redisbloom", NULL, &stream, NULL));
    assert_int_equal(fixture_files(path, "segments"), 64);
}

STORE_CASE(import_with_a_bad_seal_is_refused)
{
    const struct tamis_import_spec bad[] = {
        {.size = sizeof bad[0], .seal_capacity = 10, .seal_rate = 2},
        {.size = sizeof bad[0], .seal_capacity = UINT64_MAX}};
    AUTO_STREAM stream = three_layers();
    assert_refused(TAMIS_EINVAL, "2", import(store, "x", "redisbloom", &bad[0], &stream, NULL));
    assert_refused(TAMIS_EINVAL, "capacity",
                   import(store, "x", "redisbloom", &bad[1], &stream, NULL));
    assert_nothing_left(store, path);
}

/* A head is looked for in the first 3.4 kB, so the stream is longer than that. */
STORE_CASE(import_of_a_source_that_fails_leaves_nothing)
{
    struct dump dump = dump_of(3);
    dump.layers[2] = dump_layer(5000, 0.001, dump.layers[2].size);
    AUTO_STREAM stream = dump_stream(&dump);
    assert_true(stream.bytes > 8000);
    stream.failure = TAMIS_EIO;
    stream.most = 5;
    for (size_t left = stream.bytes; left > 0; left -= left < 61 ? 1 : 61) {
        stream.fails_at = stream.bytes + 1 - left;
        assert_refused(TAMIS_EIO, "could not be read further",
                       import(store, "x", "redisbloom", &SEALED, &stream, NULL));
        assert_nothing_left(store, path);
    }
    stream.fails_at = 0;
    assert_done(import(store, "x", "redisbloom", &SEALED, &stream, NULL));
}

static int64_t read_too_much(void *context, void *buffer, size_t bytes)
{
    (void)context;
    (void)buffer;
    return (int64_t)bytes + 1;
}

STORE_CASE(import_of_a_source_that_lies_is_refused)
{
    const struct tamis_source source = {.size = sizeof source, .read = read_too_much};
    assert_refused(TAMIS_EINVAL, "where",
                   tamis_filter_import(store, "x", "guava", NULL, &source, NULL));
    assert_nothing_left(store, path);
}

STORE_CASE(export_to_a_sink_that_fails_says_so)
{
    struct stream stream = three_layers(), out = {.fails_at = 1, .failure = TAMIS_ENOSPACE};
    const struct tamis_sink sink = stream_sink(&out);
    tamis_filter *filter;
    assert_done(import(store, "x", "redisbloom", &SEALED, &stream, &filter));
    assert_refused(TAMIS_ENOSPACE, "could not be written further (at byte 0)",
                   tamis_filter_export(filter, "tamis", 0, &sink));
    assert_done(tamis_filter_close(filter));
    stream_free(&stream);
}

/* ---- While others add ------------------------------------------------------------------------ */

struct adding {
    tamis_filter *filter;
    uint64_t done; /* atomic: keys 0 .. done - 1 are in */
};

#define KEYS_ADDED 20000

static void *add_keys(void *context)
{
    struct adding *adding = context;
    char key[RANDOM_KEY_BYTES];
    for (uint64_t i = 0; i < KEYS_ADDED; i++) {
        const size_t bytes = random_key(i, key);
        if (tamis_filter_add(adding->filter, key, bytes) < 0) return "failed";
        __atomic_store_n(&adding->done, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* What was in when the export began is in the stream, whatever is added meanwhile. */
STORE_CASE(export_beside_adders_has_what_was_there)
{
    struct adding adding = {.filter = fixture_filter(store, "x", KEYS_ADDED)};
    pthread_t thread;
    void *result;
    uint64_t before;
    assert_int_equal(pthread_create(&thread, NULL, add_keys, &adding), 0);
    do {
        struct stream stream = {.data = NULL};
        const struct tamis_sink sink = stream_sink(&stream);
        tamis_filter *copy;
        char key[RANDOM_KEY_BYTES];
        before = __atomic_load_n(&adding.done, __ATOMIC_ACQUIRE);
        assert_done(tamis_filter_export(adding.filter, "tamis", 0, &sink));
        assert_done(import(store, "copy", "tamis", NULL, &stream, &copy));
        for (uint64_t i = 0; i < before; i++) {
            const size_t bytes = random_key(i, key);
            assert_int_equal(tamis_filter_contains(copy, key, bytes), 1);
        }
        assert_done(tamis_filter_close(copy));
        assert_done(tamis_filter_drop(store, "copy"));
        stream_free(&stream);
    } while (before < KEYS_ADDED);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_null(result);
    assert_done(tamis_filter_close(adding.filter));
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
