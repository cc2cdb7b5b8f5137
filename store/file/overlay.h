/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overlay.h: stores that came with a container image.
 *
 * On overlayfs a file of a lower layer is copied into the upper one when it is first opened for
 * writing.  Who has opened it to read before keeps the lower one, mapping and all: bits that others
 * set from then on never reach it, and it would answer "absent" for keys whose add has returned.
 * So a file is copied before it is read.  One that is in the upper layer already is opened once
 * more, and that is all.
 */
#ifndef TAMIS_FILE_OVERLAY_H
#define TAMIS_FILE_OVERLAY_H

#include <stdbool.h>

/* Is the directory on overlayfs?  *is; 0 or an error. */
int tamis__is_overlay(int fd, const char *what, bool *is);

/*
 * Have a file of the directory copied up.  Where it is not there, was made in the upper layer, or
 * the file system is read-only, so that nobody can write to it: nothing.  TAMIS_EUNSUPPORTED with
 * the mend where this user may not write to it, though others may.
 */
int tamis__overlay_copy_up(int dir_fd, const char *name, const char *what);

#endif
