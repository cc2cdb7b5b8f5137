/* SPDX-License-Identifier: BSD-2-Clause */
/* builds.h: generations of keys that are numbers, for tests whose processes are forked: errors are
 * returned. */
#ifndef TAMIS_MULTIPROC_BUILDS_H
#define TAMIS_MULTIPROC_BUILDS_H

#include <stddef.h>
#include <stdint.h>

#include "tamis.h"

/* Build the filter `name` of these keys, 8 bytes each, and publish it.  As tamis_build_publish().
 * */
int builds_publish(tamis_store *store, const char *name, const struct tamis_build_spec *spec,
                   const uint64_t *keys, size_t count, struct tamis_build_result *result);

/* Segments and indexes that this process has mapped; a file that is gone must not be among them. */
unsigned builds_mapped_files(void);

/* For tamis_store_verify(): to standard output. */
int builds_print_problem(void *context, const struct tamis_problem *problem);

/* Every file is named by a record, nothing is in staging/, and verify finds nothing; else the
 * process ends. */
void builds_check_no_leak(tamis_store *store, const char *path);
/* The same, but garbage that the next writer removes may be there. */
void builds_check_no_stray(tamis_store *store, const char *path);

#endif
