/* SPDX-License-Identifier: BSD-2-Clause */
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

int refuse_key(PyObject *object)
{
    PyObject *name = PyType_GetName(Py_TYPE(object));

    if (name)
        PyErr_Format(PyExc_TypeError, "a key is str, bytes or an object with a buffer, not %U",
                     name);
    Py_XDECREF(name);
    return -1;
}

int key_init(struct key *key, PyObject *object)
{
    int rc = key_of_text(object, &key->data, &key->bytes);

    key->buffer.obj = NULL;
    if (rc != 0) return rc < 0 ? -1 : 0;
    if (!PyObject_CheckBuffer(object)) return refuse_key(object);
    if (PyObject_GetBuffer(object, &key->buffer, PyBUF_SIMPLE) < 0) return -1;
    key->data = key->buffer.buf;
    key->bytes = (size_t)key->buffer.len;
    return 0;
}

void key_clear(struct key *key)
{
    if (key->buffer.obj) PyBuffer_Release(&key->buffer);
}
