/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * progress.h: how far long work is, on standard error.
 *
 * One line, at most five times a second, rewritten in place on a terminal and printed line by line
 * where --progress asks for it elsewhere.  There is one terminal, so there is one state, kept in
 * progress.c and status_line.c; every other message erases the line first.
 */
#pragma once

#include <stdint.h>

#include "options.h"

/* Begins the display, if the options or the terminal want it.  total_bytes is 0 where it is not
 * known. */
void progress_start(const struct options *options, uint64_t total_bytes);

/* Shows the line if it is time for that.  Cheap, so it is called after each batch. */
void progress_update(uint64_t keys, uint64_t bytes);

/* The same where no keys are counted; all_bytes is 0 where it is not known yet. */
void progress_update_bytes(uint64_t bytes, uint64_t all_bytes);

/* For the library's calls that tell how far they are.  `context` is a uint64_t, which gets the
 * bytes that are done.  After a signal the call is ended by TAMIS_EIO. */
int progress_take_bytes(void *context, uint64_t done_bytes, uint64_t all_bytes);

/* The same for one step of several, such as "sorting": the keys that are done, and all of them. The
 * clock of a step begins with its first call.  `step` is a literal. */
void progress_update_step(const char *step, uint64_t done, uint64_t all);

/* Shows the last line whatever the time, so that finished work is shown as finished. */
void progress_finish_bytes(uint64_t bytes);

/* Ends the display: takes the line away and shows no more. */
void progress_end(void);

/* Seconds of a clock that never goes back. */
double progress_clock(void);
