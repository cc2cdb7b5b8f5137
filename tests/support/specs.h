/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * specs.h: descriptions as arguments: SPEC(.capacity = 100, .fp_rate = 0.01) is that of a filter.
 * Each lives as long as the block in which it stands.
 */
#ifndef TAMIS_SUPPORT_SPECS_H
#define TAMIS_SUPPORT_SPECS_H

#include "tamis.h"

#define SPEC(...)                                                                                  \
    (&(const struct tamis_filter_spec){.size = sizeof(struct tamis_filter_spec), __VA_ARGS__})
#define BUILD_SPEC(...)                                                                            \
    (&(const struct tamis_build_spec){.size = sizeof(struct tamis_build_spec), __VA_ARGS__})
#define IMPORT_SPEC(...)                                                                           \
    (&(const struct tamis_import_spec){.size = sizeof(struct tamis_import_spec), __VA_ARGS__})
#define MERGE(...) (&(const struct tamis_merge){.size = sizeof(struct tamis_merge), __VA_ARGS__})

/* The same for a field of a table, as its initializer. */
#define SPEC_FIELD(...)                                                                            \
    {                                                                                              \
        .size = sizeof(struct tamis_filter_spec), __VA_ARGS__                                      \
    }
#define SIZING_FIELD(...)                                                                          \
    {                                                                                              \
        .size = sizeof(struct tamis_sizing), __VA_ARGS__                                           \
    }
#define IMPORT_FIELD(...)                                                                          \
    {                                                                                              \
        .size = sizeof(struct tamis_import_spec), __VA_ARGS__                                      \
    }

#endif
