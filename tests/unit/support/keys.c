/* SPDX-License-Identifier: BSD-2-Clause */
#include "keys.h"

int key_add(tamis_filter *filter, uint64_t number)
{
    return tamis_filter_add(filter, &number, sizeof number);
}

int key_has(tamis_filter *filter, uint64_t number)
{
    return tamis_filter_contains(filter, &number, sizeof number);
}

int text_add(tamis_filter *filter, uint64_t number)
{
    char key[RANDOM_KEY_BYTES];
    return tamis_filter_add(filter, key, random_key(number, key));
}

int text_has(tamis_filter *filter, uint64_t number)
{
    char key[RANDOM_KEY_BYTES];
    return tamis_filter_contains(filter, key, random_key(number, key));
}

static uint64_t sum(int (*call)(tamis_filter *, uint64_t), tamis_filter *filter, uint64_t from,
                    uint64_t end)
{
    uint64_t total = 0;
    for (uint64_t number = from; number < end; number++)
        total += (uint64_t)assert_done(call(filter, number));
    return total;
}

uint64_t keys_add(tamis_filter *filter, uint64_t from, uint64_t end)
{
    return sum(key_add, filter, from, end);
}

uint64_t texts_add(tamis_filter *filter, uint64_t from, uint64_t end)
{
    return sum(text_add, filter, from, end);
}

uint64_t keys_found(tamis_filter *filter, uint64_t from, uint64_t end)
{
    return sum(key_has, filter, from, end);
}

uint64_t texts_found(tamis_filter *filter, uint64_t from, uint64_t end)
{
    return sum(text_has, filter, from, end);
}

int64_t key_except(tamis_store *store, const char *name, uint64_t number)
{
    const struct tamis_key key = {&number, sizeof number};
    return assert_done(tamis_filter_except(store, name, &key, 1));
}

int64_t key_unexcept(tamis_store *store, const char *name, uint64_t number)
{
    const struct tamis_key key = {&number, sizeof number};
    return assert_done(tamis_filter_unexcept(store, name, &key, 1, NULL));
}
