/* SPDX-License-Identifier: BSD-2-Clause */
/* smaps.h: what /proc/self/smaps says of the mappings of segments in this process. */
#ifndef TAMIS_SUPPORT_SMAPS_H
#define TAMIS_SUPPORT_SMAPS_H

#include <stdint.h>

/* The sum of a field over all of them, in KiB, such as "Rss" or "FilePmdMapped". */
uint64_t smaps_kib(const char *field);

/* How many of them have a flag, such as "hg": the kernel was advised to have huge pages there. */
unsigned smaps_flagged(const char *flag);

#endif
