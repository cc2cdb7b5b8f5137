/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * point.h: named instants inside the protocols, where a test may yield, kill the process or fail.
 *
 * Compiled to nothing but in the library `tamis_testable`, which only tests link.  A test sets
 * tamis__point_hook; it is called at every TAMIS__POINT in the thread that reaches it.
 */
#pragma once

#include <stdint.h>

/*
 * Each room of store/ has its instants in a file points.h, as a list X(name, where) and as numbers.
 * A room's numbers begin at a multiple of TAMIS__POINTS_A_ROOM, so that no two rooms share one;
 * tests/support/points.h has all lists in one.
 */
#define TAMIS__POINTS_A_ROOM 32
#define TAMIS__POINT_NUMBER(name, where) name,
#define TAMIS__NUMBER_POINTS(room, number)                                                         \
    enum {                                                                                         \
        TAMIS__POINTS_BEFORE_##room = (number)*TAMIS__POINTS_A_ROOM - 1,                           \
        TAMIS__##room##_POINTS(TAMIS__POINT_NUMBER)                                                \
    }

#define TAMIS__LOG_LIMIT_USUAL ((uint64_t)64 << 20) /* reasoned in handle/journal.c */

#ifdef TAMIS_TEST_POINTS
extern void (*tamis__point_hook)(unsigned point);
/* A control test breaks a rule on purpose and must see the damage.  This one lets an adder say NEW
 * if it flipped any bit, the rule that docs/concurrency.md refutes. */
extern int tamis__point_any_bit_rule;
/* Set by a control test: a winner does not check whether the list already goes on in
 * another segment (docs/concurrency.md). */
extern int tamis__point_no_recheck;
/* The boot id that a test sets, 16 bytes; NULL: the kernel's is used. */
extern const uint8_t *tamis__boot_hook;
/* Set by control tests: a checkpoint does not ask for locks, or does not look at the
 * count of writers. */
extern int tamis__point_no_mark_lock, tamis__point_no_mark_count;
#define TAMIS__NO_MARK_LOCK tamis__point_no_mark_lock
#define TAMIS__NO_MARK_COUNT tamis__point_no_mark_count
/* The clock for windows that a test sets, in ns since 1970; NULL: the system's is used. */
extern int64_t (*tamis__clock_hook)(void);
#define TAMIS__POINT(point)                                                                        \
    do {                                                                                           \
        if (tamis__point_hook) tamis__point_hook(point);                                           \
    } while (0)
#define TAMIS__ANY_BIT_RULE tamis__point_any_bit_rule
/* Set by a control test: removers do not exclude each other. */
extern int tamis__point_no_block_lock;
#define TAMIS__NO_BLOCK_LOCK tamis__point_no_block_lock
#define TAMIS__NO_RECHECK tamis__point_no_recheck
/* Set by a control test: an adder that takes room does not check whether it took
 * too much (segment/room.h). */
extern int tamis__point_no_room_check;
#define TAMIS__NO_ROOM_CHECK tamis__point_no_room_check
/* How many made-up keys a build is asked for before it is published.  Tests take a few, as they
 * build by the thousand. */
extern uint64_t tamis__point_samples;
#define TAMIS__SAMPLES tamis__point_samples
/* The length at which the log of a small durable filter makes a checkpoint necessary.  A test sets
 * less, as it would have to log four million keys. */
extern uint64_t tamis__point_log_limit;
#define TAMIS__LOG_LIMIT tamis__point_log_limit
/* Counts the keys that this thread has hashed, so that a test can say how often a call
 * hashes a key. */
extern _Thread_local uint64_t tamis__point_hashed;
#define TAMIS__POINT_HASHED(keys) (tamis__point_hashed += (keys))
#else
#define TAMIS__POINT_HASHED(keys)                                                                  \
    do {                                                                                           \
    } while (0)
#define TAMIS__POINT(point)                                                                        \
    do {                                                                                           \
    } while (0)
#define TAMIS__ANY_BIT_RULE 0
#define TAMIS__NO_BLOCK_LOCK 0
#define TAMIS__NO_RECHECK 0
#define TAMIS__NO_ROOM_CHECK 0
#define TAMIS__NO_MARK_LOCK 0
#define TAMIS__NO_MARK_COUNT 0
#define TAMIS__SAMPLES ((uint64_t)1 << 20)
#define TAMIS__LOG_LIMIT TAMIS__LOG_LIMIT_USUAL
#endif
