/* SPDX-License-Identifier: BSD-2-Clause */
/* cf_shape.c: see cf_shape.h. */
#include "keys/cf_shape.h"

#include "keys/make.h"
#include "server/args.h"
#include "server/config.h"
#include "value/exact.h"

/* A bucket of 2 fingerprints of a byte has about this rate in RedisBloom. */
#define RATE 0.01
/* A filter that may grow is made for this many items at least, which is some 1 MiB of counters.  If
 * all of its sub-filters together have fewer slots, it is made for those. */
#define CHEAP_ITEMS UINT64_C(200000)

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

/* How many items the counters are made for.  That is what all sub-filters that the filter may ever
 * have can hold, if this is cheap; else CHEAP_ITEMS.  It is at least twice what the first sub-
 * filter holds. */
static uint64_t capacity_for(const struct cuckoo *cuckoo)
{
    const uint64_t slots = cuckoo_slots(cuckoo);
    if (cuckoo->expansion == 0) return slots;
    const uint64_t most = cuckoo_slots_of(cuckoo, (uint32_t)config.cf_max_expansions);
    const uint64_t cheap = most < CHEAP_ITEMS ? most : CHEAP_ITEMS;
    return cheap > 2 * slots ? cheap : 2 * slots;
}

int make_cuckoo(struct value *value, int db, const char *key, size_t key_bytes,
                const struct cuckoo *cuckoo)
{
    const uint64_t slots = cuckoo_slots(cuckoo);
    if (config.exact) return exact_make(value, cuckoo);
    if (slots > config_max_bytes()) return TAMIS_ENOMEM; /* a slot takes more than a byte */
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
    if (rc == 0 && sizing.file_bytes > config_max_bytes()) return TAMIS_ENOMEM;
    const struct maker maker = maker_of_spec(&spec);
    if (rc == 0) rc = make_filter(value, db, key, key_bytes, &maker);
    value->cuckoo = *cuckoo;
    return rc;
}
