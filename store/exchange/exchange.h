/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exchange.h: import and export of filters as streams of bytes, in the formats of other systems and
 * in our own.
 *
 *     import    source -> reader -> parse    the head of the stream: which segments there are
 *                                -> load     their data, piece by piece -> target
 *     export    segments -> save -> writer -> sink
 *
 * A format is a file of this folder and a line in the table of formats.c.  `parse` works on
 * (buffer, bytes) and does no I/O.  `load` asks the reader for bounded pieces and gives them to a
 * target, which knows where data goes.  So both can be fed by a fuzzer, and a stream of any length
 * takes only one piece of memory.  docs/exchange.md has the formats byte by byte.
 */
#pragma once

#include "catalog/record.h"
#include "hash/sum.h"
#include "segment/segment.h"
#include "sizing/fuse.h"

struct tamis__exceptions;

/* The most that is asked of a source, or given to a sink or a target, at once. */
#define TAMIS__PIECE_BYTES ((size_t)1 << 20)

/* In a layer: the stream does not say how many keys the layer holds. */
#define TAMIS__ITEMS_UNKNOWN UINT64_MAX

/* A layer: one segment, as a stream describes it. */
struct tamis__layer {
    /* Its number and file_bytes mean nothing here; capacity, fp_rate and created_at are 0 if the
     * stream does not tell them. */
    struct tamis__listed_segment segment;
    uint32_t flags; /* TAMIS_SEGMENT_* */
    uint8_t kept[TAMIS__KEPT_BYTES];
    struct tamis__fuse_shape shape; /* of kind fuse; else all 0 */
    uint64_t data_checksum;         /* of kind fuse; else 0 */
};

/* What a stream says before its data; the oldest layer first. */
struct tamis__outline {
    uint32_t count;
    uint64_t head_bytes;  /* bytes of the head, which load takes first */
    uint64_t least_bytes; /* that must follow the head; more than the source has is a refusal */
    uint64_t capacity;    /* of the filter; 0: it and the rate follow from the layers */
    double fp_rate;
    struct tamis__policy policy; /* how it goes on; capacity 0: the stream does not tell */
    uint64_t exceptions;         /* how many follow the data */
    bool swap_words;             /* for tamis__load_one(): the data are longs of Java, big-endian */
    bool has_attachment;         /* for the same: what follows the data is kept as an attachment */
    bool has_digest;             /* the head says what tamis__reader.digest will be: */
    uint8_t digest[TAMIS__SUM_BYTES];
    uint64_t preface_bytes; /* of head_bytes, those before the head proper (preface.h) */
    uint8_t key_digest[TAMIS__KEY_DIGEST_BYTES]; /* of the keys that it was built from; or 0 */
    struct tamis__layer layers[TAMIS__SEGMENTS_MAX];
};

/* Java writes numbers big-endian. */
static inline uint32_t tamis__get32_big(const void *p)
{
    return __builtin_bswap32(tamis__get32(p));
}

static inline void tamis__put32_big(void *p, uint32_t number)
{
    number = __builtin_bswap32(number);
    memcpy(p, &number, sizeof number);
}

/* ---- In ------------------------------------------------------------------------------------- */

struct tamis__reader {
    const struct tamis_source *source;
    const char *format;    /* for sentences */
    unsigned char *buffer; /* TAMIS__PIECE_BYTES */
    size_t start, end;     /* what was read and not taken */
    uint64_t offset;       /* of buffer[start] in the stream */
    bool at_end;
    /* Which stream it was: XXH3-128 of all its bytes; of format tamis, of those that are neither
     * preface nor trailer.  Set when `load` has ended well. */
    uint8_t digest[TAMIS__SUM_BYTES];
    struct tamis__sum *sum; /* of all that was read; NULL: nobody wants it, or `load` sets digest */
};

int tamis__reader_init(struct tamis__reader *reader, const struct tamis_source *source,
                       const char *format);
void tamis__reader_clear(struct tamis__reader *reader);
/* Makes sure that the buffer has `bytes` bytes, at most TAMIS__PIECE_BYTES, or all that are left
 * of the stream. */
int tamis__reader_fill(struct tamis__reader *reader, size_t bytes);
/* Takes exactly `bytes` bytes, or returns TAMIS_ECORRUPT.  The caller may change them; they are
 * valid until the next call. */
int tamis__reader_take(struct tamis__reader *reader, size_t bytes, unsigned char **data);
/* Returns TAMIS_ECORRUPT if anything is left of the stream. */
int tamis__reader_finish(struct tamis__reader *reader);
/* Sets the sentence "the <format> stream <reason>; <mend> (at byte <offset>)".  If the reason
 * brings no mend, the mend is that of the code. */
int tamis__reader_fail(const struct tamis__reader *reader, int code, uint64_t offset,
                       const char *reason);

/* A target takes the data of the segments: for each in order, from its first byte to its last. */
struct tamis__stream_target {
    int (*write)(void *context, uint32_t segment, const void *data, size_t bytes);
    /* The count of a cell of the segment, when its data are in.  Returns TAMIS__NO_COUNT if there
     * can be no such cell or count. */
    int (*count)(void *context, uint32_t segment, uint64_t cell, uint64_t count);
    /* All exceptions, sorted, when the data of all segments are in.  What the target takes out of
     * the set is its own. */
    int (*except)(void *context, struct tamis__exceptions *set);
    /* What the stream has behind the data of the one segment: 1 to TAMIS__ATTACHMENT_BYTES bytes.
     */
    int (*attach)(void *context, const void *data, size_t bytes);
    void *context;
};
#define TAMIS__NO_COUNT 1

/* Keeps what these bytes, which stand at `offset` of the data, have of the word that m ends in. */
void tamis__keep_last_word(uint64_t *last, uint64_t m_bits, uint64_t offset,
                           const unsigned char *data, size_t bytes);

/* ---- Out ------------------------------------------------------------------------------------ */

/* A filter on its way out; the oldest segment first. */
struct tamis__cargo {
    const struct tamis__segment *segments[TAMIS__SEGMENTS_MAX];
    uint32_t count;
    uint64_t capacity;
    double fp_rate;
    struct tamis__policy policy;
    const struct tamis__segment *index; /* of its exceptions; NULL: it has none */
    uint8_t key_digest[TAMIS__KEY_DIGEST_BYTES];
    bool with_digest; /* the stream is to begin with its digest; format tamis */
};

struct tamis__writer {
    const struct tamis_sink *sink;
    unsigned char *buffer; /* TAMIS__PIECE_BYTES */
    size_t used;
    uint64_t offset; /* in the stream, of the buffer's first byte */
    uint64_t from;   /* of the part that is wanted; 0 and UINT64_MAX: all of the stream */
    uint64_t end;
    bool partial; /* only a part is wanted, so nothing is summed */
    bool summing; /* all that is put goes into the sum too */
    struct tamis__sum sum;
};

int tamis__writer_init(struct tamis__writer *writer, const struct tamis_sink *sink);
void tamis__writer_clear(struct tamis__writer *writer);
int tamis__writer_put(struct tamis__writer *writer, const void *data, size_t bytes);
int tamis__writer_flush(struct tamis__writer *writer);

/*
 * How the data of a segment goes out: its bytes from `offset` on, with position b at mask 1 << b %
 * 8 (LSB first) or 0x80 >> b % 8 (MSB first) of byte b / 8, whatever the segment's own order is.
 * If `swap_words` is set, they go out as big-endian words of 8 bytes.  The data may change
 * meanwhile: each word is as it was at one instant.  What is outside of the wanted part of the
 * stream is not read.
 */
struct tamis__passage {
    uint32_t bit_order; /* enum tamis__bit_order of the stream */
    bool swap_words;
};
int tamis__writer_data(struct tamis__writer *writer, const struct tamis__segment *segment,
                       const struct tamis__passage *passage, uint64_t offset, uint64_t bytes);
/* Copies the same into memory; at most TAMIS__PIECE_BYTES. */
void tamis__copy_out(const struct tamis__segment *segment, const struct tamis__passage *passage,
                     uint64_t offset, unsigned char *out, size_t bytes);

/* ---- Formats -------------------------------------------------------------------------------- */

struct tamis__format {
    const char *name;
    bool has_secrets; /* its streams hold seed and key */
    bool has_exceptions;
    bool has_key_rule;
    bool has_digest;   /* its head can say the digest, and `load` sets that of the reader */
    size_t head_bytes; /* the longest head; a shorter stream is handed over as it is */

    /* Fills in the outline, or returns a code with the refusal.  NULL if the stream is nothing but
     * data, so that the caller must tell the rest. */
    int (*parse)(const void *head, size_t bytes, struct tamis__outline *outline,
                 struct tamis__refusal *refusal);
    int (*load)(struct tamis__reader *reader, const struct tamis__outline *outline,
                const struct tamis__stream_target *target);

    /* Can the format express this filter?  If not, returns TAMIS_EUNSUPPORTED with a sentence.
     * NULL: it can express every filter. */
    int (*check)(const struct tamis__cargo *cargo);
    int (*save)(const struct tamis__cargo *cargo, struct tamis__writer *writer);
};

extern const struct tamis__format tamis__format_redis_bitmap;
extern const struct tamis__format tamis__format_redisbloom;
extern const struct tamis__format tamis__format_guava;
extern const struct tamis__format tamis__format_spark;
extern const struct tamis__format tamis__format_parquet;
extern const struct tamis__format tamis__format_dcso;
extern const struct tamis__format tamis__format_pybloomfilter;
extern const struct tamis__format tamis__format_portable;

/* Returns NULL, with the sentence set, if there is no such format; the
 * caller returns TAMIS_EINVAL. */
const struct tamis__format *tamis__format_by_name(const char *name);

/* Loads `bytes` bytes of data for segment `index` from the reader to the target, piece by piece. */
int tamis__load_data(struct tamis__reader *reader, const struct tamis__stream_target *target,
                     uint32_t index, uint64_t bytes);

/* Outlines a stream that is a head and then the data of one segment of kind bloom, whose hash set,
 * seed, m and k are given. */
void tamis__outline_one(struct tamis__outline *outline, uint64_t head_bytes,
                        const struct tamis__listed_segment *segment);
/* `load` of such a stream. */
int tamis__load_one(struct tamis__reader *reader, const struct tamis__outline *outline,
                    const struct tamis__stream_target *target);
/* For `check`: does the one segment fit an array of Java's longs?  `system` is whose, for the
 * sentence. */
int tamis__check_longs(const struct tamis__cargo *cargo, const char *system);

/* For `check`: is this one segment of kind bloom?  `format` names the format in the sentence. */
int tamis__check_one_bloom(const struct tamis__cargo *cargo, const char *format);
