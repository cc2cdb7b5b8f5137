/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream.h: what import reads from and export writes to: files, pipes, keys of a Redis server.
 *
 * A stream is the library's source or sink with a name, and with an end: what was written is there
 * only once stream_keep() says so, and nothing is left of what is closed without it.  A failure is
 * told where it happens; the library's own sentence about it would say less (stream->failed).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "part.h"
#include "tamis.h"

struct invocation;
struct options;
struct stream;

struct stream_kind {
    int64_t (*read)(struct stream *stream, void *buffer, size_t bytes);
    int (*write)(struct stream *stream, const void *data, size_t bytes);
    bool (*sync)(struct stream *stream);  /* false after a message; NULL: nothing to do */
    bool (*keep)(struct stream *stream);  /* the same */
    void (*close)(struct stream *stream); /* frees it */
};

/* The first member of each kind's own struct. */
struct stream {
    const struct stream_kind *kind;
    char *name;          /* for messages; no password in it */
    const char *format;  /* what the server's type says; NULL: the caller's word */
    uint64_t all_bytes;  /* 0: not known */
    uint64_t done_bytes; /* read or written so far */
    bool failed;         /* a message was printed, and no other is needed */
};

/* Does `option` (--from, --to) name a format or a server?  false after a message. */
bool stream_peer_is_given(const struct invocation *call, const char *option);

/* A file, or standard input or output for "-".  NULL after a message.  A file that is there is
 * replaced only with `force`, and only when the new one is complete. */
struct stream *stream_read_file(const char *path);
struct stream *stream_write_file(const char *path, bool force);

/* Would the bytes go to a terminal? */
bool stream_is_terminal(const struct stream *stream);

/* What the library reads from or writes to: shows progress, heeds signals (interrupt.h). */
struct tamis_source stream_source(struct stream *stream);
struct tamis_sink stream_sink(struct stream *stream);

/* Says that what was to be written is there already.  Returns CLI_ERROR. */
int stream_fail_exists(const char *name);

/* The status of a command whose stream was NULL: a signal may have ended the wait for a pipe's
 * other end or for a server. */
int stream_open_status(void);

/* Brings what was written to the disk, so that stream_keep() takes but a moment. */
bool stream_sync(struct stream *stream);
bool stream_keep(struct stream *stream);
void stream_close(struct stream *stream); /* NULL is allowed */

/* ---- redis.c --------------------------------------------------------------------------------- */

/* A key of the server of --from or --to.  NULL after a message.  For writing `format` is
 * redis-bitmap or redisbloom, and a key that is there is replaced, in one step, only with
 * `force`. */
PART struct stream *redis_read(const struct options *options, const char *key);
PART struct stream *redis_write(const struct options *options, const char *key, const char *format,
                                bool force);
