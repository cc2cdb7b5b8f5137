/* SPDX-License-Identifier: BSD-2-Clause */
/* numbers.h: keys that are numbers, of 8 bytes each, in the form that batches take. */
#ifndef TAMIS_SUPPORT_NUMBERS_H
#define TAMIS_SUPPORT_NUMBERS_H

#include "tamis.h"

/* Let keys[i] be numbers[i]. */
static inline void numbers_as_keys(const uint64_t *numbers, size_t count, struct tamis_key *keys)
{
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tamis_key){&numbers[i], sizeof numbers[i]};
}

/* Let keys[i] be numbers[i], and that be `from` + i. */
static inline void numbers_from(uint64_t from, size_t count, uint64_t *numbers,
                                struct tamis_key *keys)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = from + i;
    numbers_as_keys(numbers, count, keys);
}

#endif
