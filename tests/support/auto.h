/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * auto.h: things that are closed, or freed, at the end of the block in which they are declared.
 *
 *     AUTO_FREE char *path;
 *     AUTO_STORE *store = fixture_store(&path);
 *     AUTO_FILTER *filter = fixture_filter(store, "x", 1000);
 *
 * The last that was declared goes first, so a filter stands behind its store.  An assertion that
 * fails jumps over all of it: what it leaves open is the process's until it ends.
 */
#ifndef TAMIS_SUPPORT_AUTO_H
#define TAMIS_SUPPORT_AUTO_H

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "tamis.h"

/* Stands before the declaration of a pointer into the heap, of whatever type. */
#define AUTO_FREE __attribute__((unused, cleanup(auto_free)))
#define AUTO_STORE __attribute__((unused, cleanup(auto_close_store))) tamis_store
/* The filter's close must succeed; where it does not, the program ends. */
#define AUTO_FILTER __attribute__((unused, cleanup(auto_close_filter))) tamis_filter
#define AUTO_BUILD __attribute__((unused, cleanup(auto_close_build))) tamis_build
/* For who includes exceptions/set.h. */
#define AUTO_EXCEPTIONS                                                                            \
    __attribute__((unused, cleanup(tamis__exceptions_clear))) struct tamis__exceptions

static inline void auto_free(const void *owner)
{
    void *memory;
    memcpy(&memory, owner, sizeof memory);
    free(memory);
}

static inline void auto_close_store(tamis_store *const *store)
{
    tamis_store_close(*store);
}

static inline void auto_close_filter(tamis_filter *const *filter)
{
    if (tamis_filter_close(*filter) != 0) errx(1, "close a filter: %s", tamis_last_error());
}

/* For a filter about which nothing is asked any more. */
static inline void close_anyhow(tamis_filter *filter)
{
    if (tamis_filter_close(filter) != 0) return;
}

static inline void auto_close_build(tamis_build *const *build)
{
    tamis_build_close(*build);
}

#endif
