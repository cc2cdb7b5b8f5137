/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu.c: see cpu.h. */
#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "tamis.h"

static const char *const names[TAMIS__CPU_COUNT] = {
    [TAMIS__CPU_PORTABLE] = "portable", [TAMIS__CPU_AVX2] = "avx2", [TAMIS__CPU_AVX512] = "avx512"};

static int chosen = -1;       /* atomic; every thread would choose the same */
static unsigned forced_depth; /* atomic; 0: each variant's own */

bool tamis__cpu_has(enum tamis__cpu cpu)
{
    if (cpu == TAMIS__CPU_PORTABLE) return true;
#ifdef __x86_64__
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2");
    if (cpu == TAMIS__CPU_AVX2) return avx2;
    return cpu == TAMIS__CPU_AVX512 && avx2 && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

static enum tamis__cpu choose(void)
{
    const char *wanted = secure_getenv("TAMIS_SIMD");
    enum tamis__cpu best = TAMIS__CPU_PORTABLE;
    for (enum tamis__cpu cpu = best; cpu < TAMIS__CPU_COUNT; cpu++) {
        if (!tamis__cpu_has(cpu)) continue;
        if (wanted != NULL && strcmp(wanted, names[cpu]) == 0) return cpu;
        best = cpu;
    }
    return best;
}

enum tamis__cpu tamis__cpu(void)
{
    /* ORDER relaxed: the number stands for no other memory. */
    int cpu = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (__builtin_expect(cpu < 0, 0)) {
        cpu = (int)choose();
        __atomic_store_n(&chosen, cpu, __ATOMIC_RELAXED);
    }
    return (enum tamis__cpu)cpu;
}

void tamis__cpu_force(enum tamis__cpu cpu)
{
    __atomic_store_n(&chosen, (int)cpu, __ATOMIC_RELAXED);
}

unsigned tamis__cpu_depth(unsigned own)
{
    const unsigned depth = __atomic_load_n(&forced_depth, __ATOMIC_RELAXED); /* ORDER: as above */
    return depth != 0 ? depth : own;
}

void tamis__cpu_force_depth(unsigned depth)
{
    __atomic_store_n(&forced_depth, depth, __ATOMIC_RELAXED);
}

TAMIS_API const char *tamis_simd(void)
{
    return names[tamis__cpu()];
}
