/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork.c: lists the handles of this process that may write, for the child of a fork().
 *
 * Locks say which process writes a segment.  They go with descriptors that the child gives up
 * (private_fd.c).  So in the child each handle has to mark its segment again.  The mutex is held
 * for a few instructions, never across a wait.
 */
#include "handle/fork.h"

#include <pthread.h>

#include "handle/sync_interval.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct tamis_filter *handles;

static void lock_before_fork(void)
{
    (void)pthread_mutex_lock(&mutex);
}

static void unlock_in_parent(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

/* Makes each handle of the child a writer of its own: without mark, journal or thread. */
static void mark_again_in_child(void)
{
    for (struct tamis_filter *filter = handles; filter != NULL; filter = filter->next_handle) {
        struct tamis__view *view = __atomic_load_n(&filter->view, __ATOMIC_ACQUIRE);
        if (filter->journal != NULL) filter->inherited_journal = filter->journal;
        filter->journal = NULL;
        tamis__interval_forget(filter);
        /* ORDER relaxed: the child has one thread. */
        if (tamis__view_is_written(view))
            (void)__atomic_fetch_or(&view->chores, TAMIS__CHORE_MARK, __ATOMIC_RELAXED);
    }
    (void)pthread_mutex_unlock(&mutex);
}

/* When the library is loaded: see private_fd.c. */
__attribute__((constructor)) static void install_fork_handlers(void)
{
    (void)pthread_atfork(lock_before_fork, unlock_in_parent, mark_again_in_child);
}

void tamis__handles_enter(struct tamis_filter *filter)
{
    (void)pthread_mutex_lock(&mutex);
    filter->next_handle = handles;
    filter->handle_link = &handles;
    if (handles != NULL) handles->handle_link = &filter->next_handle;
    handles = filter;
    (void)pthread_mutex_unlock(&mutex);
}

void tamis__handles_leave(struct tamis_filter *filter)
{
    (void)pthread_mutex_lock(&mutex); /* others write handle_link when they enter and leave */
    if (filter->handle_link != NULL) {
        *filter->handle_link = filter->next_handle;
        if (filter->next_handle != NULL) filter->next_handle->handle_link = filter->handle_link;
        filter->handle_link = NULL;
    }
    (void)pthread_mutex_unlock(&mutex);
}
