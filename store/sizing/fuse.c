/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse.c: see fuse.h; docs/decisions/0013 has the measurements behind the numbers.
 *
 * A fuse filter is made of pieces, and a piece of segments: runs of slots, which here are no
 * files.  A piece of n keys can be peeled, nearly always, when its first slots (all but the last
 * two segments) are n times a ratio.  The ratio falls towards 1.0895 the longer the segments are
 * (3-wise, spatially coupled: Walzer, "Peeling close to the orientability threshold", 2021).
 * The two segments at the end are lost to the piece, so segments must not be too long either:
 * about 4 sqrt(n) slots.
 */
#include "sizing/fuse.h"

#include <math.h>

#include "sizing/layout.h"

/* Keys of a piece in a filter of many pieces.  A piece is so large that its ends and the
 * differences between pieces cost little.  It is so small that the work on it fits the caches, and
 * that there is work for each processor. */
#define PIECE_KEYS 1500000u
/* The most slots that an array of fingerprints can have, so that its size in bits
 * stays below TAMIS__M_BITS_MAX. */
#define SLOTS_MAX ((uint64_t)1 << 56)

#define FINGERPRINT_BITS_MIN 8u
#define FINGERPRINT_BITS_MAX 32u

struct row {
    uint64_t keys_max; /* the most keys of a piece that this row is for */
    uint32_t segment_slots;
    uint32_t ratio; /* first slots to keys, in thousandths */
};

static const struct row rows[] = {
    {12, 8, 1250},           {48, 16, 1100},        {160, 32, 1200},       {640, 64, 1250},
    {3000, 128, 1240},       {12000, 256, 1230},    {50000, 512, 1190},    {150000, 1024, 1160},
    {300000, 2048, 1135},    {1200000, 4096, 1124}, {5000000, 8192, 1115}, {20000000, 16384, 1115},
    {80000000, 32768, 1115},
};
static const struct row last_row = {UINT64_MAX, TAMIS__FUSE_SEGMENT_SLOTS_MAX, 1115};

static const struct row *row_of(uint64_t keys)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (keys <= rows[i].keys_max) return &rows[i];
    return &last_row;
}

static bool fingerprint_bits_are_valid(uint32_t bits)
{
    return bits >= FINGERPRINT_BITS_MIN && bits <= FINGERPRINT_BITS_MAX;
}

uint32_t tamis__fuse_fingerprint_bits(double fp_rate)
{
    for (uint32_t bits = FINGERPRINT_BITS_MIN; bits <= FINGERPRINT_BITS_MAX; bits++)
        if (exp2(-(double)bits) <= fp_rate) return bits;
    return 0;
}

uint32_t tamis__fuse_pieces(uint64_t keys)
{
    const uint64_t pieces = keys / PIECE_KEYS;
    return keys == 0 ? 0 : pieces == 0 ? 1 : (uint32_t)pieces;
}

void tamis__fuse_shape(uint64_t fullest_piece_keys, uint32_t fingerprint_bits, uint32_t pieces,
                       struct tamis__fuse_shape *shape)
{
    *shape = (struct tamis__fuse_shape){.fingerprint_bits = fingerprint_bits, .pieces = pieces};
    if (pieces == 0) return;
    const struct row *row = row_of(fullest_piece_keys);
    const uint64_t first_slots = (fullest_piece_keys * row->ratio + 999) / 1000;
    const uint64_t segments = (first_slots + row->segment_slots - 1) / row->segment_slots;
    shape->segment_slots = row->segment_slots;
    shape->piece_segments = segments == 0               ? 1
                            : segments > UINT32_MAX - 2 ? UINT32_MAX - 2
                                                        : (uint32_t)segments;
}

/* Gives the shape that a filter of `keys` keys is likely to have: the fullest of its pieces is as
 * full as it usually is. */
static void likely_shape(uint64_t keys, uint32_t fingerprint_bits, struct tamis__fuse_shape *shape)
{
    /* The loads of pieces are binomial: the greatest of P loads is near mean + sqrt(2
     * ln P mean). */
    const uint32_t pieces = tamis__fuse_pieces(keys);
    const double mean = (double)keys / (pieces ? pieces : 1);
    const double fullest = mean + sqrt(2 * log(pieces ? pieces : 1) * mean);
    tamis__fuse_shape((uint64_t)ceil(fullest), fingerprint_bits, pieces, shape);
}

bool tamis__fuse_shape_is_valid(const struct tamis__fuse_shape *s)
{
    if (!fingerprint_bits_are_valid(s->fingerprint_bits)) return false;
    if (s->pieces == 0) return s->piece_segments == 0 && s->segment_slots == 0;
    if (s->segment_slots < TAMIS__FUSE_SEGMENT_SLOTS_MIN ||
        s->segment_slots > TAMIS__FUSE_SEGMENT_SLOTS_MAX ||
        (s->segment_slots & (s->segment_slots - 1)) != 0 || s->piece_segments == 0)
        return false;
    return tamis__fuse_piece_slots(s) <= SLOTS_MAX / s->pieces;
}

uint64_t tamis__fuse_piece_slots(const struct tamis__fuse_shape *shape)
{
    if (shape->pieces == 0) return 0;
    return ((uint64_t)shape->piece_segments + TAMIS__FUSE_ARITY - 1) * shape->segment_slots;
}

uint64_t tamis__fuse_m_bits(const struct tamis__fuse_shape *shape)
{
    if (shape->pieces == 0) return 64;
    return tamis__fuse_piece_slots(shape) * shape->pieces * shape->fingerprint_bits;
}

uint64_t tamis__fuse_seeds_bytes(uint32_t pieces)
{
    return ((uint64_t)pieces * 8 + 63) / 64 * 64;
}

uint64_t tamis__fuse_other_bits(uint32_t pieces, uint32_t fingerprint_bits)
{
    const bool has_end = pieces > 0 && tamis__fuse_is_packed(fingerprint_bits);
    return 8 * (tamis__fuse_seeds_bytes(pieces) + (has_end ? TAMIS__FUSE_END_BYTES : 0));
}

uint64_t tamis__fuse_data_bits(const struct tamis__fuse_shape *shape)
{
    return tamis__fuse_m_bits(shape) +
           tamis__fuse_other_bits(shape->pieces, shape->fingerprint_bits);
}

/* ---- n, p and m of one another --------------------------------------------------------------- */

static uint64_t likely_bits(uint64_t keys, uint32_t fingerprint_bits)
{
    struct tamis__fuse_shape shape;
    likely_shape(keys, fingerprint_bits, &shape);
    return tamis__fuse_m_bits(&shape);
}

/* Returns the largest number of keys whose fingerprints are likely to fit in m_bits; 0 if not even
 * those of one key do. */
static uint64_t largest_n(uint64_t m_bits, uint32_t fingerprint_bits)
{
    uint64_t low = 0, high = TAMIS__FUSE_KEYS_MAX + 1; /* low fits, high does not */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (likely_bits(middle, fingerprint_bits) > m_bits)
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* Returns the widest fingerprints with which the keys are likely to fit in m_bits; 0: none do. */
static uint32_t widest(uint64_t keys, uint64_t m_bits)
{
    for (uint32_t bits = FINGERPRINT_BITS_MAX; bits >= FINGERPRINT_BITS_MIN; bits--)
        if (likely_bits(keys, bits) <= m_bits) return bits;
    return 0;
}

static int check_arguments(const struct tamis_sizing *s)
{
    if (s->k != 0 && s->k != TAMIS__FUSE_ARITY)
        return tamis__fail(TAMIS_EINVAL,
                           "a fuse filter has %u slots a key and no k to choose; leave k out",
                           TAMIS__FUSE_ARITY);
    if ((s->capacity != 0) + (s->fp_rate != 0) + (s->m_bits != 0) < 2)
        return tamis__fail(TAMIS_EINVAL,
                           "the size of a fuse filter needs two of capacity, rate and bits");
    if (s->capacity > TAMIS__FUSE_KEYS_MAX)
        return tamis__fail(TAMIS_EINVAL, "a fuse filter holds at most %llu keys, not %llu",
                           (unsigned long long)TAMIS__FUSE_KEYS_MAX,
                           (unsigned long long)s->capacity);
    if (s->fp_rate != 0 && tamis__fuse_fingerprint_bits(s->fp_rate) == 0)
        return tamis__fail(TAMIS_EUNSUPPORTED,
                           "a rate of %g is below 2^-32, the least of a fuse filter; ask for that, "
                           "or use another kind",
                           s->fp_rate);
    return 0;
}

double tamis__static_rate(uint32_t fingerprint_bits, uint64_t n)
{
    return n == 0 ? 0 : exp2(-(double)fingerprint_bits);
}

int tamis__fuse_size(struct tamis_sizing *s)
{
    struct tamis__fuse_shape shape;
    struct tamis__layout layout;
    const int rc = check_arguments(s);
    if (rc < 0) return rc;
    uint32_t bits = tamis__fuse_fingerprint_bits(s->fp_rate != 0 ? s->fp_rate : 1);
    if (s->capacity == 0)
        s->capacity = largest_n(s->m_bits, bits);
    else if (s->m_bits != 0)
        bits = widest(s->capacity, s->m_bits);
    if (s->capacity == 0 || bits == 0)
        return tamis__fail(
            TAMIS_EINVAL, "%llu bits hold no fuse filter of that capacity and rate; give more bits",
            (unsigned long long)s->m_bits);
    likely_shape(s->capacity, bits, &shape);
    tamis__static_layout(tamis__fuse_data_bits(&shape), &layout);
    s->k = TAMIS__FUSE_ARITY;
    s->m_bits = tamis__fuse_m_bits(&shape);
    s->predicted_rate = tamis__static_rate(bits, 1);
    if (s->fp_rate == 0) s->fp_rate = s->predicted_rate;
    s->bits_per_key = (double)tamis__fuse_data_bits(&shape) / (double)s->capacity;
    s->data_bytes = layout.data_bytes;
    s->file_bytes = layout.file_bytes;
    s->fingerprint_bits = bits;
    s->pieces = shape.pieces;
    return 0;
}
