/* SPDX-License-Identifier: BSD-2-Clause */
/* redisbloom.h: what a segment keeps of the layer of RedisBloom that it was imported from, and how
 * a filter goes on after it. */
#pragma once

#include "exchange/exchange.h"

/*
 * What a segment keeps of the layer that it was imported from (`kept` in its header).  All is 0 in
 * a segment that Tamis made.  No position depends on it.
 */
#define TAMIS__ORIGIN_FIELDS(FIELD, s)                                                             \
    FIELD(s, 0, uint64_t, bpe, , "f64, bits per entry of the layer")                               \
    FIELD(s, 8, uint32_t, options, , "of the chain; never 0, as FORCE64 is one")                   \
    FIELD(s, 12, uint32_t, growth, , "of the chain: how many times as large the next layer is")    \
    FIELD(s, 16, uint32_t, n2, , "of the layer: 0, or log2 of its bits")                           \
    FIELD(s, 20, uint32_t, zero, , "0")
TAMIS__FILE_STRUCT(tamis__layer_origin, TAMIS__ORIGIN_FIELDS, 24);

/* What RedisBloom does with a full filter of that layer: TAMIS_ON_FULL_GROW or _REFUSE. */
uint32_t tamis__redisbloom_on_full(const struct tamis__segment_header *layer);
/* Does a filter that grows go on in layers of RedisBloom after this segment?  Only one that was
 * imported from there knows its growth. */
bool tamis__redisbloom_grows(const struct tamis__segment_header *newest);
/* Describes the layer after `newest`: `growth` times its capacity, half of its error rate.
 * TAMIS_ELIMIT: there can be none. */
int tamis__redisbloom_next(const struct tamis__segment_header *newest, struct tamis__layer *next);
