/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counting_key.h: what happens to the cells of one key of kind counting.  It is included once for
 * each set of vector instructions (lanes.h); counting.c says why these steps are safe.
 *
 * z is a constant in each instance, so the compiler unrolls the loops over words.  What is handed
 * to a function that is not inlined is a copy, so that the rest stays in registers.
 */
#include "kind/counting.h"
#include "kind/points.h"
#include "segment/room.h"

/* Which of 64 cells are 0, and which are marked or one below the mark, as a bit for each. */
struct seen {
    uint64_t zero, full;
};

#ifdef LANES
#define SEES_NIBBLES true
#else
#define SEES_NIBBLES false
TAMIS__INLINE uint64_t see_nibbles(const uint64_t *words, uint64_t *full)
{
    (void)words;
    return *full = 0;
}
#endif

static __attribute__((noinline)) uint64_t least_of(const struct tamis__segment *segment,
                                                   struct tamis__key_cells key, unsigned z)
{
    return tamis__counting_least(segment, &key, z);
}

/* Looks at those of the 64 cells of word `word` that are in the mask.  Cells of 4 bits, which most
 * filters have, are looked at by vectors, all 64 at once. */
TAMIS__INLINE struct seen see(const struct tamis__cells *cells, uint64_t word, uint64_t mask)
{
    struct seen seen = {0, 0};
    if (SEES_NIBBLES && cells->width_log2 == 2) {
        seen.zero = see_nibbles(cells->words + word * 4, &seen.full);
        return (struct seen){seen.zero & mask, seen.full & mask};
    }
    for (uint64_t left = mask; left != 0; left &= left - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(left);
        const uint64_t value = tamis__cell_peek(cells, word * 64 + bit);
        seen.zero |= (uint64_t)(value == 0) << bit;
        seen.full |= (uint64_t)(value >= cells->most - 1) << bit;
    }
    return seen;
}

TAMIS__INLINE int contains_key(const struct tamis__cells *cells, const struct tamis__key_cells *key,
                               unsigned z)
{
    struct seen all = {0, 0};
#pragma GCC unroll 4
    for (unsigned w = 0; w < z; w++) {
        const struct seen seen = see(cells, key->word[w], key->mask[w]);
        all.zero |= seen.zero;
        all.full |= seen.full;
    }
    if (__builtin_expect(all.full != 0, 0) && all.zero == 0)
        return least_of(cells->segment, *key, z) > 0;
    return all.zero == 0;
}

TAMIS__INLINE uint64_t count_key(const struct tamis__cells *cells,
                                 const struct tamis__key_cells *key, unsigned z)
{
    uint64_t least = UINT64_MAX, most = 0;
#pragma GCC unroll 4
    for (unsigned w = 0; w < z; w++)
        for (uint64_t left = key->mask[w]; left != 0; left &= left - 1) {
            const uint64_t cell = key->word[w] * 64 + (unsigned)__builtin_ctzll(left);
            const uint64_t value = tamis__cell_peek(cells, cell);
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
    if (__builtin_expect(most == cells->most, 0) && least > 0)
        return least_of(cells->segment, *key, z);
    return least;
}

/* The place of a cell among those of its key: 64 for each of its words. */
#define NONE 256u

/* Looks at all cells before one is raised: finds the place of the last one at 0, or NONE, and makes
 * slots for those that are full. */
TAMIS__INLINE int look_at_key(const struct tamis__cells *cells, const struct tamis__key_cells *key,
                              unsigned z, unsigned *last)
{
    *last = NONE;
#pragma GCC unroll 4
    for (unsigned w = 0; w < z; w++) {
        struct seen seen = see(cells, key->word[w], key->mask[w]);
        if (__builtin_expect(seen.full != 0, 0)) {
            const int rc = tamis__counting_take_slots(cells, key->word[w], seen.full, &seen.zero);
            if (rc < 0) return rc;
        }
        const unsigned here = w * 64 + 63 - (unsigned)__builtin_clzll(seen.zero | 1);
        *last = seen.zero != 0 ? here : *last;
    }
    TAMIS__POINT(TAMIS__POINT_ADD_LOADED);
    return 0;
}

/* Raises some cells of word w of the key, one by one.  Returns 1 if the cell that look_at_key()
 * found at 0 last is among them and was still at 0, else 0; or an error, after it has lowered them
 * again. */
TAMIS__INLINE int raise_cells(const struct tamis__cells *cells, const struct tamis__key_cells *key,
                              unsigned z, unsigned w, uint64_t some, unsigned last)
{
    int won = 0, any = 0;
    for (uint64_t left = some; left != 0; left &= left - 1) {
        uint64_t before;
        const unsigned bit = (unsigned)__builtin_ctzll(left);
        const uint64_t cell = key->word[w] * 64 + bit;
        const int rc = tamis__cell_raise(cells, cell, &before);
        if (__builtin_expect(rc < 0, 0)) {
            tamis__counting_take_back(cells, key, z, cell);
            return rc;
        }
        won |= (before | ((w * 64 + bit) ^ last)) == 0; /* a branch would be mispredicted */
        any |= before == 0;
        TAMIS__POINT(TAMIS__POINT_CELL_RAISED);
    }
    return TAMIS__ANY_BIT_RULE ? any : won;
}

#ifdef LANES

/* Sets more[i], for each u64 of the z words of a key, to a one in each of the key's cells there. */
TAMIS__INLINE void spread(const struct tamis__key_cells *key, unsigned z, uint64_t more[16])
{
    for (unsigned w = 0; w < z; w += LANES / 4) {
#define MASK_OF_LANE(i) key->mask[w + (i) / 4]
#define SHIFT_OF_LANE(i) (i) % 4 * 16
        lanes x = (lanes){LANES_OF(MASK_OF_LANE)} >> (lanes){LANES_OF(SHIFT_OF_LANE)} & 0xFFFF;
#undef MASK_OF_LANE
#undef SHIFT_OF_LANE
        x = (x | x << 24) & 0x000000FF000000FF; /* each of 16 bits goes to its 4 */
        x = (x | x << 12) & 0x000F000F000F000F;
        x = (x | x << 6) & 0x0303030303030303;
        x = (x | x << 3) & 0x1111111111111111;
        lanes_put(more + w * 4, x);
    }
}

/* In which of the four u64 that hold the 64 cells of a word are cells of the mask? */
TAMIS__INLINE uint64_t parts_of(uint64_t mask)
{
    mask |= mask >> 8; /* the lowest of 16 bits becomes the OR of all */
    mask |= mask >> 4;
    mask |= mask >> 2;
    mask |= mask >> 1;
    return (mask & 0x0001000100010001) * 0x0001000200040008 >> 48 & 15;
}

static __attribute__((noinline)) int raise_slowly(const struct tamis__segment *segment,
                                                  struct tamis__key_cells key, unsigned z,
                                                  unsigned part, unsigned last)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    const uint64_t some = key.mask[part / 4] & (uint64_t)0xFFFF << part % 4 * 16;
    return raise_cells(&cells, &key, z, part / 4, some, last);
}

/*
 * As add_key(), for cells of 4 bits.  Those that share a u64 are raised by one compare-and-swap,
 * which is as if they were raised in order and nobody came between: of 6 cells of a key in 8 u64 it
 * saves 1.4 locked operations.
 */
TAMIS__INLINE int add_nibbles(const struct tamis__cells *cells, const struct tamis__key_cells *key,
                              unsigned z)
{
    _Alignas(64) uint64_t more[16];
    uint64_t parts = 0, was[NONE / 16 + 1];
    unsigned last;
    int won = 0;
    int rc = look_at_key(cells, key, z, &last);
    if (__builtin_expect(rc < 0, 0)) return rc;
    was[NONE / 16] = UINT64_MAX;
    spread(key, z, more);
#pragma GCC unroll 4
    for (unsigned w = 0; w < z; w++)
        parts |= parts_of(key->mask[w]) << w * 4;
    for (uint64_t left = parts; left != 0; left &= left - 1) {
        const unsigned part = (unsigned)__builtin_ctzll(left);
        uint64_t *word = &cells->words[key->word[part / 4] * 4 + part % 4];
        uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED); /* ORDER: the swap decides */
        const uint64_t full = old >> 3 & old >> 2 & old >> 1 & more[part]; /* 14 or 15 */
        was[part] = old;
        TAMIS__POINT(TAMIS__POINT_ADD_LOADED);
        /* ORDER acq_rel: as tamis__cell_raise(). */
        if (__builtin_expect(full != 0, 0) ||
            __builtin_expect(!__atomic_compare_exchange_n(word, &old, old + more[part], false,
                                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED),
                             0)) {
            was[part] = UINT64_MAX; /* the answer is not told by it */
            rc = raise_slowly(cells->segment, *key, z, part, last);
            if (rc < 0) return rc;
            won |= rc;
        }
        if (TAMIS__ANY_BIT_RULE)
            won |=
                (more[part] & ~(was[part] | was[part] >> 1 | was[part] >> 2 | was[part] >> 3)) != 0;
        TAMIS__POINT(TAMIS__POINT_CELL_RAISED);
    }
    return won | ((was[last / 16] >> last % 16 * 4 & 15) == 0);
}

#endif

/* Returns 1 if the key was new, 0 if not, or an error when nothing was done. */
TAMIS__INLINE int add_key(const struct tamis__cells *cells, const struct tamis__key_cells *key,
                          unsigned z)
{
    unsigned last;
    int won = 0;
#ifdef LANES
    if (cells->width_log2 == 2) return add_nibbles(cells, key, z);
#endif
    const int rc = look_at_key(cells, key, z, &last);
    if (__builtin_expect(rc < 0, 0)) return rc;
#pragma GCC unroll 4
    for (unsigned w = 0; w < z; w++) {
        const int raised = raise_cells(cells, key, z, w, key->mask[w], last);
        if (__builtin_expect(raised < 0, 0)) return raised;
        won |= raised;
    }
    return won;
}

/* Returns 1 if the key was there and is removed once, 0 if not, or an error when nothing was
 * done. */
TAMIS__INLINE int remove_key(const struct tamis__cells *cells, const struct tamis__key_cells *key,
                             unsigned z)
{
    bool gone = false;
    const int rc = tamis__counting_lock(cells, key);
    if (rc < 0) return rc;
    const int there = contains_key(cells, key, z);
    TAMIS__POINT(TAMIS__POINT_REMOVE_CHECKED);
    for (unsigned w = 0; there && w < z; w++)
        for (uint64_t left = key->mask[w]; left != 0; left &= left - 1) {
            const uint64_t cell = key->word[w] * 64 + (unsigned)__builtin_ctzll(left);
            gone |= tamis__cell_lower(cells, cell) == 1;
            TAMIS__POINT(TAMIS__POINT_CELL_LOWERED);
        }
    tamis__counting_unlock(cells, key);
    if (gone) (void)tamis__segment_count(cells->segment, UINT64_MAX); /* less one */
    return there;
}
