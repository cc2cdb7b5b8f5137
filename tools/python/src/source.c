/* SPDX-License-Identifier: BSD-2-Clause */
#include "source.h"

/* The array of numpy that a column such as a Series of pandas gives of itself; NULL with an
 * exception, or because the object gives none. */
static PyObject *array_of(PyObject *object)
{
    PyObject *method, *array;

    if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) return NULL;
    method = PyObject_GetAttrString(object, "__array__");
    if (!method) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
        return NULL;
    }
    array = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    return array;
}

/* Asks the object for an Arrow array first, then for a buffer, and iterates over it only if it has
 * neither.  An array of pyarrow and one of numpy are iterable too, but that would make a Python
 * object of each key. */
static int choose(struct source *source, PyObject *object)
{
    PyObject *array = NULL;
    int rc;

    if (PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "this call takes many keys; put a single key into a list");
        return -1;
    }
    rc = source_of_arrow(source, object);
    if (rc == 0) rc = source_of_buffer(source, object);
    if (rc == 0 && !PyObject_CheckBuffer(object)) {
        array = array_of(object);
        if (!array && PyErr_Occurred()) return -1;
        if (array) rc = source_of_buffer(source, array);
    }
    if (rc == 0) rc = source_of_items(source, array ? array : object);
    Py_XDECREF(array); /* the source holds what it needs of it */
    return rc < 0 ? -1 : 0;
}

int source_init(struct source *source, PyObject *object)
{
    *source = (struct source){.keys = PyMem_Malloc(CHUNK_KEYS * sizeof *source->keys)};
    if (!source->keys) {
        PyErr_NoMemory();
        return -1;
    }
    if (choose(source, object) < 0) {
        source_clear(source);
        return -1;
    }
    return 0;
}

void source_clear(struct source *source)
{
    if (source->type) source->type->clear(source);
    PyMem_Free(source->keys);
    *source = (struct source){.keys = NULL};
}
