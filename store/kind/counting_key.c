/* SPDX-License-Identifier: BSD-2-Clause */
/* counting_key.c: the rare and slow parts of counting_key.h; counting.h declares them. */
#include "kind/counting.h"
#include "kind/points.h"

uint64_t tamis__counting_least(const struct tamis__segment *segment,
                               const struct tamis__key_cells *key, unsigned z)
{
    const struct tamis__cells cells = tamis__cells_of(segment);
    uint64_t least = UINT64_MAX;
    for (unsigned w = 0; w < z; w++)
        for (uint64_t left = key->mask[w]; left != 0 && least > 0; left &= left - 1) {
            const uint64_t cell = key->word[w] * 64 + (unsigned)__builtin_ctzll(left);
            const uint64_t value = tamis__cell_get(&cells, cell);
            if (value < least) least = value;
        }
    return least;
}

int tamis__counting_lock(const struct tamis__cells *cells, const struct tamis__key_cells *key)
{
    if (TAMIS__NO_BLOCK_LOCK) return 0;
    const int rc = tamis__segment_lock_block(cells->segment, key->word[0] / TAMIS__BLOCK_WORDS);
    if (rc == 0) TAMIS__POINT(TAMIS__POINT_BLOCK_LOCKED);
    return rc;
}

void tamis__counting_unlock(const struct tamis__cells *cells, const struct tamis__key_cells *key)
{
    if (TAMIS__NO_BLOCK_LOCK) return;
    tamis__segment_unlock_block(cells->segment, key->word[0] / TAMIS__BLOCK_WORDS);
}

int tamis__counting_take_slots(const struct tamis__cells *cells, uint64_t word, uint64_t full,
                               uint64_t *zero)
{
    for (uint64_t left = full; left != 0; left &= left - 1) {
        const uint64_t cell = word * 64 + (unsigned)__builtin_ctzll(left);
        const uint64_t value = tamis__cell_peek(cells, cell);
        if (value == cells->most - 1) {
            const int rc = tamis__cell_take_slot(cells, cell);
            if (rc < 0) return rc;
        }
        if (value == cells->most && tamis__cell_get_marked(cells, cell) == 0) *zero |= left & -left;
    }
    return 0;
}

/*
 * There had been room for all cells a moment before.  This works as a remover, since others might
 * have looked at the cells.  Somebody who removed a key that was never added may even have used the
 * raises up.  If the lock cannot be had, the raises stay: a false positive.
 */
void tamis__counting_take_back(const struct tamis__cells *cells, const struct tamis__key_cells *key,
                               unsigned z, uint64_t failed)
{
    if (tamis__counting_lock(cells, key) < 0) return;
    for (unsigned w = 0; w < z; w++)
        for (uint64_t left = key->mask[w]; left != 0; left &= left - 1) {
            const uint64_t cell = key->word[w] * 64 + (unsigned)__builtin_ctzll(left);
            if (cell == failed) {
                tamis__counting_unlock(cells, key);
                return;
            }
            if (tamis__cell_get(cells, cell) > 0) (void)tamis__cell_lower(cells, cell);
        }
    tamis__counting_unlock(cells, key);
}
