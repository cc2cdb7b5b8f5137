/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse_stream_test.c: filters of kind fuse travel, and a stream that says of one what cannot be is
 * refused (store/exchange/portable.c, store/filter/import.c).
 *
 * The tests were seen to fail for streams without the digest of the keys, without the checksum of
 * the fingerprints, and for a parse that took each of the wrong fields below.
 */
#include "exchanges.h"
#include "keys.h"

#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "sizing/fuse.h"
#include "tamis.h"

#define D EXCHANGES_HEAD /* the description */
#define DATA_AT (EXCHANGES_HEAD + EXCHANGES_DESCRIPTION + 8)

static int build(tamis_store *store, const char *name, uint64_t keys, double rate, unsigned flags)
{
    tamis_build *build;
    assert_done(tamis_build_begin(
        store, name, BUILD_SPEC(.filter = SPEC(.fp_rate = rate), .flags = flags, .threads = 1),
        &build));
    for (uint64_t i = 0; i < keys; i++) {
        const struct tamis_key key = {&i, sizeof i};
        assert_done(tamis_build_add(build, &key, 1));
    }
    const int rc = tamis_build_publish(build, NULL);
    tamis_build_close(build);
    return rc;
}

/* The stream of a filter x of these keys, which is dropped. */
static struct stream fuse_stream(const struct exchanges *p, uint64_t keys, double rate)
{
    assert_int_equal(build(p->store, "x", keys, rate, 0), 1);
    return exchanges_exported(p, "tamis");
}

static void travels(const struct exchanges *p, uint64_t keys, double rate, uint32_t bits)
{
    assert_int_equal(build(p->store, "there", keys, rate, 0), 1);
    AUTO_FILTER *there = fixture_opened(p->store, "there", TAMIS_OPEN_READ_ONLY);
    AUTO_STREAM stream = fuse_stream(p, keys, rate);
    assert_int_equal(tamis__get32(stream.data + 8), tamis__fuse_is_packed(bits) ? 3 : 2);
    exchanges_come_back(p, "tamis", &EXCHANGES_NOTHING, &stream);
    assert_done(exchanges_import(p, "tamis", &EXCHANGES_NOTHING, &stream));
    AUTO_FILTER *x = fixture_opened(p->store, "x", 0);
    const struct tamis_filter_stat stat = fixture_stat(x);
    assert_int_equal(stat.kind, TAMIS_KIND_FUSE);
    assert_int_equal(stat.fingerprint_bits, bits);
    assert_int_equal(stat.items, keys);
    assert_int_equal(stat.capacity, fixture_stat(there).capacity);
    assert_int_equal(keys_found(x, 0, keys), keys);
    for (uint64_t i = keys; i < keys + 5000; i++) /* strangers too: the same bits */
        assert_int_equal(key_has(x, i), key_has(there, i));
    assert_refused(TAMIS_EUNSUPPORTED, "is static", tamis_filter_add(x, "k", 1));
    /* It is known to have these keys, and no others. */
    assert_int_equal(build(p->store, "x", keys, rate, TAMIS_BUILD_IF_CHANGED), 0);
    assert_int_equal(build(p->store, "x", keys + 1, rate, TAMIS_BUILD_IF_CHANGED), 1);
    assert_int_equal(keys_found(x, 0, keys + 1), keys + 1);
    assert_done(tamis_filter_drop(p->store, "x"));
    assert_done(tamis_filter_drop(p->store, "there"));
}

EXCHANGE_CASE(fuse_travels_with_each_width_of_fingerprints)
{
    static const uint64_t keys[] = {0, 1, 2, 100, 20000};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        travels(p, keys[i], 0.004, 8);
        travels(p, keys[i], 0.001, 10);
        travels(p, keys[i], exp2(-16), 16);
        travels(p, keys[i], 1e-6, 20);
        travels(p, keys[i], exp2(-32), 32);
    }
}

#ifdef TAMIS_WITH_SIP
EXCHANGE_CASE(fuse_of_hash_set_sip_needs_its_key)
{
    const struct tamis_filter_spec filter = {.size = sizeof filter, .hash_set = "sip"};
    AUTO_STREAM stream = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream);
    const struct tamis_key key = {"k", 1};
    tamis_build *build;
    assert_done(tamis_build_begin(p->store, "x", BUILD_SPEC(.filter = &filter), &build));
    assert_done(tamis_build_add(build, &key, 1));
    assert_int_equal(tamis_build_publish(build, NULL), 1);
    tamis_build_close(build);
    tamis_filter *x = fixture_opened(p->store, "x", 0);
    assert_refused(TAMIS_EINVAL, "--with-key", tamis_filter_export(x, "tamis", 0, &sink));
    assert_int_equal(stream.bytes, 0);
    assert_done(tamis_filter_close(x));
    AUTO_STREAM whole = exchanges_exported(p, "tamis");
    exchanges_come_back(p, "tamis", &EXCHANGES_NOTHING, &whole);
}
#endif

EXCHANGE_CASE(fuse_truncated_anywhere_is_refused)
{
    AUTO_STREAM stream = fuse_stream(p, 3, 0.01);
    exchanges_truncated(p, "tamis", &stream);
}

EXCHANGE_CASE(fuse_with_any_byte_changed_is_refused)
{
    AUTO_STREAM stream = fuse_stream(p, 3, 0.01);
    exchanges_changed(p, &stream);
}

/* Puts `bytes` bytes of a number at `at`, and checksums that fit. */
static struct stream altered(const struct stream *sound, size_t at, uint64_t value, size_t bytes)
{
    struct stream stream = stream_of(sound->data, sound->bytes);
    memcpy(stream.data + at, &value, bytes);
    exchanges_close_sums(&stream);
    return stream;
}

static void refuse(const struct exchanges *p, const struct stream *sound, size_t at, uint64_t value,
                   size_t bytes, int code, const char *words)
{
    AUTO_STREAM stream = altered(sound, at, value, bytes);
    exchanges_refused(p, "tamis", &EXCHANGES_NOTHING, &stream, code, words);
    stream.length_hidden = true;
    exchanges_refused(p, "tamis", &EXCHANGES_NOTHING, &stream, code, words);
}

EXCHANGE_CASE(fuse_of_an_impossible_geometry_is_refused)
{
    const int damaged = TAMIS_ECORRUPT;
    const char *geometry = "has a geometry that no filter of kind fuse has";
    const char *keys = "more keys than fit into its fingerprints";
    AUTO_STREAM s = fuse_stream(p, 100, 0.004);
    const uint64_t slots = tamis__get32(s.data + D + 212), m = tamis__get64(s.data + D + 16);
    refuse(p, &s, D + 200, 7, 4, damaged, geometry); /* bits of a fingerprint */
    refuse(p, &s, D + 200, 16, 4, damaged, geometry);
    refuse(p, &s, D + 200, 0, 4, damaged, geometry);
    refuse(p, &s, D + 204, 0, 4, damaged, geometry); /* pieces */
    refuse(p, &s, D + 204, UINT32_MAX, 4, damaged, geometry);
    refuse(p, &s, D + 208, 0, 4, damaged, geometry); /* segments of a piece */
    refuse(p, &s, D + 208, UINT32_MAX, 4, damaged, geometry);
    refuse(p, &s, D + 212, slots + 1, 4, damaged, geometry); /* slots of a segment */
    refuse(p, &s, D + 212, 2 * slots, 4, damaged, geometry);
    refuse(p, &s, D + 212, 0, 4, damaged, geometry);
    refuse(p, &s, D + 212, 1u << 17, 4, damaged, geometry);
    refuse(p, &s, D + 16, m + 8, 8, damaged, geometry);
    /* Segments of 4 slots, so many that m is what it was: what queries do with them is not known.
     */
    AUTO_STREAM narrow = altered(&s, D + 212, 4, 4);
    refuse(p, &narrow, D + 208, m / 8 / 4 - 2, 4, damaged, geometry);
    refuse(p, &s, D + 24, 4, 4, damaged, geometry);  /* k */
    refuse(p, &s, D + 28, 2, 4, damaged, geometry);  /* words */
    refuse(p, &s, D + 72, 1, 4, damaged, geometry);  /* bit order */
    refuse(p, &s, D + 196, 4, 4, damaged, geometry); /* counters */
    refuse(p, &s, D + 56, m / 8, 8, damaged, "has fingerprints in");
    refuse(p, &s, D + 56, UINT64_MAX, 8, damaged, "has fingerprints in");
    refuse(p, &s, D + 48, 0, 8, damaged, keys); /* items */
    refuse(p, &s, D + 48, 101, 8, damaged, keys);
    AUTO_STREAM roomy = altered(&s, D + 32, 1u << 20, 8); /* a greater capacity */
    refuse(p, &roomy, D + 48, m / 8 + 1, 8, damaged, keys);
    refuse(p, &s, D + 216, 1, 8, damaged, "do not match their checksum");
    refuse(p, &s, DATA_AT + 70, s.data[DATA_AT + 70] ^ 1u, 1, damaged, "do not match");
}

/* What is sound in itself and cannot be of a filter of kind fuse. */
EXCHANGE_CASE(fuse_in_the_wrong_place_is_refused)
{
    const int damaged = TAMIS_ECORRUPT;
    const char *goes_on = "goes on in further segments";
    AUTO_STREAM s = fuse_stream(p, 100, 0.004);
    AUTO_STREAM none = fuse_stream(p, 0, 0.004);
    refuse(p, &none, D + 48, 1, 8, damaged, "more keys than fit into its fingerprints");
    refuse(p, &s, 32, TAMIS_ON_FULL_GROW, 4, damaged, goes_on);
    refuse(p, &s, 32, TAMIS_ON_FULL_REFUSE, 4, damaged, goes_on);
    refuse(p, &s, D + 4, 6, 4, TAMIS_EVERSION, "hash set"); /* one that fuse does not have */
    refuse(p, &s, 8, 1, 4, TAMIS_EVERSION, "use a newer Tamis");
    refuse(p, &s, 8, 3, 4, damaged, "has version 3, but nothing that needs this version");
    refuse(p, &s, 8, 4, 4, damaged, "has version 4, but nothing that needs this version");
    refuse(p, &s, 8, 7, 4, TAMIS_EVERSION, "has version 7, this library reads up to 6");
    AUTO_STREAM packed = fuse_stream(p, 100, 0.001);
    refuse(p, &packed, 8, 2, 4, TAMIS_EVERSION, "use a newer Tamis");
    refuse(p, &s, D, TAMIS_KIND_BLOOM, 4, damaged, "has a segment of");
    refuse(p, &s, 72, TAMIS_EXCEPTIONS_MAX + 1u, 8, damaged, "more exceptions");
    refuse(p, &s, 72, 1, 8, damaged, "truncated");
    refuse(p, &s, 72, TAMIS_EXCEPTIONS_MAX, 8, damaged, "truncated");
}

/* A filter that version 1 has is version 1; its bits are not fingerprints. */
EXCHANGE_CASE(version_2_of_what_is_not_of_it_is_refused)
{
    AUTO_FILTER *filter = fixture_create(p->store, "x", SPEC(.capacity = 100));
    assert_int_equal(key_add(filter, 1), 1);
    assert_done(tamis_filter_close(filter));
    filter = NULL;
    AUTO_STREAM s = exchanges_exported(p, "tamis");
    assert_int_equal(tamis__get32(s.data + 8), 1);
    refuse(p, &s, 8, 2, 4, TAMIS_ECORRUPT, "has version 2, but nothing that needs this version");
    AUTO_STREAM second = altered(&s, 8, 2, 4);
    refuse(p, &second, D + 200, 8, 4, TAMIS_ECORRUPT, "has fingerprints in a segment of kind 1");
    refuse(p, &second, D + 216, 8, 8, TAMIS_ECORRUPT, "has fingerprints in a segment of kind 1");
    refuse(p, &s, D + 200, 8, 4, TAMIS_EVERSION, "use a newer Tamis");
}

EXCHANGE_CASE(fuse_is_neither_sealed_nor_made_from_a_head)
{
    const struct tamis_import_spec sealed = {.size = sizeof sealed, .seal_capacity = 100},
                                   head = {.size = sizeof head, .flags = TAMIS_IMPORT_HEAD},
                                   there = {.size = sizeof there, .flags = TAMIS_IMPORT_AS_THERE},
                                   owned = {.size = sizeof owned, .flags = TAMIS_IMPORT_OWNED};
    AUTO_STREAM s = fuse_stream(p, 100, 0.004);
    exchanges_refused(p, "tamis", &sealed, &s, TAMIS_EUNSUPPORTED, "without a seal");
    exchanges_refused(p, "tamis", &there, &s, TAMIS_EINVAL, "for format redisbloom");
    AUTO_STREAM only_head = stream_of(s.data, DATA_AT);
    exchanges_refused(p, "tamis", &head, &only_head, TAMIS_EUNSUPPORTED, "the whole stream");
    assert_done(exchanges_import(p, "tamis", &owned, &s));
    AUTO_FILTER *x = fixture_opened(p->store, "x", 0);
    assert_int_equal(fixture_stat(x).flags & TAMIS_FILTER_OWNED, TAMIS_FILTER_OWNED);
}

EXCHANGE_CASE(fuse_has_no_form_in_other_formats)
{
    static const char *const formats[] = {"redis-bitmap", "redisbloom", "guava", "spark",
                                          "parquet"};
    AUTO_STREAM stream = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream);
    assert_int_equal(build(p->store, "x", 100, 0.004, 0), 1);
    AUTO_FILTER *x = fixture_opened(p->store, "x", 0);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        assert_refused(TAMIS_EUNSUPPORTED, "as tamis",
                       tamis_filter_export(x, formats[i], 0, &sink));
    assert_int_equal(stream.calls, 0);
}

/* Damage is not passed on under a checksum that fits. */
EXCHANGE_CASE(fuse_that_is_damaged_is_not_exported)
{
    AUTO_STREAM stream = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream);
    unsigned char byte;
    assert_int_equal(build(p->store, "x", 100, 0.004, 0), 1);
    const char *file = fixture_segment_path(p->path, 1);
    fixture_peek(file, 2304 + 100, &byte, 1);
    byte ^= 1;
    fixture_poke(file, 2304 + 100, &byte, 1);
    AUTO_FILTER *x = fixture_opened(p->store, "x", 0);
    assert_refused(TAMIS_ECORRUPT, "do not match their checksum",
                   tamis_filter_export(x, "tamis", 0, &sink));
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
