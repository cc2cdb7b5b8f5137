/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.h: is a catalog file safe to hand to LMDB?
 *
 * LMDB follows page numbers and offsets as it finds them: a flipped bit in a page header is a read
 * outside the mapping, or an abort().  So the whole page structure is checked first: every page of
 * the tree and of the free list is where it can be, is there once, and is in order.  What the pages
 * hold is guarded by the checksums of the records.
 */
#ifndef TAMIS_CATALOG_PAGES_H
#define TAMIS_CATALOG_PAGES_H

#include <stddef.h>
#include <stdint.h>

struct tamis__page_fault {
    uint64_t offset; /* byte in the file */
    const char *reason;
};

/*
 * Check a whole catalog file.  Does no I/O; reads nothing outside (file, bytes).
 * 0, or TAMIS_EFOREIGN, TAMIS_ECORRUPT with the fault filled in, or TAMIS_ENOMEM.
 */
int tamis__pages_check(const void *file, size_t bytes, struct tamis__page_fault *fault);

#endif
