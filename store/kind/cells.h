/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cells.h: the counters of a segment, called cells, and the overflow table, in which they go on
 * when they outgrow their bits.
 *
 * A cell has c bits, c = 4, 8, 16 or 32.  It lies with its neighbours in a word of 64 bits, the
 * first one in the lowest bits.  A cell below its greatest value holds the count.  The greatest
 * value, M = 2^c - 1, is the mark of overflow: the count is then M plus a signed number in the
 * cell's slot of the overflow table.
 *
 *     cell 0 .. M-1     the count
 *     cell M            M + slot; slot is 0 at first, and not less than -M
 *
 *     14 --raise--> slot taken, of 0 --> cell 15 (that is the raise) --> 15, slot +1, +2 ...
 *
 * A new slot holds 0, and M + 0 is the count that the mark stands for.  So to mark a cell is one
 * compare-and-swap on the cell, and there is no moment at which its count is wrong.  Two raisers of
 * a full cell find or take the same slot (below).  A raiser that dies after it took a slot leaves a
 * slot that nobody reads until the cell is marked.  A marked cell stays marked: to unmark it would
 * need a lock that raisers take.
 *
 * The table (docs/format.md 3.5) is a list of levels.  Each level is an open-addressed hash of
 * slots { cell + 1, count }, and twice as large as the one before.  The window of a cell in a level
 * is the 32 slots from where its number hashes to.  A cell has the first slot of all its windows,
 * level by level, that was free.  Slots are never given back, so this slot is the same for all who
 * look and stays the same: a search ends at a free slot.  If the windows of all levels are full,
 * the file is made longer by a level.  That needs no lock either: fallocate() may be called twice
 * for the same range, and a compare-and-swap puts the level in force.
 *
 * Raising is lock-free.  Only removers lower cells; they hold the lock of the block (counting.c).
 */
#pragma once

#include "segment/segment.h"

/* A slot of the overflow table, as it lies in the file.  `owner` is written once, by
 * compare-and-swap; `above` changes by atomic additions. */
#define TAMIS__SLOT_FIELDS(FIELD, s)                                                               \
    FIELD(s, 0, uint64_t, owner, , "0: the slot is free; else the number of the counter, plus 1")  \
    FIELD(s, 8, uint64_t, above, ,                                                                 \
          "a, in two's complement; 0 in a slot whose counter is not marked (yet)")
TAMIS__FILE_STRUCT(tamis__slot, TAMIS__SLOT_FIELDS, TAMIS__SLOT_BYTES);

struct tamis__cells {
    const struct tamis__segment *segment;
    uint64_t *words;
    uint64_t most;             /* M */
    unsigned width_log2;       /* log2 of the bits of a cell: 2 .. 5 */
    uint32_t levels_max;       /* levels of the overflow table */
    uint64_t first_slots;      /* slots of its first level */
    struct tamis__slot *slots; /* the table, behind the data */
};

/* Nobody adds a key so often.  But filters that are merged into each other in turn double their
 * counts: 60 times, and then it is an error.  The limit is so far from 2^63 that merges which race
 * past it do not wrap. */
#define TAMIS__COUNT_MAX ((uint64_t)1 << 60)

struct tamis__cells tamis__cells_of(const struct tamis__segment *segment);

/* The lowest bit of every cell of a word. */
static inline uint64_t tamis__lowest_bits(const struct tamis__cells *cells)
{
    static const uint64_t bits[] = {[2] = 0x1111111111111111u,
                                    [3] = 0x0101010101010101u,
                                    [4] = 0x0001000100010001u,
                                    [5] = 0x0000000100000001u};
    return bits[cells->width_log2];
}

/* Is a cell of this word marked? */
static inline bool tamis__word_has_marked(const struct tamis__cells *cells, uint64_t word)
{
    for (unsigned step = 1; step < 1u << cells->width_log2; step *= 2)
        word &= word >> step; /* the lowest bit of a cell becomes the AND of all of its bits */
    return (word & tamis__lowest_bits(cells)) != 0;
}

/* The slow halves of the calls below, for a cell that is marked. */
uint64_t tamis__cell_get_marked(const struct tamis__cells *cells, uint64_t cell);
int tamis__cell_raise_marked(const struct tamis__cells *cells, uint64_t cell, uint64_t *before);

/* Makes sure that the cell has a slot.  Returns TAMIS_ENOSPACE and the like. */
int tamis__cell_take_slot(const struct tamis__cells *cells, uint64_t cell);

static inline unsigned tamis__cells_per_word(const struct tamis__cells *cells)
{
    return 64u >> cells->width_log2;
}

static inline uint64_t *tamis__cell_word(const struct tamis__cells *cells, uint64_t cell)
{
    return &cells->words[cell >> (6 - cells->width_log2)];
}

static inline unsigned tamis__cell_shift(const struct tamis__cells *cells, uint64_t cell)
{
    return (unsigned)(cell << cells->width_log2) & 63;
}

/* The bits of a cell: the count, or M. */
static inline uint64_t tamis__cell_peek(const struct tamis__cells *cells, uint64_t cell)
{
    /* ORDER acquire: pairs with the release of raise().  Who finds a cell above 0 must also see the
     * cells that its raiser had raised before it, or two adders could both be the last
     * (counting.c); and who finds the mark must see the slot. */
    const uint64_t word = __atomic_load_n(tamis__cell_word(cells, cell), __ATOMIC_ACQUIRE);
    return word >> tamis__cell_shift(cells, cell) & cells->most;
}

/* The count. */
static inline uint64_t tamis__cell_get(const struct tamis__cells *cells, uint64_t cell)
{
    const uint64_t value = tamis__cell_peek(cells, cell);
    return value == cells->most ? tamis__cell_get_marked(cells, cell) : value;
}

/* The slow halves of the two calls below: for a cell that is marked, or that a raise would mark;
 * and for a cell at 0 that is lowered. */
int tamis__cell_raise_slowly(const struct tamis__cells *cells, uint64_t cell, uint64_t *before);
uint64_t tamis__cell_lower_slowly(const struct tamis__cells *cells, uint64_t cell);

/* Raises a cell by one; *before gets the count from before.  On an error nothing was done. */
static inline int tamis__cell_raise(const struct tamis__cells *cells, uint64_t cell,
                                    uint64_t *before)
{
    uint64_t *word = tamis__cell_word(cells, cell);
    const unsigned shift = tamis__cell_shift(cells, cell);
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED); /* ORDER: the swap decides */
    *before = old >> shift & cells->most;
    /* ORDER release: pairs with tamis__cell_peek(): who sees this cell raised also sees the
     * cells that were raised before.  ORDER acquire: what the last raiser released is passed on by
     * us. */
    if (__builtin_expect(*before < cells->most - 1, 1) &&
        __atomic_compare_exchange_n(word, &old, old + ((uint64_t)1 << shift), false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return 0;
    return tamis__cell_raise_slowly(cells, cell, before);
}

/* Lowers a cell by one and returns the count from before.  The caller has seen it above 0 and keeps
 * others from lowering it. */
static inline uint64_t tamis__cell_lower(const struct tamis__cells *cells, uint64_t cell)
{
    uint64_t *word = tamis__cell_word(cells, cell);
    const unsigned shift = tamis__cell_shift(cells, cell);
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED); /* ORDER: the swap decides */
    const uint64_t value = old >> shift & cells->most;
    /* ORDER acq_rel: as raise(). */
    if (__builtin_expect(value > 0 && value < cells->most, 1) &&
        __atomic_compare_exchange_n(word, &old, old - ((uint64_t)1 << shift), false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return value;
    return tamis__cell_lower_slowly(cells, cell);
}

/* Raises a cell by that many, beside any other call.  On an error it is raised by fewer, or not at
 * all.  TAMIS_ELIMIT: it would pass TAMIS__COUNT_MAX. */
int tamis__cell_raise_by(const struct tamis__cells *cells, uint64_t cell, uint64_t more);

int tamis__fail_count(const struct tamis__cells *cells,
                      uint64_t cell); /* TAMIS_ELIMIT, for that cell */

/* Calls fn with each cell that is marked and has a slot, and with its count.  Ends when fn returns
 * another value than 0, and returns that. */
int tamis__cells_each_marked(const struct tamis__cells *cells,
                             int (*fn)(void *context, uint64_t cell, uint64_t count),
                             void *context);

/* Sets the count of a cell, whatever it is.  Nobody else may know of the segment.  Returns
 * TAMIS_ENOSPACE and the like. */
int tamis__cell_set(const struct tamis__cells *cells, uint64_t cell, uint64_t count);

/* Lowers a count that is above `count` to `count`.  Nobody else may know of the segment. */
void tamis__cell_cut(const struct tamis__cells *cells, uint64_t cell, uint64_t count);

/* Returns the lowest bit of each cell of word `index` that is above 0. */
uint64_t tamis__word_above_zero(const struct tamis__cells *cells, uint64_t index);

/* How many of `count` cells from `first` on are above 0; both are multiples of 64. */
unsigned tamis__cells_above_zero(const struct tamis__cells *cells, uint64_t first, unsigned count);

/*
 * For a copy whose cells were read before its table, with the count of each slot read before
 * its owner.  Some slots were taken after their cell was read.  A slot whose cell is not marked
 * counts nothing.  A slot that no search finds, because those before it were free when they
 * were read, becomes free too.  Slots of marked cells are older than the copy, and so are all
 * slots before them.
 */
void tamis__cells_mend_copy(const struct tamis__cells *cells);

/*
 * For pages from different instants, none older than the last sync; docs/durability.md, "Power
 * cuts".  A level that the file has room for is in force again, as there may be slots in it.  The
 * table is mended as that of a copy.  A marked cell without a slot, which counts M, gets one.
 */
int tamis__cells_mend(const struct tamis__cells *cells, uint64_t file_bytes);

/* Is the table sound?  Returns 0, or 1 with what is wrong and where in the file. */
int tamis__cells_verify(const struct tamis__cells *cells, uint64_t *offset, const char **reason);
