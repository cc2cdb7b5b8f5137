/* SPDX-License-Identifier: BSD-2-Clause */
/* sum.h: the XXH3 of a stream, of 128 or of 64 bits, piece by piece. */
#pragma once

#include "base/base.h"

#include "hash/digest.h"

#define TAMIS__SUM_BYTES 16u

struct tamis__sum {
    XXH3_state_t state;
};

void tamis__sum_init(struct tamis__sum *sum);
void tamis__sum_add(struct tamis__sum *sum, const void *data, size_t bytes);

/* The canonical form, that is, what `xxh128sum` prints: the high half first, big-endian. */
void tamis__sum_finish(const struct tamis__sum *sum, unsigned char bytes[TAMIS__SUM_BYTES]);

/* The checksum of tamis__checksum() for bytes that come in pieces. */
struct tamis__sum64 {
    XXH3_state_t state;
};

void tamis__sum64_init(struct tamis__sum64 *sum);
void tamis__sum64_add(struct tamis__sum64 *sum, const void *data, size_t bytes);
uint64_t tamis__sum64_finish(const struct tamis__sum64 *sum);
