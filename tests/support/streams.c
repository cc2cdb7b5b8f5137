/* SPDX-License-Identifier: BSD-2-Clause */
/* streams.c: sources and sinks in memory; see streams.h. */
#include "streams.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"

struct stream stream_of(const void *data, size_t bytes)
{
    struct stream stream = {.data = NULL};
    stream_put(&stream, data, bytes);
    return stream;
}

void stream_free(struct stream *stream)
{
    free(stream->data);
    *stream = (struct stream){.data = NULL};
}

void stream_put(struct stream *stream, const void *data, size_t bytes)
{
    if (bytes == 0) return;
    if (stream->bytes + bytes > stream->room) {
        stream->room = 2 * (stream->bytes + bytes);
        stream->data = realloc(stream->data, stream->room);
        if (stream->data == NULL) err(1, "realloc");
    }
    memcpy(stream->data + stream->bytes, data, bytes);
    stream->bytes += bytes;
}

void stream_put32(struct stream *stream, uint32_t value)
{
    stream_put(stream, &value, sizeof value);
}

void stream_put64(struct stream *stream, uint64_t value)
{
    stream_put(stream, &value, sizeof value);
}

void stream_put_double(struct stream *stream, double value)
{
    stream_put(stream, &value, sizeof value);
}

void stream_put_hex(struct stream *stream, const char *hex, size_t digits)
{
    for (size_t i = 0; i + 1 < digits; i += 2) {
        const char pair[3] = {hex[i], hex[i + 1], '\0'};
        const unsigned char byte = (unsigned char)strtoul(pair, NULL, 16);
        stream_put(stream, &byte, 1);
    }
}

static int64_t read_memory(void *context, void *buffer, size_t bytes)
{
    struct stream *stream = context;
    size_t now = stream->bytes - stream->at;
    stream->calls++;
    if (now > bytes) now = bytes;
    if (stream->most != 0 && now > stream->most) now = stream->most;
    if (stream->fails_at != 0 && stream->at + now >= stream->fails_at) {
        if (stream->at + 1 >= stream->fails_at) return stream->failure;
        now = stream->fails_at - 1 - stream->at;
    }
    if (now > 0) memcpy(buffer, stream->data + stream->at, now);
    stream->at += now;
    return (int64_t)now;
}

static int write_memory(void *context, const void *buffer, size_t bytes)
{
    struct stream *stream = context;
    stream->calls++;
    if (stream->fails_at != 0 && stream->bytes + bytes >= stream->fails_at) return stream->failure;
    stream_put(stream, buffer, bytes);
    return 0;
}

struct tamis_source stream_source(struct stream *stream)
{
    stream->at = 0;
    return (struct tamis_source){.size = sizeof(struct tamis_source),
                                 .read = read_memory,
                                 .context = stream,
                                 .bytes = stream->length_hidden ? 0 : stream->bytes};
}

struct tamis_sink stream_sink(struct stream *stream)
{
    return (struct tamis_sink){
        .size = sizeof(struct tamis_sink), .write = write_memory, .context = stream};
}

bool stream_sha256(const void *data, size_t bytes, char hex[65])
{
    char *path = scratch_path("sha256"), command[4096];
    FILE *file = fopen(path, "wbe");
    if (file == NULL || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        err(1, "write %s", path);
    (void)snprintf(command, sizeof command, "sha256sum <'%s'", path);
    FILE *pipe = popen(command, "re");
    const bool done = pipe != NULL && fscanf(pipe, "%64s", hex) == 1;
    if (pipe != NULL) (void)pclose(pipe);
    scratch_remove(path);
    free(path);
    return done;
}
