/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interrupt_test.c: a signal that comes after the command has looked for one, and before it waits,
 * ends the wait.
 *
 * tools/tamis/interrupt.c is compiled with ppoll() called wait_hook().  Broken to see it fail:
 * interrupt_wait() does not block the signals while it looks; the command then read on, to the next
 * batch of a pipe that may never come.
 */
#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fixture.h"

int wait_hook(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *mask);

static int ended, reason;

int wait_hook(struct pollfd *fds, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
    assert_int_equal(raise(SIGTERM), 0); /* between the look and the wait */
    errno = 0;
    ended = ppoll(fds, count, limit, mask);
    reason = errno;
    return ended;
}

CASE(signal_between_the_look_and_the_wait_ends_the_wait)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    interrupt_catch();
    assert_false(interrupt_wait(ends[0], POLLIN, 1)); /* nothing ever comes out of it */
    assert_int_equal(ended, -1);
    assert_int_equal(reason, EINTR);
    assert_int_equal(interrupt_signal(), SIGTERM);
    (void)close(ends[0]);
    (void)close(ends[1]);
}
