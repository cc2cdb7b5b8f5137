/* SPDX-License-Identifier: BSD-2-Clause */
/* replace.h: puts a directory in the place of another one, with files of both. */
#pragma once

#include "base/base.h"

/* Gives the file a second name, the same in another directory.  Returns false where that cannot be,
 * for whatever reason: the caller copies it then. */
bool tamis__link_between(int from_fd, int to_fd, const char *name, const char *what);

/* Swaps the names of two directories in one step.  The caller syncs the directory above them. */
int tamis__exchange(const char *path, const char *other);
