/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.h: in which order filters are shown (--sort, --reverse).
 *
 * Names go up; numbers go down, as the greatest is what one looks for; the worst state comes first.
 * What is equal goes by name.
 */
#pragma once

#include "command.h"

enum order_key {
    ORDER_NAME,
    ORDER_KIND,
    ORDER_CAPACITY,
    ORDER_ITEMS,
    ORDER_USED,  /* items of the capacity */
    ORDER_ASKED, /* the rate of false positives at capacity, which was asked for */
    ORDER_RATE,  /* the rate now */
    ORDER_BITS,
    ORDER_SIZE,
    ORDER_STATE,
    ORDER_KEYS
};

/* The key of --sort, ORDER_NAME without it; below 0 after a message.  `more` names the keys that
 * the command has besides, which follow ORDER_KEYS; NULL ends them, and NULL alone: none. */
int order_of_call(const struct invocation *call, const char *const *more);

/* The key of that name; below 0: there is none. */
int order_find(const char *name);

/* The name of key number `key`; NULL behind the last. */
const char *order_name(int key);

/* As qsort() wants it: which of two filters comes first by one of the keys above. */
int order_compare(int key, const struct tamis_filter_stat *a, const struct tamis_filter_stat *b);

/* Items of the capacity, 1 when it is full.  A window of keys is the capacity of its filter. */
double order_used(const struct tamis_filter_stat *stat);

/* How bad a state is: 0 is well, and the worst has the greatest number. */
unsigned order_trouble(uint32_t state);

/* Bits on the disk, so that kinds can be compared. */
uint64_t order_bits(const struct tamis_filter_stat *stat);
