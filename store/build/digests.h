/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * digests.h: arrays of 64-bit digests: brought in order, without duplicates, summed up.
 *
 * Digests are hashes, so where one belongs is known nearly from its high bits; what makes that
 * untrue (one digest many times, or someone who has chosen the keys) costs time and memory of a
 * constant factor, never a square.
 */
#ifndef TAMIS_BUILD_DIGESTS_H
#define TAMIS_BUILD_DIGESTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "file/header.h"

/* In order, in place; all have the same bits from bit `bits` on (64: nothing is known of them).
 * spare has room for as many. */
void tamis__digests_sort(uint64_t *digests, uint64_t *spare, size_t count, unsigned bits);
/* The `bits` for digests that all lie in low .. high. */
unsigned tamis__digests_bits(uint64_t low, uint64_t high);

/* Of digests in order: copy each once to `to`, which may be where they are.  How many that is. */
size_t tamis__digests_unique(uint64_t *to, const uint64_t *digests, size_t count);

/* The first index in order whose digest is `digest` or more. */
size_t tamis__digests_find(const uint64_t *digests, size_t count, uint64_t digest);

/* What a set of digests adds to its key digest (docs/format.md): the sum of their XXH3-128, mod
 * 2^128. */
tamis__u128 tamis__digests_sum(const uint64_t *digests, size_t count);
/* The sum as it stands in files: little-endian. */
void tamis__digests_sum_bytes(tamis__u128 sum, uint8_t bytes[TAMIS__KEY_DIGEST_BYTES]);

/*
 * The first step of sorting many: from a slice of an array to ranges of another, by the highest
 * `bits` of each digest, at most TAMIS__RANGE_BITS_MAX.  places[r] is where the slice's next digest
 * of range r goes, and is moved on.
 */
#define TAMIS__RANGE_BITS_MAX 11u
void tamis__digests_count(const uint64_t *digests, size_t count, unsigned bits, uint64_t *counts);
void tamis__digests_scatter(const uint64_t *digests, size_t count, unsigned bits, uint64_t *to,
                            uint64_t *places);

#endif
