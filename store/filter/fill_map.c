/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fill_map.c: says how full each part of a segment is.
 *
 * Bits, counters and fingerprints are all lanes of 2^n bits in 64-bit words.  A lane counts if it
 * is not 0.  Parts end between lanes, which may be inside a word.  Packed fingerprints are lanes of
 * another width, which end anywhere in a word; they are looked at one by one.
 */
#include "filter/alike.h"
#include "handle/follow.h"
#include "kind/cells.h"
#include "kind/fuse.h"

struct lanes {
    const struct tamis__segment *segment;
    const uint64_t *words; /* behind the seeds of a fuse filter */
    uint64_t offset;       /* of the words in the data, bytes */
    uint64_t count;
    unsigned width; /* of a lane in bits */
    bool is_packed; /* lanes do not fill words */
    bool reversed;  /* the first bit of a byte is its most significant one */
    bool counts;    /* lanes are counters */
};

static struct lanes lanes_of(const struct tamis__segment *segment)
{
    const struct tamis__segment_header *h = segment->header;
    struct lanes lanes = {.segment = segment, .count = h->m_bits, .width = 1};
    if (h->counter_bits != 0) lanes.width = h->counter_bits;
    lanes.counts = h->counter_bits != 0;
    if (h->fingerprint_bits != 0) {
        lanes.width = h->fingerprint_bits;
        lanes.count = h->m_bits / lanes.width;
        lanes.is_packed = tamis__fuse_is_packed(lanes.width);
        lanes.offset = ((uint64_t)h->pieces * 8 + 63) / 64 * 64;
    }
    lanes.words = segment->data + lanes.offset / 8;
    lanes.reversed = h->bit_order == TAMIS__BITS_MSB_FIRST;
    return lanes;
}

/* Counts the lanes of a word that are not 0. */
static unsigned lanes_set(uint64_t word, unsigned width)
{
    static const uint64_t lowest[] = {
        [1] = UINT64_MAX,           [4] = 0x1111111111111111u,  [8] = 0x0101010101010101u,
        [16] = 0x0001000100010001u, [32] = 0x0000000100000001u,
    };
    for (unsigned step = 1; step < width; step *= 2)
        word |= word >> step; /* the lowest bit of a lane becomes the OR of all of its bits */
    return (unsigned)__builtin_popcountll(word & lowest[width]);
}

/* A counter that has once outgrown its bits keeps a mark, which is not 0, whatever it counts. */
static uint64_t load_counters(const struct lanes *lanes, uint64_t index)
{
    const struct tamis__cells cells = tamis__cells_of(lanes->segment);
    return tamis__word_above_zero(&cells, index);
}

static uint64_t load_lane(const struct lanes *lanes, uint64_t index)
{
    if (lanes->counts) return load_counters(lanes, index);
    /* ORDER relaxed: nothing else is inferred from a bit. */
    const uint64_t word = __atomic_load_n(&lanes->words[index], __ATOMIC_RELAXED);
    return lanes->reversed ? tamis__reverse_bits(word) : word;
}

/* Counts the lanes in the bits [first, end) of the words. */
static uint64_t count_run(const struct lanes *lanes, uint64_t first, uint64_t end)
{
    const uint64_t last = (end - 1) / 64;
    const uint64_t head = UINT64_MAX << first % 64;
    const uint64_t tail = end % 64 == 0 ? UINT64_MAX : ~(UINT64_MAX << end % 64);
    uint64_t i = first / 64;
    if (i == last) return lanes_set(load_lane(lanes, i) & head & tail, lanes->width);
    uint64_t set = lanes_set(load_lane(lanes, i) & head, lanes->width);
    while (++i < last)
        set += lanes_set(load_lane(lanes, i), lanes->width);
    return set + lanes_set(load_lane(lanes, last) & tail, lanes->width);
}

/* Counts packed fingerprints, and gives back what was read after each piece. */
static uint64_t count_packed(const struct lanes *lanes, uint64_t first, uint64_t end)
{
    const uint32_t mask = tamis__fuse_mask(TAMIS__FUSE_PACKED, lanes->width);
    const uint64_t step = TAMIS__PIECE_WORDS; /* lanes; of 32 bits at most */
    uint64_t set = 0;
    for (uint64_t lane = first; lane < end; lane++) {
        set += (tamis__fuse_fingerprint(lanes->words, lane, TAMIS__FUSE_PACKED, lanes->width) &
                mask) != 0;
        if ((lane + 1) % step == 0)
            tamis__segment_release(lanes->segment,
                                   lanes->offset + (lane + 1 - step) * lanes->width / 8,
                                   step * lanes->width / 8);
    }
    return set;
}

/* Counts piece by piece, and gives back the pages of each piece after it. */
static uint64_t count_lanes(const struct lanes *lanes, uint64_t first, uint64_t end)
{
    const uint64_t piece = TAMIS__PIECE_WORDS * 64, last = end * lanes->width;
    uint64_t set = 0, next;
    for (uint64_t at = first * lanes->width; at < last; at = next) {
        const uint64_t piece_end = (at / piece + 1) * piece;
        next = piece_end < last ? piece_end : last;
        if (at % piece == 0) tamis__segment_want(lanes->segment, lanes->offset + at / 8, piece / 8);
        set += count_run(lanes, at, next);
        if (next == piece_end)
            tamis__segment_release(lanes->segment, lanes->offset + (piece_end - piece) / 8,
                                   piece / 8);
    }
    return set;
}

TAMIS_API int tamis_filter_fill_map(tamis_filter *filter, uint32_t index, double *fill,
                                    size_t count)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    struct tamis__view *view;
    if (fill == NULL || count == 0)
        return tamis__fail(TAMIS_EINVAL, "tamis_filter_fill_map needs room for one part or more");
    const int rc = tamis__visit_segment(filter, index, &view);
    if (rc < 0) return rc;
    const struct lanes lanes = lanes_of(&view->segments[index].segment);
    for (size_t i = 0; i < count; i++) {
        const uint64_t first = (uint64_t)((tamis__u128)lanes.count * i / count);
        uint64_t end = (uint64_t)((tamis__u128)lanes.count * (i + 1) / count);
        if (end == first) end++; /* there are more parts than lanes: some share a lane */
        const uint64_t set =
            lanes.is_packed ? count_packed(&lanes, first, end) : count_lanes(&lanes, first, end);
        fill[i] = (double)set / (double)(end - first);
    }
    return (int)tamis__leave_with(filter, view, 0);
}
