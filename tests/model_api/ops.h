/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ops.h: an operation on a store as a plain struct, what came of it, and who carries it out.
 *
 *     generate.c     seed, model -> operations                    knows no call
 *     executor       operation -> outcome                         run_api.c: the calls of tamis.h
 *     model.c        operation, outcome -> NULL, or a complaint   knows no call but pure arithmetic
 *     print.c        operations -> a program in C that does the same
 *
 * HOW TO ADD AN EXECUTOR, such as one that makes command lines.  Fill in a struct executor.  `run`
 * carries out one operation and fills in of the outcome what it can know; `has` says what that is,
 * and the model judges nothing else.  An operation whose slot is empty, or which the executor has
 * no way to express, is left out: *ran stays false, and the model forgets it too.  `positions`
 * tells where a key goes (`tamis explain`), from which the model foretells bits, counts and false
 * positives.  generate.c takes a mask of the operations that an executor can express.
 *
 * Handles are numbers of slots, filters are numbers of names, keys are numbers of a pool.  So any
 * part of a sequence is a sequence again: that is what makes it possible to make one shorter.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"
#include "tamis_build.h"

#define NAMES 6u
#define STORES 3u /* slots; the last one is opened read-only */
#define SLOTS 8u  /* of handles */
#define STREAMS 3u
#define SEGMENTS_MAX 64u
#define KEYS_MAX 70000u /* of one operation */
#define POOL (1u << 18) /* keys */
#define GENERATIONS_MAX 16u
#define FILL_PARTS 5u

extern const char *const names[NAMES];

/* What the letters say that an operation takes: s store, n name, o other name, h handle, i handle
 * of a source, k keys, S spec, N number, F flags, x stream, f format.  generate.c and print.c go by
 * them. */
#define OPS(X)                                                                                     \
    X(OPEN_STORE, "sN")                                                                            \
    X(CLOSE_STORE, "s")                                                                            \
    X(CREATE, "snhS")                                                                              \
    X(OPEN_OR_CREATE, "snhS")                                                                      \
    X(CREATE_MANY, "snoSF")                                                                        \
    X(CREATE_FILLED, "snSk")                                                                       \
    X(CHECK_SPEC, "snS")                                                                           \
    X(OPEN, "snhF")                                                                                \
    X(OPEN_AT, "nhF")                                                                              \
    X(CLOSE, "h")                                                                                  \
    X(RELEASE, "h")                                                                                \
    X(ADD, "hk")                                                                                   \
    X(ADD_BATCH, "hk")                                                                             \
    X(ASK, "hk")                                                                                   \
    X(ASK_BATCH, "hk")                                                                             \
    X(REMOVE, "hk")                                                                                \
    X(REMOVE_BATCH, "hk")                                                                          \
    X(COUNT, "hk")                                                                                 \
    X(COUNT_BATCH, "hk")                                                                           \
    X(PREFETCH, "hk")                                                                              \
    X(MAY_WAIT, "hN")                                                                              \
    X(PREPARE, "h")                                                                                \
    X(SET_PREPARED, "hN")                                                                          \
    X(EXPECT, "hN")                                                                                \
    X(SYNC, "h")                                                                                   \
    X(SYNC_INTERVAL, "hN")                                                                         \
    X(ACCEPT, "h")                                                                                 \
    X(ROTATE, "h")                                                                                 \
    X(STAT, "h")                                                                                   \
    X(FILL, "h")                                                                                   \
    X(READ_DATA, "h")                                                                              \
    X(WRITE_DATA, "hk")                                                                            \
    X(SET_BIT, "hk")                                                                               \
    X(LIKE, "h")                                                                                   \
    X(MAPPED, "h")                                                                                 \
    X(COMPARE, "hi")                                                                               \
    X(MERGE, "hiF")                                                                                \
    X(MERGED, "snhiF")                                                                             \
    X(EXPORT, "hxfF")                                                                              \
    X(IMPORT, "snhxF")                                                                             \
    X(PUBLISH, "snxFN")                                                                            \
    X(BUILD, "snkSFN")                                                                             \
    X(GENERATIONS, "sn")                                                                           \
    X(ROLLBACK, "snN")                                                                             \
    X(EXCEPT, "snk")                                                                               \
    X(UNEXCEPT, "snk")                                                                             \
    X(EXCEPTIONS, "sn")                                                                            \
    X(EACH_EXCEPTION, "h")                                                                         \
    X(EXISTS, "sn")                                                                                \
    X(RENAME, "sno")                                                                               \
    X(DROP, "sn")                                                                                  \
    X(DROP_MANY, "snoF")                                                                           \
    X(SET_OWNED, "snN")                                                                            \
    X(SET_PAGES, "snN")                                                                            \
    X(LIST, "sF")                                                                                  \
    X(WATCH, "shk")                                                                                \
    X(VERIFY, "snF")                                                                               \
    X(REPAIR, "F")                                                                                 \
    X(BACKUP, "s")                                                                                 \
    X(CLOCK, "N")                                                                                  \
    X(LOOK_DATA, "")                                                                               \
    X(ARGUMENT, "shN")

enum op_kind {
#define OP_NUMBER(name, takes) OP_##name,
    OPS(OP_NUMBER) OP_COUNT_OF
#undef OP_NUMBER
};

/* Keys from, from + step, ...; step 0: one key again and again; period not 0: so many keys, and
 * then the same ones again. */
struct op_keys {
    uint32_t from, count, step, period;
};

struct op_spec {
    uint64_t capacity, m_bits, window_items, seed;
    int64_t window_ns;
    double rate;
    uint32_t kind, k, set, on_full, slices, counter_bits, flags, pages, secret;
};
extern const char *const hash_sets[];
extern const uint32_t hash_set_count;

/* Who carries it out. */
enum op_where {
    HERE,
    CHILD_ANEW,    /* a child with handles of its own: another process */
    CHILD_INHERITS /* a child of fork(), with the handles of its parent */
};

/* What fails meanwhile. */
enum op_fault { NO_FAULT, FAULT_CALL, FAULT_MEMORY, FAULT_KILL };

struct op {
    uint32_t kind; /* enum op_kind */
    uint8_t store, name, other, slot, source, stream, format, where, fault;
    uint8_t inner; /* != 0: what is called back changes the store or the filter meanwhile */
    uint16_t nth;  /* call that fails, or before which the child is killed */
    int error;     /* number with which it fails */
    uint32_t flags;
    uint64_t number;
    struct op_keys keys, against, except;
    struct op_spec spec;
};

/* ---- Outcomes ------------------------------------------------------------------------------- */

#define HAS_SENTENCE 1u
#define HAS_ANSWERS 2u
#define HAS_SEGMENTS 4u /* the segments of the filter behind the operation */
#define HAS_TIMES 8u

struct told_exception {
    uint32_t key;
    uint64_t generation;
};

struct outcome {
    bool ran;
    bool reached; /* the fault came */
    uint32_t has;
    int64_t rc;
    char sentence[1200];
    uint8_t answers[KEYS_MAX];
    uint64_t counts[KEYS_MAX];
    struct tamis_filter_stat stat;
    uint32_t listed;
    struct tamis_filter_stat list[NAMES + 1];
    int64_t filter_error; /* in place of the segments: what opening gave */
    uint32_t segments;
    struct tamis_segment_stat segment[SEGMENTS_MAX];
    double parts[SEGMENTS_MAX][FILL_PARTS];
    uint32_t generations;
    struct tamis_generation_stat generation[GENERATIONS_MAX];
    uint32_t exceptions;
    struct told_exception exception[KEYS_MAX];
    struct tamis_build_result built;
    struct tamis_publish_result published;
    struct tamis_comparison comparison;
    struct tamis_filter_mapped mapped;
    struct tamis_filter_spec like;
    char like_set[TAMIS_HASH_SET_NAME_MAX + 1];
    uint8_t *data; /* of READ_DATA: all segments, one behind the other; kept by the executor */
    size_t data_bytes;
    int64_t began, ended; /* of the wall clock */
    int64_t wrote;        /* when the first page of data went to the disk; 0: none */
    char trouble[400];    /* of what was called back: a wrong order, a problem, ... */
    uint32_t problems;
};

struct executor {
    void *self;
    void (*run)(void *self, const struct op *op, struct outcome *outcome);
    /* What the filter is now: stat and segments, or filter_error. */
    void (*look)(void *self, uint32_t name, struct outcome *outcome);
    /* The positions of a key in a segment like this one of the filter; returns how many. */
    uint32_t (*positions)(void *self, uint32_t name, const struct tamis_segment_stat *segment,
                          uint32_t key, uint64_t *positions);
};

#define KEY_BYTES_MAX 304u
size_t key_of(uint32_t key, unsigned char bytes[KEY_BYTES_MAX]);
/* The number of a key; UINT32_MAX: it is none of the pool. */
uint32_t key_number(const void *bytes, size_t count);
static inline uint32_t key_at(const struct op_keys *keys, uint32_t i)
{
    return (keys->from + (keys->period != 0 ? i % keys->period : i) * keys->step) % POOL;
}
