/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_shape.c: see cf_shape.h. */
#include "cf_shape.h"

#include <string.h>

#include "args.h"
#include "cf_exact.h"
#include "config.h"

/* A bucket of 2 fingerprints of a byte has about this rate in RedisBloom. */
#define RATE 0.01
/* A filter that may grow is made for so many items at least, unless it cannot have as many: some
 * 1 MiB of counters. */
#define CHEAP_ITEMS UINT64_C(200000)
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

uint64_t cuckoo_size_bytes(const struct cuckoo *cuckoo)
{
    return 40 + 16 * (uint64_t)cuckoo->filters + cuckoo_slots(cuckoo);
}

bool cuckoo_make_place(struct cuckoo *cuckoo)
{
    if (cuckoo->items < cuckoo_slots(cuckoo)) return true;
    if (cuckoo->expansion == 0 || cuckoo->filters == CUCKOO_FILTERS_MAX) return false;
    cuckoo->filters++;
    return true;
}

void cuckoo_compact(struct cuckoo *cuckoo)
{
    uint64_t each = cuckoo->buckets * cuckoo->bucket_size, sum = each;
    uint32_t needed = 1;
    while (needed < cuckoo->filters && sum < cuckoo->items) {
        if (__builtin_mul_overflow(each, (uint64_t)cuckoo->expansion, &each) ||
            __builtin_add_overflow(sum, each, &sum))
            sum = UINT64_MAX;
        needed++;
    }
    cuckoo->filters = needed;
    cuckoo->deletes = 0;
}

void cuckoo_deleted(struct cuckoo *cuckoo)
{
    if (cuckoo->items > 0) cuckoo->items--; /* a local process may have added it */
    cuckoo->deletes++;
    if (cuckoo->filters > 1 && cuckoo->deletes > cuckoo->items / 10) cuckoo_compact(cuckoo);
}

int cuckoo_of_counts(struct value *value)
{
    struct tamis_filter_stat stat = {.size = sizeof stat};
    const uint64_t least = 2 * (uint64_t)config.cf_bucket_size;
    const int rc = tamis_filter_stat(value->filter, &stat);
    if (rc < 0) return rc;
    const uint64_t capacity = stat.capacity < least          ? least
                              : stat.capacity > CAPACITY_MAX ? CAPACITY_MAX
                                                             : stat.capacity;
    cuckoo_init(&value->cuckoo, capacity, (uint32_t)config.cf_bucket_size,
                (uint32_t)config.cf_max_iterations, (uint32_t)config.cf_expansion);
    value->cuckoo.items = stat.items;
    while (value->cuckoo.items >= cuckoo_slots(&value->cuckoo) && cuckoo_make_place(&value->cuckoo))
        continue;
    return 0;
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

/* ---- Making ---------------------------------------------------------------------------------- */

/* The items that the counters are made for: those of all sub-filters that it may ever have, where
 * that is cheap, and twice those of the first at least. */
static uint64_t capacity_for(const struct cuckoo *cuckoo)
{
    const uint64_t slots = cuckoo_slots(cuckoo);
    if (cuckoo->expansion == 0) return slots;
    const uint64_t most = slots_of(cuckoo, (uint32_t)config.cf_max_expansions);
    const uint64_t cheap = most < CHEAP_ITEMS ? most : CHEAP_ITEMS;
    return cheap > 2 * slots ? cheap : 2 * slots;
}

int make_cuckoo(struct value *value, int db, const char *key, size_t key_bytes,
                const struct cuckoo *cuckoo)
{
    const uint64_t slots = cuckoo_slots(cuckoo);
    if (config.exact) return exact_make(value, cuckoo);
    if (slots > (uint64_t)config.max_bytes) return TAMIS_ENOMEM; /* a slot takes more than a byte */
    struct tamis_filter_spec spec = {.size = sizeof spec,
                                     .kind = TAMIS_KIND_COUNTING,
                                     .capacity = capacity_for(cuckoo),
                                     .fp_rate = RATE,
                                     .flags = TAMIS_FILTER_OWNED};
    struct tamis_sizing sizing = {.size = sizeof sizing,
                                  .kind = spec.kind,
                                  .capacity = spec.capacity,
                                  .fp_rate = spec.fp_rate};
    int rc = tamis_size(&sizing);
    if (rc == 0 && sizing.file_bytes > (uint64_t)config.max_bytes) return TAMIS_ENOMEM;
    if (rc == 0) rc = keeper_make(value, db, key, key_bytes, maker_of_spec, &spec);
    value->cuckoo = *cuckoo;
    return rc;
}
