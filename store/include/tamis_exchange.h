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
 * Memory is a few megabytes, whatever the length; an import takes that of the exceptions besides.
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
    uint64_t bytes; /* of the whole stream, 0 if not known: shows at once that it was cut */
};

/* Where a stream goes.  The function returns 0, or a TAMIS_E* code to end the export, which
 * then returns it. */
struct tamis_sink {
    size_t size; /* sizeof(struct tamis_sink) */
    int (*write)(void *context, const void *buffer, size_t bytes);
    void *context;
    /* A part of the stream: `bytes` bytes from byte `from` on, or what there is of them; 0 and 0:
     * all of it.  The data of segments outside of the part are not read (but counters, and once,
     * with from == 0, fingerprints), so a program can take a long stream in pieces.  Of a part the
     * digest that ends format tamis is zeros: who has all pieces computes it, XXH3-128 of all
     * bytes before it. */
    uint64_t from, bytes;
    uint64_t *all_bytes; /* gets the length of the whole stream; may be NULL */
};

/* Flags of an import: of struct tamis_import_spec. */
enum tamis_import_flag {
    /* The source ends after the head of the stream (redisbloom: after its first frame).  The filter
     * has the numbers of keys that the head tells, and no bit set; tamis_filter_write_data() brings
     * the data.  Formats redisbloom and tamis.  TAMIS_EUNSUPPORTED: kind fuse, or exceptions. */
    TAMIS_IMPORT_HEAD = 0x20000,
    /* A full filter goes on as in RedisBloom: it gets another layer by the growth and the error
     * rate of that stream, or refuses keys if that says NONSCALING.  Format redisbloom.  Without
     * this flag such a filter takes keys on, and its rate gets worse. */
    TAMIS_IMPORT_AS_THERE = 0x40000,
    TAMIS_IMPORT_OWNED = 0x80000,    /* the filter has TAMIS_FILTER_OWNED */
    TAMIS_IMPORT_DURABLE = 0x100000, /* it has TAMIS_FILTER_DURABLE; kinds blocked and bloom */
};

/* What a stream does not tell.  What the stream does tell must be 0 or NULL here. */
struct tamis_import_spec {
    size_t size;          /* sizeof(struct tamis_import_spec) */
    const char *hash_set; /* redis-bitmap: needed */
    uint64_t m_bits;   /* redis-bitmap: needed; 0 with a php set: 2^32                          */
    uint32_t k;        /* redis-bitmap: needed, unless the hash set fixes it                    */
    uint64_t capacity; /* neither redisbloom nor tamis: 0 for the keys at which m and k are best */
    double fp_rate;    /* neither redisbloom nor tamis: 0 for the predicted one                 */
    uint64_t
        seal_capacity;  /* not 0: put an empty segment of hash set xxh3, kind blocked and this */
                        /* capacity on top: old keys still answer, new ones go there           */
    double seal_rate;   /* of that segment; 0: TAMIS_FP_RATE_DEFAULT                           */
    uint32_t flags;     /* TAMIS_IMPORT_* */
    uint32_t reserved;  /* 0 */
    int64_t created_at; /* what tamis_filter_stat() will tell, for a filter that comes back out */
                        /* of a dump; 0: now                                                    */
    /* Where the stream is, for tamis_filter_stat() to tell: a path, a URL.  Of one that is longer
     * than TAMIS_IMPORTED_FROM_BYTES allows the end is kept.  NULL: nothing is noted of it. */
    const char *origin;
    /* When the stream was signed, in ns since 1970, as the caller has checked; 0: not known.  It is
     * noted for TAMIS_PUBLISH_NEWER. */
    int64_t signed_at;
    /* Which signature it has, as a number that the caller makes of the signature and its key; 0: it
     * is not signed.  It is noted.  With it, a stream is only said to be in force already if what
     * is in force came with that same signature: digests are no proof against somebody who makes
     * two lists with one digest. */
    uint64_t signature;
    /* For tamis_filter_stat() to tell, with an origin: who has signed it, and what the signer says
     * of it.  Of texts that are longer than TAMIS_SIGNED_BY_BYTES and TAMIS_SIGNED_COMMENT_BYTES
     * allow the begin is kept; of format dcso, what has room beside the bytes behind its bits.
     * NULL: nothing is noted. */
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
 *          (the sentence says at which byte, and why); TAMIS_EINVAL: format, name or spec, or a
 *          bitmap that is not of that m; TAMIS_EEXIST; TAMIS_ENOSPACE; TAMIS_EREADONLY; what the
 *          source returned.  On any error nothing is left behind.
 * Items    are counted on from what the stream says; where it does not (all formats but redisbloom
 *          and tamis) they are estimated from the set bits, and the segment has
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
    /* Publish only what was made after the list in force; and nothing, as with
     * TAMIS_PUBLISH_IF_CHANGED, if it is in force already. */
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
    uint32_t keep;  /* with TAMIS_PUBLISH_KEEP: so many generations before it are kept, 0 to
                       TAMIS_KEEP_MAX */
    /* Guards against a list that is much too short.  Both are compared in the same step in which
     * the list comes into force. */
    uint64_t at_least; /* the fewest keys that the list may have; 0: any number */
    double max_shrink; /* with TAMIS_PUBLISH_MAX_SHRINK: so many percent fewer keys than are in
                          force the list may have, 0 to 100 */
};

/* What came of it. */
struct tamis_publish_result {
    size_t size;         /* sizeof(struct tamis_publish_result) */
    uint64_t generation; /* the generation that is in force now */
    uint64_t exceptions; /* the exceptions that are in force with it */
    uint64_t size_bytes; /* of its files */
    uint8_t digest[16];  /* of the stream, as imported_digest of tamis_filter_stat() has it; 0 if
                            nothing was published by what the head says, and it has no digest */
};

/*
 * Makes a stream the next generation of the filter `name`, whatever that was: of another kind or
 * size, counting, with a window, or not there yet.  The generation comes into force in one step, as
 * that of a build does (tamis_build.h): every open handle, in whatever process, answers from the
 * generation before or from this one, never from both in one call, and from this one in each call
 * that begins after this has returned.  The one before is kept for tamis_filter_rollback().
 *
 * Stream     format and source are as with tamis_filter_import().  A source that finds at the end
 * of the stream that it is not to be trusted returns an error in the place of 0: then nothing is
 * published.  Nothing is in force before the source has returned 0. Unchanged  with
 * TAMIS_PUBLISH_IF_CHANGED nothing is published if the list in force has the same content and
 * parameters, the exceptions of the stream and of the spec, and as many keys as the stream (others
 * may have added some).  If the head of the stream says which stream it is
 * (TAMIS_EXPORT_WITH_DIGEST; kind fuse without exceptions always does), nothing is read after the
 * head. Newer      with TAMIS_PUBLISH_NEWER a stream that was made before the list in force is
 * refused. Format tamis says when each segment was made, and the last of these times counts; so
 *            does, for other formats, signed_at of the import spec.  Of two lists that were made at
 *            the same time (keys or exceptions came later) signed_at decides.  What others publish
 *            during the call is compared too.
 * Guards     at_least and max_shrink are compared with the keys that the stream says it has, as
 *            soon as its head is there, and again when the list comes into force.
 * Exceptions of the stream belong to this generation.  Those that were set by hand in this store
 *            stay, and so do those of the spec.
 * Adders     what they add to the generation before meanwhile is not in this one.
 * Returns    1: the generation is in force.  0: TAMIS_PUBLISH_IF_CHANGED was given, and nothing is
 *            new.  TAMIS_EMISMATCH: the filter is durable, and the stream of kind counting; or,
 * with TAMIS_PUBLISH_NEWER, the stream is older; or it has too few keys (Guards).  The errors of
 * tamis_filter_import(), without TAMIS_EEXIST.  On any error the generation that was in force
 * stays, and nothing is left behind. Killed     before or after the step; what is left is removed
 * by the next process that makes a file in the store. Durable    when it returns 1 the generation
 * survives a power cut.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_publish(tamis_store *store, const char *name,
                                                    const char *format,
                                                    const struct tamis_publish_spec *spec,
                                                    const struct tamis_source *source,
                                                    struct tamis_publish_result *result);

/* ---- Export --------------------------------------------------------------------------------- */

/* Flags of tamis_filter_export(). */
enum tamis_export_flag {
    TAMIS_EXPORT_WITH_KEY = 0x200000, /* also what is secret: a seed other than 0, the key of sip */
    /* The stream is that of the filter without its exceptions, for a program that brings them by
     * itself (tamis_filter_exceptions()). */
    TAMIS_EXPORT_WITHOUT_EXCEPTIONS = 0x400000,
    /* The stream begins with its digest, so that tamis_filter_publish() finds from its first bytes
     * that it is in force already.  Format tamis, the whole stream.  The filter is read twice.
     * TAMIS_ELIMIT, when most of it is written: keys were added meanwhile.  A Tamis from before
     * this flag takes what comes after the first 40 bytes. */
    TAMIS_EXPORT_WITH_DIGEST = 0x800000,
};

/*
 * Writes a filter as a stream; nothing is changed in the filter.  What was imported and not added
 * to comes out byte for byte as it was.  Keys that are added meanwhile may be in the stream or not.
 *
 * flags    TAMIS_EXPORT_*; TAMIS_EXPORT_WITH_KEY if those who get the stream may know how to choose
 * keys against the filter.  Only format tamis holds seed and key; the others never do. Returns  0.
 * TAMIS_EUNSUPPORTED: the format cannot express this filter (kind, hash set, segments, exceptions).
 * TAMIS_ECORRUPT: fingerprints or exceptions are damaged. TAMIS_EINVAL: no such format; or the
 * stream would hold a seed or key and flags do not allow this.  Nothing was written then.
 * TAMIS_EDROPPED.  What the sink returned.
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
 * Sets in the data of segment `index` each bit that is set in these bytes, and clears none: a
 * filter that was made with TAMIS_IMPORT_HEAD gets its data by this, in any order, a piece twice if
 * need be.  Safe beside any other call; nobody is told that a key was new, and no item is counted.
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
 * Tells how many keys segment `index` has, for a filter that gets its data by
 * tamis_filter_write_data().  Nobody else adds to it at that moment.
 *
 * Returns  0; errors as tamis_filter_write_data().
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_write_items(tamis_filter *filter, uint32_t index,
                                                        uint64_t items);

/*
 * Sets bit `position` of segment `index`, for programs that compute positions by themselves as
 * tamis_filter_explain() tells them.  Of any that set one bit at one time, one is told 0.
 *
 * Returns  the bit from before, 0 or 1.  TAMIS_EINVAL: no such segment, or a position of m or more.
 *          TAMIS_EUNSUPPORTED: another kind than bloom.  TAMIS_EREADONLY and the like, as
 *          tamis_filter_write_data(); items are not counted either.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_filter_set_bit(tamis_filter *filter, uint32_t index,
                                                    uint64_t position);

#ifdef __cplusplus
}
#endif

#endif
