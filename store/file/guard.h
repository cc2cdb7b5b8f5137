/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard.h: a page of a mapped file that the system cannot give is an error, not the end of the
 * process.
 *
 * Somebody truncates a file that we have mapped; a disk is full when a page of a copy-on-write file
 * is to be written; a disk does not read.  The kernel then sends SIGBUS to the thread that touched
 * the page. Every mapping of the library stands in a table.  The handler looks the address up
 * there; where it is ours it says so in the table, puts zeros (the constant part of a header: as it
 * was) in the place of the page and of all behind it, and the thread goes on.  What it reads from
 * there is wrong, so:
 *
 *     every call asks here before it answers, and where a mapping of its is broken it fails
 *
 * and so do all later calls, until the file is opened anew.  The order is safe between threads too:
 * who reads zeros finds the mapping broken afterwards.
 */
#ifndef TAMIS_FILE_GUARD_H
#define TAMIS_FILE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tamis__guard;

/* Bytes of a header that stay as they were where its page is gone: all that is constant. */
#define TAMIS__GUARD_KEPT_BYTES 512u

/* Faults of mappings of ours since the process began; 0 nearly always. */
extern uint64_t tamis__guard_faults __attribute__((visibility("hidden")));

/* Watch a mapping; NULL where memory is short.  Installs the handler, where nobody has one. */
struct tamis__guard *tamis__guard_add(void *map, uint64_t bytes, bool writable);
/* The entry of a mapping by its start; NULL: it has none. */
struct tamis__guard *tamis__guard_of(const void *map);
/* The first bytes of the mapping, as they were when it was found sound; the caller's until the
 * removal. */
void tamis__guard_keep(struct tamis__guard *guard, const void *kept);
void tamis__guard_remove(struct tamis__guard *guard);

/* Ask after what was read; NULL is never broken. */
bool tamis__guard_is_broken(const struct tamis__guard *guard);

/*
 * While a library that maps by itself (LMDB) is being entered, all faults of this thread are taken
 * for one of its mapping; they set *broken.  NULL: no longer.
 */
void tamis__guard_all(bool *broken);

/* What was read before was read before the question. */
static inline void tamis__guard_fence(void)
{
#if defined(__x86_64__) || defined(__SANITIZE_THREAD__)
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

#endif
