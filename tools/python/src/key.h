/* SPDX-License-Identifier: BSD-2-Clause */
/* key.h: one key out of a Python object: str as UTF-8, bytes, or anything with a buffer. */
#pragma once

#include "module.h"

struct key {
    const void *data;
    size_t bytes;
    Py_buffer buffer; /* buffer.obj is NULL if the object is a str or bytes */
};

/* Returns 0, or -1 with an exception.  The object must live until key_clear(). */
int key_init(struct key *key, PyObject *object);
void key_clear(struct key *key);

/* Sets data and bytes of a str or bytes object.  Returns 1; 0: the object is neither; -1 with an
 * exception. */
int key_of_text(PyObject *object, const void **data, size_t *bytes);

/* Raises TypeError for what is no key; returns -1. */
int refuse_key(PyObject *object);
