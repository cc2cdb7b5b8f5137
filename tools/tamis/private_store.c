/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private_store.c: a store in memory for one command; see private_store.h.
 *
 *     BASE/tamis-private.XXXXXX/        locked (flock) by both processes while one of them lives
 *     BASE/tamis-private.XXXXXX/store/  the store
 *
 * Who removes the directory:
 *
 *     the work ends, fails or is killed          the first process, which waits for it
 *     the first process is killed                the working process: it gets SIGTERM at that
 *                                                moment, ends after the batch in hand, and removes
 *                                                the directory itself
 *     both are killed at once (kill -9, OOM)     the next command with a private store: it removes
 *                                                the directories of this user that nobody has
 *                                                locked
 *
 * A lock of flock() belongs to the open file, which both processes share after fork(). It ends with
 * the last of them, so a directory without lock has no user.
 */
#include "private_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PREFIX "tamis-private."

static volatile sig_atomic_t worker; /* its process id, for the handler */

static const int FORWARDED[] = {SIGINT, SIGTERM, SIGHUP};
#define FORWARDED_COUNT (sizeof FORWARDED / sizeof *FORWARDED)

/* ---- The directory --------------------------------------------------------------------------- */

static bool is_usable(const char *path)
{
    struct stat status;
    return path != NULL && path[0] == '/' && stat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
           access(path, W_OK | X_OK) == 0;
}

/* /dev/shm is a tmpfs on every Linux that has it; without it the files are in the page cache. */
static const char *choose_base(void)
{
    const char *temporary = getenv("TMPDIR");
    if (is_usable("/dev/shm")) return "/dev/shm";
    return is_usable(temporary) ? temporary : "/tmp";
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    (void)remove(path); /* what stays is found by the next command */
    return 0;
}

void tree_remove(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The descriptor of the directory, locked; -1: it is not there, not ours, or in use. */
static int lock_directory(const char *path)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (fd >= 0) (void)close(fd);
    return -1;
}

/* Removes what commands left behind that were killed with all their processes. A directory that
 * another command has made and not locked yet may go too: that command makes another one. */
static void sweep(const char *base)
{
    DIR *directory = opendir(base);
    if (directory == NULL) return;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0) continue;
        char *path = cli_format("%s/%s", base, entry->d_name);
        const int fd = lock_directory(path);
        if (fd >= 0) tree_remove(path);
        if (fd >= 0) (void)close(fd);
        free(path);
    }
    (void)closedir(directory);
}

/* Does the locked directory still have its name?  A sweep may have removed it before the lock. */
static bool is_named(int fd, const char *path)
{
    struct stat named, locked;
    return stat(path, &named) == 0 && fstat(fd, &locked) == 0 && named.st_ino == locked.st_ino;
}

/* Makes a directory and locks it. Returns its path, or NULL after a message. */
static char *make_directory(int *lock)
{
    const char *base = choose_base();
    sweep(base);
    for (int tries = 0; tries < 100; tries++) {
        char *path = cli_format("%s/" PREFIX "XXXXXX", base);
        if (mkdtemp(path) == NULL) {
            cli_tell("cannot make a directory for the filter in %s: %s", base, strerror(errno));
            free(path);
            return NULL;
        }
        *lock = lock_directory(path);
        if (*lock >= 0 && is_named(*lock, path)) return path;
        if (*lock >= 0) (void)close(*lock);
        free(path);
    }
    cli_tell("cannot keep a directory in %s: another program removes it again and again", base);
    return NULL;
}

/* ---- The two processes ----------------------------------------------------------------------- */

static void forward(int signal_number)
{
    const int before = errno;
    if (worker > 0) (void)kill((pid_t)worker, signal_number);
    errno = before;
}

/* A signal that was ignored at the start stays ignored. */
static void forward_signals(void)
{
    for (size_t i = 0; i < FORWARDED_COUNT; i++) {
        struct sigaction action = {.sa_handler = forward}, before;
        (void)sigemptyset(&action.sa_mask);
        (void)sigaction(FORWARDED[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) (void)sigaction(FORWARDED[i], &action, NULL);
    }
}

/* In the working process. */
static int work_in(struct invocation *call, const char *path, int (*work)(struct invocation *call))
{
    char *store = cli_format("%s/store", path);
    int status = CLI_ERROR;
    if (tamis_store_open(store, TAMIS_OPEN_CREATE, &call->store) < 0) {
        (void)cli_fail_library();
    } else {
        status = work(call);
        tamis_store_close(call->store);
        call->store = NULL;
    }
    free(store);
    (void)out_flush(call->out); /* the answers are out before the memory goes */
    tree_remove(path);
    return status;
}

/* Waits for the working process, removes the directory, and ends as that process ended. */
static int wait_for_worker(const char *path)
{
    int how = 0;
    while (waitpid((pid_t)worker, &how, 0) < 0 && errno == EINTR)
        continue;
    worker = 0;
    tree_remove(path);
    if (!WIFSIGNALED(how)) return WEXITSTATUS(how);
    (void)signal(WTERMSIG(how), SIG_DFL);
    (void)raise(WTERMSIG(how));
    return 128 + WTERMSIG(how);
}

/* The signals are held back until both processes know what to do with them. */
static int run_both(struct invocation *call, const char *path, int (*work)(struct invocation *call))
{
    sigset_t held, before;
    (void)sigemptyset(&held);
    for (size_t i = 0; i < FORWARDED_COUNT; i++)
        (void)sigaddset(&held, FORWARDED[i]);
    (void)sigprocmask(SIG_BLOCK, &held, &before);
    const pid_t first = getpid(), pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        interrupt_catch();
        if (getppid() != first) (void)raise(SIGTERM); /* it died before prctl() */
    } else if (pid > 0) {
        worker = (sig_atomic_t)pid;
        forward_signals();
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid > 0) return wait_for_worker(path);
    if (pid == 0) return work_in(call, path, work);
    const int status = cli_fail("cannot start a process: %s", strerror(errno));
    tree_remove(path);
    return status;
}

int private_store_run(struct invocation *call, int (*work)(struct invocation *call))
{
    int lock = -1;
    char *path = make_directory(&lock);
    if (path == NULL) return CLI_ERROR;
    const int status = run_both(call, path, work);
    (void)close(lock);
    free(path);
    return status;
}
