/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * portable_test.c: our own stream: what is sound comes back byte for byte and goes on as the
 * original; what is not is refused, and leaves an empty store (store/exchange/portable.c).
 */
#include "exchanges.h"
#include "keys.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "dumps.h"
#include "hash/digest.h"

#define HEAD EXCHANGES_HEAD
#define DESCRIPTION EXCHANGES_DESCRIPTION

/* A filter of two segments with a little in each, as a stream. */
static struct stream portable_stream(const struct exchanges *p)
{
    struct dump dump = dump_of(1);
    struct stream redisbloom = dump_stream(&dump);
    assert_done(exchanges_import(p, "redisbloom",
                                 IMPORT_SPEC(.seal_capacity = 40, .seal_rate = 0.1), &redisbloom));
    stream_free(&redisbloom);
    tamis_filter *filter = fixture_opened(p->store, "x", 0);
    for (char key[] = "a"; key[0] <= 'z'; key[0]++)
        assert_done(tamis_filter_add(filter, key, 1));
    assert_int_equal(fixture_stat(filter).segment_count, 2); /* a third would make it long */
    assert_done(tamis_filter_close(filter));
    return exchanges_exported(p, "tamis");
}

EXCHANGE_CASE(portable_of_two_segments_comes_back)
{
    AUTO_STREAM stream = portable_stream(p);
    exchanges_come_back(p, "tamis", &EXCHANGES_NOTHING, &stream);
}

EXCHANGE_CASE(portable_truncated_anywhere_is_refused)
{
    AUTO_STREAM stream = portable_stream(p);
    exchanges_truncated(p, "tamis", &stream);
}

EXCHANGE_CASE(portable_with_any_byte_changed_is_refused)
{
    AUTO_STREAM stream = portable_stream(p);
    exchanges_changed(p, &stream);
}

/* Change eight bytes of the head and close it with checksums that fit. */
static void refuse_head(const struct exchanges *p, const struct stream *sound, size_t at,
                        uint64_t value, int code, const char *words)
{
    AUTO_STREAM stream = stream_of(sound->data, sound->bytes);
    memcpy(stream.data + at, &value, sizeof value);
    exchanges_close_sums(&stream);
    exchanges_refused(p, "tamis", &EXCHANGES_NOTHING, &stream, code, words);
}

EXCHANGE_CASE(portable_bad_head_is_refused)
{
    AUTO_STREAM sound = portable_stream(p);
    const uint64_t one = tamis__double_to_bits(1.5), nan_bits = tamis__double_to_bits(NAN);
    refuse_head(p, &sound, 8, 7 | (uint64_t)2 << 32, TAMIS_EVERSION, "has version 7");
    refuse_head(p, &sound, 8, 6 | (uint64_t)2 << 32, TAMIS_ECORRUPT, "truncated");
    refuse_head(p, &sound, 8, 0 | (uint64_t)2 << 32, TAMIS_ECORRUPT, "version 0");
    refuse_head(p, &sound, 8, 1, TAMIS_ECORRUPT, "0 segments");
    refuse_head(p, &sound, 8, 1 | (uint64_t)65 << 32, TAMIS_ECORRUPT, "65 segments");
    refuse_head(p, &sound, 16, 0, TAMIS_ECORRUPT, "impossible capacity");
    refuse_head(p, &sound, 24, one, TAMIS_ECORRUPT, "impossible capacity or rate");
    refuse_head(p, &sound, 24, nan_bits, TAMIS_ECORRUPT, "impossible capacity or rate");
    refuse_head(p, &sound, 16, UINT64_MAX, TAMIS_ECORRUPT, "impossible capacity or rate");
    refuse_head(p, &sound, 72, 1, TAMIS_EVERSION, "use a newer Tamis");
    refuse_head(p, &sound, 88, 1, TAMIS_EVERSION, "use a newer Tamis");
    const size_t d = HEAD; /* the first description: kind bloom, redisbloom */
    refuse_head(p, &sound, d, 9 | (uint64_t)6 << 32, TAMIS_EVERSION, "of a kind");
    refuse_head(p, &sound, d, 1 | (uint64_t)6 << 32, TAMIS_ECORRUPT, "has a geometry");
    refuse_head(p, &sound, d, 2 | (uint64_t)99 << 32, TAMIS_EVERSION, "hash set");
    refuse_head(p, &sound, d + 16, 0, TAMIS_ECORRUPT, "has a segment of 0 bits");
    refuse_head(p, &sound, d + 16, UINT64_MAX, TAMIS_ECORRUPT, "has a segment of");
    refuse_head(p, &sound, d + 24, 0, TAMIS_ECORRUPT, "impossible k of 0");
    refuse_head(p, &sound, d + 24, 1000000, TAMIS_ECORRUPT, "impossible k of 1000000");
    refuse_head(p, &sound, d + 32, 0, TAMIS_ECORRUPT, "capacity"); /* capacity is told */
    refuse_head(p, &sound, d + 40, nan_bits, TAMIS_ECORRUPT, "impossible capacity or rate");
    refuse_head(p, &sound, d + 48, UINT64_MAX, TAMIS_ECORRUPT, "number of items");
    refuse_head(p, &sound, d + 48, TAMIS__CAPACITY_MAX + 1, TAMIS_ECORRUPT, "number of items");
    refuse_head(p, &sound, d + 56, UINT64_MAX, TAMIS_ECORRUPT, "18446744073709551615 bytes");
    refuse_head(p, &sound, d + 72, 2, TAMIS_EVERSION, "unknown bit order");
    refuse_head(p, &sound, d + 72, (uint64_t)2 << 32, TAMIS_EVERSION, "use a newer Tamis");
    refuse_head(p, &sound, d + 80, 1, TAMIS_ECORRUPT, "parameters");
    refuse_head(p, &sound, d + 200, 1, TAMIS_EVERSION, "use a newer Tamis");
}

/* Segments of 2^59 bytes are each possible, and the sum of so many is not: that of 17 is more than
 * a file may have, that of 32 more than 64 bits. */
static void check_overflow(const struct exchanges *p, uint32_t segments)
{
    AUTO_STREAM sound = portable_stream(p);
    AUTO_STREAM stream = stream_of(sound.data, sound.bytes);
    const uint64_t bits = (uint64_t)1 << 62, bytes = bits / 8;
    memcpy(stream.data + 12, &segments, sizeof segments);
    stream.bytes = HEAD;
    for (uint32_t i = 0; i < segments; i++) {
        stream_put(&stream, sound.data + HEAD, DESCRIPTION);
        memcpy(stream.data + stream.bytes - DESCRIPTION + 16, &bits, 8);
        memcpy(stream.data + stream.bytes - DESCRIPTION + 56, &bytes, 8);
    }
    stream_put64(&stream, tamis__checksum(stream.data, stream.bytes));
    exchanges_refused(p, "tamis", &EXCHANGES_NOTHING, &stream, TAMIS_ECORRUPT, "sum overflows");
}

EXCHANGE_CASE(portable_overflowing_sums_are_refused)
{
    check_overflow(p, 17);
    check_overflow(p, 32);
}

/* Bits past m, under checksums that fit. */
EXCHANGE_CASE(portable_with_bits_past_m_is_refused)
{
    AUTO_STREAM stream = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream);
    tamis_filter *filter = fixture_create(p->store, "x", SPEC(.m_bits = 100, .k = 3));
    assert_done(tamis_filter_close(filter));
    char *segment = strdup(fixture_segment_path(p->path, 1));
    fixture_poke(segment, 2304 + 12, "\x10", 1); /* bit 100 */
    free(segment);
    assert_done(tamis_filter_open(p->store, "x", TAMIS_OPEN_READ_ONLY, &filter));
    assert_done(tamis_filter_export(filter, "tamis", TAMIS_EXPORT_WITH_KEY, &sink));
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_drop(p->store, "x"));
    exchanges_refused(p, "tamis", &EXCHANGES_NOTHING, &stream, TAMIS_ECORRUPT,
                      "bits set past its m");
}

/* ---- How the filter goes on ------------------------------------------------------------------ */

static tamis_filter *opened(const struct exchanges *p)
{
    return fixture_opened(p->store, "x", 0);
}

/* Distinct keys from `first` on; how many were refused. */
static uint64_t add_keys(tamis_filter *filter, uint64_t first, uint64_t count)
{
    uint64_t refused = 0;
    for (uint64_t key = first; key < first + count; key++) {
        const int rc = tamis_filter_add(filter, &key, sizeof key);
        if (rc != TAMIS_EFULL) assert_done(rc);
        refused += rc == TAMIS_EFULL;
    }
    return refused;
}

/* A filter of that spec with so many keys, as a stream; it is not in the store any more. */
static struct stream grown(const struct exchanges *p, const struct tamis_filter_spec *spec,
                           uint64_t keys)
{
    tamis_filter *filter = fixture_create(p->store, "x", spec);
    (void)add_keys(filter, 0, keys);
    assert_done(tamis_filter_close(filter));
    return exchanges_exported(p, "tamis");
}

static const struct tamis_filter_spec GROWING = {
    .size = sizeof GROWING, .capacity = 300, .fp_rate = 1e-3, .seed = 5};

/* Three segments come back, and the fourth is what the original's would have been. */
EXCHANGE_CASE(portable_grown_filter_goes_on_growing)
{
    AUTO_STREAM stream = grown(p, &GROWING, 70000);
    exchanges_come_back(p, "tamis", &EXCHANGES_NOTHING, &stream);
    assert_done(exchanges_import(p, "tamis", &EXCHANGES_NOTHING, &stream));
    tamis_filter *filter = opened(p);
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.segment_count, 3);
    assert_int_equal(stat.on_full, TAMIS_ON_FULL_GROW);
    assert_int_equal(add_keys(filter, 70000, 1060000), 0); /* the third is for 2^20 keys */
    stat = fixture_stat(filter);
    assert_int_equal(stat.segment_count, 4);
    struct tamis_segment_stat third = fixture_segment_stat(filter, 2);
    struct tamis_segment_stat fourth = fixture_segment_stat(filter, 3);
    assert_int_equal(third.step, 2);
    assert_int_equal(fourth.step, 3);
    assert_int_equal(fourth.capacity, 2 * third.capacity);
    assert_true(fourth.fp_rate < third.fp_rate);
    assert_int_equal(keys_found(filter, 0, 1130000), 1130000);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(fixture_problems(p->path), 0);
}

EXCHANGE_CASE(portable_refusing_filter_goes_on_refusing)
{
    AUTO_STREAM stream = grown(p, SPEC(.capacity = 100, .on_full = TAMIS_ON_FULL_REFUSE), 90);
    assert_done(exchanges_import(p, "tamis", &EXCHANGES_NOTHING, &stream));
    AUTO_FILTER *filter = opened(p);
    assert_true(add_keys(filter, 1000, 500) > 400);
    assert_true(tamis_filter_items(filter) <= 101);
}

/* on_full 0 in a file is what a spec calls TAMIS_ON_FULL_WARN; seen to fail where the numbers were
 * compared ("exists with policy when full warn, not warn"). */
EXCHANGE_CASE(portable_of_policy_0_is_the_filter_that_warns)
{
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 100, .on_full = TAMIS_ON_FULL_WARN};
    AUTO_STREAM stream = grown(p, &spec, 50);
    AUTO_FILTER *filter;
    memset(stream.data + 32, 0, 4);
    exchanges_close_sums(&stream);
    assert_done(exchanges_import(p, "tamis", &EXCHANGES_NOTHING, &stream));
    assert_done(tamis_filter_open_or_create(p->store, "x", &spec, &filter));
}

/* The window moves on as it would have: rotated so often that nothing of the stream is left. */
EXCHANGE_CASE(portable_windowed_filter_goes_on_forgetting)
{
    const struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 300, .slices = 3, .window_ns = 3600 * INT64_C(1000000000)};
    const uint64_t old = 7;
    AUTO_FILTER *filter = fixture_create(p->store, "x", &spec);
    (void)add_keys(filter, 0, 50);
    assert_done(tamis_filter_rotate(filter));
    (void)add_keys(filter, 50, 50);
    assert_done(tamis_filter_close(filter));
    AUTO_STREAM stream = exchanges_exported(p, "tamis");
    exchanges_come_back(p, "tamis", &EXCHANGES_NOTHING, &stream);
    assert_done(exchanges_import(p, "tamis", &EXCHANGES_NOTHING, &stream));
    filter = opened(p);
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.slices, 3);
    assert_int_equal(stat.window_ns, spec.window_ns);
    struct tamis_segment_stat oldest = fixture_segment_stat(filter, 0);
    struct tamis_segment_stat next = fixture_segment_stat(filter, 1);
    assert_int_equal(oldest.slice, 0);
    assert_int_equal(next.slice, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tamis_filter_contains(filter, &old, sizeof old), 1);
        assert_done(tamis_filter_rotate(filter));
    }
    assert_int_equal(tamis_filter_contains(filter, &old, sizeof old), 0);
}

/* The number of a slice goes on from what the stream says.  (Seen to fail where it was not bounded:
 * the record said an impossible slice then, and the filter could be neither opened nor dropped.) */
EXCHANGE_CASE(portable_window_of_the_last_slice_does_not_move)
{
    const uint64_t last = TAMIS__SLICE_MAX;
    AUTO_STREAM stream = grown(p, SPEC(.capacity = 60, .slices = 3, .window_items = 600), 300);
    memcpy(stream.data + HEAD + DESCRIPTION + 176, &last, sizeof last);
    exchanges_close_sums(&stream);
    assert_done(exchanges_import(p, "tamis", &EXCHANGES_NOTHING, &stream));
    AUTO_FILTER *filter = opened(p);
    assert_refused(TAMIS_ELIMIT, "has moved", tamis_filter_rotate(filter));
    int rc = 0;
    for (uint64_t i = 300; rc >= 0 && i < 1300; i++)
        rc = tamis_filter_add(filter, &i, sizeof i);
    assert_refused(TAMIS_ELIMIT, "has moved", rc);
    AUTO_FILTER *again = opened(p);
    assert_done(tamis_filter_drop(p->store, "x"));
}

/* A seal would be a slice of no window, and the next slice takes the new keys anyway. */
EXCHANGE_CASE(portable_windowed_filter_is_not_sealed)
{
    AUTO_STREAM stream = grown(p, SPEC(.slices = 3, .window_items = 600), 10);
    exchanges_refused(p, "tamis", IMPORT_SPEC(.seal_capacity = 100, .seal_rate = 0.01), &stream,
                      TAMIS_EUNSUPPORTED, "without a seal");
}

EXCHANGE_CASE(portable_bad_policy_is_refused)
{
    const uint64_t nan_bits = tamis__double_to_bits(NAN), minus = tamis__double_to_bits(-0.5);
    const int damaged = TAMIS_ECORRUPT;
    const char *window = "impossible window", *made_for = "for an impossible capacity or rate";
    AUTO_STREAM sound =
        grown(p, SPEC(.capacity = 60, .slices = 3, .window_items = 600), 300); /* two slices */
    exchanges_come_back(p, "tamis", &EXCHANGES_NOTHING, &sound);
    refuse_head(p, &sound, 32, 4 | (uint64_t)3 << 32, damaged, "policy for when it is full");
    refuse_head(p, &sound, 32, 1, damaged, window); /* 0 slices */
    refuse_head(p, &sound, 32, 1 | (uint64_t)33 << 32, damaged, window);
    refuse_head(p, &sound, 40, 1000000000, damaged, window); /* both windows */
    refuse_head(p, &sound, 40, UINT64_MAX, damaged, window); /* -1 ns */
    refuse_head(p, &sound, 48, 0, damaged, window);          /* slices of none */
    refuse_head(p, &sound, 48, UINT64_MAX, damaged, window);
    refuse_head(p, &sound, 56, 0, damaged, made_for);
    refuse_head(p, &sound, 56, UINT64_MAX, damaged, made_for);
    refuse_head(p, &sound, 64, 0, damaged, made_for);
    refuse_head(p, &sound, 64, nan_bits, damaged, made_for);
    refuse_head(p, &sound, 64, minus, damaged, made_for);
    const size_t first = HEAD, second = HEAD + DESCRIPTION;
    refuse_head(p, &sound, first + 176, 2, damaged, "not in the order of their slices");
    refuse_head(p, &sound, second + 176, UINT64_MAX, damaged, "impossible slice");
    refuse_head(p, &sound, second + 184, UINT64_MAX, damaged, "impossible slice");
    refuse_head(p, &sound, second + 192, 64, damaged, "impossible step of growth");
    refuse_head(p, &sound, second + 192, UINT32_MAX, damaged, "impossible step of growth");
    stream_free(&sound);
    sound = grown(p, &GROWING, 1000);
    refuse_head(p, &sound, second + 176, 1, damaged, "slice of a window that there is not");
    refuse_head(p, &sound, first + 184, 1, damaged, "slice of a window that there is not");
}

/* Takes the end of the filter's file away when the first bytes of the stream come. */
static int cut_file(void *context, const void *bytes, size_t count)
{
    const char **path = context;
    (void)bytes, (void)count;
    if (*path != NULL) assert_int_equal(truncate(*path, 4096), 0);
    *path = NULL;
    return 0;
}

/* cmocka handles the signal itself, and would end the case. */
static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number, (void)context;
    if (!tamis_sigbus_mend(info->si_addr)) _exit(99);
}

/* Pages that are not there are zeros to the thread that reads them.  (Broken: tamis_filter_export()
 * does not look at the view at its end, and status 0 tells of a stream of zeros.) */
EXCHANGE_CASE(portable_of_a_file_that_is_cut_meanwhile_is_an_error)
{
    const char *cut;
    const struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    const struct tamis_sink sink = {.size = sizeof sink, .write = cut_file, .context = &cut};
    tamis_filter *filter = NULL;
    assert_done(tamis_filter_create(
        p->store, "x", SPEC(.capacity = 4000000, .fp_rate = 0.01, .on_full = TAMIS_ON_FULL_REFUSE),
        &filter));
    assert_int_equal(tamis_filter_add(filter, "key", 3), 1);
    cut = fixture_segment_path(p->path, fixture_segment_stat(filter, 0).number);
    assert_int_equal(sigaction(SIGBUS, &action, &before), 0);
    assert_int_equal(tamis_filter_export(filter, "tamis", 0, &sink), TAMIS_ECORRUPT);
    assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
    assert_null(cut);
    tamis_filter_release(filter);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
