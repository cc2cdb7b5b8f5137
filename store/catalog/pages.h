/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.h: is a catalog file safe to hand to LMDB?
 *
 * LMDB follows page numbers and offsets as it finds them: a flipped bit in a page header is a read
 * outside the mapping, or an abort().  So what LMDB will touch is checked before:
 *
 *     to begin    the meta pages and the whole free tree
 *     to read     the pages on the path to the key, and the leaves before and behind that one: a
 *                 cursor that is set to the key and then goes one step comes no further
 *     to write    every page.  LMDB balances pages beside the path, further than can be foretold,
 *                 and writes to whatever page the free list names: one that is in use besides would
 *                 be overwritten, and only a walk over all of them tells
 *
 * Each page is where it can be, is not free and in use at once, and is in order.  What the pages
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

/* A catalog file in memory, whose meta pages and free tree are checked.  Keeps `file`. */
struct tamis__pages;
int tamis__pages_open(const void *file, size_t bytes, struct tamis__pages **pages,
                      struct tamis__page_fault *fault);
void tamis__pages_close(struct tamis__pages *pages);
uint64_t tamis__pages_transaction(const struct tamis__pages *pages); /* the last commit's number */

/* The path to where the key is or would be, and the leaves beside.  Not after check_all. */
int tamis__pages_check_key(const struct tamis__pages *pages, const void *key, size_t key_bytes,
                           struct tamis__page_fault *fault);
/* Every page; once. */
int tamis__pages_check_all(struct tamis__pages *pages, struct tamis__page_fault *fault);

/*
 * Check a whole catalog file.  Does no I/O; reads nothing outside (file, bytes).
 * This and the calls above:
 * 0, or TAMIS_EFOREIGN, TAMIS_ECORRUPT with the fault filled in, or TAMIS_ENOMEM.
 */
int tamis__pages_check(const void *file, size_t bytes, struct tamis__page_fault *fault);

#endif
