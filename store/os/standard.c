/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * standard.c: no file of a store ever has descriptor 0, 1 or 2.
 *
 * A daemon may have closed these three, and still write to 1 and 2: a line of a log, a message of
 * an assertion.  The kernel gives the lowest free number to whatever is opened next.  A file of a
 * store that got it for a moment, before it is moved to a higher one, gets such a line from another
 * thread in that moment: one line in catalog.mdb destroys it.
 *
 * So those that are closed are taken first, by placeholders that can neither be read nor written
 * (O_PATH): reads and writes fail with EBADF, as before, and a program that is started by this one
 * finds them closed, as before (O_CLOEXEC).  They stay.  To close them again would not be safe: by
 * then another thread may have put a file of its own at the number (dup2).
 *
 * What is left is a program that closes one of the three itself while another of its threads is in
 * here.  A file that lands there is moved at once.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/io.h"

static bool is_taken(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* Opens one placeholder at the lowest free number.  Any file does.  Returns the number, or -1. */
static int open_placeholder(void)
{
    const int fd = open("/dev/null", O_PATH | O_CLOEXEC);
    return fd >= 0 ? fd : open("/", O_PATH | O_CLOEXEC);
}

int tamis__fill_standard(void)
{
    int fd = -1;
    if (is_taken(STDIN_FILENO) && is_taken(STDOUT_FILENO) && is_taken(STDERR_FILENO)) return 0;
    do {
        fd = open_placeholder();
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0) return errno;
    (void)close(fd); /* all of the three are taken, by us or by others */
    return 0;
}

/* Do both descriptors lead to one file? */
static bool is_same(int a, int b)
{
    struct stat of_a, of_b;
    return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

int tamis__leave_standard(int *fd)
{
    const int low = *fd;
    if (low > STDERR_FILENO) return 0;
    *fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    /* Another thread may have put a file of its own there meanwhile, which is not ours to close. */
    if (*fd < 0 || is_same(low, *fd)) (void)close(low);
    return *fd < 0 ? error : 0;
}

bool tamis__is_at_standard(int fd)
{
    for (int low = STDIN_FILENO; low <= STDERR_FILENO; low++) {
        const int flags = fcntl(low, F_GETFL);
        if (low == fd) return true;
        /* LMDB opens a file a second time, to write synchronously, and does not tell that number.
         */
        if (flags >= 0 && (flags & O_DSYNC) != 0 && is_same(low, fd)) return true;
    }
    return false;
}
