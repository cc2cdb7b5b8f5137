/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create_dumps_test.c: filters of RedisBloom in drawers: what is kept of its header stands in their
 * sheets (store/segment/sheet.c, version 2), and they grow as it does.
 *
 * Broken to see it fail: kept bytes that were not encoded; that a rename wrote over; that no
 * checksum covered; that were not counted where the data begin.
 */
#include "dumps.h"
#include "fixture.h"
#include "segment/sheet.h"

#define HEAD_AT 24u /* of a dump: the magic and a frame are before it */

static struct stream export_of(tamis_store *store, const char *name, const char *format)
{
    struct stream stream = stream_of(NULL, 0);
    const struct tamis_sink sink = stream_sink(&stream);
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_READ_ONLY);
    assert_done(tamis_filter_export(filter, format, TAMIS_EXPORT_WITH_KEY, &sink));
    return stream;
}

static int create(tamis_store *store, const char *name, const struct stream *stream,
                  const char *format, unsigned flags)
{
    const struct tamis_filled one = {.name = name,
                                     .stream = stream->data,
                                     .stream_bytes = stream->bytes,
                                     .format = format,
                                     .flags = flags};
    return tamis_filter_create_filled(store, &one, 1);
}

static void import(tamis_store *store, const char *name, struct stream *stream, unsigned flags)
{
    const struct tamis_source source = stream_source(stream);
    assert_done(
        tamis_filter_import(store, name, "redisbloom", IMPORT_SPEC(.flags = flags), &source, NULL));
}

static uint64_t sheet_of(tamis_store *store, const char *name)
{
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_READ_ONLY);
    const uint64_t number = fixture_segment_stat(filter, 0).number;
    return tamis__is_sheet(number) ? number : 0;
}

static void assert_same(tamis_store *store, const char *name, const struct stream *dump)
{
    AUTO_STREAM again = export_of(store, name, "redisbloom");
    assert_int_equal(again.bytes, dump->bytes);
    assert_memory_equal(again.data, dump->data, dump->bytes);
}

static struct stream dump_with(uint64_t entries, double rate, uint64_t size, uint32_t growth)
{
    struct dump dump = dump_of(1);
    dump.layers[0] = dump_layer(entries, rate, size);
    dump.size = size;
    dump.growth = growth;
    if (growth == 0) dump.options |= 8; /* NONSCALING */
    return dump_stream(&dump);
}

/* The head alone, as BF.LOADCHUNK gets it first. */
static struct stream head_of(const struct stream *dump)
{
    return stream_of(dump->data, HEAD_AT + 20 + 53);
}

static void add_numbers(tamis_store *store, const char *name, unsigned from, unsigned to)
{
    AUTO_FILTER *filter = fixture_opened(store, name, 0);
    for (unsigned k = from; k < to; k++)
        assert_done(tamis_filter_add(filter, &k, sizeof k));
}

STORE_CASE(create_dumps_go_into_drawers_and_come_out_byte_for_byte)
{
    static const struct {
        uint64_t entries;
        double rate;
        uint32_t growth;
        uint64_t bytes; /* of the sheet; 0: it has a file */
    } cases[] = {{100, 0.005, 2, 1024},  {10, 0.01, 4, 512},        {500, 0.01, 0, 1024},
                 {1000, 0.005, 2, 2048}, {2000, 0.01, 32768, 4096}, {10000, 0.01, 2, 0}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_STREAM dump =
            dump_with(cases[i].entries, cases[i].rate, cases[i].entries / 2, cases[i].growth);
        assert_int_equal(tamis_stream_fits("redisbloom", dump.data, dump.bytes),
                         cases[i].bytes != 0 ? TAMIS_STREAM_IN_DRAWER : TAMIS_STREAM_IN_FILE);
        assert_int_equal(tamis_stream_fits("tamis", dump.data, dump.bytes), TAMIS_STREAM_ALONE);
        assert_done(create(store, "dump", &dump, "redisbloom", TAMIS_IMPORT_AS_THERE));
        assert_same(store, "dump", &dump);
        const uint64_t number = sheet_of(store, "dump");
        assert_int_equal(number != 0 ? tamis__class_bytes(tamis__sheet_class(number)) : 0,
                         cases[i].bytes);
        AUTO_STREAM stream = export_of(store, "dump", "tamis");
        assert_int_equal(tamis_stream_fits(NULL, stream.data, stream.bytes),
                         cases[i].bytes != 0 ? TAMIS_STREAM_IN_DRAWER : TAMIS_STREAM_IN_FILE);
        assert_done(create(store, "stream", &stream, NULL, 0));
        assert_same(store, "stream", &dump);
        assert_int_equal(sheet_of(store, "stream") != 0, cases[i].bytes != 0);
        assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
        assert_done(tamis_filter_drop(store, "dump"));
        assert_done(tamis_filter_drop(store, "stream"));
    }
}

/* With its first keys, or with keys that come later: as a filter that has a file, key by key, over
 * several layers. */
STORE_CASE(create_dumps_answer_and_grow_as_those_with_a_file)
{
    static unsigned numbers[100];
    static struct tamis_key keys[100];
    for (unsigned k = 0; k < 100; k++) {
        numbers[k] = k;
        keys[k] = (struct tamis_key){&numbers[k], sizeof numbers[k]};
    }
    for (unsigned growth = 0; growth <= 4; growth += 2) {
        AUTO_STREAM dump = dump_with(100, 0.25, 0, growth);
        AUTO_STREAM head = head_of(&dump);
        const unsigned flags = TAMIS_IMPORT_AS_THERE | TAMIS_IMPORT_HEAD;
        import(store, "file", &head, flags);
        add_numbers(store, "file", 0, 60);
        assert_done(create(store, "later", &head, "redisbloom", flags));
        add_numbers(store, "later", 0, 60);
        const struct tamis_filled one = {.name = "first",
                                         .keys = keys,
                                         .key_count = 60,
                                         .stream = head.data,
                                         .stream_bytes = head.bytes,
                                         .format = "redisbloom",
                                         .flags = flags};
        assert_done(tamis_filter_create_filled(store, &one, 1));
        assert_true(sheet_of(store, "first") != 0 && sheet_of(store, "later") != 0);
        AUTO_STREAM some = export_of(store, "file", "redisbloom");
        assert_same(store, "first", &some);
        assert_same(store, "later", &some);
        AUTO_FILTER *file = fixture_opened(store, "file", 0);
        AUTO_FILTER *first = fixture_opened(store, "first", 0);
        AUTO_FILTER *later = fixture_opened(store, "later", 0);
        for (unsigned k = 60; k < 2000; k++) {
            const int rc = tamis_filter_add(file, &k, sizeof k);
            assert_int_equal(tamis_filter_add(first, &k, sizeof k), rc);
            assert_int_equal(tamis_filter_add(later, &k, sizeof k), rc);
            if (rc < 0) break;
        }
        assert_int_equal(fixture_stat(first).segment_count > 1, growth != 0);
        AUTO_STREAM all = export_of(store, "file", "redisbloom");
        assert_same(store, "first", &all);
        assert_same(store, "later", &all);
        assert_done(tamis_filter_drop(store, "file"));
        assert_done(tamis_filter_drop(store, "first"));
        assert_done(tamis_filter_drop(store, "later"));
    }
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

/* What one stream says is nothing for the next one of the call. */
STORE_CASE(create_dumps_and_streams_come_by_one_call)
{
    assert_done(tamis_filter_create(
        store, "from", SPEC(.capacity = 77, .fp_rate = 0.02, .on_full = TAMIS_ON_FULL_REFUSE),
        NULL));
    AUTO_STREAM stream = export_of(store, "from", "tamis");
    AUTO_STREAM dump = dump_with(100, 0.005, 50, 2);
    const struct tamis_filled both[] = {
        {.name = "a", .stream = stream.data, .stream_bytes = stream.bytes, .format = "tamis"},
        {.name = "b",
         .stream = dump.data,
         .stream_bytes = dump.bytes,
         .format = "redisbloom",
         .flags = TAMIS_IMPORT_AS_THERE}};
    assert_done(tamis_filter_create_filled(store, both, 2));
    AUTO_FILTER *b = fixture_opened(store, "b", 0);
    assert_int_equal(fixture_stat(b).on_full, TAMIS_ON_FULL_GROW);
    assert_int_equal(fixture_stat(b).capacity, 100);
    assert_same(store, "b", &dump);
}

/* The name ends where what is kept begins. */
STORE_CASE(create_dumps_keep_what_they_keep_through_renames)
{
    char name[TAMIS_NAME_MAX + 1] = "short";
    AUTO_STREAM dump = dump_with(100, 0.005, 50, 2);
    assert_done(create(store, name, &dump, "redisbloom", TAMIS_IMPORT_AS_THERE));
    for (size_t bytes = 40; bytes <= 120; bytes++) {
        char other[TAMIS_NAME_MAX + 1] = "";
        memset(other, 'a' + (int)(bytes % 26), bytes);
        assert_done(tamis_filter_rename(store, name, other));
        (void)strcpy(name, other);
        assert_same(store, name, &dump);
        assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
    }
    assert_true(sheet_of(store, name) != 0);
    char *copy = scratch_path("copy");
    assert_done(tamis_store_backup(store, copy, NULL, NULL));
    AUTO_STORE *copied = fixture_open(copy, 0);
    assert_same(copied, name, &dump);
    assert_int_equal(tamis_store_verify(copied, NULL, NULL, NULL), 0);
    free(copy);
}

STORE_CASE(create_dumps_with_damaged_constants_do_not_open)
{
    AUTO_STREAM dump = dump_with(100, 0.005, 50, 2);
    tamis_filter *filter = NULL;
    assert_done(create(store, "dump", &dump, "redisbloom", TAMIS_IMPORT_AS_THERE));
    const uint64_t number = sheet_of(store, "dump");
    const char *file = fixture_segment_path(path, number);
    const uint64_t at = tamis__sheet_offset(number);
    uint16_t data_offset;
    fixture_peek(file, at + 82, &data_offset, sizeof data_offset);
    assert_int_equal(data_offset, 384);
    for (uint64_t i = 0; i < 104 + TAMIS__KEPT_BYTES; i++) {
        unsigned char byte, other;
        const uint64_t where = at + (i < 104 ? i : data_offset - TAMIS__KEPT_BYTES + i - 104);
        fixture_peek(file, where, &byte, 1);
        for (unsigned bit = 0; bit < 8; bit++) {
            other = byte ^ (unsigned char)(1u << bit);
            fixture_poke(file, where, &other, 1);
            assert_true(tamis_filter_open(store, "dump", TAMIS_READ_ONLY, &filter) < 0);
        }
        fixture_poke(file, where, &byte, 1);
    }
    assert_same(store, "dump", &dump);
}

STORE_CASE(create_dumps_refuse_what_is_not_one_layer)
{
    const struct dump three = dump_of(3);
    AUTO_STREAM layers = dump_stream(&three);
    assert_refused(TAMIS_EUNSUPPORTED, "several segments",
                   create(store, "no", &layers, "redisbloom", 0));
    assert_int_equal(tamis_stream_fits("redisbloom", layers.data, layers.bytes),
                     TAMIS_STREAM_ALONE);
    AUTO_STREAM dump = dump_with(100, 0.005, 50, 2);
    assert_refused(TAMIS_EINVAL, "redisbloom", create(store, "no", &dump, "guava", 0));
    assert_refused(TAMIS_EINVAL, "redisbloom", create(store, "no", &dump, "none", 0));
    assert_refused(TAMIS_EINVAL, "AS_THERE",
                   create(store, "no", &dump, NULL, TAMIS_IMPORT_AS_THERE));
    for (size_t bytes = 0; bytes < dump.bytes; bytes++) {
        AUTO_STREAM cut = stream_of(dump.data, bytes);
        if (bytes == 0) stream_put(&cut, "x", 1);
        assert_true(create(store, "no", &cut, "redisbloom", 0) < 0);
    }
    assert_int_equal(fixture_files(path, "segments"), 0);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
