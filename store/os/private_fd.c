/* SPDX-License-Identifier: BSD-2-Clause */
/* private_fd.c: see private_fd.h.  The mutex is held for a few instructions, and
 * never while waiting. */
#include "os/private_fd.h"

#include <fcntl.h>
#include <pthread.h>

#include "os/io.h"
#include "tamis_library.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct tamis__private_fd *files;
static int least; /* tamis_descriptors_set_least() */

static void before_fork(void)
{
    (void)pthread_mutex_lock(&mutex);
}

static void after_fork_in_parent(void)
{
    (void)pthread_mutex_unlock(&mutex);
}

/* Closes the files without unlocking them: to unlock would take the parent's lock away. */
static void after_fork_in_child(void)
{
    struct tamis__private_fd *next;
    for (struct tamis__private_fd *file = files; file != NULL; file = next) {
        next = file->next;
        tamis__close(file->fd);
        *file = (struct tamis__private_fd){.fd = -1};
    }
    files = NULL;
    (void)pthread_mutex_unlock(&mutex);
}

/* When the library is loaded, and not when it is first needed: handlers of a program that are
 * installed later run before these, and may wait there for threads that use the library. */
__attribute__((constructor)) static void install_handlers(void)
{
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

TAMIS_API int tamis_descriptors_set_least(int number)
{
    if (number < 0)
        return tamis__fail(TAMIS_EINVAL, "%d is no number of a descriptor; pass 0 or more", number);
    (void)pthread_mutex_lock(&mutex);
    least = number;
    (void)pthread_mutex_unlock(&mutex);
    return 0;
}

/* Gives a descriptor a number that is high enough.  If none is free there, it keeps its own. */
static int raised(int fd)
{
    const int high = fd < least ? fcntl(fd, F_DUPFD_CLOEXEC, least) : -1;
    if (high < 0) return fd;
    tamis__close(fd);
    return high;
}

int tamis__private_open(int dir_fd, const char *name, int flags, unsigned mode, const char *what,
                        struct tamis__private_fd *file)
{
    *file = (struct tamis__private_fd){.fd = -1};
    (void)pthread_mutex_lock(&mutex);
    const int rc = tamis__open(dir_fd, name, flags, mode, what, &file->fd);
    if (rc == 0) {
        file->fd = raised(file->fd);
        file->next = files;
        file->link = &files;
        if (files != NULL) files->link = &file->next;
        files = file;
        file->is_open = true;
    }
    (void)pthread_mutex_unlock(&mutex);
    return rc;
}

void tamis__private_close(struct tamis__private_fd *file)
{
    (void)pthread_mutex_lock(&mutex);
    if (file->is_open) {
        *file->link = file->next;
        if (file->next != NULL) file->next->link = file->link;
        tamis__unlock(file->fd);
        tamis__close(file->fd);
    }
    *file = (struct tamis__private_fd){.fd = -1};
    (void)pthread_mutex_unlock(&mutex);
}
