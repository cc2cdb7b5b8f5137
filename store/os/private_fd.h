/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * private_fd.h: descriptors that a child of fork() must not keep.
 *
 * flock belongs to the open file description, which fork() shares.  A child that is born while
 * another thread of its parent holds a lock inherits a descriptor of it, and would keep it locked
 * if the parent died before unlocking.  So the locked descriptors of this process are kept in a
 * list, and the child closes them before it does anything else (pthread_atfork).
 */
#pragma once

#include "base/base.h"

struct tamis__private_fd {
    int fd;
    bool is_open; /* and in the list; only its owner reads and writes this */
    /* Other threads write these when they enter and leave the list, under its mutex. */
    struct tamis__private_fd *next, **link;
};

/* Like tamis__open, entering the list in one step that no fork() can split. */
int tamis__private_open(int dir_fd, const char *name, int flags, unsigned mode, const char *what,
                        struct tamis__private_fd *file);

/* Unlocks (a child may hold a copy), closes, and leaves the list.  Harmless for a file that
 * is not open. */
void tamis__private_close(struct tamis__private_fd *file);
