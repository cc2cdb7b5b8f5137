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
static unsigned forced_depth; /* atomic; 0: none is */
static unsigned forced_fetch; /* atomic; enum tamis__fetch */

/* What suits a processor where its caches do not hold the data. */
struct row {
    char vendor[13]; /* as cpuid tells it */
    unsigned family;
    enum tamis__cpu has; /* the processor has these instructions, used or not */
    uint64_t from_bytes; /* data of fewer bytes are handled as on all others */
    bool far;
    unsigned depth[TAMIS__LOOP_COUNT];      /* 0: the variant's own */
    unsigned huge_depth[TAMIS__LOOP_COUNT]; /* the same in pages of 2 MiB; 0: as above */
};

/*
 * A Zen 4 is a family 19h with AVX-512 (a Zen 3 is one without).  It seems to have fewer lines on
 * their way into its first cache than into its second: PREFETCHT1 costs less than half of
 * PREFETCHT0 on huge pages.  Once a line is in the second cache, the loop hides the way to the
 * first.  Where the data are in the last cache this gains nothing, and 64 keys ahead are better
 * there.  From 16 MiB on it gains.  Nanoseconds a key, 100 million keys of 8 bytes, model 11h,
 * pages of 4 KiB and of 2 MiB:
 *
 *     first cache, usual depth   blocked asks 12.0  10.9, adds 13.9  12.6; bloom asks 72  65
 *     second cache, 64 ahead                   9.5   5.2       12.1   8.5
 *     second cache, 32 ahead                   8.4   5.9       12.0   8.4
 *     second cache, usual depth                                             bloom asks 46  25
 *
 * So blocked has 32 in small pages, and 64 in huge ones.
 */
#ifdef __x86_64__
static const struct row rows[] = {
    {.vendor = "AuthenticAMD",
     .family = 0x19,
     .has = TAMIS__CPU_AVX512,
     .from_bytes = (uint64_t)16 << 20,
     .far = true,
     .depth = {[TAMIS__LOOP_BLOCKED] = 32, [TAMIS__LOOP_COUNTING] = 32},
     .huge_depth = {[TAMIS__LOOP_BLOCKED] = 64}},
};
#endif

/* All others.  A Zen 5 asks in 6.7 ns with 64 keys ahead, and in 8.5 with 32; whether its second
 * cache is better was not measured. */
static const struct row others = {.from_bytes = UINT64_MAX};

static const struct row *its_row; /* atomic; NULL: not looked for yet; as `chosen` */

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

/* Finds the row of this processor. */
static const struct row *find_row(void)
{
#ifdef __x86_64__
    uint32_t most, a, b, c, d;
    char vendor[13] = "";
    if (!__get_cpuid(0, &most, &b, &c, &d)) return &others;
    memcpy(vendor, &b, 4);
    memcpy(vendor + 4, &d, 4);
    memcpy(vendor + 8, &c, 4);
    if (!__get_cpuid(1, &a, &b, &c, &d)) return &others;
    /* AMD and Intel alike: the extended family counts if the base family is 15. */
    const unsigned base = a >> 8 & 0xF, family = base == 0xF ? base + (a >> 20 & 0xFF) : base;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(vendor, rows[i].vendor) == 0 && family == rows[i].family &&
            tamis__cpu_has(rows[i].has))
            return &rows[i];
#endif
    return &others;
}

static const struct row *row_of_this(void)
{
    /* ORDER relaxed: what it points at is constant. */
    const struct row *row = __atomic_load_n(&its_row, __ATOMIC_RELAXED);
    if (__builtin_expect(row == NULL, 0)) {
        row = find_row();
        __atomic_store_n(&its_row, row, __ATOMIC_RELAXED);
    }
    return row;
}

static unsigned depth_of(const struct row *row, enum tamis__loop loop, bool huge)
{
    return huge && row->huge_depth[loop] != 0 ? row->huge_depth[loop] : row->depth[loop];
}

struct tamis__pace tamis__cpu_pace(enum tamis__loop loop, unsigned own, uint64_t data_bytes,
                                   bool huge)
{
    const unsigned depth = __atomic_load_n(&forced_depth, __ATOMIC_RELAXED); /* ORDER: as above */
    const unsigned fetch = __atomic_load_n(&forced_fetch, __ATOMIC_RELAXED); /* ORDER: as above */
    const struct row *row = row_of_this();
    struct tamis__pace pace = {.depth = own};
    if (data_bytes >= row->from_bytes) {
        pace.far = row->far;
        if (depth_of(row, loop, huge) != 0) pace.depth = depth_of(row, loop, huge);
    }
    if (depth != 0) pace.depth = depth;
    if (fetch != TAMIS__FETCH_CHOSEN) pace.far = fetch == TAMIS__FETCH_FAR;
    return pace;
}

void tamis__cpu_force_depth(unsigned depth)
{
    __atomic_store_n(&forced_depth, depth, __ATOMIC_RELAXED);
}

void tamis__cpu_force_fetch(enum tamis__fetch fetch)
{
    __atomic_store_n(&forced_fetch, (unsigned)fetch, __ATOMIC_RELAXED);
}

TAMIS_API const char *tamis_simd(void)
{
    return names[tamis__cpu()];
}
