/* SPDX-License-Identifier: BSD-2-Clause */
/* denied.h: which right is missing where, after the system has denied something. */
#pragma once

#include "os/io.h"

#define TAMIS__DENIED_BYTES 1400
#define TAMIS__MAKES 0 /* rights: a name is made in the directory, or removed from it */

/*
 * As tamis__fail_errno().  If it is EACCES, the sentence says which file or directory lacks which
 * right for this user, and what gives it.
 *
 * name    in the directory dir_fd; with AT_FDCWD it may be a path.
 * rights  that were needed of it: R_OK and W_OK, or TAMIS__MAKES.
 */
int tamis__fail_denied(int error_number, int dir_fd, const char *name, int rights, const char *verb,
                       const char *what);

/* Says what gives this user the right (R_OK, W_OK or X_OK) that it lacks of a file: 'chmod g+BITS
 * PATH', for one.  Returns `mend`. */
char *tamis__denied_mend(char mend[TAMIS__DENIED_BYTES], const struct tamis__file_info *file,
                         int lacks, const char *bits, const char *path);
