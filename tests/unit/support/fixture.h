/* SPDX-License-Identifier: BSD-2-Clause */
/* fixture.h: cmocka, and what most unit tests start from: a store, a filter, a sentence. */
#ifndef TAMIS_UNIT_FIXTURE_H
#define TAMIS_UNIT_FIXTURE_H

#include <string.h>

#include "auto.h"
#include "cases.h"
#include "random.h"
#include "scratch.h"
#include "segment/segment.h"
#include "specs.h"
#include "tamis.h"

/* The call must return 0 or more; the library's sentence says why it did not. */
#define assert_done(call) fixture_done((call), #call, __FILE__, __LINE__)
int64_t fixture_done(int64_t result, const char *call, const char *file, int line);

/* The call must fail with that code, and the sentence have these words in it. */
#define assert_refused(code, words, call)                                                          \
    fixture_refused((code), (words), (call), #call, __FILE__, __LINE__)
void fixture_refused(int code, const char *words, int64_t result, const char *call,
                     const char *file, int line);

/*
 * A case with a new store of its own, on `path`, which is closed when the case has passed; a sound
 * one is then without a problem, and nothing is left in its staging/.
 *
 *     STORE_CASE(drop_forgets_the_name)
 *     {
 *         AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
 *         ...
 */
#define STORE_CASE(name) STORE_CASE_WITH(name, NULL)
#define STORE_CASE_WITH(name, setup) FIXTURE_STORE_CASE_(name, setup, false)
#define SOUND_CASE(name) FIXTURE_STORE_CASE_(name, NULL, true)
#define FIXTURE_STORE_CASE_(name, setup, sound)                                                    \
    static void name##_body(tamis_store *store, char *path);                                       \
    CASE_WITH(name, setup, NULL)                                                                   \
    {                                                                                              \
        fixture_with_store(name##_body, (sound));                                                  \
    }                                                                                              \
    static void name##_body(__attribute__((unused)) tamis_store *store,                            \
                            __attribute__((unused)) char *path)
void fixture_with_store(void (*body)(tamis_store *store, char *path), bool sound);

/* A new store of its own; *path, if asked for, is the caller's to free. */
tamis_store *fixture_store(char **path);
tamis_store *fixture_open(const char *path, unsigned flags);

/* A new blocked filter at 1 %, open. */
tamis_filter *fixture_filter(tamis_store *store, const char *name, uint64_t capacity);
/* A new filter, and one that is there already, open. */
tamis_filter *fixture_create(tamis_store *store, const char *name,
                             const struct tamis_filter_spec *spec);
tamis_filter *fixture_opened(tamis_store *store, const char *name, unsigned flags);

/* What the filter says of itself, and of its segment `index`. */
struct tamis_filter_stat fixture_stat(tamis_filter *filter);
struct tamis_segment_stat fixture_segment_stat(tamis_filter *filter, uint32_t index);

/* Open the store read-only and verify it: the number of problems, each printed; or an error. */
int64_t fixture_problems(const char *path);
/* The same, and what is only noted, such as an empty file of a maker that died. */
int64_t fixture_findings(const char *path);

/* How many filters the store has. */
int fixture_filters(tamis_store *store);
/* The names in a directory of the store but "." and "..", and in "segments" but the spares that
 * segments offer; -1 where it cannot be read. */
int fixture_files(const char *path, const char *directory);
/* The open descriptors, but for those of a catalog: a store handle may keep it open. */
int fixture_descriptors(void);

/* "<path>/<rest>", and the path of the file that a segment is; in a
 * buffer that the next call overwrites. */
const char *fixture_join(const char *path, const char *rest);
const char *fixture_segment_path(const char *path, uint64_t number);

/* The lock of the catalog, held until the descriptor is closed. */
int fixture_lock_catalog(const char *path);

/* Bytes of a file, read or written in place; a failure ends the program. */
void fixture_peek(const char *file, uint64_t offset, void *bytes, size_t count);
void fixture_poke(const char *file, uint64_t offset, const void *bytes, size_t count);
uint64_t fixture_size(const char *file);

/* The header of a segment's file; and the same, changed, sealed again and written back. */
struct tamis__segment_header fixture_header_of(const char *file);
void fixture_reseal(const char *file, struct tamis__segment_header *header);

/* A sound header, sealed: number 7, filter 3, label 1 "fixture". */
void fixture_header(struct tamis__segment_header *header, uint32_t kind, uint64_t m_bits,
                    uint32_t k);
/* A segment in plain memory with that header and all bits 0; the caller frees segment->header. */
void fixture_segment(struct tamis__segment *segment, uint32_t kind, uint64_t m_bits, uint32_t k);

/* Run body(context) in a child.  Returns its exit status, or 256 + the signal that ended it. */
typedef void fixture_body(void *context);
int fixture_child(fixture_body *body, void *context);

/* True under a sanitizer: counts are scaled down there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FIXTURE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FIXTURE_SANITIZED 1
#endif
#endif
#ifndef FIXTURE_SANITIZED
#define FIXTURE_SANITIZED 0
#endif

#endif
