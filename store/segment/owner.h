/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owner.h: locks in shared memory that do not outlive their owner.
 *
 * A lock is a word: 0, or the nonce of its owner.  To take a free lock is a compare-and-swap,
 * without a system call.  The kernel knows who an owner is and whether it lives: each owner has
 * opened the file for itself and holds a lock on the byte at OWNER_BYTES + nonce.  That lock ends
 * when the process ends, however it dies.  It is also gone after the machine went down, and in a
 * copy of the file.
 *
 *     word 0          -> compare-and-swap to mine
 *     word mine       -> another thread of this handle has it: wait
 *     word another's  -> wait, and now and then ask the kernel for that byte.  If it is not locked,
 *                        the owner is dead and never comes back under that nonce (it is random):
 *                        swap the word for mine
 *
 * A child of fork() is another owner than its parent: private_fd.c closes its copy of the
 * descriptor, and the next lock in the child finds that and announces a new one.
 */
#pragma once

#include "os/private_fd.h"

struct tamis__owner {
    struct tamis__private_fd file; /* the locked file, opened for this owner alone */
    uint64_t nonce;
    bool has_let_go;               /* atomic: it has given its lock back, and is nobody's owner */
    struct tamis__owner *previous; /* one before it, freed with this one */
};

/* Chooses a nonce for an owner whose file is open, and locks its byte.  `words` are the locks. */
int tamis__owner_announce(struct tamis__owner *owner, const uint64_t *words, const char *what);

/* The owner that a handle has in this process; NULL if it has none yet. */
struct tamis__owner *tamis__owner_current(struct tamis__owner **handle);
/* Makes `fresh` the owner of the handle, unless another thread was faster: then that thread's owner
 * is returned and `fresh` is freed. */
struct tamis__owner *tamis__owner_enter(struct tamis__owner **handle, struct tamis__owner *fresh);
/* Frees an owner with all previous ones; NULL is allowed. */
void tamis__owner_free(struct tamis__owner *owner);

/* Takes the lock; waits for an owner that lives. */
int tamis__owner_lock(struct tamis__owner *owner, uint64_t *word);
void tamis__owner_unlock(uint64_t *word);
