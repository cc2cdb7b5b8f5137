/* SPDX-License-Identifier: BSD-2-Clause */
/* blocked_test.c: the cache-line-blocked kind (store/kind/blocked.c). */
#include "kinds.h"

#include <sys/mman.h>

#include "base/cpu.h"
#include "blocked_lanes8.h"

static const uint32_t ks[] = {2, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32, 36, 40};
#define KS (sizeof ks / sizeof ks[0])

/*
 * Computed from digests that `xxhsum -H2` printed, with unbounded integers, by the rule in the head
 * comment of blocked.c.  They pin the format.
 */
CASE(blocked_positions_are_frozen)
{
    static const struct {
        const char *key;
        uint64_t m_bits;
        uint32_t k;
        uint64_t positions[12];
    } golden[] = {
        {"", 512, 2, {18, 399}},
        {"a", 512, 2, {0, 295}},
        {"", 512000, 6, {307218, 307217, 307251, 307599, 307609, 307588}},
        {"http://example.org/", 512000, 6, {39677, 39643, 39634, 39897, 39876, 39876}},
        {"key-0000000000000001",
         512000,
         10,
         {233214, 233160, 233204, 233186, 233175, 233360, 233405, 233385, 233345, 233389}},
        {"a", 3584, 12, {2048, 2074, 2111, 2195, 2229, 2181, 2428, 2384, 2409, 2542, 2556, 2530}},
        {"http://example.org/",
         3584,
         12,
         {126, 109, 105, 236, 226, 194, 342, 375, 350, 510, 508, 482}},
    };
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct tamis__segment_header header;
        uint64_t positions[TAMIS_K_MAX];
        fixture_header(&header, TAMIS_KIND_BLOCKED, golden[i].m_bits, golden[i].k);
        header.seed = 0;
        tamis__kind_blocked.positions(&header, golden[i].key, strlen(golden[i].key), positions);
        assert_memory_equal(positions, golden[i].positions, golden[i].k * sizeof positions[0]);
    }
}

CASE(blocked_positions_of_k_40_are_frozen)
{
    static const uint64_t golden[40] = {
        355333120, 355333146, 355333183, 355333126, 355333166, 355333128, 355333169, 355333122,
        355333174, 355333137, 355333267, 355333301, 355333253, 355333308, 355333252, 355333306,
        355333286, 355333257, 355333256, 355333266, 355333500, 355333456, 355333481, 355333493,
        355333444, 355333494, 355333486, 355333455, 355333457, 355333476, 355333614, 355333628,
        355333602, 355333614, 355333611, 355333593, 355333606, 355333582, 355333603, 355333631};
    struct tamis__segment_header header;
    uint64_t positions[40];
    fixture_header(&header, TAMIS_KIND_BLOCKED, 512 << 20, 40);
    header.seed = 0;
    tamis__kind_blocked.positions(&header, "a", 1, positions);
    assert_memory_equal(positions, golden, sizeof golden);
}

/* One line a key: z words of one block, one from each of z groups, q bits in each. */
CASE(blocked_positions_lie_in_one_block_and_a_word_a_group)
{
    uint64_t random = random_seed();
    for (size_t i = 0; i < KS; i++) {
        struct tamis__segment_header header;
        const uint32_t z = tamis__blocked_words(ks[i]), q = ks[i] / z;
        unsigned words_seen = 0;
        fixture_header(&header, TAMIS_KIND_BLOCKED, 512 * 1000, ks[i]);
        for (int key = 0; key < 500; key++) {
            uint64_t positions[TAMIS_K_MAX];
            const uint64_t number = random_next(&random);
            tamis__kind_blocked.positions(&header, &number, sizeof number, positions);
            for (uint32_t j = 0; j < ks[i]; j++) {
                assert_int_equal(positions[j] / 512, positions[0] / 512);
                assert_int_equal(positions[j] / 64, positions[j / q * q] / 64);
                assert_int_equal(positions[j] % 512 / 64 / (8 / z), j / q);
                words_seen |= 1u << (positions[j] % 512 / 64);
            }
        }
        assert_int_equal(words_seen, 0xFF); /* and every word is used */
    }
}

CASE(blocked_single_calls_agree_with_the_model_for_every_k)
{
    for (size_t i = 0; i < KS; i++)
        kinds_check_single_calls(TAMIS_KIND_BLOCKED, 512 * 40, ks[i], 3000);
}

/* Keys for batches of 0, 1, 2, ... to 300, one of each. */
#define KEYS_TO_300 45150u
/* To 200, which is more than twice each depth. */
#define KEYS_TO_200 20100u

/*
 * Under all vector instructions that this machine has, batches of 0 to 300 keys with each variant's
 * own depth, and fewer with the other depths and the other way to fetch.  Seen to fail with the
 * ring as long as the depth, with `answers` written at i instead of i - depth, with place() leaving
 * out the last vector, and with any one of the shifts of lanes_hash8() and of the vectors' place()
 * off by one.
 */
CASE(blocked_batch_calls_agree_with_the_model_for_every_k)
{
    const enum tamis__cpu best = tamis__cpu();
    for (unsigned cpu = 0; cpu < TAMIS__CPU_COUNT; cpu++) {
        if (!tamis__cpu_has((enum tamis__cpu)cpu)) continue;
        tamis__cpu_force((enum tamis__cpu)cpu);
        print_message("with %s\n", tamis_simd());
        for (unsigned depth = 0; depth <= TAMIS__DEPTH_MAX; depth += TAMIS__DEPTH_STEP) {
            tamis__cpu_force_depth(depth);
            tamis__cpu_force_fetch(depth == 0 ? TAMIS__FETCH_NEAR : TAMIS__FETCH_FAR);
            for (size_t i = 0; i < KS; i++)
                kinds_check_batch_calls(TAMIS_KIND_BLOCKED, 512 * 60, ks[i],
                                        depth == 0 ? KEYS_TO_300 : KEYS_TO_200);
        }
    }
    tamis__cpu_force_depth(0);
    tamis__cpu_force_fetch(TAMIS__FETCH_CHOSEN);
    tamis__cpu_force(best);
}

/* Both segments alike: the same answers to batches of every size, and the same bits, as far as they
 * are looked at. */
static void check_lanes8(const struct tamis__segment *plain, const struct tamis__segment *vectors,
                         size_t count)
{
    uint64_t random = random_seed();
    AUTO_KINDS_KEYS keys = kinds_random_keys(&random, count);
    uint8_t told[2][512];
    for (size_t done = 0, size = 0; done + size <= count && size <= 512; done += size, size++)
        for (int adding = 0; adding < 3; adding++) { /* ask, add, ask */
            const struct tamis_key *batch = keys.list + done;
            const size_t ones =
                tamis__blocked_run_portable(plain, batch, NULL, size, told[0], adding == 1, NULL);
            assert_int_equal(
                blocked_run_lanes8(vectors, batch, NULL, size, told[1], adding == 1, NULL), ones);
            assert_memory_equal(told[0], told[1], size);
            if (adding == 2) assert_int_equal(ones, size);
        }
}

/* Seen to fail with any one of the shifts of lanes_hash8() and place() off by one. */
CASE(blocked_loops_with_vectors_of_8_agree_with_the_portable_ones)
{
    for (size_t i = 0; i < KS; i++) {
        struct tamis__segment plain, vectors;
        fixture_segment(&plain, TAMIS_KIND_BLOCKED, 512 * 60, ks[i]);
        fixture_segment(&vectors, TAMIS_KIND_BLOCKED, 512 * 60, ks[i]);
        check_lanes8(&plain, &vectors, KEYS_TO_300);
        assert_memory_equal(plain.data, vectors.data, 60 * 64);
        free(plain.header);
        free(vectors.header);
    }
}

/* As many blocks as the vectors' arithmetic is made for; of the memory only what is touched is
 * there.  Each asks for what the other added. */
CASE(blocked_loops_with_vectors_reach_the_last_of_2_32_blocks)
{
    const uint64_t blocks = UINT32_MAX;
    struct tamis__segment segment;
    fixture_segment(&segment, TAMIS_KIND_BLOCKED, 512, 6);
    uint64_t *small = segment.data;
    segment.data = mmap(NULL, blocks * 64, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (segment.data == MAP_FAILED) {
        segment.data = small;
        free(segment.header);
        cases_skip("so much address space cannot be mapped");
    }
    segment.header->m_bits = blocks * 512;
    uint64_t random = random_seed();
    AUTO_KINDS_KEYS keys = kinds_random_keys(&random, 2000);
    uint8_t told[2000];
    const size_t half = 1000;
    (void)blocked_run_lanes8(&segment, keys.list, NULL, half, told, 1, NULL);
    assert_int_equal(tamis__blocked_run_portable(&segment, keys.list, NULL, half, told, 0, NULL),
                     half);
    (void)tamis__blocked_run_portable(&segment, keys.list + half, NULL, half, told, 1, NULL);
    assert_int_equal(blocked_run_lanes8(&segment, keys.list + half, NULL, half, told, 0, NULL),
                     half);
    assert_int_equal(munmap(segment.data, blocks * 64), 0);
    segment.data = small;
    free(segment.header);
}

/* The first digest of a block, and the last of the block before it: the greatest part of a digest
 * is the same in both, and its low half decides.  Asks for what is there, and for what is next to
 * it. */
static void check_borders(const struct tamis__segment *segment, tamis__blocked_run_fn *fn)
{
    enum { COUNT = 96 };
    struct tamis__digest firsts[COUNT], lasts[COUNT];
    uint8_t told[COUNT];
    uint64_t random = 20261123;
    const uint64_t blocks = segment->header->m_bits / 512;
    for (size_t i = 0; i < COUNT; i++) {
        const uint64_t block = 1 + random_below(&random, blocks - 1);
        const uint64_t low = random_next(&random);
        const uint64_t high = (uint64_t)((((tamis__u128)block << 64) + blocks - 1) / blocks);
        assert_int_equal(tamis__scale(high, blocks), block);
        firsts[i] = (struct tamis__digest){.high = high, .low = low};
        lasts[i] = (struct tamis__digest){.high = high - 1, .low = low};
    }
    (void)tamis__blocked_run_portable(segment, NULL, firsts, COUNT, told, 1, NULL);
    assert_int_equal(fn(segment, NULL, firsts, COUNT, told, 0, NULL), COUNT);
    assert_int_equal(fn(segment, NULL, lasts, COUNT, told, 0, NULL),
                     tamis__blocked_run_portable(segment, NULL, lasts, COUNT, told, 0, NULL));
    (void)fn(segment, NULL, lasts, COUNT, told, 1, NULL);
    assert_int_equal(tamis__blocked_run_portable(segment, NULL, lasts, COUNT, told, 0, NULL),
                     COUNT);
}

/* (Broken: place() leaves the low half of the digest out of the product; random keys meet such a
 * border once in 2^32 / blocks.) */
CASE(blocked_loops_agree_at_the_borders_of_blocks)
{
    static const uint64_t sizes[] = {3, 1000, 12345, ((uint64_t)1 << 20) + 7};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct tamis__segment segment;
        fixture_segment(&segment, TAMIS_KIND_BLOCKED, 512 * sizes[i], 6);
        check_borders(&segment, blocked_run_lanes8);
#ifdef __x86_64__
        if (tamis__cpu_has(TAMIS__CPU_AVX2)) check_borders(&segment, tamis__blocked_run_avx2);
        if (tamis__cpu_has(TAMIS__CPU_AVX512)) check_borders(&segment, tamis__blocked_run_avx512);
#endif
        free(segment.header);
    }
}

/* Segments of different sizes and k, each with some of the keys. */
struct family {
    struct tamis__segment all[TAMIS__TOGETHER_MAX];
    const struct tamis__segment *list[TAMIS__TOGETHER_MAX];
    unsigned count;
};

static void make_family(struct family *family, unsigned count, unsigned different,
                        const struct tamis_key *keys, size_t key_count, uint64_t *random)
{
    uint8_t told[300];
    family->count = count;
    for (unsigned i = 0; i < count; i++) {
        const uint32_t k = ks[(random_below(random, KS) + i * different) % KS];
        fixture_segment(&family->all[i], TAMIS_KIND_BLOCKED, 512 * (1 + random_below(random, 90)),
                        different > 0 ? k : 6);
        family->list[i] = &family->all[i];
        for (size_t j = i; j + 40 <= key_count; j += 200)
            (void)tamis__blocked_run_portable(&family->all[i], keys + j, NULL, 40, told, 1, NULL);
    }
}

/* Asks for a batch in each segment, and for the same in all together, for keys and for digests. */
static void check_together(const struct family *family, tamis__blocked_together_fn *fn,
                           const struct tamis_key *keys, size_t count)
{
    uint8_t each[300], any[300] = {0}, told[301] = {[300] = 77};
    struct tamis__digest kept[300], digests[300];
    size_t ones = 0;
    for (unsigned i = 0; i < family->count; i++) {
        (void)tamis__blocked_run_portable(family->list[i], keys, NULL, count, each, 0, digests);
        for (size_t j = 0; j < count; j++)
            any[j] |= each[j];
    }
    for (size_t j = 0; j < count; j++)
        ones += any[j];
    for (unsigned by_digest = 0; by_digest < 2; by_digest++) {
        memset(told, 77, count + 1);
        memset(kept, 0, sizeof kept);
        assert_int_equal(fn(family->list, family->count, by_digest ? NULL : keys,
                            by_digest ? digests : NULL, count, told, by_digest ? NULL : kept),
                         ones);
        assert_memory_equal(told, any, count);
        assert_int_equal(told[count], 77);
        if (!by_digest) assert_memory_equal(kept, digests, count * sizeof kept[0]);
    }
}

/*
 * Batches of 0 to 300 keys, in 1 to 8 segments of one k and of several.  (Broken: put_together()
 * takes the first k of all; `inside` of another k; the first four segments of a k only; the word of
 * group 3 left out; `old` one too few.)
 */
CASE(blocked_segments_asked_together_answer_as_one_by_one)
{
    tamis__blocked_together_fn *fns[] = {
        blocked_together_lanes8, tamis__blocked_together_portable,
#ifdef __x86_64__
        tamis__cpu_has(TAMIS__CPU_AVX2) ? tamis__blocked_together_avx2 : NULL,
        tamis__cpu_has(TAMIS__CPU_AVX512) ? tamis__blocked_together_avx512 : NULL
#endif
    };
    uint64_t random = random_seed();
    AUTO_KINDS_KEYS keys = kinds_random_keys(&random, 1200);
    for (unsigned segments = 1; segments <= TAMIS__TOGETHER_MAX; segments++)
        for (unsigned different = 0; different < 3; different++) {
            struct family family;
            make_family(&family, segments, different, keys.list, 900, &random);
            for (size_t f = 0; f < sizeof fns / sizeof fns[0]; f++)
                for (size_t size = 0; fns[f] != NULL && size <= 300; size++)
                    check_together(&family, fns[f], keys.list + random_below(&random, 900), size);
            for (unsigned i = 0; i < segments; i++)
                free(family.all[i].header);
        }
}

CASE(blocked_added_keys_are_always_there)
{
    kinds_check_no_false_negative(TAMIS_KIND_BLOCKED, 512 * 2000, 6, 100000);
    kinds_check_no_false_negative(TAMIS_KIND_BLOCKED, 512 * 6000, 12, 100000);
}

CASE(blocked_twice_in_a_batch_only_the_first_is_new)
{
    for (size_t i = 0; i < KS; i++)
        kinds_check_duplicates(TAMIS_KIND_BLOCKED, 512 * 50, ks[i]);
}

CASE(blocked_lone_key_sets_exactly_its_positions)
{
    for (size_t i = 0; i < KS; i++) {
        kinds_check_lone_key_sets_its_positions(TAMIS_KIND_BLOCKED, 512, ks[i]);
        kinds_check_lone_key_sets_its_positions(TAMIS_KIND_BLOCKED, 512 * 999, ks[i]);
    }
}

CASE(blocked_measure_counts_bits_and_tells_the_rate)
{
    kinds_check_measure(TAMIS_KIND_BLOCKED, 512 * 200, 6, 10000);
    kinds_check_measure(TAMIS_KIND_BLOCKED, 512 * 200, 12, 7000);
    kinds_check_measure(TAMIS_KIND_BLOCKED, 512, 2, 60);
}

CASE(blocked_impossible_geometry_is_refused)
{
    struct tamis__segment_header header;
#define REFUSED(change, code, words)                                                               \
    do {                                                                                           \
        fixture_header(&header, TAMIS_KIND_BLOCKED, 512 * 20, 6);                                  \
        change;                                                                                    \
        kinds_check_refused(&header, code, words);                                                 \
    } while (0)
    REFUSED((header.m_bits += 64, header.data_bytes += 8), TAMIS_ECORRUPT, "geometry that no");
    /* Seen to fail where the length alone was looked at, which is that of so many counters. */
    REFUSED((header.counter_bits = 4, header.data_bytes *= 4), TAMIS_ECORRUPT, "has counters");
    REFUSED(header.data_bytes += 8, TAMIS_ECORRUPT, "data of a length that its m contradicts");
    REFUSED(header.m_bits += 512, TAMIS_ECORRUPT, "data of a length that its m contradicts");
    REFUSED(header.m_bits = UINT64_MAX, TAMIS_ECORRUPT, "data of a length that its m contradicts");
    REFUSED(header.words = 4, TAMIS_ECORRUPT, "geometry that no blocked filter has");
    REFUSED(header.words = 0, TAMIS_ECORRUPT, "geometry that no blocked filter has");
    REFUSED(header.k = 7, TAMIS_ECORRUPT, "geometry that no blocked filter has");
    REFUSED(header.k = 12, TAMIS_ECORRUPT, "geometry that no blocked filter has");
    REFUSED(header.hash_set = 2, TAMIS_EVERSION, "hash set that this library does not have");
#undef REFUSED
}
