/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_types.h: what every other header of Tamis needs: the attributes of calls, the handles, the
 * limits, TAMIS_INIT(), the kinds of filters and the flags of opening.  It declares no call.
 */
#ifndef TAMIS_TYPES_H
#define TAMIS_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_errors.h"

#if defined(__GNUC__)
#define TAMIS_API __attribute__((visibility("default")))
#define TAMIS_MUST_CHECK __attribute__((warn_unused_result))
#else
#define TAMIS_API
#define TAMIS_MUST_CHECK
#endif

#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 1
#define TAMIS_VERSION_PATCH 0
/* As tamis_version_number() gives it: 100 for 0.1.0. */
#define TAMIS_VERSION_NUMBER                                                                       \
    (TAMIS_VERSION_MAJOR * 10000 + TAMIS_VERSION_MINOR * 100 + TAMIS_VERSION_PATCH)

/* Limits.  A name is 1 to TAMIS_NAME_MAX bytes of UTF-8 without control characters.  The name of a
 * new filter must not begin or end with a blank, unless the filter is TAMIS_FILTER_OWNED. */
#define TAMIS_NAME_MAX 255
#define TAMIS_KEY_RULE_MAX 511     /* bytes of a key rule as text */
#define TAMIS_K_MAX 64             /* hashes per key of a filter */
#define TAMIS_FP_RATE_MIN 1e-12    /* smallest false-positive rate a filter can be asked for */
#define TAMIS_FP_RATE_DEFAULT 0.01 /* used if a spec leaves fp_rate at 0 */
#define TAMIS_HASH_SET_NAME_MAX 191

typedef struct tamis_store tamis_store;
typedef struct tamis_filter tamis_filter;
typedef struct tamis_watch tamis_watch;
typedef struct tamis_cursor tamis_cursor;

/*
 * An initializer that sets `size` and clears the rest:
 *     struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
 * With designated initializers, {.size = sizeof stat, .field = ...} does the same.
 */
#ifdef __cplusplus
#define TAMIS_INIT(type)                                                                           \
    ([] {                                                                                          \
        type fresh = {};                                                                           \
        fresh.size = sizeof(type);                                                                 \
        return fresh;                                                                              \
    }())
#else
#define TAMIS_INIT(type)                                                                           \
    {                                                                                              \
        .size = sizeof(type)                                                                       \
    }
#endif

/* The bytes of an id that a server draws for a filter (tamis_labels.h). */
#define TAMIS_ID_BYTES 16

/* How a filter works.  The numbers are in the files and never change meaning. */
enum tamis_kind {
    TAMIS_KIND_DEFAULT = 0,  /* in a spec: blocked; bloom with m_bits, k or another set than xxh3 */
    TAMIS_KIND_BLOCKED = 1,  /* cache-line-blocked Bloom filter: one cache line a key */
    TAMIS_KIND_BLOOM = 2,    /* classic Bloom filter: k positions over all m bits */
    TAMIS_KIND_COUNTING = 3, /* blocked with counters for bits: keys can be removed and counted */
    TAMIS_KIND_FUSE = 4,     /* static: a binary fuse filter, made by a build (tamis_build.h) */
};

/* What a kind can do, for tamis_kind_has(). */
enum tamis_kind_property {
    TAMIS_KIND_IS_STATIC = 1,      /* made of all its keys by a build; nothing is ever added */
    TAMIS_KIND_COUNTS = 2,         /* has counters, so keys can be removed and counted */
    TAMIS_KIND_MAY_GROW = 4,       /* may have several segments: it grows, or has a window */
    TAMIS_KIND_MAY_BE_DURABLE = 8, /* may have a log (TAMIS_FILTER_DURABLE) */
    TAMIS_KIND_IS_PLAIN = 16,      /* k positions over all m bits and nothing else: any m and k, any
                                      hash set, and the formats of other systems */
};

/*
 * FLAGS.  Each call that takes flags has an enum of them.  The names begin with what the call does,
 * and no two flags of the library have the same number: a flag of another call is TAMIS_EINVAL.
 */

/* Flags of opening a store or a filter: tamis_store_open(), tamis_filter_open() and their kin. */
enum tamis_open_flag {
    TAMIS_OPEN_READ_ONLY = 0x10, /* map for reading only; needs no write permission anywhere */
    TAMIS_OPEN_CREATE = 0x20,    /* store: make the directory (0777 less umask) and the catalog if
                                    they are absent */
    TAMIS_OPEN_NO_SYNC = 0x40,   /* filter: its close is no checkpoint; a later sync is */
    TAMIS_OPEN_POPULATE = 0x80,  /* filter: the open reads all of it into memory */
    TAMIS_OPEN_FORCE_NETWORK_FS = 0x100, /* store: accept a network file system, or overlayfs
                                            without write permission; the user takes the risk */
};

#endif
