/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shard.c: shards to slots, and how large they are; see shard.h.
 *
 * Keys go to shards as in a multinomial distribution, so a shard of n keys over N shards gets n/N
 * on average, with a standard deviation of at most sqrt(n/N).  With four of them on top, one shard
 * in 30,000 gets more than it is made for, and that one grows (docs/cluster.md).
 */
#include "shard.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tamis.h"

/* CRC-16/XMODEM: polynomial 0x1021, begun with 0, most significant bit first. */
static uint32_t crc16(const char *bytes, size_t count)
{
    uint32_t crc = 0;
    for (size_t i = 0; i < count; i++) {
        crc ^= (uint32_t)(unsigned char)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021u : 0);
    }
    return crc & 0xFFFF;
}

/* If a key has hash tags, "{...}" with something in it, only the first of them counts. */
uint32_t shard_slot(const char *redis_key, size_t bytes)
{
    const char *open = memchr(redis_key, '{', bytes);
    if (open != NULL) {
        const size_t rest = bytes - (size_t)(open + 1 - redis_key);
        const char *close = memchr(open + 1, '}', rest);
        if (close != NULL && close > open + 1)
            return crc16(open + 1, (size_t)(close - open - 1)) % SLOTS;
    }
    return crc16(redis_key, bytes) % SLOTS;
}

uint64_t shard_capacity(uint64_t capacity, uint32_t shards)
{
    const double mean = (double)capacity / shards;
    if (shards <= 1) return capacity;
    return (uint64_t)ceil(mean + 4 * sqrt(mean));
}

/* The share of its rate that a filter which may grow gives to its first segment, and the slices of
 * a window where none are asked for: as the library has them (docs/sizing.md). */
#define FIRST_SHARE 0.5
#define SLICES_DEFAULT 10u

/* The bytes of a shard's files, about; a window has one slice more than it is long. */
static uint64_t shard_bytes(const struct tamis_filter_spec *spec, uint32_t shards)
{
    const bool windowed = spec->window_ns != 0;
    const bool fixed =
        tamis_kind_has(spec->kind, TAMIS_KIND_COUNTS) || spec->on_full > TAMIS_ON_FULL_GROW;
    const uint32_t slices = spec->slices != 0 ? spec->slices : SLICES_DEFAULT;
    struct tamis_sizing sizing = {.size = sizeof sizing,
                                  .kind = spec->kind,
                                  .capacity = shard_capacity(spec->capacity, shards),
                                  .fp_rate = fixed ? spec->fp_rate : spec->fp_rate * FIRST_SHARE,
                                  .counter_bits = spec->counter_bits};
    if (windowed) {
        sizing.capacity = sizing.capacity / slices + 1;
        sizing.fp_rate /= slices + 1;
    }
    sizing.capacity += 64 + sizing.capacity / 1024; /* what adders do before one is found full */
    /* Near the least rate that there is, the library leaves nothing for growth. */
    if (sizing.fp_rate < TAMIS_FP_RATE_MIN) sizing.fp_rate = TAMIS_FP_RATE_MIN;
    if (tamis_size(&sizing) < 0) return UINT64_MAX;
    return windowed ? (slices + 1) * sizing.file_bytes : sizing.file_bytes;
}

uint32_t shard_count_for(const struct tamis_filter_spec *spec)
{
    for (uint32_t shards = 1; shards <= SHARDS_MAX; shards *= 2)
        if (shard_bytes(spec, shards) <= SHARD_BYTES_MAX) return shards;
    return 0;
}
