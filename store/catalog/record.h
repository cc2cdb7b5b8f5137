/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.h: what the catalog holds, and its bytes (docs/format.md section 2).
 *
 * Encoders and decoders work on (buffer, bytes) and do no I/O.  Every value ends in the XXH3-64 of
 * its key and of itself, so that a value can neither rot nor stray to another key unseen.
 */
#pragma once

#include "segment/segment.h"

#define TAMIS__RECORD_VERSION 1u
#define TAMIS__SEGMENTS_MAX 64u

/* A segment as a record describes it: what is known of it without its file. */
struct tamis__listed_segment {
    uint64_t number;
    uint32_t kind;
    uint32_t hash_set;
    uint64_t seed;
    uint64_t m_bits;
    uint32_t k;
    uint32_t words;
    uint64_t capacity;
    double fp_rate;
    uint64_t items; /* as of the last checkpoint or close; the truth is in the segment's stripes */
    uint64_t file_bytes;
    int64_t created_at;
    uint32_t bit_order;
    uint8_t parameters[TAMIS__HASH_PARAMETER_BYTES];
    uint64_t slice;
    int64_t slice_start;
    uint32_t step;
    uint32_t counter_bits;
    uint32_t fingerprint_bits;
    uint32_t pieces;
};

/*
 * The record of a filter.  Its segments are in the order of their making, the newest last.  Behind
 * these are its spares, which were made ahead and are empty.  Adders enter one spare after the
 * other without the catalog, so the record may be behind.  A caller that reads a record to look at
 * the segments brings it up to date first (tamis__record_promote).
 */
struct tamis__record {
    char name[TAMIS_NAME_MAX + 1];
    uint64_t filter_id;
    uint64_t name_sequence; /* goes up with every rename; segments' labels follow */
    uint64_t generation;
    uint64_t capacity;
    double fp_rate;
    int64_t created_at;
    int64_t published_at;
    int64_t checkpointed_at;
    struct tamis__policy policy;
    uint64_t publication;     /* goes up with every change of the list, or of the exceptions */
    uint64_t last_generation; /* the highest there was; after a rollback `generation` is less */
    uint32_t keep;            /* how many older generations stay */
    bool owned;               /* TAMIS_FILTER_OWNED */
    uint64_t exceptions;      /* segment number of their index; 0: there are none */
    uint64_t exception_count;
    uint8_t key_digest[TAMIS__KEY_DIGEST_BYTES]; /* of the keys it was built from; 0: not built */
    uint32_t segment_count;                      /* segments of the list, without the spares */
    uint32_t spare_count;                        /* spares: segments[segment_count] and so on */
    struct tamis__listed_segment segments[TAMIS__SEGMENTS_MAX];
};

/* The store's own record. */
/* What a store may have that older libraries do not know.  Each library looks at this first, and
 * tells of a newer store that it is newer (docs/format.md). */
#define TAMIS__STORE_FORMAT_FIRST 0u
#define TAMIS__STORE_FORMAT_IDS 1u      /* ids of filters (tags.c) */
#define TAMIS__STORE_FORMAT_ONE_PAGE 2u /* segments in files of one page */
#define TAMIS__STORE_FORMAT_NEWEST TAMIS__FORMAT_KNOWN

struct tamis__store_record {
    uint64_t store_id;
    uint32_t format; /* TAMIS__STORE_FORMAT_*: the newest thing that was ever put into it */
    uint32_t zero;   /* in the place of padding: records are compared byte by byte */
    uint64_t next_filter_id;
    uint64_t next_segment;
    int64_t created_at;
    /* Stands not in its value but under a key of its own: the first number that was passed over,
     * because a file had it which this catalog did not know; 0: none.  Files from there on may
     * belong to a newer catalog. */
    uint64_t passed;
};

/* Was the number given after what the record knows, or was it passed over? */
bool tamis__store_record_is_newer(const struct tamis__store_record *record, uint64_t number);

#define TAMIS__RECORD_FIXED_BYTES 176u
#define TAMIS__RECORD_SEGMENT_BYTES 184u
/* With the longest key rule, and a checksum. */
#define TAMIS__RECORD_BYTES_MAX                                                                    \
    (TAMIS__RECORD_FIXED_BYTES + TAMIS__SEGMENTS_MAX * TAMIS__RECORD_SEGMENT_BYTES +               \
     TAMIS__KEY_RULE_TEXT_BYTES + 8u)
#define TAMIS__STORE_RECORD_BYTES 48u

struct tamis__bytes {
    const void *data;
    size_t count;
};

/* Fills in a segment as the catalog sees it, from its header; items are 0. */
void tamis__listed_segment_from_header(const struct tamis__segment_header *header,
                                       struct tamis__listed_segment *segment);
/* Computes the capacity of a list that has grown: what the newest segment can hold, and what the
 * older ones do hold. */
void tamis__record_sum_capacity(struct tamis__record *record);
/* Returns the bytes of the segments' files. */
uint64_t tamis__record_bytes(const struct tamis__record *record);
/* Returns the name of the first field in which a header contradicts the catalog; NULL
 * if none does. */
const char *tamis__record_contradiction(const struct tamis__listed_segment *segment,
                                        const struct tamis__segment_header *header);

/* The same for the policy, which all segments of a filter state. */
const char *tamis__record_policy_contradiction(const struct tamis__policy *policy,
                                               const struct tamis__segment_header *header);

/* XXH3-64 over key and value, the trailer of every value. */
uint64_t tamis__record_checksum(struct tamis__bytes key, const void *value, size_t bytes);

/* Returns what a record says that cannot be, as a clause; NULL if there is nothing.  What has such
 * a problem is not read, and must not be written. */
const char *tamis__record_problem(const struct tamis__record *record);
/* Returns the bytes written to `buffer`, which holds TAMIS__RECORD_BYTES_MAX. */
size_t tamis__record_encode(const struct tamis__record *record, struct tamis__bytes key,
                            void *buffer);
/* Returns 0, TAMIS_ECORRUPT or TAMIS_EVERSION; *reason is a clause.  record->name is left alone. */
int tamis__record_decode(struct tamis__bytes key, struct tamis__bytes value,
                         struct tamis__record *record, const char **reason);

void tamis__store_record_encode(const struct tamis__store_record *record, struct tamis__bytes key,
                                void *buffer);
/* Does this library know the format?  Not of a record that could not be read at all, which is 0. */
bool tamis__store_record_is_readable(const struct tamis__store_record *record);
int tamis__store_record_decode(struct tamis__bytes key, struct tamis__bytes value,
                               struct tamis__store_record *record, const char **reason);

static inline const struct tamis__listed_segment *
tamis__record_newest(const struct tamis__record *record)
{
    return &record->segments[record->segment_count - 1];
}
