/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interrupt.h: SIGINT and SIGTERM as a request to stop at the next batch.
 *
 * The first signal is remembered; the second has its usual effect, so that a program that hangs can
 * still be stopped by hand.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Remembers signals from now on. A signal that was ignored at the start (nohup, sh's &) stays
 * ignored. */
void interrupt_catch(void);

/* The signal that came, or 0. */
int interrupt_signal(void);

/* Its name, "SIGINT" or "SIGTERM". */
const char *interrupt_name(void);

/* Waits until fd can be read or the signal comes: no signal is missed between the two. */
void interrupt_wait_readable(int fd);
/* The same for writing. After it, PIPE_BUF bytes can be written to a pipe without a wait. */
void interrupt_wait_writable(int fd);
/* Waits for poll()'s events on fd, but at most `seconds` seconds (below 0: without end).  true: fd
 * is ready; false: the time is over, or the signal came. */
bool interrupt_wait(int fd, short events, int seconds);
/* The same with nanoseconds.  fd may be -1, for the signal alone.  Other signals that have a
 * handler end the wait too. */
bool interrupt_wait_ns(int fd, short events, int64_t ns);
