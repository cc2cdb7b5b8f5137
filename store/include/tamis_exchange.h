/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_exchange.h: filters as streams of bytes, in the formats of other programs and in Tamis'
 * own. docs/exchange.md has the formats byte by byte.
 */
#ifndef TAMIS_EXCHANGE_H
#define TAMIS_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A filter travels as a stream of bytes in one of these formats:
 *
 *     redis-bitmap  the string that SETBIT made: bits alone, up to the highest byte that is not 0;
 *                   hash set, m and k are the caller's word
 *     redisbloom    the answers of BF.SCANDUMP, in a plain container; a layer is a segment
 *     guava         what BloomFilter.writeTo() writes
 *     spark         what BloomFilter.writeTo() of Apache Spark writes, version 1 or 2
 *     parquet       the filter of a column chunk as it stands in a Parquet file: header and bits
 *     dcso          what Write() of DCSO/bloom writes; up to 360 bytes behind the bits are kept
 *     pybloomfilter what pybloomfiltermmap3 and pybloomfiltermmap of Python map; up to 16 hashes
 *     tamis         Tamis' own: any filter, with its exceptions, seeds and checksums
 *
 * An import or export takes a few megabytes of memory, whatever the length of the stream.  An
 * import takes memory for the stream's exceptions besides.
 */

/* Returns the name of format `index`, from 0 on; NULL past the last.  Static storage. */
TAMIS_API const char *tamis_format_name(uint32_t index);

/* Where a stream comes from. */
struct tamis_source {
    size_t size; /* sizeof(struct tamis_source) */
    /* Puts 1 to `bytes` bytes (at most 1 MiB are asked for) into `buffer` and returns how
     * many; returns 0 at the end of the stream, or a TAMIS_E* code to end the import, which
     * then returns it. */
    int64_t (*read)(void *context, void *buffer, size_t bytes);
    void *context;
    uint64_t
        bytes; /* the length of the whole stream, by which a cut is found at once; 0: unknown */
};

/* Where a stream goes.  The function returns 0, or a TAMIS_E* code to end the export, which
 * then returns it. */
struct tamis_sink {
    size_t size; /* sizeof(struct tamis_sink) */
    int (*write)(void *context, const void *buffer, size_t bytes);
    void *context;
    /* A part of the stream: at most `bytes` bytes from byte `from` on; 0 and 0: all of it.  So a
     * program can take a long stream in pieces.  The export does not read the data of segments
     * outside of the part, except counters, and fingerprints once, with from == 0.  In a part the
     * digest that ends format tamis is zeros.  A program that has all pieces computes it: XXH3-128
     * of all bytes before it. */
    uint64_t from, bytes;
    uint64_t *all_bytes; /* NULL, or receives the length of the whole stream */
};

/* Flags of an import: of struct tamis_import_spec. */
enum tamis_import_flag {
    /* The source ends after the head of the stream (redisbloom: after its first frame).  The filter
     * gets the key counts of the head, and no bit; the caller brings the data by
     * tamis_filter_write_data().  Formats redisbloom and tamis.  TAMIS_EUNSUPPORTED: the stream is
     * of kind fuse or has exceptions. */
    TAMIS_IMPORT_HEAD = 0x20000,
    /* Format redisbloom: when the filter is full, it goes on as RedisBloom does.  It gets another
     * layer by the growth and error rate in the stream, or refuses keys if the stream says
     * NONSCALING.  Without this flag a full filter still takes keys, and its rate gets worse. */
    TAMIS_IMPORT_AS_THERE = 0x40000,
    TAMIS_IMPORT_OWNED = 0x80000,    /* the filter gets TAMIS_FILTER_OWNED */
    TAMIS_IMPORT_DURABLE = 0x100000, /* it gets TAMIS_FILTER_DURABLE; kinds blocked and bloom */
};

/* What a stream does not tell.  What the stream does tell must be 0 or NULL here. */
struct tamis_import_spec {
    size_t size;          /* sizeof(struct tamis_import_spec) */
    const char *hash_set; /* redis-bitmap: needed */
    uint64_t m_bits; /* redis-bitmap: needed; 0 with a php set: 2^32                          */
    uint32_t k;      /* redis-bitmap: needed, unless the hash set fixes it                    */
    /* Of all formats but redisbloom and tamis. */
    uint64_t capacity; /* 0: the number of keys for which m_bits and k are best */
    double fp_rate;    /* 0: the predicted rate at that capacity */
    /* Not 0: the import adds an empty segment of this capacity, hash set xxh3 and kind blocked. The
     * imported keys still answer, and new keys go to that segment. */
    uint64_t seal_capacity;
    double seal_rate;  /* of that segment; 0: TAMIS_FP_RATE_DEFAULT                           */
    uint32_t flags;    /* TAMIS_IMPORT_* */
    uint32_t reserved; /* 0 */
    /* The created_at of the new filter, in ns since 1970, for a filter that comes from a dump; 0:
     * now. */
    int64_t created_at;
    /* A path or a URL of the stream, which tamis_filter_stat() tells as imported_from.  Of a longer
     * text the last TAMIS_IMPORTED_FROM_BYTES - 1 bytes are kept.  NULL: the filter keeps nothing
     * of what follows. */
    const char *origin;
    /* When the stream was signed, in ns since 1970; 0: not known.  The caller has checked it.
     * TAMIS_PUBLISH_NEWER compares it. */
    int64_t signed_at;
    /* A number that the caller computes from the stream's signature and its public key; 0: the
     * stream is not signed.  With a number, TAMIS_PUBLISH_IF_CHANGED takes the stream for the list
     * in force only if that list has the same number: somebody may make two lists with one digest.
     */
    uint64_t signature;
    /* Who has signed the stream, and the comment of the signer; tamis_filter_stat() tells both.  Of
     * longer texts the first TAMIS_SIGNED_BY_BYTES - 1 and TAMIS_SIGNED_COMMENT_BYTES - 1 bytes are
     * kept; with format dcso fewer, if the stream has bytes behind its bits.  NULL: none. */
    const char *signed_by;
    const char *signed_comment;
};

/*
 * Makes a filter from a stream, with all its segments in one step.
 *
 * name     of the filter to be made; see TAMIS_NAME_MAX.
 * spec     NULL if there is nothing to say.
 * source   read from here only, in order, by this thread.
 * filter   NULL, or *filter receives an open handle.
 * Returns  0.  TAMIS_ECORRUPT, TAMIS_EFOREIGN, TAMIS_EVERSION, TAMIS_EUNSUPPORTED: the stream
 *          cannot be imported; the sentence says at which byte, and why.  TAMIS_EINVAL: format,
 *          name or spec is wrong, or the bitmap is longer than m_bits.  TAMIS_EEXIST,
 *          TAMIS_ENOSPACE, TAMIS_EREADONLY, TAMIS_EBUSY, TAMIS_EIO, TAMIS_ENOMEM.  The code that
 *          the source returned.  On any error nothing is left behind.
 * Items    begin with the count in the stream.  Formats other than redisbloom and tamis have no
 *          count: then items begin with an estimate from the set bits, and the segment has
 *          TAMIS_SEGMENT_ITEMS_ESTIMATED.
 * Durable  when it returns 0 the filter and its keys survive a power cut.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_import(tamis_store *store, const char *name,
                                                   const char *format,
                                                   const struct tamis_import_spec *spec,
                                                   const struct tamis_source *source,
                                                   tamis_filter **filter);

/* ---- As the next generation ----------------------------------------------------------------- */

/* Flags of struct tamis_publish_spec. */
enum tamis_publish_flag {
    TAMIS_PUBLISH_IF_CHANGED =
        0x2000,                  /* publish nothing if the stream's list is in force already */
    TAMIS_PUBLISH_KEEP = 0x4000, /* `keep` is given; else it stays as it is */
    /* Refuse a stream that was made before the list in force.  Publish nothing, as with
     * TAMIS_PUBLISH_IF_CHANGED, if the stream's list is in force already. */
    TAMIS_PUBLISH_NEWER = 0x8000,
    TAMIS_PUBLISH_MAX_SHRINK = 0x10000, /* `max_shrink` is given; else a list may be of any size */
};

/* How a stream is published.  All zero is a good default. */
struct tamis_publish_spec {
    size_t size;                            /* sizeof(struct tamis_publish_spec) */
    const struct tamis_import_spec *import; /* what the stream does not tell; may be NULL.  Without
                                               TAMIS_IMPORT_HEAD, TAMIS_IMPORT_OWNED, created_at */
    const struct tamis_key *except; /* keys that must answer absent whatever the stream has, as with
                                       tamis_build_except(); needed during the call only */
    uint64_t except_count;
    uint32_t flags; /* TAMIS_PUBLISH_* */
    uint32_t keep;  /* with TAMIS_PUBLISH_KEEP: how many generations before the new one are kept, 0
                       to TAMIS_KEEP_MAX */
    /* Guards against a list that is much too short. */
    uint64_t at_least; /* the least number of keys that the list may have; 0: no least number */
    double max_shrink; /* with TAMIS_PUBLISH_MAX_SHRINK: the list may have at most so many percent
                          fewer keys than the list in force, 0 to 100 */
};

/* What a publication did. */
struct tamis_publish_result {
    size_t size;         /* sizeof(struct tamis_publish_result) */
    uint64_t generation; /* the generation that is in force now */
    uint64_t exceptions; /* the exceptions that are in force with it */
    uint64_t size_bytes; /* of its files */
    uint8_t digest[16];  /* of the stream, as imported_digest of tamis_filter_stat() tells it; zeros
                            if only the head was read, and the head has no digest */
};

/*
 * Makes a stream the next generation of the filter `name`, whatever that was: of another kind or
 * size, counting, with a window, or not there yet.  The generation comes into force in one step, as
 * that of a build does (tamis_build.h): every open handle, in whatever process, answers from the
 * generation before or from this one, never from both in one call, and from this one in each call
 * that begins after this has returned.  The one before is kept for tamis_filter_rollback().
 *
 * Stream     format and source are as with tamis_filter_import().  Nothing is in force before the
 *            source has returned 0.  So a source that checks a signature at the end of the stream
 *            returns an error in the place of 0, and nothing is published.
 * Unchanged  with TAMIS_PUBLISH_IF_CHANGED nothing is published if the list in force has the same
 *            content and parameters as the stream, the same exceptions as the stream and the spec
 *            together, and no fewer keys (adders may have added some).  If the head of the stream
 *            has the digest of the stream (TAMIS_EXPORT_WITH_DIGEST; always with kind fuse without
 *            exceptions), the call reads the head alone.
 * Newer      with TAMIS_PUBLISH_NEWER a stream that was made before the list in force is refused.
 *            Format tamis says when each segment was made; the latest of these times counts.  Of
 *            other formats signed_at of the import spec counts.  Of two lists with the same time
 *            signed_at decides.  The call also compares with a list that is published meanwhile.
 * Guards     the call compares at_least and max_shrink with the number of keys in the head as soon
 *            as it has read the head, and again when the list comes into force.
 * Exceptions of the stream belong to this generation.  Exceptions that tamis_filter_except() has
 *            set in this store stay, and so do those of the spec.
 * Adders     keys that are added to the generation before, during this call, are not in the new
 *            one.
 * Returns    1: the generation is in force.  0: TAMIS_PUBLISH_IF_CHANGED was given, and nothing is
 *            new.  TAMIS_EMISMATCH: the filter is durable and the stream is of kind counting; or
 *            the stream is older (Newer); or it has too few keys (Guards).  The errors of
 *            tamis_filter_import(), without TAMIS_EEXIST.  On any error the generation that was in
 *            force stays, and nothing is left behind.
 * Killed     the old generation or the new one is in force.  The next process that makes a file in
 *            the store removes what is left.
 * Durable    when it returns 1 the generation survives a power cut.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_publish(tamis_store *store, const char *name,
                                                    const char *format,
                                                    const struct tamis_publish_spec *spec,
                                                    const struct tamis_source *source,
                                                    struct tamis_publish_result *result);

/* ---- Export --------------------------------------------------------------------------------- */

/* Flags of tamis_filter_export(). */
enum tamis_export_flag {
    TAMIS_EXPORT_WITH_KEY = 0x200000, /* allow secrets in the stream: a seed other than 0, or the
                                         key of sip */
    /* Leave the exceptions out, for a program that transfers them by itself
     * (tamis_filter_exceptions()). */
    TAMIS_EXPORT_WITHOUT_EXCEPTIONS = 0x400000,
    /* Put the digest of the stream at its begin, so that tamis_filter_publish() sees in the first
     * bytes that the list is in force already.  For a whole stream of format tamis.  The export
     * reads the filter twice.  It returns TAMIS_ELIMIT, after it has written most of the stream, if
     * keys were added between the two readings.  A Tamis from before this flag can import the
     * stream without its first 40 bytes. */
    TAMIS_EXPORT_WITH_DIGEST = 0x800000,
};

/*
 * Writes a filter as a stream, and changes nothing in the filter.  A filter that was imported, and
 * not added to, comes out byte for byte as it came in.  Keys that are added meanwhile may be in the
 * stream or not.
 *
 * flags    TAMIS_EXPORT_*.  With TAMIS_EXPORT_WITH_KEY whoever gets the stream can choose keys
 *          against the filter.  Only format tamis holds a seed or a key.
 * Returns  0.  TAMIS_EUNSUPPORTED: the format cannot express this filter (kind, hash set, segments,
 *          exceptions); nothing was written.  TAMIS_EINVAL: there is no such format, or the stream
 *          would hold a seed or key that flags do not allow; nothing was written.  TAMIS_ECORRUPT:
 *          fingerprints or exceptions are damaged.  TAMIS_EDROPPED.  The code that the sink
 *          returned.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_export(tamis_filter *filter, const char *format,
                                                   uint32_t flags, const struct tamis_sink *sink);

/* ---- Pieces of the data ------------------------------------------------------------------- */

/*
 * Reads bytes of the data of segment `index` (0 is the oldest), as they lie in its file: a program
 * that sends a filter in pieces, in whatever order they are asked for, needs no stream.  Each word
 * is as it was at one instant.
 *
 * Returns  0.  TAMIS_EINVAL: no such segment, or past the end of its data (data_bytes of
 *          tamis_filter_segment()).  TAMIS_EDROPPED, and what a broken file gives.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_read_data(tamis_filter *filter, uint32_t index,
                                                      uint64_t offset, void *buffer, size_t bytes);

/*
 * Sets in the data of segment `index` each bit that is set in these bytes, and clears no bit.  By
 * it a filter that was made with TAMIS_IMPORT_HEAD gets its data, in pieces of any order; a piece
 * may come twice.  Safe beside any other call.  The call counts no item.
 *
 * Returns  0.  TAMIS_EINVAL: no such segment, past the end of its data, or a bit past its m.
 *          TAMIS_EUNSUPPORTED: kinds counting and fuse.  TAMIS_EREADONLY, TAMIS_EDROPPED,
 *          TAMIS_ENOSPACE, TAMIS_EIO.
 * Durable  as tamis_filter_add(): after tamis_filter_sync().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_write_data(tamis_filter *filter, uint32_t index,
                                                       uint64_t offset, const void *data,
                                                       size_t bytes);

/*
 * Sets the item count of segment `index`, for a filter that gets its data by
 * tamis_filter_write_data().  Nobody may add to the filter at that moment.
 *
 * Returns  0, or an error of tamis_filter_write_data().
 * Durable  after tamis_filter_sync().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_write_items(tamis_filter *filter, uint32_t index,
                                                        uint64_t items);

/*
 * Sets bit `position` of segment `index`, for a program that computes positions by itself
 * (tamis_filter_explain()).  If several set the same bit at the same time, one of them gets 0.  The
 * call counts no item.
 *
 * Returns  the bit from before, 0 or 1.  TAMIS_EINVAL: there is no such segment, or the position is
 *          m or more.  TAMIS_EUNSUPPORTED: the filter is not of kind bloom.  The other errors of
 *          tamis_filter_write_data().
 * Durable  after tamis_filter_sync().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_set_bit(tamis_filter *filter, uint32_t index,
                                                    uint64_t position);

#ifdef __cplusplus
}
#endif

#endif
