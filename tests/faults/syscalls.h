/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscalls.h: let the nth system call of the process fail, be interrupted, or do half of what it
 * was asked.
 *
 * Ways in: the hook of store/os/io.h, before the call; and functions of libc's names in the
 * program, which come before libc's, for the library's calls and for LMDB's.  Nothing is synced: no
 * test here cuts the power.
 */
#ifndef TAMIS_FAULTS_SYSCALLS_H
#define TAMIS_FAULTS_SYSCALLS_H

#include <stdbool.h>

enum syscalls_way {
    FAIL_AT_HOOK,   /* the library's, all of them */
    FAIL_IN_KERNEL, /* the library's and LMDB's that carry data, take room, or map */
    INTERRUPTED,    /* EINTR, where the kernel may give it */
    CUT_SHORT,      /* half of the bytes of a read, a write, or a copy */
    SYSCALLS_WAYS
};

struct syscalls_fault {
    bool reached;
    bool by_lmdb;
    const char *verb;
    int error_number;
    char what[256];
};

/* The nth from now (1: the next), and no other.  `seed` has a say in which error it is. */
void syscalls_arm(enum syscalls_way way, unsigned nth, unsigned seed);
/* No more.  What became of it. */
struct syscalls_fault syscalls_disarm(void);

#endif
