/* SPDX-License-Identifier: BSD-2-Clause */
/* builds.h: generations of keys that are numbers, for tests whose processes are forked: errors are returned. */
#ifndef TAMIS_MULTIPROC_BUILDS_H
#define TAMIS_MULTIPROC_BUILDS_H

#include <stddef.h>
#include <stdint.h>

#include "tamis_build.h"

/* Build the filter `name` of these keys, 8 bytes each, and publish it.  As tamis_build_publish(). */
int builds_publish(tamis_store *store, const char *name, const struct tamis_build_spec *spec,
                   const uint64_t *keys, size_t count, struct tamis_build_result *result);

#endif
