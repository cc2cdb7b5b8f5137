/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * input.h: the bytes of a file or of standard input, unpacked where they are packed.
 *
 * What packed them is told by the first bytes, never by the name, so a pipe is unpacked too.  A
 * packed file that is cut short or damaged ends in an error, with its name and the place: what was
 * read of it until then is not to be used.
 */
#ifndef TAMIS_TOOLS_INPUT_H
#define TAMIS_TOOLS_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What an unpacker takes from and puts into; it moves the pointers on. */
struct unpacking {
    const unsigned char *from;
    const unsigned char *from_end;
    unsigned char *to;
    unsigned char *to_end;
};

/* How one format is unpacked: a file each. */
struct unpacker {
    void *(*make)(void);
    /* As much as there is, of any number of members one after the other.  NULL, or what is wrong.
     * */
    const char *(*step)(void *state, struct unpacking *unpacking);
    bool (*is_whole)(const void *state); /* the last member has ended: the file may end here */
    void (*release)(void *state);
};

struct input {
    char *name; /* for messages */
    int fd;
    uint64_t done_bytes; /* of the file, as it is packed */
    char *error;         /* a sentence that names the file, where reading failed */
    const char *format;  /* "gzip"; NULL: not packed */
    const struct unpacker *unpacker;
    void *state;
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

/* Bytes into the buffer: their number, 0 at the end; below 0 where it failed: input->error says
 * why, or is NULL where a signal came (interrupt.h). */
ssize_t input_read(struct input *input, void *buffer, size_t bytes);

void input_close(struct input *input); /* NULL is allowed */

/* Can it be read, as far as can be told without opening it?  false after a message.  *bytes: its
 * length, 0 where nobody knows. */
bool input_is_there(const char *path, uint64_t *bytes);

/* ---- gzip.c, zstd.c; NULL in a build without the library ------------------------------------- */

const struct unpacker *unpacker_gzip(void);
const struct unpacker *unpacker_zstd(void);

#endif
