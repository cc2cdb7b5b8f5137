/* SPDX-License-Identifier: BSD-2-Clause */
/* cells.c: see cells.h. */
#include "kind/cells.h"
#include "kind/points.h"

/* Slots of a window: eight cache lines' worth.  With 32 slots a level is about three quarters full
 * before one of its windows is (docs/decisions/0012). */
#define WINDOW 32u

struct tamis__cells tamis__cells_of(const struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = segment->header;
    char *table = (char *)segment->header + h->file_bytes;
    return (struct tamis__cells){.segment = segment,
                                 .words = segment->data,
                                 .most = ((uint64_t)1 << h->counter_bits) - 1,
                                 .width_log2 = (unsigned)__builtin_ctz(h->counter_bits),
                                 .levels_max = tamis__overflow_levels_max(h->m_bits),
                                 .first_slots = tamis__overflow_slots(h->m_bits, 0),
                                 .slots = (struct tamis__slot *)(void *)table};
}

/* ---- The overflow table ---------------------------------------------------------------------- */

/* Returns where a window begins: at another place in each level, so that cells that crowd in one
 * level spread in the next.  It is the finalizer of MurmurHash3 (Appleby). */
static uint64_t hash_of_window(uint64_t cell, uint32_t level)
{
    uint64_t x = cell + level * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDu;
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53u;
    return x ^ x >> 33;
}

static struct tamis__slot *level_of(const struct tamis__cells *cells, uint32_t level)
{
    return cells->slots + cells->first_slots * (((uint64_t)1 << level) - 1);
}

static uint32_t levels_in_force(const struct tamis__cells *cells)
{
    return tamis__overflow_levels_of(cells->segment->live, cells->levels_max);
}

/* Returns the slot of the cell in a level, or the first free one of its window; NULL if other cells
 * have the whole window. */
static struct tamis__slot *find_in_level(const struct tamis__cells *cells, uint64_t cell,
                                         uint32_t level, uint64_t *owner)
{
    const uint64_t slots = cells->first_slots << level;
    const uint64_t first = hash_of_window(cell, level);
    struct tamis__slot *table = level_of(cells, level);
    for (uint64_t i = 0; i < WINDOW; i++) {
        struct tamis__slot *slot = &table[(first + i) & (slots - 1)];
        *owner = __atomic_load_n(&slot->owner, __ATOMIC_RELAXED); /* ORDER: it guards nothing */
        if (*owner == 0 || *owner == cell + 1) return slot;
    }
    return NULL;
}

static struct tamis__slot *find_slot(const struct tamis__cells *cells, uint64_t cell)
{
    const uint32_t levels = levels_in_force(cells);
    for (uint32_t level = 0; level < levels; level++) {
        uint64_t owner;
        struct tamis__slot *slot = find_in_level(cells, cell, level, &owner);
        if (slot != NULL)
            return owner != 0 ? slot : NULL; /* if free, no later level has the cell either */
    }
    return NULL;
}

/* Puts level `level` in force.  Returns 0 too if another process just did so. */
static int put_level_in_force(const struct tamis__cells *cells, uint32_t level)
{
    struct tamis__segment_header *h = cells->segment->header;
    uint64_t expected = level;
    if (level >= cells->levels_max)
        return tamis__fail(TAMIS_ELIMIT,
                           "the overflow table of segment %llu is full; make the filter anew with "
                           "more bits a counter",
                           (unsigned long long)h->number);
    const int rc = tamis__segment_extend(
        cells->segment, h->file_bytes + tamis__overflow_bytes(h->m_bits, level + 1));
    if (rc < 0) return rc;
    TAMIS__POINT(TAMIS__POINT_LEVEL_GROWN);
    /* ORDER release: pairs with tamis__overflow_levels_of(). */
    (void)__atomic_compare_exchange_n(&cells->segment->live->overflow_levels, &expected,
                                      (uint64_t)level + 1, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED);
    return 0;
}

int tamis__cell_take_slot(const struct tamis__cells *cells, uint64_t cell)
{
    for (uint32_t level = 0;;) {
        uint64_t owner;
        if (level == levels_in_force(cells)) {
            const int rc = put_level_in_force(cells, level);
            if (rc < 0) return rc;
        }
        struct tamis__slot *slot = find_in_level(cells, cell, level, &owner);
        if (slot == NULL) {
            level++;
            continue;
        }
        if (owner == 0) TAMIS__POINT(TAMIS__POINT_SLOT_SEEN);
        /* ORDER relaxed: a slot is found by its owner and holds 0 until the cell is
         * marked.  If another cell, or another raiser of this one, was faster, the search
         * goes on from there. */
        if (owner != 0 || __atomic_compare_exchange_n(&slot->owner, &owner, cell + 1, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            TAMIS__POINT(TAMIS__POINT_SLOT_TAKEN);
            return 0;
        }
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Returns M + above, but not below 0; only damage makes it lower. */
static uint64_t count_of(const struct tamis__cells *cells, uint64_t above)
{
    const uint64_t count = cells->most + above;
    return count >> 63 ? 0 : count;
}

uint64_t tamis__cell_get_marked(const struct tamis__cells *cells, uint64_t cell)
{
    const struct tamis__slot *slot = find_slot(cells, cell);
    if (slot == NULL) return cells->most; /* damage; it must never answer "absent" */
    /* ORDER acquire: as tamis__cell_peek(). */
    return count_of(cells, __atomic_load_n(&slot->above, __ATOMIC_ACQUIRE));
}

/* Finds the slot of a marked cell.  If damage has taken the slot away, a new one is made. */
static int slot_of_marked(const struct tamis__cells *cells, uint64_t cell,
                          struct tamis__slot **slot)
{
    *slot = find_slot(cells, cell);
    if (*slot != NULL) return 0;
    const int rc = tamis__cell_take_slot(cells, cell);
    if (rc == 0) *slot = find_slot(cells, cell);
    return rc;
}

int tamis__cell_raise_marked(const struct tamis__cells *cells, uint64_t cell, uint64_t *before)
{
    struct tamis__slot *slot;
    const int rc = slot_of_marked(cells, cell, &slot);
    if (rc < 0) return rc;
    /* ORDER acq_rel: as the compare-and-swap below. */
    *before = count_of(cells, __atomic_fetch_add(&slot->above, 1, __ATOMIC_ACQ_REL));
    return 0;
}

int tamis__cell_raise_slowly(const struct tamis__cells *cells, uint64_t cell, uint64_t *before)
{
    uint64_t *word = tamis__cell_word(cells, cell);
    const unsigned shift = tamis__cell_shift(cells, cell);
    bool has_slot = false;
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED); /* ORDER: the swap decides */
    do {
        const uint64_t value = old >> shift & cells->most;
        if (value == cells->most) return tamis__cell_raise_marked(cells, cell, before);
        if (value == cells->most - 1 && !has_slot) {
            const int rc = tamis__cell_take_slot(cells, cell);
            if (rc < 0) return rc;
            has_slot = true;
        }
        *before = value;
        /* ORDER release: pairs with tamis__cell_peek(): who sees this cell raised also sees the
         * slot, and the cells that were raised before.  ORDER acquire: what the last raiser
         * released is passed on by us. */
    } while (!__atomic_compare_exchange_n(word, &old, old + ((uint64_t)1 << shift), true,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return 0;
}

int tamis__fail_count(const struct tamis__cells *cells, uint64_t cell)
{
    return tamis__fail(TAMIS_ELIMIT,
                       "counter %llu of segment %llu would pass 2^60, as in filters that are "
                       "damaged or were merged into each other in turn; make them anew",
                       (unsigned long long)cell,
                       (unsigned long long)cells->segment->header->number);
}

static int raise_marked_by(const struct tamis__cells *cells, uint64_t cell, uint64_t more)
{
    struct tamis__slot *slot;
    const int rc = slot_of_marked(cells, cell, &slot);
    if (rc < 0) return rc;
    /* ORDER relaxed: only the size of the count matters, and there is room above the limit for
     * merges that race past it. */
    const uint64_t is = count_of(cells, __atomic_load_n(&slot->above, __ATOMIC_RELAXED));
    if (more > TAMIS__COUNT_MAX || is > TAMIS__COUNT_MAX - more)
        return tamis__fail_count(cells, cell);
    /* ORDER acq_rel: as raise(). */
    (void)__atomic_fetch_add(&slot->above, more, __ATOMIC_ACQ_REL);
    return 0;
}

int tamis__cell_raise_by(const struct tamis__cells *cells, uint64_t cell, uint64_t more)
{
    uint64_t *word = tamis__cell_word(cells, cell);
    const unsigned shift = tamis__cell_shift(cells, cell);
    uint64_t value, step,
        old = __atomic_load_n(word, __ATOMIC_RELAXED); /* ORDER: the swap decides */
    bool has_slot = false;
    do { /* up to the mark; the rest goes into the slot, so the count never falls */
        value = old >> shift & cells->most;
        if (value == cells->most) return raise_marked_by(cells, cell, more);
        step = cells->most - value < more ? cells->most - value : more;
        if (value + step == cells->most && !has_slot) {
            const int rc = tamis__cell_take_slot(cells, cell);
            if (rc < 0) return rc;
            has_slot = true;
        }
        /* ORDER acq_rel: as raise(). */
    } while (!__atomic_compare_exchange_n(word, &old, old + (step << shift), true, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED));
    return step < more ? raise_marked_by(cells, cell, more - step) : 0;
}

void tamis__cell_cut(const struct tamis__cells *cells, uint64_t cell, uint64_t count)
{
    uint64_t *word = tamis__cell_word(cells, cell);
    const unsigned shift = tamis__cell_shift(cells, cell);
    if (tamis__cell_get(cells, cell) <= count) return;
    if (tamis__cell_peek(cells, cell) < cells->most) {
        *word = (*word & ~(cells->most << shift)) | count << shift;
        return;
    }
    struct tamis__slot *slot = find_slot(cells, cell);
    if (slot != NULL) slot->above = count - cells->most;
}

uint64_t tamis__cell_lower_slowly(const struct tamis__cells *cells, uint64_t cell)
{
    uint64_t *word = tamis__cell_word(cells, cell);
    const unsigned shift = tamis__cell_shift(cells, cell);
    uint64_t value, old = __atomic_load_n(word, __ATOMIC_RELAXED); /* ORDER: the swap decides */
    do {
        value = old >> shift & cells->most;
        if (value == cells->most) {
            struct tamis__slot *slot = find_slot(cells, cell);
            if (slot == NULL) return value; /* damage: the count is not known, and stays too high */
            /* ORDER acq_rel: as raise(). */
            return count_of(cells, __atomic_fetch_sub(&slot->above, 1, __ATOMIC_ACQ_REL));
        }
        if (value == 0) return 0; /* two removers had no lock: see counting.c */
    } while (!__atomic_compare_exchange_n(word, &old, old - ((uint64_t)1 << shift), true,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return value;
}

/* ---- Many cells at once ---------------------------------------------------------------------- */

uint64_t tamis__word_above_zero(const struct tamis__cells *cells, uint64_t index)
{
    const unsigned per_word = tamis__cells_per_word(cells);
    /* ORDER relaxed: this counts what changes anyway. */
    uint64_t above = 0, word = __atomic_load_n(&cells->words[index], __ATOMIC_RELAXED);
    if (tamis__word_has_marked(cells, word)) {
        for (unsigned i = 0; i < per_word; i++)
            above |= (uint64_t)(tamis__cell_get(cells, index * per_word + i) > 0)
                     << (i << cells->width_log2);
        return above;
    }
    for (unsigned step = 1; step < 1u << cells->width_log2; step *= 2)
        word |= word >> step; /* as above, the OR */
    return word & tamis__lowest_bits(cells);
}

unsigned tamis__cells_above_zero(const struct tamis__cells *cells, uint64_t first, unsigned count)
{
    const unsigned per_word = tamis__cells_per_word(cells);
    unsigned sum = 0;
    for (uint64_t cell = first; cell < first + count; cell += per_word)
        sum += (unsigned)__builtin_popcountll(
            tamis__word_above_zero(cells, cell >> (6 - cells->width_log2)));
    return sum;
}

int tamis__cells_each_marked(const struct tamis__cells *cells,
                             int (*fn)(void *context, uint64_t cell, uint64_t count), void *context)
{
    const uint64_t slots = cells->first_slots * (((uint64_t)1 << levels_in_force(cells)) - 1);
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < slots; i++) {
        /* ORDER acquire: as find_slot(); who sees the owner sees the slot. */
        const uint64_t owner = __atomic_load_n(&cells->slots[i].owner, __ATOMIC_ACQUIRE);
        if (owner == 0 || owner > cells->segment->header->m_bits) continue;
        if (tamis__cell_peek(cells, owner - 1) == cells->most)
            rc = fn(context, owner - 1, tamis__cell_get_marked(cells, owner - 1));
    }
    return rc;
}

int tamis__cell_set(const struct tamis__cells *cells, uint64_t cell, uint64_t count)
{
    if (tamis__cell_peek(cells, cell) == cells->most) {
        const int rc = tamis__cell_take_slot(cells, cell);
        if (rc < 0) return rc;
    }
    const uint64_t is = tamis__cell_get(cells, cell);
    if (count > is) return tamis__cell_raise_by(cells, cell, count - is);
    tamis__cell_cut(cells, cell, count);
    return 0;
}

/* ---- Copies -------------------------------------------------------------------------------- */

/* Returns true if the slot was given up. */
static bool mend_slot(const struct tamis__cells *cells, struct tamis__slot *slot)
{
    const uint64_t cell = slot->owner - 1;
    if (slot->owner == 0) return false;
    if (slot->owner > cells->segment->header->m_bits || find_slot(cells, cell) != slot) {
        *slot = (struct tamis__slot){0, 0};
        return true;
    }
    if (tamis__cell_peek(cells, cell) != cells->most) slot->above = 0;
    return false;
}

void tamis__cells_mend_copy(const struct tamis__cells *cells)
{
    const uint32_t levels = levels_in_force(cells);
    const uint64_t slots = cells->first_slots * (((uint64_t)1 << levels) - 1);
    bool again = levels > 0;
    while (again) { /* a cell that was found past a slot that is free now is no longer found */
        again = false;
        for (uint64_t i = 0; i < slots; i++)
            again |= mend_slot(cells, &cells->slots[i]);
    }
}

/* ---- After a power cut ----------------------------------------------------------------------- */

int tamis__cells_mend(const struct tamis__cells *cells, uint64_t file_bytes)
{
    struct tamis__segment_header *h = cells->segment->header;
    const uint64_t per_word = tamis__cells_per_word(cells);
    uint32_t levels = levels_in_force(cells);
    int rc = 0;
    while (levels < cells->levels_max &&
           h->file_bytes + tamis__overflow_bytes(h->m_bits, levels + 1) <= file_bytes)
        levels++;
    /* ORDER release: as put_level_in_force(). */
    __atomic_store_n(&cells->segment->live->overflow_levels, levels, __ATOMIC_RELEASE);
    tamis__cells_mend_copy(cells);
    for (uint64_t w = 0; rc == 0 && w < h->data_bytes / 8; w++) {
        if (!tamis__word_has_marked(cells, cells->words[w])) continue;
        for (uint64_t cell = w * per_word; rc == 0 && cell < (w + 1) * per_word; cell++)
            if (tamis__cell_peek(cells, cell) == cells->most && find_slot(cells, cell) == NULL)
                rc = tamis__cell_take_slot(cells, cell);
    }
    return rc;
}

/* ---- Verifying ------------------------------------------------------------------------------- */

static int verify_slot(const struct tamis__cells *cells, const struct tamis__slot *slot,
                       const char **reason)
{
    const uint64_t owner = __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE); /* ORDER: a snapshot */
    const uint64_t above = __atomic_load_n(&slot->above, __ATOMIC_ACQUIRE);
    if (owner == 0) {
        *reason = "has a count in a free slot of its overflow table; restore it from a copy";
        return above != 0 && __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE) == 0;
    }
    *reason = "has an overflow slot of a counter that is not there; restore it from a copy";
    if (owner > cells->segment->header->m_bits) return 1;
    *reason = "has an overflow slot where nothing would look for it; restore it from a copy";
    if (find_slot(cells, owner - 1) != slot) return 1;
    *reason = "has a count below zero in its overflow table; restore it from a copy";
    if ((cells->most + above) >> 63 != 0) return 1;
    *reason = "has an overflow count of a counter that has not overflowed; restore it from a copy";
    return above != 0 && tamis__cell_peek(cells, owner - 1) != cells->most;
}

int tamis__cells_verify(const struct tamis__cells *cells, uint64_t *offset, const char **reason)
{
    const struct tamis__segment_header *h = cells->segment->header;
    const uint32_t levels = levels_in_force(cells);
    for (uint32_t level = 0; level < levels; level++) {
        const struct tamis__slot *table = level_of(cells, level);
        const uint64_t slots = cells->first_slots << level;
        for (uint64_t i = 0; i < slots; i++) {
            *offset = h->file_bytes + tamis__overflow_bytes(h->m_bits, level) + i * sizeof *table;
            if (verify_slot(cells, &table[i], reason)) return 1;
        }
    }
    *reason = "has an overflowed counter without its slot; restore it from a copy";
    const uint64_t per_word = tamis__cells_per_word(cells);
    for (uint64_t w = 0; w < h->data_bytes / 8; w++) {
        *offset = h->data_offset + w * 8;
        if (w % TAMIS__WANT_WORDS == 0)
            tamis__segment_want(cells->segment, w * 8, TAMIS__WANT_BYTES);
        /* ORDER relaxed: if a word has a marked cell, its cells are looked at again. */
        if (!tamis__word_has_marked(cells, __atomic_load_n(&cells->words[w], __ATOMIC_RELAXED)))
            continue;
        for (uint64_t cell = w * per_word; cell < (w + 1) * per_word; cell++)
            if (tamis__cell_peek(cells, cell) == cells->most && find_slot(cells, cell) == NULL)
                return 1;
    }
    return 0;
}
