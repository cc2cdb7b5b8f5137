/* SPDX-License-Identifier: BSD-2-Clause */
/* homes.c: see homes.h. */
#include "value/homes.h"

#include "value/exact.h"
#include "value/guest.h"
#include "value/memory.h"
#include "value/stored.h"

void value_free(void *freed)
{
    struct value *value = freed;
    value_leave(value);
    if (value->home == HOME_MEMORY) memory_release(value->memory);
    if (value->home == HOME_CUCKOO) exact_free(value->cuckoo);
    if (value->home == HOME_VALKEY) guest->free(value->valkey);
    if (value->home == HOME_STORE || value->home == HOME_BROKEN) stored_let_go(value->stored);
    RedisModule_Free(value);
}

uint64_t value_size_bytes(const struct value *value)
{
    switch (value->home) {
    case HOME_MEMORY:
        return memory_size_bytes(value->memory);
    case HOME_CUCKOO:
        return cuckoo_size_bytes(&value->cuckoo->cuckoo);
    case HOME_VALKEY:
        return guest->size_bytes(value->valkey);
    case HOME_STORE:
        return stored_size_bytes(value->stored);
    default:
        return 0;
    }
}

int64_t value_items(const struct value *value)
{
    if (value->home == HOME_MEMORY) return (int64_t)memory_items(value->memory);
    if (value->home == HOME_VALKEY) return guest->items(value->valkey);
    return tamis_filter_items(value->stored->filter);
}
