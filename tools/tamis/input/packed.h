/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packed.h: what packed bytes begin with, and how they are unpacked.
 *
 * The first bytes tell the format, never the name, so a pipe is unpacked too. No format begins with
 * bytes that have the end of a line among them. So the first line of a text is never waited for
 * longer than it takes to come.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "part.h"

/* The bytes that an unpacker reads and the room that it writes to; it moves the pointers. */
struct unpacking {
    const unsigned char *from;
    const unsigned char *from_end;
    unsigned char *to;
    unsigned char *to_end;
};

/* How one format is unpacked: a file each. */
struct unpacker {
    void *(*make)(void);
    /* Unpacks as much as there is, of any number of members one after the other. Returns NULL, or
     * what is wrong. */
    const char *(*step)(void *state, struct unpacking *unpacking);
    bool (*is_whole)(const void *state); /* the last member has ended: the file may end here */
    void (*release)(void *state);
};

struct packed_format {
    const char *name;
    const char *magic;
    size_t magic_bytes;
    size_t any_at;                   /* the byte of the magic that may be any; 0: none */
    const struct unpacker *unpacker; /* NULL: there is none, or not in this build */
    const char *package;             /* that has the library for it; NULL: none is used */
    const char *option;
    const char *command; /* that unpacks it to its standard output */
};

/* What these bytes, the first of a file, are packed by. NULL: by nothing; or, with *more set, this
 * is not known before more bytes are there. */
const struct packed_format *packed_format_of(const unsigned char *first, size_t bytes, bool *more);

/* The format of a file that is shorter than the magic bytes, if no text begins with those bytes. */
const struct packed_format *packed_format_cut_short(const unsigned char *first, size_t bytes);

/* gzip.c, zstd.c */
extern PART const struct unpacker unpacker_gzip, unpacker_zstd;
