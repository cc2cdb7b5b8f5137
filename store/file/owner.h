/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * owner.h: locks in shared memory that do not outlive their owner.
 *
 * A lock is a word: 0, or the nonce of its owner.  To take a free one is a compare-and-swap,
 * without a system call.  Who an owner is, and whether it lives, the kernel knows: each has opened
 * the file for itself and holds a lock on the byte at OWNER_BYTES + nonce of it, which goes when
 * the process does, by whatever death; and when the machine goes down or the file is copied there
 * is none either.
 *
 *     word 0          -> compare-and-swap to mine
 *     word mine       -> another thread of this handle: wait
 *     word another's  -> wait; now and then ask the kernel for that byte.  Not locked: the owner is
 *                        dead and never comes back under that nonce (it is random): swap it for
 *                        mine
 *
 * A child of fork() is another owner than its parent: private_fd.c closes its copy of the
 * descriptor, and the next lock in the child finds that and announces a new one.
 */
#ifndef TAMIS_FILE_OWNER_H
#define TAMIS_FILE_OWNER_H

#include <stdint.h>

#include "file/private_fd.h"

struct tamis__owner {
    struct tamis__private_fd file; /* the locked file, opened for this owner alone */
    uint64_t nonce;
    struct tamis__owner *previous; /* one of a parent process, freed with this one */
};

/* Choose a nonce for an owner whose file is open, and lock its byte.  `words` are the locks. */
int tamis__owner_announce(struct tamis__owner *owner, const uint64_t *words, const char *what);

/* The owner that a handle has in this process; NULL if it has none yet. */
struct tamis__owner *tamis__owner_current(struct tamis__owner **handle);
/* Make it `fresh`, unless another thread was faster: then that one is returned and `fresh` freed.
 * */
struct tamis__owner *tamis__owner_enter(struct tamis__owner **handle, struct tamis__owner *fresh);
/* With all previous ones; NULL is allowed. */
void tamis__owner_free(struct tamis__owner *owner);

/* Take the lock; waits for an owner that lives. */
int tamis__owner_lock(struct tamis__owner *owner, uint64_t *word);
void tamis__owner_unlock(uint64_t *word);

#endif
