/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.c: how far long work is, on standard error; see progress.h. */
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"
#include "status_line.h"
#include "tamis.h"
#include "text.h"

#define INTERVAL_SECONDS 0.2

static struct {
    bool wanted;
    double start;
    double last;
    uint64_t total; /* bytes, or keys of a step; 0: not known */
    const char *step;
} progress;

double progress_clock(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void progress_start(const struct options *options, uint64_t total_bytes)
{
    progress.wanted = options_have(options, TAKES(PROGRESS)) ||
                      (isatty(STDERR_FILENO) == 1 && !options_have(options, TAKES(NO_PROGRESS)));
    progress.start = progress_clock();
    progress.last = progress.start;
    progress.total = total_bytes;
}

/* ", 40 %, 12 s left", or nothing where the end is not known. */
static void describe_left(char *text, size_t text_bytes, uint64_t units, double seconds)
{
    char duration[32];
    *text = '\0';
    if (progress.total == 0 || units == 0) return;
    double done = (double)units / (double)progress.total;
    if (done > 1) done = 1; /* the file grew since */
    text_duration(duration, sizeof duration, seconds / done - seconds);
    (void)snprintf(text, text_bytes, ", %.0f %%, %s left", done * 100, duration);
}

static void show_progress_line(const char *what, uint64_t units, double seconds)
{
    char line[160];
    char left[64];
    describe_left(left, sizeof left, units, seconds);
    (void)snprintf(line, sizeof line, "%s%s", what, left);
    if (!status_line_show(line)) progress.wanted = false;
}

/* Seconds since the start, where it is time for another line; else below 0. */
static double due(void)
{
    if (!progress.wanted) return -1;
    double now = progress_clock();
    if (now - progress.last < INTERVAL_SECONDS) return -1;
    progress.last = now;
    return now - progress.start;
}

/* "1,234,567 keys, 890,123 keys/s" */
static void describe_keys(char *text, size_t text_bytes, uint64_t keys, double seconds)
{
    char all[TEXT_COUNT_BYTES], rate[TEXT_COUNT_BYTES];
    text_count(all, keys);
    text_count(rate, seconds > 0 ? (uint64_t)((double)keys / seconds + 0.5) : 0);
    (void)snprintf(text, text_bytes, "%s key%s, %s keys/s", all, text_plural(keys), rate);
}

void progress_update(uint64_t keys, uint64_t bytes)
{
    char what[96];
    double seconds = due();
    if (seconds < 0) return;
    describe_keys(what, sizeof what, keys, seconds);
    show_progress_line(what, bytes, seconds);
}

void progress_update_step(const char *step, uint64_t done, uint64_t all)
{
    char what[96], keys[80];
    if (progress.step == NULL || strcmp(progress.step, step) != 0) {
        progress.step = step;
        progress.start = progress_clock();
    }
    progress.total = all;
    const double seconds = due();
    if (seconds < 0) return;
    describe_keys(keys, sizeof keys, done, seconds);
    (void)snprintf(what, sizeof what, "%s: %s", step, keys);
    show_progress_line(what, done, seconds);
}

static void show_bytes(uint64_t bytes, double seconds)
{
    char what[96], done[32], rate[32];
    text_size(done, sizeof done, (double)bytes);
    text_size(rate, sizeof rate, seconds > 0 ? (double)bytes / seconds : 0);
    (void)snprintf(what, sizeof what, "%s, %s/s", done, rate);
    show_progress_line(what, bytes, seconds);
}

void progress_update_bytes(uint64_t bytes, uint64_t all_bytes)
{
    progress.total = all_bytes;
    double seconds = due();
    if (seconds >= 0) show_bytes(bytes, seconds);
}

int progress_take_bytes(void *context, uint64_t done_bytes, uint64_t all_bytes)
{
    *(uint64_t *)context = done_bytes;
    if (interrupt_signal()) return TAMIS_EIO;
    progress_update_bytes(done_bytes, all_bytes);
    return 0;
}

void progress_finish_bytes(uint64_t bytes)
{
    if (progress.wanted) show_bytes(bytes, progress_clock() - progress.start);
}

void progress_end(void)
{
    status_line_erase();
    progress.wanted = false;
}
