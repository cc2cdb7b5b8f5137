/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overlay.h: stores that came with a container image.
 *
 * On overlayfs a file of a lower layer is copied into the upper layer when it is first opened for
 * writing.  A process that opened the file for reading before that keeps the lower one, with its
 * mapping.  Bits that others set from then on never reach that process, and it would answer
 * "absent" for keys whose add has returned.  So a file is copied up before it is read.  A file that
 * is in the upper layer already is only opened once more.
 */
#pragma once

#include "base/base.h"

/* Is the directory on overlayfs?  *is; 0 or an error. */
int tamis__is_overlay(int fd, const char *what, bool *is);

/*
 * Has a file of the directory copied up.  Does nothing if the file does not exist, or was made
 * in the upper layer, or if the file system is read-only, so that nobody can write to the
 * file.  Returns TAMIS_EUNSUPPORTED with the mend if this user may not write to the file,
 * though others may.
 */
int tamis__overlay_copy_up(int dir_fd, const char *name, const char *what);
