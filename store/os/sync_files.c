/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_files.c: brings many files to the disk.
 *
 * A sync of a small file is a wait for the disk to empty its cache, 0.5 ms on one SSD, and the disk
 * does this once for all who wait at the same time.  So a few threads wait: 256 new files of 8 KiB
 * took 125 to 160 ms by one thread, 9 to 19 ms by four, and no less by 64 (ext4, virtio).
 */
#include <pthread.h>
#include <signal.h>

#include "os/io.h"

#define SYNCERS 4u
/* Fewer files are not worth the start of threads. */
#define FILES_A_SYNCER 4u

struct syncing {
    const int *fds;
    size_t count;
    size_t next; /* atomic: the next file to sync */
    const char *what;
    pthread_mutex_t mutex; /* guards the rest */
    int rc;                /* of the first sync that failed, and its sentence */
    char sentence[1024];
};

/* Draws files until none is left, or one fails. */
static void sync_some(struct syncing *s)
{
    int rc = 0;
    while (rc == 0) {
        /* ORDER relaxed: a thread needs nothing of what the others have done. */
        const size_t i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED);
        if (i >= s->count) return;
        rc = tamis__sync_file(s->fds[i], s->what);
    }
    (void)pthread_mutex_lock(&s->mutex);
    if (s->rc == 0) {
        s->rc = rc;
        (void)snprintf(s->sentence, sizeof s->sentence, "%s", tamis_last_error());
    }
    (void)pthread_mutex_unlock(&s->mutex);
}

static void *syncer_main(void *context)
{
    sync_some(context);
    return NULL;
}

/* Starts threads that handle no signal of the program.  Returns how many: the system may have no
 * more to give. */
static unsigned start_syncers(struct syncing *s, pthread_t *threads, unsigned wanted)
{
    sigset_t most, before;
    unsigned started = 0;
    (void)sigfillset(&most);
    (void)sigdelset(&most, SIGBUS); /* os/guard.h: blocked, it would end the process */
    (void)pthread_sigmask(SIG_SETMASK, &most, &before);
    while (started < wanted && pthread_create(&threads[started], NULL, syncer_main, s) == 0)
        started++;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int tamis__sync_files(const int *fds, size_t count, const char *what)
{
    struct syncing s = {
        .fds = fds, .count = count, .what = what, .mutex = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[SYNCERS - 1]; /* the caller is one, too */
    const size_t wanted = count / FILES_A_SYNCER;
    const unsigned started = start_syncers(
        &s, threads, wanted < SYNCERS ? (unsigned)wanted - (wanted > 0) : SYNCERS - 1);
    sync_some(&s);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_mutex_destroy(&s.mutex);
    return s.rc < 0 ? tamis__fail(s.rc, "%s", s.sentence) : 0;
}
