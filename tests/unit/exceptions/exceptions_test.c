/* SPDX-License-Identifier: BSD-2-Clause */
/* exceptions_test.c: the set, its chunks and its index (store/exceptions/set.h). */
#include "fixture.h"

#include <err.h>
#include <stdlib.h>

#include "exceptions/index.h"
#include "hash/digest.h"
#include "txn/exceptions.h"

#define LONGEST TAMIS_EXCEPTION_BYTES_MAX

static void add(struct tamis__exceptions *set, const char *key, uint64_t generation)
{
    assert_done(tamis__exceptions_add(set, key, strlen(key), generation));
}

static const struct tamis__exception *find(const struct tamis__exceptions *set, const char *key)
{
    return tamis__exceptions_find(set, key, strlen(key));
}

/* `count` random keys of 0 to `longest` bytes, of generations 0 to 3. */
static void make_set(struct tamis__exceptions *set, uint64_t *random, size_t count, size_t longest)
{
    AUTO_FREE uint8_t *key = malloc(longest + 1);
    if (key == NULL) err(1, "malloc");
    *set = (struct tamis__exceptions){0};
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = (size_t)random_below(random, longest + 1);
        random_fill(random, key, bytes);
        assert_done(tamis__exceptions_add(set, key, bytes, random_below(random, 4)));
    }
    assert_done(tamis__exceptions_sort(set));
}

/* Do both sets have the same keys, of the same generations? */
static bool are_equal(const struct tamis__exceptions *a, const struct tamis__exceptions *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++) {
        const struct tamis__exception *x = &a->entries[i], *y = &b->entries[i];
        equal = x->generation == y->generation && x->bytes == y->bytes &&
                (x->bytes == 0 || memcmp(x->key, y->key, x->bytes) == 0);
    }
    return equal;
}

/* An index in plain memory, whose data end where their allocation does.  */
static void make_index(const struct tamis__exceptions *set, struct tamis__segment *index)
{
    struct tamis__segment_header *header = malloc(sizeof *header);
    const uint64_t bytes = tamis__index_bytes(set);
    uint64_t *data = malloc((size_t)bytes);
    if (header == NULL || data == NULL) err(1, "malloc");
    memset(data, 0xA5, (size_t)bytes); /* what encode leaves out is seen */
    fixture_header(header, TAMIS__KIND_EXCEPTIONS, 8 * bytes, 1);
    tamis__index_encode(set, data);
    header->words = 0;
    header->seed = 0;
    header->capacity = set->count ? set->count : 1;
    header->data_checksum = tamis__checksum(data, (size_t)bytes);
    *index = tamis__segment_at(header, data);
}

static void free_index(struct tamis__segment *index)
{
    free(index->header);
    free(index->data);
}
#define AUTO_INDEX __attribute__((cleanup(free_index))) struct tamis__segment

/* ---- The set --------------------------------------------------------------------------------- */

CASE(set_settled_is_in_byte_order_each_key_once)
{
    static const char *const keys[] = {"b", "", "ab", "a", "b", "\xff", "abc", "a", "ab"};
    static const char *const ordered[] = {"", "a", "ab", "abc", "b", "\xff"};
    AUTO_EXCEPTIONS set = {0};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        add(&set, keys[i], 0);
    assert_done(tamis__exceptions_sort(&set));
    assert_int_equal(set.count, sizeof ordered / sizeof *ordered);
    for (size_t i = 0; i < set.count; i++) {
        assert_int_equal(set.entries[i].bytes, strlen(ordered[i]));
        assert_memory_equal(set.entries[i].key, ordered[i], strlen(ordered[i]));
        assert_ptr_equal(find(&set, ordered[i]), &set.entries[i]);
    }
    assert_null(find(&set, "aa"));
    assert_null(find(&set, "bb"));
    assert_null(tamis__exceptions_find(&set, "a", 2)); /* with its NUL */
}

CASE(set_key_by_hand_and_found_is_both)
{
    AUTO_EXCEPTIONS set = {0};
    add(&set, "both", 7);
    add(&set, "both", 0);
    add(&set, "both", 9);
    add(&set, "found", 7);
    add(&set, "found", 9);
    assert_done(tamis__exceptions_sort(&set));
    assert_true(tamis__exception_by_hand(find(&set, "both")));
    assert_int_equal(tamis__exception_found_by(find(&set, "both")), 9);
    assert_false(tamis__exception_by_hand(find(&set, "found")));
    assert_int_equal(find(&set, "found")->generation, 9);
    assert_int_equal(tamis__exceptions_count_by_hand(&set), 1);
    assert_int_equal(tamis__exceptions_count_found(&set), 2);
    add(&set, "found", 8); /* into a set that is sorted already */
    assert_done(tamis__exceptions_sort(&set));
    assert_int_equal(find(&set, "found")->generation, 9);
    assert_int_equal(tamis__exceptions_drop_found(&set), 1);
    assert_int_equal(set.count, 1);
    assert_non_null(find(&set, "both"));
    assert_int_equal(find(&set, "both")->generation, 0);
    assert_int_equal(tamis__exceptions_drop_by_hand(&set), 1);
    assert_int_equal(set.count, 0);
}

CASE(set_removed_keys_are_gone_and_counted_once)
{
    const struct tamis_key keys[] = {{"b", 1}, {"x", 1}, {"b", 1}, {NULL, 0}, {"d", 1}};
    const uint8_t expected[] = {1, 0, 0, 1, 1};
    uint8_t answers[5];
    AUTO_EXCEPTIONS set = {0};
    for (const char *key = "abcd"; *key != '\0'; key++)
        assert_done(tamis__exceptions_add(&set, key, 1, 0));
    add(&set, "", 0);
    assert_done(tamis__exceptions_sort(&set));
    assert_int_equal(tamis__exceptions_remove(&set, keys, 5, answers), 3);
    assert_memory_equal(answers, expected, sizeof expected);
    assert_int_equal(set.count, 2);
    assert_non_null(find(&set, "a"));
    assert_null(find(&set, "b"));
    assert_non_null(find(&set, "c"));
    assert_int_equal(tamis__exceptions_remove(&set, keys, 5, NULL), 0);
}

CASE(set_refuses_what_no_exception_can_be)
{
    static uint8_t long_key[LONGEST + 1];
    AUTO_EXCEPTIONS set = {0};
    assert_refused(TAMIS_EINVAL, "65535",
                   tamis__exceptions_add(&set, long_key, sizeof long_key, 0));
    assert_refused(TAMIS_EINVAL, "NULL", tamis__exceptions_add(&set, NULL, 1, 0));
    assert_int_equal(set.count, 0);
    assert_done(tamis__exceptions_add(&set, NULL, 0, 0));
    assert_done(tamis__exceptions_add(&set, long_key, LONGEST, 0));
    assert_done(tamis__exceptions_sort(&set));
    assert_non_null(tamis__exceptions_find(&set, NULL, 0));
    assert_non_null(tamis__exceptions_find(&set, long_key, LONGEST));
}

CASE(set_of_more_than_a_filter_can_have_is_refused)
{
    AUTO_EXCEPTIONS set = {0};
    if (FIXTURE_SANITIZED) cases_skip("a sanitizer makes it take minutes");
    for (uint32_t i = 0; i < TAMIS_EXCEPTIONS_MAX; i++) {
        const uint32_t key = __builtin_bswap32(i); /* in order: nothing to sort */
        if (tamis__exceptions_add(&set, &key, sizeof key, 0) < 0) fail();
    }
    assert_done(tamis__exceptions_sort(&set));
    add(&set, "one more", 0);
    assert_refused(TAMIS_ELIMIT, "10000001", tamis__exceptions_sort(&set));
}

/* ---- The index ------------------------------------------------------------------------------- */

CASE(index_has_what_the_set_has_and_nothing_else)
{
    static const size_t counts[] = {0, 1, 3, 4, 5, 1000, 20000};
    uint64_t random = random_seed();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        AUTO_EXCEPTIONS set;
        AUTO_INDEX index;
        const char *reason = NULL;
        uint64_t offset;
        make_set(&set, &random, counts[i], 30);
        make_index(&set, &index);
        assert_int_equal(tamis__index_check(&index, &reason), 0);
        if (tamis__index_verify(&index, &offset, &reason)) fail_msg("%s", reason);
        for (size_t j = 0; j < set.count; j++)
            assert_true(tamis__index_has(&index, set.entries[j].key, set.entries[j].bytes));
        for (int j = 0; j < 20000; j++) {
            uint8_t key[6];
            random_fill(&random, key, sizeof key);
            assert_int_equal(tamis__index_has(&index, key, sizeof key),
                             tamis__exceptions_find(&set, key, sizeof key) != NULL);
        }
    }
}

CASE(index_of_the_longest_and_the_empty_key_has_both)
{
    static uint8_t longest[LONGEST];
    AUTO_EXCEPTIONS set = {0}, back = {0};
    AUTO_INDEX index;
    const char *reason;
    memset(longest, 'x', sizeof longest);
    assert_done(tamis__exceptions_add(&set, longest, LONGEST, 5));
    assert_done(tamis__exceptions_add(&set, NULL, 0, 0));
    assert_done(tamis__exceptions_sort(&set));
    make_index(&set, &index);
    assert_int_equal(tamis__index_check(&index, &reason), 0);
    assert_true(tamis__index_has(&index, longest, LONGEST));
    assert_true(tamis__index_has(&index, NULL, 0));
    assert_false(tamis__index_has(&index, longest, LONGEST - 1));
    assert_done(tamis__exceptions_from_index(&back, &index));
    assert_true(are_equal(&set, &back));
}

struct hashed {
    uint64_t number, hash;
};

/* By the bits of the hash that a slot has, and by where the search for it begins in 8 slots. */
static int by_slot(const void *a, const void *b)
{
    const uint64_t x = ((const struct hashed *)a)->hash, y = ((const struct hashed *)b)->hash;
    const uint64_t x_rank = x >> 40 << 3 | (x & 7), y_rank = y >> 40 << 3 | (y & 7);
    return (x_rank > y_rank) - (x_rank < y_rank);
}

/* Two keys of one length that only their records tell apart.  (Broken: slot_is_key() compares the
 * lengths alone.) */
CASE(index_tells_keys_apart_that_have_one_slot)
{
    enum { KEYS = 60000 };
    AUTO_FREE struct hashed *keys = calloc(KEYS, sizeof *keys);
    unsigned pairs = 0;
    assert_non_null(keys);
    for (uint64_t i = 0; i < KEYS; i++)
        keys[i] = (struct hashed){i, tamis__checksum(&i, sizeof i)};
    qsort(keys, KEYS, sizeof *keys, by_slot);
    for (size_t i = 1; i < KEYS; i++) {
        AUTO_EXCEPTIONS set = {0};
        AUTO_INDEX index = {.header = NULL};
        if (by_slot(&keys[i - 1], &keys[i]) != 0) continue;
        pairs++;
        assert_done(tamis__exceptions_add(&set, &keys[i].number, sizeof keys[i].number, 0));
        assert_done(tamis__exceptions_sort(&set));
        make_index(&set, &index);
        assert_true(tamis__index_has(&index, &keys[i].number, sizeof keys[i].number));
        assert_false(tamis__index_has(&index, &keys[i - 1].number, sizeof keys[i].number));
    }
    assert_true(pairs > 0);
}

CASE(index_strikes_only_answers_that_are_yes)
{
    enum { KEYS = 1000 };
    static char text[KEYS][RANDOM_KEY_BYTES];
    struct tamis_key keys[KEYS];
    uint8_t answers[KEYS];
    AUTO_EXCEPTIONS set = {0};
    AUTO_INDEX index;
    size_t expected = 0;
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = (struct tamis_key){text[i], random_key(i, text[i])};
        if (i % 3 == 0) assert_done(tamis__exceptions_add(&set, text[i], keys[i].bytes, 0));
        answers[i] = i % 2 == 0;
        expected += i % 6 == 0;
    }
    assert_done(tamis__exceptions_sort(&set));
    make_index(&set, &index);
    assert_int_equal(tamis__index_strike(&index, keys, KEYS, answers), expected);
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(answers[i], i % 2 == 0 && i % 3 != 0);
}

CASE(index_is_the_same_bytes_in_whatever_order_keys_came)
{
    uint64_t random = random_seed();
    AUTO_EXCEPTIONS set, again = {0}, back = {0};
    AUTO_INDEX index, other;
    make_set(&set, &random, 500, 40);
    for (size_t i = set.count; i-- > 0;) {
        const struct tamis__exception *entry = &set.entries[i];
        assert_done(tamis__exceptions_add(&again, entry->key, entry->bytes, entry->generation));
    }
    assert_done(tamis__exceptions_sort(&again));
    make_index(&set, &index);
    make_index(&again, &other);
    assert_int_equal(index.header->data_bytes, other.header->data_bytes);
    assert_memory_equal(index.data, other.data, index.header->data_bytes);
    assert_done(tamis__exceptions_from_index(&back, &index));
    assert_true(are_equal(&set, &back));
}

/* Ask for every key that was put in, and read it whole; the answers are whatever they are. */
static void use_index(const struct tamis__exceptions *set, const struct tamis__segment *index)
{
    AUTO_EXCEPTIONS back = {0};
    for (size_t i = 0; i < set->count; i++)
        (void)tamis__index_has(index, set->entries[i].key, set->entries[i].bytes);
    (void)tamis__exceptions_from_index(&back, index);
}

/* Was seen to fail under ASan with the bounds of read_record taken out, and without it with verify
 * looking at no checksum. */
CASE(index_damaged_anywhere_is_told_and_leads_nowhere)
{
    uint64_t random = random_seed();
    AUTO_EXCEPTIONS set;
    AUTO_INDEX index;
    make_set(&set, &random, 40, 20);
    make_index(&set, &index);
    uint8_t *data = (uint8_t *)index.data;
    const size_t bytes = (size_t)index.header->data_bytes;
    for (size_t at = 0; at < bytes; at++) {
        for (int bit = 0; bit < 8; bit++) {
            const char *reason = NULL;
            uint64_t offset = 0;
            data[at] ^= (uint8_t)(1 << bit);
            assert_int_equal(tamis__index_verify(&index, &offset, &reason), 1);
            assert_non_null(reason);
            const uint64_t right = index.header->data_checksum;
            index.header->data_checksum = tamis__checksum(data, bytes);
            if (tamis__index_check(&index, &reason) == 0) {
                use_index(&set, &index);
                (void)tamis__index_verify(&index, &offset, &reason);
            }
            index.header->data_checksum = right;
            data[at] ^= (uint8_t)(1 << bit);
        }
    }
}

/* Was seen to hang with a probe that ends at a free slot only. */
CASE(index_without_a_free_slot_ends_every_query)
{
    AUTO_EXCEPTIONS set = {0};
    AUTO_INDEX index;
    const char *reason;
    uint64_t offset;
    add(&set, "only", 0);
    assert_done(tamis__exceptions_sort(&set));
    make_index(&set, &index);
    memset(index.data + 8, 0xFF, 8 * 8);
    index.header->data_checksum = tamis__checksum(index.data, (size_t)index.header->data_bytes);
    assert_int_equal(tamis__index_check(&index, &reason), 0);
    assert_false(tamis__index_has(&index, "only", 4));
    assert_int_equal(tamis__index_verify(&index, &offset, &reason), 1);
    assert_non_null(strstr(reason, "slots"));
}

/* ---- Its file -------------------------------------------------------------------------------- */

/* Stage the index of a set, give it number 40 and publish it. */
static void publish(tamis_store *store, const struct tamis__exceptions *set)
{
    struct tamis__draft draft;
    assert_done(tamis__exceptions_stage(store, set, "blacklist", &draft));
    draft.header.number = 40;
    draft.header.filter_id = 3;
    draft.header.publication = 2;
    assert_done(tamis__segment_publish(&store->place, &draft.staged, &draft.header));
}

STORE_CASE(index_staged_and_published_is_what_open_maps)
{
    uint64_t random = random_seed();
    AUTO_EXCEPTIONS set, back = {0};
    struct tamis__mapped_segment index;
    const char *reason;
    uint64_t offset;
    make_set(&set, &random, 3000, 60);
    publish(store, &set);
    assert_int_equal(fixture_files(path, "staging"), 0);
    assert_done(tamis__open_index(store, 40, 3, &index));
    assert_int_equal(tamis__segment_items(&index.segment), set.count);
    assert_ptr_equal(index.kind, &tamis__kind_exceptions);
    assert_int_equal(tamis__index_verify(&index.segment, &offset, &reason), 0);
    assert_done(tamis__exceptions_from_index(&back, &index.segment));
    assert_true(are_equal(&set, &back));
    tamis__close_segment(&index);
    assert_refused(TAMIS_EFOREIGN, "another filter", tamis__open_index(store, 40, 4, &index));
    assert_refused(TAMIS_EVERSION, "kind", tamis__map_segment(store, 40, 3, false, &index));
}

STORE_CASE(index_small_and_damaged_is_refused_at_open)
{
    uint64_t random = random_seed();
    AUTO_EXCEPTIONS set;
    struct tamis__mapped_segment index;
    uint8_t byte;
    make_set(&set, &random, 100, 60);
    publish(store, &set);
    const char *file = fixture_segment_path(path, 40);
    fixture_peek(file, 4096 + 3000, &byte, 1);
    byte ^= 4;
    fixture_poke(file, 4096 + 3000, &byte, 1);
    assert_refused(TAMIS_ECORRUPT, "checksum", tamis__open_index(store, 40, 3, &index));
}

STORE_CASE(index_large_and_damaged_is_opened_and_told_by_verify)
{
    uint64_t random = random_seed();
    AUTO_EXCEPTIONS set;
    struct tamis__mapped_segment index;
    const char *reason = "";
    uint64_t offset = 0;
    uint8_t byte;
    make_set(&set, &random, 20000, 60);
    publish(store, &set);
    const char *file = fixture_segment_path(path, 40);
    fixture_peek(file, 4096 + 600000, &byte, 1);
    byte ^= 4;
    fixture_poke(file, 4096 + 600000, &byte, 1);
    assert_done(tamis__open_index(store, 40, 3, &index));
    assert_int_equal(tamis__index_verify(&index.segment, &offset, &reason), 1);
    assert_non_null(strstr(reason, "checksum"));
    use_index(&set, &index.segment);
    tamis__close_segment(&index);
}

STORE_CASE(index_that_is_not_entered_leaves_nothing)
{
    AUTO_EXCEPTIONS set = {0};
    struct tamis__draft draft;
    add(&set, "only", 0);
    assert_done(tamis__exceptions_sort(&set));
    assert_done(tamis__exceptions_stage(store, &set, "blacklist", &draft));
    assert_int_equal(fixture_files(path, "staging"), 1);
    tamis__drafts_discard(store, &draft, 1);
    assert_int_equal(fixture_files(path, "staging"), 0);
}
