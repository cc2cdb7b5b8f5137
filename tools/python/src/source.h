/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source.h: the keys of one call of add_many() and the like, in chunks that go through the library
 * without the GIL.
 *
 * A source is one of three: any iterable of keys (items.c), a buffer of items of one size such as
 * an array of numpy (buffer.c), or an Arrow array of strings or binaries (arrow.c).  The last two
 * are not copied.
 */
#pragma once

#include "key.h"

/* Keys of a chunk.  With fewer, giving up the GIL costs more; with more, the keys leave the
 * processor's cache. */
#define CHUNK_KEYS 4096

struct source;

struct source_type {
    /* Fills source->keys from the start and returns how many; 0 at the end; -1 with an exception.
     */
    Py_ssize_t (*next)(struct source *source);
    void (*clear)(struct source *source);
};

struct source {
    const struct source_type *type;
    struct tamis_key *keys; /* room for CHUNK_KEYS */
    Py_ssize_t hint;        /* how many keys there seem to be; may be wrong */
    void *own;              /* what the type needs */
};

/* Returns 0, or -1 with an exception. */
int source_init(struct source *source, PyObject *object);
void source_clear(struct source *source);

/* These set type and own.  Each returns 1; 0: the object is not of this sort; -1 with an exception.
 */
int source_of_arrow(struct source *source, PyObject *object);
int source_of_buffer(struct source *source, PyObject *object);
int source_of_items(struct source *source, PyObject *object);
