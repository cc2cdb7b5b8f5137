/* SPDX-License-Identifier: BSD-2-Clause */
/* sum.c: see sum.h. */
#include "hash/sum.h"

void tamis__sum_init(struct tamis__sum *sum)
{
    (void)XXH3_128bits_reset(&sum->state); /* fails for NULL only, as the next one */
}

void tamis__sum_add(struct tamis__sum *sum, const void *data, size_t bytes)
{
    if (bytes > 0) (void)XXH3_128bits_update(&sum->state, data, bytes);
}

void tamis__sum_finish(const struct tamis__sum *sum, unsigned char bytes[TAMIS__SUM_BYTES])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&sum->state));
    memcpy(bytes, canonical.digest, TAMIS__SUM_BYTES);
}

void tamis__sum64_init(struct tamis__sum64 *sum)
{
    XXH3_INITSTATE(&sum->state);
    (void)XXH3_64bits_reset(&sum->state); /* fails for NULL only, as the next one */
}

void tamis__sum64_add(struct tamis__sum64 *sum, const void *data, size_t bytes)
{
    if (bytes > 0) (void)XXH3_64bits_update(&sum->state, data, bytes);
}

uint64_t tamis__sum64_finish(const struct tamis__sum64 *sum)
{
    return XXH3_64bits_digest(&sum->state);
}
