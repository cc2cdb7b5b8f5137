/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * broken.h: is the mapping of a segment still good?  A mapping is broken when the system could not
 * give one of its pages (os/guard.h), or when somebody truncated or overwrote the file.
 */
#pragma once

#include "segment/segment.h"

/*
 * Ask after the last look at the mapping, before anything is answered.  Returns 0;
 * TAMIS_ECORRUPT or TAMIS_EIO if a page of the mapping could not be had (guard.h), or if its
 * header is no longer one.
 */
int tamis__segment_check(const struct tamis__segment *segment);

/* Set in `tail` if the word was not 0 when it was chosen.  Such a word of bits never becomes 0. */
#define TAMIS__TAIL_SET ((uintptr_t)1)
/* Chooses the tail, and again when more keys are in: the last word of the data that is not 0, on
 * the last page of the data.  In a file of one page it is always that behind the data. */
void tamis__segment_choose_tail(struct tamis__segment *segment);

/* Called when a file has not its first word, or its tail, any more.  If it has one page, and was
 * cut within that page, no look ever faults: this does what the handler of the fault does, so that
 * the constants of the header come back before anybody uses them (os/guard.h).  Returns false. */
bool tamis__segment_is_cut(const struct tamis__segment *segment);

/*
 * Does the file still begin and end as it did?  If a file is cut within a page, the rest of that
 * page reads as 0 without a fault.  But then the last page is gone, and the look at it faults.  A
 * file that was truncated and made longer again has lost its magic, or the word.
 */
static inline bool tamis__segment_is_whole(const struct tamis__segment *segment)
{
    /* ORDER relaxed: behind tamis__guard_fence(). */
    const uintptr_t tail = __atomic_load_n(&segment->tail, __ATOMIC_RELAXED);
    const uint64_t *word =
        (const uint64_t *)(tail & ~TAMIS__TAIL_SET); // NOLINT(performance-no-int-to-ptr)
    const uint64_t magic = __atomic_load_n(segment->magic, __ATOMIC_RELAXED);
    const uint64_t last = __atomic_load_n(word, __ATOMIC_RELAXED);
    const bool whole =
        (magic == TAMIS__MAGIC_WORD) & (last >= (tail & TAMIS__TAIL_SET)); /* 1 at least if set */
    return __builtin_expect(whole, 1) || tamis__segment_is_cut(segment);
}
