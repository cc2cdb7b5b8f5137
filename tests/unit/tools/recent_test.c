/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recent_test.c: the main thread has memory fetched for a value that another thread may be about to
 * free (tools/redis/value/recent.c).
 *
 * The calls that recent.c makes are stubs here; tamis_filter_prefetch() is called prefetch_hook().
 * It tells another thread to forget the value, and looks whether that thread comes back before the
 * fetch is over.
 */
#include "value/recent.h"

#include <pthread.h>
#include <sched.h>

#include "fixture.h"
#include "value/exact.h"

#define LOOKS 20000 /* so often the main thread lets the other one run, which needs few of them */
#define ROUNDS 20000

/* ---- What recent.c calls --------------------------------------------------------------------- */

static const char *key_text = "a key of more than 16 bytes";

static const char *string_ptr_len(const RedisModuleString *string, size_t *bytes)
{
    const char *text = (const char *)string;
    if (bytes != NULL) *bytes = strlen(text);
    return text;
}

uint64_t value_size_bytes(const struct value *value)
{
    (void)value;
    return UINT64_C(1) << 30;
}

uint64_t cuckoo_size_bytes(const struct cuckoo *cuckoo)
{
    (void)cuckoo;
    return UINT64_C(1) << 30;
}

void exact_fetch(const struct value *value, const char *item, size_t bytes)
{
    (void)value;
    (void)item;
    (void)bytes;
}

static void (*while_fetching)(tamis_filter *filter);
static unsigned fetched;

int prefetch_hook(tamis_filter *filter, const void *key, size_t key_bytes);

int prefetch_hook(tamis_filter *filter, const void *key, size_t key_bytes)
{
    (void)key;
    (void)key_bytes;
    fetched++;
    while_fetching(filter);
    return 0;
}

static const RedisModuleString *name(void)
{
    return (const RedisModuleString *)(const void *)key_text;
}

/* So that the next fetch takes the value. */
static void use(struct value *value)
{
    recent_used(value, name());
    recent_used(value, name());
}

static int set_up(void **state)
{
    (void)state;
    RedisModule_StringPtrLen = string_ptr_len;
    fetched = 0;
    return 0;
}

/* ---- The other thread waits ------------------------------------------------------------------ */

static struct value fetched_value;
static bool goes, is_forgotten; /* atomic */

static void *forget(void *unused)
{
    while (!__atomic_load_n(&goes, __ATOMIC_ACQUIRE))
        (void)sched_yield();
    recent_forget(&fetched_value);
    __atomic_store_n(&is_forgotten, true, __ATOMIC_RELEASE);
    return unused;
}

static void look(tamis_filter *filter)
{
    (void)filter;
    __atomic_store_n(&goes, true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < LOOKS; i++) {
        assert_false(__atomic_load_n(&is_forgotten, __ATOMIC_ACQUIRE));
        (void)sched_yield();
    }
}

/* Seen to fail without the wait at the end of recent_forget(). */
CASE_WITH(recent_forget_waits_for_a_fetch, set_up, NULL)
{
    pthread_t thread;
    fetched_value.filter = (tamis_filter *)(void *)&fetched_value; /* nobody looks into it */
    use(&fetched_value);
    while_fetching = look;
    assert_int_equal(pthread_create(&thread, NULL, forget, NULL), 0);
    recent_fetch(name(), name());
    assert_int_equal(fetched, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    recent_fetch(name(), name()); /* it is out of its place */
    assert_int_equal(fetched, 1);
}

/* ---- The main thread finds nothing ----------------------------------------------------------- */

/* One value after the other is used, fetched for and freed, as the server does it. */
static struct value values[ROUNDS];
static unsigned used; /* atomic: so many were used */

static void *free_all(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        while (__atomic_load_n(&used, __ATOMIC_ACQUIRE) <= i)
            (void)sched_yield();
        recent_forget(&values[i]);
        __atomic_store_n((char *)values[i].filter, 'f', __ATOMIC_RELAXED); /* freed */
    }
    return unused;
}

static void look_whether_freed(tamis_filter *filter)
{
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(__atomic_load_n((char *)filter, __ATOMIC_RELAXED), 0);
}

/* Seen to fail without the exchange of recent_forget(), which takes the value out, in each run. */
CASE_WITH(recent_fetch_takes_no_value_that_is_freed, set_up, NULL)
{
    static char filters[ROUNDS];
    pthread_t thread;
    while_fetching = look_whether_freed;
    assert_int_equal(pthread_create(&thread, NULL, free_all, NULL), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        values[i].filter = (tamis_filter *)(void *)&filters[i];
        use(&values[i]);
        __atomic_store_n(&used, i + 1, __ATOMIC_RELEASE);
        for (unsigned j = 0; j < 10; j++)
            recent_fetch(name(), name());
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(fetched > 0);
}
