/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key.h: one key out of a Python object: str as UTF-8, bytes, or the bytes of anything with a
 * buffer.  A buffer of references or of code points is refused: its bytes are addresses, or not the
 * UTF-8 that the same text has as a str.
 */
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

/* The bytes of what is neither str nor bytes, copied; NULL with an exception. */
PyObject *key_copy(PyObject *object);

/* Whether items of this format are references to objects, or code points of a text. */
bool has_references(const char *format);
bool has_code_points(const char *format);

/* Says in the exception that is set which key of a call is meant. */
void name_key(Py_ssize_t index);
