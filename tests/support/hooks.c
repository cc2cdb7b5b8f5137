/* SPDX-License-Identifier: BSD-2-Clause */
#include "hooks.h"

#include "file/io.h"

static enum tamis__point signal_at;
static int signal_then;
static unsigned passes_left, calls_left;

static void at_point(enum tamis__point point)
{
    if (point != signal_at) return;
    if (passes_left > 0)
        passes_left--;
    else
        (void)raise(signal_then);
}

void hooks_signal_at(enum tamis__point point, int signal_number, unsigned passes)
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
