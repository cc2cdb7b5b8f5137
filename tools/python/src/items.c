/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * items.c: keys out of a list, a tuple or another iterable.
 *
 * Each object is held until the chunk is over, as another thread may take it off its list
 * meanwhile.  What is neither str nor bytes is copied: its bytes could move or change.
 */
#include "source.h"

struct items {
    PyObject *from; /* list or tuple; else an iterator */
    bool is_list, is_tuple;
    Py_ssize_t at;   /* in a list or tuple */
    Py_ssize_t held; /* of `objects` */
    PyObject *objects[CHUNK_KEYS];
};

static void let_go(struct items *items)
{
    while (items->held > 0)
        Py_DECREF(items->objects[--items->held]);
}

/* The next object, a new reference; NULL at the end or with an exception. */
static PyObject *next_object(struct items *items)
{
    PyObject *object;

    if (!items->is_list && !items->is_tuple) return PyIter_Next(items->from);
    /* The length is asked for each time, because others may change a list. */
    if (items->at >= (items->is_list ? PyList_Size(items->from) : PyTuple_Size(items->from)))
        return NULL;
    object = items->is_list ? PyList_GetItem(items->from, items->at)
                            : PyTuple_GetItem(items->from, items->at);
    items->at++;
    Py_XINCREF(object);
    return object;
}

/* Holds the object, or a copy of its bytes, and sets the key.  Takes the reference. */
static int take(struct items *items, PyObject *object, struct tamis_key *key)
{
    PyObject *copy;
    int rc = key_of_text(object, &key->data, &key->bytes);

    if (rc == 0) {
        copy = PyObject_CheckBuffer(object) ? PyBytes_FromObject(object) : NULL;
        if (!copy && !PyErr_Occurred()) refuse_key(object);
        Py_DECREF(object);
        if (!copy) return -1;
        object = copy;
        rc = key_of_text(object, &key->data, &key->bytes);
    }
    items->objects[items->held++] = object;
    return rc < 0 ? -1 : 0;
}

static Py_ssize_t next_items(struct source *source)
{
    struct items *items = source->own;
    PyObject *object;
    Py_ssize_t count = 0;

    let_go(items);
    while (count < CHUNK_KEYS && (object = next_object(items))) {
        if (take(items, object, &source->keys[count]) < 0) return -1;
        count++;
    }
    return PyErr_Occurred() ? -1 : count;
}

static void clear_items(struct source *source)
{
    struct items *items = source->own;

    let_go(items);
    Py_DECREF(items->from);
    PyMem_Free(items);
}

static const struct source_type items_type = {.next = next_items, .clear = clear_items};

int source_of_items(struct source *source, PyObject *object)
{
    struct items *items = PyMem_Malloc(sizeof *items);

    if (!items) {
        PyErr_NoMemory();
        return -1;
    }
    items->is_list = PyList_CheckExact(object);
    items->is_tuple = PyTuple_CheckExact(object);
    items->at = items->held = 0;
    items->from = items->is_list || items->is_tuple ? Py_NewRef(object) : PyObject_GetIter(object);
    if (!items->from) {
        PyMem_Free(items);
        return -1;
    }
    source->hint = items->is_list    ? PyList_Size(object)
                   : items->is_tuple ? PyTuple_Size(object)
                                     : 0;
    source->own = items;
    source->type = &items_type;
    return 1;
}
