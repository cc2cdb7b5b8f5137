/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c: reads the small text files by which the kernel tells its state (/proc). */
#include <fcntl.h>
#include <unistd.h>

#include "os/io.h"

/* Reads what there is, at most `bytes`.  Returns the number of bytes, 0 at the end, or an error. */
static ssize_t read_some(int fd, char *buffer, size_t bytes, const char *what)
{
    ssize_t got;
    do {
        got = read(fd, buffer, bytes);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? tamis__fail_errno(errno, "read", what) : got;
}

int tamis__read_text(const char *path, char *text, size_t bytes)
{
    size_t done = 0;
    ssize_t got = 1;
    int fd = -1;
    const int rc = tamis__open(AT_FDCWD, path, O_RDONLY, 0, path, &fd);
    if (rc < 0) return rc;
    for (; got > 0 && done<bytes - 1; done += got> 0 ? (size_t)got : 0)
        got = read_some(fd, text + done, bytes - 1 - done, path);
    tamis__close(fd);
    text[done] = '\0';
    return got < 0 ? (int)got : 0;
}

/* A line that is read in pieces. */
struct line {
    char text[4096];
    size_t bytes; /* sizeof text: it is too long */
};

/* Takes some text, and calls fn for each line that ends in it. */
static int take_lines(struct line *line, const char *text, size_t bytes, tamis__line_fn *fn,
                      void *context)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < bytes; i++) {
        if (text[i] != '\n') {
            if (line->bytes < sizeof line->text) line->text[line->bytes++] = text[i];
            continue;
        }
        if (line->bytes < sizeof line->text) {
            line->text[line->bytes] = '\0';
            rc = fn(context, line->text);
        }
        line->bytes = 0;
    }
    return rc;
}

int tamis__each_line(const char *path, tamis__line_fn *fn, void *context)
{
    char text[16384];
    struct line line = {.bytes = 0};
    ssize_t got = 1;
    int fd = -1;
    int rc = tamis__open(AT_FDCWD, path, O_RDONLY, 0, path, &fd);
    if (rc < 0) return rc;
    while (rc == 0 && got > 0) {
        got = read_some(fd, text, sizeof text, path);
        rc = got > 0 ? take_lines(&line, text, (size_t)got, fn, context) : (int)got;
    }
    tamis__close(fd);
    return rc;
}
