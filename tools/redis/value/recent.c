/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recent.c: see recent.h.
 *
 * A key's place in the table is by a hash of its name, and a place has one key.  A key that has
 * come to a place is measured when it is used there again, so that a program that uses very many
 * filters in turn pays for none.
 *
 * Another thread may free a value while the main thread fetches for it.  The main thread says that
 * it fetches before it reads the value of a place; the other thread takes the value out of its
 * place before it looks whether the main thread fetches, and then waits until it does not.  So
 * either the main thread finds no value, or the other one waits.  A mutex would do, too; it takes
 * 60 instructions of each command.  The rest of a place is the main thread's.
 */
#include "value/recent.h"

#include <sched.h>
#include <string.h>

#include "value/exact.h"

#define PLACES_LOG2 6
/* Filters with fewer bytes lie in the caches anyway.  */
#define SMALL_BYTES ((uint64_t)1 << 20)
/* A filter that grows is measured again after so many uses. */
#define USES 4096u

struct place {
    uint64_t hash;          /* of the key's name; 0: the place is empty */
    const struct value *of; /* whose key it was; it may be freed by now */
    unsigned uses;          /* that are left until it is measured */
    bool is_large;
    struct value *value; /* atomic; if it is large; NULL: it is gone */
};

static struct place places[1 << PLACES_LOG2];
static bool is_fetching; /* atomic: the main thread may be using the value of a place */

/* Of the command that was read last, which is the one that runs next but within MULTI.  Another key
 * may have come to the same address by then: that costs a hint, too. */
static const RedisModuleString *foreseen_key;
static uint64_t foreseen_hash;

/* The last bytes of a name tell keys of one program apart better than the first ones.  Two names
 * that are taken for one cost a hint, and nothing else. */
static uint64_t hash_of(const RedisModuleString *key)
{
    uint64_t last = 0, before = 0;
    size_t bytes;
    const char *name = RedisModule_StringPtrLen(key, &bytes);
    if (bytes >= 8)
        memcpy(&last, name + bytes - 8, 8);
    else
        for (size_t i = 0; i < bytes; i++)
            last = last << 8 | (unsigned char)name[i];
    if (bytes >= 16) memcpy(&before, name + bytes - 16, 8);
    return ((last ^ (before << 7 | before >> 57)) + bytes) * UINT64_C(0x9E3779B97F4A7C15) | 1;
}

static struct place *place_of(uint64_t hash)
{
    return &places[hash >> (64 - PLACES_LOG2)];
}

static bool is_large(const struct value *value)
{
    const uint64_t bytes = is_exact_cuckoo(value)  ? cuckoo_size_bytes(&value->cuckoo)
                           : value->filter != NULL ? value_size_bytes(value)
                                                   : 0;
    return bytes >= SMALL_BYTES;
}

static void measure(struct place *place, struct value *value)
{
    /* ORDER relaxed: this thread alone reads it without changing it. */
    __atomic_store_n(&place->value, value, __ATOMIC_RELAXED);
    place->is_large = is_large(value);
    place->uses = USES;
}

void recent_fetch(const RedisModuleString *key, const RedisModuleString *item)
{
    foreseen_key = key;
    foreseen_hash = hash_of(key);
    const struct place *place = place_of(foreseen_hash);
    if (place->hash != foreseen_hash || !place->is_large) return;
    size_t bytes;
    const char *data = RedisModule_StringPtrLen(item, &bytes);
    /* ORDER seq_cst, of both: the word is written before the value is read (see above). */
    (void)__atomic_exchange_n(&is_fetching, true, __ATOMIC_SEQ_CST);
    const struct value *value = __atomic_load_n(&place->value, __ATOMIC_SEQ_CST);
    if (value != NULL && value->filter != NULL)
        (void)tamis_filter_prefetch(value->filter, data, bytes);
    else if (value != NULL && is_exact_cuckoo(value))
        exact_fetch(value, data, bytes);
    /* ORDER release: all reads of the value come before. */
    __atomic_store_n(&is_fetching, false, __ATOMIC_RELEASE);
}

void recent_used(struct value *value, const RedisModuleString *key)
{
    const uint64_t hash = key == foreseen_key ? foreseen_hash : hash_of(key);
    struct place *place = place_of(hash);
    if (place->hash != hash || place->of != value) {
        place->hash = hash;
        place->of = value;
        place->uses = 0;
        place->is_large = false;
    } else if (place->uses == 0) {
        measure(place, value);
    } else {
        place->uses--;
    }
}

void recent_forget(const struct value *value)
{
    /* ORDER seq_cst: the value is out of its place before the word is read (see above). */
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct value *its = __atomic_load_n(&places[i].value, __ATOMIC_SEQ_CST);
        /* The main thread may put another one there meanwhile: then this one is out. */
        if (its == value)
            (void)__atomic_compare_exchange_n(&places[i].value, &its, NULL, false, __ATOMIC_SEQ_CST,
                                              __ATOMIC_SEQ_CST);
    }
    /* Another call may have taken the value out and not have waited yet, so all wait. */
    while (__atomic_load_n(&is_fetching, __ATOMIC_SEQ_CST))
        (void)sched_yield();
}
