/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.h: what the figures were measured on. */
#ifndef TAMIS_BENCH_MACHINE_H
#define TAMIS_BENCH_MACHINE_H

#include <stdint.h>

struct machine {
    char cpu[128];
    char features[64]; /* of SSE2, AVX2, AVX-512, NEON, those that matter here */
    const char *simd;  /* what the library's batches use: "portable", "avx2", "avx512" */
    unsigned processors;
    char caches[128]; /* "L1 32 KiB, L2 512 KiB, L3 32768 KiB" */
    long page_bytes;
    uint64_t memory_bytes;
    char huge_pages[64]; /* "madvise": which is in force for private memory */
    char kernel[160];
    char compiler[128];
    char file_system[32];
};

void machine_look(const char *directory, struct machine *machine);

#endif
