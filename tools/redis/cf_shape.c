/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_shape.c: see cf_shape.h. */
#include "cf_shape.h"

#include <string.h>

#include "args.h"
#include "config.h"

/* A bucket of 2 fingerprints of a byte has about this rate in RedisBloom. */
#define RATE 0.01
#define BUCKETS_MAX (UINT64_C(1) << 56)
#define FILTERS_MAX 65536u

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

/* Slots of the first `filters` sub-filters. */
static uint64_t slots_of(const struct cuckoo *c, uint32_t filters)
{
    uint64_t each = c->buckets * c->bucket_size, sum = 0;
    for (uint32_t i = 0; i < filters; i++) {
        if (__builtin_add_overflow(sum, each, &sum)) return UINT64_MAX;
        if (i + 1 < filters && __builtin_mul_overflow(each, (uint64_t)c->expansion, &each))
            return UINT64_MAX;
    }
    return sum;
}

uint64_t cuckoo_slots(const struct cuckoo *cuckoo)
{
    return slots_of(cuckoo, cuckoo->filters);
}

bool cuckoo_make_place(struct cuckoo *cuckoo)
{
    if (cuckoo->items < cuckoo_slots(cuckoo)) return true;
    if (cuckoo->expansion == 0 || cuckoo->filters == FILTERS_MAX) return false;
    cuckoo->filters++;
    return true;
}

void cuckoo_compact(struct cuckoo *cuckoo)
{
    while (cuckoo->filters > 1 && slots_of(cuckoo, cuckoo->filters - 1) >= cuckoo->items)
        cuckoo->filters--;
    cuckoo->deletes = 0;
}

void cuckoo_deleted(struct cuckoo *cuckoo)
{
    if (cuckoo->items > 0) cuckoo->items--; /* a local process may have added it */
    cuckoo->deletes++;
    if (cuckoo->filters > 1 && cuckoo->deletes > cuckoo->items / 10) cuckoo_compact(cuckoo);
}

/* ---- The head of a dump ---------------------------------------------------------------------- */

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
    return sizes[0] >= 1 && sizes[0] <= 255 && sizes[1] >= 1 && sizes[2] <= EXPANSION_MAX &&
           numbers[3] >= 1 && numbers[3] <= FILTERS_MAX && (sizes[2] > 0 || numbers[3] == 1) &&
           numbers[1] >= 1 && numbers[1] < BUCKETS_MAX && (numbers[1] & (numbers[1] - 1)) == 0 &&
           numbers[0] <= cuckoo_slots(cuckoo);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static int create(void *context, tamis_store *store, const char *name, tamis_filter **filter)
{
    return tamis_filter_create(store, name, context, filter);
}

int make_cuckoo(struct value *value, int db, const char *key, size_t key_bytes,
                const struct cuckoo *cuckoo)
{
    const uint64_t slots = cuckoo_slots(cuckoo);
    if (slots > (uint64_t)config.max_bytes) return TAMIS_ENOMEM; /* a slot takes more than a byte */
    struct tamis_filter_spec spec = {.size = sizeof spec,
                                     .kind = TAMIS_KIND_COUNTING,
                                     .capacity = cuckoo->expansion == 0 ? slots : 2 * slots,
                                     .fp_rate = RATE,
                                     .flags = TAMIS_FILTER_OWNED};
    struct tamis_sizing sizing = {.size = sizeof sizing,
                                  .kind = spec.kind,
                                  .capacity = spec.capacity,
                                  .fp_rate = spec.fp_rate};
    int rc = tamis_size(&sizing);
    if (rc == 0 && sizing.file_bytes > (uint64_t)config.max_bytes) return TAMIS_ENOMEM;
    if (rc == 0) rc = keeper_make(value, db, key, key_bytes, create, &spec);
    value->cuckoo = *cuckoo;
    return rc;
}
