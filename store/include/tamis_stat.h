/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_stat.h: looking inside: what is known of a filter and of its segments, and where a key
 * goes.  tamis_fields.h has the fields as a table.
 */
#ifndef TAMIS_STAT_H
#define TAMIS_STAT_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Filters and segments ----------------------------------------------------------------- */

#define TAMIS_IMPORTED_FROM_BYTES 80
/* The room for the name of a list's signer, and for the signer's comment, each with the NUL. */
#define TAMIS_SIGNED_BY_BYTES 24
#define TAMIS_SIGNED_COMMENT_BYTES 320

/* States of a filter, as bits; 0 is "ok". */
/* The item count is at or past the capacity.  Or the filter takes no more keys below its capacity:
 * killed adders have left room that nobody can use, or the disk has no room for the next segment or
 * for the log of a durable filter (lacks_bytes). */
#define TAMIS_STATE_FULL 1u
#define TAMIS_STATE_DEGRADED 2u /* a sync failed, and no later sync has written everything */
/* The machine went down, or a segment was lost or is an older copy: keys that were added since
 * unclean_since may be missing.  It stays until tamis_filter_accept(). */
#define TAMIS_STATE_UNCLEAN 4u
#define TAMIS_STATE_DAMAGED 8u /* wrong bytes were found in it: its answers may be wrong */
/* The filter holds more keys than the rate that was asked for allows: predicted_rate
 * is above it. */
#define TAMIS_STATE_OVER 16u

/* What is known of a filter.  Times are in nanoseconds since 1970-01-01 UTC; 0 means never. */
struct tamis_filter_stat {
    size_t size; /* sizeof(struct tamis_filter_stat) */
    char name[TAMIS_NAME_MAX + 1];
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    uint32_t kind; /* of the newest segment, as are hash_set, k and seed */
    uint32_t k;
    uint64_t m_bits; /* sum over the segments, as are size_bytes and items */
    uint64_t seed;
    uint64_t capacity; /* capacity of the newest segment, plus the items of the older segments */
    double fp_rate;    /* the rate the filter was made for, at capacity */
    /* How many adds have answered NEW.  Kind counting: less the removes that removed the last add
     * of a key.  So it counts distinct keys, as capacity does.  A key that several add while the
     * filter grows may count twice. */
    uint64_t items;
    uint64_t size_bytes;   /* of the segment files */
    double predicted_rate; /* rate at the present item count, by the formulas of docs/sizing.md */
    uint64_t generation;   /* number of the list of segments that is in force */
    uint32_t segment_count;
    uint32_t state; /* TAMIS_STATE_* bits */
    int64_t created_at;
    int64_t published_at;
    int64_t checkpointed_at;   /* the last tamis_filter_sync(), or close of the last writer */
    int64_t window_ns;         /* length of the window in time; 0: by items, or no window */
    uint64_t window_items;     /* length of the window in items; 0: by time, or no window */
    uint32_t slices;           /* of the window; 0: no window */
    uint32_t on_full;          /* enum tamis_on_full */
    uint32_t counter_bits;     /* kind counting: bits of each of the m_bits counters; else 0 */
    uint32_t fingerprint_bits; /* kind fuse: 8 to 32; else 0 */
    uint64_t exceptions;       /* keys that answer absent whatever the bits say (tamis_build.h) */
    uint32_t keep;             /* older generations that are kept when a build publishes another */
    uint32_t flags;            /* TAMIS_FILTER_* bits */
    int64_t unclean_since;  /* TAMIS_STATE_UNCLEAN: keys added since then may be missing; else 0 */
    int64_t degraded_since; /* TAMIS_STATE_DEGRADED: when a sync failed; else 0 */
    double bits_per_key;  /* bits of the segments (of their counters) / capacity of the segments */
    uint64_t live_slices; /* of the window: slices in which keys are still found; 0: no window */
    /* How many keys the filter takes before it needs another segment, or refuses; UINT64_MAX: any
     * number, or not known (tamis_store_list(), and stores on servers). */
    uint64_t room;
    /* TAMIS_STATE_FULL: about how many bytes the disk lacks for the next segment or, if `room` is
     * not 0, for the log of a durable filter; else 0. */
    uint64_t lacks_bytes;
    /* tamis_watch_look(): how many keys were NEW since the look before, including keys that a
     * window has forgotten since; 0 at the first look, and from all other calls. */
    uint64_t new_keys;
    uint64_t pages; /* enum tamis_pages */
    /* Of a list that was imported, and noted by its importer (origin of struct tamis_import_spec);
     * else 0 and "".  tamis_store_list() does not know them. */
    int64_t imported_at;
    char imported_from[TAMIS_IMPORTED_FROM_BYTES]; /* a path, a URL, "-"; or the end of it */
    /* XXH3-128 of the stream in hexadecimal, as xxh128sum prints it.  Of format tamis it is the
     * digest at the end of the stream, which covers all bytes before it, without a digest at the
     * head. */
    char imported_digest[40];
    /* Of a list whose signature the importer has checked: when it was signed, or 0; the signer,
     * such as the id of the key; and the signer's comment. */
    int64_t imported_signed_at;
    char imported_signed_by[TAMIS_SIGNED_BY_BYTES];
    char imported_signed_comment[TAMIS_SIGNED_COMMENT_BYTES];
    /* TAMIS_STATE_UNCLEAN: how many keys the catalog had counted and the segments lack; 0: not
     * known. */
    uint64_t missing_keys;
    char key_rule[TAMIS_KEY_RULE_MAX + 1]; /* what the key of a record is, such as "bytes" */
};

/* Flags of a segment. */
/* Imported or merged: its items began with an estimate. */
#define TAMIS_SEGMENT_ITEMS_ESTIMATED 1u
/* Nobody adds to it, and it has checksums: tamis_store_verify() names each byte that changes. */
#define TAMIS_SEGMENT_SEALED 0x40000000u
/* The window no longer reaches it: no key is found in it, and its items do not count. */
#define TAMIS_SEGMENT_PAST 0x80000000u

/* One segment of a filter. */
struct tamis_segment_stat {
    size_t size; /* sizeof(struct tamis_segment_stat) */
    char hash_set[TAMIS_HASH_SET_NAME_MAX + 1];
    uint64_t number; /* the file is segments/<number, 16 digits>.seg */
    uint32_t kind;
    uint32_t k;
    uint32_t words;     /* z: words a key touches in its block; 0 for bloom */
    uint32_t bit_order; /* 0: bit b of byte B is bit 8 B + b; 1: bit 8 B + 7 - b (as SETBIT) */
    uint64_t m_bits;
    uint64_t seed;
    uint64_t capacity;
    double fp_rate;
    uint64_t items;
    uint64_t file_bytes;
    uint64_t data_offset; /* where the bits begin in the file */
    uint64_t data_bytes;
    int64_t created_at;
    uint64_t ones;            /* set bits; tamis_filter_fill() only, else 0 */
    double fill;              /* ones / m_bits; tamis_filter_fill() only */
    double fp_rate_now;       /* rate by the bits that are set; tamis_filter_fill() only */
    uint64_t flags;           /* TAMIS_SEGMENT_* bits */
    uint64_t slice;           /* of the window: which slice it belongs to, from 0 */
    int64_t slice_start;      /* when that slice began; 0: no window */
    uint32_t step;            /* how often the filter, or the slice, had grown before it was made */
    uint32_t counter_bits;    /* kind counting; else 0 */
    uint64_t items_estimated; /* keys, by the bits that are set; tamis_filter_fill() only, else 0 */
    uint32_t fingerprint_bits; /* kind fuse; else 0 */
    uint32_t pieces;           /* kind fuse: parts that were built each by itself; else 0 */
};

/* Fills in *stat with what is known of an open filter.  Reads no bits, so it takes microseconds.
 * Returns 0; TAMIS_EINVAL, TAMIS_EDROPPED; TAMIS_EBUSY: a writer held the catalog's lock for longer
 * than the busy timeout; TAMIS_ECORRUPT, TAMIS_EIO, TAMIS_ENOMEM. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_stat(tamis_filter *filter,
                                                 struct tamis_filter_stat *stat);

/* Returns the item count now, also of a dropped filter; TAMIS_EINVAL, TAMIS_ENOMEM.  The count is a
 * sum over counters in the headers, which takes less than a microsecond for each segment.  Items in
 * slices that the window no longer reaches do not count.  A key that two threads add while the
 * filter grows may count twice. */
TAMIS_API TAMIS_MUST_CHECK int64_t tamis_filter_items(tamis_filter *filter);

/* Fills in *stat with what is known of segment `index` (0 is the oldest), without its bits. Returns
 * 0; TAMIS_EINVAL: there is no such segment; TAMIS_EDROPPED. */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_segment(tamis_filter *filter, uint32_t index,
                                                    struct tamis_segment_stat *stat);

/* Writes where a segment is, below the directory of the store: "segments/0000000000000017.seg".
 * Returns `text`. */
#define TAMIS_SEGMENT_FILE_BYTES 48
TAMIS_API char *tamis_segment_file(uint64_t number, char text[TAMIS_SEGMENT_FILE_BYTES]);

/* Fills in *stat as tamis_filter_segment() does, and counts the set bits.  Reads the whole segment,
 * which takes about 1 s for 10 GB in memory.  Returns as tamis_filter_segment(). */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_fill(tamis_filter *filter, uint32_t index,
                                                 struct tamis_segment_stat *stat);

/*
 * Tells how full each of `count` equal parts of a segment is: the share of its bits (kind counting:
 * counters, kind fuse: fingerprints) that are not 0.  Reads the whole segment.
 *
 * index    0 is the oldest segment.
 * fill     room for `count` shares, 0 to 1, one for each part in the order of their places in the
 *          file.  If there are more parts than bits, some parts have the same bit.
 * Returns  0.  TAMIS_EINVAL: past the last segment, NULL, count 0; TAMIS_EDROPPED, TAMIS_ENOMEM.
 * Safe     beside any other call; bits that are set meanwhile may be counted or not.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_fill_map(tamis_filter *filter, uint32_t index,
                                                     double *fill, size_t count);

/* ---- Where a key goes --------------------------------------------------------------------- */

/* Where a key goes.  The caller lends both buffers. */
struct tamis_explanation {
    size_t size;            /* sizeof(struct tamis_explanation) */
    char *hashes;           /* in: room for the hash values as text with commas and a NUL         */
    size_t hashes_bytes;    /* in: the size of that room; 64 bytes for each hash value are enough */
    uint64_t *positions;    /* in: room for the bit positions, in the order of the hash set       */
    size_t positions_max;   /* in: how many fit                                                   */
    size_t positions_count; /* out: how many there are (k); a position may occur twice            */
};

/*
 * Gets the hash values and bit positions of a key in segment `index` of a filter.  Position b is
 * bit b % 8 of byte b / 8 of the data; bit 0 is the least, or the greatest if the segment's
 * bit_order is 1.  TAMIS_EINVAL: a buffer is too small (positions_count says what is needed), or
 * no such segment.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_explain(tamis_filter *filter, uint32_t index,
                                                    const void *key, size_t key_bytes,
                                                    struct tamis_explanation *explanation);

/*
 * The same for a hash set, m and k without a filter (kind bloom).  m_bits may be any number from 1
 * to 2^64-1 that the set can reach; k may be up to 2^20, and is 0 if the set says what k is.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_explain(const char *hash_set, uint64_t m_bits, uint32_t k,
                                             uint64_t seed, const void *key, size_t key_bytes,
                                             struct tamis_explanation *explanation);

#ifdef __cplusplus
}
#endif

#endif
