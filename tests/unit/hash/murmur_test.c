/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * murmur_test.c: the pairs of the hash set redisbloom, one by one and side by side, and the
 * progressions that lead from pairs to positions (store/hash/murmur.h, progression.h).
 *
 * The values of RedisBloom itself are in hash_vectors_test; here is the definition, step by step.
 */
#include "fixture.h"

#include "base/cpu.h"
#include "hash/hash_set.h"
#include "hash/murmur.h"
#include "hash/progression.h"
#include "random.h"

enum { KEYS = 61, BYTES_MAX = 8 * (TAMIS__MURMUR_WORDS + 3) };

/* MurmurHash64A as Appleby wrote it, without a word that is read past the end of the key. */
static uint64_t defined(const unsigned char *key, size_t bytes, uint64_t seed)
{
    const uint64_t m = 0xC6A4A7935BD1E995;
    uint64_t h = seed ^ (bytes * m);
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t k = 0;
        for (size_t i = 0; i < 8 && at + i < bytes; i++)
            k |= (uint64_t)key[at + i] << 8 * i;
        if (bytes - at >= 8) {
            k *= m;
            k ^= k >> 47;
            k *= m;
        }
        h ^= k;
        h *= m;
    }
    h ^= h >> 47;
    h *= m;
    return h ^ h >> 47;
}

static void check_pair(const struct tamis_key *key, struct tamis__digest pair)
{
    const uint64_t a = defined(key->data, key->bytes, 0xC6A4A7935BD1E995);
    assert_int_equal(pair.high, a);
    assert_int_equal(pair.low, defined(key->data, key->bytes, a));
}

/* Each key is in memory of its own, so that a sanitizer sees what is read beside it. */
struct given {
    struct tamis_key keys[KEYS];
    size_t count;
};

static void free_given(struct given *given)
{
    for (size_t i = 0; i < given->count; i++)
        free((void *)(uintptr_t)given->keys[i].data);
}

static void make_given(struct given *given, uint64_t *random, size_t count, size_t most)
{
    given->count = count;
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = random_below(random, most + 1);
        unsigned char *data = malloc(bytes > 0 ? bytes : 1);
        assert_non_null(data);
        for (size_t j = 0; j < bytes; j++)
            data[j] = (unsigned char)random_next(random);
        given->keys[i] = (struct tamis_key){data, bytes};
    }
}

static const struct tamis__hash_set *redisbloom(void)
{
    return tamis__hash_set_by_id(TAMIS__HASH_REDISBLOOM);
}

CASE(murmur_pair_of_each_length_is_as_defined)
{
    unsigned char bytes[BYTES_MAX];
    uint64_t random = random_seed();
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)random_next(&random);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        const struct tamis_key key = {n > 0 ? bytes + (sizeof bytes - n) : NULL, n};
        check_pair(&key, redisbloom()->pair(key.data, n, NULL));
    }
}

/* Seen to fail for a lane whose key is shorter and goes on all the same (hash() without choose()),
 * and for one that is too long and is cut (take() without its check).
 */
CASE(murmur_pairs_of_many_keys_are_those_of_each)
{
    static const size_t most[] = {7, 8, 24, 100, BYTES_MAX};
    uint64_t random = random_seed();
    for (enum tamis__cpu cpu = 0; cpu < TAMIS__CPU_COUNT; cpu++) {
        if (!tamis__cpu_has(cpu)) continue;
        tamis__cpu_force(cpu);
        for (unsigned round = 0; round < 200; round++) {
            __attribute__((cleanup(free_given))) struct given given;
            struct tamis__digest pairs[KEYS];
            make_given(&given, &random, round % (KEYS + 1), most[round % 5]);
            redisbloom()->pairs(given.keys, given.count, pairs);
            for (size_t i = 0; i < given.count; i++)
                check_pair(&given.keys[i], pairs[i]);
        }
    }
}

static void check_terms(uint64_t m, uint64_t mask, uint64_t *random)
{
    const struct tamis__progression p = tamis__progression(m, mask);
    for (uint64_t n = 0; n < 5; n++) {
        const uint64_t terms[] = {n,
                                  UINT64_MAX - n,
                                  m * n,
                                  m * n - 1,
                                  UINT64_MAX / m * m + n,
                                  (uint64_t)INT64_MAX - 2 + n,
                                  random_next(random)};
        for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
            assert_int_equal(tamis__progression_at(&p, terms[i]), (terms[i] & mask) % m);
    }
}

/* Seen to fail for a quotient that is never corrected. */
CASE(progression_terms_are_remainders)
{
    uint64_t random = random_seed();
    static const uint64_t frontiers[] = {1,        2, 64, 1u << 16, UINT32_MAX, (uint64_t)1 << 62,
                                         INT64_MAX};
    for (size_t i = 0; i < sizeof frontiers / sizeof frontiers[0]; i++)
        for (uint64_t m = frontiers[i]; m < frontiers[i] + 3; m++) {
            check_terms(m, UINT64_MAX, &random);
            check_terms(m, INT64_MAX, &random);
        }
    check_terms(UINT64_MAX, UINT64_MAX, &random);
    check_terms(UINT64_MAX - 1, UINT64_MAX, &random);
    for (unsigned i = 0; i < 2000; i++)
        check_terms((random_next(&random) >> random_below(&random, 64)) | 1, UINT64_MAX, &random);
}
