/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside.h: what lies in a store: with what mode and group it is made, and what is refused there.
 *
 * The mode of a store is that of catalog.mdb, and so are its group and its owner.  Every file that
 * is made later gets them, whatever the umask of its maker; a directory gets x where the mode has
 * r, and hands its group on (setgid) where the store's own directory does so or the mode lets the
 * group write.  Files are changed so by who has made them, just then.  To another owner root alone
 * can give them; where the group or all may write nobody needs to own what another one has made,
 * and elsewhere it is an error to make what its owner could not write to.
 *
 * Refused are, for reading and for writing: what is not a regular file, a file with a second name
 * (who writes here would write there), and in a directory that is sticky and open to all (/tmp) the
 * files of others than oneself and the owner of that directory, who alone could not have put them
 * there.
 */
#ifndef TAMIS_FILE_INSIDE_H
#define TAMIS_FILE_INSIDE_H

#include <stdbool.h>

#include "file/private_fd.h"

/* 0, or the error of what lies at an open file of the directory `dir_fd`: TAMIS_EFOREIGN,
 * TAMIS_EACCESS. */
int tamis__inside_check(int dir_fd, int fd, const char *what);
/* The last of these alone; for directories. */
int tamis__inside_check_owner(int dir_fd, int fd, const char *what);
/* tamis__open() and the check; for files that are there. */
int tamis__inside_open(int dir_fd, const char *name, int flags, const char *what, int *fd);
int tamis__inside_open_private(int dir_fd, const char *name, int flags, const char *what,
                               struct tamis__private_fd *file);

/* catalog.lock, or the directory that it is to be made in, is not for this user: TAMIS_EACCESS with
 * a sentence that says who may do what; where it is, the one that is there stays. */
int tamis__inside_fail_denied(int root_fd, bool read_only, const char *what);

/* The mode of the store, if it has one yet: 1, 0 or an error. */
int tamis__inside_mode(int root_fd, const char *what, unsigned *mode);
/* Give a file that this process has just made the mode, the group and the owner of the store.  One
 * that has none yet leaves it as it is, or where root makes it, to the owner of the store's
 * directory.  TAMIS_EACCESS where the group may do more than all and cannot be given to the file,
 * or where the owner alone may write and cannot be. */
int tamis__inside_adopt(int root_fd, int fd, const char *what);
/* The mode alone. */
int tamis__inside_set_mode(int fd, unsigned mode, const char *what);
/* A new file, to read and write, adopted; TAMIS_EEXIST.  On an error it is not there. */
int tamis__inside_make(int root_fd, int dir_fd, const char *name, const char *what, int *fd);
/* The same into a copy of the store, in another directory: of the mode and the group of the store,
 * and, where root makes it, of the owner of that directory. */
int tamis__inside_make_copy(int root_fd, int dir_fd, const char *name, const char *what, int *fd);
/* A directory that root has made for a copy of the store goes to the store's owner and group. */
int tamis__inside_give(int root_fd, int fd, const char *what);
int tamis__inside_make_private(int root_fd, int dir_fd, const char *name, const char *what,
                               struct tamis__private_fd *file);

/* An empty file that appears with that mode (0: that of the store, else 0666 less umask).  0 too
 * where it was there, or another process was faster. */
int tamis__inside_make_once(int root_fd, const char *name, unsigned mode, const char *what);
/* The same for a directory, in the store's own. */
int tamis__inside_make_directory(int root_fd, const char *name, unsigned mode, const char *what);
/* The store's own directory, that was just made. */
int tamis__inside_set_root(int root_fd, unsigned mode, const char *what);

#endif
