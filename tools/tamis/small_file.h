/* SPDX-License-Identifier: BSD-2-Clause */
/* small_file.h: a short file, whole: a key, a signature, a password. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct stat;

/* Reads a file, or what else can be opened for reading, of at most `most` bytes into text[most + 1]
 * and sets a NUL behind it.  `mend` says what to do if it cannot be read; st, if it is not NULL,
 * gets what it is.  false after a message; if the file is longer, this says that it is no `what`.
 */
bool small_file_read(const char *path, const char *what, const char *mend, char *text, size_t most,
                     size_t *bytes, struct stat *st);
