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
