/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * create_streams_test.c: streams that become filters of one transaction, small ones in drawers
 * (store/filter/import_filled.c), and what is told of a stream before.
 *
 * Broken to see it fail: a trailer, bits past m, or keys without a bit that nobody looked at; items
 * of the stream that were not counted on; a limit of first keys that left them out; a stream of two
 * segments of which the first was taken; levels of counters that the header did not have; the owner
 * and the time of the filter that were those of the segment.
 */
#include <errno.h>
#include <stdlib.h>

#include "builds.h"
#include "exchanges.h"
#include "fixture.h"
#include "hooks.h"
#include "os/io.h"
#include "segment/sheet.h"
#include "streams.h"

#define KEYS 40u

static const char *name_of(const char *prefix, unsigned i)
{
    static char names[64][32];
    static unsigned next;
    char *name = names[next++ % 64];
    (void)snprintf(name, sizeof names[0], "%s/%u", prefix, i);
    return name;
}

static struct stream export_with(tamis_store *store, const char *name, unsigned flags)
{
    struct stream stream = stream_of(NULL, 0);
    const struct tamis_sink sink = stream_sink(&stream);
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_READ_ONLY);
    assert_done(tamis_filter_export(filter, "tamis", TAMIS_EXPORT_WITH_KEY | flags, &sink));
    return stream;
}

static struct stream export_of(tamis_store *store, const char *name)
{
    return export_with(store, name, 0);
}

static struct tamis_filled from_stream(const char *name, const struct stream *stream)
{
    return (struct tamis_filled){
        .name = name, .stream = stream->data, .stream_bytes = stream->bytes};
}

static int create_one(tamis_store *store, const char *name, const struct stream *stream)
{
    const struct tamis_filled one = from_stream(name, stream);
    return tamis_filter_create_filled(store, &one, 1);
}

static void add_numbers(tamis_store *store, const char *name, unsigned from, unsigned to)
{
    AUTO_FILTER *filter = fixture_opened(store, name, 0);
    for (unsigned k = from; k < to; k++)
        assert_done(tamis_filter_add(filter, &k, sizeof k));
}

static void assert_numbers(tamis_store *store, const char *name, unsigned from, unsigned to)
{
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_READ_ONLY);
    for (unsigned k = from; k < to; k++)
        assert_int_equal(tamis_filter_contains(filter, &k, sizeof k), 1);
}

static bool in_drawer(tamis_store *store, const char *name)
{
    AUTO_FILTER *filter = fixture_opened(store, name, TAMIS_READ_ONLY);
    return tamis__is_sheet(fixture_segment_stat(filter, 0).number);
}

static void assert_same_stream(const struct stream *a, const struct stream *b)
{
    assert_int_equal(a->bytes, b->bytes);
    assert_memory_equal(a->data, b->data, a->bytes);
}

/* ---- There and back -------------------------------------------------------------------------- */

static const struct tamis_filter_spec specs[] = {
    SPEC_FIELD(.capacity = 100, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.capacity = 100, .fp_rate = 0.0001, .seed = 7, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.capacity = 2000, .fp_rate = 0.01, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.capacity = KEYS, .on_full = TAMIS_ON_FULL_REFUSE, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.capacity = 10, .on_full = TAMIS_ON_FULL_WARN, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.capacity = 100, .kind = TAMIS_KIND_BLOOM, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.m_bits = 777, .k = 3, .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.m_bits = 777, .k = 3, .hash_set = "redisbloom", .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.m_bits = 1024, .k = 5, .hash_set = "guava", .flags = TAMIS_FILTER_IN_DRAWER),
    SPEC_FIELD(.capacity = 100), /* its file is of 8 KiB, and it has room in a sheet */
    SPEC_FIELD(.capacity = 100, .kind = TAMIS_KIND_BLOOM),
#ifdef TAMIS_WITH_SIP
    SPEC_FIELD(.capacity = 100, .hash_set = "sip"), /* a sheet has no room for its key: a file */
#endif
    SPEC_FIELD(.capacity = 100, .hash_set = "php:bkdr,sdbm,js", .m_bits = 512),
    SPEC_FIELD(.capacity = 100, .kind = TAMIS_KIND_COUNTING),
    SPEC_FIELD(.capacity = 100000),
};
#define SPECS (sizeof specs / sizeof specs[0])
#define FIRST_IN_FILE 11u

STORE_CASE(create_streams_make_the_filters_that_they_came_from)
{
    struct stream streams[SPECS];
    struct tamis_filled filled[SPECS];
    for (unsigned i = 0; i < SPECS; i++) {
        const char *name = name_of("from", i);
        assert_done(tamis_filter_create(store, name, &specs[i], NULL));
        if (i % 4 != 1) add_numbers(store, name, 0, i == 3 ? KEYS - 5 : KEYS);
        streams[i] = export_of(store, name);
        filled[i] = from_stream(name_of("to", i), &streams[i]);
    }
    assert_done(tamis_filter_create_filled(store, filled, SPECS));
    for (unsigned i = 0; i < SPECS; i++) {
        const char *name = name_of("to", i);
        AUTO_STREAM again = export_of(store, name);
        assert_same_stream(&streams[i], &again);
        assert_int_equal(in_drawer(store, name), i < FIRST_IN_FILE);
        assert_int_equal(tamis_stream_fits(NULL, streams[i].data, streams[i].bytes),
                         i < FIRST_IN_FILE ? TAMIS_STREAM_IN_DRAWER : TAMIS_STREAM_IN_FILE);
        stream_free(&streams[i]);
    }
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

/* It takes keys, grows when it is full, and goes, as one that was made here. */
STORE_CASE(create_streams_make_filters_that_go_on)
{
    for (unsigned i = 0; i < SPECS; i++) {
        if (specs[i].capacity != 100 || specs[i].hash_set != NULL) continue;
        assert_done(tamis_filter_create(store, "from", &specs[i], NULL));
        add_numbers(store, "from", 0, KEYS);
        AUTO_STREAM stream = export_of(store, "from");
        assert_done(tamis_filter_drop(store, "from"));
        assert_done(create_one(store, "to", &stream));
        add_numbers(store, "to", KEYS, 20 * KEYS);
        assert_numbers(store, "to", 0, 20 * KEYS);
        AUTO_FILTER *filter = fixture_opened(store, "to", 0);
        const struct tamis_filter_stat stat = fixture_stat(filter);
        const bool grows = specs[i].kind != TAMIS_KIND_COUNTING;
        assert_int_equal(stat.segment_count > 1, grows);
        assert_true(stat.items > (grows ? 20 * KEYS * 9 / 10 : 3 * KEYS));
        assert_done(tamis_filter_drop(store, "to"));
    }
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

/* In the drawer only if the sheet has room for the name, too. */
STORE_CASE(create_streams_have_names_of_any_length)
{
    char name[TAMIS_NAME_MAX + 1] = "";
    assert_done(tamis_filter_create(store, "from", &specs[0], NULL));
    add_numbers(store, "from", 0, KEYS);
    AUTO_STREAM stream = export_of(store, "from");
    for (size_t bytes = 1; bytes <= TAMIS_NAME_MAX; bytes += bytes < 40 || bytes > 50 ? 13 : 1) {
        memset(name, 'x', bytes);
        assert_done(create_one(store, name, &stream));
        AUTO_STREAM again = export_of(store, name);
        assert_same_stream(&stream, &again);
        assert_true(bytes > 46 || in_drawer(store, name));
    }
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

STORE_CASE(create_streams_have_the_time_and_the_owner_of_the_caller)
{
    assert_done(tamis_filter_create(store, "from", &specs[0], NULL));
    AUTO_STREAM stream = export_of(store, "from");
    struct tamis_filled two[] = {from_stream("a", &stream), from_stream("b", &stream)};
    two[0].created_at = 1234567;
    two[0].flags = TAMIS_IMPORT_OWNED;
    const int64_t before = tamis__now_ns();
    assert_done(tamis_filter_create_filled(store, two, 2));
    AUTO_FILTER *from = fixture_opened(store, "from", 0);
    AUTO_FILTER *a = fixture_opened(store, "a", 0);
    AUTO_FILTER *b = fixture_opened(store, "b", 0);
    assert_int_equal(fixture_stat(a).created_at, 1234567);
    assert_int_equal(fixture_stat(a).flags & TAMIS_FILTER_OWNED, TAMIS_FILTER_OWNED);
    assert_true(fixture_stat(b).created_at >= before);
    assert_int_equal(fixture_stat(b).flags & TAMIS_FILTER_OWNED, 0);
    assert_int_equal(fixture_segment_stat(a, 0).created_at,
                     fixture_segment_stat(from, 0).created_at);
}

/* With its digest at the head; which has to be the right one. */
STORE_CASE(create_streams_may_begin_with_a_digest)
{
    assert_done(tamis_filter_create(store, "from", &specs[0], NULL));
    add_numbers(store, "from", 0, KEYS);
    AUTO_STREAM stream = export_with(store, "from", TAMIS_EXPORT_WITH_DIGEST);
    assert_int_equal(tamis_stream_fits(NULL, stream.data, stream.bytes), TAMIS_STREAM_IN_DRAWER);
    assert_done(create_one(store, "to", &stream));
    AUTO_STREAM again = export_with(store, "to", TAMIS_EXPORT_WITH_DIGEST);
    assert_same_stream(&stream, &again);
    stream.data[stream.bytes - 1] ^= 1;
    assert_refused(TAMIS_ECORRUPT, "'other'", create_one(store, "other", &stream));
}

/* ---- First keys ------------------------------------------------------------------------------ */

STORE_CASE(create_streams_take_first_keys_and_count_the_new_ones)
{
    for (unsigned i = 0; i < SPECS; i++) {
        if (specs[i].capacity < 100) continue;
        unsigned numbers[KEYS];
        struct tamis_key keys[KEYS];
        for (unsigned k = 0; k < KEYS; k++) { /* the first half are there already */
            numbers[k] = KEYS / 2 + k;
            keys[k] = (struct tamis_key){&numbers[k], sizeof numbers[k]};
        }
        assert_done(tamis_filter_create(store, name_of("from", i), &specs[i], NULL));
        add_numbers(store, name_of("from", i), 0, KEYS);
        AUTO_STREAM stream = export_of(store, name_of("from", i));
        struct tamis_filled one = from_stream(name_of("to", i), &stream);
        one.keys = keys;
        one.key_count = KEYS;
        assert_done(tamis_filter_create_filled(store, &one, 1));
        assert_numbers(store, name_of("to", i), 0, KEYS + KEYS / 2);
        add_numbers(store, name_of("from", i), KEYS / 2, KEYS + KEYS / 2);
        AUTO_FILTER *a = fixture_opened(store, name_of("from", i), 0);
        AUTO_FILTER *b = fixture_opened(store, name_of("to", i), 0);
        assert_int_equal(fixture_stat(a).items, fixture_stat(b).items);
        assert_int_equal(in_drawer(store, name_of("to", i)), i < FIRST_IN_FILE);
    }
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

STORE_CASE(create_streams_take_no_more_first_keys_than_have_room)
{
    unsigned numbers[101];
    struct tamis_key keys[101];
    for (unsigned k = 0; k < 101; k++) {
        numbers[k] = 1000 + k;
        keys[k] = (struct tamis_key){&numbers[k], sizeof numbers[k]};
    }
    assert_done(tamis_filter_create(store, "from", &specs[0], NULL));
    add_numbers(store, "from", 0, KEYS);
    AUTO_FILTER *from = fixture_opened(store, "from", 0);
    const struct tamis_segment_stat segment = fixture_segment_stat(from, 0);
    const uint64_t room = segment.capacity - segment.items;
    AUTO_STREAM stream = export_of(store, "from");
    struct tamis_filled two[] = {from_stream("a", &stream), from_stream("b", &stream)};
    two[1].keys = keys;
    two[1].key_count = room + 1;
    assert_true(room < 101);
    assert_refused(TAMIS_EFULL, "'b'", tamis_filter_create_filled(store, two, 2));
    assert_int_equal(fixture_filters(store), 1);
    two[1].key_count = room;
    assert_done(tamis_filter_create_filled(store, two, 2));

    /* One that is more than full comes as it is, but takes no first key. */
    assert_done(tamis_filter_create(store, "warns", &specs[4], NULL));
    add_numbers(store, "warns", 0, KEYS);
    AUTO_STREAM full = export_of(store, "warns");
    struct tamis_filled one = from_stream("c", &full);
    one.keys = keys;
    one.key_count = 1;
    assert_refused(TAMIS_EFULL, "'c'", tamis_filter_create_filled(store, &one, 1));
    one.key_count = 0;
    assert_done(tamis_filter_create_filled(store, &one, 1));
    AUTO_STREAM again = export_of(store, "c");
    assert_same_stream(&full, &again);
}

/* Counts that have outgrown their bits, from first keys (a spec or a stream), or from a stream. */
STORE_CASE(create_streams_keep_counts_of_any_size)
{
    struct tamis_key same[60];
    for (unsigned k = 0; k < 60; k++)
        same[k] = (struct tamis_key){"same", 4};
    const struct tamis_filter_spec *spec = SPEC(.capacity = 100, .kind = TAMIS_KIND_COUNTING);
    struct tamis_filled one = {.name = "a", .spec = spec, .keys = same, .key_count = 60};
    assert_done(tamis_filter_create_filled(store, &one, 1));
    AUTO_STREAM stream = export_of(store, "a");
    one = from_stream("b", &stream);
    assert_done(tamis_filter_create_filled(store, &one, 1));
    AUTO_STREAM again = export_of(store, "b");
    assert_same_stream(&stream, &again);
    one.name = "c";
    one.keys = same;
    one.key_count = 30;
    assert_done(tamis_filter_create_filled(store, &one, 1));
    for (unsigned i = 0; i < 3; i++) {
        AUTO_FILTER *filter = fixture_opened(store, i == 0 ? "a" : i == 1 ? "b" : "c", 0);
        for (unsigned k = 0; k < (i == 2 ? 90 : 60); k++)
            assert_int_equal(tamis_filter_remove(filter, "same", 4), 1);
        assert_int_equal(tamis_filter_contains(filter, "same", 4), 0);
    }
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

/* ---- Refused --------------------------------------------------------------------------------- */

/* Each byte changed, and each length: no filter, nor that which came with it. */
STORE_CASE(create_streams_refuse_a_stream_that_is_damaged_anywhere)
{
    assert_done(tamis_filter_create(store, "from", &specs[0], NULL));
    add_numbers(store, "from", 0, KEYS);
    for (unsigned digest = 0; digest < 2; digest++) {
        AUTO_STREAM whole = export_with(store, "from", digest != 0 ? TAMIS_EXPORT_WITH_DIGEST : 0);
        for (size_t at = 0; at < 2 * whole.bytes; at++) {
            const bool cut = at >= whole.bytes;
            const size_t now = cut ? at - whole.bytes : whole.bytes;
            AUTO_STREAM stream = stream_of(whole.data, now);
            if (!cut) stream.data[at] ^= (unsigned char)(1u << at % 8);
            if (now == 0) stream.data = calloc(1, 1);
            const struct tamis_filled two[] = {from_stream("good", &whole),
                                               from_stream("bad", &stream)};
            const int rc = tamis_filter_create_filled(store, two, 2);
            assert_true(rc == TAMIS_ECORRUPT || rc == TAMIS_EVERSION || rc == TAMIS_EFOREIGN);
            assert_non_null(strstr(tamis_last_error(), "'bad'"));
            assert_true(tamis_stream_fits(NULL, stream.data, stream.bytes) >= 0);
        }
    }
    AUTO_STREAM longer = export_of(store, "from");
    stream_put(&longer, "x", 1);
    assert_refused(TAMIS_ECORRUPT, "goes on after its end", create_one(store, "bad", &longer));
    assert_int_equal(fixture_filters(store), 1);
    assert_int_equal(fixture_files(path, "staging"), 0);
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

/* Checksums that fit do not make it sound. */
STORE_CASE(create_streams_refuse_what_an_import_refuses)
{
    static const struct {
        size_t at;
        unsigned char byte;
    } changes[] = {{96 + 24, 99} /* k */,        {96 + 28, 7} /* words */,
                   {96 + 4, 200} /* hash set */, {96, 77} /* kind */,
                   {96 + 17, 9} /* m */,         {96 + 40, 0xFF} /* rate */,
                   {96 + 72, 9} /* order */,     {32, 77} /* on_full */};
    struct tamis_filled one;
    assert_done(tamis_filter_create(store, "from", &specs[6], NULL));
    add_numbers(store, "from", 0, KEYS);
    AUTO_STREAM whole = export_of(store, "from");
    for (unsigned i = 0; i <= sizeof changes / sizeof changes[0] + 1; i++) {
        AUTO_STREAM stream = stream_of(whole.data, whole.bytes);
        if (i < sizeof changes / sizeof changes[0])
            memset(stream.data + changes[i].at, changes[i].byte, i == 5 ? 8 : 1);
        else if (i == sizeof changes / sizeof changes[0])
            stream.data[stream.bytes - 17] |= 0x80; /* a bit past m */
        else
            memset(stream.data + 328, 0, stream.bytes - 328); /* keys, and no bit */
        exchanges_close_sums(&stream);
        const struct tamis_source source = stream_source(&stream);
        const int alone = tamis_filter_import(store, "to", "tamis", NULL, &source, NULL);
        one = from_stream("to", &stream);
        assert_true(alone < 0);
        assert_int_equal(tamis_filter_create_filled(store, &one, 1), alone);
        assert_int_equal(tamis_stream_fits(NULL, stream.data, stream.bytes), TAMIS_STREAM_ALONE);
    }
    assert_int_equal(fixture_filters(store), 1);
}

/* Whatever the head says, with checksums that fit: both calls make the same filter, or both refuse
 * it; but for what is not one segment alone. */
STORE_CASE(create_streams_judge_a_head_as_an_import_does)
{
    unsigned made = 0;
    assert_done(tamis_filter_create(store, "from", &specs[0], NULL));
    add_numbers(store, "from", 0, KEYS);
    AUTO_STREAM whole = export_of(store, "from");
    for (size_t at = 0; at < 320 * 3; at++) {
        AUTO_STREAM stream = stream_of(whole.data, whole.bytes);
        stream.data[at / 3] ^= at % 3 == 0 ? 1 : at % 3 == 1 ? 0x80 : 0x24;
        if (tamis__get32(stream.data + 12) == 1) exchanges_close_sums(&stream);
        const struct tamis_source source = stream_source(&stream);
        const int alone = tamis_filter_import(store, "alone", "tamis", NULL, &source, NULL);
        const int fits = tamis_stream_fits(NULL, stream.data, stream.bytes);
        const int rc = create_one(store, "one", &stream);
        assert_int_equal(rc == TAMIS_EUNSUPPORTED ? 0 : rc, alone);
        assert_int_equal(fits == TAMIS_STREAM_ALONE, rc < 0); /* nothing is promised that fails */
        if (rc == 0) {
            AUTO_STREAM a = export_of(store, "alone");
            AUTO_STREAM b = export_of(store, "one");
            if (tamis__get64(stream.data + 96 + 64) != 0) assert_same_stream(&a, &b);
            assert_int_equal(in_drawer(store, "one"), fits == TAMIS_STREAM_IN_DRAWER);
            assert_done(tamis_filter_drop(store, "one"));
            made++;
        }
        if (alone == 0) assert_done(tamis_filter_drop(store, "alone"));
    }
    assert_true(made > 50);
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

static void assert_alone(tamis_store *store, const char *name, const char *words)
{
    AUTO_STREAM stream = export_of(store, name);
    assert_refused(TAMIS_EUNSUPPORTED, words, create_one(store, "no", &stream));
    assert_non_null(strstr(tamis_last_error(), "tamis_filter_import()"));
    assert_int_equal(tamis_stream_fits(NULL, stream.data, stream.bytes), TAMIS_STREAM_ALONE);
}

STORE_CASE(create_streams_refuse_what_is_more_than_one_segment)
{
    const struct builds_keys keys = {.family = 'a', .count = 50, .times = 1};
    assert_done(tamis_filter_create(store, "grown", &specs[0], NULL));
    add_numbers(store, "grown", 0, 1000);
    assert_alone(store, "grown", "'no' has several segments");
    assert_done(tamis_filter_create(store, "except", &specs[0], NULL));
    assert_done(tamis_filter_except(store, "except", &(struct tamis_key){"x", 1}, 1));
    assert_alone(store, "except", "exceptions");
    assert_done(tamis_filter_create(store, "window",
                                    SPEC(.capacity = 100, .window_items = 100, .slices = 4), NULL));
    assert_alone(store, "window", "window");
    assert_done(builds_run(store, "fuse", BUILD_SPEC(.filter = SPEC(.kind = TAMIS_KIND_FUSE)),
                           &keys, NULL));
    assert_alone(store, "fuse", "fuse");
}

STORE_CASE(create_streams_refuse_arguments)
{
    assert_done(tamis_filter_create(store, "from", &specs[0], NULL));
    AUTO_STREAM stream = export_of(store, "from");
    struct tamis_filled two[] = {from_stream("a", &stream), from_stream("b", &stream)};
    two[1].spec = &specs[0];
    assert_refused(TAMIS_EINVAL, "leave the spec out", tamis_filter_create_filled(store, two, 2));
    two[1].spec = NULL;
    two[1].flags = TAMIS_IMPORT_DURABLE;
    assert_refused(TAMIS_EINVAL, "", tamis_filter_create_filled(store, two, 2));
    two[1] = (struct tamis_filled){.name = "b", .spec = &specs[0], .flags = TAMIS_IMPORT_OWNED};
    assert_refused(TAMIS_EINVAL, "", tamis_filter_create_filled(store, two, 2));
    two[1] = from_stream("a", &stream);
    assert_refused(TAMIS_EINVAL, "twice", tamis_filter_create_filled(store, two, 2));
    two[1] = from_stream("b\n", &stream);
    assert_true(tamis_filter_create_filled(store, two, 2) == TAMIS_EINVAL);
    two[1] = from_stream("from", &stream);
    assert_true(tamis_filter_create_filled(store, two, 2) == TAMIS_EEXIST);
    assert_int_equal(fixture_filters(store), 1);
    assert_int_equal(tamis_stream_fits(NULL, NULL, 0), TAMIS_EINVAL);
    assert_int_equal(tamis_stream_fits(NULL, "", 0), TAMIS_STREAM_ALONE);
    assert_int_equal(tamis_stream_fits(NULL, stream.data, 328), TAMIS_STREAM_IN_DRAWER);
    assert_int_equal(tamis_stream_fits(NULL, stream.data, 327), TAMIS_STREAM_ALONE);
    stream.data[stream.bytes - 20] ^= 1; /* of its data */
    assert_int_equal(tamis_stream_fits(NULL, stream.data, stream.bytes - 1),
                     TAMIS_STREAM_IN_DRAWER);
    assert_int_equal(tamis_stream_fits(NULL, stream.data, stream.bytes), TAMIS_STREAM_ALONE);
}

STORE_CASE(create_streams_without_a_disk_that_syncs_make_nothing)
{
    assert_done(tamis_filter_create(store, "from", &specs[0], NULL));
    assert_done(tamis_filter_create(store, "file", &specs[FIRST_IN_FILE], NULL));
    AUTO_STREAM sheet = export_of(store, "from");
    AUTO_STREAM file = export_of(store, "file");
    const struct tamis_filled two[] = {from_stream("a", &sheet), from_stream("b", &file)};
    hooks_fail_calls("fsync", EIO);
    assert_int_equal(tamis_filter_create_filled(store, two, 2), TAMIS_EIO);
    tamis__io_hook = NULL;
    assert_int_equal(fixture_filters(store), 2);
    assert_int_equal(fixture_files(path, "staging"), 0);
    assert_done(tamis_filter_create_filled(store, two, 2));
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
