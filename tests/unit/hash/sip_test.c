/* SPDX-License-Identifier: BSD-2-Clause */
/* sip_test.c: the hash set sip: the published values, every kind's rate, its secret, and what an
 * enemy can do to xxh3 and not to it (docs/security.md has the figures that are printed here). */
#include <math.h>

#include "base/cpu.h"
#include "fixture.h"
#include "hash/digest.h"
#include "kind/kind.h"
#include "streams.h"
#include "tamis.h"

/* vectors_sip128 of the reference implementation: key 00 01 .. 0f, of 00 01 02 .. the first bytes.
 * */
CASE(sip_digests_are_the_published_ones)
{
    static const struct {
        size_t bytes;
        uint8_t digest[16];
    } published[] = {
        {0,
         {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02,
          0x93}},
        {1,
         {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc,
          0x45}},
        {2,
         {0x81, 0x77, 0x22, 0x8d, 0xa4, 0xa4, 0x5d, 0xc7, 0xfc, 0xa3, 0x8b, 0xde, 0xf6, 0x0a, 0xff,
          0xe4}},
        {3,
         {0x9c, 0x70, 0xb6, 0x0c, 0x52, 0x67, 0xa9, 0x4e, 0x5f, 0x33, 0xb6, 0xb0, 0x29, 0x85, 0xed,
          0x51}},
        {15,
         {0x54, 0x93, 0xe9, 0x99, 0x33, 0xb0, 0xa8, 0x11, 0x7e, 0x08, 0xec, 0x0f, 0x97, 0xcf, 0xc3,
          0xd9}},
    };
    uint8_t bytes[16];
    for (uint8_t i = 0; i < 16; i++)
        bytes[i] = i;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        const struct tamis__digest digest = tamis__digest_sip(bytes, published[i].bytes, bytes);
        assert_memory_equal(&digest.high, published[i].digest, 8);
        assert_memory_equal(&digest.low, published[i].digest + 8, 8);
    }
}

/* ---- Every kind ------------------------------------------------------------------------------ */

/* At most five deviations above what is promised. */
static void check_rate(tamis_filter *filter, const char *kind, double rate)
{
    enum { STRANGERS = 200000 };
    uint64_t passed = 0;
    for (uint64_t i = 0; i < STRANGERS; i++) {
        const uint64_t key[2] = {i, 1};
        passed += (uint64_t)assert_done(tamis_filter_contains(filter, key, sizeof key));
    }
    const double expected = rate * STRANGERS;
    print_message("%-8s %llu of %d strangers let in, %.0f promised\n", kind,
                  (unsigned long long)passed, STRANGERS, expected);
    assert_true((double)passed < expected + 5 * sqrt(expected));
    assert_true(passed > 0);
}

static void add_keys(tamis_filter *filter, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key[2] = {i, 0};
        (void)assert_done(tamis_filter_add(filter, key, sizeof key));
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key[2] = {i, 0};
        assert_int_equal(assert_done(tamis_filter_contains(filter, key, sizeof key)), 1);
    }
}

STORE_CASE(sip_keeps_the_rate_in_kinds_that_take_keys)
{
    static const uint32_t kinds[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM, TAMIS_KIND_COUNTING};
    for (size_t i = 0; i < 3; i++) {
        AUTO_FILTER *filter =
            fixture_create(store, tamis_kind_name(kinds[i]),
                           SPEC(.capacity = 20000, .fp_rate = 0.01, .kind = kinds[i],
                                .hash_set = "sip", .on_full = TAMIS_ON_FULL_WARN));
        add_keys(filter, 20000);
        check_rate(filter, tamis_kind_name(kinds[i]), 0.01);
    }
}

static void build(tamis_store *store, const struct tamis_build_spec *spec, uint64_t first,
                  int published)
{
    AUTO_BUILD *build;
    assert_done(tamis_build_begin(store, "list", spec, &build));
    for (uint64_t i = first; i < first + 20000; i++) {
        const uint64_t words[2] = {i, 0};
        const struct tamis_key key = {words, sizeof words};
        assert_done(tamis_build_add(build, &key, 1));
        if (i % 100 == 0) { /* known good strangers */
            const uint64_t good[2] = {i, 2};
            const struct tamis_key against = {good, sizeof good};
            assert_done(tamis_build_against(build, &against, 1));
        }
    }
    assert_int_equal(assert_done(tamis_build_publish(build, NULL)), published);
}

/* Every variant of the loops hashes by the set of the filter, not only that of this machine. */
static void check_each_variant(tamis_filter *filter)
{
    static uint64_t words[1000][2];
    static struct tamis_key keys[1000];
    const enum tamis__cpu best = tamis__cpu();
    for (uint64_t i = 0; i < 1000; i++) {
        words[i][0] = i;
        keys[i] = (struct tamis_key){words[i], sizeof words[i]};
    }
    for (unsigned cpu = 0; cpu < TAMIS__CPU_COUNT; cpu++) {
        if (!tamis__cpu_has((enum tamis__cpu)cpu)) continue;
        tamis__cpu_force((enum tamis__cpu)cpu);
        assert_int_equal(assert_done(tamis_filter_contains_batch(filter, keys, 1000, NULL)), 1000);
    }
    tamis__cpu_force(best);
}

/* Each build of a filter goes on with its secret, so that --if-changed can tell; a set in between
 * ends it. */
STORE_CASE(sip_builds_keep_the_secret_and_the_rate)
{
    struct tamis_filter_spec listed = {
        .size = sizeof listed, .kind = TAMIS_KIND_FUSE, .fp_rate = 1.0 / 256, .hash_set = "sip"};
    const struct tamis_build_spec spec = {
        .size = sizeof spec, .filter = &listed, .flags = TAMIS_BUILD_IF_CHANGED};
    struct tamis_filter_spec like[3] = {
        {.size = sizeof like[0]}, {.size = sizeof like[0]}, {.size = sizeof like[0]}};
    char set[TAMIS_HASH_SET_NAME_MAX + 1];
    build(store, &spec, 0, 1);
    AUTO_FILTER *filter = fixture_opened(store, "list", 0);
    check_rate(filter, "fuse", 1.0 / 256);
    check_each_variant(filter);
    assert_done(tamis_filter_like(filter, &like[0], set));
    assert_string_equal(set, "sip");
    build(store, &spec, 0, 0);  /* the same keys: in force already */
    build(store, &spec, 10, 1); /* others */
    assert_done(tamis_filter_like(filter, &like[1], set));
    assert_memory_equal(like[0].secret, like[1].secret, TAMIS_SECRET_BYTES);
    listed.hash_set = NULL;
    build(store, &spec, 0, 1); /* as it was built before: sip, with its secret */
    assert_done(tamis_filter_like(filter, &like[2], set));
    assert_memory_equal(like[0].secret, like[2].secret, TAMIS_SECRET_BYTES);
    listed.hash_set = "xxh3";
    build(store, &spec, 0, 1);
    listed.hash_set = "sip";
    listed.kind = TAMIS_KIND_BLOCKED;
    build(store, &spec, 0, 1);
    build(store, &spec, 0, 0);
    assert_done(tamis_filter_like(filter, &like[2], set));
    assert_memory_not_equal(like[0].secret, like[2].secret, TAMIS_SECRET_BYTES);
}

/* ---- The secret ------------------------------------------------------------------------------ */

static void explain_first(tamis_filter *filter, uint32_t segment, char hashes[64])
{
    uint64_t positions[TAMIS_K_MAX];
    struct tamis_explanation explanation = {.size = sizeof explanation,
                                            .positions = positions,
                                            .positions_max = TAMIS_K_MAX,
                                            .hashes = hashes,
                                            .hashes_bytes = 64};
    assert_done(tamis_filter_explain(filter, segment, "key", 3, &explanation));
}

STORE_CASE(sip_each_filter_has_a_secret_of_its_own)
{
    struct tamis_filter_spec like = {.size = sizeof like},
                             spec = {.size = sizeof spec, .capacity = 1000, .hash_set = "sip"};
    char set[TAMIS_HASH_SET_NAME_MAX + 1], hashes[4][64];
    AUTO_FILTER *a = fixture_create(store, "a", &spec);
    AUTO_FILTER *b = fixture_create(store, "b", &spec);
    assert_done(tamis_filter_like(a, &like, set));
    tamis_filter *c = fixture_create(store, "c", &like);
    assert_done(tamis_filter_merge(a, MERGE(.sources = (tamis_filter *[]){c}, .count = 1)));
    assert_refused(TAMIS_EMISMATCH, "differ in secret; make one like",
                   tamis_filter_merge(a, MERGE(.sources = (tamis_filter *[]){b}, .count = 1)));
    add_keys(a, 3000); /* grows */
    explain_first(a, 0, hashes[0]);
    explain_first(a, 1, hashes[1]);
    explain_first(b, 0, hashes[2]);
    explain_first(c, 0, hashes[3]);
    assert_string_equal(hashes[0], hashes[1]);
    assert_string_equal(hashes[0], hashes[3]);
    assert_string_not_equal(hashes[0], hashes[2]);
    assert_done(tamis_filter_close(c));
    assert_done(tamis_filter_open_or_create(store, "a", &spec, &c)); /* any secret will do */
    assert_done(tamis_filter_close(c));
    like.secret[0] ^= 1;
    assert_refused(TAMIS_EMISMATCH, "exists with another secret; ask",
                   tamis_filter_open_or_create(store, "a", &like, &c));
}

STORE_CASE(sip_refuses_what_makes_no_sense)
{
    struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 1000, .hash_set = "sip", .seed = 1};
    const struct tamis_import_spec bitmap = {
        .size = sizeof bitmap, .hash_set = "sip", .m_bits = 1000, .k = 3};
    struct stream none = {.data = NULL};
    const struct tamis_source source = stream_source(&none);
    uint64_t positions[3];
    struct tamis_explanation explanation = {
        .size = sizeof explanation, .positions = positions, .positions_max = 3};
    tamis_filter *filter = NULL;
    assert_refused(TAMIS_EINVAL, "hash set sip has no seed",
                   tamis_filter_create(store, "a", &spec, &filter));
    spec = (struct tamis_filter_spec){
        .size = sizeof(struct tamis_filter_spec), .capacity = 1000, .secret = {1}};
    assert_refused(TAMIS_EINVAL, "hash set xxh3 has no secret",
                   tamis_filter_create(store, "a", &spec, &filter));
    assert_refused(TAMIS_EINVAL, "no other program has filled",
                   tamis_filter_import(store, "a", "redis-bitmap", &bitmap, &source, &filter));
    assert_refused(TAMIS_EINVAL, "ask a filter of that set",
                   tamis_explain("sip", 1000, 3, 0, "a", 1, &explanation));
}

/* A damaged header: no secret, a seed beside it, parameters behind it. */
CASE(sip_header_without_a_secret_is_refused)
{
    struct tamis__segment segment;
    const char *reason = NULL;
    fixture_segment(&segment, TAMIS_KIND_BLOCKED, 512 * 20, 6);
    AUTO_FREE struct tamis__segment_header *h = segment.header;
    const struct tamis__kind *kind = tamis__kind_by_id(TAMIS_KIND_BLOCKED);
    h->hash_set = TAMIS__HASH_SIP;
    h->seed = 0;
    assert_int_equal(kind->check(h, &reason), TAMIS_ECORRUPT);
    assert_string_equal(reason, "has no key, which its hash set needs");
    h->parameters[15] = 1;
    assert_int_equal(kind->check(h, &reason), 0);
    h->seed = 1;
    assert_int_equal(kind->check(h, &reason), TAMIS_ECORRUPT);
    h->seed = 0;
    h->parameters[16] = 1;
    assert_int_equal(kind->check(h, &reason), TAMIS_ECORRUPT);
}
