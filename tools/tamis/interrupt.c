/* SPDX-License-Identifier: BSD-2-Clause */
/* interrupt.c: SIGINT and SIGTERM as a request to stop at the next batch; see interrupt.h. */
#include "interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>

static const int SIGNALS[] = {SIGINT, SIGTERM};
#define SIGNAL_COUNT (sizeof SIGNALS / sizeof *SIGNALS)

static volatile sig_atomic_t caught;

static void remember(int signal_number)
{
    caught = signal_number;
}

void interrupt_catch(void)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction action = {.sa_handler = remember, .sa_flags = (int)SA_RESETHAND};
        struct sigaction before;
        (void)sigemptyset(&action.sa_mask);
        (void)sigaction(SIGNALS[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) (void)sigaction(SIGNALS[i], &action, NULL);
    }
}

int interrupt_signal(void)
{
    return caught;
}

const char *interrupt_name(void)
{
    return caught == SIGINT ? "SIGINT" : "SIGTERM";
}

bool interrupt_wait(int fd, short events, int seconds)
{
    return interrupt_wait_ns(fd, events, seconds < 0 ? -1 : seconds * INT64_C(1000000000));
}

bool interrupt_wait_ns(int fd, short events, int64_t ns)
{
    int ready = 0;
    const struct timespec limit = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    sigset_t ours, before;
    (void)sigemptyset(&ours);
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        (void)sigaddset(&ours, SIGNALS[i]);
    /* The signals are blocked while we look, and only ppoll() lets them through. So a signal that
     * comes in between ends the ppoll(), and is not noticed one read too late. */
    (void)sigprocmask(SIG_BLOCK, &ours, &before);
    struct pollfd pfd = {.fd = fd, .events = events};
    if (!caught) ready = ppoll(&pfd, 1, ns < 0 ? NULL : &limit, &before);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return ready > 0;
}

void interrupt_wait_readable(int fd)
{
    (void)interrupt_wait(fd, POLLIN, -1);
}

void interrupt_wait_writable(int fd)
{
    (void)interrupt_wait(fd, POLLOUT, -1);
}
