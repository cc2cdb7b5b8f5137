/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verify_spread_test.c: bits that were lost are found by how many are left
 * (store/check/verify_spread.c), and chance is never taken for damage.
 *
 * Seen to fail: with the bounds at 2 deviations instead of 8 (false alarms); with find_low() that
 * always finds none (a lost stretch is not told); with is_mixed() always false (a killed merge is
 * told as damage).
 */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/verify_spread.h"
#include "kind/kind.h"
#include "sizing/sizing.h"
#include "txn/mapped.h"

#define STRETCH_BYTES 4096u
#define SEEDS (FIXTURE_SANITIZED ? 8u : 60u)

static void add_keys(const struct tamis__mapped_segment *s, uint64_t keys, uint64_t *rng)
{
    uint64_t news = 0;
    for (uint64_t i = 0; i < keys; i++) {
        const uint64_t key = random_next(rng);
        news += s->kind->add(&s->segment, &key, sizeof key) == 1;
    }
    (void)tamis__segment_count(&s->segment, news);
}

static struct tamis__mapped_segment filled(uint32_t kind, uint64_t stretches, uint32_t k,
                                           double load, uint64_t *rng)
{
    struct tamis__mapped_segment s = {.kind = tamis__kind_by_id(kind)};
    const uint64_t m_bits = stretches * 32768;
    fixture_segment(&s.segment, kind, m_bits, k);
    add_keys(&s, (uint64_t)(load * (double)m_bits / 512), rng);
    return s;
}

/* What is said of it: 1 and the reason, or 0. */
static int looked_at(const struct tamis__mapped_segment *s, bool exact,
                     struct tamis__damage *damage)
{
    struct tamis__ones ones = {.of = NULL};
    const uint64_t items = tamis__segment_items(&s->segment);
    *damage = (struct tamis__damage){.offset = 0};
    assert_done(tamis__ones_count(s, &ones));
    const int rc = tamis__check_spread(s, &ones, items, exact, damage);
    tamis__ones_clear(&ones);
    assert_true(rc >= 0);
    return rc;
}

static void assert_sound(const struct tamis__mapped_segment *s, const char *what)
{
    struct tamis__damage damage;
    if (looked_at(s, true, &damage))
        fail_msg("%s: byte %u %s", what, (unsigned)damage.offset, damage.reason);
}

static void zero(const struct tamis__mapped_segment *s, uint64_t at, uint64_t bytes)
{
    memset((char *)s->segment.data + at, 0, (size_t)bytes);
}

/* ---- Chance ---------------------------------------------------------------------------------- */

CASE(spread_of_any_keys_is_sound)
{
    static const struct {
        uint32_t kind, k;
    } shapes[] = {{TAMIS_KIND_BLOOM, 1},    {TAMIS_KIND_BLOOM, 7},    {TAMIS_KIND_BLOOM, 30},
                  {TAMIS_KIND_BLOCKED, 2},  {TAMIS_KIND_BLOCKED, 6},  {TAMIS_KIND_BLOCKED, 16},
                  {TAMIS_KIND_BLOCKED, 40}, {TAMIS_KIND_COUNTING, 6}, {TAMIS_KIND_COUNTING, 12}};
    static const double loads[] = {0.02, 0.5, 4, 30, 80, 250};
    uint64_t rng = 8;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t j = 0; j < sizeof loads / sizeof loads[0]; j++)
            for (unsigned seed = 0; seed < SEEDS; seed++) {
                char what[80];
                const uint64_t stretches = seed % 4 + 1; /* less than a page of file too */
                struct tamis__mapped_segment s =
                    filled(shapes[i].kind, stretches, shapes[i].k, loads[j], &rng);
                (void)snprintf(what, sizeof what, "kind %u k %u load %g seed %u", shapes[i].kind,
                               shapes[i].k, loads[j], seed);
                assert_sound(&s, what);
                free(s.segment.header);
            }
}

/* Two of five keys fall into one stretch of 512 now and then.  (Broken: the bound of find_high()
 * without the bits of a whole key, as it was: 5 keys in a filter for a million were told as damage
 * once in 60 times.) */
CASE(spread_of_few_keys_in_many_stretches_is_sound)
{
    static const struct {
        uint32_t kind, k;
        uint64_t pages; /* of bits; those of counters are four times as many */
    } shapes[] = {
        {TAMIS_KIND_BLOCKED, 8, 512}, {TAMIS_KIND_BLOCKED, 28, 512}, {TAMIS_KIND_COUNTING, 8, 128}};
    uint64_t rng = 21;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (unsigned seed = 0; seed < 2 * SEEDS; seed++) {
            struct tamis__mapped_segment s =
                filled(shapes[i].kind, shapes[i].pages, shapes[i].k, 0, &rng);
            add_keys(&s, 5 + seed % 3, &rng);
            assert_sound(&s, "few keys");
            free(s.segment.header);
        }
}

/* The stretch was read early, and adders have filled it since: it is counted again.  (Broken:
 * find_low() believes what was counted first.) */
CASE(spread_of_a_stretch_that_adders_fill_is_sound)
{
    uint64_t rng = 10;
    struct tamis__mapped_segment s = filled(TAMIS_KIND_BLOCKED, 8, 6, 30, &rng);
    struct tamis__damage damage = {.offset = 0};
    struct tamis__ones ones = {.of = NULL};
    assert_done(tamis__ones_count(&s, &ones));
    ones.of[3] /= 2;
    assert_int_equal(tamis__check_spread(&s, &ones, 0, false, &damage), 0);
    zero(&s, 3 * STRETCH_BYTES, STRETCH_BYTES / 2); /* where it is so indeed */
    assert_int_equal(tamis__check_spread(&s, &ones, 0, false, &damage), 1);
    tamis__ones_clear(&ones);
    free(s.segment.header);
}

CASE(spread_of_one_block_is_sound)
{
    uint64_t rng = 9;
    for (unsigned seed = 0; seed < 20 * SEEDS; seed++) {
        struct tamis__mapped_segment s = {.kind = tamis__kind_by_id(TAMIS_KIND_BLOCKED)};
        fixture_segment(&s.segment, TAMIS_KIND_BLOCKED, 512, 6);
        add_keys(&s, seed % 100 + 1, &rng);
        assert_sound(&s, "one block");
        free(s.segment.header);
    }
}

/* The share of deviations past 2, 3 and 4 of what is stated is near that of a normal one, or less.
 * */
CASE(spread_deviation_is_that_of_the_stretches)
{
    static const struct {
        uint32_t kind, k;
        double load;
    } shapes[] = {
        {TAMIS_KIND_BLOOM, 7, 50}, {TAMIS_KIND_BLOCKED, 6, 50}, {TAMIS_KIND_BLOCKED, 12, 30}};
    uint64_t rng = 10;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct tamis__mapped_segment s =
            filled(shapes[i].kind, 1000, shapes[i].k, shapes[i].load, &rng);
        struct tamis__ones ones = {.of = NULL};
        double squares = 0;
        assert_done(tamis__ones_count(&s, &ones));
        const double share = (double)ones.all / (1000 * 32768.0);
        const struct tamis__spread spread =
            tamis__spread_of_share(shapes[i].kind, shapes[i].k, 32768, share);
        for (unsigned j = 0; j < 1000; j++)
            squares += pow((ones.of[j] - spread.mean) / spread.deviation, 2);
        printf("kind %u k %u: root mean square %.3f of the deviation stated, %.1f bits\n",
               shapes[i].kind, shapes[i].k, sqrt(squares / 1000), spread.deviation);
        assert_true(fabs(sqrt(squares / 1000) - 1) < 5 / sqrt(2000.0));
        const struct tamis__spread whole = tamis__spread_of_items(
            shapes[i].kind, 1000 * 32768, shapes[i].k, shapes[i].load * 64000);
        assert_true(fabs((double)ones.all - whole.mean) < 6 * whole.deviation);
        tamis__ones_clear(&ones);
        free(s.segment.header);
    }
}

/* ---- Damage ---------------------------------------------------------------------------------- */

CASE(spread_without_a_stretch_is_told)
{
    static const uint32_t kinds[] = {TAMIS_KIND_BLOOM, TAMIS_KIND_BLOCKED};
    uint64_t rng = 11;
    for (int i = 0; i < 2; i++)
        for (unsigned at = 0; at < 8; at++) {
            struct tamis__damage damage;
            struct tamis__mapped_segment s = filled(kinds[i], 8, 6, 20, &rng);
            zero(&s, at * STRETCH_BYTES, STRETCH_BYTES);
            assert_int_equal(looked_at(&s, false, &damage), 1);
            assert_int_equal(damage.offset, s.segment.header->data_offset + at * STRETCH_BYTES);
            assert_non_null(strstr(damage.reason, "of its 8 parts of 4 KiB, 1 (the first here)"));
            free(s.segment.header);
        }
}

CASE(spread_of_counters_without_a_page_is_told)
{
    struct tamis__damage damage;
    uint64_t rng = 12;
    struct tamis__mapped_segment s = filled(TAMIS_KIND_COUNTING, 4, 6, 50, &rng);
    zero(&s, 5 * 16384, 16384); /* counters of 32 bits */
    assert_int_equal(looked_at(&s, false, &damage), 1);
    assert_int_equal(damage.offset, s.segment.header->data_offset + (uint64_t)5 * 16384);
    assert_non_null(strstr(damage.reason, "of its 32 parts of 16 KiB, 1 (the first here)"));
    free(s.segment.header);
}

/* Keys that answer absent are about as many as is said. */
CASE(spread_tells_how_many_keys_are_missing)
{
    static const uint32_t kinds[] = {TAMIS_KIND_BLOOM, TAMIS_KIND_BLOCKED};
    for (int i = 0; i < 2; i++) {
        struct tamis__damage damage;
        uint64_t rng = 13, again = 13, missing = 0;
        double told = 0, all = 0;
        struct tamis__mapped_segment s = filled(kinds[i], 32, 6, 25, &rng);
        zero(&s, (uint64_t)4 * STRETCH_BYTES, (uint64_t)10 * STRETCH_BYTES);
        for (unsigned j = 0; j < 32 * 64 * 25; j++) {
            const uint64_t key = random_next(&again);
            missing += s.kind->contains(&s.segment, &key, sizeof key) == 0;
        }
        assert_int_equal(looked_at(&s, true, &damage), 1);
        const char *about = strstr(damage.reason, "about ");
        assert_non_null(about);
        assert_int_equal(sscanf(about, "about %lf of %lf keys", &told, &all), 2);
        printf("kind %u: %u missing, %.0f of %.0f told\n", kinds[i], (unsigned)missing, told, all);
        assert_true(fabs(told - (double)missing) < 0.05 * (double)missing);
        free(s.segment.header);
    }
}

/* Fewer bits than its items have set, though there is one stretch only. */
CASE(spread_of_a_small_filter_is_held_to_its_items)
{
    struct tamis__damage damage;
    uint64_t rng = 14;
    struct tamis__mapped_segment s = filled(TAMIS_KIND_BLOCKED, 1, 6, 50, &rng);
    zero(&s, 0, STRETCH_BYTES / 2);
    assert_int_equal(looked_at(&s, true, &damage), 1);
    assert_non_null(strstr(damage.reason, "bits were lost"));
    assert_int_equal(looked_at(&s, false, &damage), 0);
    free(s.segment.header);
}

CASE(spread_with_foreign_bytes_in_a_stretch_is_told)
{
    struct tamis__damage damage;
    uint64_t rng = 15;
    struct tamis__mapped_segment s = filled(TAMIS_KIND_BLOCKED, 16, 6, 5, &rng);
    memset((char *)s.segment.data + (size_t)3 * STRETCH_BYTES, 'x', STRETCH_BYTES);
    assert_int_equal(looked_at(&s, true, &damage), 1);
    assert_int_equal(damage.offset, s.segment.header->data_offset + 3 * STRETCH_BYTES);
    free(s.segment.header);
}

/* ---- What is uneven without damage ----------------------------------------------------------- */

/* Half a merge: its first pages have the keys of two filters. */
CASE(spread_of_a_killed_merge_is_not_damage)
{
    struct tamis__damage damage;
    uint64_t rng = 16;
    struct tamis__mapped_segment to = filled(TAMIS_KIND_BLOCKED, 8, 6, 2, &rng);
    struct tamis__mapped_segment from = filled(TAMIS_KIND_BLOCKED, 8, 6, 40, &rng);
    const struct tamis__words half = {0, (uint64_t)5 * STRETCH_BYTES / 8};
    to.segment.live->mixed += TAMIS__MIXED_BEGUN;
    assert_done(to.kind->merge(&to.segment, &from.segment, TAMIS__MERGE_UNION, half));
    assert_sound(&to, "half merged");
    to.segment.live->mixed = 0;
    assert_int_equal(looked_at(&to, true, &damage), 1); /* so it would be told */
    free(to.segment.header);
    free(from.segment.header);
}

CASE(spread_of_a_whole_merge_is_sound)
{
    uint64_t rng = 17;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct tamis__mapped_segment to = filled(TAMIS_KIND_BLOCKED, 8, 6, 2, &rng);
        struct tamis__mapped_segment from = filled(TAMIS_KIND_BLOCKED, 8, 6, 40, &rng);
        const struct tamis__words all = {0, (uint64_t)8 * STRETCH_BYTES / 8};
        to.segment.live->mixed += TAMIS__MIXED_BEGUN;
        assert_done(to.kind->merge(&to.segment, &from.segment, TAMIS__MERGE_UNION, all));
        to.segment.live->mixed += TAMIS__MIXED_ENDED;
        assert_sound(&to, "merged");
        free(to.segment.header);
        free(from.segment.header);
    }
}

/* Of a weak hash set nothing can be said. */
CASE(spread_of_a_weak_hash_set_is_not_looked_at)
{
    uint64_t rng = 18;
    struct tamis__mapped_segment s = filled(TAMIS_KIND_BLOOM, 8, 7, 20, &rng);
    zero(&s, 0, STRETCH_BYTES);
    s.segment.header->hash_set = 2; /* php */
    assert_sound(&s, "php");
    free(s.segment.header);
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
