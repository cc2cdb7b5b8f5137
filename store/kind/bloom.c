/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bloom.c: the classic Bloom filter (Bloom 1970), k positions over all m bits, shared by atomics.
 *
 * It costs k cache lines a key where the blocked kind costs one, and needs the fewest bits.  Its
 * main use is to be, bit for bit, the same as the filter of another system.
 *
 * add follows the last-missing-word rule (docs/concurrency.md) with single bits for words, in the
 * order of the hash set.  Only this kind can have a position twice for one key.  The second OR of
 * such a position never changes anything, so the rule is applied to the distinct positions, each
 * standing where it occurs first.  The answer is then that of the OR on the last lacking position
 * that no earlier lacking one repeats.  (If the last OR were taken as it is, a key whose last
 * position repeats would never be new; the model shows it.)
 *
 * What the hash set calls position b is bit b of the little-endian words below.  If the segment's
 * bit order has the most significant bit of each byte first, it is bit b XOR 7.  locate() makes
 * this change, and nothing after it knows of bit orders.
 */
#include <math.h>

#include "hash/hash_set.h"
#include "hash/progression.h"
#include "hash/xxh3.h"
#include "kind/block.h"
#include "kind/kind.h"
#include "kind/points.h"

/* Cache lines that are fetched ahead; a key needs k of them.  More would push each other out of the
 * first cache: at 120 MiB and k = 7 a query costs 60 ns with 84 lines, 64 with 112, 70 with 224. */
#define LINES_AHEAD 84u
_Static_assert(LINES_AHEAD <= TAMIS__DEPTH_MAX, "the ring has room for them");

/* In a list of segments, most segments that are asked for a key do not have it, and lack one of its
 * first bits.  So these bits of all keys are looked at first, SIEVE_KEYS keys at a time. */
#define SIEVE_BITS 2u
#define SIEVE_KEYS 512u
#define SIEVE_MIN 16u /* fewer keys are asked for with all of their bits */

/* Where the positions of a key come from: from XXH3; from XXH3, and the digest is kept; from the
 * table of hash sets; from a digest that the caller has; from a pair, which the loop makes of the
 * key, or the caller has. */
enum source { XXH3_KEYS, XXH3_KEPT, TABLE_KEYS, DIGESTS, PAIRED_KEYS, PAIRS };

/* Pairs that the loop makes at once. */
#define PAIRS_AT_ONCE 16u

/* What all keys of a call have in common. */
struct frame {
    uint64_t *data;
    uint64_t m_bits;
    uint64_t seed;
    uint64_t flip; /* XOR for the bit order */
    bool far;      /* tamis__fetch_line(); the loop sets it */
    struct tamis__hashing hashing;
    struct tamis__progression progression; /* from pair to positions */
    const struct tamis_key *keys;
    const struct tamis__digest *digests;
    struct tamis__digest *kept; /* for XXH3_KEPT */
};

/* Computes the positions as the hash set gives them, whatever the bit order. */
static void positions_of(const struct tamis__segment_header *header, const void *key,
                         size_t key_bytes, uint64_t *positions)
{
    const struct tamis__hashing hashing = tamis__header_hashing(header);
    hashing.set->positions(&hashing, key, key_bytes, positions);
}

/* Called for every single key. */
static bool has_pairs(const struct tamis__segment_header *header)
{
    return tamis__hash_set_by_id(header->hash_set)->pair != NULL;
}

/* xxh3 is called directly; other sets go through their table. */
static enum source source_of(const struct tamis__segment_header *header)
{
    if (has_pairs(header)) return PAIRED_KEYS;
    return header->hash_set == TAMIS__HASH_XXH3 && header->bit_order == TAMIS__BITS_LSB_FIRST
               ? XXH3_KEYS
               : TABLE_KEYS;
}

TAMIS__INLINE struct frame frame_of(const struct tamis__segment *segment, enum source source)
{
    const struct tamis__segment_header *h = segment->header;
    struct frame frame = {.data = segment->data,
                          .m_bits = h->m_bits,
                          .seed = h->seed,
                          .flip = h->bit_order == TAMIS__BITS_MSB_FIRST ? 7 : 0};
    if (source == TABLE_KEYS || source == PAIRED_KEYS) frame.hashing = tamis__header_hashing(h);
    if (source == PAIRED_KEYS || source == PAIRS)
        frame.progression =
            tamis__progression(h->m_bits, tamis__hash_set_by_id(h->hash_set)->pair_mask);
    return frame;
}

TAMIS__INLINE void walk(const struct frame *frame, struct tamis__digest digest, uint64_t *positions,
                        uint32_t k)
{
    struct tamis__walk at = tamis__walk_start(digest);
    for (uint32_t i = 0; i < k; i++)
        positions[i] = tamis__walk_next(&at, frame->m_bits);
}

/* The flip is not a loop of its own: the compiler would take two positions at once for it, which
 * the processor cannot load before the stores of both are done. */
TAMIS__INLINE void walk_pair(const struct frame *frame, struct tamis__digest pair,
                             uint64_t *positions, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++, pair.high += pair.low)
        positions[i] = tamis__progression_at(&frame->progression, pair.high) ^ frame->flip;
}

/* Computes the positions of key i. */
TAMIS__INLINE void locate(const struct frame *frame, size_t i, uint64_t *positions, uint32_t k,
                          enum source source)
{
    if (source == XXH3_KEYS || source == XXH3_KEPT) {
        const struct tamis_key key = frame->keys[i];
        const struct tamis__digest digest = tamis__digest_at_once(key.data, key.bytes, frame->seed);
        if (source == XXH3_KEPT) frame->kept[i] = digest;
        walk(frame, digest, positions, k);
        return;
    }
    if (source == PAIRED_KEYS || source == PAIRS) {
        walk_pair(frame, frame->digests[source == PAIRS ? i : i % PAIRS_AT_ONCE], positions, k);
        return;
    }
    if (source == DIGESTS) {
        walk(frame, frame->digests[i], positions, k);
    } else {
        /* A set that has digests counts the hash where it makes one. */
        TAMIS__POINT_HASHED(frame->hashing.set->digest == NULL);
        frame->hashing.set->positions(&frame->hashing, frame->keys[i].data, frame->keys[i].bytes,
                                      positions);
    }
    for (uint32_t j = 0; j < k; j++)
        positions[j] ^= frame->flip;
}

/* Makes the pairs of the next keys, from key i on. */
static void make_pairs(const struct frame *frame, size_t i, size_t count,
                       struct tamis__digest *pairs)
{
    const struct tamis__hash_set *set = frame->hashing.set;
    const struct tamis_key *keys = frame->keys + i;
    const size_t left = count - i, now = left < PAIRS_AT_ONCE ? left : PAIRS_AT_ONCE;
    for (size_t j = now; j < left && j < 2 * PAIRS_AT_ONCE; j++)
        tamis__fetch_key(&keys[j]);
    if (set->pairs != NULL)
        set->pairs(keys, now, pairs);
    else
        for (size_t j = 0; j < now; j++)
            pairs[j] = set->pair(keys[j].data, keys[j].bytes, NULL);
}

/* Are all bits of a key set?  There is no branch on the bits: it would be mispredicted on the line
 * that comes last, and what was to be fetched behind it would wait. */
TAMIS__INLINE unsigned test_positions(const uint64_t *data, const uint64_t *positions, uint32_t k)
{
    uint64_t all = 1;
    for (uint32_t i = 0; i < k; i++)
        /* ORDER relaxed: a bit says only "this key may be here"; no other memory is inferred. */
        all &= __atomic_load_n(&data[positions[i] / 64], __ATOMIC_RELAXED) >> (positions[i] % 64);
    return (unsigned)(all & 1);
}

/* Returns the last of the lacking positions that none before it repeats.  There is
 * one: the first. */
static unsigned last_distinct(const uint64_t *lacking, unsigned count)
{
    for (unsigned last = count - 1;; last--) {
        unsigned earlier = 0;
        while (earlier < last && lacking[earlier] != lacking[last])
            earlier++;
        if (earlier == last) return last;
    }
}

TAMIS__INLINE void fetch_lines(const struct frame *frame, const uint64_t *positions, uint32_t from,
                               uint32_t k, bool to_write)
{
    for (uint32_t i = from; i < k; i++)
        if (to_write)
            tamis__fetch_line_to_write(&frame->data[positions[i] / 64], frame->far);
        else
            tamis__fetch_line(&frame->data[positions[i] / 64], frame->far);
}

/* Sets the bits of a key.  Returns 1 if the key is new.  `next`, unless NULL, are the positions of
 * another key.  Its lines are fetched between the ORs, so that these waits overlap. */
TAMIS__INLINE unsigned insert_positions(const struct frame *frame, const uint64_t *positions,
                                        const uint64_t *next, uint32_t k)
{
    uint64_t *data = frame->data, lacking[TAMIS_K_MAX];
    uint64_t changed = 0; /* bit i for lacking[i]; k <= 64 */
    unsigned count = 0;
    for (uint32_t i = 0; i < k; i++) {
        const uint64_t position = positions[i];
        lacking[count] = position;
        /* ORDER acquire: pairs with the release below; see blocked.h. */
        count += !(__atomic_load_n(&data[position / 64], __ATOMIC_ACQUIRE) >> (position % 64) & 1);
        TAMIS__POINT(TAMIS__POINT_ADD_LOADED);
    }
    for (unsigned i = 0; i < count; i++) {
        const uint64_t mask = (uint64_t)1 << (lacking[i] % 64);
        const uint64_t old = __atomic_fetch_or(&data[lacking[i] / 64], mask, __ATOMIC_RELEASE);
        if (!(old & mask)) changed |= (uint64_t)1 << i;
        TAMIS__POINT(TAMIS__POINT_ADD_ORED);
        if (next != NULL) fetch_lines(frame, next, i, i + 1, true);
    }
    if (next != NULL) fetch_lines(frame, next, count, k, true);
    if (count == 0) return 0;
    if (TAMIS__ANY_BIT_RULE) return changed != 0;
    if (changed >> (count - 1) & 1) return 1; /* so no earlier one was the same */
    return changed >> last_distinct(lacking, count) & 1;
}

/*
 * The loop of the batch calls: it locates a key and fetches its lines, while it probes the oldest
 * of the keys that were located before.  The ring holds as many keys as have so many lines as are
 * ahead, at least one key, and one more; `next` is the place of the next key, and the oldest is
 * behind it.  k and source are constants where it pays.
 */
TAMIS__INLINE size_t bloom_run(const struct tamis__segment *segment, const struct frame *given,
                               size_t count, uint8_t *answers, bool adding, uint32_t k,
                               enum source source)
{
    struct tamis__digest pairs[PAIRS_AT_ONCE];
    struct frame frame = *given; /* so that it stays in registers */
    const struct tamis__pace pace =
        tamis__cpu_pace(TAMIS__LOOP_BLOOM, LINES_AHEAD, segment->header->data_bytes,
                        tamis__pages_are_huge(segment));
    const size_t ahead = pace.depth > k ? pace.depth / k : 1, head = count < ahead ? count : ahead;
    uint64_t ring[TAMIS__DEPTH_MAX + TAMIS_K_MAX];
    uint64_t *const end = ring + (head + 1) * k, *next = ring;
    size_t ones = 0, counted = 0;
    frame.far = pace.far;
    if (source == PAIRED_KEYS) frame.digests = pairs;
    for (size_t i = 0; i < head; i++, next += k) {
        if (source == PAIRED_KEYS && i % PAIRS_AT_ONCE == 0) make_pairs(&frame, i, count, pairs);
        locate(&frame, i, next, k, source);
        fetch_lines(&frame, next, 0, k, adding);
    }
    for (size_t i = head; i < count + head; i++) {
        uint64_t *oldest = next + k == end ? ring : next + k;
        unsigned one;
        if (i < count) {
            if ((source == XXH3_KEYS || source == TABLE_KEYS) && i + TAMIS__FETCH_AHEAD < count)
                tamis__fetch_key(&frame.keys[i + TAMIS__FETCH_AHEAD]);
            if (source == PAIRED_KEYS && i % PAIRS_AT_ONCE == 0)
                make_pairs(&frame, i, count, pairs);
            locate(&frame, i, next, k, source);
            if (!adding) fetch_lines(&frame, next, 0, k, false);
        }
        if (adding)
            one = insert_positions(&frame, oldest, i < count ? next : NULL, k);
        else
            one = test_positions(frame.data, oldest, k);
        answers[i - head] = (uint8_t)one;
        ones += one;
        if (adding && i % TAMIS__KEYS_A_COUNT == 0)
            counted = tamis__count_new(segment, ones, counted);
        next = oldest;
    }
    if (adding) (void)tamis__count_new(segment, ones, counted);
    return ones;
}

/* There are instances for the k of 1e-2 and 1e-3, and of RedisBloom's first layer at 1e-2.  The
 * others have a variable k, which costs 4 ns in cache. */
TAMIS__INLINE size_t bloom_run_k(const struct tamis__segment *segment, const struct frame *frame,
                                 size_t count, uint8_t *answers, bool adding, enum source source)
{
    const uint32_t k = segment->header->k;
    if (k == 7) return bloom_run(segment, frame, count, answers, adding, 7, source);
    if (k == 10) return bloom_run(segment, frame, count, answers, adding, 10, source);
    if (k == 8 && (source == PAIRED_KEYS || source == PAIRS))
        return bloom_run(segment, frame, count, answers, adding, 8, source);
    return bloom_run(segment, frame, count, answers, adding, k, source);
}

TAMIS__INLINE size_t bloom_run_keys(const struct tamis__segment *segment,
                                    const struct tamis_key *keys, size_t count, uint8_t *answers,
                                    bool adding)
{
    const enum source source = source_of(segment->header);
    struct frame frame = frame_of(segment, source);
    frame.keys = keys;
    if (source == XXH3_KEYS) return bloom_run_k(segment, &frame, count, answers, adding, XXH3_KEYS);
    if (source == PAIRED_KEYS)
        return bloom_run_k(segment, &frame, count, answers, adding, PAIRED_KEYS);
    return bloom_run(segment, &frame, count, answers, adding, segment->header->k, TABLE_KEYS);
}

static int64_t bloom_add_batch(const struct tamis__segment *segment, const struct tamis_key *keys,
                               size_t count, uint8_t *answers)
{
    return (int64_t)bloom_run_keys(segment, keys, count, answers, true);
}

static size_t bloom_contains_batch(const struct tamis__segment *segment,
                                   const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    return bloom_run_keys(segment, keys, count, answers, false);
}

/* As bloom_run_keys(), for digests or pairs that the caller has. */
TAMIS__INLINE size_t bloom_run_digests(const struct tamis__segment *segment,
                                       const struct tamis__digest *digests, size_t count,
                                       uint8_t *answers, bool adding)
{
    const enum source source = has_pairs(segment->header) ? PAIRS : DIGESTS;
    struct frame frame = frame_of(segment, source);
    frame.digests = digests;
    if (source == DIGESTS) return bloom_run_k(segment, &frame, count, answers, adding, DIGESTS);
    return bloom_run_k(segment, &frame, count, answers, adding, PAIRS);
}

static int64_t bloom_add_digests(const struct tamis__segment *segment,
                                 const struct tamis__digest *digests, size_t count,
                                 uint8_t *answers)
{
    return (int64_t)bloom_run_digests(segment, digests, count, answers, true);
}

/* Asks again for the keys whose answer is 1. */
static size_t ask_again(const struct tamis__segment *segment, const struct tamis__digest *digests,
                        size_t count, uint8_t *answers)
{
    struct tamis__digest some[SIEVE_KEYS];
    uint16_t index[SIEVE_KEYS];
    uint8_t told[SIEVE_KEYS];
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        some[left] = digests[i]; /* no branch: any number may be left */
        index[left] = (uint16_t)i;
        left += answers[i] != 0;
    }
    const size_t ones = bloom_run_digests(segment, some, left, told, false);
    for (size_t i = 0; i < left; i++)
        answers[index[i]] = told[i];
    return ones;
}

static size_t bloom_contains_digests(const struct tamis__segment *segment,
                                     const struct tamis__digest *digests, size_t count,
                                     uint8_t *answers)
{
    return bloom_run_digests(segment, digests, count, answers, false);
}

TAMIS__INLINE size_t bloom_sieve(const struct tamis__segment *segment,
                                 const struct tamis__digest *digests, size_t count,
                                 uint8_t *answers, enum source source)
{
    struct frame frame = frame_of(segment, source);
    size_t ones = 0;
    for (size_t done = 0; done < count; done += SIEVE_KEYS) {
        const size_t now = count - done < SIEVE_KEYS ? count - done : SIEVE_KEYS;
        frame.digests = digests + done;
        if (bloom_run(segment, &frame, now, answers + done, false, SIEVE_BITS, source) > 0)
            ones += ask_again(segment, frame.digests, now, answers + done);
    }
    return ones;
}

static size_t bloom_contains_few(const struct tamis__segment *segment,
                                 const struct tamis__digest *digests, size_t count,
                                 uint8_t *answers)
{
    if (count < SIEVE_MIN || segment->header->k <= SIEVE_BITS)
        return bloom_run_digests(segment, digests, count, answers, false);
    if (has_pairs(segment->header)) return bloom_sieve(segment, digests, count, answers, PAIRS);
    return bloom_sieve(segment, digests, count, answers, DIGESTS);
}

static size_t bloom_contains_keeping(const struct tamis__segment *segment,
                                     const struct tamis_key *keys, size_t count,
                                     struct tamis__digest *digests, uint8_t *answers)
{
    const enum source source = source_of(segment->header);
    struct frame frame = frame_of(segment, source);
    frame.keys = keys;
    if (source == PAIRED_KEYS) {
        for (size_t i = 0; i < count; i += PAIRS_AT_ONCE)
            make_pairs(&frame, i, count, digests + i);
        return bloom_run_digests(segment, digests, count, answers, false);
    }
    if (source != XXH3_KEYS) {
        const struct tamis__digester by = tamis__header_digester(segment->header);
        for (size_t i = 0; i < count; i++)
            digests[i] = tamis__digest_by(&by, keys[i].data, keys[i].bytes);
        return bloom_run_digests(segment, digests, count, answers, false);
    }
    frame.kept = digests;
    return bloom_run_k(segment, &frame, count, answers, false, XXH3_KEPT);
}

/* What a single call does with the positions of a key. */
enum deed { ADD, ASK, FETCH };

TAMIS__INLINE int do_located_k(const struct tamis__segment *segment, struct tamis__digest digest,
                               enum source source, enum deed deed, uint32_t k)
{
    uint64_t positions[TAMIS_K_MAX];
    struct frame frame = frame_of(segment, source);
    frame.digests = &digest;
    locate(&frame, 0, positions, k, source);
    if (deed == ADD) return (int)insert_positions(&frame, positions, NULL, k);
    if (deed == ASK) return (int)test_positions(frame.data, positions, k);
    fetch_lines(&frame, positions, 0, k, false);
    return 0;
}

/* For one digest or pair.  The k of 1e-2, which for RedisBloom's first layer is 8, has an instance:
 * with it bloom_fetch() takes 164 instructions in place of 352, contains_pair() 218 in place of 273
 * (callgrind). */
TAMIS__INLINE int do_located(const struct tamis__segment *segment, struct tamis__digest digest,
                             enum source source, enum deed deed)
{
    const uint32_t k = segment->header->k, usual = source == PAIRS ? 8 : 7;
    if (k == usual) return do_located_k(segment, digest, source, deed, usual);
    return do_located_k(segment, digest, source, deed, k);
}

static int add_digest(const struct tamis__segment *segment, struct tamis__digest digest)
{
    return do_located(segment, digest, DIGESTS, ADD);
}

static int contains_digest(const struct tamis__segment *segment, struct tamis__digest digest)
{
    return do_located(segment, digest, DIGESTS, ASK);
}

static int add_pair(const struct tamis__segment *segment, struct tamis__digest pair)
{
    return do_located(segment, pair, PAIRS, ADD);
}

static int contains_pair(const struct tamis__segment *segment, struct tamis__digest pair)
{
    return do_located(segment, pair, PAIRS, ASK);
}

static const struct tamis__by_digest *bloom_by_digest(const struct tamis__segment_header *header)
{
    static const struct tamis__by_digest digests = {.add = add_digest, .contains = contains_digest};
    static const struct tamis__by_digest pairs = {.add = add_pair, .contains = contains_pair};
    return has_pairs(header) ? &pairs : &digests;
}

/* For one key of a hash set that has neither digests nor pairs. */
static int do_keyed(const struct tamis__segment *segment, const struct tamis_key *key,
                    enum deed deed)
{
    uint64_t positions[TAMIS_K_MAX];
    const uint32_t k = segment->header->k;
    struct frame frame = frame_of(segment, TABLE_KEYS);
    frame.keys = key;
    locate(&frame, 0, positions, k, TABLE_KEYS);
    if (deed == ADD) return (int)insert_positions(&frame, positions, NULL, k);
    if (deed == ASK) return (int)test_positions(frame.data, positions, k);
    fetch_lines(&frame, positions, 0, k, false);
    return 0;
}

TAMIS__INLINE int do_one(const struct tamis__segment *segment, const void *key, size_t key_bytes,
                         enum deed deed)
{
    const struct tamis__segment_header *h = segment->header;
    const struct tamis_key one = {key, key_bytes};
    const enum source source = source_of(h);
    if (source == XXH3_KEYS)
        return do_located(segment, tamis__digest_at_once(key, key_bytes, h->seed), DIGESTS, deed);
    if (source == PAIRED_KEYS)
        return do_located(segment, tamis__hash_set_by_id(h->hash_set)->pair(key, key_bytes, NULL),
                          PAIRS, deed);
    return do_keyed(segment, &one, deed);
}

static int bloom_add(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    return do_one(segment, key, key_bytes, ADD);
}

static int bloom_contains(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    return do_one(segment, key, key_bytes, ASK);
}

static void bloom_fetch(const struct tamis__segment *segment, const void *key, size_t key_bytes)
{
    (void)do_one(segment, key, key_bytes, FETCH);
}

static int bloom_check(const struct tamis__segment_header *header, const char **reason)
{
    const int rc = tamis__check_bits(header, reason);
    if (rc < 0) return rc;
    *reason = "has a geometry that no bloom filter has";
    if (header->words != 0) return TAMIS_ECORRUPT;
    return tamis__check_hash_set(header, reason);
}

static void bloom_measure(const struct tamis__segment *segment, uint64_t *ones, double *fp_rate)
{
    const struct tamis__segment_header *h = segment->header;
    *ones = 0;
    for (uint64_t i = 0; i < h->data_bytes / 8; i++) { /* ORDER relaxed: as test_positions() */
        if (i % TAMIS__WANT_WORDS == 0) tamis__segment_want(segment, i * 8, TAMIS__WANT_BYTES);
        *ones +=
            (unsigned)__builtin_popcountll(__atomic_load_n(&segment->data[i], __ATOMIC_RELAXED));
    }
    const struct tamis__hashing hashing = tamis__header_hashing(h);
    const struct tamis__load load = {.share = (double)*ones / (double)h->m_bits,
                                     .items =
                                         tamis__estimate_items(h->kind, h->m_bits, h->k, *ones)};
    *fp_rate = fmin(1, pow(load.share, h->k) + tamis__hashing_repeats(&hashing, load));
}

const struct tamis__kind tamis__kind_bloom = {
    .id = TAMIS_KIND_BLOOM,
    .check = bloom_check,
    .add = bloom_add,
    .contains = bloom_contains,
    .fetch = bloom_fetch,
    .add_batch = bloom_add_batch,
    .contains_batch = bloom_contains_batch,
    .add_digests = bloom_add_digests,
    .contains_digests = bloom_contains_digests,
    .contains_few = bloom_contains_few,
    .by_digest = bloom_by_digest,
    .contains_keeping = bloom_contains_keeping,
    .positions = positions_of,
    .measure = bloom_measure,
    .merge = tamis__bits_merge,
    .tally = tamis__bits_tally,
};
