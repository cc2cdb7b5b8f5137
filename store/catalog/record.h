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

/*
 * The bytes of a filter's record, of each segment in it, and of the store's record, a row a field:
 *
 *     FIELD(offset, bytes, place, name, "meaning")       place: where record.c has it in memory
 *
 * Encoding and decoding (record.c) and the tables of docs/format.md are made of these lists.
 */
#define TAMIS__RECORD_FIELDS(FIELD)                                                                \
    FIELD(0, 4, version, record_version, "1; 3 with a key rule; 2 is of no release")               \
    FIELD(4, 4, r->segment_count, segment_count, "n, 1 to 64, the spares among them")              \
    FIELD(8, 8, r->filter_id, filter_id, "never given twice")                                      \
    FIELD(16, 8, r->name_sequence, name_sequence, "1 at first, one more with each rename")         \
    FIELD(24, 8, r->generation, generation,                                                        \
          "of the list: 1 at first; a list that was never in force before gets "                   \
          "last_generation + 1, one that is put in force again (rollback) keeps its own")          \
    FIELD(32, 8, r->capacity, capacity,                                                            \
          "keys that the list is for: with one segment its capacity; of one that has grown or "    \
          "was imported, that of the newest and the items of those before it; with a window "      \
          "nothing that is looked at; 1 to 2^62")                                                  \
    FIELD(40, 8, r->fp_rate, fp_rate, "rate of the whole filter, above 0, at most 1")              \
    FIELD(48, 8, r->created_at, created_at, "time")                                                \
    FIELD(56, 8, r->published_at, published_at, "time of this generation")                         \
    FIELD(64, 8, r->checkpointed_at, checkpointed_at, "time of the last sync, 0 for never")        \
    FIELD(72, 8, *flags, flags,                                                                    \
          "bit 0: a program has made it for its own use, and drops it when that is over; bit "     \
          "1: its window counts from the first add of a key (3.1.4); bits 2 and 3: in which "      \
          "pages of memory it is mapped, 0 auto, 1 small, 2 huge (3: newer); bit 4: it has a "     \
          "key rule, whose text stands behind the entries; another bit: newer")                    \
    FIELD(80, 4, r->policy.on_full, on_full, "the policy, as in each of the segments (3.1.4)")     \
    FIELD(84, 4, r->policy.slices, slices, "")                                                     \
    FIELD(88, 8, r->policy.window_ns, window_ns, "")                                               \
    FIELD(96, 8, r->policy.window_items, window_items, "")                                         \
    FIELD(104, 8, r->policy.capacity, filter_capacity, "")                                         \
    FIELD(112, 8, r->policy.fp_rate, filter_rate, "")                                              \
    FIELD(120, 8, r->publication, publication,                                                     \
          "1 at first, one more with each commit that changes the list or the exceptions; "        \
          "never goes back")                                                                       \
    FIELD(128, 8, r->last_generation, last_generation,                                             \
          "the highest that there was, not below generation")                                      \
    FIELD(136, 4, r->keep, keep,                                                                   \
          "so many generations are kept when a build publishes another, 0 to 1000; 1 at first")    \
    FIELD(140, 4, r->policy.durable, durable,                                                      \
          "1: no key is told new before a log has it (durability.md); 0; another value: newer")    \
    FIELD(144, 8, r->exceptions, exceptions,                                                       \
          "number of the index of exceptions (3.7) that is in force; 0: none")                     \
    FIELD(152, 8, r->exception_count, exception_count, "keys in that index")                       \
    FIELD(160, 16, r->key_digest, key_digest,                                                      \
          "of the keys that the list was built from (3.6); 0: it was not built")
#define TAMIS__ENTRY_FIELDS(FIELD)                                                                 \
    FIELD(0, 8, s->number, number, "")                                                             \
    FIELD(8, 4, s->kind, kind, "")                                                                 \
    FIELD(12, 4, s->hash_set, hash_set, "")                                                        \
    FIELD(16, 8, s->seed, seed, "")                                                                \
    FIELD(24, 8, s->m_bits, m_bits, "")                                                            \
    FIELD(32, 4, s->k, k, "")                                                                      \
    FIELD(36, 4, s->words, words, "z")                                                             \
    FIELD(40, 8, s->capacity, capacity, "")                                                        \
    FIELD(48, 8, s->fp_rate, fp_rate, "")                                                          \
    FIELD(56, 8, s->items, items,                                                                  \
          "as of the last sync or close, or when the list went on; at most 2^56; the "             \
          "segment's stripes have the count of now")                                               \
    FIELD(64, 8, s->file_bytes, file_bytes, "")                                                    \
    FIELD(72, 8, s->created_at, created_at, "")                                                    \
    FIELD(80, 4, s->bit_order, bit_order, "")                                                      \
    FIELD(84, 4, *own_flags, flags,                                                                \
          "bit 0: a spare; another value: newer; not those of the header. The first entry is "     \
          "no spare, and behind a spare there are only spares")                                    \
    FIELD(88, 64, s->parameters, parameters, "")                                                   \
    FIELD(152, 8, s->slice, slice, "not less than that of the entry before")                       \
    FIELD(160, 8, s->slice_start, slice_start, "")                                                 \
    FIELD(168, 4, s->step, step, "")                                                               \
    FIELD(172, 4, s->counter_bits, counter_bits, "")                                               \
    FIELD(176, 4, s->fingerprint_bits, fingerprint_bits, "")                                       \
    FIELD(180, 4, s->pieces, pieces, "")
#define TAMIS__STORE_FIELDS(FIELD)                                                                 \
    FIELD(0, 4, version, record_version, "1")                                                      \
    FIELD(4, 4, r->format, format,                                                                 \
          "the newest thing that the store has (below); a number that the reader does not "        \
          "know: newer")                                                                           \
    FIELD(8, 8, r->store_id, store_id, "random; the same in each segment of the store")            \
    FIELD(16, 8, r->next_filter_id, next_filter_id,                                                \
          "the id that the next filter will get; from 1, above all in the catalog")                \
    FIELD(24, 8, r->next_segment, next_segment,                                                    \
          "the number that the next segment will get; from 1, above all in the catalog")           \
    FIELD(32, 8, r->created_at, created_at, "time")

/* What a segment's header, its entry here and its description in a stream have alike. */
#define TAMIS__SHARED_FIELDS(FIELD)                                                                \
    FIELD(kind)                                                                                    \
    FIELD(hash_set)                                                                                \
    FIELD(seed)                                                                                    \
    FIELD(m_bits)                                                                                  \
    FIELD(k)                                                                                       \
    FIELD(words)                                                                                   \
    FIELD(capacity)                                                                                \
    FIELD(created_at)                                                                              \
    FIELD(bit_order)                                                                               \
    FIELD(parameters)                                                                              \
    FIELD(slice)                                                                                   \
    FIELD(slice_start)                                                                             \
    FIELD(step)                                                                                    \
    FIELD(counter_bits)                                                                            \
    FIELD(fingerprint_bits)                                                                        \
    FIELD(pieces)
/* Copies one of these from a struct `from` to a struct `to`, whatever they are of the three. */
#define TAMIS__COPY_FIELD(field)                                                                   \
    _Static_assert(sizeof to->field == sizeof from->field, #field " has two sizes");               \
    memcpy(&to->field, &from->field, sizeof to->field);

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
void tamis__listed_segment_from_header(const struct tamis__segment_header *from,
                                       struct tamis__listed_segment *to);
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
