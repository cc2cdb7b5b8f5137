/* SPDX-License-Identifier: BSD-2-Clause */
/* scratch.h: a directory for the files of one test program. */
#ifndef TAMIS_SUPPORT_SCRATCH_H
#define TAMIS_SUPPORT_SCRATCH_H

/*
 * The directory, made at the first call under $TMPDIR or /tmp and removed, with all that is in it,
 * when the process that made it exits.  Children born after the first call share it and leave it
 * alone.
 */
const char *scratch_directory(void);

/* Before the first call of it: on tmpfs where there is one, unless $TMPDIR says where.  For tests
 * that make files by the thousand and cut no power. */
void scratch_in_memory(void);

/* Before the first call of it: on a disk.  Where $TMPDIR or /tmp is a tmpfs, as it is on Debian 13,
 * the directory is beside the program; if the program is on a tmpfs too, it ends as skipped. */
void scratch_on_disk(void);

/* "<scratch directory>/<name>-<number>", another number each time; the caller frees it.  Makes
 * nothing. */
char *scratch_path(const char *name);

/* Remove a file or a directory with all that is in it; no error if there is none. */
void scratch_remove(const char *path);

/* Copy the tree at `from`, files and directories, to `to`, which must not be there. */
void scratch_copy(const char *from, const char *to);

#endif
