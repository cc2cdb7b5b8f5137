/* SPDX-License-Identifier: BSD-2-Clause */
/* in_place.h: files whose pages are rewritten where they are. */
#ifndef TAMIS_FILE_IN_PLACE_H
#define TAMIS_FILE_IN_PLACE_H

/*
 * Of a new file without data: where the file system copies a page that is written to a new place
 * (btrfs), let it not do so here.  Else room that was allocated would be needed again at every
 * rewrite, and a full disk found by a store into a mapping.  A hint: elsewhere it does nothing.
 */
void tamis__write_in_place(int fd);

#endif
