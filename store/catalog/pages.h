/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.h: is a catalog file safe to hand to LMDB?
 *
 * LMDB follows page numbers and offsets as it finds them: a flipped bit in a page header leads to a
 * read outside the mapping, or to abort().  So what LMDB will touch is checked before:
 *
 *     to begin    the meta pages and the whole free tree
 *     to get      the pages on the path to the key
 *     to step     also the leaves before and behind: a cursor that is set to the key and then goes
 *                 one step comes no further
 *     to write    every page, unless a writer before has left a note that all are sound (file.c);
 *                 then the same as for a step.  LMDB balances pages beside the path, further than
 *                 anybody can foretell, and writes to whatever page the free list names.  If that
 *                 page is also in use, it would be overwritten, and only a walk over all pages
 *                 shows that
 *
 * The checks are: each page is where it can be, is not free and in use at once, and is in order.
 * The checksums of the records guard what the pages hold.
 */
#pragma once

#include "base/base.h"

struct tamis__page_fault {
    uint64_t offset; /* byte in the file */
    const char *reason;
};

/* A catalog file in memory, whose meta pages and free tree are checked.  It refers to `file`. */
struct tamis__pages;
int tamis__pages_open(const void *file, size_t bytes, struct tamis__pages **pages,
                      struct tamis__page_fault *fault);
void tamis__pages_close(struct tamis__pages *pages);
/* Do the meta pages still say what they said then? */
bool tamis__pages_are_current(const struct tamis__pages *pages);
/* The file is in memory at another place now. */
void tamis__pages_move(struct tamis__pages *pages, const void *file);
uint64_t tamis__pages_transaction(const struct tamis__pages *pages); /* the last commit's number */

/* Checks the path to where the key is or would be, and, if wanted, the leaves `beside` that one.
 * Not after check_all. */
int tamis__pages_check_key(const struct tamis__pages *pages, const void *key, size_t key_bytes,
                           bool beside, struct tamis__page_fault *fault);
/* Checks every page; call it once. */
int tamis__pages_check_all(struct tamis__pages *pages, struct tamis__page_fault *fault);

/* Where the main tree begins, as the later of both meta pages says.  For a caller that reads the
 * file while others may write to it (peek.c): `bytes` need hold the meta pages only. */
struct tamis__pages_root {
    uint32_t page_bytes;
    uint64_t root, last_page;
};
int tamis__pages_find_root(const void *file, size_t bytes, struct tamis__pages_root *root);

/*
 * Checks a whole catalog file.  Does no I/O and reads nothing outside (file, bytes).  This call and
 * those above return 0, TAMIS_EFOREIGN or TAMIS_ECORRUPT with the fault filled in, or TAMIS_ENOMEM.
 */
int tamis__pages_check(const void *file, size_t bytes, struct tamis__page_fault *fault);
