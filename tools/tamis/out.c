/* SPDX-License-Identifier: BSD-2-Clause */
/* out.c: standard output as one large buffer over writev(2); see out.h. */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include "command.h"
#include "status_line.h"

static bool reader_has_gone;

void out_note_closed(void)
{
    reader_has_gone = true;
}

void out_end_if_closed(void)
{
    if (!reader_has_gone) return;
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
}

void out_init(struct out *out, int fd)
{
    *out = (struct out){.data = cli_alloc(OUT_BYTES), .fd = fd, .line_end = '\n'};
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

/* Moves *first and the part that it names past the bytes that were written. */
static void move_on(struct iovec *parts, size_t *first, size_t bytes)
{
    while (bytes > 0 && bytes >= parts[*first].iov_len)
        bytes -= parts[(*first)++].iov_len;
    if (bytes == 0) return;
    parts[*first].iov_base = (char *)parts[*first].iov_base + bytes;
    parts[*first].iov_len -= bytes;
}

static size_t count_lines(const char *data, size_t bytes, char line_end)
{
    size_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += data[i] == line_end;
    return lines;
}

/* The lines that the reader of a pipe has left there.  Nobody else can read them any more, as a
 * pipe has no name; so we do. */
static size_t count_left_lines(const struct out *out)
{
    char path[64], name[64], data[4096];
    size_t lines = 0;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", out->fd);
    const ssize_t name_bytes = readlink(path, name, sizeof name);
    if (name_bytes < 5 || memcmp(name, "pipe:", 5) != 0) return 0;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return 0;
    for (ssize_t got; (got = read(fd, data, sizeof data)) > 0;)
        lines += count_lines(data, (size_t)got, out->line_end);
    (void)close(fd);
    return lines;
}

static void fail_to_write(struct out *out)
{
    const int error = errno;
    if (error == EPIPE) out->lost = count_left_lines(out);
    cli_tell("cannot write to standard output: %s", strerror(error));
    out->failed = true;
}

static void write_parts(struct out *out, struct iovec *parts, size_t count)
{
    size_t first = 0;
    while (first < count && !out->failed) {
        const ssize_t n = writev(out->fd, parts + first, (int)(count - first));
        if (n >= 0) {
            move_on(parts, &first, (size_t)n);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            out->failed = !wait_writable(out->fd);
        } else if (errno == EPIPE && !out->tells_closed) {
            out_note_closed();
            out->failed = true;
        } else if (errno != EINTR) {
            fail_to_write(out);
        }
    }
    for (; first < count; first++)
        out->lost += count_lines(parts[first].iov_base, parts[first].iov_len, out->line_end);
}

static void add_part(struct iovec *parts, size_t *count, const char *data, size_t bytes)
{
    if (bytes > 0) /* writev() takes from it only */
        parts[(*count)++] = (struct iovec){.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
}

bool out_flush(struct out *out)
{
    struct iovec parts[2 * OUT_LOANS + 1];
    size_t count = 0, taken = 0;
    for (size_t i = 0; i < out->loan_count; i++) {
        const struct out_loan *loan = &out->loans[i];
        add_part(parts, &count, out->data + taken, loan->before - taken);
        add_part(parts, &count, loan->data, loan->bytes);
        taken = loan->before;
    }
    add_part(parts, &count, out->data + taken, out->used - taken);
    out->used = out->loan_count = 0;
    if (count > 0) {
        status_line_erase(); /* both may be the same terminal */
        write_parts(out, parts, count);
    }
    return !out->failed;
}

bool out_finish(struct out *out)
{
    (void)out_flush(out);
    if (close(out->fd) < 0 && errno != EBADF && !out->failed) {
        cli_tell("cannot write to standard output: %s", strerror(errno));
        out->failed = true;
    }
    return !out->failed;
}

void out_large(struct out *out, const void *data, size_t bytes)
{
    (void)out_flush(out);
    if (bytes <= OUT_BYTES) {
        out_bytes(out, data, bytes);
    } else {
        out->loans[out->loan_count++] = (struct out_loan){.data = data, .bytes = bytes};
        (void)out_flush(out);
    }
}

/* From this length on, lending costs less than copying. */
#define LOAN_BYTES ((size_t)1024)

void out_lend(struct out *out, const char *data, size_t bytes)
{
    if (out->loan_count > 0) {
        struct out_loan *last = &out->loans[out->loan_count - 1];
        if (last->before == out->used && last->data + last->bytes == data) {
            last->bytes += bytes;
            return;
        }
    }
    if (bytes < LOAN_BYTES) {
        out_bytes(out, data, bytes);
        return;
    }
    if (out->loan_count == OUT_LOANS) (void)out_flush(out);
    out->loans[out->loan_count++] =
        (struct out_loan){.before = out->used, .data = data, .bytes = bytes};
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

void out_printable(struct out *out, const char *text)
{
    char *printable = text_printable(text);
    out_text(out, printable);
    free(printable);
}

void out_filter(struct out *out, const char *name)
{
    if (*name) {
        out_text(out, " (filter '");
        out_printable(out, name);
        out_text(out, "')");
    }
    out_char(out, '\n');
}

void out_format(struct out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = cli_vformat(format, args);
    va_end(args);
    out_text(out, text);
    free(text);
}
