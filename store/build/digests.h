/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * digests.h: arrays of 64-bit digests: sorts them, removes duplicates, sums them up.
 *
 * Digests are hashes, so the high bits of a digest nearly say its place.  Two things make that
 * untrue: one digest many times, or keys that somebody has chosen.  Then sorting costs a constant
 * factor more of time and memory, never a square.
 */
#pragma once

#include "segment/header.h"

/* Sorts in place.  All digests have the same bits from bit `bits` on (64: nothing is known of
 * them). spare has room for as many. */
void tamis__digests_sort(uint64_t *digests, uint64_t *spare, size_t count, unsigned bits);
/* The `bits` for digests that all lie in low .. high. */
unsigned tamis__digests_bits(uint64_t low, uint64_t high);

/* Copies each of some sorted digests once to `to`, which may be where they are.  Returns how
 * many. */
size_t tamis__digests_unique(uint64_t *to, const uint64_t *digests, size_t count);

/* The first index of sorted digests whose digest is `digest` or more. */
size_t tamis__digests_find(const uint64_t *digests, size_t count, uint64_t digest);

/* The part of a set of digests in the key digest of all (docs/format.md): the sum of their
 * XXH3-128, mod 2^128. */
tamis__u128 tamis__digests_sum(const uint64_t *digests, size_t count);
/* The sum as it stands in files: little-endian. */
void tamis__digests_sum_bytes(tamis__u128 sum, uint8_t bytes[TAMIS__KEY_DIGEST_BYTES]);

/*
 * The first step of sorting many digests: it moves a slice of one array to ranges of another, by
 * the highest `bits` of each digest, at most TAMIS__RANGE_BITS_MAX. places[r] is where the slice's
 * next digest of range r goes; it is advanced.
 */
#define TAMIS__RANGE_BITS_MAX 11u
void tamis__digests_count(const uint64_t *digests, size_t count, unsigned bits, uint64_t *counts);
void tamis__digests_scatter(const uint64_t *digests, size_t count, unsigned bits, uint64_t *to,
                            uint64_t *places);
