/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_interval.c: a handle that makes checkpoints by itself, on a thread of its own.  A handle has
 * this thread only if the caller asks for it.
 *
 *     set         the thread sleeps for the interval, or until it is told to end
 *     thread      calls tamis_filter_sync(); a failure leaves the filter degraded, and the next
 *                 interval tries again
 *     close       tells the thread to end, and waits for that
 *     fork()      the child has no such thread; it only frees the memory
 */
#include "handle/sync_interval.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "txn/wait.h"

#define SECOND_NS 1000000000
#define INTERVAL_NS_MIN 1000000

struct tamis__interval {
    struct tamis_filter *filter;
    int64_t ns;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards `ends` */
    pthread_cond_t wake;
    bool ends;
};

/* Sleeps for the interval.  Returns false when the thread is to end. */
static bool sleep_on(struct tamis__interval *interval)
{
    /* The interval is cut to a hundred years, so that no sum overflows. */
    const int64_t ns = tamis__steady_ns() +
                       (interval->ns < TAMIS_WINDOW_NS_MAX ? interval->ns : TAMIS_WINDOW_NS_MAX);
    const struct timespec until = {.tv_sec = (time_t)(ns / SECOND_NS),
                                   .tv_nsec = (long)(ns % SECOND_NS)};
    int rc = 0;
    (void)pthread_mutex_lock(&interval->mutex);
    while (!interval->ends && rc == 0)
        rc = pthread_cond_timedwait(&interval->wake, &interval->mutex, &until);
    const bool goes_on = !interval->ends;
    (void)pthread_mutex_unlock(&interval->mutex);
    return goes_on;
}

static void *sync_at_intervals(void *context)
{
    struct tamis__interval *interval = context;
    tamis__wait_silently();
    while (sleep_on(interval)) {
        const int rc = tamis_filter_sync(interval->filter);
        (void)rc; /* a failure is in the filter's state */
    }
    return NULL;
}

/* Starts the thread with signals blocked: they are for the caller's threads. */
static int start_interval(struct tamis__interval *interval)
{
    sigset_t all, kept;
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS); /* os/guard.h: blocked, it would end the process */
    (void)pthread_sigmask(SIG_BLOCK, &all, &kept);
    const int error = pthread_create(&interval->thread, NULL, sync_at_intervals, interval);
    (void)pthread_sigmask(SIG_SETMASK, &kept, NULL);
    return error == 0 ? 0 : tamis__fail_errno(error, "start a thread for", interval->filter->name);
}

void tamis__interval_end(struct tamis_filter *filter)
{
    struct tamis__interval *interval = filter->interval;
    filter->interval = NULL;
    if (interval == NULL) return;
    (void)pthread_mutex_lock(&interval->mutex);
    interval->ends = true;
    (void)pthread_cond_signal(&interval->wake);
    (void)pthread_mutex_unlock(&interval->mutex);
    (void)pthread_join(interval->thread, NULL);
    (void)pthread_cond_destroy(&interval->wake);
    (void)pthread_mutex_destroy(&interval->mutex);
    free(interval);
}

void tamis__interval_forget(struct tamis_filter *filter)
{
    free(filter->interval); /* its mutex may be locked for ever, and its thread is the parent's */
    filter->interval = NULL;
}

TAMIS_API int tamis_filter_set_sync_interval(tamis_filter *filter, int64_t interval_ns)
{
    TAMIS__REFUSE_NULL(filter, "filter");
    pthread_condattr_t monotonic;
    if (filter->read_only) return tamis__fail_read_only(filter);
    if (interval_ns < 0 || (interval_ns > 0 && interval_ns < INTERVAL_NS_MIN))
        return tamis__fail(TAMIS_EINVAL, "an interval of %lld ns; give 0 or at least a millisecond",
                           (long long)interval_ns);
    tamis__interval_end(filter);
    if (interval_ns == 0) return 0;
    struct tamis__interval *interval = calloc(1, sizeof *interval);
    if (interval == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for an interval");
    interval->filter = filter;
    interval->ns = interval_ns;
    (void)pthread_mutex_init(&interval->mutex, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&interval->wake, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    const int rc = start_interval(interval);
    if (rc == 0)
        filter->interval = interval;
    else
        free(interval);
    return rc;
}
