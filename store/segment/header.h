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
/* A counter with a greater value is damaged.  It counts as this value, so that no sum overflows. */
#define TAMIS__ITEMS_MAX (TAMIS__CAPACITY_MAX / TAMIS__STRIPES)
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

struct tamis__name_label {
    uint64_t sequence;  /*   0   8  the label with the higher one holds; 0: never written */
    uint32_t bytes;     /*   8   4  length of the name                                    */
    uint32_t reserved0; /*  12   4  0                                                     */
    char name[256];     /*  16 256  UTF-8, padded with zeros                              */
    uint8_t zero[40];   /* 272  40  0                                                     */
    uint64_t checksum;  /* 312   8  XXH3-64 of the 312 bytes before                       */
};
TAMIS__AT(struct tamis__name_label, bytes, 8);
TAMIS__AT(struct tamis__name_label, name, 16);
TAMIS__AT(struct tamis__name_label, zero, 272);
TAMIS__AT(struct tamis__name_label, checksum, 312);
TAMIS__SIZE(struct tamis__name_label, 320);

/* Bytes that a foreign format had behind the data, and wants to have back; and behind them who has
 * signed the list, a NUL, and what the signer says of it. */
#define TAMIS__ATTACHMENT_BYTES 360
struct tamis__attachment {
    uint32_t bytes;                        /*   0   4  of what the stream had; 0: nothing    */
    uint32_t signer_bytes;                 /*   4   4  of the signer, behind it; 0: none     */
    uint8_t data[TAMIS__ATTACHMENT_BYTES]; /*   8 360  padded with zeros                     */
    uint64_t checksum;                     /* 368   8  XXH3-64 of the 368 bytes before, or 0 */
};
TAMIS__AT(struct tamis__attachment, signer_bytes, 4);
TAMIS__AT(struct tamis__attachment, data, 8);
TAMIS__AT(struct tamis__attachment, checksum, 368);
TAMIS__SIZE(struct tamis__attachment, 376);

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
 * The live words: what changes while others have the segment mapped, by atomic operations.  Behind
 * each field stand its offset, its bytes and its meaning.
 */
/* clang-format off */
struct tamis__live {
    uint64_t mixed;            /*    0    8  merges into it: TAMIS__MIXED_*; atomic additions    */
    uint64_t epoch;            /*    8    8  raised at each publication; adders read it          */
    uint64_t next;             /*   16    8  number of the next segment; 0: none; TAMIS__NEXT_*  */
    uint64_t exceptions;       /*   24    8  number of the index of exceptions in force; 0: none */
    uint64_t in_force;         /*   32    8  publication of the newest list that ends with it    */
    uint64_t mark;             /*   40    8  TAMIS__MARK_*, and a count of writers; segment/mark.h  */
    uint8_t boot_id[TAMIS__BOOT_ID_BYTES];
                               /*   48   16  boot under which it was marked dirty                */
    int64_t clean_until;       /*   64    8  ns since 1970: what was added before is on the disk */
    uint64_t overflow_levels;  /*   72    8  levels of overflow in force; adders raise it        */
    int64_t unclean_since;     /*   80    8  keys added since then may be missing; 0: none is    */
    int64_t degraded_since;    /*   88    8  when a sync failed that none has mended; 0: none    */
    uint64_t syncs_begun;      /*   96    8  syncs of this segment, by any process               */
    uint64_t syncs_done;       /*  104    8  the greatest syncs_begun that has ended well        */
    uint64_t unlogged;         /*  112    8  durable: adds between first bit and sync of the log */
    uint64_t granted;          /*  120    8  room given to the stripes as quotas; segment/room.h */
    uint64_t pages;            /*  128    8  enum tamis_pages: what `auto` is now; 0: as SMALL   */
};
/* clang-format on */
TAMIS__AT(struct tamis__live, mixed, 0);
TAMIS__AT(struct tamis__live, epoch, 8);
TAMIS__AT(struct tamis__live, next, 16);
TAMIS__AT(struct tamis__live, exceptions, 24);
TAMIS__AT(struct tamis__live, in_force, 32);
TAMIS__AT(struct tamis__live, mark, 40);
TAMIS__AT(struct tamis__live, boot_id, 48);
TAMIS__AT(struct tamis__live, clean_until, 64);
TAMIS__AT(struct tamis__live, overflow_levels, 72);
TAMIS__AT(struct tamis__live, unclean_since, 80);
TAMIS__AT(struct tamis__live, degraded_since, 88);
TAMIS__AT(struct tamis__live, syncs_begun, 96);
TAMIS__AT(struct tamis__live, syncs_done, 104);
TAMIS__AT(struct tamis__live, unlogged, 112);
TAMIS__AT(struct tamis__live, granted, 120);
TAMIS__AT(struct tamis__live, pages, 128);
TAMIS__SIZE(struct tamis__live, 136);

/* Any adder and remover writes here, by atomic additions and without a lock.  The sum of `items`
 * over the stripes is the item count.  A single stripe of a counting segment may be below zero
 * (two's complement), because the remover of a key may run on another processor than its adder did.
 * `quota` is the part of the segment's room that adders of this stripe may use (segment/room.h).
 * What a batch holds is taken off the quota until the batch is counted. */
struct tamis__stripe {
    uint64_t items;
    uint64_t quota;
    /* A part of the key rule (tamis__header_key_rule).  It fills a cache line, so that adders on
     * different processors do not meet, and never changes. */
    char key_rule[48];
};
TAMIS__AT(struct tamis__stripe, quota, 8);
TAMIS__AT(struct tamis__stripe, key_rule, 16);
TAMIS__SIZE(struct tamis__stripe, 64);

/*
 * The header itself.  Behind each field stand its offset, its bytes and its meaning; where a field
 * is long, on the line after it.  clang-format would tear the table apart.
 */
/* clang-format off */
struct tamis__segment_header {
    uint8_t magic[8];          /*    0    8  TAMIS__SEGMENT_MAGIC                                */
    uint32_t format_version;   /*    8    4  readers refuse a greater one                        */
    uint32_t incompat_flags;   /*   12    4  unknown bit: refuse to open                         */
    uint32_t compat_flags;     /*   16    4  unknown bit: read, do not write                     */
    uint32_t header_bytes;     /*   20    4  4096; of a file of one page 2304                    */
    uint64_t number;           /*   24    8  segment number, as in the name                      */
    uint64_t filter_id;        /*   32    8  which filter of the store                           */
    uint64_t store_id;         /*   40    8  random, the same in the catalog                     */
    uint32_t kind;             /*   48    4  enum tamis_kind                                     */
    uint32_t hash_set;         /*   52    4  enum tamis__hash_set_id                             */
    uint64_t seed;             /*   56    8  seed of the hash set                                */
    uint64_t m_bits;           /*   64    8  bits, or counters                                   */
    uint32_t k;                /*   72    4  hashes per key                                      */
    uint32_t words;            /*   76    4  z of a blocked filter, else 0                       */
    uint64_t capacity;         /*   80    8  keys                                                */
    uint64_t fp_rate;          /*   88    8  IEEE 754 double                                     */
    uint64_t data_offset;      /*   96    8  header_bytes or 2 MiB                               */
    uint64_t data_bytes;       /*  104    8  8 ceil(m / 64); with counters m counter_bits / 8    */
    uint64_t file_bytes;       /*  112    8  size of the file, at first                          */
    int64_t created_at;        /*  120    8  ns since 1970 UTC                                   */
    uint32_t bit_order;        /*  128    4  enum tamis__bit_order                               */
    uint32_t stripes;          /*  132    4  number of item counters: 32; of one page 4          */
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
                               /*  136   64  parameters of the hash set; 0 for xxh3              */
    uint64_t generation;       /*  200    8  generation that it was made for                     */
    uint32_t flags;            /*  208    4  TAMIS_SEGMENT_*; no unknown bit matters             */
    uint32_t key_rule_sum;     /*  212    4  low half of the XXH3-64 of the key rule; 0: none     */
    uint8_t kept[TAMIS__KEPT_BYTES];
                               /*  216   32  what an imported format needs at export; else 0     */
    uint64_t filter_capacity;  /*  248    8  n that the filter was made for                      */
    uint64_t filter_rate;      /*  256    8  IEEE 754 double, rate of the whole filter           */
    uint32_t on_full;          /*  264    4  enum tamis_on_full; 0 as TAMIS_ON_FULL_WARN         */
    uint32_t slices;           /*  268    4  slices of the window; 0: no window                  */
    int64_t window_ns;         /*  272    8  window in time; 0: it is in items, or there is none */
    uint64_t window_items;     /*  280    8  window in items; 0: it is in time, or there is none */
    uint64_t slice;            /*  288    8  ordinal of the slice that it belongs to, from 0     */
    int64_t slice_start;       /*  296    8  ns since 1970, when that slice began; 0: no window  */
    uint32_t step;             /*  304    4  how often the filter, or the slice, had grown       */
    uint32_t counter_bits;     /*  308    4  bits of a counter; 0: the data are bits             */
    uint32_t fingerprint_bits; /*  312    4  fuse: 8 to 32; else 0                                */
    uint32_t pieces;           /*  316    4  fuse: pieces, each with a seed of its own; else 0   */
    uint32_t piece_segments;   /*  320    4  fuse: segments where a first slot can lie           */
    uint32_t segment_slots;    /*  324    4  fuse: slots of one of these segments, 2^n           */
    uint64_t data_checksum;    /*  328    8  XXH3-64 of the data of a static segment; else 0     */
    uint64_t publication;      /*  336    8  publication that put it in force                    */
    uint32_t keep;             /*  344    4  older generations that the filter keeps             */
    uint32_t list_start;       /*  348    4  1: no segment before it is in force with it         */
    uint8_t key_digest[TAMIS__KEY_DIGEST_BYTES];
                               /*  352   16  digest of the keys that it was built from; else 0   */
    uint32_t durable;          /*  368    4  1: no answer before its log is on the disk; else 0  */
    uint32_t window_from;      /*  372    4  0: keys count from their last add; 1: the first     */
    int64_t imported_at;       /*  376    8  ns since 1970: import of the list; 0: none is noted */
    uint8_t imported_digest[TAMIS__IMPORT_DIGEST_BYTES];
                               /*  384   16  of the stream that it came from                     */
    char imported_from[TAMIS__IMPORTED_FROM_BYTES];
                               /*  400   80  where that was; filled up with zeros, one or more   */
    int64_t imported_made_at;  /*  480    8  ns since 1970: when the stream says the list was
                                           made; 0: it does not say                        */
    int64_t imported_signed_at;
                               /*  488    8  ns since 1970: when it was signed; 0: not known     */
    uint64_t imported_signature;
                               /*  496    8  which signature that was; 0: it was not signed      */
    uint64_t checksum;         /*  504    8  XXH3-64 of the 504 bytes before                     */
    struct tamis__name_label labels[2];
                               /*  512  640  the name of the filter, twice                       */
    struct tamis__attachment attachment;
                               /* 1152  376  what a stream had behind its data, and its signer   */
    struct tamis__live live;   /* 1528  136  the live words                                      */
    uint64_t block_locks[TAMIS__BLOCK_LOCKS];
                               /* 1664  384  locks of removers: 0, or the owner's nonce          */
    struct tamis__stripe items[TAMIS__STRIPES];
                               /* 2048 2048  the item counters                                   */
};
/* clang-format on */
TAMIS__AT(struct tamis__segment_header, format_version, 8);
TAMIS__AT(struct tamis__segment_header, incompat_flags, 12);
TAMIS__AT(struct tamis__segment_header, compat_flags, 16);
TAMIS__AT(struct tamis__segment_header, header_bytes, 20);
TAMIS__AT(struct tamis__segment_header, number, 24);
TAMIS__AT(struct tamis__segment_header, filter_id, 32);
TAMIS__AT(struct tamis__segment_header, store_id, 40);
TAMIS__AT(struct tamis__segment_header, kind, 48);
TAMIS__AT(struct tamis__segment_header, hash_set, 52);
TAMIS__AT(struct tamis__segment_header, seed, 56);
TAMIS__AT(struct tamis__segment_header, m_bits, 64);
TAMIS__AT(struct tamis__segment_header, k, 72);
TAMIS__AT(struct tamis__segment_header, words, 76);
TAMIS__AT(struct tamis__segment_header, capacity, 80);
TAMIS__AT(struct tamis__segment_header, fp_rate, 88);
TAMIS__AT(struct tamis__segment_header, data_offset, 96);
TAMIS__AT(struct tamis__segment_header, data_bytes, 104);
TAMIS__AT(struct tamis__segment_header, file_bytes, 112);
TAMIS__AT(struct tamis__segment_header, created_at, 120);
TAMIS__AT(struct tamis__segment_header, bit_order, 128);
TAMIS__AT(struct tamis__segment_header, stripes, 132);
TAMIS__AT(struct tamis__segment_header, parameters, 136);
TAMIS__AT(struct tamis__segment_header, generation, 200);
TAMIS__AT(struct tamis__segment_header, flags, 208);
TAMIS__AT(struct tamis__segment_header, key_rule_sum, 212);
TAMIS__AT(struct tamis__segment_header, kept, 216);
TAMIS__AT(struct tamis__segment_header, filter_capacity, 248);
TAMIS__AT(struct tamis__segment_header, filter_rate, 256);
TAMIS__AT(struct tamis__segment_header, on_full, 264);
TAMIS__AT(struct tamis__segment_header, slices, 268);
TAMIS__AT(struct tamis__segment_header, window_ns, 272);
TAMIS__AT(struct tamis__segment_header, window_items, 280);
TAMIS__AT(struct tamis__segment_header, slice, 288);
TAMIS__AT(struct tamis__segment_header, slice_start, 296);
TAMIS__AT(struct tamis__segment_header, step, 304);
TAMIS__AT(struct tamis__segment_header, counter_bits, 308);
TAMIS__AT(struct tamis__segment_header, fingerprint_bits, 312);
TAMIS__AT(struct tamis__segment_header, pieces, 316);
TAMIS__AT(struct tamis__segment_header, piece_segments, 320);
TAMIS__AT(struct tamis__segment_header, segment_slots, 324);
TAMIS__AT(struct tamis__segment_header, data_checksum, 328);
TAMIS__AT(struct tamis__segment_header, publication, 336);
TAMIS__AT(struct tamis__segment_header, keep, 344);
TAMIS__AT(struct tamis__segment_header, list_start, 348);
TAMIS__AT(struct tamis__segment_header, key_digest, 352);
TAMIS__AT(struct tamis__segment_header, durable, 368);
TAMIS__AT(struct tamis__segment_header, window_from, 372);
TAMIS__AT(struct tamis__segment_header, imported_at, 376);
TAMIS__AT(struct tamis__segment_header, imported_digest, 384);
TAMIS__AT(struct tamis__segment_header, imported_from, 400);
TAMIS__AT(struct tamis__segment_header, imported_made_at, 480);
TAMIS__AT(struct tamis__segment_header, imported_signed_at, 488);
TAMIS__AT(struct tamis__segment_header, imported_signature, 496);
TAMIS__AT(struct tamis__segment_header, checksum, 504);
TAMIS__AT(struct tamis__segment_header, labels, 512);
TAMIS__AT(struct tamis__segment_header, attachment, 1152);
TAMIS__AT(struct tamis__segment_header, live, 1528);
TAMIS__AT(struct tamis__segment_header, block_locks, 1664);
TAMIS__AT(struct tamis__segment_header, items, 2048);
TAMIS__SIZE(struct tamis__segment_header, TAMIS__HEADER_BYTES);

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
