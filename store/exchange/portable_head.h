/* SPDX-License-Identifier: BSD-2-Clause */
/* portable_head.h: the bytes before and behind the data of a stream of format `tamis`, for
 * portable.c alone; docs/exchange.md has them. */
#pragma once

#include "exchange/portable.h"
#include <assert.h>

#define MAGIC "TAMISX\r\n" /* CR LF shows text-mode copies */
#define VERSION_FIRST 1u
#define VERSION_STATIC 2u
#define VERSION_PACKED 3u
#define VERSION_FROM_FIRST 4u
#define VERSION_KEY_RULE 6u /* TAMIS__PREFACE_VERSION is between them */
#define FROM_FIRST 0x80000000u

struct head {                 /* docs/exchange.md; little-endian; offset, size, meaning */
    uint8_t magic[8];         /*   0   8  MAGIC                                 */
    uint32_t version;         /*   8   4  readers refuse a greater one          */
    uint32_t segments;        /*  12   4  how many descriptions follow          */
    uint64_t capacity;        /*  16   8  of the filter                         */
    uint64_t fp_rate;         /*  24   8  of the filter, IEEE 754 double        */
    uint32_t on_full;         /*  32   4  from here on as in a segment's header; */
                              /*          from version 4 on: | FROM_FIRST       */
    uint32_t slices;          /*  36   4                                        */
    int64_t window_ns;        /*  40   8                                        */
    uint64_t window_items;    /*  48   8                                        */
    uint64_t filter_capacity; /*  56   8                                        */
    uint64_t filter_rate;     /*  64   8                                        */
    uint64_t exceptions;      /*  72   8  how many follow the data; version 1: 0 */
    uint8_t key_digest[TAMIS__KEY_DIGEST_BYTES]; /*  80  16  version 1: 0        */
};
TAMIS__AT(struct head, version, 8);
TAMIS__AT(struct head, segments, 12);
TAMIS__AT(struct head, capacity, 16);
TAMIS__AT(struct head, fp_rate, 24);
TAMIS__AT(struct head, on_full, 32);
TAMIS__AT(struct head, slices, 36);
TAMIS__AT(struct head, window_ns, 40);
TAMIS__AT(struct head, window_items, 48);
TAMIS__AT(struct head, filter_capacity, 56);
TAMIS__AT(struct head, filter_rate, 64);
TAMIS__AT(struct head, exceptions, 72);
TAMIS__AT(struct head, key_digest, 80);
TAMIS__SIZE(struct head, 96);

struct description {     /* fields of the same names mean what they mean in a segment's header */
    uint32_t kind;       /*   0   4                                */
    uint32_t hash_set;   /*   4   4                                */
    uint64_t seed;       /*   8   8                                */
    uint64_t m_bits;     /*  16   8                                */
    uint32_t k;          /*  24   4                                */
    uint32_t words;      /*  28   4                                */
    uint64_t capacity;   /*  32   8                                */
    uint64_t fp_rate;    /*  40   8                                */
    uint64_t items;      /*  48   8                                */
    uint64_t data_bytes; /*  56   8  that follow for this segment  */
    int64_t created_at;  /*  64   8                                */
    uint32_t bit_order;  /*  72   4                                */
    uint32_t flags;      /*  76   4                                */
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES]; /*  80  64    */
    uint8_t kept[TAMIS__KEPT_BYTES];                 /* 144  32    */
    uint64_t slice;                                  /* 176   8    */
    int64_t slice_start;                             /* 184   8    */
    uint32_t step;                                   /* 192   4    */
    uint32_t counter_bits;                           /* 196   4    */
    uint32_t fingerprint_bits;                       /* 200   4  kind fuse, as the next; else 0 */
    uint32_t pieces;                                 /* 204   4                                 */
    uint32_t piece_segments;                         /* 208   4                                 */
    uint32_t segment_slots;                          /* 212   4                                 */
    uint64_t data_checksum;                          /* 216   8                                 */
};
TAMIS__AT(struct description, hash_set, 4);
TAMIS__AT(struct description, seed, 8);
TAMIS__AT(struct description, m_bits, 16);
TAMIS__AT(struct description, k, 24);
TAMIS__AT(struct description, words, 28);
TAMIS__AT(struct description, capacity, 32);
TAMIS__AT(struct description, fp_rate, 40);
TAMIS__AT(struct description, items, 48);
TAMIS__AT(struct description, data_bytes, 56);
TAMIS__AT(struct description, created_at, 64);
TAMIS__AT(struct description, bit_order, 72);
TAMIS__AT(struct description, flags, 76);
TAMIS__AT(struct description, parameters, 80);
TAMIS__AT(struct description, kept, 144);
TAMIS__AT(struct description, slice, 176);
TAMIS__AT(struct description, slice_start, 184);
TAMIS__AT(struct description, step, 192);
TAMIS__AT(struct description, counter_bits, 196);
TAMIS__AT(struct description, fingerprint_bits, 200);
TAMIS__AT(struct description, pieces, 204);
TAMIS__AT(struct description, piece_segments, 208);
TAMIS__AT(struct description, segment_slots, 212);
TAMIS__AT(struct description, data_checksum, 216);
TAMIS__SIZE(struct description, 224);

struct outgrown {   /* a counter that has outgrown its bits; the last one is all 0 */
    uint64_t owner; /*   0   8  its number, and 1 */
    uint64_t count; /*   8   8                    */
};
TAMIS__SIZE(struct outgrown, 16);

#define HEAD_BYTES_MAX                                                                             \
    (sizeof(struct head) + TAMIS__SEGMENTS_MAX * sizeof(struct description) +                      \
     TAMIS__KEY_RULE_TEXT_BYTES + 8)
static_assert(HEAD_BYTES_MAX == TAMIS__PORTABLE_HEAD_BYTES_MAX, "portable.h");
