/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocked_together.h: asks several segments at once for the same keys; a part of blocked_run.h.
 *
 * A key that is absent must be asked for in every segment of a list.  Asked for in one segment
 * after the other, it passes all stations of the loop in each.  Here it is hashed once.  Segments
 * of the same k look for the same bits in the same words of their blocks, so these are computed
 * once too; only the block is another in each.  The lines of a key are prefetched together.
 *
 * With AVX-512 (LANES_BLOCK) a block is one vector.  The masks of a key are put where its words
 * are, once for all segments, and each segment then costs one read and one comparison.
 */

/* Keys ahead (lanes.h); they and the new ones of a step have a slot each. */
#define TOGETHER_DEPTH 32u
#define TOGETHER_RING 64u

_Static_assert(TOGETHER_DEPTH % KEYS_A_STEP == 0 && TOGETHER_DEPTH + KEYS_A_STEP <= TOGETHER_RING,
               "slots go round in steps");

/* Data of up to this size are in a near cache, so to prefetch them gains nothing. */
#define TOGETHER_NEAR ((uint64_t)32 << 10)

/* Segments of one k.  In slot i of them, word w of the key is `inside[w][i]` bytes behind the
 * beginning of its block (with LANES_BLOCK it is a bit that stands for the word), and the block in
 * segment s begins at `block[s][i]`. */
struct alike {
    unsigned k, count;
    unsigned apart; /* how many are larger than TOGETHER_NEAR: the first ones, as the largest are */
    bool far;       /* tamis__fetch_line() */
    uint64_t blocks[TAMIS__TOGETHER_MAX];
    const uint64_t *data[TAMIS__TOGETHER_MAX];
    uint64_t (*block)[TOGETHER_RING];
    uint64_t (*inside)[TOGETHER_RING];
    uint64_t (*mask)[TOGETHER_RING];
};

struct together {
    struct alike alike[TAMIS__TOGETHER_MAX];
    unsigned count;
    _Alignas(64) uint64_t blocks[TAMIS__TOGETHER_MAX][TOGETHER_RING];
    _Alignas(64) uint64_t inside[TAMIS__TOGETHER_MAX][4][TOGETHER_RING];
    _Alignas(64) uint64_t masks[TAMIS__TOGETHER_MAX][4][TOGETHER_RING];
};

/* A processor that has room for more lines on their way into its second cache is given them there,
 * whatever the size of the data: here each key has several lines. */
static bool fetches_far(void)
{
    return tamis__cpu_pace(TAMIS__LOOP_BLOCKED, TOGETHER_DEPTH, UINT64_MAX, false).far;
}

/* Puts the segments into groups of one k, the larger ones first: the list has the older segments
 * first, which are the smaller ones. */
static void put_together(struct together *t, const struct tamis__segment *const *segments,
                         unsigned count)
{
    unsigned done = 0;
    t->count = 0;
    for (unsigned k = 1; done < count; k++) {
        struct alike *alike = &t->alike[t->count];
        *alike = (struct alike){.k = k,
                                .far = fetches_far(),
                                .block = &t->blocks[done],
                                .inside = t->inside[t->count],
                                .mask = t->masks[t->count]};
        for (unsigned i = count; i-- > 0;) {
            const struct tamis__segment_header *header = segments[i]->header;
            if (header->k != k) continue;
            alike->blocks[alike->count] = header->m_bits / TAMIS__BLOCK_BITS;
            alike->data[alike->count++] = segments[i]->data;
            if (header->data_bytes > TOGETHER_NEAR) alike->apart = alike->count;
        }
        done += alike->count;
        t->count += alike->count > 0;
    }
}

#ifdef LANES

TAMIS__INLINE void place_alike(const struct alike *given, const struct halves *halves,
                               unsigned count, unsigned slot, unsigned z, unsigned q)
{
    const struct alike alike = *given;
    for (unsigned i = 0; i < count; i += LANES) {
        const lanes high = lanes_get(halves->high + i), low = lanes_get(halves->low + i);
        for (unsigned w = 0; w < z; w++) {
            lanes mask;
            const lanes word = lanes_target(low, w, z, q, &mask);
#ifdef LANES_BLOCK
            lanes_put(alike.inside[w] + slot + i, lanes_all(1) << word);
#else
            lanes_put(alike.inside[w] + slot + i, word * 8);
#endif
            lanes_put(alike.mask[w] + slot + i, mask);
        }
        for (unsigned s = 0; s < alike.count; s++)
            lanes_put(alike.block[s] + slot + i,
                      lanes_scale(high, alike.blocks[s]) * (TAMIS__BLOCK_BITS / 8) +
                          (uintptr_t)alike.data[s]);
    }
}

#else

TAMIS__INLINE void place_alike(const struct alike *alike, const struct halves *halves,
                               unsigned count, unsigned slot, unsigned z, unsigned q)
{
    for (unsigned i = 0; i < count; i++) {
        for (unsigned w = 0; w < z; w++) {
            const struct tamis__target t = tamis__target_of(halves->low[i], w, z, q);
            alike->inside[w][slot + i] = t.word * 8;
            alike->mask[w][slot + i] = t.mask;
        }
        for (unsigned s = 0; s < alike->count; s++)
            alike->block[s][slot + i] =
                (uintptr_t)(alike->data[s] +
                            tamis__scale(halves->high[i], alike->blocks[s]) * TAMIS__BLOCK_WORDS);
    }
}

#endif

static void place_together(const struct together *t, const struct halves *halves, unsigned count,
                           unsigned slot)
{
    for (unsigned i = 0; i < t->count; i++)
        switch (t->alike[i].k) {
#define CASE_PLACE(k, z, q)                                                                        \
    case k:                                                                                        \
        place_alike(&t->alike[i], halves, count, slot, z, q);                                      \
        break;
            TAMIS__FOR_EACH_K(CASE_PLACE)
#undef CASE_PLACE
        default:
            break;
        }
}

/* What is looked for in the blocks of a key, whichever segment they are of; and whether a block
 * lacks some of it. */
#ifdef LANES_BLOCK

struct sought {
    lanes bits;
};

TAMIS__INLINE struct sought sought_at(const struct alike *alike, size_t slot, unsigned z)
{
    struct sought sought = {{0}};
    for (unsigned w = 0; w < z; w++)
        sought.bits = lanes_with(sought.bits, alike->inside[w][slot], alike->mask[w][slot]);
    return sought;
}

TAMIS__INLINE uint8_t block_lacks(uint64_t block, const struct sought *sought, unsigned z)
{
    (void)z;
    return lanes_lacking(block, sought->bits);
}

#else

struct sought {
    uint64_t inside[4], mask[4];
};

TAMIS__INLINE struct sought sought_at(const struct alike *alike, size_t slot, unsigned z)
{
    struct sought sought = {{0}, {0}};
    for (unsigned w = 0; w < z; w++) {
        sought.inside[w] = alike->inside[w][slot];
        sought.mask[w] = alike->mask[w][slot];
    }
    return sought;
}

TAMIS__INLINE uint64_t word_lacks(uint64_t block, const struct sought *sought, unsigned w)
{
    const uint64_t *word = (const uint64_t *)(block + sought->inside[w]);
    /* ORDER relaxed: as lacking_in(). */
    return sought->mask[w] & ~__atomic_load_n(word, __ATOMIC_RELAXED);
}

TAMIS__INLINE uint8_t block_lacks(uint64_t block, const struct sought *sought, unsigned z)
{
    uint64_t lacking = word_lacks(block, sought, 0) | word_lacks(block, sought, 1);
    if (z == 4) lacking |= word_lacks(block, sought, 2) | word_lacks(block, sought, 3);
    return lacking != 0;
}

#endif

TAMIS__INLINE void fetch_blocks(uint64_t (*block)[TOGETHER_RING], unsigned count, size_t slot,
                                bool far)
{
    if (count > 0) tamis__fetch_line((const void *)block[0][slot], far);
    if (count > 1) tamis__fetch_line((const void *)block[1][slot], far);
    if (count > 2) tamis__fetch_line((const void *)block[2][slot], far);
    if (count > 3) tamis__fetch_line((const void *)block[3][slot], far);
}

/* Takes a step in `count` segments from number `first` on, at most four: prefetches the blocks of
 * the new keys, and sets found[i] for each old key that one of the segments has.  z and count are
 * constants; the compiler does not unroll a loop over them. */
TAMIS__INLINE void turn_alike(const struct alike *alike, unsigned first, unsigned count,
                              struct stand at, uint8_t *found, unsigned z)
{
    uint64_t(*block)[TOGETHER_RING] = alike->block + first;
    const unsigned apart = alike->apart > first ? alike->apart - first : 0;
    const unsigned fetched = apart < count ? apart : count;
    const size_t both = at.fresh > at.old ? at.fresh : at.old;
    const bool far = alike->far;
    uint8_t lacks[4][KEYS_A_STEP];
    memset(lacks, 1, sizeof lacks);
    for (size_t i = 0; i < both; i++) {
        const size_t slot = at.asked + i;
        if (i < at.fresh) fetch_blocks(block, fetched, at.slot + i, far);
        if (i >= at.old) continue;
        const struct sought sought = sought_at(alike, slot, z);
        lacks[0][i] = block_lacks(block[0][slot], &sought, z);
        if (count > 1) lacks[1][i] = block_lacks(block[1][slot], &sought, z);
        if (count > 2) lacks[2][i] = block_lacks(block[2][slot], &sought, z);
        if (count > 3) lacks[3][i] = block_lacks(block[3][slot], &sought, z);
    }
    for (unsigned s = 0; s < count; s++)
        for (unsigned i = 0; i < KEYS_A_STEP; i++)
            found[i] |= lacks[s][i] == 0;
}

static __attribute__((noinline)) void turn_some(const struct alike *alike, unsigned first,
                                                struct stand at, uint8_t *found)
{
    const bool whole = at.fresh == KEYS_A_STEP && at.old == KEYS_A_STEP;
    const struct stand all = {at.slot, at.asked, KEYS_A_STEP, KEYS_A_STEP, at.done};
    const bool two = tamis__blocked_words(alike->k) == 2;
    const unsigned left = alike->count - first;
    switch (left < 4 ? left : 4) {
#define CASE_TURN(n)                                                                               \
    case n:                                                                                        \
        if (whole && two)                                                                          \
            turn_alike(alike, first, n, all, found, 2);                                            \
        else if (whole)                                                                            \
            turn_alike(alike, first, n, all, found, 4);                                            \
        else                                                                                       \
            turn_alike(alike, first, n, at, found, two ? 2 : 4);                                   \
        break;
        CASE_TURN(1)
        CASE_TURN(2)
        CASE_TURN(3)
        CASE_TURN(4)
#undef CASE_TURN
    default:
        break;
    }
}

/* Counts the ones among the bytes of a step, which are 0 or 1, eight bytes at a time. */
static unsigned ones_of(const uint8_t found[KEYS_A_STEP])
{
    uint64_t sums = 0;
    for (unsigned i = 0; i < KEYS_A_STEP; i += 8) {
        uint64_t eight;
        memcpy(&eight, found + i, sizeof eight);
        sums += eight;
    }
    return (unsigned)(sums * 0x0101010101010101u >> 56);
}

static size_t turn_together(const struct together *t, struct stand at, uint8_t *answers)
{
    _Alignas(8) uint8_t found[KEYS_A_STEP] = {0};
    for (unsigned i = 0; i < t->count; i++)
        for (unsigned first = 0; first < t->alike[i].count; first += 4)
            turn_some(&t->alike[i], first, at, found);
    memcpy(answers, found, at.old);
    return ones_of(found);
}

size_t VARIANT_TOGETHER(const struct tamis__segment *const *segments, unsigned segment_count,
                        const struct tamis_key *keys, const struct tamis__digest *digests,
                        size_t count, uint8_t *answers, struct tamis__digest *kept)
{
    const struct source from = {.by = tamis__header_digester(segments[0]->header),
                                .keys = keys,
                                .digests = digests,
                                .count = count};
    const struct ring ring = {.depth = TOGETHER_DEPTH, .slots = TOGETHER_RING};
    struct together together;
    struct halves halves;
    size_t ones = 0;
    put_together(&together, segments, segment_count);
    for (size_t i = 0; i < count + TOGETHER_DEPTH; i += KEYS_A_STEP) {
        const struct stand at = stand_at(ring, i, count);
        take_halves(&from, i, at.fresh, &halves);
        if (at.fresh > 0 && kept != NULL) keep_digests(&halves, at.fresh, kept + i);
        if (at.fresh > 0) place_together(&together, &halves, at.fresh, at.slot);
        ones += turn_together(&together, at, answers + at.done);
    }
    return ones;
}
