/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu.h: which vector instructions the batch loops use, chosen once in a process.
 *
 * Each loop that has variants has a portable one, which is the reference: all give the same answers
 * and leave the same bits.
 */
#pragma once

#include <stdbool.h>

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

/* Returns the depth of a variant's loops: `own`, unless another was forced. */
unsigned tamis__cpu_depth(unsigned own);

/* For tests and `tamis-bench --tune`: from now on this variant is used, which the machine must
 * have. */
void tamis__cpu_force(enum tamis__cpu cpu);
/* The same for the depth; 0: each variant's own. */
void tamis__cpu_force_depth(unsigned depth);
