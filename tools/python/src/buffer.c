/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buffer.c: keys out of a buffer of items of one size: numpy, array.array, memoryview.
 *
 * An array of one dimension has a key in each item, one of two dimensions in each row.  Strings of
 * a fixed size (the dtype S of numpy) are keys without the NULs at their end, as numpy itself reads
 * them.  Items of one byte are refused, because such a buffer is a single key more often than many.
 * Gaps between items or rows, such as those of a slice with a step, are stepped over.  An array
 * whose keys are torn, such as one that is transposed, is copied.
 */
#include <string.h>

#include "source.h"

struct items_of_one_size {
    Py_buffer buffer;
    const char *at;
    size_t left, bytes; /* keys, and bytes of each */
    Py_ssize_t step;    /* from one key to the next; below 0 in an array that runs backwards */
    bool is_padded;     /* with NULs that are no part of the key */
};

static Py_ssize_t next_in_buffer(struct source *source)
{
    struct items_of_one_size *own = source->own;
    size_t count = own->left < CHUNK_KEYS ? own->left : CHUNK_KEYS, i, bytes;

    for (i = 0; i < count; i++) {
        bytes = own->bytes;
        if (own->is_padded)
            while (bytes > 0 && own->at[bytes - 1] == '\0')
                bytes--;
        source->keys[i] = (struct tamis_key){.data = own->at, .bytes = bytes};
        if (i + 1 < own->left) own->at += own->step; /* not past the last one */
    }
    own->left -= count;
    return (Py_ssize_t)count;
}

static void clear_buffer(struct source *source)
{
    struct items_of_one_size *own = source->own;

    PyBuffer_Release(&own->buffer);
    PyMem_Free(own);
}

static const struct source_type buffer_type = {.next = next_in_buffer, .clear = clear_buffer};

/* "10s", or "s" */
static bool is_string_format(const char *format)
{
    while (*format >= '0' && *format <= '9')
        format++;
    return strcmp(format, "s") == 0;
}

/* Whether the bytes of a key do not lie beside each other. */
static bool is_torn(const Py_buffer *buffer)
{
    if (buffer->suboffsets) return true;
    return buffer->ndim == 2 && buffer->strides && buffer->shape[1] > 1 &&
           buffer->strides[1] != buffer->itemsize;
}

/* Returns 1; 0: the items are Python objects or code points; -1 with an exception. */
static int lay_out(struct items_of_one_size *own)
{
    const Py_buffer *buffer = &own->buffer;
    const char *format = buffer->format ? buffer->format : "B";

    if (buffer->ndim < 1 || buffer->ndim > 2) {
        PyErr_SetString(PyExc_TypeError,
                        "an array of keys has one dimension, or a key in each row of two");
        return -1;
    }
    /* The items are asked for one by one. */
    if (has_code_points(format) || has_references(format)) return 0;
    own->bytes = (size_t)buffer->itemsize * (buffer->ndim == 2 ? (size_t)buffer->shape[1] : 1);
    if (buffer->ndim == 1 && buffer->itemsize == 1 && !is_string_format(format)) {
        PyErr_SetString(PyExc_TypeError, "a buffer of single bytes is one key; put it into a list");
        return -1;
    }
    own->left = (size_t)buffer->shape[0];
    own->step = buffer->strides ? buffer->strides[0] : (Py_ssize_t)own->bytes;
    own->is_padded = buffer->ndim == 1 && is_string_format(format);
    own->at = buffer->buf;
    return 1;
}

/* numpy refuses to hand out times as a buffer, and its sentence says "include dtype 'M' in a
 * buffer". The numbers of an array are in its own unit, so the caller says which are meant. */
static void say_remedy(PyObject *object)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    if (PyObject_HasAttrString(object, "dtype"))
        PyErr_Format(PyExc_TypeError,
                     "an array of this dtype has no bytes that could be keys; for times give "
                     "array.view(\"int64\"), which has the numbers of its unit, or "
                     "array.astype(\"str\"); numpy says: %S",
                     value ? value : Py_None);
    else
        PyErr_Restore(Py_XNewRef(type), Py_XNewRef(value), Py_XNewRef(traceback));
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

/* Takes the buffer, and lays it out; torn keys are copied.  Returns as lay_out(). */
static int take_buffer(struct items_of_one_size *own, PyObject *object)
{
    PyObject *copy;
    int rc;

    if (PyObject_GetBuffer(object, &own->buffer, PyBUF_FULL_RO) < 0) {
        say_remedy(object);
        return -1;
    }
    rc = lay_out(own);
    if (rc == 1 && is_torn(&own->buffer)) {
        PyBuffer_Release(&own->buffer);
        copy = PyMemoryView_GetContiguous(object, PyBUF_READ, 'C');
        rc = copy ? PyObject_GetBuffer(copy, &own->buffer, PyBUF_ND | PyBUF_FORMAT) : -1;
        Py_XDECREF(copy); /* the buffer holds it */
        if (rc < 0) return -1;
        rc = lay_out(own);
    }
    if (rc != 1) PyBuffer_Release(&own->buffer);
    return rc;
}

int source_of_buffer(struct source *source, PyObject *object)
{
    struct items_of_one_size *own;
    int rc;

    if (!PyObject_CheckBuffer(object)) return 0;
    own = PyMem_Malloc(sizeof *own);
    if (!own) {
        PyErr_NoMemory();
        return -1;
    }
    rc = take_buffer(own, object);
    if (rc != 1) {
        PyMem_Free(own);
        return rc;
    }
    source->hint = (Py_ssize_t)own->left;
    source->own = own;
    source->type = &buffer_type;
    return 1;
}
