/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.c: how far long work is, on standard error; see progress.h. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

#define INTERVAL_SECONDS 0.2

static struct {
    bool wanted;
    bool terminal;
    bool shown;
    double start;
    double last;
    uint64_t total_bytes;
} progress;

double progress_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void put(const char *text, size_t bytes)
{
    if (write(STDERR_FILENO, text, bytes) < 0) progress.wanted = false;
}

void progress_start(const struct options *options, uint64_t total_bytes)
{
    progress.terminal = isatty(STDERR_FILENO) == 1;
    progress.wanted = options_have(options, TAKES(PROGRESS)) ||
                      (progress.terminal && !options_have(options, TAKES(NO_PROGRESS)));
    progress.start = progress_clock();
    progress.last = progress.start;
    progress.total_bytes = total_bytes;
}

static void show(uint64_t keys, uint64_t bytes, double seconds)
{
    char line[160];
    char left[64] = "";
    if (progress.total_bytes > 0 && bytes > 0) {
        double done = (double)bytes / (double)progress.total_bytes;
        if (done > 1) done = 1; /* the file grew since */
        char duration[32];
        text_duration(duration, sizeof duration, seconds / done - seconds);
        snprintf(left, sizeof left, ", %.0f %%, %s left", done * 100, duration);
    }
    int used = snprintf(line, sizeof line, "%s%ju keys, %.0f keys/s%s%s",
                        progress.terminal ? "\r" : "", (uintmax_t)keys, (double)keys / seconds,
                        left, progress.terminal ? "\x1b[K" : "\n");
    put(line, (size_t)used);
    progress.shown = progress.terminal;
}

void progress_update(uint64_t keys, uint64_t bytes)
{
    if (!progress.wanted) return;
    double now = progress_clock();
    if (now - progress.last < INTERVAL_SECONDS) return;
    progress.last = now;
    show(keys, bytes, now - progress.start);
}

void progress_erase(void)
{
    if (!progress.shown) return;
    progress.shown = false;
    put("\r\x1b[K", 4);
}

void progress_end(void)
{
    progress_erase();
    progress.wanted = false;
}
