/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu.c: see cpu.h. */
#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "tamis.h"

static const char *const names[TAMIS__CPU_COUNT] = {
    [TAMIS__CPU_PORTABLE] = "portable", [TAMIS__CPU_AVX2] = "avx2", [TAMIS__CPU_AVX512] = "avx512"};

static int chosen = -1;       /* atomic; every thread would choose the same */
static unsigned forced_depth; /* atomic; 0: each variant's own */

#ifdef __x86_64__
/* Which registers the system saves: bits 1 and 2 are those of AVX, 5 to 7 those of AVX-512 (Intel's
 * manual, volume 1, 13.3).  0 if it does not say. */
static uint32_t saved_registers(void)
{
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return a;
}
#endif

/* Asks the processor itself: __builtin_cpu_supports() is always false where zig's runtime is. */
bool tamis__cpu_has(enum tamis__cpu cpu)
{
    if (cpu == TAMIS__CPU_PORTABLE) return true;
#ifdef __x86_64__
    const uint32_t avx2 = bit_AVX2 | bit_BMI | bit_BMI2;
    const uint32_t avx512 = avx2 | bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    const uint32_t wanted = cpu == TAMIS__CPU_AVX512 ? avx512 : avx2;
    const uint32_t registers = cpu == TAMIS__CPU_AVX512 ? 0xE6 : 0x6;
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    return (b & wanted) == wanted && (saved_registers() & registers) == registers;
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
