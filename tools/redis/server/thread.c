/* SPDX-License-Identifier: BSD-2-Clause */
/* thread.c: see thread.h. */
#include "server/thread.h"

#include <pthread.h>

bool thread_start(void *(*run)(void *context), void *context)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const bool started = pthread_create(&thread, &attributes, run, context) == 0;
    (void)pthread_attr_destroy(&attributes);
    return started;
}
