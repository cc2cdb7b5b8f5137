/* SPDX-License-Identifier: BSD-2-Clause */
/* cuckoo.c: see cuckoo.h. */
#include "value/cuckoo.h"

#include <string.h>

#include "server/args.h"

#define BUCKETS_MAX (UINT64_C(1) << 56)

static uint64_t power_above(uint64_t number)
{
    uint64_t power = 1;
    while (power < number)
        power *= 2;
    return power;
}

void cuckoo_init(struct cuckoo *cuckoo, uint64_t capacity, uint32_t bucket_size,
                 uint32_t max_iterations, uint32_t expansion)
{
    *cuckoo = (struct cuckoo){.buckets = power_above(capacity / bucket_size),
                              .filters = 1,
                              .bucket_size = bucket_size,
                              .max_iterations = max_iterations,
                              .expansion = expansion == 0 ? 0 : (uint32_t)power_above(expansion)};
}

uint64_t cuckoo_slots_of(const struct cuckoo *c, uint32_t filters)
{
    uint64_t each = c->buckets * c->bucket_size, sum = 0;
    /* There may be 65,536 of them, and each add asks. */
    if (c->expansion <= 1) {
        const uint64_t equal = c->expansion == 0 && filters > 0 ? 1 : filters;
        return __builtin_mul_overflow(each, equal, &sum) ? UINT64_MAX : sum;
    }
    for (uint32_t i = 0; i < filters; i++) { /* which ends at 64, as they overflow */
        if (__builtin_add_overflow(sum, each, &sum)) return UINT64_MAX;
        if (i + 1 < filters && __builtin_mul_overflow(each, (uint64_t)c->expansion, &each))
            return UINT64_MAX;
    }
    return sum;
}

uint64_t cuckoo_slots(const struct cuckoo *cuckoo)
{
    return cuckoo_slots_of(cuckoo, cuckoo->filters);
}

uint64_t cuckoo_size_bytes(const struct cuckoo *cuckoo)
{
    return 40 + 16 * (uint64_t)cuckoo->filters + cuckoo_slots(cuckoo);
}

/* ---- The head of a dump ---------------------------------------------------------------------- */

bool cuckoo_is_sound(const struct cuckoo *c)
{
    return c->bucket_size >= 1 && c->bucket_size <= 255 && c->max_iterations >= 1 &&
           c->max_iterations <= UINT16_MAX && c->expansion <= EXPANSION_MAX && c->filters >= 1 &&
           c->filters <= CUCKOO_FILTERS_MAX && (c->expansion > 0 || c->filters == 1) &&
           c->buckets >= 1 && c->buckets < BUCKETS_MAX && (c->buckets & (c->buckets - 1)) == 0;
}

void cuckoo_write_head(const struct cuckoo *cuckoo, unsigned char head[CUCKOO_HEAD_BYTES])
{
    const uint64_t numbers[] = {cuckoo->items, cuckoo->buckets, cuckoo->deletes, cuckoo->filters};
    const uint16_t sizes[] = {(uint16_t)cuckoo->bucket_size, (uint16_t)cuckoo->max_iterations,
                              (uint16_t)cuckoo->expansion};
    memcpy(head, numbers, sizeof numbers);
    memcpy(head + sizeof numbers, sizes, sizeof sizes);
}

bool cuckoo_read_head(const unsigned char head[CUCKOO_HEAD_BYTES], struct cuckoo *cuckoo)
{
    uint64_t numbers[4];
    uint16_t sizes[3];
    memcpy(numbers, head, sizeof numbers);
    memcpy(sizes, head + sizeof numbers, sizeof sizes);
    *cuckoo = (struct cuckoo){.items = numbers[0],
                              .buckets = numbers[1],
                              .deletes = numbers[2],
                              .filters = (uint32_t)numbers[3],
                              .bucket_size = sizes[0],
                              .max_iterations = sizes[1],
                              .expansion = sizes[2]};
    return numbers[3] <= CUCKOO_FILTERS_MAX && cuckoo_is_sound(cuckoo);
}
