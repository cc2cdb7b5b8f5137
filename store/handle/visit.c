/* SPDX-License-Identifier: BSD-2-Clause */
/* visit.c: see visit.h. */
#include "handle/visit.h"

#include <pthread.h>

#include "os/io.h"

TAMIS__THREAD struct tamis__visitor *tamis__self;
bool tamis__visit_is_light;

static struct tamis__visitor *visitors; /* atomic; only ever added to */
static pthread_key_t visitor_key;
static bool visitor_key_made;
static pthread_once_t visitors_once = PTHREAD_ONCE_INIT;

/* At the end of a thread its slot may go to another one.  Code that still runs in this thread then
 * takes a new slot. */
static void release_visitor(void *context)
{
    struct tamis__visitor *visitor = context;
    if (visitor == tamis__self) tamis__self = NULL;
    /* ORDER release: the slot is empty before another thread can have it. */
    __atomic_store_n(&visitor->view, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&visitor->used, 0, __ATOMIC_RELEASE);
}

/* The child of a fork() has one thread: the slots of the others would say for ever where they
 * were. */
static void empty_slots_in_child(void)
{
    for (struct tamis__visitor *r = visitors; r != NULL; r = r->next)
        if (r != tamis__self) release_visitor(r);
    tamis__visit_is_light = tamis__barrier_prepare();
}

static void prepare_visitors(void)
{
    visitor_key_made = pthread_key_create(&visitor_key, release_visitor) == 0;
    (void)pthread_atfork(NULL, NULL, empty_slots_in_child);
    tamis__visit_is_light = tamis__barrier_prepare();
}

struct tamis__visitor *tamis__visitor_register(void)
{
    struct tamis__visitor *visitor;
    (void)pthread_once(&visitors_once, prepare_visitors);
    /* ORDER acquire: pairs with the release of the push below. */
    for (visitor = __atomic_load_n(&visitors, __ATOMIC_ACQUIRE); visitor != NULL;
         visitor = visitor->next) {
        unsigned unused = 0; /* ORDER acquire: pairs with release_visitor */
        if (__atomic_compare_exchange_n(&visitor->used, &unused, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            break;
    }
    if (visitor == NULL) {
        visitor = calloc(1, sizeof *visitor);
        if (visitor == NULL) {
            (void)tamis__fail(TAMIS_ENOMEM, "out of memory for this thread's first call");
            return NULL;
        }
        visitor->used = 1;
        visitor->next = __atomic_load_n(&visitors, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&visitors, &visitor->next, visitor, false,
                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            continue;
    }
    /* If this fails, the slot is not used again. */
    if (visitor_key_made) (void)pthread_setspecific(visitor_key, visitor);
    tamis__self = visitor;
    return visitor;
}

bool tamis__has_visitor(const struct tamis__view *view)
{
    /* ORDER seq_cst, acquire: see tamis__enter.  What a user did in the view comes before this. */
    for (const struct tamis__visitor *r = __atomic_load_n(&visitors, __ATOMIC_ACQUIRE); r != NULL;
         r = r->next)
        if (__atomic_load_n(&r->view, __ATOMIC_SEQ_CST) == view) return true;
    return false;
}
