/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocked_run.h: the loops over keys of the blocked kind.  The file is included once for each set
 * of vector instructions.
 *
 * A key passes three stations: first its digest; then its places, that is, where its words are and
 * which bits it needs there (place); then the look at the words (test, insert).  After the second
 * station its cache line is prefetched, and `depth` other keys are handled before the third.
 *
 *     places        | ... asked |    in flight, depth   | STEP new ones |      a ring of slots
 *                             ^ probe                 ^ prefetch
 *
 * The work goes in steps of STEP keys: first all that is arithmetic, then a prefetch and a
 * probe in turn.  A prefetch keeps its place in the reorder buffer until its address is
 * translated, so as many prefetches as possible should stand together.  To prefetch, hash and
 * probe one key after the other leaves three page walks in flight where this leaves ten, and
 * takes twice the time (docs/decisions/0017).
 *
 * How many keys should be in flight depends on how many translations of addresses the processor
 * keeps under way.  So each variant has a depth of its own; tests and `tamis-bench --tune` force
 * others (base/cpu.h).
 *
 * A file that includes this one defines RUN and RUN_TOGETHER, the names; DEPTH, a multiple of STEP;
 * and STEP, a multiple of LANES that divides TAMIS__DEPTH_STEP.  It may define LANES, the number of
 * u64 in the type `lanes`; LANES_OF(F), which lists F of each lane's number; lanes_mul32, the
 * products of the low halves; LANES_MUL64, if `*` multiplies lanes in one instruction; and
 * LANES_ROTATE, which rotates lanes to the left.  Without these the code is portable.
 *
 * z and q are constants in each instance of the loops (k tells both, tamis__blocked_words), so the
 * compiler unrolls the masks.
 */
#include <string.h>

#include "base/cpu.h"
#include "base/point.h"
#include "kind/block.h"
#include "kind/blocked.h"
#include "kind/kind.h"

/* The most slots. */
#define RING (TAMIS__DEPTH_MAX + TAMIS__DEPTH_STEP)

_Static_assert((RING & (RING - 1)) == 0 && TAMIS__DEPTH_STEP % STEP == 0,
               "slots go round in steps");

/* Word w of slot s is data[word[w][s]]. */
struct places {
    _Alignas(64) uint64_t word[4][RING];
    _Alignas(64) uint64_t mask[4][RING];
};

/* What the keys of a call have in common. */
struct run {
    const struct tamis__segment *segment;
    unsigned depth, ring; /* keys in flight; slots that are used, a power of 2 */
    uint64_t *data;
    uint64_t blocks;
    struct tamis__digester by;
    const struct tamis_key *keys; /* one of these two is NULL */
    const struct tamis__digest *digests;
    struct tamis__digest *kept; /* NULL, or where those of the keys go */
};

struct halves {
    _Alignas(64) uint64_t high[STEP];
    _Alignas(64) uint64_t low[STEP];
};

/* ---- Digests --------------------------------------------------------------------------------- */

/* Keys are hashed in groups of so many, which is the least that vectors pay for. */
#define GROUP 16u

/* Computes the digests of any keys. */
static __attribute__((noinline)) void hash_any(const struct tamis__digester *by,
                                               const struct tamis_key *keys, unsigned count,
                                               uint64_t *high, uint64_t *low)
{
    for (unsigned i = 0; i < count; i++) {
        const struct tamis__digest d = tamis__digest_by(by, keys[i].data, keys[i].bytes);
        high[i] = d.high;
        low[i] = d.low;
    }
}

/* Are all keys of a group hashed by XXH3 and 8 bytes long?  Many keys are, and cost half of what
 * others do. */
TAMIS__INLINE bool have_8_bytes(const struct tamis__digester *by, const struct tamis_key *keys)
{
    size_t other = by->other != NULL;
    for (unsigned i = 0; i < GROUP; i++)
        other |= keys[i].bytes ^ 8;
    return other == 0;
}

#ifdef LANES

TAMIS__INLINE lanes lanes_all(uint64_t x)
{
    return (lanes){0} + x;
}

/* The low 64 bits of x times a constant. */
TAMIS__INLINE lanes lanes_mul64(lanes x, uint64_t by)
{
#ifdef LANES_MUL64
    return x * lanes_all(by);
#else
    const lanes low = lanes_all(by & UINT32_MAX), high = lanes_all(by >> 32);
    return lanes_mul32(x, low) + ((lanes_mul32(x >> 32, low) + lanes_mul32(x, high)) << 32);
#endif
}

/* 1 << n, where n are the 6 bits of x from bit `from` on. */
TAMIS__INLINE lanes lanes_bit(lanes x, unsigned from)
{
#ifdef LANES_ROTATE
    return LANES_ROTATE(lanes_all(1), x >> from);
#else
    return lanes_all(1) << (x << (58 - from) >> 58);
#endif
}

TAMIS__INLINE lanes lanes_get(const uint64_t *from)
{
    lanes v;
    memcpy(&v, from, sizeof v);
    return v;
}

TAMIS__INLINE void lanes_put(uint64_t *to, lanes v)
{
    memcpy(to, &v, sizeof v);
}

/*
 * XXH3-128 of keys of 8 bytes, by its specification (xxHash, doc/xxhash_spec.md, "XXH3-128, 4 to 8
 * bytes of input"); the secret bytes 16 to 31 are in FLIP.
 */
#define FLIP (0xDB979083E96DD4DEuLL ^ 0x1F67B3B7A4A44072uLL)
#define XXH3_PRIME_1 0x9E3779B185EBCA87uLL
#define XXH3_MIX_1 0x165667919E3779F9uLL
#define XXH3_MIX_2 0x9FB21C651E98DF25uLL

TAMIS__INLINE void lanes_hash8(lanes key, uint64_t seed, uint64_t *high_out, uint64_t *low_out)
{
    const uint64_t swapped = (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
    const uint64_t times = XXH3_PRIME_1 + (8 << 2);
    const lanes a = key ^ lanes_all(FLIP + (seed ^ swapped)), a_high = a >> 32;
    const lanes by_low = lanes_all(times & UINT32_MAX), by_high = lanes_all(times >> 32);
    const lanes ll = lanes_mul32(a, by_low), hl = lanes_mul32(a_high, by_low);
    const lanes lh = lanes_mul32(a, by_high), hh = lanes_mul32(a_high, by_high);
    const lanes cross = (ll >> 32) + (hl & UINT32_MAX) + lh;
    lanes low = (cross << 32) | (ll & UINT32_MAX);
    lanes high = hh + (hl >> 32) + (cross >> 32) + (low << 1);
    low ^= high >> 3;
    low ^= low >> 35;
    low = lanes_mul64(low, XXH3_MIX_2);
    high ^= high >> 37;
    high = lanes_mul64(high, XXH3_MIX_1);
    lanes_put(high_out, high ^ high >> 32);
    lanes_put(low_out, low ^ low >> 28);
}

TAMIS__INLINE uint64_t word_of(const struct tamis_key *key)
{
    uint64_t value;
    memcpy(&value, key->data, sizeof value);
    return value;
}

TAMIS__INLINE void hash_8_bytes(uint64_t seed, const struct tamis_key *keys, uint64_t *high,
                                uint64_t *low)
{
    TAMIS__POINT_HASHED(GROUP);
#define WORD_OF(n) word_of(&keys[i + (n)])
    for (unsigned i = 0; i < GROUP; i += LANES)
        lanes_hash8((lanes){LANES_OF(WORD_OF)}, seed, high + i, low + i);
#undef WORD_OF
}

#else

TAMIS__INLINE void hash_8_bytes(uint64_t seed, const struct tamis_key *keys, uint64_t *high,
                                uint64_t *low)
{
    for (unsigned i = 0; i < GROUP; i++) {
        const struct tamis__digest d = tamis__digest(keys[i].data, 8, seed);
        high[i] = d.high;
        low[i] = d.low;
    }
}

#endif

TAMIS__INLINE void hash_group(const struct tamis__digester *by, const struct tamis_key *keys,
                              uint64_t *high, uint64_t *low)
{
    if (have_8_bytes(by, keys))
        hash_8_bytes(by->seed, keys, high, low);
    else
        hash_any(by, keys, GROUP, high, low);
}

TAMIS__INLINE void halves_from(const struct tamis__digest *digests, unsigned count,
                               struct halves *halves)
{
    for (unsigned i = 0; i < count; i++) {
        halves->high[i] = digests[i].high;
        halves->low[i] = digests[i].low;
    }
}

/* Computes the digests of STEP keys, or takes STEP digests, from number `first` on. */
TAMIS__INLINE void halves_of(const struct run *run, size_t first, struct halves *halves)
{
    if (run->keys == NULL) {
        halves_from(run->digests + first, STEP, halves);
        return;
    }
    for (unsigned i = 0; i < STEP; i += GROUP)
        hash_group(&run->by, run->keys + first + i, halves->high + i, halves->low + i);
}

/* The same for the last keys, fewer than STEP.  What fills their last vector gets 0; nobody asks
 * for these. */
static __attribute__((noinline)) void halves_of_last(const struct run *run, size_t first,
                                                     unsigned count, struct halves *halves)
{
    unsigned i = 0;
    if (run->keys == NULL) {
        halves_from(run->digests + first, count, halves);
        i = count;
    }
    for (; i + GROUP <= count; i += GROUP)
        hash_group(&run->by, run->keys + first + i, halves->high + i, halves->low + i);
    if (i < count)
        hash_any(&run->by, run->keys + first + i, count - i, halves->high + i, halves->low + i);
    for (i = count; i % GROUP != 0; i++)
        halves->high[i] = halves->low[i] = 0;
}

TAMIS__INLINE void take_halves(const struct run *run, size_t first, unsigned count,
                               struct halves *halves)
{
    if (count == STEP)
        halves_of(run, first, halves);
    else if (count > 0)
        halves_of_last(run, first, count, halves);
}

static void keep(const struct halves *halves, unsigned count, struct tamis__digest *kept)
{
    for (unsigned i = 0; i < count; i++)
        kept[i] = (struct tamis__digest){.high = halves->high[i], .low = halves->low[i]};
}

/* ---- Places ---------------------------------------------------------------------------------- */

#ifdef LANES

/* The block of a key, as tamis__scale. */
TAMIS__INLINE lanes lanes_block(lanes high, uint64_t blocks)
{
    const lanes by = lanes_all(blocks);
    return (lanes_mul32(high >> 32, by) + (lanes_mul32(high, by) >> 32)) >> 32;
}

/* Which word of its block word w of a key is, and its mask, as tamis__target_of. */
TAMIS__INLINE lanes lanes_target(lanes low, unsigned w, unsigned z, unsigned q, lanes *mask)
{
    const unsigned word_bits = z == 2 ? 2 : 1;
    const lanes x = lanes_mul64(low, tamis__multipliers[w]);
    *mask = (lanes){0};
    for (unsigned j = 1; j <= q; j++)
        *mask |= lanes_bit(x, 64 - word_bits - 6 * j);
    return (x >> (64 - word_bits)) + w * (TAMIS__BLOCK_WORDS / z);
}

/* Computes the places of the first `count` digests, and of some after these to fill a vector. */
TAMIS__INLINE void place(const struct run *run, const struct halves *halves, unsigned count,
                         struct places *places, unsigned slot, unsigned z, unsigned q)
{
    for (unsigned i = 0; i < count; i += LANES) {
        const lanes high = lanes_get(halves->high + i), low = lanes_get(halves->low + i);
        const lanes first = lanes_block(high, run->blocks) * TAMIS__BLOCK_WORDS;
        for (unsigned w = 0; w < z; w++) {
            lanes mask;
            lanes_put(places->word[w] + slot + i, first + lanes_target(low, w, z, q, &mask));
            lanes_put(places->mask[w] + slot + i, mask);
        }
    }
}

#else

TAMIS__INLINE void place(const struct run *run, const struct halves *halves, unsigned count,
                         struct places *places, unsigned slot, unsigned z, unsigned q)
{
    for (unsigned i = 0; i < count; i++) {
        const uint64_t first = tamis__scale(halves->high[i], run->blocks) * TAMIS__BLOCK_WORDS;
        for (unsigned w = 0; w < z; w++) {
            const struct tamis__target t = tamis__target_of(halves->low[i], w, z, q);
            places->word[w][slot + i] = first + t.word;
            places->mask[w][slot + i] = t.mask;
        }
    }
}

#endif

/* ---- Probes ---------------------------------------------------------------------------------- */

TAMIS__INLINE uint64_t lacking_in(const uint64_t *data, const struct places *p, unsigned slot,
                                  unsigned w)
{
    /* ORDER relaxed: a bit says only "this key may be here"; no other memory is inferred. */
    return p->mask[w][slot] & ~__atomic_load_n(&data[p->word[w][slot]], __ATOMIC_RELAXED);
}

/* The words are tested by hand, as the compiler does not unroll a loop of four here. */
TAMIS__INLINE unsigned test_slot(const uint64_t *data, const struct places *p, unsigned slot,
                                 unsigned z)
{
    uint64_t lacking = lacking_in(data, p, slot, 0) | lacking_in(data, p, slot, 1);
    if (z == 4) lacking |= lacking_in(data, p, slot, 2) | lacking_in(data, p, slot, 3);
    return lacking == 0;
}

TAMIS__INLINE unsigned insert_slot(uint64_t *data, const struct places *p, unsigned slot,
                                   unsigned z)
{
    uint64_t *word[4], mask[4];
    for (unsigned w = 0; w < z; w++) {
        word[w] = &data[p->word[w][slot]];
        mask[w] = p->mask[w][slot];
    }
    return tamis__blocked_insert(word, mask, z);
}

/* Prefetches `fresh` slots from `slot` on, and probes `old` slots from `asked` on. */
TAMIS__INLINE size_t turn(uint64_t *data, const struct places *p, unsigned slot, unsigned asked,
                          unsigned fresh, unsigned old, uint8_t *answers, int adding, unsigned z)
{
    const unsigned both = fresh > old ? fresh : old;
    size_t ones = 0;
    for (unsigned i = 0; i < both; i++) {
        if (i < fresh) __builtin_prefetch(&data[p->word[0][slot + i]], 0, 3);
        if (i >= old) continue;
        const unsigned one =
            adding ? insert_slot(data, p, asked + i, z) : test_slot(data, p, asked + i, z);
        answers[i] = (uint8_t)one;
        ones += one;
    }
    return ones;
}

/* ---- The loop -------------------------------------------------------------------------------- */

TAMIS__INLINE unsigned at_most(size_t value, unsigned most)
{
    return value < most ? (unsigned)value : most;
}

TAMIS__INLINE size_t loop(const struct run *run, size_t count, uint8_t *answers, int adding,
                          unsigned z, unsigned q)
{
    struct places places;
    struct halves halves;
    const unsigned depth = run->depth, last_slot = run->ring - 1;
    size_t ones = 0, counted = 0;
    for (size_t i = 0; i < count + depth; i += STEP) {
        const unsigned slot = (unsigned)i & last_slot, asked = (slot - depth) & last_slot;
        const unsigned fresh = i < count ? at_most(count - i, STEP) : 0;
        const unsigned old = i >= depth ? at_most(count - (i - depth), STEP) : 0;
        take_halves(run, i, fresh, &halves);
        if (!adding && fresh > 0 && run->kept != NULL) keep(&halves, fresh, run->kept + i);
        if (fresh > 0) place(run, &halves, fresh, &places, slot, z, q);
        uint8_t *told = answers + (old > 0 ? i - depth : 0);
        if (fresh == STEP && old == STEP)
            ones += turn(run->data, &places, slot, asked, STEP, STEP, told, adding, z);
        else
            ones += turn(run->data, &places, slot, asked, fresh, old, told, adding, z);
        if (adding && i % TAMIS__KEYS_A_COUNT == 0)
            counted = tamis__count_new(run->segment, ones, counted);
    }
    if (adding) (void)tamis__count_new(run->segment, ones, counted);
    return ones;
}

TAMIS__INLINE size_t loop_of(const struct run *run, size_t count, uint8_t *answers, int adding)
{
    switch (run->segment->header->k) {
#define CASE(k, z, q)                                                                              \
    case k:                                                                                        \
        return loop(run, count, answers, adding, z, q);
        TAMIS__FOR_EACH_K(CASE)
#undef CASE
    default:
        return 0;
    }
}

size_t RUN(const struct tamis__segment *segment, const struct tamis_key *keys,
           const struct tamis__digest *digests, size_t count, uint8_t *answers, int adding,
           struct tamis__digest *kept)
{
    const unsigned most = tamis__cpu_depth(DEPTH);
    /* In a short batch half of the keys are in flight, so that the other half is not waited for. */
    const unsigned half = count < 2 * most ? ((unsigned)count / 2 + STEP - 1) / STEP * STEP : most;
    const unsigned depth = half > 0 ? half : STEP;
    const struct run run = {.segment = segment,
                            .depth = depth,
                            .ring = depth + STEP <= RING / 2 ? RING / 2 : RING,
                            .data = segment->data,
                            .blocks = segment->header->m_bits / TAMIS__BLOCK_BITS,
                            .by = tamis__header_digester(segment->header),
                            .keys = keys,
                            .digests = digests,
                            .kept = kept};
    if (count == 0) return 0;
    return adding ? loop_of(&run, count, answers, 1) : loop_of(&run, count, answers, 0);
}

#include "kind/blocked_together.h"
