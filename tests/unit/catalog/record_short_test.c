/* SPDX-License-Identifier: BSD-2-Clause */
/* record_short_test.c: the short form of a record (docs/format.md 2.12; store/catalog/pack.c). */
#include "fixture.h"

#include "catalog/record.h"

static const struct tamis__bytes key = {"fseen urls", 10};

/* A filter of 100 keys at 1 % in a drawer, as tamis_filter_create() makes it. */
static void fill_small(struct tamis__record *record)
{
    *record = (struct tamis__record){
        .filter_id = 7,
        .name_sequence = 1,
        .generation = 1,
        .capacity = 100,
        .fp_rate = 0.01,
        .created_at = 1000,
        .published_at = 1000,
        .policy = {.on_full = TAMIS_ON_FULL_GROW, .capacity = 100, .fp_rate = 0.01},
        .publication = 1,
        .last_generation = 1,
        .keep = 1,
        .segment_count = 1};
    record->segments[0] = (struct tamis__listed_segment){.number = tamis__sheet_number(3, 0, 9),
                                                         .kind = TAMIS_KIND_BLOCKED,
                                                         .hash_set = TAMIS__HASH_XXH3,
                                                         .m_bits = 1536,
                                                         .k = 8,
                                                         .words = 2,
                                                         .capacity = 100,
                                                         .fp_rate = 0.0015,
                                                         .file_bytes = 512,
                                                         .created_at = 1000};
}

/* The bytes of a record follow from its fields, so the fields are the same if the bytes are. */
static void assert_there_and_back(const void *value, size_t bytes)
{
    static struct tamis__record after;
    unsigned char again[TAMIS__RECORD_BYTES_MAX];
    const char *reason;
    memset(&after, 0xEE, sizeof after);
    assert_int_equal(
        tamis__record_decode(key, (struct tamis__bytes){value, bytes}, &after, &reason), 0);
    assert_int_equal(tamis__record_encode(&after, key, again), bytes);
    assert_memory_equal(value, again, bytes);
}

/* docs/format.md 2.12.  Seen to fail with the time of publication not foretold. */
CASE(record_of_a_small_filter_is_short_and_frozen)
{
    static struct tamis__record record;
    const uint64_t rate = tamis__double_to_bits(0.01), own = tamis__double_to_bits(0.0015);
    const uint64_t words[] = {2, /* the short form */
                              1 << 1 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 22 | 1 << 25 | 1 << 28,
                              7,
                              100,
                              rate,
                              1000,
                              UINT64_C(0x1000000003009),
                              1536,
                              own};
    unsigned char v[TAMIS__RECORD_BYTES_MAX];
    fill_small(&record);
    const size_t bytes = tamis__record_encode(&record, key, v);
    assert_int_equal(bytes, sizeof words + 8);
    assert_memory_equal(v, words, sizeof words);
    assert_there_and_back(v, bytes);
}

static void assert_short_form_refused(const uint64_t *words, size_t count)
{
    static struct tamis__record record;
    unsigned char v[256];
    const char *reason;
    memcpy(v, words, count * 8);
    const uint64_t sum = tamis__record_checksum(key, v, count * 8);
    memcpy(v + count * 8, &sum, 8);
    assert_int_equal(
        tamis__record_decode(key, (struct tamis__bytes){v, count * 8 + 8}, &record, &reason),
        TAMIS_ECORRUPT);
    assert_string_equal(reason, "has an impossible form");
}

/* A record has one form: with right checksums.  Seen to fail without the look at what was foretold,
 * and without that at the number of words. */
CASE(record_has_one_short_form)
{
    static struct tamis__record record;
    uint64_t words[TAMIS__RECORD_BYTES_MAX / 8] = {0};
    fill_small(&record);
    const size_t count = tamis__record_encode(&record, key, words) / 8 - 1;
    assert_short_form_refused(words, count - 1);
    assert_short_form_refused(words, count + 1);
    words[1] |= 1 << 2; /* the word for name_sequence, in the place of the second that is there */
    memmove(&words[4], &words[3], (count - 3) * 8);
    words[3] = 1;
    assert_short_form_refused(words, count + 1); /* it is as foretold */
    words[1] = (words[1] & ~(uint64_t)(1 << 2)) | (uint64_t)1 << 45;
    assert_short_form_refused(words, count + 1); /* a word behind the record */
    words[0] |= (uint64_t)1 << 32;
    assert_short_form_refused(words, count);
}

/* Any field of it may be another one; what is not as foretold is there. */
CASE(record_of_a_small_filter_there_and_back_with_any_field_changed)
{
    static struct tamis__record record;
    unsigned char v[TAMIS__RECORD_BYTES_MAX];
    for (unsigned field = 0; field < 16; field++) {
        fill_small(&record);
        struct tamis__listed_segment *s = &record.segments[0];
        uint64_t *const words[] = {&record.name_sequence,
                                   &record.last_generation,
                                   &record.capacity,
                                   &record.policy.capacity,
                                   &record.publication,
                                   &record.exceptions,
                                   &s->number,
                                   &s->seed,
                                   &s->m_bits,
                                   &s->capacity,
                                   &s->items,
                                   &s->file_bytes};
        int64_t *const times[] = {&record.created_at, &record.published_at, &record.checkpointed_at,
                                  &s->created_at};
        if (field < 12)
            ++*words[field];
        else
            ++*times[field - 12];
        const size_t bytes = tamis__record_encode(&record, key, v);
        assert_true(bytes <= 112); /* some foretell others */
        assert_there_and_back(v, bytes);
    }
}
