/* SPDX-License-Identifier: BSD-2-Clause */
/* fuse_store_test.c: a fuse filter in a store, by the public calls: what it answers, and what it
 * refuses. */
#include <math.h>
#include <stdio.h>

#include "fuses.h"
#include "told.h"
#include "txn/draft.h"
#include "txn/enter.h"
#include "txn/store.h"

#define KEYS 1000

/* The store of `path` gets the filter "static" of keys 1 .. KEYS, as a build would enter it. */
static void enter(tamis_store *store, uint32_t fingerprint_bits)
{
    const double rate = exp2(-(double)fingerprint_bits);
    const struct tamis__listed_segment segment = {.hash_set = TAMIS__HASH_XXH3,
                                                  .seed = FUSES_SEED,
                                                  .capacity = KEYS,
                                                  .fp_rate = rate,
                                                  .items = KEYS};
    struct tamis__draft draft;
    struct tamis__entry entry = {
        .name = "static",
        .drafts = &draft,
        .count = 1,
        .capacity = KEYS,
        .fp_rate = rate,
        .policy = {.on_full = TAMIS_ON_FULL_WARN, .capacity = KEYS, .fp_rate = rate},
        .filled = true};
    AUTO_FUSES fuses;
    fuses_make(&fuses, 1, KEYS, fingerprint_bits);
    tamis__draft_init_fuse(store, "static", &segment, &fuses.shape, &draft);
    assert_int_equal(draft.header.data_bytes, fuses.segment.header->data_bytes);
    assert_int_equal(draft.header.m_bits, fuses.segment.header->m_bits);
    draft.header.data_checksum = fuses.segment.header->data_checksum;
    assert_done(tamis__draft_stage(store, &draft));
    assert_done(tamis__segment_fill(&store->place, &draft.staged, draft.header.data_offset,
                                    fuses.segment.data, (size_t)draft.header.data_bytes));
    assert_done(tamis__drafts_enter(store, &entry));
}

static tamis_filter *open_static(tamis_store *store)
{
    return fixture_opened(store, "static", 0);
}

CASE(fuse_filter_answers_and_is_described)
{
    AUTO_STORE *store = fixture_store(NULL);
    struct tamis_segment_stat segment = {.size = sizeof segment};
    enter(store, 16);
    tamis_filter *filter = open_static(store);
    for (uint64_t key = 1; key <= KEYS; key++)
        assert_int_equal(tamis_filter_contains(filter, &key, sizeof key), 1);
    struct tamis_filter_stat stat = fixture_stat(filter);
    assert_int_equal(stat.kind, TAMIS_KIND_FUSE);
    assert_int_equal(stat.fingerprint_bits, 16);
    assert_int_equal(stat.items, KEYS);
    assert_int_equal(stat.capacity, KEYS);
    assert_int_equal(stat.state, 0); /* a static filter is as full as ever, and never "full" */
    assert_true(stat.predicted_rate == exp2(-16));
    assert_done(tamis_filter_fill(filter, 0, &segment));
    assert_int_equal(segment.pieces, 1);
    assert_int_equal(segment.fingerprint_bits, 16);
    assert_int_equal(segment.items_estimated, KEYS);
    assert_true(segment.fp_rate_now == exp2(-16));
    assert_true(segment.ones <= KEYS && segment.ones > KEYS - 10);
    assert_true(fabs(segment.fill - (double)segment.ones * 16 / (double)segment.m_bits) < 1e-9);
    assert_done(tamis_filter_close(filter));
    assert_int_equal(tamis_store_verify(store, NULL, NULL, NULL), 0);
}

/* hashes: the digest and the fingerprint that its three slots give when XORed. */
CASE(fuse_explains_where_a_key_is)
{
    AUTO_STORE *store = fixture_store(NULL);
    char text[64], expected[64];
    uint64_t positions[3], key = 77;
    uint16_t sum = 0;
    enter(store, 16);
    AUTO_FILTER *filter = open_static(store);
    struct tamis_explanation e = {.size = sizeof e,
                                  .hashes = text,
                                  .hashes_bytes = sizeof text,
                                  .positions = positions,
                                  .positions_max = 3};
    assert_done(tamis_filter_explain(filter, 0, &key, sizeof key, &e));
    assert_int_equal(e.positions_count, 3);
    struct tamis_segment_stat segment = fixture_segment_stat(filter, 0);
    char path[64];
    (void)snprintf(path, sizeof path, "segments/%016llu.seg", (unsigned long long)segment.number);
    for (unsigned i = 0; i < 3; i++) {
        uint16_t fingerprint;
        assert_true(positions[i] < segment.m_bits / 16);
        fixture_peek(fixture_join(store->place.path, path),
                     segment.data_offset + 64 + positions[i] * 2, &fingerprint, 2);
        sum ^= fingerprint;
    }
    (void)snprintf(expected, sizeof expected, "%016llx,%04x",
                   (unsigned long long)tamis__fuse_digest(
                       &(struct tamis__digester){.seed = FUSES_SEED}, &key, sizeof key),
                   sum);
    assert_string_equal(text, expected);
    e.positions_max = 2;
    assert_refused(TAMIS_EINVAL, "3 positions do not fit",
                   tamis_filter_explain(filter, 0, &key, sizeof key, &e));
    e.positions_max = 3;
    e.hashes_bytes = 10;
    assert_refused(TAMIS_EINVAL, "need 22 bytes",
                   tamis_filter_explain(filter, 0, &key, sizeof key, &e));
}

static int refuse_to_write(void *context, const void *buffer, size_t bytes)
{
    (void)context, (void)buffer, (void)bytes;
    fail_msg("something was exported");
    return 0;
}

STORE_CASE(fuse_filter_refuses_what_would_change_it)
{
    struct tamis_key keys[2] = {{"new", 3}, {"newer", 5}};
    uint8_t answers[2] = {9, 9};
    struct tamis_comparison comparison = {.size = sizeof comparison};
    const struct tamis_sink sink = {.size = sizeof sink, .write = refuse_to_write};
    enter(store, 8);
    AUTO_FILTER *filter = open_static(store), *again = open_static(store);
    const struct tamis_merge merge = {.size = sizeof merge, .sources = &again, .count = 1};
    assert_refused(TAMIS_EUNSUPPORTED, "tamis build", tamis_filter_add(filter, "new", 3));
    assert_refused(TAMIS_EUNSUPPORTED, "tamis build",
                   tamis_filter_add_batch(filter, keys, 2, answers));
    assert_true(answers[0] == TAMIS_ANSWER_REFUSED && answers[1] == TAMIS_ANSWER_REFUSED);
    assert_refused(TAMIS_EUNSUPPORTED, "kind fuse", tamis_filter_remove(filter, "new", 3));
    assert_refused(TAMIS_EUNSUPPORTED, "kind fuse", tamis_filter_count(filter, "new", 3));
    assert_refused(TAMIS_EUNSUPPORTED, "cannot be merged",
                   tamis_filter_create_merged(store, "sum", &merge, NULL));
    assert_refused(TAMIS_EUNSUPPORTED, "kind fuse",
                   tamis_filter_compare(filter, again, &comparison));
    assert_refused(TAMIS_EINVAL, "--with-key", tamis_filter_export(filter, "tamis", 0, &sink));
    assert_refused(TAMIS_EUNSUPPORTED, "", tamis_filter_export(filter, "guava", 0, &sink));
    assert_done(tamis_filter_sync(filter));
}

/* Seen to fail with the comparison of checksums taken out of verify() in kind/fuse.c. */
CASE(fuse_filter_with_a_changed_byte_is_found)
{
    AUTO_STORE *store = fixture_store(NULL);
    char path[64];
    unsigned char byte;
    enter(store, 8);
    AUTO_FILTER *filter = open_static(store);
    struct tamis_segment_stat segment = fixture_segment_stat(filter, 0);
    (void)snprintf(path, sizeof path, "segments/%016llu.seg", (unsigned long long)segment.number);
    const char *file = fixture_join(store->place.path, path);
    fixture_peek(file, segment.data_offset + 500, &byte, 1);
    byte ^= 16;
    fixture_poke(file, segment.data_offset + 500, &byte, 1);
    const struct told told = told_of(store->place.path, NULL);
    assert_int_equal(told.count, 1);
    assert_string_equal(told.file, path);
    assert_int_equal(told.offset, segment.data_offset);
    told_assert_words(&told, "has data that do not match their checksum");
}
