/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ops.h: an operation on a store as a plain struct, what came of it, and who carries it out.
 *
 *     generate.c     seed, model -> operations                    knows no call
 *     executor       operation -> outcome                         run_api.c: the calls of tamis.h
 *     model.c        operation, outcome -> NULL, or a complaint   knows no call but pure arithmetic
 *     model_api.c    operations -> a program in C that does the same
 *
 * To add an executor, fill in a struct executor.  `run` carries out one operation and fills in what
 * it can know of the outcome; `has` says what that is, and the model judges nothing else.  An
 * operation whose slot is empty, or which the executor has no way to express, is left out: *ran
 * stays false, and the model forgets it too.  `positions` tells where a key goes, from which the
 * model foretells bits, counts and false positives.
 *
 * Handles are numbers of slots, filters are numbers of names, keys are numbers of a pool.  So any
 * part of a sequence is a sequence again: that is what makes it possible to make one shorter.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

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

/*
 * X(operation, letters, how often, call)
 *
 * The letters say what it takes: s store, n name, o other name, h handle, e empty slot that it
 * fills, i handle of a source, k keys, 1 one key, S spec, x a stream that is there; and what may be
 * done with it: m it makes a filter, so most names are free ones, l it runs in this process alone,
 * a it has memory of its own, so nothing fails in it, w it is done whole or not at all, so a
 * process may be killed in it.  How often it comes: a digit for each theme of generate.c.  The
 * call: see run_api.c, the only one that makes it.
 */
#define OPS(X)                                                                                     \
    X(OPEN_STORE, "sl", "7777778", run_open_store(w, op))                                          \
    X(CLOSE_STORE, "sl", "2222224", run_close_store(w, op))                                        \
    X(CREATE, "snemSw", "7777578", tamis_filter_create(s, name, &spec, to))                        \
    X(OPEN_OR_CREATE, "sneS", "5555257", tamis_filter_open_or_create(s, name, &spec, to))          \
    X(CREATE_MANY, "snomS", "2111115", run_many(w, s))                                             \
    X(CHECK_SPEC, "snS", "1111113", run_check_spec(w, name, &spec))                                \
    X(OPEN, "sne", "7666778", tamis_filter_open(s, name, op->flags, to))                           \
    X(OPEN_AT, "ne", "3222224", tamis_filter_open_at(w->path, NULL, name, op->flags, to))          \
    X(CLOSE, "hl", "5555557", run_close(w, op))                                                    \
    X(RELEASE, "hl", "2222223", run_close(w, op))                                                  \
    X(ADD, "hk1", "8888454", tamis_filter_add(f, k->data, k->bytes))                               \
    X(ADD_BATCH, "hk", "9999575", tamis_filter_add_batch(f, k, n, out->answers))                   \
    X(ASK, "hk1", "8587544", tamis_filter_contains(f, k->data, k->bytes))                          \
    X(ASK_BATCH, "hk", "9898865", tamis_filter_contains_batch(f, k, n, out->answers))              \
    X(ASK_NAME, "hk1", "3131211", tamis_filter_contains_name(f, k->data, k->bytes, NULL))          \
    X(ASK_SEVERAL, "hik", "3232342", run_ask_several(w, f))                                        \
    X(REMOVE, "hk1", "3118111", tamis_filter_remove(f, k->data, k->bytes))                         \
    X(REMOVE_BATCH, "hk", "3118111", tamis_filter_remove_batch(f, k, n, out->answers))             \
    X(COUNT, "hk1", "2117111", tamis_filter_count(f, k->data, k->bytes))                           \
    X(COUNT_BATCH, "hk", "2117111", tamis_filter_count_batch(f, k, n, out->counts))                \
    X(PREFETCH, "hk1", "2111111", tamis_filter_prefetch(f, k->data, k->bytes))                     \
    X(MAY_WAIT, "h", "3332212", tamis_filter_may_wait(f, (size_t)op->number))                      \
    X(PREPARE, "h", "3432212", tamis_filter_prepare(f, op->number))                                \
    X(SYNC, "h", "5444335", tamis_filter_sync(f))                                                  \
    X(SYNC_INTERVAL, "h", "2111112", tamis_filter_set_sync_interval(f, (int64_t)op->number *HOUR)) \
    X(ACCEPT, "h", "2111113", tamis_filter_accept(f))                                              \
    X(ROTATE, "h", "2171112", tamis_filter_rotate(f))                                              \
    X(STAT, "h", "6676555", run_stat(w, f))                                                        \
    X(FILL, "h", "5455453", run_fill(w, f))                                                        \
    X(READ_DATA, "hla", "4334343", run_read_data(w, f))                                            \
    X(WRITE_DATA, "hka", "3111121", run_write_data(w, f))                                          \
    X(SET_BIT, "hk1a", "3111121", run_write_data(w, f))                                            \
    X(LIKE, "h", "3333333", tamis_filter_like(f, &out->like, out->like_set))                       \
    X(MAPPED, "h", "1111111", tamis_filter_mapped(f, &out->mapped))                                \
    X(COMPARE, "hi", "3213262", tamis_filter_compare(f, w->filters[op->source], &out->comparison)) \
    X(MERGE, "hi", "3215272", run_merge(w, f, NULL))                                               \
    X(MERGED, "snhim", "3214262", run_merge(w, f, s))                                              \
    X(EXPORT, "hl", "4334483", run_export(w, f))                                                   \
    X(IMPORT, "snemx", "4334483", run_import(w, s, to))                                            \
    X(PUBLISH, "snx", "2122572", run_import(w, s, NULL))                                           \
    X(BUILD, "snkS", "3222943", run_build(w, s))                                                   \
    X(GENERATIONS, "sn", "3331754", tamis_filter_generations(s, name, tell_generation, w))         \
    X(ROLLBACK, "snw", "2111743", tamis_filter_rollback(s, name, op->number))                      \
    X(EXCEPT, "snkw", "4333645", tamis_filter_except(s, name, k, n))                               \
    X(UNEXCEPT, "snk", "3222534", tamis_filter_unexcept(s, name, k, n, out->answers))              \
    X(EXCEPTIONS, "sn", "3111534", tamis_filter_exceptions(s, name, tell_exception, w))            \
    X(EACH_EXCEPTION, "h", "3111534", tamis_filter_each_exception(f, tell_exception, w))           \
    X(EXISTS, "sn", "2111225", tamis_filter_exists(s, name))                                       \
    X(RENAME, "snow", "3112337", tamis_filter_rename(s, name, names[op->other]))                   \
    X(DROP, "snw", "3222346", tamis_filter_drop(s, name))                                          \
    X(DROP_MANY, "snoa", "1111125", run_many(w, s))                                                \
    X(SET_OWNED, "snw", "2111525", tamis_filter_set_owned(s, name, op->number != 0))               \
    X(SET_PAGES, "snw", "2111425", tamis_filter_set_pages(s, name, (uint32_t)op->number))          \
    X(LIST, "s", "4443446", run_list(w, s))                                                        \
    X(WATCH, "shk", "2222224", run_watch(w, s, f))                                                 \
    X(VERIFY, "sn", "3333334", run_verify(w, s))                                                   \
    X(REPAIR, "", "1111113", tamis_store_repair(w->path, op->flags, tell_step, w))                 \
    X(BACKUP, "sa", "1111112", run_backup(w, s))                                                   \
    X(CLOCK, "l", "2291111", *w->now += (int64_t)op->number)                                       \
    X(LOOK_DATA, "l", "0000000", run_read_data(w, w->seen[op->name]))                              \
    X(ARGUMENT, "shla", "2111113", arguments_try(s, f, out->trouble, sizeof out->trouble))

enum op_kind {
#define OP_NUMBER(name, letters, often, call) OP_##name,
    OPS(OP_NUMBER) OP_COUNT_OF
#undef OP_NUMBER
};
extern const char *const *const op_names, *const *const takes; /* by kind: name and letters */

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

/* Flags of imports and publications, beside those of the library. */
#define OF_A_DATE 0x1000000u /* created at THE_DATE */
#define OF_KNOWN_SIZE 0x2000000u
#define WITH_NOTES 0x4000000u /* an origin and a signature */
#define IN_PIECES 0x8000000u  /* read by few bytes at a time */
#define THE_DATE 1111111111

/* What fails meanwhile: the nth call or allocation; all writes from the nth on, as on a full disk;
 * or the process is killed before the nth call. */
enum op_fault { NO_FAULT, FAULT_CALL, FAULT_MEMORY, FAULT_KILL, FAULT_DISK };

struct op {
    uint32_t kind; /* enum op_kind */
    uint8_t store, name, other, slot, source, stream, format, where, fault;
    uint8_t inner; /* != 0: what is called back changes the store or the filter meanwhile */
    uint16_t nth;  /* of the fault */
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
    struct tamis_sizing plan; /* of CHECK_SPEC: the first segment */
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
