/* SPDX-License-Identifier: BSD-2-Clause */
/* crew.c: see crew.h. */
#include "build/crew.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "os/io.h"

/* Often enough: what the caller decides is done within 0.2 s. */
#define TELL_EVERY_NS ((int64_t)50000000)

/* A stretch of work.  `mutex` guards the fields behind it. */
struct stretch {
    tamis__task_fn *task;
    void *context;
    uint64_t count;
    uint64_t next; /* atomic: the next item to draw */
    bool ends;     /* atomic: no item is drawn any more */
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    unsigned running;
    int rc;
    char sentence[1024];
};

struct hand {
    struct stretch *stretch;
    unsigned worker;
    pthread_t thread;
};

int tamis__crew_phase(struct tamis__crew *crew, uint32_t phase, uint64_t all)
{
    crew->phase = phase;
    crew->done = 0;
    crew->all = all;
    crew->told_at = 0;
    return tamis__crew_tell(crew);
}

int tamis__crew_tell(struct tamis__crew *crew)
{
    if (crew->progress == NULL) return 0;
    const int64_t now = tamis__steady_ns();
    if (crew->told_at != 0 && now - crew->told_at < TELL_EVERY_NS) return 0;
    crew->told_at = now;
    /* ORDER relaxed: see tamis__crew_done. */
    const uint64_t done = __atomic_load_n(&crew->done, __ATOMIC_RELAXED);
    const int rc = crew->progress(crew->context, crew->phase, done, crew->all);
    crew->ended = crew->ended || rc != 0;
    return rc <= 0 ? rc : tamis__fail(TAMIS_EINVAL, "progress returned %d, which is no error", rc);
}

/* Draws items until there are none, or one fails. */
static int draw(struct stretch *stretch, unsigned worker, struct tamis__crew *teller)
{
    int rc = 0;
    /* ORDER relaxed: a thread that draws an item needs no results of the others; joining passes
     * those on. */
    while (rc == 0 && !__atomic_load_n(&stretch->ends, __ATOMIC_RELAXED)) {
        const uint64_t item = __atomic_fetch_add(&stretch->next, 1, __ATOMIC_RELAXED);
        if (item >= stretch->count) break;
        rc = stretch->task(stretch->context, worker, item);
        if (rc == 0 && teller != NULL) rc = tamis__crew_tell(teller);
    }
    return rc;
}

static void *work(void *context)
{
    struct hand *hand = context;
    struct stretch *stretch = hand->stretch;
    const int rc = draw(stretch, hand->worker, NULL);
    (void)pthread_mutex_lock(&stretch->mutex);
    if (rc != 0 && stretch->rc == 0) {
        stretch->rc = rc;
        (void)snprintf(stretch->sentence, sizeof stretch->sentence, "%s", tamis_last_error());
    }
    if (rc != 0) __atomic_store_n(&stretch->ends, true, __ATOMIC_RELAXED); /* ORDER: see draw() */
    if (--stretch->running == 0) (void)pthread_cond_signal(&stretch->finished);
    (void)pthread_mutex_unlock(&stretch->mutex);
    return NULL;
}

/* Starts threads.  Returns how many: fewer than wanted if the system has no more to give. */
static unsigned start_threads(struct stretch *stretch, struct hand *hands, unsigned wanted)
{
    sigset_t all, before;
    unsigned started = 0;
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS); /* os/guard.h: blocked, it would end the process */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_mutex_lock(&stretch->mutex);
    for (; started < wanted; started++) {
        hands[started] = (struct hand){.stretch = stretch, .worker = started};
        if (pthread_create(&hands[started].thread, NULL, work, &hands[started]) != 0) break;
    }
    stretch->running = started;
    (void)pthread_mutex_unlock(&stretch->mutex);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Waits until all threads are through, and tells progress meanwhile.  Returns what progress
 * returned. */
static int oversee(struct tamis__crew *crew, struct stretch *stretch)
{
    int rc = 0;
    (void)pthread_mutex_lock(&stretch->mutex);
    while (stretch->running > 0) {
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)TELL_EVERY_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        (void)pthread_cond_timedwait(&stretch->finished, &stretch->mutex, &until);
        if (rc != 0) continue;
        (void)pthread_mutex_unlock(&stretch->mutex); /* the caller's function may take long */
        rc = tamis__crew_tell(crew);
        if (rc != 0)
            __atomic_store_n(&stretch->ends, true, __ATOMIC_RELAXED); /* ORDER: see draw() */
        (void)pthread_mutex_lock(&stretch->mutex);
    }
    (void)pthread_mutex_unlock(&stretch->mutex);
    return rc;
}

static int run_alone(struct tamis__crew *crew, struct stretch *stretch)
{
    return draw(stretch, 0, crew);
}

static int run_together(struct tamis__crew *crew, struct stretch *stretch, struct hand *hands,
                        unsigned wanted)
{
    pthread_condattr_t attributes;
    int rc;
    (void)pthread_mutex_init(&stretch->mutex, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&stretch->finished, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    const unsigned started = start_threads(stretch, hands, wanted);
    rc = started == 0 ? run_alone(crew, stretch) : oversee(crew, stretch);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(hands[i].thread, NULL);
    (void)pthread_cond_destroy(&stretch->finished);
    (void)pthread_mutex_destroy(&stretch->mutex);
    if (rc == 0 && stretch->rc != 0) rc = tamis__fail(stretch->rc, "%s", stretch->sentence);
    return rc;
}

int tamis__crew_run(struct tamis__crew *crew, tamis__task_fn *task, void *context, uint64_t count)
{
    struct stretch stretch = {.task = task, .context = context, .count = count};
    const unsigned wanted = count < crew->threads ? (unsigned)count : crew->threads;
    if (wanted <= 1) return run_alone(crew, &stretch);
    struct hand *hands = calloc(wanted, sizeof *hands);
    if (hands == NULL) return tamis__fail(TAMIS_ENOMEM, "out of memory for %u threads", wanted);
    const int rc = run_together(crew, &stretch, hands, wanted);
    free(hands);
    return rc;
}
