/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard.h: a page of a mapped file that the system cannot give is an error, not the end
 * of the process.
 *
 * This happens when somebody truncates a file that we have mapped, when the disk is full as a page
 * of a copy-on-write file is to be written, or when the disk does not read.  The kernel then sends
 * SIGBUS to the thread that touched the page.  Every mapping of the library stands in a table.  The
 * handler looks the address up there.  If the address is in a mapping of ours, the handler marks
 * the mapping as broken, puts zeros in the place of the page and of all pages behind it (the
 * constant part of a header stays as it was), and the thread goes on.  What the thread reads from
 * there is wrong, so:
 *
 *     every call asks here before it answers, and fails if one of its mappings is broken
 *
 * and so do all later calls, until the file is opened anew.  This is safe between threads too: a
 * thread that read zeros finds the mapping broken afterwards.
 */
#pragma once

#include "base/base.h"
#include "base/hidden.h"

struct tamis__guard;

/* Bytes of a header that stay as they were when its page is gone: all that are constant. */
#define TAMIS__GUARD_KEPT_BYTES 512u

/* Faults in mappings of ours since the process began; 0 nearly always. */
extern uint64_t tamis__guard_faults TAMIS__HIDDEN;

/* Watches a mapping.  Returns NULL if memory is short.  The first call installs
 * the handler, in front of the one that is there. */
struct tamis__guard *tamis__guard_add(void *map, uint64_t bytes, bool writable);
/* Returns the entry of a mapping by its start; NULL if it has none. */
struct tamis__guard *tamis__guard_of(const void *map);
/* Notes the first bytes of the mapping as they were when it was found sound.  They stay the
 * caller's, who keeps them until tamis__guard_remove(). */
void tamis__guard_keep(struct tamis__guard *guard, const void *kept);
void tamis__guard_remove(struct tamis__guard *guard);

/* Is the mapping broken?  Ask after the read; NULL is never broken. */
bool tamis__guard_is_broken(const struct tamis__guard *guard);

/*
 * While the thread is inside a library that maps files by itself (LMDB), all faults of this thread
 * are taken for faults of that library's mapping, and set *broken.  NULL ends this.
 */
void tamis__guard_all(bool *broken);

/* Whatever was read before this call was read before the question whether a mapping is broken. */
static inline void tamis__guard_fence(void)
{
#if defined(__x86_64__) || defined(__SANITIZE_THREAD__)
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}
