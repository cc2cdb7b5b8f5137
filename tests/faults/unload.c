/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unload.c: a program loads the library, uses it from threads, and closes it (dlclose) while they
 * live.  What the library has left behind must stay callable: the destructor of a thread's key as
 * threads end, the handlers of fork(), the handler of SIGBUS, a thread of a sync interval.
 *
 *     unload LIBRARY
 *
 * Seen to fail without -z nodelete (store/CMakeLists.txt): the first thread that ended jumped into
 * code that was gone, 5 times of 5.
 */
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tamis.h"

#define THREADS 4u

static char scratch[] = "/dev/shm/tamis-unloadXXXXXX";
static void *library;
static tamis_store *store;
static tamis_filter *filter;
static pthread_barrier_t used, closed;

static void *symbol(const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL) errx(2, "%s", dlerror());
    return found;
}

static void *use(void *context)
{
    int (*add)(tamis_filter *, const void *, size_t);
    *(void **)&add = symbol("tamis_filter_add");
    if (add(filter, &context, sizeof context) < 0) errx(2, "cannot add");
    (void)pthread_barrier_wait(&used);
    (void)pthread_barrier_wait(&closed);
    return NULL; /* the destructors of its keys come now */
}

static void load(void)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 1000};
    int (*open_store)(const char *, unsigned, tamis_store **);
    int (*create)(tamis_store *, const char *, const struct tamis_filter_spec *, tamis_filter **);
    *(void **)&open_store = symbol("tamis_store_open");
    *(void **)&create = symbol("tamis_filter_create");
    if (open_store(scratch, TAMIS_OPEN_CREATE, &store) < 0 ||
        create(store, "x", &spec, &filter) < 0)
        errx(2, "cannot make a filter");
}

static void unload(void)
{
    int (*close_filter)(tamis_filter *);
    void (*close_store)(tamis_store *);
    *(void **)&close_filter = symbol("tamis_filter_close");
    *(void **)&close_store = symbol("tamis_store_close");
    if (close_filter(filter) < 0) errx(2, "cannot close");
    close_store(store);
    if (dlclose(library) != 0) errx(2, "%s", dlerror());
}

static void fork_once(void)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) errx(1, "fork()");
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    char command[64];
    if (argc != 2 || mkdtemp(scratch) == NULL) errx(2, "usage: unload LIBRARY");
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) errx(2, "%s", dlerror());
    load();
    (void)pthread_barrier_init(&used, NULL, THREADS + 1);
    (void)pthread_barrier_init(&closed, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_create(&threads[i], NULL, use, (void *)i);
    (void)pthread_barrier_wait(&used);
    unload();
    (void)pthread_barrier_wait(&closed);
    for (unsigned i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    fork_once();
    (void)snprintf(command, sizeof command, "rm -rf %s", scratch);
    if (system(command) != 0) errx(2, "%s", command);
    (void)puts("unloaded");
    return 0;
}
