/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exceptions_stream_test.c: exceptions travel with their filter, whatever its kind
 * (store/exchange/stream_exceptions.c, store/filter/import.c, store/filter/export.c).
 *
 * Broken to see the tests fail: a stream without the exceptions; all of them by hand after the
 * import; keys out of order, twice, too long or of no origin that were taken; an index that stayed
 * after an import that failed; an export that took capacity and list at two instants.
 */
#include "exchanges.h"
#include "keys.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "hooks.h"
#include "numbers.h"
#include "os/io.h"
#include "points.h"
#include "tamis.h"

#define AT_COUNT 72u /* in the head */

static int64_t except(tamis_store *store, const char *key, size_t bytes)
{
    const struct tamis_key one = {key, bytes};
    return assert_done(tamis_filter_except(store, "x", &one, 1));
}

struct listed {
    size_t count, found, bytes;
};

static int list_one(void *context, const struct tamis_key *key, uint64_t generation)
{
    struct listed *listed = context;
    listed->count++;
    listed->found += generation != 0;
    listed->bytes += key->bytes;
    return 0;
}

/* By name and by handle they are the same. */
static struct listed listed(tamis_store *store)
{
    struct listed all = {0}, again = {0};
    AUTO_FILTER *x = fixture_opened(store, "x", TAMIS_OPEN_READ_ONLY);
    assert_done(tamis_filter_exceptions(store, "x", list_one, &all));
    assert_done(tamis_filter_each_exception(x, list_one, &again));
    assert_memory_equal(&all, &again, sizeof all);
    return all;
}

/* A small filter with three exceptions. */
static struct stream small_stream(const struct exchanges *p)
{
    tamis_filter *x = fixture_create(p->store, "x", SPEC(.capacity = 20, .fp_rate = 0.1));
    assert_done(tamis_filter_add(x, "bb", 2));
    assert_done(tamis_filter_close(x));
    assert_int_equal(except(p->store, "bb", 2), 1);
    assert_int_equal(except(p->store, "c", 1), 1);
    assert_int_equal(except(p->store, "aaa", 3), 1);
    return exchanges_exported(p, "tamis");
}

/* Where its exceptions are: aaa, bb, c. */
#define FIRST(s) ((s)->bytes - 16 - (8 + 3) - (8 + 2) - (8 + 1))
#define SECOND(s) ((s)->bytes - 16 - (8 + 2) - (8 + 1))
#define THIRD(s) ((s)->bytes - 16 - (8 + 1))

/* ---- What is sound --------------------------------------------------------------------------- */

static void travels(const struct exchanges *p, const struct tamis_filter_spec *spec)
{
    tamis_filter *x = fixture_create(p->store, "x", spec);
    for (uint64_t i = 0; i < 300; i++)
        (void)key_add(x, i);
    assert_done(tamis_filter_close(x));
    for (uint64_t i = 0; i < 300; i += 3)
        assert_int_equal(key_except(p->store, "x", i), 1);
    AUTO_STREAM stream = exchanges_exported(p, "tamis");
    assert_int_equal(tamis__get32(stream.data + 8), 2);
    assert_int_equal(tamis__get64(stream.data + AT_COUNT), 100);
    exchanges_come_back(p, "tamis", &EXCHANGES_NOTHING, &stream);
    assert_done(exchanges_import(p, "tamis", &EXCHANGES_NOTHING, &stream));
    x = fixture_opened(p->store, "x", 0);
    assert_int_equal(fixture_stat(x).exceptions, 100);
    for (uint64_t i = 0; i < 300; i++)
        assert_int_equal(key_has(x, i), i % 3 != 0);
    assert_int_equal(key_unexcept(p->store, "x", 3), 1);
    assert_int_equal(key_has(x, 3), 1);
    assert_done(tamis_filter_close(x));
    assert_int_equal(fixture_problems(p->path), 0);
    assert_done(tamis_filter_drop(p->store, "x"));
}

EXCHANGE_CASE(exceptions_travel_with_a_filter_of_any_kind)
{
    travels(p, SPEC(.capacity = 1000));
    travels(p, SPEC(.capacity = 100, .on_full = TAMIS_ON_FULL_GROW)); /* of several segments */
    travels(p, SPEC(.capacity = 400, .window_items = 900, .slices = 3));
    travels(p, SPEC(.capacity = 1000, .kind = TAMIS_KIND_COUNTING));
    travels(p, SPEC(.m_bits = 9001, .k = 5, .kind = TAMIS_KIND_BLOOM));
    travels(p, SPEC(.m_bits = 20001, .hash_set = "php:bkdr,sdbm,djb"));
}

/* A filter of kind fuse whose build has found exceptions; one of them is set by hand too. */
static void build_excepting(const struct exchanges *p)
{
    struct tamis_build_result result = {.size = sizeof result};
    tamis_build *build;
    assert_done(tamis_build_begin(
        p->store, "x", BUILD_SPEC(.filter = SPEC(.fp_rate = 0.004), .threads = 1), &build));
    for (uint64_t i = 0; i < 3000; i++) {
        const struct tamis_key key = {&i, sizeof i};
        assert_done(i < 1000 ? tamis_build_add(build, &key, 1)
                             : tamis_build_against(build, &key, 1));
    }
    assert_int_equal(tamis_build_publish(build, &result), 1);
    tamis_build_close(build);
    assert_true(result.found >= 2);
    assert_int_equal(key_except(p->store, "x", 5), 1);
}

static int first_found(void *context, const struct tamis_key *key, uint64_t generation)
{
    if (generation != 0) memcpy(context, key->data, sizeof(uint64_t));
    return generation != 0;
}

/* What a build has found goes with the next build, and stays where it is by hand too. */
EXCHANGE_CASE(exceptions_keep_their_origin)
{
    uint64_t both = 0;
    build_excepting(p);
    assert_int_equal(tamis_filter_exceptions(p->store, "x", first_found, &both), 1);
    assert_int_equal(key_except(p->store, "x", both), 1);
    const struct listed before = listed(p->store);
    AUTO_STREAM stream = exchanges_exported(p, "tamis");
    exchanges_come_back(p, "tamis", &EXCHANGES_NOTHING, &stream);
    assert_done(exchanges_import(p, "tamis", &EXCHANGES_NOTHING, &stream));
    const struct listed after = listed(p->store);
    assert_memory_equal(&before, &after, sizeof before);
    AUTO_FILTER *x = fixture_opened(p->store, "x", 0);
    assert_int_equal(keys_found(x, 0, 3000), 999); /* 5 is an exception, strangers are none */
    const uint64_t key = 5;
    const struct tamis_filter_spec filter = {.size = sizeof filter, .fp_rate = 0.004};
    tamis_build *build;
    assert_done(tamis_build_begin(p->store, "x", BUILD_SPEC(.filter = &filter), &build));
    assert_done(tamis_build_add(build, &(struct tamis_key){&key, sizeof key}, 1));
    assert_int_equal(tamis_build_publish(build, NULL), 1);
    tamis_build_close(build);
    assert_int_equal(listed(p->store).count, 2); /* 5 and `both` */
    assert_int_equal(key_has(x, 5), 0);
    assert_done(tamis_filter_rollback(p->store, "x", 0));
    assert_int_equal(listed(p->store).count, before.count);
}

/* Keys of many lengths, also none and the most. */
EXCHANGE_CASE(exceptions_of_any_length_and_number)
{
    enum { COUNT = FIXTURE_SANITIZED ? 3000 : 100000 };
    static char bytes[TAMIS_EXCEPTION_BYTES_MAX];
    struct tamis_key *keys = calloc(COUNT, sizeof *keys);
    uint64_t *numbers = calloc(COUNT, sizeof *numbers);
    assert_true(keys != NULL && numbers != NULL);
    numbers_from(0, COUNT, numbers, keys);
    keys[0] = (struct tamis_key){NULL, 0};
    keys[1] = (struct tamis_key){bytes, sizeof bytes};
    AUTO_FILTER *x = fixture_filter(p->store, "x", 1000);
    assert_int_equal(assert_done(tamis_filter_except(p->store, "x", keys, COUNT)), COUNT);
    free(keys);
    free(numbers);
    const struct listed before = listed(p->store);
    AUTO_STREAM stream = exchanges_exported(p, "tamis");
    stream.most = 65521; /* pieces that end within keys */
    stream.length_hidden = true;
    exchanges_come_back(p, "tamis", &EXCHANGES_NOTHING, &stream);
    assert_done(exchanges_import(p, "tamis", &EXCHANGES_NOTHING, &stream));
    const struct listed after = listed(p->store);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(after.count, COUNT);
}

EXCHANGE_CASE(exceptions_taken_off_again_leave_version_1)
{
    AUTO_STREAM plain = {.data = NULL}, again = {.data = NULL};
    const struct tamis_sink plain_sink = stream_sink(&plain), again_sink = stream_sink(&again);
    AUTO_FILTER *x = fixture_filter(p->store, "x", 1000);
    assert_int_equal(keys_add(x, 0, 10), 10);
    assert_done(tamis_filter_export(x, "tamis", 0, &plain_sink));
    assert_int_equal(key_except(p->store, "x", 3), 1);
    assert_int_equal(key_unexcept(p->store, "x", 3), 1);
    assert_done(tamis_filter_export(x, "tamis", 0, &again_sink));
    exchanges_same(&plain, &again);
}

EXCHANGE_CASE(exceptions_are_left_out_where_that_is_asked_for)
{
    AUTO_STREAM before = {.data = NULL}, without = {.data = NULL}, bloom = {.data = NULL};
    const struct tamis_sink before_sink = stream_sink(&before), sink = stream_sink(&without),
                            bloom_sink = stream_sink(&bloom);
    AUTO_FILTER *x = fixture_create(p->store, "x", SPEC(.capacity = 100, .hash_set = "redisbloom"));
    assert_int_equal(keys_add(x, 0, 10), 10);
    assert_done(tamis_filter_export(x, "tamis", 0, &before_sink));
    assert_int_equal(key_except(p->store, "x", 3), 1);
    const unsigned flags = TAMIS_EXPORT_WITHOUT_EXCEPTIONS;
    assert_done(tamis_filter_export(x, "tamis", flags, &sink));
    exchanges_same(&before, &without);
    assert_done(tamis_filter_export(x, "redisbloom", flags, &bloom_sink));
    assert_refused(TAMIS_EINVAL, "export flags 0x8", tamis_filter_export(x, "tamis", 8, &sink));
}

/* New keys go on top, and what is excepted stays absent. */
EXCHANGE_CASE(exceptions_stay_under_a_seal)
{
    AUTO_STREAM s = small_stream(p);
    assert_done(exchanges_import(p, "tamis", IMPORT_SPEC(.seal_capacity = 100), &s));
    AUTO_FILTER *x = fixture_opened(p->store, "x", 0);
    assert_int_equal(fixture_stat(x).segment_count, 2);
    assert_int_equal(tamis_filter_contains(x, "bb", 2), 0);
    assert_int_equal(key_add(x, 1), 1);
    assert_int_equal(fixture_problems(p->path), 0);
}

/* ---- What is not ----------------------------------------------------------------------------- */

EXCHANGE_CASE(exceptions_truncated_anywhere_are_refused)
{
    AUTO_STREAM s = small_stream(p);
    exchanges_truncated(p, "tamis", &s);
}

EXCHANGE_CASE(exceptions_with_any_byte_changed_are_refused)
{
    AUTO_STREAM s = small_stream(p);
    exchanges_changed(p, &s);
}

static void refuse(const struct exchanges *p, const struct stream *sound, size_t at,
                   const void *bytes, size_t count, const char *words)
{
    AUTO_STREAM s = stream_of(sound->data, sound->bytes);
    memcpy(s.data + at, bytes, count);
    exchanges_close_sums(&s);
    exchanges_refused(p, "tamis", &EXCHANGES_NOTHING, &s, TAMIS_ECORRUPT, words);
}

static void refuse32(const struct exchanges *p, const struct stream *sound, size_t at,
                     uint32_t value, const char *words)
{
    refuse(p, sound, at, &value, sizeof value, words);
}

EXCHANGE_CASE(exceptions_that_cannot_be_are_refused)
{
    AUTO_STREAM s = small_stream(p);
    const uint64_t more = 4, fewer = 2, most = TAMIS_EXCEPTIONS_MAX, too_many = most + 1;
    refuse32(p, &s, FIRST(&s), TAMIS_EXCEPTION_BYTES_MAX + 1, "longer than any can be");
    refuse32(p, &s, THIRD(&s), UINT32_MAX, "longer than any can be");
    refuse32(p, &s, THIRD(&s), TAMIS_EXCEPTION_BYTES_MAX, "truncated");
    refuse32(p, &s, FIRST(&s) + 4, 0, "that nobody made");
    refuse32(p, &s, SECOND(&s) + 4, 4, "that nobody made");
    refuse(p, &s, FIRST(&s) + 8, "c", 1, "out of order"); /* caa, bb */
    refuse(p, &s, THIRD(&s) + 8, "b", 1, "out of order"); /* bb, b */
    AUTO_STREAM twice = stream_of(s.data, s.bytes);
    memcpy(twice.data + FIRST(&s), twice.data + SECOND(&s), 10); /* bb and a byte of the next */
    refuse32(p, &twice, FIRST(&s), 3, "out of order");           /* bb?, bb */
    refuse(p, &s, AT_COUNT, &more, 8, "truncated");
    refuse(p, &s, AT_COUNT, &fewer, 8, "checksum does not match");
    refuse(p, &s, AT_COUNT, &most, 8, "truncated");
    refuse(p, &s, AT_COUNT, &too_many, 8, "more exceptions than a filter can have");
}

/* The same key twice, as the only exceptions. */
EXCHANGE_CASE(exceptions_that_come_twice_are_refused)
{
    AUTO_FILTER *x = fixture_filter(p->store, "x", 10);
    assert_int_equal(except(p->store, "one", 3), 1);
    assert_int_equal(except(p->store, "two", 3), 1);
    AUTO_STREAM s = exchanges_exported(p, "tamis");
    refuse(p, &s, s.bytes - 16 - 3, "one", 3, "out of order");
}

EXCHANGE_CASE(exceptions_need_the_whole_stream)
{
    AUTO_STREAM s = small_stream(p);
    AUTO_STREAM only_head = stream_of(s.data, EXCHANGES_HEAD + EXCHANGES_DESCRIPTION + 8);
    exchanges_refused(p, "tamis", IMPORT_SPEC(.flags = TAMIS_IMPORT_HEAD), &only_head,
                      TAMIS_EUNSUPPORTED, "the whole stream");
}

EXCHANGE_CASE(exceptions_have_no_form_in_other_formats)
{
    AUTO_STREAM stream = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream);
    AUTO_FILTER *x = fixture_create(p->store, "x", SPEC(.capacity = 100, .hash_set = "redisbloom"));
    assert_int_equal(except(p->store, "a", 1), 1);
    assert_refused(TAMIS_EUNSUPPORTED,
                   "has 1 exception, which format redisbloom does not carry; export it as tamis",
                   tamis_filter_export(x, "redisbloom", 0, &sink));
    assert_int_equal(stream.calls, 0);
}

/* Damage is not passed on under a checksum that fits. */
EXCHANGE_CASE(exceptions_that_are_damaged_are_not_exported)
{
    enum { COUNT = 20000 }; /* so many that opening does not look at all of them */
    AUTO_STREAM stream = {.data = NULL};
    const struct tamis_sink sink = stream_sink(&stream);
    struct tamis_key *keys = calloc(COUNT, sizeof *keys);
    uint64_t *numbers = calloc(COUNT, sizeof *numbers);
    unsigned char byte;
    assert_true(keys != NULL && numbers != NULL);
    numbers_from(0, COUNT, numbers, keys);
    AUTO_FILTER *x = fixture_filter(p->store, "x", 10);
    assert_int_equal(assert_done(tamis_filter_except(p->store, "x", keys, COUNT)), COUNT);
    free(keys);
    free(numbers);
    const char *file = fixture_segment_path(p->path, 2);
    const uint64_t at = fixture_size(file) - 8192;
    fixture_peek(file, at, &byte, 1);
    byte ^= 1;
    fixture_poke(file, at, &byte, 1);
    assert_refused(TAMIS_ECORRUPT, "has damaged exceptions",
                   tamis_filter_export(x, "tamis", 0, &sink));
    assert_int_equal(stream.calls, 0);
    struct listed none = {0};
    assert_refused(TAMIS_ECORRUPT, "has damaged exceptions",
                   tamis_filter_each_exception(x, list_one, &none));
    assert_int_equal(none.count, 0);
}

/* The handle's own, whatever its name is, and whatever filter has the name now. */
EXCHANGE_CASE(exceptions_of_a_handle_are_its_own)
{
    struct listed all = {0};
    AUTO_FILTER *x = fixture_filter(p->store, "x", 10);
    assert_int_equal(except(p->store, "a", 1), 1);
    assert_done(tamis_filter_rename(p->store, "x", "y"));
    AUTO_FILTER *other = fixture_filter(p->store, "x", 10);
    assert_done(tamis_filter_each_exception(x, list_one, &all));
    assert_int_equal(all.count, 1);
    assert_done(tamis_filter_each_exception(other, list_one, &all));
    assert_int_equal(all.count, 1);
    assert_done(tamis_filter_drop(p->store, "y"));
    assert_refused(TAMIS_EDROPPED, "", tamis_filter_each_exception(x, list_one, &all));
}

/* ---- While others change it ------------------------------------------------------------------ */

static const struct exchanges *racing;

static void change_meanwhile(unsigned point)
{
    if (point != TAMIS__POINT_EXPORT_PINNED) return;
    tamis__point_hook = NULL;
    AUTO_STORE *store = fixture_open(racing->path, 0);
    tamis_build *build;
    assert_done(tamis_build_begin(
        store, "x", BUILD_SPEC(.filter = SPEC(.fp_rate = 1e-4), .threads = 1), &build));
    for (uint64_t i = 0; i < 5000; i++) {
        const struct tamis_key key = {&i, sizeof i};
        assert_done(tamis_build_add(build, &key, 1));
    }
    assert_int_equal(tamis_build_publish(build, NULL), 1);
    tamis_build_close(build);
    assert_int_equal(key_except(store, "x", 7), 1);
}

/* List, exceptions, capacity and rate of the stream are of one instant. */
EXCHANGE_CASE(exceptions_and_list_of_one_instant_are_exported)
{
    build_excepting(p);
    racing = p;
    tamis__point_hook = change_meanwhile;
    AUTO_STREAM s = exchanges_exported(p, "tamis");
    assert_true(tamis__point_hook == NULL); /* it was passed */
    assert_int_equal(tamis__get64(s.data + 16), 5000);
    assert_true(tamis__double_from_bits(tamis__get64(s.data + 24)) < 0.001);
    assert_int_equal(tamis__get64(s.data + EXCHANGES_HEAD + 32), 5000);
    assert_int_equal(tamis__get64(s.data + AT_COUNT), 2); /* 5 and 7 */
    exchanges_come_back(p, "tamis", &EXCHANGES_NOTHING, &s);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
