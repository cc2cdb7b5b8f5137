/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * huge.h: what the kernel says of the pages of a mapping, and how it has them leave memory and come
 * again.  A range is a part of a mapping that may have one page of 2 MiB: it begins at a multiple
 * of that.  Nothing here fails: where the kernel does not tell, or does not do it, all stays as it
 * is.
 */
#pragma once

#include "segment/segment.h"

#define TAMIS__HUGE_BYTES ((uint64_t)2 << 20)

/* Is the file in memory alone? */
bool tamis__is_tmpfs(const struct tamis__segment *segment);

/* Counts the bytes of one range that are in memory, and touches the first page if it is: a large
 * one is then mapped by one entry. */
uint64_t tamis__range_touch(char *at, uint64_t bytes);

/* Is the page at that address mapped by an entry of 2 MiB?  It is not, as far as is known, where
 * the kernel does not tell (before Linux 6.7).  `pagemap` is open on /proc/self/pagemap, or -1. */
bool tamis__page_is_huge(int pagemap, const char *at);

/* One range leaves this process's table, and the memory, as far as it is clean and nobody else has
 * it mapped. */
void tamis__range_leave(int fd, const struct tamis__segment *segment, uint64_t offset,
                        uint64_t bytes);
/* It comes again, as the mapping is advised. */
void tamis__range_come(const struct tamis__segment *segment, uint64_t offset, uint64_t bytes,
                       bool huge);

/* Has what is not in memory of a part of a file come in pages of 2 MiB. */
void tamis__file_huge(int fd, uint64_t offset, uint64_t bytes);

/* Of a file on a tmpfs: its pages are put together in place.  Returns 0 or the kernel's error. */
int tamis__range_collapse(char *at);

/* Adds the bytes between two addresses that are mapped by entries of 2 MiB.  An error says that the
 * system's table is not to be read. */
int tamis__huge_between(uintptr_t begin, uintptr_t end, uint64_t *huge);
