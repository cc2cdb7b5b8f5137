/* SPDX-License-Identifier: BSD-2-Clause */
/* portable_head.h: the bytes before and behind the data of a stream of format `tamis`, for
 * portable.c and preface.c alone; docs/exchange.md has them. */
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

#define HEAD_FIELDS(FIELD, s)                                                                      \
    FIELD(s, 0, uint8_t, magic, [8], "\"TAMISX\", CR, LF")                                         \
    FIELD(s, 8, uint32_t, version, , "1 to 4, or 6: a reader refuses a greater one")               \
    FIELD(s, 12, uint32_t, segments, , "number of segments, 1 to 64")                              \
    FIELD(s, 16, uint64_t, capacity, , "capacity of the filter")                                   \
    FIELD(s, 24, uint64_t, fp_rate, , "f64, rate of the filter")                                   \
    FIELD(s, 32, uint32_t, on_full, ,                                                              \
          "when it is full: 0 or 3 warn, 1 grow, 2 refuse; in versions 4 and 6 2^31 more: the "    \
          "window counts from the first add of a key")                                             \
    FIELD(s, 36, uint32_t, slices, , "slices of its window, 0 for none")                           \
    FIELD(s, 40, int64_t, window_ns, , "length of the window in time")                             \
    FIELD(s, 48, uint64_t, window_items, , "its length in items")                                  \
    FIELD(s, 56, uint64_t, filter_capacity, , "keys that the filter was made for")                 \
    FIELD(s, 64, uint64_t, filter_rate, , "f64, rate that it was made for")                        \
    FIELD(s, 72, uint64_t, exceptions, ,                                                           \
          "how many there are, at most 10 million; in version 1: 0")                               \
    FIELD(s, 80, uint8_t, key_digest, [TAMIS__KEY_DIGEST_BYTES],                                   \
          "digest of the keys that it was built from (format.md 3.6), or 0; in version 1: 0")
TAMIS__FILE_STRUCT(head, HEAD_FIELDS, 96);

/* Fields of the same names mean what they mean in a segment's header. */
#define DESCRIPTION_FIELDS(FIELD, s)                                                               \
    FIELD(s, 0, uint32_t, kind, , "")                                                              \
    FIELD(s, 4, uint32_t, hash_set, , "")                                                          \
    FIELD(s, 8, uint64_t, seed, , "")                                                              \
    FIELD(s, 16, uint64_t, m_bits, , "m")                                                          \
    FIELD(s, 24, uint32_t, k, , "")                                                                \
    FIELD(s, 28, uint32_t, words, , "")                                                            \
    FIELD(s, 32, uint64_t, capacity, , "")                                                         \
    FIELD(s, 40, uint64_t, fp_rate, , "f64, rate")                                                 \
    FIELD(s, 48, uint64_t, items, , "")                                                            \
    FIELD(s, 56, uint64_t, data_bytes, ,                                                           \
          "bytes of data, 8 ceil(m / 64); of counters 8 ceil(m bits / 64)")                        \
    FIELD(s, 64, int64_t, created_at, , "ns since 1970 UTC")                                       \
    FIELD(s, 72, uint32_t, bit_order, , "")                                                        \
    FIELD(s, 76, uint32_t, flags, , "")                                                            \
    FIELD(s, 80, uint8_t, parameters, [TAMIS__HASH_PARAMETER_BYTES], "of the hash set")            \
    FIELD(s, 144, uint8_t, kept, [TAMIS__KEPT_BYTES],                                              \
          "what the format that it was imported from wants to have back")                          \
    FIELD(s, 176, uint64_t, slice, , "")                                                           \
    FIELD(s, 184, int64_t, slice_start, , "")                                                      \
    FIELD(s, 192, uint32_t, step, , "")                                                            \
    FIELD(s, 196, uint32_t, counter_bits, , "")                                                    \
    FIELD(s, 200, uint32_t, fingerprint_bits, , "of kind fuse, as the next four; else 0")          \
    FIELD(s, 204, uint32_t, pieces, , "")                                                          \
    FIELD(s, 208, uint32_t, piece_segments, , "")                                                  \
    FIELD(s, 212, uint32_t, segment_slots, , "")                                                   \
    FIELD(s, 216, uint64_t, data_checksum, , "XXH3-64 of the data")
TAMIS__FILE_STRUCT(description, DESCRIPTION_FIELDS, 224);

/* What may stand before a stream: preface.c. */
#define PREFACE_FIELDS(FIELD, s)                                                                   \
    FIELD(s, 0, uint8_t, magic, [8], "\"TAMISX\", CR, LF")                                         \
    FIELD(s, 8, uint32_t, version, , "5")                                                          \
    FIELD(s, 12, uint32_t, zero, , "0")                                                            \
    FIELD(s, 16, uint8_t, digest, [TAMIS__SUM_BYTES],                                              \
          "what the stream behind it ends with: the XXH3-128 of all before, in canonical form")    \
    FIELD(s, 32, uint64_t, checksum, , "XXH3-64 of the 32 bytes before")
TAMIS__FILE_STRUCT(preface, PREFACE_FIELDS, 40);

/* A counter that has outgrown its bits; the last one is all 0. */
#define OUTGROWN_FIELDS(FIELD, s)                                                                  \
    FIELD(s, 0, uint64_t, owner, , "number of the counter, plus 1")                                \
    FIELD(s, 8, uint64_t, count, , "its count")
TAMIS__FILE_STRUCT(outgrown, OUTGROWN_FIELDS, 16);

#define HEAD_BYTES_MAX                                                                             \
    (sizeof(struct head) + TAMIS__SEGMENTS_MAX * sizeof(struct description) +                      \
     TAMIS__KEY_RULE_TEXT_BYTES + 8)
static_assert(HEAD_BYTES_MAX == TAMIS__PORTABLE_HEAD_BYTES_MAX, "portable.h");
