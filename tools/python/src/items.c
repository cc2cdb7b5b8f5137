/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * items.c: keys out of a list, a tuple or another iterable.
 *
 * Each object is held until the chunk is over, as another thread may take it off its list
 * meanwhile.  What is neither str nor bytes is copied: its bytes could move or change.
 *
 * A list or tuple is looked through before its first key goes to the library, so that one that has
 * a None in it changes nothing.  Sets, dicts and the like become lists for that.  Other iterables
 * can be asked only once: of these a chunk is looked through before it goes.
 */
#include "source.h"

struct items {
    PyObject *from; /* list or tuple; else an iterator */
    bool is_list, is_tuple;
    Py_ssize_t at;   /* objects that were taken */
    Py_ssize_t held; /* of `objects` */
    PyObject *objects[CHUNK_KEYS];
};

static void let_go(struct items *items)
{
    while (items->held > 0)
        Py_DECREF(items->objects[--items->held]);
}

/* Object `i` of a list, a new reference; NULL past the end.  The length is asked for each time,
 * because others may change a list: without the GIL at any moment. */
static PyObject *object_of_list(PyObject *list, Py_ssize_t i)
{
    PyObject *object;

    if (i >= PyList_Size(list)) return NULL;
#ifdef Py_GIL_DISABLED
    object = PyList_GetItemRef(list, i);
    if (!object) PyErr_Clear(); /* it has become shorter */
#else
    object = Py_NewRef(PyList_GetItem(list, i));
#endif
    return object;
}

/* Object `i` of the list or tuple, a new reference; NULL past the end. */
static PyObject *object_at(const struct items *items, Py_ssize_t i)
{
    if (items->is_list) return object_of_list(items->from, i);
    return i < PyTuple_Size(items->from) ? Py_NewRef(PyTuple_GetItem(items->from, i)) : NULL;
}

/* The next object, a new reference; NULL at the end or with an exception. */
static PyObject *next_object(struct items *items)
{
    if (!items->is_list && !items->is_tuple) return PyIter_Next(items->from);
    return object_at(items, items->at);
}

/* Holds the object, or a copy of its bytes, and sets the key.  Takes the reference. */
static int take(struct items *items, PyObject *object, struct tamis_key *key)
{
    PyObject *copy;
    int rc = key_of_text(object, &key->data, &key->bytes);

    if (rc == 0) {
        copy = key_copy(object);
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
        if (take(items, object, &source->keys[count]) < 0) {
            name_key(items->at);
            return -1;
        }
        items->at++;
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

/* Returns 0, or -1 with an exception: an object of the list or tuple is no key.  Looking at a key
 * may run code of its class, so it is held. */
static int look_through(const struct items *items)
{
    PyObject *object;
    struct key key;
    Py_ssize_t i;
    int rc = 0;

    for (i = 0; rc == 0 && (object = object_at(items, i)); i++) {
        rc = key_init(&key, object);
        if (rc == 0) key_clear(&key);
        Py_DECREF(object);
        if (rc < 0) name_key(i);
        if (rc == 0 && (i + 1) % CHUNK_KEYS == 0) rc = PyErr_CheckSignals();
    }
    return rc;
}

/* Tells whether all keys of the object become a list at once.  It is so for objects that hold their
 * keys anyway, as the list then takes no more memory than they do. */
static bool becomes_list(PyObject *object)
{
    return PyList_Check(object) || PyTuple_Check(object) || PyAnySet_Check(object) ||
           PyDict_Check(object) || PyDictKeys_Check(object) || PyDictValues_Check(object) ||
           PyObject_CheckBuffer(object); /* an array of objects */
}

/* The list or tuple itself, a list of what there is, or an iterator; NULL with an exception. */
static PyObject *from_object(PyObject *object)
{
    if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) return Py_NewRef(object);
    return becomes_list(object) ? PySequence_List(object) : PyObject_GetIter(object);
}

int source_of_items(struct source *source, PyObject *object)
{
    struct items *items = PyMem_Malloc(sizeof *items);

    if (!items) {
        PyErr_NoMemory();
        return -1;
    }
    items->at = items->held = 0;
    items->from = from_object(object);
    if (!items->from) {
        PyMem_Free(items);
        return -1;
    }
    items->is_list = PyList_CheckExact(items->from);
    items->is_tuple = PyTuple_CheckExact(items->from);
    source->own = items;
    source->type = &items_type; /* so that source_clear() gives it back */
    if (!items->is_list && !items->is_tuple) return 1;
    source->hint = items->is_list ? PyList_Size(items->from) : PyTuple_Size(items->from);
    return look_through(items) < 0 ? -1 : 1;
}
