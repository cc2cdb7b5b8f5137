/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counting_stream_test.c: filters of kind counting travel with every count, also those that have
 * outgrown their bits (store/exchange/portable.c, store/filter/import.c).
 *
 * The tests were seen to fail for a stream without the counts behind the counters, and for an
 * import that did not bring the levels of overflow to the header.
 */
#include "exchanges.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "hash/sum.h"

#define HEAD EXCHANGES_HEAD
#define DATA_AT (HEAD + EXCHANGES_DESCRIPTION + 8)

static const char *const keys[] = {"once", "often", "more often"};
static const unsigned times[] = {1, 40, 700};

/* A filter whose counters of 4 bits are outgrown by two keys; one key was taken off again. */
static tamis_filter *filled(tamis_store *store)
{
    tamis_filter *filter =
        fixture_create(store, "from", SPEC(.kind = TAMIS_KIND_COUNTING, .capacity = 1000));
    for (unsigned i = 0; i < 3; i++)
        for (unsigned j = 0; j < times[i]; j++)
            assert_done(tamis_filter_add(filter, keys[i], strlen(keys[i])));
    for (unsigned j = 0; j < 20; j++)
        assert_done(tamis_filter_add(filter, "gone", 4));
    for (unsigned j = 0; j < 20; j++)
        assert_int_equal(tamis_filter_remove(filter, "gone", 4), 1);
    return filter;
}

static struct stream exported(tamis_filter *filter)
{
    struct stream stream = stream_of("", 0);
    const struct tamis_sink sink = stream_sink(&stream);
    assert_done(tamis_filter_export(filter, "tamis", 0, &sink));
    return stream;
}

static int import(tamis_store *store, struct stream *stream, uint64_t seal, tamis_filter **filter)
{
    const struct tamis_source source = stream_source(stream);
    const struct tamis_import_spec spec = {.size = sizeof spec, .seal_capacity = seal};
    return tamis_filter_import(store, "to", "tamis", &spec, &source, filter);
}

SOUND_CASE(counts_travel)
{
    AUTO_FILTER *from = filled(store), *to = NULL;
    AUTO_STREAM stream = exported(from);
    assert_done(import(store, &stream, 0, &to));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(tamis_filter_count(to, keys[i], strlen(keys[i])), times[i]);
    assert_int_equal(tamis_filter_contains(to, "gone", 4), 0);
    assert_int_equal(tamis_filter_items(to), tamis_filter_items(from));
    for (unsigned j = 0; j < 40; j++)
        assert_int_equal(tamis_filter_remove(to, "often", 5), 1);
    assert_int_equal(tamis_filter_remove(to, "often", 5), 0);
}

SOUND_CASE(an_export_of_what_came_is_the_same)
{
    AUTO_FILTER *from = filled(store), *to = NULL;
    AUTO_STREAM stream = exported(from);
    assert_done(import(store, &stream, 0, &to));
    AUTO_STREAM again = exported(to);
    assert_int_equal(again.bytes, stream.bytes);
    assert_memory_equal(again.data + DATA_AT, stream.data + DATA_AT,
                        stream.bytes - DATA_AT - TAMIS__SUM_BYTES);
}

/* Where the counts begin. */
static size_t counts_at(const struct stream *stream)
{
    return DATA_AT + (size_t)tamis__get64(stream->data + HEAD + 56);
}

static void refuse(tamis_store *store, const struct stream *sound, size_t at, uint64_t value,
                   const char *words)
{
    AUTO_STREAM stream = stream_of(sound->data, sound->bytes);
    memcpy(stream.data + at, &value, sizeof value);
    exchanges_close_sums(&stream);
    assert_refused(TAMIS_ECORRUPT, words, import(store, &stream, 0, NULL));
}

STORE_CASE(impossible_counts_are_refused)
{
    AUTO_FILTER *from = filled(store);
    AUTO_STREAM stream = exported(from);
    const size_t counts = counts_at(&stream);
    refuse(store, &stream, counts, UINT64_MAX, "has an impossible count");
    refuse(store, &stream, counts, 0, "has an impossible count");
    refuse(store, &stream, counts + 8, UINT64_MAX, "has an impossible count");
    refuse(store, &stream, HEAD + 196, 5, "counters of 5 bits");
    refuse(store, &stream, 32, TAMIS_ON_FULL_GROW, "goes on in further segments");
}

/* A marked counter without its count counts what the mark says; nothing is out of place. */
SOUND_CASE(a_mark_without_a_count_is_mended)
{
    AUTO_FILTER *from = filled(store), *to = NULL;
    AUTO_STREAM stream = exported(from);
    const size_t counts = counts_at(&stream);
    memset(stream.data + counts, 0, 16); /* the list ends here */
    memmove(stream.data + counts + 16, stream.data + stream.bytes - TAMIS__SUM_BYTES,
            TAMIS__SUM_BYTES);
    stream.bytes = counts + 16 + TAMIS__SUM_BYTES;
    exchanges_close_sums(&stream);
    assert_done(import(store, &stream, 0, &to));
    assert_int_equal(tamis_filter_count(to, "often", 5), 15);
    assert_int_equal(tamis_filter_add(to, "often", 5), 0);
    assert_int_equal(tamis_filter_count(to, "often", 5), 16);
}

STORE_CASE(a_seal_is_refused)
{
    AUTO_FILTER *from = filled(store);
    AUTO_STREAM stream = exported(from);
    assert_refused(TAMIS_EUNSUPPORTED, "without a seal", import(store, &stream, 100, NULL));
}
