/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks.h: a process that is killed, or stops itself, at a named point of the library or before one
 * of its system calls, and system calls that fail.  For programs on the library with its test
 * points.
 */
#ifndef TAMIS_SUPPORT_HOOKS_H
#define TAMIS_SUPPORT_HOOKS_H

#include <signal.h>
#include <stdbool.h>

#include "base/point.h"
#include "spawn.h"

/* This process gets the signal each time when it passes the point, but for the first `passes`
 * times. */
void hooks_signal_at(unsigned point, int signal_number, unsigned passes);
/* This process is killed before a system call of the library; so many come through before it. */
void hooks_kill_before_call(unsigned calls);

/* All calls of that verb (see store/os/io.c) fail. */
void hooks_fail_calls(const char *verb, int error_number);
/* No more hooks.  Has a call failed since one was set? */
bool hooks_end(void);

#endif
