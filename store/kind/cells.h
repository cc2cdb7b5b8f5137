/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cells.h: the counters of a segment, and where they go on when they outgrow their bits.
 *
 * A cell has c bits, c = 4, 8, 16 or 32, and lies with its neighbours in a word of 64, the first
 * one in the lowest bits.  Where it holds less than its greatest value, that is the count.  The
 * greatest, M = 2^c - 1, is the mark of overflow: the count is M plus what stands, with a sign, in
 * the cell's slot of the overflow table.
 *
 *     cell 0 .. M-1     the count
 *     cell M            M + slot; slot is 0 at first, and not less than -M
 *
 *     14 --raise--> slot taken, of 0 --> cell 15 (that is the raise) --> 15, slot +1, +2 ...
 *
 * Since a new slot holds 0 and M + 0 is the count that the mark stands for, marking a cell is one
 * compare-and-swap on the cell, and there is no moment at which its count is wrong.  Two raisers of
 * a full cell find or take the same slot (below); a raiser that dies after taking it leaves a slot
 * that nobody reads until the cell is marked.  A marked cell stays so: to unmark it would need a
 * lock that raisers take.
 *
 * The table (docs/format.md 3.5) is a list of levels, each an open-addressed hash of slots { cell +
 * 1, count }, the next one twice as large.  A cell's window in a level is 32 slots from where its
 * number hashes to; it has the first slot of all its windows, level by level, that was free.  Slots
 * are never given back, so that is the same for all who look, and stays so: a search ends at a free
 * slot.  Where the windows of all levels are full the file is made longer by a level.  That needs
 * no lock either: fallocate() may be called twice for the same range, and a compare-and-swap puts
 * the level in force.
 *
 * Raising is lock-free.  Lowering is for removers, who hold the lock of the block (counting.c).
 */
#ifndef TAMIS_KIND_CELLS_H
#define TAMIS_KIND_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "file/segment.h"

/* A slot of the overflow table, as it lies in the file. */
struct tamis__slot {
    uint64_t owner; /* 0   8  cell + 1; 0: free.  Written once, by compare-and-swap */
    uint64_t above; /* 8   8  the count less M, in two's complement.  Atomic additions */
};
TAMIS__SIZE(struct tamis__slot, TAMIS__SLOT_BYTES);

struct tamis__cells {
    const struct tamis__segment *segment;
    uint64_t *words;
    uint64_t most;             /* M */
    unsigned width_log2;       /* of the bits of a cell: 2 .. 5 */
    uint32_t levels_max;       /* of the overflow table */
    uint64_t first_slots;      /* of its first level */
    struct tamis__slot *slots; /* the table, behind the data */
};

/* Nobody adds a key so often, but filters that are merged into each other in turn double their
 * counts: 60 times, and then it is an error.  So far from 2^63 that merges which race past it do
 * not wrap. */
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

/* Make sure of a slot for the cell.  TAMIS_ENOSPACE, and the like. */
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
     * cells that its raiser had raised before it, else two adders can both be last (counting.c);
     * and who finds the mark, the slot. */
    const uint64_t word = __atomic_load_n(tamis__cell_word(cells, cell), __ATOMIC_ACQUIRE);
    return word >> tamis__cell_shift(cells, cell) & cells->most;
}

/* The count. */
static inline uint64_t tamis__cell_get(const struct tamis__cells *cells, uint64_t cell)
{
    const uint64_t value = tamis__cell_peek(cells, cell);
    return value == cells->most ? tamis__cell_get_marked(cells, cell) : value;
}

/* Raise by one; *before is the count that it was raised from.  On an error nothing was done. */
int tamis__cell_raise(const struct tamis__cells *cells, uint64_t cell, uint64_t *before);

/* Lower by one; returns the count before.  The caller has seen it above 0 and keeps others from
 * lowering. */
uint64_t tamis__cell_lower(const struct tamis__cells *cells, uint64_t cell);

/* Raise by that many, beside whom you like.  On an error it is raised by fewer, or by none.
 * TAMIS_ELIMIT: it would pass TAMIS__COUNT_MAX. */
int tamis__cell_raise_by(const struct tamis__cells *cells, uint64_t cell, uint64_t more);

int tamis__fail_count(const struct tamis__cells *cells, uint64_t cell); /* TAMIS_ELIMIT, that one */

/* Set a count that is above `count` to it.  Nobody else may know of the segment. */
void tamis__cell_cut(const struct tamis__cells *cells, uint64_t cell, uint64_t count);

/* Of each cell of word `index` that is above 0 the lowest bit. */
uint64_t tamis__word_above_zero(const struct tamis__cells *cells, uint64_t index);

/* How many of `count` cells from `first` on are above 0; both are multiples of 64. */
unsigned tamis__cells_above_zero(const struct tamis__cells *cells, uint64_t first, unsigned count);

/*
 * Of a copy whose cells were read before its table, and of each slot the count before the owner:
 * slots that were taken after their cell was read.  One that its cell is not marked for counts
 * nothing; one that no search finds, as those before it were read when they were free, is free too.
 * Slots of marked cells are older than that, and so are all those before them.
 */
void tamis__cells_settle(const struct tamis__cells *cells);

/*
 * Of pages from different instants, none older than the last sync; docs/durability.md, "Power
 * cuts".  A level that the file has room for is in force again, as there may be slots in it; the
 * table is settled as that of a copy; and a marked cell without a slot, which counts M, gets one.
 */
int tamis__cells_mend(const struct tamis__cells *cells, uint64_t file_bytes);

/* Is the table sound?  0, or 1 with what is not and where in the file. */
int tamis__cells_verify(const struct tamis__cells *cells, uint64_t *offset, const char **reason);

#endif
