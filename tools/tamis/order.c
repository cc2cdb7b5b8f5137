/* SPDX-License-Identifier: BSD-2-Clause */
/* order.c: see order.h. */
#include "order.h"

static const char *const KEYS[ORDER_KEYS] = {
    [ORDER_NAME] = "name",     [ORDER_KIND] = "kind", [ORDER_CAPACITY] = "capacity",
    [ORDER_ITEMS] = "items",   [ORDER_USED] = "used", [ORDER_ASKED] = "rate",
    [ORDER_RATE] = "rate-now", [ORDER_BITS] = "bits", [ORDER_SIZE] = "size",
    [ORDER_STATE] = "state",
};

const char *order_name(int key)
{
    return key < ORDER_KEYS ? KEYS[key] : NULL;
}

int order_find(const char *name)
{
    for (int key = 0; key < ORDER_KEYS; key++)
        if (strcmp(KEYS[key], name) == 0) return key;
    return -1;
}

/* The same with the keys that a command has besides. */
static const char *name_of(int key, const char *const *more)
{
    return key < ORDER_KEYS ? KEYS[key] : more != NULL ? more[key - ORDER_KEYS] : NULL;
}

static int fail_unknown(const struct invocation *call, const char *const *more)
{
    char known[160] = "";
    for (int key = 0; name_of(key, more) != NULL; key++)
        (void)strcat(strcat(known, key > 0 ? ", " : ""), name_of(key, more));
    (void)cli_fail("--sort: '%s' is not accepted; give one of %s", call->options.sort, known);
    return -1;
}

int order_of_call(const struct invocation *call, const char *const *more)
{
    if (!cli_given(call, TAKES(SORT))) return ORDER_NAME;
    for (int key = 0; name_of(key, more) != NULL; key++)
        if (strcmp(call->options.sort, name_of(key, more)) == 0) return key;
    return fail_unknown(call, more);
}

double order_used(const struct tamis_filter_stat *stat)
{
    const uint64_t capacity = stat->window_items > 0 ? stat->window_items : stat->capacity;
    return capacity > 0 ? (double)stat->items / (double)capacity : 0;
}

uint64_t order_bits(const struct tamis_filter_stat *stat)
{
    return stat->m_bits * (stat->counter_bits ? stat->counter_bits : 1);
}

unsigned order_trouble(uint32_t state)
{
    /* The worst last: its answers may be wrong, keys may be missing, could be, too many seem seen.
     */
    static const uint32_t states[] = {TAMIS_STATE_FULL, TAMIS_STATE_OVER, TAMIS_STATE_DEGRADED,
                                      TAMIS_STATE_UNCLEAN, TAMIS_STATE_DAMAGED};
    for (unsigned i = sizeof states / sizeof *states; i > 0; i--)
        if (state & states[i - 1]) return i;
    return 0;
}

/* What the key goes by, greatest first. */
static double order_number(int key, const struct tamis_filter_stat *stat)
{
    switch (key) {
    case ORDER_CAPACITY:
        return (double)stat->capacity;
    case ORDER_ITEMS:
        return (double)stat->items;
    case ORDER_USED:
        return order_used(stat);
    case ORDER_ASKED:
        return stat->fp_rate;
    case ORDER_RATE:
        return stat->predicted_rate;
    case ORDER_BITS:
        return (double)order_bits(stat);
    case ORDER_SIZE:
        return (double)stat->size_bytes;
    case ORDER_STATE:
        return order_trouble(stat->state);
    default:
        return 0;
    }
}

int order_compare(int key, const struct tamis_filter_stat *a, const struct tamis_filter_stat *b)
{
    const double x = order_number(key, a), y = order_number(key, b);
    if (x != y) return x > y ? -1 : 1;
    if (key == ORDER_KIND && a->kind != b->kind) {
        const char *of_a = tamis_kind_name(a->kind), *of_b = tamis_kind_name(b->kind);
        return strcmp(of_a != NULL ? of_a : "?", of_b != NULL ? of_b : "?");
    }
    return strcmp(a->name, b->name);
}
