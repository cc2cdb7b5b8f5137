/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * header.h: the first 4096 bytes of a segment, as docs/format.md section 3 gives them.
 *
 *        0 ..  511  constant part: what the segment is; written once, closed by a checksum
 *      512 .. 1151  two name labels: the filter's name, for rebuilding a catalog; a rename writes
 *                   the older one, so that a torn write leaves the other
 *     1152 .. 1527  reserved
 *     1528 .. 1535  merges into it
 *     1536 .. 2047  live lines, a cache line each, changed while mapped, in no checksum
 *     2048 .. 4095  32 item counters, a cache line each
 *
 * If the data are few, the header is shorter, and they are in the same page
 * (TAMIS__INCOMPAT_ONE_PAGE):
 *
 *     1664 .. 1727  8 locks of removers
 *     1728 .. 2047  the end of the key rule
 *     2048 .. 2303  4 item counters, with the begin of the key rule
 *     2304 .. 4087  data
 *     4088 .. 4095  the magic once more: a file that is cut anywhere loses it
 *
 * header_check works on (buffer, bytes) and does no I/O: it is what a fuzzer feeds.
 */
#pragma once

#include "hash/digester.h"
#include "hash/hash_set.h"
#include "key/rule.h"
#include "os/io.h"
#include "sizing/layout.h"
#include "tamis_build.h"

#define TAMIS__SEGMENT_MAGIC "TAMIS\r\n" /* with its NUL: 8 bytes; CR LF shows text-mode copies */
#define TAMIS__MAGIC_WORD 0x000A0D53494D4154u /* the same as it is loaded */
#define TAMIS__FORMAT_VERSION 1u
/* Kind fuse: the fingerprints have another width than 8, 16 or 32 bits, and are packed. */
#define TAMIS__INCOMPAT_PACKED 1u
/* The filter has a key rule, which says what is hashed of a key (key/rule.h). */
#define TAMIS__INCOMPAT_KEY_RULE 2u
/* Header and data share one page. */
#define TAMIS__INCOMPAT_ONE_PAGE 4u
/* Who writes to the segment takes room before it sets bits (segment/room.h), and looks into the
 * catalog without the lock where it cannot have that (handle/follow.c).  All new segments have this
 * bit, so that a library from before these leaves them alone. */
#define TAMIS__COMPAT_ROOM 1u
#define TAMIS__COMPAT_KNOWN TAMIS__COMPAT_ROOM
#define TAMIS__STRIPES 32u
#define TAMIS__ONE_PAGE_STRIPES 4u
#define TAMIS__SEGMENT_FLAGS_KNOWN TAMIS_SEGMENT_ITEMS_ESTIMATED
/* The segment was made ahead, as a spare.  As long as nobody has written to it, it may never
 * have been entered. */
#define TAMIS__SEGMENT_AHEAD 2u

/* In a counting segment, removers of blocks b with the same b % 48 exclude each other. */
#define TAMIS__BLOCK_LOCKS 48u
/* In a file of one page no block has a higher number: it takes 256 bytes of data at least. */
#define TAMIS__ONE_PAGE_BLOCK_LOCKS 8u

/* A list has at most 64 segments, so nothing grows more often than this. */
#define TAMIS__STEP_MAX 63u
/* More slices than there will ever be, and far below where ordinals overflow. */
#define TAMIS__SLICE_MAX ((uint64_t)1 << 62)

/* What a foreign format needs to have back at export, and no position depends on. */
#define TAMIS__KEPT_BYTES 32u

/* What tells two sets of keys apart: the sum of their distinct digests (docs/format.md). */
#define TAMIS__KEY_DIGEST_BYTES 16u

/* What an import notes in the first segment of its list: the digest of its stream, and where that
 * was, with the zeros behind it. */
#define TAMIS__IMPORT_DIGEST_BYTES 16u
#define TAMIS__IMPORTED_FROM_BYTES ((size_t)TAMIS_IMPORTED_FROM_BYTES)

#define TAMIS__LABEL_FIELDS(FIELD, s)                                                              \
    FIELD(s, 0, uint64_t, sequence, ,                                                              \
          "the filter record's name_sequence that this name goes with; 0: never written")          \
    FIELD(s, 8, uint32_t, bytes, , "length of the name, 1 to 255")                                 \
    FIELD(s, 12, uint32_t, reserved0, , "reserved")                                                \
    FIELD(s, 16, char, name, [256], "UTF-8, filled up with zeros; there is at least one")          \
    FIELD(s, 272, uint8_t, zero, [40], "reserved")                                                 \
    FIELD(s, 312, uint64_t, checksum, , "XXH3-64 of the 312 bytes before")
TAMIS__FILE_STRUCT(tamis__name_label, TAMIS__LABEL_FIELDS, 320);

/* Bytes that a foreign format had behind the data, and wants to have back; and behind them who has
 * signed the list, a NUL, and what the signer says of it. */
#define TAMIS__ATTACHMENT_BYTES 360
#define TAMIS__ATTACHMENT_FIELDS(FIELD, s)                                                         \
    FIELD(s, 0, uint32_t, bytes, , "of what a file of DCSO had behind its bits")                   \
    FIELD(s, 4, uint32_t, signer_bytes, ,                                                          \
          "of what is noted of the signature, at most 360 with the former")                        \
    FIELD(s, 8, uint8_t, data, [TAMIS__ATTACHMENT_BYTES],                                          \
          "the former; behind it who has signed the list (23 bytes at most), a zero byte, and "    \
          "what the signer says of it (319); filled up with zeros")                                \
    FIELD(s, 368, uint64_t, checksum, , "XXH3-64 of the 368 bytes before")
TAMIS__FILE_STRUCT(tamis__attachment, TAMIS__ATTACHMENT_FIELDS, 376);

/*
 * The word `mixed` counts merges: the low half has those that have begun and not ended, the high
 * half those that have ended.  While the low half is not 0, some pages may have keys that others
 * lack.  This stays so if a merge was killed.  The low half is also raised where pages are of
 * different instants for another reason: a power cut, a copy that was made beside adders, an
 * intersection.  While it is not 0, verify does not compare pages with each other.
 */
#define TAMIS__MIXED_BEGUN ((uint64_t)1)
#define TAMIS__MIXED_ENDED                                                                         \
    (((uint64_t)1 << 32) - 1) /* one less that has begun, one more that has ended */

/*
 * The live words: what changes while others have the segment mapped, by atomic operations.  `mixed`
 * is made of TAMIS__MIXED_*, `next` of TAMIS__NEXT_* (live.h), `mark` of TAMIS__MARK_* (mark.h);
 * room.h explains `granted`; `pages` is an enum tamis_pages.
 */
#define TAMIS__LIVE_FIELDS(FIELD, s)                                                               \
    FIELD(s, 0, uint64_t, mixed, ,                                                                 \
          "low half: merges into the segment that have begun and not ended, and 1 where its "      \
          "pages are of different instants for another reason (a recovery that left it "           \
          "unclean, a copy beside writers, an intersection); high half: merges that have "         \
          "ended. `verify` alone heeds it")                                                        \
    FIELD(s, 8, uint64_t, epoch, ,                                                                 \
          "0 at first; raised, in each segment of the filter, before a commit that takes "         \
          "segments out of the list or drops the filter")                                          \
    FIELD(s, 16, uint64_t, next, ,                                                                 \
          "number of the segment that goes on after this one, or begins the list that took "       \
          "the place of this one's; 0: none does, as far as it knows; 2^62 + a number: the "       \
          "spare of that number is ready to be entered, and none goes on so far; 2^64 - 1: "       \
          "the filter is full and refuses new keys; 2^64 - 2: the filter was dropped")             \
    FIELD(s, 24, uint64_t, exceptions, ,                                                           \
          "of the newest segment in force: number of the index of exceptions that is in "          \
          "force, 0: none")                                                                        \
    FIELD(s, 32, uint64_t, in_force, ,                                                             \
          "publication with which a list that this segment is the newest of came into force "      \
          "last; 0: it never was the newest when that was written")                                \
    FIELD(s, 40, uint64_t, mark, ,                                                                 \
          "bit 0: written to since clean_until; bit 1: bit 0 and boot_id are on the disk; bit "    \
          "2: a writer held no lock; bit 63: sealed (3.8), if bits 0 to 2 are 0; the rest "        \
          "counts writers (durability.md)")                                                        \
    FIELD(s, 48, uint8_t, boot_id, [TAMIS__BOOT_ID_BYTES],                                         \
          "the kernel's, as 16 bytes in the order in which it prints them, when it was marked")    \
    FIELD(s, 64, int64_t, clean_until, ,                                                           \
          "time: what was written before is on the disk; 0: see created_at")                       \
    FIELD(s, 72, uint64_t, overflow_levels, ,                                                      \
          "of kind 3: levels of the overflow table that are in force (3.5)")                       \
    FIELD(s, 80, int64_t, unclean_since, ,                                                         \
          "time: keys that were added since may be missing; 0: none is")                           \
    FIELD(s, 88, int64_t, degraded_since, ,                                                        \
          "time at which a sync of the segment failed, none having ended well since; 0")           \
    FIELD(s, 96, uint64_t, syncs_begun, , "checkpoints of this segment that have begun")           \
    FIELD(s, 104, uint64_t, syncs_done, , "the greatest syncs_begun of one that has ended well")   \
    FIELD(s, 112, uint64_t, unlogged, ,                                                            \
          "of a durable filter: adders that have set bits, or may have, that no synced log "       \
          "has yet")                                                                               \
    FIELD(s, 120, uint64_t, granted, ,                                                             \
          "keys of the capacity that the stripes were given as quotas, or that came in by "        \
          "other ways (3.1.5)")                                                                    \
    FIELD(s, 128, uint64_t, pages, ,                                                               \
          "with the setting auto: 2 while so many keys come that pages of 2 MiB are worth it; "    \
          "else 0 or 1. A hint: no answer depends on it")
TAMIS__FILE_STRUCT(tamis__live, TAMIS__LIVE_FIELDS, 136);

/* Any adder and remover writes here, by atomic additions and without a lock.  The sum of `items`
 * over the stripes is the item count.  A single stripe of a counting segment may be below zero
 * (two's complement), because the remover of a key may run on another processor than its adder did.
 * `quota` is the part of the segment's room that adders of this stripe may use (segment/room.h).
 * What a batch holds is taken off the quota until the batch is counted. */
#define TAMIS__STRIPE_FIELDS(FIELD, s)                                                             \
    FIELD(s, 0, uint64_t, items, ,                                                                 \
          "keys that were counted on this stripe; of kind 3 signed (3.5)")                         \
    FIELD(s, 8, uint64_t, quota, , "this stripe's part of the room, less what batches hold")       \
    FIELD(s, 16, char, key_rule, [48], "a part of the key rule (3.1.8); else reserved")
TAMIS__FILE_STRUCT(tamis__stripe, TAMIS__STRIPE_FIELDS, 64);

/*
 * The header itself.  `kind` is an enum tamis_kind, `hash_set` an enum tamis__hash_set_id,
 * `bit_order` an enum tamis__bit_order, `on_full` an enum tamis_on_full, `flags` is made of
 * TAMIS_SEGMENT_*; rates are the bits of a double.  A block lock is 0 or the nonce of its owner.
 */
#define TAMIS__CONSTANT_FIELDS(FIELD, s)                                                           \
    FIELD(s, 0, uint8_t, magic, [8], "`54 41 4d 49 53 0d 0a 00`: \"TAMIS\", CR, LF, NUL")          \
    FIELD(s, 8, uint32_t, format_version, , "1; refuse a greater one")                             \
    FIELD(s, 12, uint32_t, incompat_flags, ,                                                       \
          "bit 0: kind 4 with packed fingerprints (3.6), unknown of other kinds; bit 1: the "      \
          "filter has a key rule (3.1.8); bit 2: header and data share one page (3.1.9); with "    \
          "an unknown bit: refuse the segment")                                                    \
    FIELD(s, 16, uint32_t, compat_flags, ,                                                         \
          "bit 0 (room): who adds takes room first (3.1.5), and never goes on in a list of "       \
          "which it does not know that it is in force; with an unknown bit: read it, do not "      \
          "write to it")                                                                           \
    FIELD(s, 20, uint32_t, header_bytes, , "4096; with bit 2 of incompat_flags 2304")              \
    FIELD(s, 24, uint64_t, number, , "as in the file's name")                                      \
    FIELD(s, 32, uint64_t, filter_id, , "the filter that it belongs to")                           \
    FIELD(s, 40, uint64_t, store_id, , "the store that it was made in")                            \
    FIELD(s, 48, uint32_t, kind, ,                                                                 \
          "1 blocked (3.3), 2 bloom (3.4), 3 counting (3.5), 4 fuse (3.6), 5 an index of "         \
          "exceptions (3.7)")                                                                      \
    FIELD(s, 52, uint32_t, hash_set, ,                                                             \
          "1 xxh3, 2 php, 3 php-mt, 4 php-mt-legacy, 5 md5, 6 redisbloom, 7 guava, 8 sip, 9 "      \
          "spark-v1, 10 spark-v2, 11 parquet, 12 dcso, 13 pybloomfilter (3.4)")                    \
    FIELD(s, 56, uint64_t, seed, , "of the hash set; xxh3 and spark-v2 heed it")                   \
    FIELD(s, 64, uint64_t, m_bits, ,                                                               \
          "m, the size of the bit array in bits; of kind 3 in counters; of kind 4 of the "         \
          "fingerprints, of kind 5 of the data")                                                   \
    FIELD(s, 72, uint32_t, k, ,                                                                    \
          "bits that a key sets, or counters that it raises; of kind 4 3, of kind 5 1")            \
    FIELD(s, 76, uint32_t, words, , "z of kinds 1 and 3, 0 of the others")                         \
    FIELD(s, 80, uint64_t, capacity, , "keys that the segment was made for, 1 to 2^56")            \
    FIELD(s, 88, uint64_t, fp_rate, , "rate at capacity, above 0, at most 1")                      \
    FIELD(s, 96, uint64_t, data_offset, , "see 3.2")                                               \
    FIELD(s, 104, uint64_t, data_bytes, , "see 3.2; of kind 3, 3.5; of kind 4, 3.6")               \
    FIELD(s, 112, uint64_t, file_bytes, , "see 3.2; of kind 3 what the file has at first")         \
    FIELD(s, 120, int64_t, created_at, , "time")                                                   \
    FIELD(s, 128, uint32_t, bit_order, ,                                                           \
          "0: least significant bit first, 1: most significant bit first (3.2)")                   \
    FIELD(s, 132, uint32_t, stripes, , "32; with bit 2 of incompat_flags 4")                       \
    FIELD(s, 136, uint8_t, parameters, [TAMIS__HASH_PARAMETER_BYTES],                              \
          "of the hash set; 0 but for php, sip and pybloomfilter (3.4)")                           \
    FIELD(s, 200, uint64_t, generation, , "that the segment was made for; 1 for a filter's first") \
    FIELD(s, 208, uint32_t, flags, ,                                                               \
          "bit 0: the items were estimated when the segment was imported or merged; others "       \
          "say nothing that a reader needs")                                                       \
    FIELD(s, 212, uint32_t, key_rule_sum, ,                                                        \
          "with bit 1 of incompat_flags: of the key rule (3.1.8); else reserved")                  \
    FIELD(s, 216, uint8_t, kept, [TAMIS__KEPT_BYTES],                                              \
          "what the format that the segment was imported from wants to have back (3.1.6); "        \
          "else 0")                                                                                \
    FIELD(s, 248, uint64_t, filter_capacity, ,                                                     \
          "keys that the whole filter was made for, 1 to 2^56 (3.1.4)")                            \
    FIELD(s, 256, uint64_t, filter_rate, , "rate that it was made for, above 0, at most 1")        \
    FIELD(s, 264, uint32_t, on_full, , "0 or 3 warn, 1 grow, 2 refuse")                            \
    FIELD(s, 268, uint32_t, slices, , "of the window, 1 to 32; 0: no window")                      \
    FIELD(s, 272, int64_t, window_ns, ,                                                            \
          "i64, length of the window in time; 0: by items, or no window")                          \
    FIELD(s, 280, uint64_t, window_items, , "its length in items; 0: by time, or no window")       \
    FIELD(s, 288, uint64_t, slice, ,                                                               \
          "which slice of the window the segment belongs to, from 0; 0 without a window")          \
    FIELD(s, 296, int64_t, slice_start, , "time, when that slice began; 0 without a window")       \
    FIELD(s, 304, uint32_t, step, ,                                                                \
          "how often the filter, or with a window the slice, had grown before this segment; "      \
          "at most 63")                                                                            \
    FIELD(s, 308, uint32_t, counter_bits, , "c of kind 3 (3.5); 0 of the others")                  \
    FIELD(s, 312, uint32_t, fingerprint_bits, , "f of kind 4 (3.6): 8 to 32; 0 of the others")     \
    FIELD(s, 316, uint32_t, pieces, , "of kind 4; 0 of the others")                                \
    FIELD(s, 320, uint32_t, piece_segments, , "of kind 4; 0 of the others")                        \
    FIELD(s, 324, uint32_t, segment_slots, , "of kind 4; 0 of the others")                         \
    FIELD(s, 328, uint64_t, data_checksum, ,                                                       \
          "of kinds 4 and 5, whose data never change: XXH3-64 of the data_bytes bytes at "         \
          "data_offset; 0 of the others")                                                          \
    FIELD(s, 336, uint64_t, publication, ,                                                         \
          "of the filter record, with which the segment came into force")                          \
    FIELD(s, 344, uint32_t, keep, , "as in the filter record, when the segment was made")          \
    FIELD(s, 348, uint32_t, list_start, ,                                                          \
          "1: it begins a list, none before it is in force with it; 0: it goes on after the "      \
          "one before it")                                                                         \
    FIELD(s, 352, uint8_t, key_digest, [TAMIS__KEY_DIGEST_BYTES],                                  \
          "of the keys that it was built from (3.6); 0: it was not built")                         \
    FIELD(s, 368, uint32_t, durable, , "1: the filter has logs (durability.md); 0: it has none")   \
    FIELD(s, 372, uint32_t, window_from, ,                                                         \
          "of a window, 0: a key counts from its last add (all files that were made before "       \
          "there was this field); 1: from its first")                                              \
    FIELD(s, 376, int64_t, imported_at, ,                                                          \
          "time of the import that made the list which this segment begins; 0: it was not "        \
          "imported, or nothing is noted of it")                                                   \
    FIELD(s, 384, uint8_t, imported_digest, [TAMIS__IMPORT_DIGEST_BYTES],                          \
          "of the stream (exchange.md, \"As the next generation\"); no answer depends on it, "     \
          "nor on the next")                                                                       \
    FIELD(s, 400, char, imported_from, [TAMIS__IMPORTED_FROM_BYTES],                               \
          "where the stream was, filled up with zeros; there is at least one")                     \
    FIELD(s, 480, int64_t, imported_made_at, ,                                                     \
          "when the last segment of the stream was made, as the stream says; 0: it does not "      \
          "say, or the list was not imported; no answer depends on this, nor on the next")         \
    FIELD(s, 488, int64_t, imported_signed_at, , "when the stream was signed; 0: not known")       \
    FIELD(s, 496, uint64_t, imported_signature, ,                                                  \
          "which signature that was, as a number that who imported it has made of it; 0: it "      \
          "was not signed")                                                                        \
    FIELD(s, 504, uint64_t, checksum, , "XXH3-64 of the 504 bytes before")
/* The other parts of the header. */
#define TAMIS__PART_FIELDS(FIELD, s)                                                               \
    FIELD(s, 512, struct tamis__name_label, labels, [2], "the name of the filter, twice (3.1.2)")  \
    FIELD(s, 1152, struct tamis__attachment, attachment, ,                                         \
          "what a stream had behind its data, and its signer (3.1.7)")                             \
    FIELD(s, 1528, struct tamis__live, live, , "live words, which change while mapped (3.1.3)")    \
    FIELD(s, 1664, uint64_t, block_locks, [TAMIS__BLOCK_LOCKS],                                    \
          "of kind 3: locks of removers (3.5); of a file of one page the first 8, then the "       \
          "end of the key rule (3.1.8)")                                                           \
    FIELD(s, 2048, struct tamis__stripe, items, [TAMIS__STRIPES],                                  \
          "the item stripes; of a file of one page 4 of them (3.1.5)")
#define TAMIS__HEADER_FIELDS(FIELD, s)                                                             \
    TAMIS__CONSTANT_FIELDS(FIELD, s)                                                               \
    TAMIS__PART_FIELDS(FIELD, s)
TAMIS__FILE_STRUCT(tamis__segment_header, TAMIS__HEADER_FIELDS, TAMIS__HEADER_BYTES);

/* Why a header was refused: a place in the file, and a clause that fits behind "<file> ". */
struct tamis__refusal {
    uint64_t offset;
    char reason[200];
};

/* Fills in a refusal and returns `code`. */
int tamis__refuse(struct tamis__refusal *refusal, int code, uint64_t offset, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

/* How the list of segments goes on.  The policy stands in the catalog, and in each segment
 * of the filter. */
struct tamis__policy {
    uint32_t on_full;
    uint32_t slices;
    int64_t window_ns;
    uint64_t window_items;
    uint64_t capacity; /* n and p that the filter was made for */
    double fp_rate;
    uint32_t durable; /* 1: no answer before its log is on the disk; else 0 */
    /* Of a window.  0: a key is remembered from its last add on; 1: from the first, the one that
     * was told NEW. */
    uint32_t window_from;
    uint32_t pages;                            /* enum tamis_pages; the catalog alone has it */
    char key_rule[TAMIS__KEY_RULE_TEXT_BYTES]; /* as key/rule.h reads it; "": bytes */
};

/* Do header and data share one page?  A header of one page has data behind its stripes, where
 * struct tamis__segment_header has further ones. */
static inline bool tamis__header_is_one_page(const struct tamis__segment_header *header)
{
    return (header->incompat_flags & TAMIS__INCOMPAT_ONE_PAGE) != 0;
}
static inline uint32_t tamis__header_stripes(const struct tamis__segment_header *header)
{
    return tamis__header_is_one_page(header) ? TAMIS__ONE_PAGE_STRIPES : TAMIS__STRIPES;
}
static inline uint32_t tamis__header_block_locks(const struct tamis__segment_header *header)
{
    return tamis__header_is_one_page(header) ? TAMIS__ONE_PAGE_BLOCK_LOCKS : TAMIS__BLOCK_LOCKS;
}
/* Copies a header, and the word at the end of a file of one page; not the data between the two. */
void tamis__header_copy(struct tamis__segment_header *to, const struct tamis__segment_header *from);
/* Places header and data by the layout: before anything else is put into the header. */
void tamis__header_set_layout(struct tamis__segment_header *header,
                              const struct tamis__layout *layout);

/* Puts the text of a key rule into a header, 48 bytes into each stripe; "" is none. */
void tamis__header_set_key_rule(struct tamis__segment_header *header, const char *key_rule);

/* Puts 1 to TAMIS__ATTACHMENT_BYTES bytes into an attachment. */
void tamis__attachment_set(struct tamis__attachment *attachment, const void *data, size_t bytes);
/* Puts behind them who has signed the list, and what he says of it, as far as there is room. */
void tamis__attachment_sign(struct tamis__attachment *attachment, const char *by,
                            const char *comment);
/* Gets both, each with a NUL at its end; "" if there is nothing, or if it is damaged. */
void tamis__attachment_signer(const struct tamis__attachment *attachment,
                              char by[TAMIS_SIGNED_BY_BYTES],
                              char comment[TAMIS_SIGNED_COMMENT_BYTES]);
/* Is this what these made, or nothing? */
bool tamis__attachment_is_whole(const struct tamis__attachment *attachment);

/* Closes the constant part with its checksum. */
void tamis__header_seal(struct tamis__segment_header *header);

/*
 * Is this the header of a whole segment of `file_bytes` bytes?  `bytes` is how much of it could be
 * read.  Returns 0, or TAMIS_EFOREIGN, TAMIS_EVERSION or TAMIS_ECORRUPT with the refusal filled in.
 * Kind and hash set may be unknown here; the layers that know them check them.
 */
int tamis__header_check(const void *buffer, size_t bytes, uint64_t file_bytes,
                        struct tamis__refusal *refusal);

/* Returns how many levels of the overflow table are in force, at most `most`,
 * which is tamis__overflow_levels_max(m). */
static inline uint32_t tamis__overflow_levels_of(const struct tamis__live *live, uint32_t most)
{
    /* ORDER acquire: pairs with the release that puts a level in force (kind/cells.c), before which
     * the file had its length.  The value was checked at opening, but damage could come later. */
    const uint64_t levels = __atomic_load_n(&live->overflow_levels, __ATOMIC_ACQUIRE);
    return levels < most ? (uint32_t)levels : most;
}

/* The least bytes of a file with this header.  A counting file grows by levels of overflow. */
uint64_t tamis__header_file_bytes(const struct tamis__segment_header *header);
/* Returns the most bytes that the file can ever have; this is how many are mapped. */
uint64_t tamis__header_file_bytes_max(const struct tamis__segment_header *header);

/* How keys become digests, or pairs (hash_set.h), for hash sets that have them.  The result points
 * into the header, whose hash set must be known. */
struct tamis__digester tamis__header_digester(const struct tamis__segment_header *header);

/* Returns the hash set of this header.  Its .set is NULL if no set has the id; the rest
 * is not checked. */
struct tamis__hashing tamis__header_hashing(const struct tamis__segment_header *header);

/* Does the word that m ends in have bits that no position below m reaches? */
static inline bool tamis__bits_past(uint64_t last_word, uint64_t m_bits, uint32_t bit_order)
{
    if (m_bits % 64 == 0) return false;
    if (bit_order == TAMIS__BITS_MSB_FIRST) last_word = tamis__reverse_bits(last_word);
    return last_word >> (m_bits % 64) != 0;
}

/* The sum over the stripes; a damaged stripe cannot make it overflow. */
uint64_t tamis__stripes_sum(const uint64_t *stripes, uint32_t count, bool counting);

struct tamis__policy tamis__header_policy(const struct tamis__segment_header *header);

/*
 * What is wrong with a policy, or with the place that a segment says it has under the policy: a
 * clause that fits behind the name of a file or of a record; NULL if nothing is wrong.  After this
 * check no sum of these fields overflows, and nothing is divided by 0.
 */
const char *tamis__policy_problem(const struct tamis__policy *policy);
const char *tamis__slice_problem(const struct tamis__policy *policy, uint64_t slice,
                                 int64_t slice_start, uint32_t step);

/* Sets the item count of a header that is not shared yet; the count is spread over the stripes. */
void tamis__header_set_items(struct tamis__segment_header *header, uint64_t items);
uint64_t tamis__header_items(const struct tamis__segment_header *header);

/* Fills label `slot` for a name of at most TAMIS_NAME_MAX bytes. */
void tamis__label_write(struct tamis__name_label *label, uint64_t sequence, const char *name);

/* Returns the label with the current name; NULL if neither label is whole. */
const struct tamis__name_label *tamis__label_current(const struct tamis__segment_header *header);
