/* SPDX-License-Identifier: BSD-2-Clause */
/* sum.h: the 128-bit XXH3 of a stream, piece by piece. */
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
