/* SPDX-License-Identifier: BSD-2-Clause */
/* small_file.c: a short file, whole; see small_file.h. */
#include "small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

/* Reads until the end, or until the buffer is full.  -1: an error, in errno. */
static ssize_t read_all(int fd, char *text, size_t most)
{
    size_t bytes = 0;
    while (bytes < most) {
        interrupt_wait_readable(fd);
        if (interrupt_signal()) {
            errno = EINTR;
            return -1;
        }
        const ssize_t got = read(fd, text + bytes, most - bytes);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return got < 0 ? -1 : (ssize_t)bytes;
        bytes += (size_t)got;
    }
    return (ssize_t)bytes;
}

bool small_file_read(const char *path, const char *what, const char *mend, char *text, size_t most,
                     size_t *bytes, struct stat *st)
{
    struct stat own;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t got = -1;
    if (fd >= 0 && fstat(fd, st != NULL ? st : &own) == 0) got = read_all(fd, text, most + 1);
    const int error = errno;
    if (fd >= 0) (void)close(fd);
    if (got < 0) {
        (void)cli_fail("cannot read %s: %s; %s", path, strerror(error), mend);
        return false;
    }
    if ((size_t)got > most) {
        (void)cli_fail("%s is longer than %zu bytes, so it is no %s; %s", path, most, what, mend);
        return false;
    }
    text[got] = '\0';
    *bytes = (size_t)got;
    return true;
}
