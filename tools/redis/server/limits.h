/* SPDX-License-Identifier: BSD-2-Clause */
/* limits.h: how many filters a process can have open, as the system bounds its descriptors and its
 * mappings. */
#pragma once

/*
 * Raises the soft limit of descriptors, and says from which number on filters have theirs: the
 * server needs the low ones for its `clients`.  Returns the standard of tamis.max-open.
 */
long long limits_prepare(long long clients);
