/* SPDX-License-Identifier: BSD-2-Clause */
/* kinds.c: see kinds.h. */
#include "kinds.h"

#include <err.h>
#include <math.h>
#include <stdlib.h>

#include "kind/cells.h"

#define KEY_BYTES_MAX 300

void kinds_make(struct kinds_pair *pair, uint32_t kind, uint64_t m_bits, uint32_t k)
{
    const char *reason = "";
    fixture_segment(&pair->segment, kind, m_bits, k);
    pair->kind = tamis__kind_by_id(kind);
    pair->model = calloc(1, (size_t)pair->segment.header->data_bytes);
    if (pair->model == NULL) err(1, "calloc");
    assert_int_equal(pair->kind->check(pair->segment.header, &reason), 0);
}

void kinds_free(struct kinds_pair *pair)
{
    free(pair->segment.header);
    free(pair->model);
}

int kinds_model_add(struct kinds_pair *pair, const struct tamis_key *key)
{
    const struct tamis__segment_header *h = pair->segment.header;
    uint64_t positions[TAMIS_K_MAX];
    int changed = 0;
    pair->kind->positions(h, key->data, key->bytes, positions);
    for (uint32_t i = 0; i < h->k; i++) {
        const uint64_t mask = (uint64_t)1 << (positions[i] % 64);
        assert_true(positions[i] < h->m_bits);
        changed |= !(pair->model[positions[i] / 64] & mask);
        pair->model[positions[i] / 64] |= mask;
    }
    return changed;
}

int kinds_model_contains(const struct kinds_pair *pair, const struct tamis_key *key)
{
    uint64_t positions[TAMIS_K_MAX];
    pair->kind->positions(pair->segment.header, key->data, key->bytes, positions);
    for (uint32_t i = 0; i < pair->segment.header->k; i++)
        if (!(pair->model[positions[i] / 64] >> (positions[i] % 64) & 1)) return 0;
    return 1;
}

/* Is the bit of a segment set, or the counter above 0? */
static uint64_t place_is_set(const struct tamis__segment *segment, uint64_t place)
{
    if (segment->header->counter_bits == 0) return segment->data[place / 64] >> (place % 64) & 1;
    const struct tamis__cells cells = tamis__cells_of(segment);
    return tamis__cell_get(&cells, place) > 0;
}

static void assert_same_bits(const struct kinds_pair *pair)
{
    const struct tamis__segment *s = &pair->segment;
    bool same = true;
    if (s->header->counter_bits == 0)
        same = memcmp(s->data, pair->model, (size_t)s->header->data_bytes) == 0;
    for (uint64_t b = 0; s->header->counter_bits != 0 && b < s->header->m_bits; b++)
        same &= place_is_set(s, b) == (pair->model[b / 64] >> (b % 64) & 1);
    if (!same) fail_msg("the bits are not those that the positions name");
}

struct kinds_keys kinds_random_keys(uint64_t *random, size_t count)
{
    /* Overlapping pieces of one buffer: each 8 bytes on, so that no two are the same. */
    struct kinds_keys keys = {calloc(count, sizeof(struct tamis_key)),
                              malloc(8 * count + KEY_BYTES_MAX), count};
    if (keys.list == NULL || keys.bytes == NULL) err(1, "malloc");
    random_fill(random, keys.bytes, 8 * count + KEY_BYTES_MAX);
    for (size_t i = 0; i < count; i++) {
        /* Every other 64 keys all have 8 bytes: vectors hash these. */
        const size_t stretch = i / 64 % 2 == 0 ? 0 : i / 64 * 64;
        if (i > stretch && random_below(random, 8) == 0)
            keys.list[i] = keys.list[stretch + random_below(random, i - stretch)];
        else
            keys.list[i] = (struct tamis_key){
                keys.bytes + 8 * i,
                stretch > 0 ? 8 : (size_t)random_below(random, KEY_BYTES_MAX + 1)};
    }
    keys.list[count / 2] = (struct tamis_key){NULL, 0}; /* the empty key, as a caller may name it */
    return keys;
}

void kinds_free_keys(struct kinds_keys *keys)
{
    free(keys->list);
    free(keys->bytes);
}

static int add_one(const struct kinds_pair *p, const struct tamis_key *key)
{
    return p->kind->add(&p->segment, key->data, key->bytes);
}

static int contains_one(const struct kinds_pair *p, const struct tamis_key *key)
{
    return p->kind->contains(&p->segment, key->data, key->bytes);
}

void kinds_check_single_calls(uint32_t kind, uint64_t m_bits, uint32_t k, size_t count)
{
    uint64_t random = random_seed() + k;
    AUTO_KINDS_PAIR p;
    AUTO_KINDS_KEYS keys = kinds_random_keys(&random, count);
    kinds_make(&p, kind, m_bits, k);
    for (size_t i = 0; i < count; i++) {
        const struct tamis_key *key = &keys.list[i];
        assert_int_equal(contains_one(&p, key), kinds_model_contains(&p, key));
        assert_int_equal(add_one(&p, key), kinds_model_add(&p, key));
        assert_int_equal(contains_one(&p, key), 1);
        assert_int_equal(add_one(&p, key), 0);
    }
    assert_same_bits(&p);
}

/* Batches of every size from 0 on: below, at and above the number of keys in flight. */
void kinds_check_batch_calls(uint32_t kind, uint64_t m_bits, uint32_t k, size_t count)
{
    uint64_t random = random_seed() + k;
    AUTO_KINDS_PAIR p;
    AUTO_KINDS_KEYS keys = kinds_random_keys(&random, count);
    AUTO_FREE uint8_t *answers = malloc(count + 1);
    if (answers == NULL) err(1, "malloc");
    kinds_make(&p, kind, m_bits, k);
    for (size_t done = 0, size = 0; done < count; done += size, size++) {
        const struct tamis_key *batch = keys.list + done;
        size_t ones = 0;
        if (size > count - done) size = count - done;
        memset(answers, 7, size + 1);
        size_t told = p.kind->contains_batch(&p.segment, batch, size, answers);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(answers[i], kinds_model_contains(&p, &batch[i]));
            ones += answers[i];
        }
        assert_int_equal(told, ones);
        assert_int_equal(answers[size], 7); /* nothing is written past the batch */
        told = (size_t)p.kind->add_batch(&p.segment, batch, size, answers);
        ones = 0;
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(answers[i], kinds_model_add(&p, &batch[i]));
            ones += answers[i];
        }
        assert_int_equal(told, ones);
        assert_int_equal(answers[size], 7);
    }
    assert_same_bits(&p);
}

void kinds_check_no_false_negative(uint32_t kind, uint64_t m_bits, uint32_t k, size_t count)
{
    uint64_t random = random_seed();
    AUTO_KINDS_PAIR p;
    AUTO_KINDS_KEYS keys = kinds_random_keys(&random, count);
    AUTO_FREE uint8_t *answers = malloc(count);
    if (answers == NULL) err(1, "malloc");
    kinds_make(&p, kind, m_bits, k);
    for (size_t i = 0; i < count / 2; i++)
        (void)add_one(&p, &keys.list[i]);
    (void)p.kind->add_batch(&p.segment, keys.list + count / 2, count - count / 2, answers);
    assert_int_equal(p.kind->contains_batch(&p.segment, keys.list, count, answers), count);
    for (size_t i = 0; i < count; i++)
        assert_true(answers[i] == 1 && contains_one(&p, &keys.list[i]) == 1);
}

/* The same key at every distance that is in flight at once, in an empty filter. */
void kinds_check_duplicates(uint32_t kind, uint64_t m_bits, uint32_t k)
{
    struct tamis_key keys[140];
    uint8_t answers[140];
    for (size_t distance = 1; distance < 140; distance++) {
        AUTO_KINDS_PAIR p;
        kinds_make(&p, kind, m_bits, k);
        for (size_t i = 0; i < 140; i++)
            keys[i] = (struct tamis_key){i % distance ? "filler" : "twice", i % distance ? 6 : 5};
        (void)p.kind->add_batch(&p.segment, keys, 140, answers);
        assert_int_equal(answers[0], 1);
        for (size_t i = distance; i < 140; i += distance)
            assert_int_equal(answers[i], 0);
        if (distance > 1)
            assert_int_equal(answers[1],
                             kinds_model_add(&p, &keys[0]) & kinds_model_add(&p, &keys[1]));
    }
}

void kinds_check_lone_key_sets_its_positions(uint32_t kind, uint64_t m_bits, uint32_t k)
{
    uint64_t random = random_seed();
    for (int i = 0; i < 50; i++) {
        AUTO_KINDS_PAIR p;
        unsigned char bytes[16];
        const struct tamis_key key = {bytes, (size_t)i % 17};
        random_fill(&random, bytes, sizeof bytes);
        kinds_make(&p, kind, m_bits, k);
        assert_int_equal(add_one(&p, &key), 1);
        assert_int_equal(kinds_model_add(&p, &key), 1);
        assert_same_bits(&p);
    }
}

/*
 * The bits counted one by one, and the rate that measure() tells against strangers' luck: with q
 * queries at rate p at most 5 deviations off, either way.
 */
void kinds_check_measure(uint32_t kind, uint64_t m_bits, uint32_t k, size_t count)
{
    const uint64_t queries = FIXTURE_SANITIZED ? 200000 : 2000000;
    uint64_t random = 77, ones = 0, measured_ones = 0, passed = 0;
    double rate = -1;
    AUTO_KINDS_PAIR p;
    kinds_make(&p, kind, m_bits, k);
    p.kind->measure(&p.segment, &measured_ones, &rate);
    assert_true(measured_ones == 0 && rate == 0);
    for (size_t i = 0; i < count; i++) {
        const uint64_t number = random_next(&random);
        (void)p.kind->add(&p.segment, &number, sizeof number);
    }
    for (uint64_t b = 0; b < m_bits; b++)
        ones += place_is_set(&p.segment, b);
    p.kind->measure(&p.segment, &measured_ones, &rate);
    assert_int_equal(measured_ones, ones);
    for (uint64_t i = 0; i < queries; i++) {
        const uint64_t number = random_next(&random);
        passed += (uint64_t)p.kind->contains(&p.segment, &number, sizeof number);
    }
    const double expected = rate * (double)queries;
    if (fabs((double)passed - expected) > 5 * sqrt(expected * (1 - rate)))
        fail_msg("%g of strangers pass, measure() tells %g", (double)passed / (double)queries,
                 rate);
    memset(p.segment.data, 0xFF, (size_t)p.segment.header->data_bytes);
    p.kind->measure(&p.segment, &measured_ones, &rate);
    assert_true(rate >= 1);
}

void kinds_check_refused(const struct tamis__segment_header *header, int code, const char *words)
{
    const char *reason = "";
    assert_int_equal(tamis__kind_by_id(header->kind)->check(header, &reason), code);
    if (strstr(reason, words) == NULL) fail_msg("no '%s' in: %s", words, reason);
}
