/* SPDX-License-Identifier: BSD-2-Clause */
/* exact.c: see exact.h. */
#include "value/exact.h"

#include <string.h>

#include "server/args.h"
#include "server/config.h"
#include "server/system.h"
#include "tamis.h"

#define OTHER_BUCKET UINT64_C(0x5bd1e995)
#define BUCKETS_MAX (UINT64_C(1) << 56)

/* ---- The shape ------------------------------------------------------------------------------- */

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

uint64_t cuckoo_slots(const struct cuckoo *c)
{
    const uint32_t filters = c->filters;
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

uint64_t cuckoo_size_bytes(const struct cuckoo *cuckoo)
{
    return 40 + 16 * (uint64_t)cuckoo->filters + cuckoo_slots(cuckoo);
}

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

/* ---- Fingerprints ---------------------------------------------------------------------------- */

/* An item as the slots know it. */
struct finger {
    uint8_t print;
    uint64_t buckets[2]; /* not yet taken modulo the number of buckets */
};

/* MurmurHash64A (Appleby 2008) with seed 0.  The library has it in a hash set, which gives
 * positions; no call of it gives the bare hash. */
static uint64_t murmur_of(const char *data, size_t bytes)
{
    const uint64_t m = UINT64_C(0xc6a4a7935bd1e995);
    uint64_t h = bytes * m, k;
    const char *end = data + (bytes & ~(size_t)7);
    for (; data < end; data += 8) {
        memcpy(&k, data, 8);
        k *= m;
        k = (k ^ k >> 47) * m;
        h = (h ^ k) * m;
    }
    if ((bytes & 7) != 0) {
        k = 0;
        memcpy(&k, data, bytes & 7);
        h = (h ^ k) * m;
    }
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

/* The other bucket of a fingerprint that is in this one. */
static uint64_t across(uint64_t bucket, uint8_t print)
{
    return bucket ^ print * OTHER_BUCKET;
}

static struct finger finger_of(const char *item, size_t bytes)
{
    const uint64_t h = murmur_of(item, bytes);
    const uint8_t print = (uint8_t)(h % 255 + 1);
    return (struct finger){.print = print, .buckets = {h, across(h, print)}};
}

/* ---- Sub-filters ----------------------------------------------------------------------------- */

/* No sub-filter that overflows is made: exact_make(), add_filter(). */
static uint64_t buckets_of(const struct cuckoo *cuckoo, uint32_t i)
{
    uint64_t buckets = cuckoo->buckets;
    for (; i > 0 && cuckoo->expansion > 1; i--)
        buckets *= cuckoo->expansion;
    return buckets;
}

uint64_t exact_slots(const struct cuckoo *cuckoo, uint32_t i)
{
    return buckets_of(cuckoo, i) * cuckoo->bucket_size;
}

/* Appends an empty sub-filter, for which the list has room. */
static int append_filter(struct exact *value)
{
    struct cuckoo *c = &value->cuckoo;
    value->slots[c->filters] = zeros(exact_slots(c, c->filters));
    if (value->slots[c->filters] == NULL) return TAMIS_ENOMEM;
    c->filters++;
    return 0;
}

int exact_make(const struct cuckoo *cuckoo, struct exact **made)
{
    int rc = 0;
    if (cuckoo_slots(cuckoo) > config_max_bytes()) return TAMIS_ENOMEM;
    struct exact *value = RedisModule_Calloc(1, sizeof *value);
    value->cuckoo = *cuckoo;
    value->cuckoo.filters = 0;
    value->slots = RedisModule_Calloc(cuckoo->filters, sizeof *value->slots);
    while (rc == 0 && value->cuckoo.filters < cuckoo->filters)
        rc = append_filter(value);
    if (rc < 0)
        exact_free(value);
    else
        *made = value;
    return rc;
}

void exact_free(struct exact *value)
{
    if (value == NULL) return;
    for (uint32_t i = 0; i < value->cuckoo.filters; i++)
        RedisModule_Free(value->slots[i]);
    RedisModule_Free(value->slots);
    RedisModule_Free(value);
}

static int add_filter(struct exact *value)
{
    struct cuckoo with = value->cuckoo;
    if (with.expansion == 0 || with.filters == CUCKOO_FILTERS_MAX) return TAMIS_EFULL;
    with.filters++;
    if (cuckoo_slots(&with) > config_max_bytes()) return TAMIS_ENOMEM;
    value->slots = RedisModule_Realloc(value->slots, with.filters * sizeof *value->slots);
    return append_filter(value);
}

/* The slots of a bucket of sub-filter i. */
static uint8_t *bucket_at(const struct exact *value, uint32_t i, uint64_t bucket)
{
    const struct cuckoo *c = &value->cuckoo;
    return value->slots[i] + (bucket & (buckets_of(c, i) - 1)) * c->bucket_size;
}

/* The first slot of a bucket that has that fingerprint; 0: that is empty. */
static uint8_t *find_slot(const struct exact *value, uint8_t *bucket, uint8_t print)
{
    return memchr(bucket, print, value->cuckoo.bucket_size);
}

/* The first such slot of an item in sub-filter i. */
static uint8_t *find_in(const struct exact *value, uint32_t i, const struct finger *f,
                        uint8_t print)
{
    uint8_t *slot = find_slot(value, bucket_at(value, i, f->buckets[0]), print);
    return slot != NULL ? slot : find_slot(value, bucket_at(value, i, f->buckets[1]), print);
}

/* The same in all sub-filters, the newest first. */
static uint8_t *find_newest(const struct exact *value, const struct finger *f, uint8_t print)
{
    uint8_t *slot = NULL;
    for (uint32_t i = value->cuckoo.filters; slot == NULL && i > 0; i--)
        slot = find_in(value, i - 1, f, print);
    return slot;
}

/* ---- Items ----------------------------------------------------------------------------------- */

bool exact_contains(const struct exact *value, const char *item, size_t bytes)
{
    const struct finger f = finger_of(item, bytes);
    return find_newest(value, &f, f.print) != NULL;
}

uint64_t exact_count(const struct exact *value, const char *item, size_t bytes)
{
    const struct finger f = finger_of(item, bytes);
    uint64_t count = 0;
    for (uint32_t i = 0; i < value->cuckoo.filters; i++)
        for (int b = 0; b < 2; b++) {
            const uint8_t *bucket = bucket_at(value, i, f.buckets[b]);
            for (uint32_t s = 0; s < value->cuckoo.bucket_size; s++)
                count += bucket[s] == f.print;
        }
    return count;
}

static void swap_slots(uint8_t *a, uint8_t *b)
{
    const uint8_t was = *a;
    *a = *b;
    *b = was;
}

/*
 * Puts the item into its first bucket of the newest sub-filter, the fingerprint that was there into
 * that one's other bucket, and so on.  If max_iterations steps find no empty slot, puts all
 * fingerprints back and returns false.
 */
static bool evict_to_place(struct exact *value, const struct finger *f)
{
    const struct cuckoo *c = &value->cuckoo;
    const uint32_t newest = c->filters - 1;
    uint8_t carried = f->print;
    uint64_t bucket = f->buckets[0];
    uint32_t victim = 0;
    for (uint32_t n = 0; n < c->max_iterations; n++) {
        swap_slots(&carried, bucket_at(value, newest, bucket) + victim);
        bucket = across(bucket, carried);
        uint8_t *empty = find_slot(value, bucket_at(value, newest, bucket), 0);
        if (empty != NULL) {
            *empty = carried;
            return true;
        }
        victim = (victim + 1) % c->bucket_size;
    }
    for (uint32_t n = 0; n < c->max_iterations; n++) {
        victim = (victim + c->bucket_size - 1) % c->bucket_size;
        bucket = across(bucket, carried);
        swap_slots(&carried, bucket_at(value, newest, bucket) + victim);
    }
    return false;
}

int exact_add(struct exact *value, const char *item, size_t bytes)
{
    const struct finger f = finger_of(item, bytes);
    uint8_t *empty = find_newest(value, &f, 0);
    while (empty == NULL && !evict_to_place(value, &f)) {
        const int rc = add_filter(value);
        if (rc < 0) return rc;
        empty = find_newest(value, &f, 0);
    }
    if (empty != NULL) *empty = f.print;
    value->cuckoo.items++;
    return 1;
}

/* ---- Deletes --------------------------------------------------------------------------------- */

/* Moves the fingerprint of a slot of sub-filter `from` into an older one.  Returns whether it was
 * empty, or moved. */
static bool move_slot(struct exact *value, uint32_t from, uint64_t bucket, uint8_t *slot)
{
    const struct finger f = {.print = *slot, .buckets = {bucket, across(bucket, *slot)}};
    uint8_t *empty = NULL;
    if (*slot == 0) return true;
    for (uint32_t i = 0; empty == NULL && i < from; i++)
        empty = find_in(value, i, &f, 0);
    if (empty == NULL) return false;
    *empty = f.print;
    *slot = 0;
    return true;
}

/* Empties a sub-filter, and takes it off if it is the newest.  Returns whether it is empty. */
static bool empty_filter(struct exact *value, uint32_t from)
{
    struct cuckoo *c = &value->cuckoo;
    const uint64_t slots = exact_slots(c, from);
    bool all = true;
    for (uint64_t s = 0; s < slots; s++)
        if (!move_slot(value, from, s / c->bucket_size, value->slots[from] + s)) all = false;
    if (all && from == c->filters - 1) {
        RedisModule_Free(value->slots[from]);
        c->filters--;
    }
    return all;
}

static void compact_filters(struct exact *value, bool go_on)
{
    for (uint32_t i = value->cuckoo.filters; i > 1; i--)
        if (!empty_filter(value, i - 1) && !go_on) break;
    value->cuckoo.deletes = 0;
}

void exact_compact(struct exact *value)
{
    compact_filters(value, true);
}

bool exact_remove(struct exact *value, const char *item, size_t bytes)
{
    struct cuckoo *c = &value->cuckoo;
    const struct finger f = finger_of(item, bytes);
    uint8_t *slot = find_newest(value, &f, f.print);
    if (slot == NULL) return false;
    *slot = 0;
    if (c->items > 0) c->items--; /* the head of a dump may have claimed too few items */
    c->deletes++;
    if (c->filters > 1 && c->deletes > c->items / 10) compact_filters(value, false);
    return true;
}

bool exact_find(const struct exact *value, uint64_t position, struct part *part)
{
    for (uint32_t i = 0; i < value->cuckoo.filters; i++) {
        const uint64_t slots = exact_slots(&value->cuckoo, i);
        if (position < slots) {
            *part = (struct part){.slots = value->slots[i] + position, .left = slots - position};
            return true;
        }
        position -= slots;
    }
    return false;
}
