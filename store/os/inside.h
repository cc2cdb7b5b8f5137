/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inside.h: the files in a store: with which mode, group and owner they are made, and which
 * files are refused.
 *
 * The mode, the group and the owner of catalog.mdb are those of the store.  Every file that is made
 * later gets them, whatever the umask of its maker.  A directory gets x where the mode has r, and
 * hands its group on (setgid) if the store's own directory does so or if the mode lets the group
 * write.  The process that made a file changes it so at once.  Only root can give a file to another
 * owner.  Where the group or all may write, nobody needs to own what another user has made.
 * Elsewhere it is an error to make a file that its owner could not write to.
 *
 * Three things are refused, for reading and for writing: what is not a regular file; a file with a
 * second name (a write here would change it there); and, in a directory that is sticky and open to
 * all (/tmp), a file of anybody but the user and the owner of that directory, because anybody may
 * put a file there.
 */
#pragma once

#include "os/private_fd.h"

/* Checks the file that is open in the directory `dir_fd`.  Returns 0,
 * TAMIS_EFOREIGN or TAMIS_EACCESS. */
int tamis__inside_check(int dir_fd, int fd, const char *what);
/* Makes only the last of these checks, that of the owner.  Directories need no other. */
int tamis__inside_check_owner(int dir_fd, int fd, const char *what);
/* tamis__open() and the check, for files that exist. */
int tamis__inside_open(int dir_fd, const char *name, int flags, const char *what, int *fd);
/* As tamis__inside_open(), for a file that backups may share: to read it, it may have two names. */
int tamis__inside_open_shared(int dir_fd, const char *name, int flags, const char *what, int *fd);
int tamis__inside_open_private(int dir_fd, const char *name, int flags, const char *what,
                               struct tamis__private_fd *file);

/* Says that catalog.lock, or the directory that it is to be made in, is not for this user:
 * TAMIS_EACCESS with a sentence that says who may do what.  If there is such a sentence
 * already, it stays. */
int tamis__inside_fail_denied(int root_fd, bool read_only, const char *what);

/* Gets the mode of the store.  Returns 1, 0 if the store has none yet, or an error. */
int tamis__inside_mode(int root_fd, const char *what, unsigned *mode);
/* Sets the mode of a file that this process has just made. */
int tamis__inside_set_mode(int fd, unsigned mode, const char *what);
/* Makes a new file, to read and write, with the mode, the group and the owner of the store.  If the
 * store has none yet, the file stays as it is, or goes to the owner of the store's directory if
 * root makes it.  Returns TAMIS_EEXIST if it is there, and TAMIS_EACCESS if the group may do more
 * than all users and cannot be given to the file, or if only the owner may write and the file
 * cannot be given to that owner.  After an error there is no file. */
int tamis__inside_make(int root_fd, int dir_fd, const char *name, const char *what, int *fd);
/* The same for a file of a copy of the store, in another directory.  It gets the mode and the group
 * of the store and, if root makes it, the owner of that directory. */
int tamis__inside_make_copy(int root_fd, int dir_fd, const char *name, const char *what, int *fd);
/* Gives a directory that root has made for a copy of the store to the store's owner and group. */
int tamis__inside_give(int root_fd, int fd, const char *what);
int tamis__inside_make_private(int root_fd, int dir_fd, const char *name, const char *what,
                               struct tamis__private_fd *file);

/* Makes an empty file that appears with that mode (0: that of the store, else 0666 less umask).
 * Returns 0 too if the file was there, or another process was faster. */
int tamis__inside_make_once(int root_fd, const char *name, unsigned mode, const char *what);
/* The same for a directory, inside the store's own directory. */
int tamis__inside_make_directory(int root_fd, const char *name, unsigned mode, const char *what);
/* Sets the mode of the store's own directory, which was just made. */
int tamis__inside_set_root(int root_fd, unsigned mode, const char *what);
