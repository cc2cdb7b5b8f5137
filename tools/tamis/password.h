/* SPDX-License-Identifier: BSD-2-Clause */
/* password.h: a password, from a file or from the terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PASSWORD_MAX 1023 /* bytes, without the NUL; minisign takes no more */

/* Gets the first line of `file`, or, if it is NULL, asks on the terminal for the password of what
 * `of` names.  false after a message.  The caller clears it with explicit_bzero(). */
bool password_get(const char *file, const char *of, char password[PASSWORD_MAX + 1], size_t *bytes);
