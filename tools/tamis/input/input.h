/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * input.h: the bytes of a file or of standard input, unpacked if they are packed. The first bytes
 * tell the format, never the name, so a pipe is unpacked too. A packed file that is cut short or
 * damaged ends in an error with its name and the place; the caller must not use what was read of
 * it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "input/packed.h"

/* Where bytes come from that are in no file: as read(2), but an error is below 0 after a message.
 */
typedef ssize_t input_source(void *context, void *buffer, size_t bytes);

struct input {
    char *name; /* for messages */
    int fd;     /* -1: `source` is read */
    input_source *source;
    void *context;
    uint64_t done_bytes; /* of the file, as it is packed */
    char *error;         /* a sentence that names the file, where reading failed */
    const char *format;  /* "gzip"; NULL: not packed */
    bool raw;            /* it is not unpacked, whatever it begins with; set by the caller */
    const struct unpacker *unpacker;
    void *state;
    bool has_unpacked;     /* some of it */
    unsigned char *buffer; /* what was read of the file and not unpacked yet is [start, end) */
    size_t start;
    size_t end;
    bool begun;  /* the first bytes are there, the format is known */
    bool at_end; /* the file has ended */
};

/* What a path is called in messages: "-" is standard input. */
const char *input_name(const char *path);

/* A file, or standard input for "-".  NULL after a message. */
struct input *input_open(const char *path);

/* What a function gives. */
struct input *input_of(const char *name, input_source *source, void *context);

/* Reads as much as tells whether it is packed: input->format.  false as after input_read().  Of a
 * text this waits for the first line at most. */
bool input_begin(struct input *input);

/* Would input_read() give something at once? false where this is not known. */
bool input_is_ready(const struct input *input);

/* Reads bytes into the buffer. Returns their number, 0 at the end, or below 0 after a failure:
 * input->error says why, or is NULL after a signal (interrupt.h) or a message. */
ssize_t input_read(struct input *input, void *buffer, size_t bytes);

void input_close(struct input *input); /* NULL is allowed */

/* Can the files be read, as far as this is known without opening them? false after a message. Adds
 * their lengths to *all, as far as they are known, and to *standard how often standard input is
 * named. */
struct option_files;
bool inputs_are_there(const struct option_files *files, uint64_t *all, unsigned *standard);
