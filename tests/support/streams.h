/* SPDX-License-Identifier: BSD-2-Clause */
/* streams.h: sources and sinks in memory, for import and export, that can be made to fail. */
#ifndef TAMIS_SUPPORT_STREAMS_H
#define TAMIS_SUPPORT_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

struct stream {
    unsigned char *data; /* on the heap */
    size_t bytes;
    size_t room;        /* of the data, as the stream grows */
    size_t at;          /* read so far */
    size_t most;        /* given at once; 0: what is asked for */
    size_t fails_at;    /* byte at which the call fails; 0: never */
    int failure;        /* what it returns then */
    bool length_hidden; /* the source does not say how long it is */
    size_t calls;
};

/* A stream with a copy of these bytes; `data` may be NULL where bytes is 0. */
struct stream stream_of(const void *data, size_t bytes);
void stream_free(struct stream *stream);
/* One that is freed at the end of its block, see auto.h. */
#define AUTO_STREAM __attribute__((cleanup(stream_free))) struct stream

/* Add to its end. */
void stream_put(struct stream *stream, const void *data, size_t bytes);
void stream_put32(struct stream *stream, uint32_t value); /* little-endian */
void stream_put64(struct stream *stream, uint64_t value);
void stream_put_double(struct stream *stream, double value);
/* Bytes written as pairs of hexadecimal digits. */
void stream_put_hex(struct stream *stream, const char *hex, size_t digits);

/* From the beginning on; into the end. */
struct tamis_source stream_source(struct stream *stream);
struct tamis_sink stream_sink(struct stream *stream);

/* The SHA-256 of the bytes in hexadecimal, by coreutils' sha256sum; false where that is missing. */
bool stream_sha256(const void *data, size_t bytes, char hex[65]);

#endif
