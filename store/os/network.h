/* SPDX-License-Identifier: BSD-2-Clause */
/* network.h: file systems that several machines may have mounted. */
#pragma once

#include "base/base.h"

/*
 * Is the file on a network file system?  Shared mappings and flock(2) do not hold between machines
 * there (and on some not even on one machine), so bits would be lost and catalogs torn.  Returns
 * 0, or TAMIS_EUNSUPPORTED with the reason.  What FUSE has behind it cannot be told, so FUSE
 * counts as a network.
 */
int tamis__refuse_network(int fd, const char *what);

#ifdef TAMIS_TEST_POINTS
/* Set by tests: the type of file system to report.  0 stands for the real one. */
extern uint32_t tamis__network_type;
#endif
