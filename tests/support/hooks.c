/* SPDX-License-Identifier: BSD-2-Clause */
#include "hooks.h"

#include <stddef.h>
#include <string.h>

#include "os/io.h"

static unsigned signal_at;
static int signal_then;
static unsigned passes_left, calls_left;
static const char *failing_verb;
static int error_then;
static bool failed;

static void at_point(unsigned point)
{
    if (point != signal_at) return;
    if (passes_left > 0)
        passes_left--;
    else
        (void)raise(signal_then);
}

void hooks_signal_at(unsigned point, int signal_number, unsigned passes)
{
    signal_at = point;
    signal_then = signal_number;
    passes_left = passes;
    tamis__point_hook = at_point;
}

static int at_call(const char *verb, const char *what)
{
    (void)verb;
    (void)what;
    if (calls_left-- == 0) (void)raise(SIGKILL);
    return 0;
}

void hooks_kill_before_call(unsigned calls)
{
    calls_left = calls;
    tamis__io_hook = at_call;
}

static int fail(const char *verb, const char *what)
{
    (void)what;
    if (strcmp(verb, failing_verb) != 0) return 0;
    failed = true;
    return error_then;
}

void hooks_fail_calls(const char *verb, int error_number)
{
    failing_verb = verb;
    error_then = error_number;
    failed = false;
    tamis__io_hook = fail;
}

bool hooks_end(void)
{
    tamis__io_hook = NULL;
    tamis__point_hook = NULL;
    return failed;
}
