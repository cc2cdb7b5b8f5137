/* SPDX-License-Identifier: BSD-2-Clause */
/* counting_test.c: the counting kind, and what is called on its filters (store/kind/counting.c). */
#include "base/cpu.h"
#include "counters.h"
#include "counting_lanes8.h"
#include "kinds.h"
#include "numbers.h"
#include "rounds.h"

static const uint32_t ks[] = {2, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40};
#define KS (sizeof ks / sizeof ks[0])
static const uint32_t widths[] = {4, 8, 16, 32};
#define WIDTHS (sizeof widths / sizeof widths[0])

/* ---- What every kind must do ----------------------------------------------------------------- */

/* Batches of 0 to 300 keys, one of each.  Seen to fail with a place of a key left out. */
CASE(counting_is_a_filter_for_every_k)
{
    for (size_t i = 0; i < KS; i++) {
        kinds_check_single_calls(TAMIS_KIND_COUNTING, 512 * 20, ks[i], 1500);
        kinds_check_batch_calls(TAMIS_KIND_COUNTING, 512 * 60, ks[i], 45150);
        kinds_check_duplicates(TAMIS_KIND_COUNTING, 512 * 50, ks[i]);
        kinds_check_lone_key_sets_its_positions(TAMIS_KIND_COUNTING, 512 * 999, ks[i]);
    }
    kinds_check_no_false_negative(TAMIS_KIND_COUNTING, 512 * 2000, 6, 100000);
    kinds_check_measure(TAMIS_KIND_COUNTING, 512 * 200, 6, 10000);
    kinds_check_measure(TAMIS_KIND_COUNTING, 512 * 200, 12, 7000);
}

CASE(counting_has_the_places_of_blocked)
{
    for (size_t i = 0; i < KS; i++) {
        struct tamis__segment_header blocked, counting;
        uint64_t a[TAMIS_K_MAX], b[TAMIS_K_MAX];
        fixture_header(&blocked, TAMIS_KIND_BLOCKED, 512 * 1000, ks[i]);
        fixture_header(&counting, TAMIS_KIND_COUNTING, 512 * 1000, ks[i]);
        for (uint64_t key = 0; key < 100; key++) {
            tamis__kind_blocked.positions(&blocked, &key, sizeof key, a);
            tamis__kind_counting.positions(&counting, &key, sizeof key, b);
            assert_memory_equal(a, b, ks[i] * sizeof a[0]);
        }
    }
}

CASE(counting_impossible_geometry_is_refused)
{
    struct tamis__segment_header header;
#define REFUSED(change, code, words)                                                               \
    do {                                                                                           \
        fixture_header(&header, TAMIS_KIND_COUNTING, 512 * 20, 6);                                 \
        change;                                                                                    \
        kinds_check_refused(&header, code, words);                                                 \
    } while (0)
    REFUSED(header.counter_bits = 0, TAMIS_ECORRUPT, "geometry that no counting filter has");
    REFUSED(header.counter_bits = 16, TAMIS_ECORRUPT, "data of a length that its m contradicts");
    REFUSED(header.m_bits += 64, TAMIS_ECORRUPT, "geometry that no counting filter has");
    REFUSED(header.m_bits += 512, TAMIS_ECORRUPT, "data of a length that its m contradicts");
    REFUSED(header.m_bits = (uint64_t)1 << 41, TAMIS_ECORRUPT, "geometry that no counting");
    REFUSED(header.words = 4, TAMIS_ECORRUPT, "geometry that no counting filter has");
    REFUSED(header.hash_set = 2, TAMIS_EVERSION, "hash set that this library does not have");
#undef REFUSED
    fixture_header(&header, TAMIS_KIND_BLOCKED, 512 * 20, 6);
    header.counter_bits = 4;
    kinds_check_refused(&header, TAMIS_ECORRUPT, "has counters, which its kind has not");
}

/* ---- Against the model ----------------------------------------------------------------------- */

/* Small numbers are much more likely: of 400 keys, some are there hundreds of times. */
static uint64_t some_key(uint64_t *random)
{
    const uint64_t bits = random_below(random, 9);
    return random_below(random, (uint64_t)1 << bits);
}

static void one_step(struct counters *c, uint64_t *random, unsigned share_of_adds)
{
    const uint64_t key = some_key(random);
    const uint64_t before = counters_model_count(c, &key, sizeof key);
    assert_int_equal(tamis_filter_count(c->filter, &key, sizeof key), before);
    assert_int_equal(tamis_filter_contains(c->filter, &key, sizeof key), before > 0);
    if (random_below(random, 100) < share_of_adds)
        assert_int_equal(tamis_filter_add(c->filter, &key, sizeof key),
                         counters_model_add(c, &key, sizeof key));
    else
        assert_int_equal(tamis_filter_remove(c->filter, &key, sizeof key),
                         counters_model_remove(c, &key, sizeof key));
}

CASE(counting_single_calls_agree_with_the_model)
{
    static const double rates[] = {0.2, 0.01, 1e-4, 1e-9};
    const unsigned steps = FIXTURE_SANITIZED ? 4000 : rounds(8000, 20000);
    uint64_t random = random_seed();
    for (size_t w = 0; w < WIDTHS; w++)
        for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
            AUTO_COUNTERS c;
            counters_make(&c, 100, rates[r], widths[w]);
            for (unsigned i = 0; i < steps; i++)
                one_step(&c, &random, i < steps / 2 ? 65 : 35);
            counters_check(&c);
            if (widths[w] == 4) assert_true(c.segment->live->overflow_levels > 0);
            counters_reopen(&c);
            counters_check(&c);
        }
}

#define BATCH 200u

static int64_t call_loop(struct counters *c, tamis__counting_run_fn *loop,
                         const struct tamis_key *keys, size_t size, unsigned call, uint8_t *answers,
                         uint64_t *counts)
{
    static const enum tamis__counting_op ops[] = {TAMIS__COUNTING_ADD, TAMIS__COUNTING_REMOVE,
                                                  TAMIS__COUNTING_COUNT, TAMIS__COUNTING_CONTAINS};
    if (loop != NULL)
        return loop(c->segment, &(struct tamis__counting_call){.op = ops[call],
                                                               .keys = keys,
                                                               .count = size,
                                                               .answers = answers,
                                                               .counts = counts});
    if (call == 0) return tamis_filter_add_batch(c->filter, keys, size, answers);
    if (call == 1) return tamis_filter_remove_batch(c->filter, keys, size, answers);
    if (call == 2) return tamis_filter_count_batch(c->filter, keys, size, counts);
    return tamis_filter_contains_batch(c->filter, keys, size, answers);
}

/* Batches of every size up to 200, of each call in turn; by a loop itself, or by the filter's. */
static void batch_step(struct counters *c, tamis__counting_run_fn *loop, uint64_t *random,
                       size_t size, unsigned call)
{
    uint64_t numbers[BATCH], counts[BATCH + 1], expected = 0;
    struct tamis_key keys[BATCH];
    uint8_t answers[BATCH + 1];
    for (size_t i = 0; i < size; i++) {
        numbers[i] = some_key(random);
        keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
    }
    memset(answers, 7, sizeof answers);
    counts[size] = 77;
    const int64_t told = call_loop(c, loop, keys, size, call, answers, counts);
    for (size_t i = 0; i < size; i++) {
        uint64_t want;
        if (call == 0)
            want = (uint64_t)counters_model_add(c, &numbers[i], sizeof numbers[i]);
        else if (call == 1)
            want = (uint64_t)counters_model_remove(c, &numbers[i], sizeof numbers[i]);
        else
            want = counters_model_count(c, &numbers[i], sizeof numbers[i]);
        assert_int_equal(call == 2 ? counts[i] : answers[i], call == 3 ? want > 0 : want);
        expected += want > 0;
    }
    assert_int_equal(told, expected);
    assert_int_equal(answers[size], 7); /* nothing is written past the batch */
    assert_int_equal(counts[size], 77);
}

/* For every number of places in a word that a rate leads to; cells of 4 bits are those that vectors
 * look at.  Without `all`, of two rates. */
static void check_batches(tamis__counting_run_fn *loop, bool all)
{
    static const double rates[] = {0.01, 1e-9, 0.4, 0.2, 0.05, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};
    uint64_t random = random_seed();
    for (size_t w = 0; w < WIDTHS; w++)
        for (size_t r = 0; r < (widths[w] == 4 && all ? sizeof rates / sizeof rates[0] : 2); r++) {
            AUTO_COUNTERS c;
            counters_make(&c, 100, rates[r], widths[w]);
            for (size_t size = 0; size <= BATCH; size++)
                for (unsigned call = 0; call < 4; call++)
                    batch_step(&c, loop, &random, size, call);
            counters_check(&c);
            if (widths[w] == 4) assert_true(c.segment->live->overflow_levels > 0);
        }
}

/* Under all vector instructions that this machine has, with each depth and both ways to fetch. Seen
 * to fail with cells at 0 that are not
 * seen, with parts_of() leaving out the last of 16 bits, and with spread() off by one. */
CASE(counting_batches_agree_with_the_model)
{
    const enum tamis__cpu best = tamis__cpu();
    for (unsigned cpu = 0; cpu < TAMIS__CPU_COUNT; cpu++) {
        if (!tamis__cpu_has((enum tamis__cpu)cpu)) continue;
        tamis__cpu_force((enum tamis__cpu)cpu);
        print_message("with %s\n", tamis_simd());
        for (unsigned depth = 0; depth <= TAMIS__DEPTH_MAX; depth += TAMIS__DEPTH_STEP) {
            tamis__cpu_force_depth(depth);
            tamis__cpu_force_fetch(depth == 0 ? TAMIS__FETCH_NEAR : TAMIS__FETCH_FAR);
            check_batches(NULL, depth == 0);
        }
    }
    tamis__cpu_force_depth(0);
    tamis__cpu_force_fetch(TAMIS__FETCH_CHOSEN);
    tamis__cpu_force(best);
}

CASE(counting_loops_with_vectors_of_8_agree_with_the_model)
{
    check_batches(counting_run_lanes8, true);
}

CASE(counting_remove_without_answers_removes_all)
{
    uint64_t numbers[1000];
    struct tamis_key keys[1000];
    AUTO_COUNTERS c;
    counters_make(&c, 1000, 1e-6, 4);
    numbers_from(0, 1000, numbers, keys);
    assert_int_equal(tamis_filter_add_batch(c.filter, keys, 1000, NULL), 1000);
    assert_int_equal(tamis_filter_items(c.filter), 1000);
    assert_int_equal(tamis_filter_remove_batch(c.filter, keys, 900, NULL), 900);
    assert_int_equal(tamis_filter_remove_batch(c.filter, keys, 1000, NULL), 100);
    assert_int_equal(tamis_filter_items(c.filter), 0);
    counters_check(&c); /* the model is all 0 */
}

CASE(counting_key_that_picks_a_cell_twice_counts_it_once)
{
    AUTO_COUNTERS c;
    uint64_t cells[TAMIS_K_MAX], key = 0;
    counters_make(&c, 100, 0.01, 4);
    while (counters_cells(&c, &key, sizeof key, cells) == c.segment->header->k)
        key++;
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(tamis_filter_add(c.filter, &key, sizeof key), i == 1);
        (void)counters_model_add(&c, &key, sizeof key);
        assert_int_equal(tamis_filter_count(c.filter, &key, sizeof key), i);
    }
    counters_check(&c);
    for (int i = 1; i <= 4; i++)
        assert_int_equal(tamis_filter_remove(c.filter, &key, sizeof key), i <= 3);
}

/* ---- Items ----------------------------------------------------------------------------------- */

CASE(counting_items_are_distinct_keys_and_never_below_zero)
{
    AUTO_COUNTERS c;
    counters_make(&c, 10, 1e-9, 4);
    for (uint64_t key = 0; key < 10; key++)
        for (int times = 0; times < 20; times++)
            (void)assert_done(tamis_filter_add(c.filter, &key, sizeof key));
    assert_int_equal(tamis_filter_items(c.filter), 10);
    struct tamis_filter_stat stat = fixture_stat(c.filter);
    assert_true(stat.items == 10 && stat.state == TAMIS_STATE_FULL && stat.counter_bits == 4);
    for (uint64_t key = 0; key < 10; key++) {
        for (int times = 0; times < 19; times++)
            assert_int_equal(tamis_filter_remove(c.filter, &key, sizeof key), 1);
        assert_int_equal(tamis_filter_items(c.filter), 10 - (int64_t)key);
        assert_int_equal(tamis_filter_remove(c.filter, &key, sizeof key), 1);
    }
    assert_int_equal(tamis_filter_items(c.filter), 0);
    c.segment->stripes[3].items = UINT64_MAX; /* another processor took one off */
    assert_int_equal(tamis_filter_items(c.filter), 0);
    c.segment->stripes[2].items += 3;
    assert_int_equal(tamis_filter_items(c.filter), 2);
    c.segment->stripes[1].items = (uint64_t)1 << 63; /* damage does not overflow */
    assert_int_equal(tamis_filter_items(c.filter), 0);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

STORE_CASE(counting_calls_of_another_kind_are_refused)
{
    AUTO_FILTER *filter = fixture_filter(store, "plain", 100);
    uint64_t counts[1];
    const struct tamis_key key = {"k", 1}, null = {NULL, 1};
    assert_refused(TAMIS_EUNSUPPORTED, "of kind blocked, which cannot remove keys",
                   tamis_filter_remove(filter, "k", 1));
    assert_refused(TAMIS_EUNSUPPORTED, "cannot remove keys; make one of kind counting",
                   tamis_filter_remove_batch(filter, &key, 1, NULL));
    assert_refused(TAMIS_EUNSUPPORTED, "cannot count keys", tamis_filter_count(filter, "k", 1));
    assert_refused(TAMIS_EUNSUPPORTED, "cannot count keys",
                   tamis_filter_count_batch(filter, &key, 1, counts));
    assert_refused(TAMIS_EINVAL, "key 0 is NULL", tamis_filter_remove(filter, NULL, 1));
    assert_refused(TAMIS_EINVAL, "key 0 is NULL",
                   tamis_filter_count_batch(filter, &null, 1, counts));
    assert_refused(TAMIS_EINVAL, "room for the counts",
                   tamis_filter_count_batch(filter, &key, 1, NULL));
}

CASE(counting_read_only_is_counted_and_not_removed_from)
{
    AUTO_COUNTERS c;
    counters_make(&c, 100, 0.01, 4);
    for (int i = 0; i < 40; i++) /* into the overflow table */
        (void)assert_done(tamis_filter_add(c.filter, "k", 1));
    AUTO_FILTER *reader = fixture_opened(c.store, "c", TAMIS_OPEN_READ_ONLY);
    assert_int_equal(tamis_filter_count(reader, "k", 1), 40);
    assert_refused(TAMIS_EREADONLY, "open read-only", tamis_filter_remove(reader, "k", 1));
    assert_int_equal(tamis_filter_remove(c.filter, "k", 1), 1);
    assert_int_equal(tamis_filter_count(reader, "k", 1), 39);
}

CASE(counting_bad_specs_are_refused)
{
    static const struct {
        struct tamis_filter_spec spec;
        int code;
        const char *words;
    } bad[] = {
        {SPEC_FIELD(.capacity = 10, .kind = 3, .counter_bits = 5), TAMIS_EINVAL,
         "give 4, 8, 16 or 32"},
        {SPEC_FIELD(.capacity = 10, .counter_bits = 4), TAMIS_EINVAL,
         "a blocked filter has no counters"},
        {SPEC_FIELD(.capacity = (uint64_t)1 << 40, .kind = 3), TAMIS_EINVAL,
         "up to 2^40 counters holds"},
        {SPEC_FIELD(.m_bits = 5120, .k = 6, .kind = 3), TAMIS_EINVAL, "for kind bloom"},
        {SPEC_FIELD(.capacity = 10, .kind = 3, .hash_set = "md5"), TAMIS_EUNSUPPORTED,
         "kind bloom only"},
        {SPEC_FIELD(.capacity = 10, .kind = 3, .on_full = TAMIS_ON_FULL_GROW), TAMIS_EUNSUPPORTED,
         "taken off where it was counted"},
        {SPEC_FIELD(.capacity = 10, .kind = 3, .on_full = TAMIS_ON_FULL_REFUSE), TAMIS_EUNSUPPORTED,
         "takes keys also when it is full"},
        {SPEC_FIELD(.capacity = 10, .kind = 3, .window_items = 100), TAMIS_EUNSUPPORTED,
         "taken off where it was counted"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(bad[i].code, bad[i].words, tamis_filter_check(NULL, "x", &bad[i].spec));
}

STORE_CASE(counting_another_width_is_a_mismatch)
{
    struct tamis_filter_spec spec = {
        .size = sizeof spec, .capacity = 100, .kind = TAMIS_KIND_COUNTING};
    tamis_filter *filter;
    assert_done(tamis_filter_create(store, "c", &spec, NULL));
    spec.counter_bits = 4; /* what 0 is */
    assert_done(tamis_filter_open_or_create(store, "c", &spec, &filter));
    assert_done(tamis_filter_close(filter));
    spec.counter_bits = 8;
    assert_refused(TAMIS_EMISMATCH, "exists with bits per counter 4, not 8",
                   tamis_filter_open_or_create(store, "c", &spec, &filter));
}
