/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * descriptors_test.c: a daemon without descriptors 0 to 2 writes to them from one thread while
 * another uses the library.  What it writes must not come into a file of the store, and no such
 * file may have a descriptor below 3 at any moment.
 *
 * Seen to fail where files were moved to 3 and above only after they were opened: the writer's
 * lines destroyed the catalog, and the watcher saw the catalog and segments at 0, 1 and 2.
 */
#include "fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spawn.h"

#define ROUNDS (FIXTURE_SANITIZED ? 3u : 15u)
#define KEYS 2000u

struct daemon {
    char *path;      /* of the store */
    unsigned closed; /* bit n: descriptor n */
    struct spawn_barrier barrier;
    uint32_t ends, seen, bound, reads, writes; /* atomic */
    char where[256];                           /* what was seen */
    char failed[512];                          /* the library's sentence */
};

/*
 * Stands before libc's function.  What the library moves away from a low descriptor was there for a
 * moment, which the watcher may miss.
 */
static uint32_t moved; /* atomic */

int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    const long argument = va_arg(arguments, long);
    va_end(arguments);
    if (command == F_DUPFD_CLOEXEC && fd <= STDERR_FILENO)
        (void)__atomic_add_fetch(&moved, 1, __ATOMIC_RELAXED);
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

static void *write_lines(void *context)
{
    static const char line[] = "a line of a log that belongs into no file of the store\n";
    struct daemon *daemon = context;
    char byte;
    spawn_wait(&daemon->barrier);
    while (__atomic_load_n(&daemon->ends, __ATOMIC_RELAXED) == 0) {
        for (int fd = 0; fd <= 2; fd++) {
            if ((daemon->closed & (1u << fd)) == 0) continue;
            if (write(fd, line, sizeof line - 1) >= 0)
                (void)__atomic_add_fetch(&daemon->writes, 1, __ATOMIC_RELAXED);
            if (read(fd, &byte, 1) >= 0)
                (void)__atomic_add_fetch(&daemon->reads, 1, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

/* Looks what the descriptors 0 to 2 lead to, all the time. */
static void *watch(void *context)
{
    struct daemon *daemon = context;
    spawn_wait(&daemon->barrier);
    while (__atomic_load_n(&daemon->ends, __ATOMIC_RELAXED) == 0)
        for (int fd = 0; fd <= 2; fd++) {
            char name[32], target[256];
            (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
            const ssize_t bytes = readlink(name, target, sizeof target - 1);
            if (bytes <= 0) continue;
            target[bytes] = '\0';
            if (strncmp(target, daemon->path, strlen(daemon->path)) != 0) continue;
            memcpy(daemon->where, target, sizeof target);
            (void)__atomic_add_fetch(&daemon->seen, 1, __ATOMIC_RELAXED);
        }
    return NULL;
}

static int add_some(tamis_filter *filter, uint64_t first)
{
    int rc = 0;
    for (uint64_t key = first; rc >= 0 && key < first + KEYS; key++)
        rc = tamis_filter_add(filter, &key, sizeof key);
    return rc < 0 ? rc : 0;
}

static int use_filter(tamis_store *store, uint64_t round)
{
    const struct tamis_filter_spec spec = {.size = sizeof spec, .capacity = 100};
    const struct tamis_filter_spec durable = {
        .size = sizeof durable, .capacity = 100, .flags = TAMIS_FILTER_DURABLE};
    tamis_filter *filter = NULL, *logged = NULL;
    int rc = tamis_filter_create(store, "grows", &spec, &filter);
    if (rc == 0) rc = tamis_filter_create(store, "logged", &durable, &logged);
    if (rc == 0) rc = add_some(filter, round * KEYS);
    if (rc == 0) rc = tamis_filter_add(logged, "key", 3) == 1 ? 0 : -1;
    if (rc == 0) rc = tamis_filter_close(filter);
    if (rc == 0) rc = tamis_filter_close(logged);
    if (rc == 0) rc = tamis_filter_drop(store, "logged");
    return rc == 0 ? tamis_filter_drop(store, "grows") : rc;
}

static int ignore_filter(void *context, const struct tamis_filter_stat *stat)
{
    (void)context;
    (void)stat;
    return 0;
}

static void *use_library(void *context)
{
    struct daemon *daemon = context;
    int rc = 0;
    spawn_wait(&daemon->barrier);
    for (uint64_t round = 0; rc == 0 && round < ROUNDS; round++) {
        tamis_store *store;
        rc = tamis_store_open(daemon->path, TAMIS_OPEN_CREATE, &store);
        if (rc < 0) break;
        rc = use_filter(store, round);
        if (rc == 0) rc = tamis_store_list(store, NULL, ignore_filter, NULL);
        tamis_store_close(store);
    }
    if (rc < 0) (void)snprintf(daemon->failed, sizeof daemon->failed, "%s", tamis_last_error());
    __atomic_store_n(&daemon->ends, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void run_daemon(void *context, unsigned closed)
{
    struct daemon *daemon = context;
    pthread_t threads[3];
    daemon->closed = closed;
    daemon->barrier.count = 3;
    for (int fd = 0; fd <= 2; fd++)
        if (closed & (1u << fd)) (void)close(fd);
    (void)pthread_create(&threads[0], NULL, write_lines, daemon);
    (void)pthread_create(&threads[1], NULL, watch, daemon);
    (void)pthread_create(&threads[2], NULL, use_library, daemon);
    for (unsigned i = 0; i < 3; i++)
        (void)pthread_join(threads[i], NULL);
    (void)__atomic_add_fetch(&daemon->seen, moved, __ATOMIC_RELAXED);
    for (int fd = 0; fd <= 2; fd++) /* a program that was started by this one has none, either */
        if ((closed & (1u << fd)) && fcntl(fd, F_GETFD) >= 0 &&
            (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0)
            __atomic_store_n(&daemon->bound, 1, __ATOMIC_RELAXED);
}

static void run_one(char *path, unsigned closed)
{
    struct daemon *daemon = spawn_shared(sizeof *daemon);
    daemon->path = path;
    assert_int_equal(spawn_end(spawn_one(run_daemon, daemon, closed)), 0);
    if (daemon->failed[0] != '\0') fail_msg("the library: %s", daemon->failed);
    if (daemon->seen != 0)
        fail_msg("%u times at a low descriptor: %s", daemon->seen, daemon->where);
    /* They fail as they did when the descriptors were closed. */
    assert_int_equal(daemon->writes, 0);
    assert_int_equal(daemon->reads, 0);
    assert_int_equal(daemon->bound, 0);
}

STORE_CASE(lines_of_a_daemon_without_descriptors_come_into_no_file)
{
    close_anyhow(fixture_create(store, "stays", SPEC(.capacity = 1000)));
    for (unsigned closed = 1; closed <= 7; closed++)
        run_one(path, closed);
    assert_done(tamis_store_list(store, NULL, ignore_filter, NULL));
    assert_int_equal(fixture_problems(path), 0);
}

CASES_PREPARE
{
    scratch_in_memory();
}
