/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu.h: which vector instructions the batch loops use, how many keys they have ahead, and into
 * which cache they fetch; chosen once in a process.
 *
 * Each loop that has variants has a portable one, which is the reference: all give the same answers
 * and leave the same bits, with each depth and each way to fetch.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum tamis__cpu {
    TAMIS__CPU_PORTABLE,
    TAMIS__CPU_AVX2,   /* with BMI1 and BMI2 */
    TAMIS__CPU_AVX512, /* F, BW, DQ and VL, and the above */
    TAMIS__CPU_COUNT,
};

/* Returns the best variant that this machine has, or the one that TAMIS_SIMD in the environment
 * names if the machine has it. */
enum tamis__cpu tamis__cpu(void);

/* Can this machine, and this build, run the variant? */
bool tamis__cpu_has(enum tamis__cpu cpu);

/* The depth of a loop is how many keys are ahead in it: those whose lines are prefetched, and
 * that are not looked at yet.  It is a multiple of TAMIS__DEPTH_STEP. */
#define TAMIS__DEPTH_STEP 32u
#define TAMIS__DEPTH_MAX 96u

/* The loops, by kind.  That of bloom counts the lines that are ahead, and not the keys. */
enum tamis__loop {
    TAMIS__LOOP_BLOCKED,
    TAMIS__LOOP_COUNTING,
    TAMIS__LOOP_FUSE,
    TAMIS__LOOP_BLOOM,
    TAMIS__LOOP_COUNT
};

/* How a loop goes about data that it fetches ahead. */
struct tamis__pace {
    unsigned depth;
    bool far; /* lines are fetched into the second cache, and not into the first */
};

/* Returns the pace of a loop over so many bytes of data, in pages of 2 MiB if `huge`: what was
 * forced, or what suits this processor (the table in cpu.c), or for all others `own`, the depth of
 * the variant. */
struct tamis__pace tamis__cpu_pace(enum tamis__loop loop, unsigned own, uint64_t data_bytes,
                                   bool huge);

/* For tests and `tamis-bench --tune`: from now on this variant is used, which the machine must
 * have. */
void tamis__cpu_force(enum tamis__cpu cpu);
/* The same for the depth of all loops, at most TAMIS__DEPTH_MAX; 0: the one that is chosen without.
 */
void tamis__cpu_force_depth(unsigned depth);
/* The same for the cache; TAMIS__FETCH_CHOSEN: the one that is chosen without. */
enum tamis__fetch { TAMIS__FETCH_CHOSEN, TAMIS__FETCH_NEAR, TAMIS__FETCH_FAR };
void tamis__cpu_force_fetch(enum tamis__fetch fetch);
