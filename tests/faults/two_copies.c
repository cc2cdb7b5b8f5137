/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * two_copies.c: two copies of the library in one process, libtamis.a in the program and libtamis.so
 * in a plugin: a truncated file is an error in both, whichever came first, and whatever handler of
 * SIGBUS the host has before, between or behind them.  A fault of nobody's is the host's.
 *
 *     two_copies LIBRARY
 *
 * Seen to fail where a copy installed its handler only if SIGBUS had its default action: the second
 * copy's faults ended the process, and so did all where the host had a handler.
 */
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tamis.h"

#define CAPACITY 1000000u /* some 1.2 MiB: more than the header's pages */

/* One copy of the library, and its filter. */
struct copy {
    int (*store_open)(const char *path, unsigned flags, tamis_store **store);
    int (*create)(tamis_store *store, const char *name, const struct tamis_filter_spec *spec,
                  tamis_filter **filter);
    int (*contains)(tamis_filter *filter, const void *key, size_t key_bytes);
    int (*sigbus_mend)(const void *address);
    tamis_filter *filter;
    char path[128];
};

static const char *library_path;
static char scratch[] = "/dev/shm/tamis-two-copiesXXXXXX";

static void use_linked(struct copy *copy)
{
    *copy = (struct copy){.store_open = tamis_store_open,
                          .create = tamis_filter_create,
                          .contains = tamis_filter_contains,
                          .sigbus_mend = tamis_sigbus_mend};
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL) errx(2, "%s", dlerror());
    return found;
}

static void use_loaded(struct copy *copy)
{
    void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) errx(2, "%s", dlerror());
    *copy = (struct copy){.filter = NULL};
    *(void **)&copy->store_open = symbol(library, "tamis_store_open");
    *(void **)&copy->create = symbol(library, "tamis_filter_create");
    *(void **)&copy->contains = symbol(library, "tamis_filter_contains");
    *(void **)&copy->sigbus_mend = symbol(library, "tamis_sigbus_mend");
    if (copy->create == tamis_filter_create) errx(2, "it is one copy");
}

static void open_filter(struct copy *copy, const char *name)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = CAPACITY};
    tamis_store *store;
    (void)snprintf(copy->path, sizeof copy->path, "%s/%s", scratch, name);
    if (copy->store_open(copy->path, TAMIS_OPEN_CREATE, &store) < 0 ||
        copy->create(store, "x", &spec, &copy->filter) < 0)
        errx(2, "cannot make a filter");
}

static void cut(const struct copy *copy)
{
    char file[256];
    (void)snprintf(file, sizeof file, "%s/segments/0000000000000001.seg", copy->path);
    if (truncate(file, 0) != 0) err(2, "%s", file);
}

/* Every page is asked for: the file is an error. */
static void expect_error(const struct copy *copy)
{
    int rc = 0;
    for (uint64_t key = 0; rc >= 0 && key < CAPACITY; key++)
        rc = copy->contains(copy->filter, &key, sizeof key);
    if (rc != TAMIS_ECORRUPT && rc != TAMIS_EIO) errx(3, "a truncated file answers %d", rc);
}

static void expect_answer(const struct copy *copy)
{
    for (uint64_t key = 0; key < 1000; key++)
        if (copy->contains(copy->filter, &key, sizeof key) != 0) errx(3, "a sound file fails");
}

/* ---- The host -------------------------------------------------------------------------------- */

static volatile sig_atomic_t host_faults;
static struct sigaction host_before;
static const struct copy *host_copies;
static sigset_t mask_in_host;

static void end_host(int signal_number)
{
    (void)signal_number;
    host_faults++;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask_in_host);
    _exit(sigismember(&mask_in_host, SIGUSR1) == 1 && sigismember(&mask_in_host, SIGBUS) == 0 ? 40
                                                                                              : 41);
}

static void on_host_chaining(int signal_number, siginfo_t *info, void *context)
{
    host_faults++;
    host_before.sa_sigaction(signal_number, info, context);
}

static void on_host_mending(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)context;
    for (int i = 0; i < 2; i++)
        if (host_copies[i].sigbus_mend(info->si_addr)) return;
    _exit(42);
}

/* A plain handler with a mask and flags of its own. */
static void set_host_handler(void)
{
    struct sigaction action = {.sa_handler = end_host, .sa_flags = SA_NODEFER};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGUSR1);
    (void)sigaction(SIGBUS, &action, NULL);
}

static void set_host_siginfo(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    (void)sigaction(SIGBUS, &action, &host_before);
}

/* A fault in a mapping that belongs to no copy. */
static void fault_elsewhere(void)
{
    char name[sizeof scratch + 8];
    (void)snprintf(name, sizeof name, "%s/own", scratch);
    const int fd = open(name, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0) err(2, "%s", name);
    volatile char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED || ftruncate(fd, 0) != 0) err(2, "mmap");
    _exit(map[0] + 1);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

enum host { NONE, BEFORE, BETWEEN, CHAINS, MENDS, HOSTS };
static const char *const host_names[] = {
    "no host's handler", "a host's handler before", "a host's handler in between",
    "a host's handler that chains", "a host's handler that mends"};

static void prepare(struct copy copies[2], bool loaded_first, enum host host)
{
    host_copies = copies;
    (void)signal(SIGBUS, SIG_DFL);
    if (host == BEFORE) set_host_handler();
    (loaded_first ? use_loaded : use_linked)(&copies[0]);
    open_filter(&copies[0], "first");
    if (host == BETWEEN) {
        struct sigaction action;
        (void)sigaction(SIGBUS, NULL, &action);
        set_host_siginfo(on_host_chaining);
    }
    (loaded_first ? use_linked : use_loaded)(&copies[1]);
    open_filter(&copies[1], "second");
    if (host == CHAINS) set_host_siginfo(on_host_chaining);
    if (host == MENDS) set_host_siginfo(on_host_mending);
}

/* What is truncated: bit 0 the first copy's file, bit 1 the second's; 4: a file of nobody's. */
static void run(bool loaded_first, enum host host, unsigned what)
{
    struct copy copies[2];
    prepare(copies, loaded_first, host);
    for (unsigned i = 0; i < 2; i++) {
        expect_answer(&copies[i]);
        if (what & (1u << i)) cut(&copies[i]);
    }
    for (unsigned i = 2; i-- > 0;)
        (what & (1u << i) ? expect_error : expect_answer)(&copies[i]);
    if (what == 4) fault_elsewhere();
    if (what == 8) (void)raise(SIGBUS);
    _exit(0);
}

/* How a process ends after a fault of nobody's. */
static int end_of(enum host host, unsigned what)
{
    if (what < 4) return 0;
    if (host == BEFORE) return 40;
    return host == MENDS ? 42 : 256 + SIGBUS;
}

static int run_in_child(bool loaded_first, enum host host, unsigned what)
{
    int status;
    char command[64];
    const pid_t pid = fork();
    if (pid == 0) run(loaded_first, host, what);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) err(2, "fork");
    (void)snprintf(command, sizeof command, "rm -rf %s/*", scratch);
    if (system(command) != 0) errx(2, "%s", command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    static const unsigned whats[] = {0, 1, 2, 3, 4, 8};
    unsigned failed = 0;
    if (argc != 2 || mkdtemp(scratch) == NULL) errx(2, "usage: two_copies LIBRARY");
    library_path = argv[1];
    for (unsigned order = 0; order < 2; order++)
        for (enum host host = NONE; host < HOSTS; host++)
            for (unsigned i = 0; i < sizeof whats / sizeof whats[0]; i++) {
                const int end = run_in_child(order == 1, host, whats[i]);
                if (end == end_of(host, whats[i])) continue;
                failed++;
                (void)printf("%s first, %s, truncated %u: ended with %d, not %d\n",
                             order ? "libtamis.so" : "libtamis.a", host_names[host], whats[i], end,
                             end_of(host, whats[i]));
            }
    (void)rmdir(scratch);
    (void)printf("two copies: %u of 60 cases failed\n", failed);
    return failed != 0;
}
