/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redis_bitmap.c: format `redis-bitmap`: what GET answers for a Redis key that SETBIT filled.
 *
 * Position b is at byte b / 8, mask 0x80 >> b % 8, and the string ends at the byte of its highest
 * set bit.  The string says nothing of m, k and the hash functions, and its length follows from
 * chance.  So the caller must tell all of these (the one layer of the outline).  The only check is
 * that no bit is past m.
 */
#include "exchange/exchange.h"

/* Reports that the string is not of that m: `what` is wrong at `offset`. */
static int fail_m(const struct tamis__reader *reader, uint64_t offset, const char *what,
                  uint64_t m_bits)
{
    char reason[160];
    (void)snprintf(reason, sizeof reason,
                   "%s m = %llu bit%s, so it is of another filter; give the m that this one was "
                   "filled with",
                   what, (unsigned long long)m_bits, tamis__plural(m_bits));
    return tamis__reader_fail(reader, TAMIS_EINVAL, offset, reason);
}

static int redis_bitmap_load(struct tamis__reader *reader, const struct tamis__outline *outline,
                             const struct tamis__stream_target *target)
{
    const uint64_t m_bits = outline->layers[0].segment.m_bits;
    const uint64_t most = (m_bits + 7) / 8;
    for (;;) {
        unsigned char *data;
        const uint64_t offset = reader->offset;
        int rc = tamis__reader_fill(reader, TAMIS__PIECE_BYTES);
        const size_t bytes = reader->end - reader->start;
        if (rc < 0 || bytes == 0) return rc;
        rc = tamis__reader_take(reader, bytes, &data);
        if (rc < 0) return rc;
        if (bytes > most - offset) return fail_m(reader, most, "is longer than", m_bits);
        if (m_bits % 8 != 0 && offset + bytes == most && data[bytes - 1] & 0xFFu >> m_bits % 8)
            return fail_m(reader, most - 1, "has a bit past", m_bits);
        rc = target->write(target->context, 0, data, bytes);
        if (rc < 0) return rc;
    }
}

static int redis_bitmap_check(const struct tamis__cargo *cargo)
{
    return tamis__check_one_bloom(cargo, tamis__format_redis_bitmap.name);
}

/* Returns the bytes up to the last that is not 0; it searches from the end, piece by piece. */
static uint64_t used_bytes(const struct tamis__segment *segment)
{
    uint64_t end = segment->header->data_bytes;
    while (end > 0) {
        const uint64_t begin = (end - 1) / TAMIS__PIECE_BYTES * TAMIS__PIECE_BYTES;
        tamis__segment_want(segment, begin, end - begin);
        for (uint64_t words = end / 8; words > begin / 8; words--) {
            /* ORDER relaxed: as tamis__copy_out(). */
            const uint64_t word = __atomic_load_n(&segment->data[words - 1], __ATOMIC_RELAXED);
            if (word != 0) return words * 8 - (uint64_t)__builtin_clzll(word) / 8;
        }
        tamis__segment_release(segment, begin, end - begin);
        end = begin;
    }
    return 0;
}

static int redis_bitmap_save(const struct tamis__cargo *cargo, struct tamis__writer *writer)
{
    const struct tamis__passage passage = {.bit_order = TAMIS__BITS_MSB_FIRST};
    const struct tamis__segment *segment = cargo->segments[0];
    return tamis__writer_data(writer, segment, &passage, 0, used_bytes(segment));
}

const struct tamis__format tamis__format_redis_bitmap = {
    .name = "redis-bitmap",
    .load = redis_bitmap_load,
    .check = redis_bitmap_check,
    .save = redis_bitmap_save,
};
