/* SPDX-License-Identifier: BSD-2-Clause */
/* fuse_damage_test.c: binary fuse filters whose data or headers are not what a build made. */
#include <err.h>
#include <stdlib.h>

#include "fuses.h"
#include "hash/digest.h"
#include "kind/kind.h"

static const uint32_t WIDTHS[] = {8, 16, 32, 10, 15, 20};

CASE(fuse_verify_finds_any_flipped_bit)
{
    AUTO_FUSES fuses;
    const char *reason = NULL;
    uint64_t offset = 0, random = random_seed();
    fuses_make(&fuses, 1, 1000, 8);
    const struct tamis__segment_header *h = fuses.segment.header;
    assert_int_equal(tamis__kind_fuse.verify(&fuses.segment, &offset, &reason), 0);
    for (unsigned i = 0; i < 1000; i++) {
        const uint64_t bit = random_below(&random, h->data_bytes * 8);
        fuses.segment.data[bit / 64] ^= (uint64_t)1 << bit % 64;
        assert_int_equal(tamis__kind_fuse.verify(&fuses.segment, &offset, &reason), 1);
        assert_int_equal(offset, h->data_offset);
        assert_non_null(strstr(reason, "do not match their checksum"));
        fuses.segment.data[bit / 64] ^= (uint64_t)1 << bit % 64;
    }
}

/* Data of several steps are summed to their end.  (Broken: verify() ends after the first step.) */
CASE(fuse_verify_goes_to_the_end_of_large_data)
{
    const uint64_t bytes = ((uint64_t)64 << 20) + 4096;
    struct tamis__segment_header header = {.data_offset = 4096, .data_bytes = bytes};
    const char *reason = NULL;
    uint64_t offset = 0;
    AUTO_FREE unsigned char *data = calloc(1, (size_t)bytes);
    assert_non_null(data);
    const struct tamis__segment segment = tamis__segment_at(&header, data);
    header.data_checksum = tamis__checksum(data, (size_t)bytes);
    assert_int_equal(tamis__kind_fuse.verify(&segment, &offset, &reason), 0);
    data[bytes - 1] = 1;
    assert_int_equal(tamis__kind_fuse.verify(&segment, &offset, &reason), 1);
}

/* A segment in just as much memory as its header says, so that a sanitizer sees a step past it. */
static void ask_hostile(const struct tamis__segment_header *header, uint64_t *random)
{
    struct tamis_key keys[200];
    uint64_t numbers[200], ones, positions[3];
    uint8_t answers[200];
    double rate;
    char text[64];
    AUTO_FREE unsigned char *memory =
        aligned_alloc(64, (size_t)(header->data_bytes + 63) / 64 * 64);
    struct tamis__segment_header copy = *header;
    if (memory == NULL) err(1, "aligned_alloc");
    random_fill(random, memory, (size_t)header->data_bytes);
    const struct tamis__segment segment = tamis__segment_at(&copy, memory);
    for (size_t i = 0; i < 200; i++) {
        numbers[i] = random_next(random);
        keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
        (void)tamis__kind_fuse.contains(&segment, &numbers[i], 8);
        (void)tamis__kind_fuse.explain(&segment, &numbers[i], 8, positions, text, sizeof text);
    }
    (void)tamis__kind_fuse.contains_batch(&segment, keys, 200, answers);
    (void)tamis__fuse_contains_digests(&segment, numbers, 200, answers);
    (void)tamis__fuse_contains_digest(&segment, 0);
    (void)tamis__fuse_contains_digest(&segment, UINT64_MAX);
    tamis__kind_fuse.measure(&segment, &ones, &rate);
}

/* What follows from the shape. */
static void derive(struct tamis__segment_header *h)
{
    const struct tamis__fuse_shape shape = tamis__fuse_header_shape(h);
    struct tamis__layout layout;
    h->m_bits = tamis__fuse_m_bits(&shape);
    tamis__static_layout(tamis__fuse_data_bits(&shape), &layout);
    h->incompat_flags &= ~TAMIS__INCOMPAT_ONE_PAGE;
    tamis__header_set_layout(h, &layout);
}

/* Fields that a header's own checksum passes, as a forger would write them. */
static void forge(struct tamis__segment_header *h, uint64_t *random)
{
    static const uint32_t odd[] = {0,  1,  2,  3,     7,      8,          16,
                                   32, 33, 64, 65536, 131072, 0x80000000, UINT32_MAX};
    uint32_t *const fields[] = {&h->fingerprint_bits, &h->pieces,    &h->piece_segments,
                                &h->segment_slots,    &h->k,         &h->words,
                                &h->counter_bits,     &h->bit_order, &h->hash_set};
    for (uint64_t i = 1 + random_below(random, 3); i > 0; i--) {
        uint32_t *field = fields[random_below(random, sizeof fields / sizeof *fields)];
        if (random_below(random, 2))
            *field = odd[random_below(random, sizeof odd / sizeof *odd)];
        else
            *field ^= (uint32_t)1 << random_below(random, 32);
    }
    if (random_below(random, 2)) { /* so that more passes */
        derive(h);
    } else if (random_below(random, 2)) {
        h->m_bits ^= (uint64_t)1 << random_below(random, 64);
    } else {
        h->data_bytes ^= (uint64_t)1 << random_below(random, 40);
    }
    tamis__header_seal(h);
}

/*
 * Whatever passes the checks can be asked without a step outside its data.  Seen to fail, under the
 * preset asan: with the comparison of data_bytes taken out of check(); with segment_slots allowed
 * to be no power of two.
 */
CASE(fuse_of_a_forged_header_is_refused_or_harmless)
{
    struct tamis__segment_header sound, h;
    struct tamis__refusal refusal;
    const char *reason;
    uint64_t random = random_seed(), passed = 0;
    for (unsigned i = 0; i < 200000; i++) {
        struct tamis__fuse_shape shape;
        const uint64_t keys = random_below(&random, 3000);
        tamis__fuse_shape(keys, WIDTHS[random_below(&random, 6)],
                          keys ? 1 + (uint32_t)random_below(&random, 5) : 0, &shape);
        fuses_header(&shape, keys, &sound);
        h = sound;
        if (i % 16 != 0) forge(&h, &random);
        if (tamis__header_check(&h, sizeof h, h.file_bytes, &refusal) < 0) continue;
        if (tamis__kind_fuse.check(&h, &reason) < 0) continue;
        if (h.data_bytes > (1 << 22)) continue; /* sound, and larger than a test should be */
        passed++;
        ask_hostile(&h, &random);
    }
    print_message("%llu of 200000 forged headers passed and were asked\n",
                  (unsigned long long)passed);
    assert_true(passed > 12500); /* those that were not forged, and some */
}

/* `follows`: m and the length of the data are those that would follow from the wrong value. */
static void check_geometry_refused(const struct tamis__segment_header *sound, size_t field,
                                   uint32_t value, bool follows)
{
    const char *reason = "";
    struct tamis__segment_header h = *sound;
    memcpy((char *)&h + field, &value, sizeof value);
    if (follows) derive(&h);
    assert_int_equal(tamis__kind_fuse.check(&h, &reason), TAMIS_ECORRUPT);
    assert_non_null(strstr(reason, "geometry that no fuse filter has"));
}

CASE(fuse_of_an_impossible_geometry_is_refused)
{
#define FIELD(name) offsetof(struct tamis__segment_header, name)
    static const struct {
        size_t field;
        uint32_t value;
    } wrong[] = {
        {FIELD(m_bits), 64},
        {FIELD(pieces), 2}, /* which alone contradict nothing else */
        {FIELD(pieces), 0},
        {FIELD(fingerprint_bits), 0},
        {FIELD(fingerprint_bits), 7},
        {FIELD(fingerprint_bits), 33},
        {FIELD(piece_segments), 0},
        {FIELD(segment_slots), 0},
        {FIELD(segment_slots), 4},
        {FIELD(segment_slots), 96},
        {FIELD(segment_slots), 131072},
        {FIELD(k), 4},
        {FIELD(words), 2},
        {FIELD(counter_bits), 4},
        {FIELD(bit_order), 1},
    };
#undef FIELD
    struct tamis__fuse_shape shape;
    struct tamis__segment_header sound, h;
    const char *reason = "";
    tamis__fuse_shape(1000, 8, 1, &shape);
    fuses_header(&shape, 1000, &sound);
    assert_int_equal(tamis__kind_fuse.check(&sound, &reason), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_geometry_refused(&sound, wrong[i].field, wrong[i].value, i >= 2);
    h = sound;
    h.data_bytes += 8;
    assert_int_equal(tamis__kind_fuse.check(&h, &reason), TAMIS_ECORRUPT);
    assert_non_null(strstr(reason, "length that its pieces contradict"));
    h = sound;
    h.hash_set = 2;
    assert_int_equal(tamis__kind_fuse.check(&h, &reason), TAMIS_EVERSION);
}
