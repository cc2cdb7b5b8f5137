/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lanes.h: what loops over many keys share: a vector of u64, the digests of a step of keys, and
 * which keys are under way.  It is included once for each kind and set of vector instructions.
 *
 * A key passes three stations: first its digest; then its places, that is, where in the data it is
 * looked for, and for what; then the look at these places.  After the second station its cache
 * lines are prefetched, and `depth` other keys are handled before the third.
 *
 *     a ring of slots   | ... asked |   `depth` keys ahead   | KEYS_A_STEP new ones |
 *                                 ^ probe                    ^ prefetch
 *
 * The work goes in steps of KEYS_A_STEP keys: first all that is arithmetic, then a prefetch and a
 * probe in turn.  A prefetch keeps its place in the reorder buffer until its address is
 * translated, so as many prefetches as possible should stand together.  To prefetch, hash and
 * probe one key after the other leaves three page walks under way where this leaves ten, and
 * takes twice the time (docs/decisions/0017).
 *
 * How many keys should be ahead depends on how many translations of addresses the processor keeps
 * under way.  So each variant has a depth of its own, and some processors have another one, and
 * another cache that lines are fetched into; tests and `tamis-bench --tune` force others
 * (base/cpu.h).
 *
 * A file that includes a loop defines KEYS_AHEAD, its depth, a multiple of KEYS_A_STEP; and
 * KEYS_A_STEP, a multiple of 16 that divides TAMIS__DEPTH_STEP.  It may define, or include
 * lanes_avx512.h, which define LANES, the number of u64 in the type `lanes`; LANES_OF(F), which
 * lists F of each lane's number; lanes_mul32, the products of the low halves; see_nibbles(), which
 * counting_key.h uses; LANES_MUL64, if `*` multiplies lanes in one instruction; and LANES_ROTATE,
 * which rotates lanes to the left.  Without these the code is portable.
 */
#include <string.h>

#include "base/point.h"
#include "kind/block.h"
#include "kind/kind.h"

/* ---- Lanes ----------------------------------------------------------------------------------- */

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

/* As tamis__scale(), for a number below 2^32. */
TAMIS__INLINE lanes lanes_scale(lanes x, uint64_t below)
{
    const lanes by = lanes_all(below);
    return (lanes_mul32(x >> 32, by) + (lanes_mul32(x, by) >> 32)) >> 32;
}

/* The low half of the product of x and a constant, and its high half. */
TAMIS__INLINE lanes lanes_mul128(lanes x, uint64_t by, lanes *high)
{
    const lanes x_high = x >> 32, by_low = lanes_all(by & UINT32_MAX),
                by_high = lanes_all(by >> 32);
    const lanes ll = lanes_mul32(x, by_low), hl = lanes_mul32(x_high, by_low);
    const lanes lh = lanes_mul32(x, by_high), hh = lanes_mul32(x_high, by_high);
    const lanes cross = (ll >> 32) + (hl & UINT32_MAX) + lh;
    *high = hh + (hl >> 32) + (cross >> 32);
    return (cross << 32) | (ll & UINT32_MAX);
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

#endif

/* ---- Keys ahead ------------------------------------------------------------------------------ */

/* The most slots. */
#define RING_SLOTS (TAMIS__DEPTH_MAX + TAMIS__DEPTH_STEP)

_Static_assert((RING_SLOTS & (RING_SLOTS - 1)) == 0 && TAMIS__DEPTH_STEP % KEYS_A_STEP == 0,
               "slots go round in steps");

/* How many keys are ahead, and how many slots they and a step use: a power of 2. */
struct ring {
    unsigned depth, slots;
    bool far; /* tamis__fetch_line() */
};

/* In a short batch half of the keys are ahead of the other half, so that there is work to do while
 * their lines come in. */
TAMIS__INLINE struct ring ring_for(enum tamis__loop loop, const struct tamis__segment *segment,
                                   size_t count)
{
    const struct tamis__pace pace = tamis__cpu_pace(loop, KEYS_AHEAD, segment->header->data_bytes,
                                                    tamis__pages_are_huge(segment));
    const unsigned most = pace.depth;
    const unsigned half = count < 2 * most
                              ? ((unsigned)count / 2 + KEYS_A_STEP - 1) / KEYS_A_STEP * KEYS_A_STEP
                              : most;
    const unsigned depth = half > 0 ? half : KEYS_A_STEP;
    return (struct ring){.depth = depth,
                         .slots =
                             depth + KEYS_A_STEP <= RING_SLOTS / 2 ? RING_SLOTS / 2 : RING_SLOTS,
                         .far = pace.far};
}

/* What a step does: `fresh` slots from `slot` on get the places of new keys and are prefetched; the
 * `old` slots from `asked` on are looked at, for the keys from number `done` on. */
struct stand {
    unsigned slot, asked, fresh, old;
    size_t done;
};

TAMIS__INLINE unsigned at_most(size_t value, unsigned most)
{
    return value < most ? (unsigned)value : most;
}

/* What the step does whose new keys begin with number i. */
TAMIS__INLINE struct stand stand_at(struct ring ring, size_t i, size_t count)
{
    const unsigned slot = (unsigned)i & (ring.slots - 1);
    const size_t done = i >= ring.depth ? i - ring.depth : 0;
    return (struct stand){.slot = slot,
                          .asked = (slot - ring.depth) & (ring.slots - 1),
                          .fresh = i < count ? at_most(count - i, KEYS_A_STEP) : 0,
                          .old = i >= ring.depth ? at_most(count - done, KEYS_A_STEP) : 0,
                          .done = done};
}

/* ---- Digests --------------------------------------------------------------------------------- */

/* The keys of a call. */
struct source {
    struct tamis__digester by;
    const struct tamis_key *keys; /* one of these two is NULL */
    const struct tamis__digest *digests;
    size_t count; /* of either */
};

struct halves {
    _Alignas(64) uint64_t high[KEYS_A_STEP];
    _Alignas(64) uint64_t low[KEYS_A_STEP];
};

/* Keys are hashed in groups of this many: for fewer, vectors do not pay. */
#define GROUP 16u
_Static_assert(KEYS_A_STEP % GROUP == 0, "a step has whole groups");

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
    const lanes a = key ^ lanes_all(FLIP + (seed ^ swapped));
    lanes high, low = lanes_mul128(a, times, &high);
    high += low << 1;
    low ^= high >> 3;
    low ^= low >> 35;
    low = lanes_mul64(low, XXH3_MIX_2);
    high ^= high >> 37;
    high = lanes_mul64(high, XXH3_MIX_1);
    lanes_put(high_out, high ^ high >> 32);
    lanes_put(low_out, low ^ low >> 28);
}

TAMIS__INLINE uint64_t first_word_of(const struct tamis_key *key)
{
    uint64_t value;
    memcpy(&value, key->data, sizeof value);
    return value;
}

TAMIS__INLINE void hash_8_bytes(uint64_t seed, const struct tamis_key *keys, uint64_t *high,
                                uint64_t *low)
{
    TAMIS__POINT_HASHED(GROUP);
#define WORD_OF_LANE(n) first_word_of(&keys[i + (n)])
    for (unsigned i = 0; i < GROUP; i += LANES)
        lanes_hash8((lanes){LANES_OF(WORD_OF_LANE)}, seed, high + i, low + i);
#undef WORD_OF_LANE
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

/* Keys that lie so near each other are in one buffer, of which the processor itself reads ahead. */
#define SAME_BUFFER ((uintptr_t)64 << 10)

/* Prefetches the bytes of a step's keys, which may lie anywhere. */
TAMIS__INLINE void fetch_bytes(const struct tamis_key *keys)
{
    const uintptr_t first = (uintptr_t)keys[0].data, last = (uintptr_t)keys[KEYS_A_STEP - 1].data;
    if (last - first < SAME_BUFFER) return;
    for (unsigned i = 0; i < KEYS_A_STEP; i++)
        tamis__fetch_key(&keys[i]);
}

/* Computes the digests of a step's keys, from number `first` on, or takes the caller's. */
TAMIS__INLINE void halves_of(const struct source *from, size_t first, struct halves *halves)
{
    if (from->keys == NULL) {
        halves_from(from->digests + first, KEYS_A_STEP, halves);
        return;
    }
    /* Reads of 8 bytes need no help: all of a step are under way at once. */
    if (from->keys[first].bytes != 8 && first + 2 * KEYS_A_STEP <= from->count)
        fetch_bytes(from->keys + first + KEYS_A_STEP);
    for (unsigned i = 0; i < KEYS_A_STEP; i += GROUP)
        hash_group(&from->by, from->keys + first + i, halves->high + i, halves->low + i);
}

/* The same for the last step, which has fewer keys.  The lanes that are left of its last vector get
 * 0; nobody asks for these. */
static __attribute__((noinline)) void halves_of_last(const struct source *from, size_t first,
                                                     unsigned count, struct halves *halves)
{
    unsigned i = 0;
    if (from->keys == NULL) {
        halves_from(from->digests + first, count, halves);
        i = count;
    }
    for (; i + GROUP <= count; i += GROUP)
        hash_group(&from->by, from->keys + first + i, halves->high + i, halves->low + i);
    if (i < count)
        hash_any(&from->by, from->keys + first + i, count - i, halves->high + i, halves->low + i);
    for (i = count; i % GROUP != 0; i++)
        halves->high[i] = halves->low[i] = 0;
}

TAMIS__INLINE void take_halves(const struct source *from, size_t first, unsigned count,
                               struct halves *halves)
{
    if (count == KEYS_A_STEP)
        halves_of(from, first, halves);
    else if (count > 0)
        halves_of_last(from, first, count, halves);
}

TAMIS__INLINE void keep_digests(const struct halves *halves, unsigned count,
                                struct tamis__digest *kept)
{
    for (unsigned i = 0; i < count; i++)
        kept[i] = (struct tamis__digest){.high = halves->high[i], .low = halves->low[i]};
}
