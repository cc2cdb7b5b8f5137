/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * out_test.c: what the command prints leaves whole and in order, or the command says that it did
 * not (tools/tamis/out.c).
 *
 * out.c is compiled with writev(), poll() and close() called writev_hook(), and so on.  Broken to
 * see it fail: move_on() forgets what a short write left over, or begins a part anew; a loan is
 * taken for the neighbour of one that lies elsewhere, or of one before which something was printed;
 * EAGAIN or EINTR is an error; the error of close() is ignored.
 */
#include "out.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "fixture.h"
#include "status_line.h"

ssize_t writev_hook(int fd, const struct iovec *parts, int count);
int poll_hook(struct pollfd *fds, nfds_t count, int limit_ms);
int close_hook(int fd);
void cli_tell(const char *format, ...);

#define MOST ((size_t)1 << 20)

static char *written;                /* what left, MOST bytes */
static size_t written_bytes, a_time; /* so many bytes a write; 0: as many as are given */
static int write_error, close_error; /* the next call fails so, once */
static unsigned told, waits;

ssize_t writev_hook(int fd, const struct iovec *parts, int count)
{
    size_t done = 0;
    (void)fd;
    if (write_error != 0) {
        errno = write_error;
        write_error = 0;
        return -1;
    }
    for (int i = 0; i < count && (a_time == 0 || done < a_time); i++) {
        size_t now = parts[i].iov_len;
        if (a_time != 0 && now > a_time - done) now = a_time - done;
        assert_true(written_bytes + now <= MOST);
        memcpy(written + written_bytes, parts[i].iov_base, now);
        written_bytes += now;
        done += now;
    }
    return (ssize_t)done;
}

int poll_hook(struct pollfd *fds, nfds_t count, int limit_ms)
{
    assert_true(count == 1 && limit_ms == -1 && fds->events == POLLOUT);
    waits++;
    return 1;
}

int close_hook(int fd)
{
    (void)fd;
    errno = close_error;
    return close_error != 0 ? -1 : 0;
}

void cli_tell(const char *format, ...)
{
    (void)format;
    told++;
}

void status_line_erase(void)
{
}

static void begin(struct out *out)
{
    out_init(out, 1);
    written = malloc(MOST);
    assert_non_null(written);
    written_bytes = a_time = 0;
    write_error = close_error = 0;
    told = waits = 0;
}

static void end(struct out *out)
{
    out_clear(out);
    free(written);
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* A piece of `text` at *at is lent, and the next one may follow it there; or a piece from elsewhere
 * is copied in between.  Returns where it is. */
static const char *print_piece(struct out *out, uint64_t *random, const char *text, size_t *at,
                               size_t bytes)
{
    if (random_below(random, 4) == 0) {
        const char *elsewhere = text + random_below(random, 1000);
        out_bytes(out, elsewhere, bytes);
        return elsewhere;
    }
    const char *from = text + *at;
    out_lend(out, from, bytes);
    *at += bytes;
    return from;
}

CASE(out_of_any_parts_leaves_whole_however_short_the_writes)
{
    static const size_t sizes[] = {0, 1, 7, 1000, 1024, 4096, 100000};
    enum { TEXT = 300000, EXPECTED = 600000 };
    uint64_t random = random_seed();
    AUTO_FREE char *text = malloc(TEXT), *expected = malloc(EXPECTED);
    assert_true(text != NULL && expected != NULL);
    random_fill(&random, text, TEXT);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct out out;
        size_t count = 0, at = 0;
        begin(&out);
        a_time = sizes[i];
        for (unsigned piece = 0; piece < 300; piece++) {
            const size_t bytes =
                (size_t)random_below(&random, random_below(&random, 8) == 0 ? 9000 : 2000);
            if (at + bytes > TEXT || random_below(&random, 5) == 0)
                at = (size_t)random_below(&random, TEXT - 9000);
            const char *from = print_piece(&out, &random, text, &at, bytes);
            assert_true(count + bytes <= EXPECTED);
            memcpy(expected + count, from, bytes);
            count += bytes;
        }
        assert_true(out_finish(&out));
        assert_int_equal(written_bytes, count);
        assert_memory_equal(written, expected, count);
        assert_int_equal(told, 0);
        end(&out);
    }
}

/* More than the buffer holds, at once and piece by piece. */
CASE(out_of_more_than_the_buffer_leaves_whole)
{
    enum { TEXT = OUT_BYTES + 5000 };
    uint64_t random = random_seed();
    struct out out;
    AUTO_FREE char *text = malloc(TEXT);
    assert_non_null(text);
    random_fill(&random, text, TEXT);
    begin(&out);
    out_bytes(&out, text, 10);
    out_bytes(&out, text, TEXT);
    out_bytes(&out, text, OUT_BYTES);
    assert_true(out_finish(&out));
    assert_int_equal(written_bytes, 10 + TEXT + OUT_BYTES);
    assert_memory_equal(written, text, 10);
    assert_memory_equal(written + 10, text, TEXT);
    assert_memory_equal(written + 10 + TEXT, text, OUT_BYTES);
    end(&out);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

CASE(out_that_must_wait_or_is_interrupted_goes_on)
{
    static const int errors[] = {EAGAIN, EINTR};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct out out;
        begin(&out);
        out_text(&out, "line\n");
        write_error = errors[i];
        assert_true(out_finish(&out));
        assert_int_equal(written_bytes, 5);
        assert_int_equal(told, 0);
        assert_int_equal(waits, errors[i] == EAGAIN);
        end(&out);
    }
}

CASE(out_that_fails_is_told_once_and_stays_failed)
{
    struct out out;
    begin(&out);
    out_text(&out, "line\n");
    write_error = ENOSPC;
    assert_false(out_flush(&out));
    assert_int_equal(told, 1);
    out_text(&out, "another\n");
    assert_false(out_flush(&out));
    assert_false(out_finish(&out));
    assert_int_equal(told, 1);
    assert_int_equal(written_bytes, 0);
    end(&out);
}

/* Some file systems tell only then that the disk is full. */
CASE(out_that_cannot_be_closed_has_failed)
{
    struct out out;
    begin(&out);
    out_text(&out, "line\n");
    close_error = EIO;
    assert_false(out_finish(&out));
    assert_int_equal(told, 1);
    end(&out);
    begin(&out);
    close_error = EBADF; /* it was closed from the start, and nothing was printed */
    assert_true(out_finish(&out));
    assert_int_equal(told, 0);
    end(&out);
}
