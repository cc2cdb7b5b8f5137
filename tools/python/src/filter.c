/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.c: the type Filter: an open filter, asked key by key.  many.c has the calls for many keys.
 *
 * A single key is added and asked for under the GIL: this takes some 50 ns, and who gives up the
 * GIL gets it back only when other threads let go of it, which may be 5 ms later.  Adds to a
 * durable filter wait for the disk, so they give it up.  An add that waits for a lock of another
 * process, because the filter has to grow, gives it up after a second.
 */
#include "fields.h"
#include "key.h"

/* ---- Handles ------------------------------------------------------------------------------ */

static PyObject *filter_close(PyObject *object, PyObject *unused)
{
    struct filter_object *self = (struct filter_object *)object;
    tamis_filter *handle = use_close(object, &self->use);
    int rc = 0;

    (void)unused;
    if (handle) rc = filter_close_handle(handle);
    return none_or_error(use_module(object, &self->use), rc);
}

static void filter_dealloc(PyObject *object)
{
    struct filter_object *self = (struct filter_object *)object;

    PyObject_GC_UnTrack(object);
    if (self->use.handle) filter_close_quietly(self, self->use.handle);
    Py_XDECREF(self->use.module);
    free_object(object);
}

/* Opening modes of filter_open(). */
enum { OPEN, CREATE, OPEN_OR_CREATE };

/* filter_open(filter, store, name, mode, flags, spec) */
PyObject *filter_open(PyObject *module, PyObject *arguments)
{
    struct state *state = state_of(module);
    struct filter_object *self;
    struct store_object *store;
    struct tamis_filter_spec spec;
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    tamis_filter *handle = NULL;
    PyObject *from;
    const char *name;
    unsigned mode, flags;
    int rc = 0;

    if (!PyArg_ParseTuple(arguments, "O!O!sO&O&O", state->filter_type, &self, state->store_type,
                          &store, &name, to_u32, &mode, to_u32, &flags, &from) ||
        spec_init(&spec, module, from) < 0)
        return NULL;
    if (!store_enter(store)) return NULL;
    if (use_claim((PyObject *)self, &self->use, module, "filter") < 0) {
        store_leave(store);
        return NULL;
    }
    PyThreadState *released = PyEval_SaveThread();
    if (mode == OPEN) rc = tamis_filter_open(store->use.handle, name, flags, &handle);
    if (mode == CREATE) rc = tamis_filter_create(store->use.handle, name, &spec, &handle);
    if (mode == OPEN_OR_CREATE)
        rc = tamis_filter_open_or_create(store->use.handle, name, &spec, &handle);
    if (rc == 0) rc = tamis_filter_stat(handle, &stat);
    PyEval_RestoreThread(released);
    self->is_durable = (stat.flags & TAMIS_FILTER_DURABLE) != 0;
    use_open((PyObject *)self, &self->use, handle);
    store_leave(store);
    return none_or_error(module, rc);
}

/* ---- One key ------------------------------------------------------------------------------ */

typedef int one_key_call(tamis_filter *filter, const void *key, size_t key_bytes);

/* Returns what the call returns; -100 with an exception.  Codes of the library are far above that.
 */
static int call_released(struct filter_object *self, one_key_call *call, const struct key *key)
{
    tamis_filter *handle = filter_enter(self);
    int rc;

    if (!handle) return -100;
    WITHOUT_GIL(rc = call(handle, key->data, key->bytes));
    filter_leave(self);
    return rc;
}

/* For calls that never wait. */
static int call_at_once(struct filter_object *self, one_key_call *call, const struct key *key)
{
    tamis_filter *handle = filter_enter(self);
    int rc;

    if (!handle) return -100;
    rc = call(handle, key->data, key->bytes);
    filter_leave(self);
    return rc;
}

/* Each thread has one.  It says whether the thread is in an add under the GIL, so that
 * give_up_gil() gives up only what this thread has. */
static _Thread_local struct {
    bool has_gil;
    PyThreadState *released; /* not NULL: it waits, and has given up the GIL */
} adding;

int give_up_gil(void *context, int64_t waited_ms, int64_t holder)
{
    (void)context;
    (void)waited_ms;
    (void)holder;
    if (adding.has_gil && !adding.released) adding.released = PyEval_SaveThread();
    return 0;
}

static int call_with_gil(tamis_filter *handle, one_key_call *call, const struct key *key)
{
    int rc;

    adding.has_gil = true;
    rc = call(handle, key->data, key->bytes);
    adding.has_gil = false;
    if (adding.released) PyEval_RestoreThread(adding.released);
    adding.released = NULL;
    return rc;
}

static int call_add(struct filter_object *self, one_key_call *call, const struct key *key)
{
    tamis_filter *handle = filter_enter(self);
    int rc;

    if (!handle) return -100;
    if (self->is_durable)
        WITHOUT_GIL(rc = call(handle, key->data, key->bytes));
    else
        rc = call_with_gil(handle, call, key);
    filter_leave(self);
    return rc;
}

typedef int call_runner(struct filter_object *self, one_key_call *call, const struct key *key);

static int call_with_key(struct filter_object *self, call_runner *run, one_key_call *call,
                         PyObject *object)
{
    struct key key;
    int rc;

    if (key_init(&key, object) < 0) return -1;
    rc = run(self, call, &key);
    key_clear(&key);
    if (rc < 0 && rc != -100) raise_error(self->use.module, rc);
    return rc < 0 ? -1 : rc;
}

static PyObject *filter_add(PyObject *object, PyObject *key)
{
    struct filter_object *self = (struct filter_object *)object;
    int rc = call_with_key(self, call_add, tamis_filter_add, key);

    return rc < 0 ? NULL : PyBool_FromLong(rc);
}

static int filter_contains(PyObject *object, PyObject *key)
{
    return call_with_key((struct filter_object *)object, call_at_once, tamis_filter_contains, key);
}

/* What was found, of the same type as what was asked for: str, else bytes. */
static PyObject *tail_of(PyObject *asked, const struct key *key, size_t offset)
{
    const char *tail = (const char *)key->data + offset;
    const Py_ssize_t bytes = (Py_ssize_t)(key->bytes - offset);

    return PyUnicode_Check(asked) ? PyUnicode_FromStringAndSize(tail, bytes)
                                  : PyBytes_FromStringAndSize(tail, bytes);
}

static PyObject *filter_contains_name(PyObject *object, PyObject *name)
{
    struct filter_object *self = (struct filter_object *)object;
    PyObject *found = NULL;
    struct key key;
    size_t offset = 0;
    int rc;

    if (key_init(&key, name) < 0) return NULL;
    if (filter_enter(self)) {
        rc = tamis_filter_contains_name(self->use.handle, key.data, key.bytes, &offset);
        if (rc < 0) raise_error(self->use.module, rc);
        if (rc == 0) found = Py_NewRef(Py_None);
        if (rc > 0) found = tail_of(name, &key, offset);
        filter_leave(self);
    }
    key_clear(&key);
    return found;
}

/* A remove may wait for another one. */
static PyObject *filter_remove(PyObject *object, PyObject *key)
{
    int rc = call_with_key((struct filter_object *)object, call_released, tamis_filter_remove, key);

    return rc < 0 ? NULL : PyBool_FromLong(rc);
}

static PyObject *filter_count(PyObject *object, PyObject *from)
{
    struct filter_object *self = (struct filter_object *)object;
    struct key key;
    int64_t count = -100;

    if (key_init(&key, from) < 0) return NULL;
    if (filter_enter(self)) {
        count = tamis_filter_count(self->use.handle, key.data, key.bytes);
        filter_leave(self);
    }
    key_clear(&key);
    if (count == -100) return NULL;
    return count < 0 ? raise_error(self->use.module, (int)count) : PyLong_FromLongLong(count);
}

/* ---- The filter as a whole ---------------------------------------------------------------- */

static Py_ssize_t filter_length(PyObject *object)
{
    struct filter_object *self = (struct filter_object *)object;
    int64_t items;

    if (!filter_enter(self)) return -1;
    items = tamis_filter_items(self->use.handle);
    filter_leave(self);
    if (items < 0) raise_error(self->use.module, (int)items);
    return items < 0 ? -1 : (Py_ssize_t)items;
}

static PyObject *filter_stat(PyObject *object, PyObject *unused)
{
    struct filter_object *self = (struct filter_object *)object;
    struct tamis_filter_stat stat = TAMIS_INIT(struct tamis_filter_stat);
    tamis_filter *handle = filter_enter(self);
    int rc;

    (void)unused;
    if (!handle) return NULL;
    WITHOUT_GIL(rc = tamis_filter_stat(handle, &stat));
    filter_leave(self);
    return rc < 0 ? raise_error(self->use.module, rc) : dict_of_stat(&stat);
}

/* A call on the filter alone, without the GIL. */
static PyObject *call_alone(PyObject *object, int (*call)(tamis_filter *))
{
    struct filter_object *self = (struct filter_object *)object;
    tamis_filter *handle = filter_enter(self);
    int rc;

    if (!handle) return NULL;
    WITHOUT_GIL(rc = call(handle));
    filter_leave(self);
    return none_or_error(self->use.module, rc);
}

static PyObject *filter_sync(PyObject *object, PyObject *unused)
{
    (void)unused;
    return call_alone(object, tamis_filter_sync);
}

static PyObject *filter_rotate(PyObject *object, PyObject *unused)
{
    (void)unused;
    return call_alone(object, tamis_filter_rotate);
}

static PyObject *filter_accept(PyObject *object, PyObject *unused)
{
    (void)unused;
    return call_alone(object, tamis_filter_accept);
}

static PyObject *filter_merge(PyObject *object, PyObject *from)
{
    struct filter_object *self = (struct filter_object *)object,
                         *source = (struct filter_object *)from;
    struct tamis_merge merge = TAMIS_INIT(struct tamis_merge);
    tamis_filter *handle = NULL;
    int rc;

    if (!filter_enter(self)) return NULL;
    if (PyObject_TypeCheck(from, state_of(self->use.module)->filter_type))
        handle = filter_enter(source);
    else
        (void)PyErr_Format(PyExc_TypeError, "a filter can be merged with a filter only");
    if (!handle) {
        filter_leave(self);
        return NULL;
    }
    merge.sources = &handle;
    merge.count = 1;
    WITHOUT_GIL(rc = tamis_filter_merge(self->use.handle, &merge));
    filter_leave(self);
    filter_leave(source);
    return none_or_error(self->use.module, rc);
}

static PyObject *filter_is_closed(PyObject *object, void *unused)
{
    struct filter_object *self = (struct filter_object *)object;

    (void)unused;
    return PyBool_FromLong(use_is_over(object, &self->use));
}

/* ---- Data, for ../tamis/compat/ ----------------------------------------------------------- */

/* _data(offset, most): bytes of the oldest segment; fewer than `most` where it ends */
static PyObject *filter_data(PyObject *object, PyObject *arguments)
{
    struct filter_object *self = (struct filter_object *)object;
    struct tamis_segment_stat stat = TAMIS_INIT(struct tamis_segment_stat);
    PyObject *bytes = NULL;
    uint64_t offset, count;
    int rc;

    if (!PyArg_ParseTuple(arguments, "O&O&", to_u64, &offset, to_u64, &count) ||
        !filter_enter(self))
        return NULL;
    rc = tamis_filter_segment(self->use.handle, 0, &stat);
    if (offset > stat.data_bytes) offset = stat.data_bytes;
    if (count > stat.data_bytes - offset) count = stat.data_bytes - offset;
    if (rc == 0) bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count);
    if (bytes) {
        char *into = PyBytes_AsString(bytes);
        WITHOUT_GIL(rc = tamis_filter_read_data(self->use.handle, 0, offset, into, (size_t)count));
    }
    if (rc < 0) {
        Py_CLEAR(bytes);
        raise_error(self->use.module, rc);
    }
    filter_leave(self);
    return bytes;
}

/* _set_data(bytes, offset): sets the bits that are set there */
static PyObject *filter_set_data(PyObject *object, PyObject *arguments)
{
    struct filter_object *self = (struct filter_object *)object;
    PyObject *from;
    struct key data;
    uint64_t offset;
    int rc = -100;

    if (!PyArg_ParseTuple(arguments, "OO&", &from, to_u64, &offset) || key_init(&data, from) < 0)
        return NULL;
    if (filter_enter(self)) {
        WITHOUT_GIL(
            rc = tamis_filter_write_data(self->use.handle, 0, offset, data.data, data.bytes));
        if (rc < 0) raise_error(self->use.module, rc);
        filter_leave(self);
    }
    key_clear(&data);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

/* The docstrings that users read are in tamis/_filter.py and tamis/_tamis.pyi. */
static PyMethodDef methods[] = {
    {"add", filter_add, METH_O,
     "add($self, key, /)\n--\n\nAdd a key.  True: it was new, and of all processes this one was "
     "told "
     "so.\n"
     "(pybloomfiltermmap's add() answers the other way round.)"},
    {"contains_name", filter_contains_name, METH_O,
     "contains_name($self, name, /)\n--\n\nThe name, or the nearest of its parents, that is in the "
     "filter; None: none of them is."},
    {"remove", filter_remove, METH_O,
     "remove($self, key, /)\n--\n\nTake a key off once; kind counting only."},
    {"count", filter_count, METH_O,
     "count($self, key, /)\n--\n\nHow often a key is there; kind counting only."},
    {"add_many", filter_add_many, METH_O,
     "add_many($self, keys, /)\n--\n\nAdd keys; byte i of the result is 1 if key i was new, else "
     "0."},
    {"contains_many", filter_contains_many, METH_O,
     "contains_many($self, keys, /)\n--\n\nByte i of the result is 1 if key i is in the filter, "
     "else "
     "0."},
    {"remove_many", filter_remove_many, METH_O,
     "remove_many($self, keys, /)\n--\n\nTake each key off once."},
    {"count_many", filter_count_many, METH_O,
     "count_many($self, keys, /)\n--\n\nHow often each key is there."},
    {"update", filter_update, METH_O,
     "update($self, keys, /)\n--\n\nAdd keys; how many of them were new."},
    {"sync", filter_sync, METH_NOARGS,
     "sync($self, /)\n--\n\nBring all that was added to the disk."},
    {"rotate", filter_rotate, METH_NOARGS,
     "rotate($self, /)\n--\n\nBegin a new slice of the window."},
    {"accept", filter_accept, METH_NOARGS,
     "accept($self, /)\n--\n\nSay that lost keys were dealt with."},
    {"merge", filter_merge, METH_O,
     "merge($self, other, /)\n--\n\nBring all keys of another filter into this one."},
    {"close", filter_close, METH_NOARGS,
     "close($self, /)\n--\n\nClose the filter; closing it twice is allowed."},
    {"_export", filter_export, METH_VARARGS, "Write the filter as a stream."},
    {"_data", filter_data, METH_VARARGS, "Bytes of the oldest segment, from an offset on."},
    {"_set_data", filter_set_data, METH_VARARGS, "Set the bits that are set in these bytes."},
    {"_stat", filter_stat, METH_NOARGS, "What is known of the filter, as a dict."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", filter_is_closed, NULL, "Whether the filter is closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)filter_dealloc},
    {Py_tp_traverse, (void *)visit_type},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_contains, (void *)filter_contains},
    {Py_sq_length, (void *)filter_length},
    {0, NULL},
};

PyType_Spec filter_spec = {
    .name = "tamis._tamis.Filter",
    .basicsize = sizeof(struct filter_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
