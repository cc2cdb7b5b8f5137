/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spares: segments that are made ahead, and entered without the catalog (store/handle/grow.c,
 * spares.c).
 *
 * Seen to fail: without the take-back in tamis__change_lock() and in the drop (a spare is entered
 * after another list is in force, or its file stays); without the look at the mark in
 * tamis__record_promote(); without link_newest()'s offer; without write_off_uncounted() in the
 * recovery; with a log's frames that name one segment for a whole chunk.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "keys.h"
#include "numbers.h"
#include "plan/policy.h"
#include "points.h"
#include "segment/live.h"
#include "segment/mark.h"
#include "sizing/sizing.h"
#include "tamis.h"

#define NEXT offsetof(struct tamis__segment_header, live.next)

static const uint8_t other_boot[16] = {1, 2, 3};

static struct tamis__segment_header header_of(const char *path, uint64_t number)
{
    struct tamis__segment_header header = fixture_header_of(fixture_segment_path(path, number));
    return header;
}

static bool is_there(const char *path, uint64_t number)
{
    return access(fixture_segment_path(path, number), F_OK) == 0;
}

static tamis_filter *growing(tamis_store *store, uint64_t capacity)
{
    return fixture_create(store, "x", SPEC(.capacity = capacity, .fp_rate = 0.01));
}

static tamis_filter *opened(tamis_store *store)
{
    return fixture_opened(store, "x", 0);
}

static uint64_t spare_of(const char *path, uint64_t number)
{
    return tamis__next_spare(header_of(path, number).live.next);
}

/* All segments together let strangers in at the rate that was asked for, at most.  The shares are
 * those of decision 0029: a tenth, 0.12 of what that leaves, 0.3 of what is left then, and from
 * then on each time 0.4 of what is left.  (Broken: each gets a share of the whole rate, and not of
 * what those before it leave; each of several spares gets the same.) */
SOUND_CASE(segments_share_the_rate)
{
    enum { BATCH = 4096 };
    static const struct {
        uint64_t capacity;
        double share;
    } planned[] = {{1000, 0.1},
                   {65536, 0.12 * 0.9},
                   {1048576, 0.3 * 0.9 * 0.88},
                   {2097152, 0.4 * 0.9 * 0.88 * 0.7},
                   {4194304, 0.4 * 0.9 * 0.88 * 0.7 * 0.6}};
    static uint64_t numbers[BATCH];
    static struct tamis_key keys[BATCH];
    double sum = 0;
    AUTO_FILTER *filter = growing(store, 1000);
    for (uint64_t done = 0; done < 3300000; done += BATCH) {
        numbers_from(done, BATCH, numbers, keys);
        assert_done(tamis_filter_add_batch(filter, keys, BATCH, NULL));
    }
    const struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.segment_count, 5);
    for (uint32_t i = 0; i < stat.segment_count; i++) {
        const struct tamis_segment_stat segment = fixture_segment_stat(filter, i);
        assert_int_equal(segment.capacity, planned[i].capacity);
        assert_true(fabs(segment.fp_rate - 0.01 * planned[i].share) < 1e-9);
        sum += segment.fp_rate;
    }
    assert_true(sum <= 0.01);
    assert_true(stat.predicted_rate <= 0.01);
}

/* More keys than a segment was made for came in by a merge, at a worse rate: what comes later gets
 * little.  (Broken: rate_left() takes off only what was planned.) */
SOUND_CASE(segments_after_a_merge_share_what_it_has_left)
{
    AUTO_FILTER *source = fixture_create(store, "source", SPEC(.capacity = 1000, .fp_rate = 0.01));
    struct tamis_merge merge = {.size = sizeof merge, .sources = &source, .count = 1};
    AUTO_FILTER *filter = growing(store, 1000);
    keys_add(source, 0, 1000);
    keys_add(filter, 5000, 5400); /* it has no spare yet */
    assert_done(tamis_filter_merge(filter, &merge));
    keys_add(filter, 10000, 10500);
    assert_int_equal(fixture_stat(filter).segment_count, 2);
    assert_true(fixture_segment_stat(filter, 1).fp_rate < 0.12 * (0.01 - 0.001));
}

/* What a step leaves is four tenths less than what the one before it left, as much as a segment
 * takes at most: so all that ever come have the rate at most.  (Broken: the step is counted from
 * the one before.) */
CASE(policy_leaves_less_of_the_rate_at_each_step)
{
    const struct tamis__policy policy = {
        .on_full = TAMIS_ON_FULL_GROW, .capacity = 1000000, .fp_rate = 0.01};
    double sum = 0.5 * policy.fp_rate; /* of the first */
    struct tamis__policy least = policy;
    for (uint32_t step = 0; step < TAMIS__SEGMENTS_MAX; step++) {
        const double left = tamis__policy_left(&policy, step);
        assert_true(sum + left <= policy.fp_rate * (1 + 1e-12));
        sum += 0.4 * left;
    }
    least.fp_rate = TAMIS__SEGMENT_RATE_MIN / 0.06 * 1.0001; /* 0.12 of a half */
    const struct tamis__policy_list one = {.count = 1}, all = {.count = TAMIS__SEGMENTS_MAX},
                                    most = {.count = TAMIS__SEGMENTS_MAX - 1};
    assert_true(tamis__policy_grows(&least, 0, &one));
    assert_false(tamis__policy_grows(&least, 1, &one)); /* a segment of less than the least rate */
    assert_true(tamis__policy_grows(&policy, 0, &most));
    assert_false(tamis__policy_grows(&policy, 0, &all));
}

/* The list of a filter, or of a slice, that grows again and again.  Returns the rate that all its
 * segments are made for together. */
static double planned_rate(const struct tamis__policy *policy, uint32_t kind)
{
    const double whole = tamis__policy_rate(policy);
    struct tamis__policy_list list = {0};
    struct tamis_sizing sizing = {.kind = kind};
    double planned = 0;
    assert_done(tamis__policy_size_first(policy, &sizing));
    for (uint32_t step = 0; step < 16; step++) {
        const uint64_t last = sizing.capacity;
        planned += sizing.fp_rate;
        assert_true(tamis_predict_rate(kind, sizing.m_bits, sizing.k, last) <= sizing.fp_rate);
        tamis__policy_list_add(&list, 0, last);
        sizing = (struct tamis_sizing){.kind = kind};
        assert_true(tamis__policy_grows(policy, step, &list));
        assert_true(tamis__policy_left(policy, step) <= (whole - planned) * (1 + 1e-9));
        assert_done(tamis__policy_size_next(policy, &list, last, whole - planned, &sizing));
        assert_true(sizing.capacity >= 2 * last);
    }
    return planned + sizing.fp_rate;
}

/* Whatever a filter is made for, and however often it grows, its segments share its rate, and each
 * keeps its share when it is full.  (Broken: a segment takes 1.1 of what is left.) */
CASE(policy_shares_the_rate_for_every_spec)
{
    static const uint64_t capacities[] = {1,       20,      100,     1000,    30000,
                                          65535,   65536,   100000,  1000000, 1048575,
                                          1048576, 1048577, 3000000, 1u << 30};
    static const double rates[] = {0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9};
    static const uint32_t kinds[] = {TAMIS_KIND_BLOCKED, TAMIS_KIND_BLOOM};
    for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++)
        for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++)
            for (size_t k = 0; k < 2; k++) {
                struct tamis__policy policy = {
                    .on_full = TAMIS_ON_FULL_GROW, .capacity = capacities[c], .fp_rate = rates[r]};
                const double planned = planned_rate(&policy, kinds[k]);
                assert_true(planned < rates[r] && planned > 0.9 * rates[r]);
                policy.window_ns = INT64_C(1) << 50;
                policy.slices = 10;
                assert_true(11 * planned_rate(&policy, kinds[k]) < rates[r]);
            }
}

/* The segments of a filter that begins small have one k up to three million keys, so that a batch
 * looks for the same bits in all of them. */
CASE(policy_keeps_k_of_a_list_that_begins_small)
{
    static const uint64_t capacities[] = {1000, 10000, 60000};
    static const double rates[] = {0.1, 0.01, 1e-3, 1e-4};
    for (size_t c = 0; c < sizeof capacities / sizeof capacities[0]; c++)
        for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
            const struct tamis__policy policy = {
                .on_full = TAMIS_ON_FULL_GROW, .capacity = capacities[c], .fp_rate = rates[r]};
            const struct tamis__policy_list none = {0};
            struct tamis_sizing sizing = {.kind = TAMIS_KIND_BLOCKED};
            double left = rates[r];
            assert_done(tamis__policy_size_first(&policy, &sizing));
            const uint32_t k = sizing.k;
            for (unsigned step = 0; step < 3; step++) {
                const uint64_t last = sizing.capacity;
                left -= sizing.fp_rate;
                sizing = (struct tamis_sizing){.kind = TAMIS_KIND_BLOCKED};
                assert_done(tamis__policy_size_next(&policy, &none, last, left, &sizing));
                assert_int_equal(sizing.k, k);
            }
            assert_int_equal(sizing.capacity, 2097152);
        }
}

/* From half full on, and nobody sees it before it is entered. */
SOUND_CASE(spare_is_made_while_there_is_room)
{
    AUTO_FILTER *filter = growing(store, 1000);
    keys_add(filter, 0, 400);
    assert_int_equal(spare_of(path, 1), 0);
    keys_add(filter, 400, 700);
    assert_int_equal(spare_of(path, 1), 2);
    assert_false(is_there(path, 3)); /* however fast the few keys came */
    const struct tamis_filter_stat before = fixture_stat(filter);
    assert_int_equal(before.segment_count, 1);
    assert_int_equal(before.capacity, 1000);
    keys_add(filter, 700, 1100);
    assert_int_equal(header_of(path, 1).live.next, 2);
    const struct tamis_filter_stat after = fixture_stat(filter);
    assert_int_equal(after.segment_count, 2);
    assert_int_equal(after.generation, before.generation + 1);
    assert_int_equal(keys_found(filter, 0, 1100), 1100);
}

static int note_items(void *context, const struct tamis_filter_stat *stat)
{
    *(uint64_t *)context = stat->items;
    return 0;
}

/* What a segment had when it was left is known without a sync.  (Broken: tamis__record_promote()
 * does not take the items over.) */
SOUND_CASE(items_of_a_segment_that_was_left_are_listed)
{
    uint64_t items = 0;
    AUTO_FILTER *filter = growing(store, 1000);
    keys_add(filter, 0, 1500);
    assert_done(tamis_store_list(store, "", note_items, &items));
    assert_in_range(items, 950, 1000);
}

/* The list goes on while a stranger holds the catalog's lock: the spare is entered without it. */
SOUND_CASE(spare_is_entered_while_the_catalog_is_locked)
{
    tamis_filter *filter = growing(store, 1000), *other;
    keys_add(filter, 0, 700);
    other = opened(store);
    assert_done(tamis_store_set_busy_timeout(store, 0));
    const int lock = fixture_lock_catalog(path);
    keys_add(filter, 700, 1900);
    assert_int_equal(keys_found(other, 0, 1900), 1900);
    close(lock);
    assert_int_equal(fixture_stat(filter).segment_count, 2);
    assert_done(tamis_filter_close(other));
    assert_done(tamis_filter_close(filter));
}

static const char *marked_path;
static unsigned written;

/* A bit of a segment is written, after the first one was left. */
static void look_at_mark(unsigned point)
{
    if (point != TAMIS__POINT_ADD_ORED || header_of(marked_path, 1).live.next != 2) return;
    written++;
    assert_true(header_of(marked_path, 2).live.mark != 0);
}

/* (Broken: tamis__go_to_room() leaves the mark to the next key.) */
SOUND_CASE(spare_is_marked_before_the_first_bit_is_written)
{
    AUTO_FILTER *filter = growing(store, 1000);
    keys_add(filter, 0, 900);
    marked_path = path;
    tamis__point_hook = look_at_mark;
    keys_add(filter, 900, 1100);
    tamis__point_hook = NULL;
    assert_true(written > 0);
}

/* No room, no spare, no lock: the add says so after the busy timeout, and nothing of it is in. */
SOUND_CASE(add_without_room_is_busy_and_goes_on_later)
{
    tamis_filter *filter = growing(store, 100);
    uint64_t numbers[400];
    struct tamis_key keys[400];
    uint8_t answers[400];
    keys_add(filter, 0, 10);
    assert_done(tamis_store_set_busy_timeout(store, 50));
    const int lock = fixture_lock_catalog(path);
    numbers_from(0, 400, numbers, keys);
    assert_refused(TAMIS_EBUSY, "lock", tamis_filter_add_batch(filter, keys, 400, answers));
    uint64_t in = 0;
    for (size_t i = 0; i < 400; i++) {
        if (answers[i] == TAMIS_ANSWER_REFUSED) continue;
        in++;
        assert_int_equal(keys_found(filter, i, i + 1), 1);
    }
    assert_in_range(in, 100, 110); /* those that were known before, and by false positives */
    assert_int_equal(tamis_filter_items(filter), 100);
    const uint64_t stranger = 4000;
    assert_refused(TAMIS_EBUSY, "lock", tamis_filter_add(filter, &stranger, sizeof stranger));
    close(lock);
    int64_t fresh = assert_done(tamis_filter_add_batch(filter, keys, 400, answers));
    assert_in_range(fresh, 280, 300);
    assert_int_equal(keys_found(filter, 0, 400), 400);
    assert_done(tamis_filter_close(filter));
}

/* All segments have the digest of a key in common, so that it is hashed once.  Seen to fail with a
 * seed of 0 in the second one. */
SOUND_CASE(segments_have_the_seed_of_the_first)
{
    AUTO_FILTER *filter = fixture_create(store, "x", SPEC(.capacity = 1000, .seed = 77));
    keys_add(filter, 0, 1100);
    assert_int_equal(fixture_segment_stat(filter, 0).seed, 77);
    assert_int_equal(fixture_segment_stat(filter, 1).seed, 77);
}

/* A full filter that does not grow still answers for what it has.  Seen to fail with all keys of
 * the batch refused. */
SOUND_CASE(batch_in_a_full_filter_refuses_new_keys_alone)
{
    AUTO_FILTER *filter = fixture_create(
        store, "x", SPEC(.capacity = 100, .fp_rate = 1e-9, .on_full = TAMIS_ON_FULL_REFUSE));
    uint64_t numbers[4] = {5, 1000, 6, 1001};
    struct tamis_key keys[4];
    uint8_t answers[4];
    numbers_as_keys(numbers, 4, keys);
    keys_add(filter, 0, 100);
    assert_refused(TAMIS_EFULL, "x", key_add(filter, 100));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(tamis_filter_add_batch(filter, keys, 4, answers), TAMIS_EFULL);
        assert_int_equal(answers[0] | answers[2], 0);
        assert_int_equal(answers[1], TAMIS_ANSWER_REFUSED);
        assert_int_equal(answers[3], TAMIS_ANSWER_REFUSED);
    }
    assert_int_equal(tamis_filter_items(filter), 100);
}

/* A maker that died between its commit and the offer: the next opener for writing makes the offer.
 * */
SOUND_CASE(spare_that_was_not_offered_is_offered_by_an_opener)
{
    const uint64_t none = 0;
    tamis_filter *filter = growing(store, 1000);
    keys_add(filter, 0, 700);
    assert_done(tamis_filter_close(filter));
    fixture_poke(fixture_segment_path(path, 1), NEXT, &none, sizeof none);
    filter = opened(store);
    assert_int_equal(spare_of(path, 1), 2);
    assert_done(tamis_filter_close(filter));
}

/* A power cut took the word that it was entered, and not its keys. */
SOUND_CASE(spare_that_was_written_to_is_a_part_of_the_list)
{
    tamis_filter *filter = growing(store, 1000);
    keys_add(filter, 0, 1500);
    assert_done(tamis_filter_close(filter));
    const uint64_t offered = TAMIS__NEXT_SPARE | 2;
    fixture_poke(fixture_segment_path(path, 1), NEXT, &offered, sizeof offered);
    filter = opened(store);
    assert_int_equal(header_of(path, 1).live.next, 2);
    assert_int_equal(keys_found(filter, 0, 1500), 1500);
    assert_int_equal(fixture_stat(filter).segment_count, 2);
    assert_done(tamis_filter_close(filter));
}

/* A power cut took that word and the counts, and the catalog is of before: that it was marked shows
 * that it was entered.  (Broken: is_entered() looks at the counts alone, or at neither.) */
CASE(spare_that_was_marked_is_a_part_of_the_list)
{
    const uint64_t offered = TAMIS__NEXT_SPARE | 2;
    const uint8_t zero[sizeof(struct tamis__stripe) * TAMIS__STRIPES] = {0};
    AUTO_FREE char *path, *before = scratch_path("catalog");
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = growing(store, 1000);
    keys_add(filter, 0, 700);
    scratch_copy(fixture_join(path, "catalog.mdb"), before);
    keys_add(filter, 700, 1500);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    assert_true(header_of(path, 2).live.mark != 0);
    fixture_poke(fixture_segment_path(path, 1), NEXT, &offered, sizeof offered);
    fixture_poke(fixture_segment_path(path, 2), offsetof(struct tamis__segment_header, items), zero,
                 sizeof zero);
    assert_int_equal(unlink(fixture_join(path, "catalog.mdb")), 0);
    scratch_copy(before, fixture_join(path, "catalog.mdb"));
    store = fixture_open(path, 0);
    filter = opened(store);
    assert_int_equal(fixture_stat(filter).segment_count, 2);
    assert_int_equal(keys_found(filter, 0, 1500), 1500);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
}

/* Who changes the exceptions, the list or the name's whole filter takes the spare back, and its
 * file goes. */
SOUND_CASE(spare_is_taken_back_by_who_publishes)
{
    tamis_filter *filter = growing(store, 1000);
    const struct tamis_key key = {"an exception", 12};
    keys_add(filter, 0, 700);
    assert_true(is_there(path, 2));
    assert_done(tamis_filter_except(store, "x", &key, 1));
    assert_int_equal(spare_of(path, 1), 0);
    assert_false(is_there(path, 2));
    keys_add(filter, 700, 1500); /* another is made */
    assert_int_equal(keys_found(filter, 0, 1500), 1500);
    assert_int_equal(fixture_stat(filter).segment_count, 2);
    assert_done(tamis_filter_close(filter));
    assert_done(tamis_filter_drop(store, "x"));
    assert_int_equal(fixture_files(path, "segments"), 0);
}

static double rate_of(const char *path, uint64_t number)
{
    return tamis__double_from_bits(header_of(path, number).fp_rate);
}

/* A filter that fills fast gets several at once; all of their files go.  (Broken: only that of the
 * last goes.) */
SOUND_CASE(all_spares_are_taken_back)
{
    const struct tamis_key key = {"an exception", 12};
    AUTO_FILTER *filter = growing(store, 524288); /* the next one is for twice as many */
    keys_add(filter, 0, 280000);
    const bool two = is_there(path, 3);
    assert_true(is_there(path, 2));
    if (!two) print_message("too slow a machine for a second spare\n");
    if (two) /* and each has a share of what the one before it leaves: 0.4 of 0.7, and 0.3 */
        assert_true(rate_of(path, 3) <= 0.9334 * rate_of(path, 2));
    assert_done(tamis_filter_except(store, "x", &key, 1));
    assert_false(is_there(path, 2) || (two && is_there(path, 3)));
}

static const char *racing_path;

/* At the moment that the new exceptions are committed, an adder has the spare's number in its hand.
 * */
static void enter_at_commit(unsigned point)
{
    if (point != TAMIS__POINT_PUBLISH_EPOCH) return;
    assert_int_equal(spare_of(racing_path, 1), 0); /* taken back before the commit */
}

SOUND_CASE(spare_is_taken_back_before_the_commit)
{
    AUTO_FILTER *filter = growing(store, 1000);
    const struct tamis_key key = {"an exception", 12};
    keys_add(filter, 0, 700);
    racing_path = path;
    tamis__point_hook = enter_at_commit;
    assert_done(tamis_filter_except(store, "x", &key, 1));
    tamis__point_hook = NULL;
}

CASE(spare_goes_where_a_catalog_is_made_anew)
{
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = growing(store, 1000);
    keys_add(filter, 0, 700);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    assert_int_equal(unlink(fixture_join(path, "catalog.mdb")), 0);
    assert_done(tamis_store_repair(path, 0, NULL, NULL));
    store = fixture_open(path, 0);
    filter = opened(store);
    assert_int_equal(fixture_stat(filter).segment_count, 1);
    keys_add(filter, 700, 2500);
    assert_int_equal(keys_found(filter, 0, 2500), 2500);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    assert_int_equal(fixture_problems(path), 0);
}

static const char *emptied_path;

/* As if others had used all of the room since it was looked at. */
static void use_all_room(unsigned point)
{
    const uint64_t many = (uint64_t)1 << 40;
    if (point != TAMIS__POINT_ROOM_SEEN) return;
    tamis__point_hook = NULL;
    for (size_t i = 0; i < TAMIS__STRIPES; i++)
        fixture_poke(fixture_segment_path(emptied_path, 1),
                     offsetof(struct tamis__segment_header, items) +
                         i * sizeof(struct tamis__stripe),
                     &many, sizeof many);
}

/* Seen to fail (a stack that is written over) where a piece of 4,096 keys, for which there had been
 * plenty of room, was added as one chunk of 1,024 when there was none any more. */
STORE_CASE(piece_whose_room_is_gone_is_added_by_chunks)
{
    enum { KEYS = 4096 };
    static uint64_t numbers[KEYS];
    static struct tamis_key keys[KEYS];
    AUTO_FILTER *filter = growing(store, 1000000);
    keys_add(filter, 100000, 100001); /* marked, so that the batch is one piece */
    numbers_from(0, KEYS, numbers, keys);
    emptied_path = path;
    tamis__point_hook = use_all_room;
    assert_in_range(assert_done(tamis_filter_add_batch(filter, keys, KEYS, NULL)), KEYS - 60, KEYS);
    assert_null(tamis__point_hook);
    assert_int_equal(keys_found(filter, 0, KEYS), KEYS);
}

/* The header that came to the disk is older than the bits: the segment is not filled over all the
 * same. */
CASE(segment_of_lost_counts_is_not_filled_over)
{
    AUTO_FREE char *path;
    tamis_store *store = fixture_store(&path);
    tamis_filter *filter = growing(store, 10000);
    struct tamis_segment_stat segment = {.size = sizeof segment};
    keys_add(filter, 0, 200);
    struct tamis__segment_header old = header_of(path, 1);
    keys_add(filter, 200, 9000);
    const struct tamis__segment_header now = header_of(path, 1);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    old.live.next = now.live.next;
    old.live.mark = TAMIS__MARK_DIRTY | TAMIS__MARK_ON_DISK | TAMIS__MARK_WRITER;
    tamis__boot_hook = other_boot;
    fixture_poke(fixture_segment_path(path, 1), 0, &old, sizeof old);
    store = fixture_open(path, 0);
    filter = opened(store);
    keys_add(filter, 100000, 115000);
    assert_done(tamis_filter_fill(filter, 0, &segment));
    printf("made for %u, by its bits %u\n", 10000u, (unsigned)segment.items_estimated);
    assert_in_range(segment.items_estimated, 9700, 10300);
    assert_done(tamis_filter_close(filter));
    tamis_store_close(store);
    tamis__boot_hook = NULL;
}

CASES_PREPARE
{
    scratch_in_memory(); /* it is not the disk that is looked at */
}
