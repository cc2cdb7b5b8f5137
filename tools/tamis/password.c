/* SPDX-License-Identifier: BSD-2-Clause */
/* password.c: a password, from a file or from the terminal; see password.h. */
#include "password.h"

#include <errno.h>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include "command.h"
#include "small_file.h"

static bool too_long(void)
{
    (void)cli_fail("a password of minisign has at most %d bytes", PASSWORD_MAX);
    return false;
}

static bool from_file(const char *file, char password[PASSWORD_MAX + 1], size_t *bytes)
{
    char text[2 * PASSWORD_MAX];
    const bool read = small_file_read(file, "password",
                                      "--password-file takes a file whose first "
                                      "line is the password",
                                      text, sizeof text - 1, bytes, NULL);
    bool fits = false;
    if (read) {
        *bytes = strcspn(text, "\r\n");
        fits = *bytes <= PASSWORD_MAX || too_long();
        if (fits) memcpy(password, text, *bytes + 1);
        if (fits) password[*bytes] = '\0';
    }
    explicit_bzero(text, sizeof text);
    return fits;
}

/* Reads a line from the terminal, without its end. */
static bool read_line(int tty, char password[PASSWORD_MAX + 1], size_t *bytes)
{
    for (*bytes = 0;;) {
        char c;
        interrupt_wait_readable(tty);
        if (interrupt_signal()) {
            (void)cli_interrupted("; nothing was written");
            return false;
        }
        const ssize_t got = read(tty, &c, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0 || c == '\n') break;
        if (*bytes == PASSWORD_MAX) return too_long();
        password[(*bytes)++] = c;
    }
    password[*bytes] = '\0';
    return true;
}

static bool from_terminal(const char *of, char password[PASSWORD_MAX + 1], size_t *bytes)
{
    struct termios before, silent;
    const int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (tty < 0 || tcgetattr(tty, &before) != 0) {
        if (tty >= 0) (void)close(tty);
        (void)cli_fail("%s has a password, and there is no terminal to ask for it; give "
                       "--password-file FILE, or take it off by 'minisign -C -W'",
                       of);
        return false;
    }
    silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    silent.c_lflag |= ECHONL;
    (void)tcsetattr(tty, TCSAFLUSH, &silent);
    (void)dprintf(tty, "Password of %s: ", of);
    const bool read = read_line(tty, password, bytes);
    (void)tcsetattr(tty, TCSAFLUSH, &before);
    (void)close(tty);
    return read;
}

bool password_get(const char *file, const char *of, char password[PASSWORD_MAX + 1], size_t *bytes)
{
    return file != NULL ? from_file(file, password, bytes) : from_terminal(of, password, bytes);
}
