/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "key.h"

int key_of_text(PyObject *object, const void **data, size_t *bytes)
{
    Py_ssize_t length;

    if (PyBytes_Check(object)) {
        *data = PyBytes_AsString(object);
        *bytes = (size_t)PyBytes_Size(object);
        return 1;
    }
    if (!PyUnicode_Check(object)) return 0;
    /* Python keeps the UTF-8 with the str; of one that is all ASCII it is the str itself. */
    *data = PyUnicode_AsUTF8AndSize(object, &length);
    *bytes = (size_t)length;
    return *data ? 1 : -1;
}

/* Whether a format of a buffer has one of these letters, outside of the names of its fields, which
 * stand between colons. */
static bool has_item(const char *format, const char *letters)
{
    for (; format && *format; format++) {
        if (strchr(letters, *format)) return true;
        if (*format == ':') format = strchr(format + 1, ':');
        if (!format) return false;
    }
    return false;
}

bool has_references(const char *format)
{
    return has_item(format, "OXP&");
}

bool has_code_points(const char *format)
{
    return has_item(format, "uw");
}

static int refuse_key(PyObject *object)
{
    PyObject *name = PyType_GetName(Py_TYPE(object));

    if (name)
        PyErr_Format(PyExc_TypeError, "a key is str, bytes or an object with a buffer, not %U; %s",
                     name, object == Py_None ? "drop it first" : "make a str or bytes of it first");
    Py_XDECREF(name);
    return -1;
}

/* Takes the buffer in one piece: what has gaps is copied. */
static int take_buffer(Py_buffer *buffer, PyObject *object)
{
    PyObject *copy;
    int rc;

    if (PyObject_GetBuffer(object, buffer, PyBUF_FULL_RO) < 0) return -1;
    if (has_references(buffer->format) || has_code_points(buffer->format)) {
        PyBuffer_Release(buffer);
        PyErr_SetString(PyExc_TypeError,
                        "an array of objects or of text is no key; a call for many "
                        "keys, such as add_many(), takes a key from each item");
        return -1;
    }
    if (PyBuffer_IsContiguous(buffer, 'C')) return 0;
    PyBuffer_Release(buffer);
    copy = PyMemoryView_GetContiguous(object, PyBUF_READ, 'C');
    if (!copy) return -1;
    rc = PyObject_GetBuffer(copy, buffer, PyBUF_SIMPLE); /* it holds the copy */
    Py_DECREF(copy);
    return rc;
}

int key_init(struct key *key, PyObject *object)
{
    int rc = key_of_text(object, &key->data, &key->bytes);

    key->buffer.obj = NULL;
    if (rc != 0) return rc < 0 ? -1 : 0;
    if (!PyObject_CheckBuffer(object)) return refuse_key(object);
    if (take_buffer(&key->buffer, object) < 0) {
        key->buffer.obj = NULL;
        return -1;
    }
    key->data = key->buffer.buf;
    key->bytes = (size_t)key->buffer.len;
    return 0;
}

void key_clear(struct key *key)
{
    if (key->buffer.obj) PyBuffer_Release(&key->buffer);
}

PyObject *key_copy(PyObject *object)
{
    struct key key;
    PyObject *copy;

    if (key_init(&key, object) < 0) return NULL;
    copy = PyBytes_FromStringAndSize(key.data, (Py_ssize_t)key.bytes);
    key_clear(&key);
    return copy;
}

void name_key(Py_ssize_t index)
{
    PyObject *type, *value, *traceback, *done = NULL;
    char note[64];

    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    (void)snprintf(note, sizeof note, "key %lld of the call, counted from 0", (long long)index);
    if (value) done = PyObject_CallMethod(value, "add_note", "s", note);
    if (!done) PyErr_Clear(); /* the exception itself says more than why it has no note */
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
}
