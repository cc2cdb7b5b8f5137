/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * valkey.h: the filter of valkey-bloom itself, bit for bit, in the server's memory.
 *
 * BF.* makes these with tamis.like valkey and tamis.exact, BF.INSERT with SEED or TIGHTENING always
 * does, and valkey-bloom's own dumps become them.  A value that has one has no filter in the store.
 * (valkey-bloom 1.0, and the crate bloomfilter 3.0 whose filters it has.)
 *
 *     layers      The first has the capacity and the rate that were asked for.  When it is full,
 *                 another one follows: capacity * expansion, rate * tightening ratio.
 *     layer       version 1 as u8, bytes of the bits as u64, k as u32, seed; then the bits, the
 *                 lowest bit of a byte first.  All of this is little-endian, and one block here.
 *     size        ceil(n ln p / (-8 (ln 2)^2)) bytes for n keys at rate p; k is
 *                 round(bits / n * ln 2), at least 1
 *     positions   h0 and h1 are SipHash-1-3 of the item's length, as u64, and the item, under the
 *                 first and the second half of the seed.  Then position i is h0, h1, and from i = 2
 *                 on (h0 + i h1 mod 2^64) mod (2^64 - 59); each modulo the number of bits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "value/guest.h"

#define VALKEY_HEAD_BYTES 45u /* of a layer, before its bits */
/* A layer has at most 1,437 positions, that of one key at the smallest rate; more of them in a dump
 * would only be asked to keep the server busy. */
#define VALKEY_HASHES_MAX 2048u

/* What is told when a filter cannot be made, or take a key. */
#define VALKEY_NO_RATE "ERR false positive degrades to 0 on scale out"
#define VALKEY_BAD_CAPACITY "ERR bad capacity"
#define VALKEY_FULL "ERR non scaling filter is full"

struct valkey_layer {
    uint8_t *data;  /* head and bits, one block */
    uint64_t bytes; /* of the bits */
    int64_t items, capacity;
    uint32_t hashes;
};

struct valkey {
    struct valkey_shape shape;
    struct valkey_layer *layers;
    uint32_t count, room;
};

/* The seed of filters that are made without a random one. */
extern const uint8_t valkey_fixed_seed[VALKEY_SEED_BYTES];

/* Makes an empty filter.  Returns NULL and, in *error, what is wrong.  Where filters have limits
 * (config.h), tamis.memory-usage-limit and tamis.max-bytes are the most that it may take. */
struct valkey *valkey_new(const struct valkey_shape *shape, const char **error);
struct valkey *valkey_copy(const struct valkey *from);
void valkey_free(struct valkey *valkey);

/* Appends a layer that a dump has: a block of `bytes` bytes, head and bits, which the filter owns
 * from then on.  Returns false, and takes nothing, if it is damaged or has another seed. */
bool valkey_take_layer(struct valkey *valkey, uint8_t *data, size_t bytes, int64_t items,
                       int64_t capacity);
/* Is the shape of a dump one that a filter can have? */
bool valkey_shape_is_sound(const struct valkey_shape *shape);

bool valkey_contains(const struct valkey *valkey, const char *item, size_t bytes);
/* Returns 1: added; 0: it was there; -1: *error says what is wrong. */
int valkey_add(struct valkey *valkey, const char *item, size_t bytes, const char **error);

int64_t valkey_items(const struct valkey *valkey);
/* What valkey-bloom calls its size: the memory that it has for such a filter. */
uint64_t valkey_size_bytes(const struct valkey *valkey);
/* Is that more than it may take now? */
bool valkey_is_too_large(uint64_t size_bytes);

/* How many keys a filter of such a shape could hold if it grew up to the limits; no seed is needed.
 * With `wanted` above 0: an error in *error if they are fewer than that. */
int64_t valkey_most_keys(const struct valkey_shape *shape, int64_t wanted, const char **error);
