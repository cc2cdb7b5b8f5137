/* SPDX-License-Identifier: BSD-2-Clause */
/* out.c: standard output as one large buffer over write(2); see out.h. */
#include "out.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command.h"
#include "progress.h"

void out_init(struct out *out, int fd)
{
    *out = (struct out){.data = cli_alloc(OUT_BYTES), .fd = fd};
}

void out_clear(struct out *out)
{
    free(out->data);
    *out = (struct out){.fd = -1};
}

/* A pipe that someone else made non-blocking is waited for, not taken for an error. */
static bool wait_writable(int fd)
{
    struct pollfd pfd = {.fd = fd, .events = POLLOUT};
    return poll(&pfd, 1, -1) >= 0 || errno == EINTR;
}

static bool write_all(struct out *out, const char *data, size_t bytes)
{
    while (bytes > 0 && !out->failed) {
        ssize_t n = write(out->fd, data, bytes);
        if (n >= 0) {
            data += n;
            bytes -= (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            out->failed = !wait_writable(out->fd);
        } else if (errno != EINTR) {
            cli_tell("cannot write to standard output: %s", strerror(errno));
            out->failed = true;
        }
    }
    return !out->failed;
}

bool out_flush(struct out *out)
{
    if (out->used > 0) {
        progress_erase(); /* both may be the same terminal */
        write_all(out, out->data, out->used);
        out->used = 0;
    }
    return !out->failed;
}

bool out_finish(struct out *out)
{
    out_flush(out);
    if (close(out->fd) < 0 && errno != EBADF && !out->failed) {
        cli_tell("cannot write to standard output: %s", strerror(errno));
        out->failed = true;
    }
    return !out->failed;
}

void out_large(struct out *out, const void *data, size_t bytes)
{
    out_flush(out);
    if (bytes > OUT_BYTES)
        write_all(out, data, bytes);
    else
        out_bytes(out, data, bytes);
}

void out_text(struct out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

void out_hex(struct out *out, const void *data, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *byte = data;
    for (size_t i = 0; i < bytes; i++) {
        char pair[2] = {digits[byte[i] >> 4], digits[byte[i] & 15]};
        out_bytes(out, pair, sizeof pair);
    }
}

void out_format(struct out *out, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int bytes = vasprintf(&text, format, args);
    va_end(args);
    if (bytes < 0) cli_no_memory();
    out_bytes(out, text, (size_t)bytes);
    free(text);
}
