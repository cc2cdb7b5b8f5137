/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tamis_memory.h: filters without a store.  Their bits are in memory of the caller, and nothing
 * here makes a file, takes a lock, or starts a thread.
 *
 *     struct tamis_memory_filter seen = TAMIS_INIT(struct tamis_memory_filter);
 *     struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 100};
 *     if (tamis_memory_filter_init(&seen, &spec, 0) < 0) return;
 *     seen.data = calloc(1, seen.data_bytes);
 *     if (tamis_memory_filter_add(&seen, key, key_bytes) == 1) puts("new");
 *
 * The bits are those of a segment of the same shape, so such filters can become a filter of a store
 * (tamis_memory_filters_save()), and back.  A memory filter is one segment.  A program that wants
 * it to grow makes another memory filter for the next step, and asks both.
 *
 * Threads: any number may ask at once.  One thread at a time may add, and others may ask meanwhile.
 */
#ifndef TAMIS_MEMORY_H
#define TAMIS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_filter.h"
#include "tamis_keys.h"
#include "tamis_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The caller may copy and move the struct, and sets and frees `data`.  Only the calls below write
 * the other members. */
struct tamis_memory_filter {
    size_t size;         /* sizeof(struct tamis_memory_filter) */
    void *data;          /* data_bytes bytes, aligned to 8; zeros when the filter is empty */
    uint64_t data_bytes; /* the size of the memory at `data` */
    uint64_t m_bits;     /* the number of bits */
    uint64_t seed;
    uint64_t capacity; /* keys for which the rate holds; adds beyond it are not refused */
    uint64_t items;    /* how many adds have answered 1 */
    double fp_rate;    /* of this segment, once it has `capacity` keys */
    uint32_t kind;     /* TAMIS_KIND_BLOCKED or TAMIS_KIND_BLOOM */
    uint32_t k;
    uint32_t words;    /* as in struct tamis_sizing */
    uint32_t hash_set; /* its number in the files (docs/format.md) */
    uint32_t step;     /* 0: the first segment of a filter; 1: the one by which it grows first */
    uint32_t reserved; /* 0 */
};

/*
 * Sizes a filter.  data stays NULL: the caller sets it.
 *
 * spec     kinds blocked and bloom, and hash sets without parameters; no window, log or key rule.
 * step     0: the first segment; 1: the segment by which the filter of that spec grows first, and
 *          so on (tamis_filter_plan()).
 * Returns  1; 0: the filter does not grow so far.  TAMIS_EINVAL, TAMIS_EUNSUPPORTED.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_memory_filter_init(struct tamis_memory_filter *filter,
                                                        const struct tamis_filter_spec *spec,
                                                        uint32_t step);

/* Checks that the shape is one that a filter can have, for a program that has read the struct from
 * elsewhere.  Returns 0 or TAMIS_ECORRUPT. */
TAMIS_API TAMIS_MUST_CHECK int tamis_memory_filter_check(const struct tamis_memory_filter *filter);

/* Adds a key.  Returns 1: the key was new, and `items` counts it; 0: the key was, or seemed,
 * present. Never fails.  filter->data must be set. */
TAMIS_API int tamis_memory_filter_add(struct tamis_memory_filter *filter, const void *key,
                                      size_t key_bytes);
/* Asks for a key.  Returns 1: it is present, or a false positive; 0: it is certainly absent.  Never
 * fails. */
TAMIS_API int tamis_memory_filter_contains(const struct tamis_memory_filter *filter,
                                           const void *key, size_t key_bytes);
/* Add, or ask for, many keys.  answers: NULL, or count bytes; answers[i] is what the single call
 * would return for keys[i].  Return the number of ones. */
TAMIS_API size_t tamis_memory_filter_add_batch(struct tamis_memory_filter *filter,
                                               const struct tamis_key *keys, size_t count,
                                               uint8_t *answers);
TAMIS_API size_t tamis_memory_filter_contains_batch(const struct tamis_memory_filter *filter,
                                                    const struct tamis_key *keys, size_t count,
                                                    uint8_t *answers);

/* ---- As a stream ----------------------------------------------------------------------------- */

struct tamis_sink;

/* The longest head of a stream of `count` memory filters. */
#define TAMIS_MEMORY_HEAD_BYTES(count) (96 + 224 * (size_t)(count) + 8)
#define TAMIS_MEMORY_SEGMENTS_MAX 64

/*
 * Writes the head of the stream of format tamis (docs/exchange.md) whose segments are these
 * filters, the oldest first.
 *
 * spec     capacity, fp_rate and on_full of the whole filter.
 * head     room for TAMIS_MEMORY_HEAD_BYTES(count) bytes.
 * Returns  the length of the head in bytes.  TAMIS_EINVAL: count is 0, or above
 *          TAMIS_MEMORY_SEGMENTS_MAX.
 */
TAMIS_API TAMIS_MUST_CHECK int64_t
tamis_memory_filters_head(const struct tamis_memory_filter *filters, uint32_t count,
                          const struct tamis_filter_spec *spec, void *head);

/* Writes the whole stream, of which tamis_filter_import() makes the same filter in a store. Returns
 * 0, an error of tamis_memory_filters_head(), or the code that the sink returned. */
TAMIS_API TAMIS_MUST_CHECK int tamis_memory_filters_save(const struct tamis_memory_filter *filters,
                                                         uint32_t count,
                                                         const struct tamis_filter_spec *spec,
                                                         const struct tamis_sink *sink);

/*
 * Reads the head of a stream of format tamis.
 *
 * head        the first `bytes` bytes of a stream, at least its whole head.
 * filters     room for TAMIS_MEMORY_SEGMENTS_MAX filters; `data` is NULL in each.
 * spec        receives capacity, fp_rate and on_full.
 * head_bytes  receives the length of the head.  Behind it the stream has the data of each filter,
 *             in order, and a digest of 16 bytes.
 * Returns     how many filters there are.  TAMIS_EUNSUPPORTED: only a store can have the filter,
 *             because of its kind, its hash set, a window, exceptions or a key rule.
 *             TAMIS_ECORRUPT, TAMIS_EFOREIGN, TAMIS_EVERSION.
 */
TAMIS_API TAMIS_MUST_CHECK int tamis_memory_filters_parse(const void *head, size_t bytes,
                                                          struct tamis_memory_filter *filters,
                                                          struct tamis_filter_spec *spec,
                                                          size_t *head_bytes);

/* Checks the digest in the last 16 bytes of a whole stream, of `bytes` bytes.  Returns 0 or
 * TAMIS_ECORRUPT. */
TAMIS_API TAMIS_MUST_CHECK int tamis_memory_stream_check(const void *stream, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
