/* SPDX-License-Identifier: BSD-2-Clause */
/* network.h: file systems that several machines may have mounted. */
#ifndef TAMIS_FILE_NETWORK_H
#define TAMIS_FILE_NETWORK_H

#include <stdint.h>

/*
 * Is the file on one?  Shared mappings and flock(2) do not hold between machines there (and on some
 * not even on one), so bits would be lost and catalogs torn.  0, or TAMIS_EUNSUPPORTED with the
 * reason.  What FUSE has behind it cannot be told, so it counts as one.
 */
int tamis__refuse_network(int fd, const char *what);

#ifdef TAMIS_TEST_POINTS
/* Another type of file system than the one that is there; 0: that. */
extern uint32_t tamis__network_type;
#endif

#endif
