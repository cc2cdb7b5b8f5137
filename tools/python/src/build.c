/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build.c: the type Build: the next generation of a filter, while it is made.
 *
 * The library allows one call at a time on a build.  So a second call is refused while one has
 * given up the GIL.
 */
#include <string.h>

#include "fields.h"
#include "source.h"

#define TAKEN_MAX ((uint64_t)1 << 24)

static tamis_build *build_enter(struct build_object *self)
{
    PyObject *object = (PyObject *)self, *module;
    tamis_build *handle;
    bool was_interrupted, is_used;

    LOCKED(object, {
        handle = self->use.is_closed ? NULL : self->use.handle;
        is_used = self->use.running > 0;
        was_interrupted = self->was_interrupted;
        module = self->use.module;
        if (handle && !is_used) self->use.running++;
    });
    if (!handle) {
        if (was_interrupted)
            (void)PyErr_Format(state_of(module)->closed_error,
                               "the build was ended by a signal, such as Ctrl-C, and published "
                               "nothing; begin another");
        else
            raise_closed(module, "build");
        return NULL;
    }
    if (is_used) PyErr_SetString(PyExc_RuntimeError, "another thread uses the build");
    return is_used ? NULL : handle;
}

/* Closes the handle; NULL is accepted.  One call alone gets the handle from use_end() or
 * use_close(), so nobody else takes the store off the build meanwhile. */
static void close_handle(struct build_object *self, tamis_build *handle)
{
    struct store_object *store = self->store;

    if (!handle) return;
    self->store = NULL;
    WITHOUT_GIL(tamis_build_close(handle));
    store_leave(store);
    Py_DECREF(store);
}

static void build_leave(struct build_object *self)
{
    close_handle(self, use_end((PyObject *)self, &self->use));
}

static PyObject *build_close(PyObject *object, PyObject *unused)
{
    struct build_object *self = (struct build_object *)object;

    (void)unused;
    close_handle(self, use_close(object, &self->use));
    return Py_NewRef(Py_None);
}

static int build_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(((struct build_object *)object)->store);
    return visit_type(object, visit, arg);
}

static void build_dealloc(PyObject *object)
{
    struct build_object *self = (struct build_object *)object;

    PyObject_GC_UnTrack(object);
    close_handle(self, self->use.handle);
    Py_XDECREF(self->spec);
    Py_XDECREF(self->use.module);
    free_object(object);
}

/* Lets Ctrl-C end a build.  Runs in the thread that called the library without the GIL. */
static int check_signals(void *context, uint32_t phase, uint64_t done, uint64_t all)
{
    struct build_object *self = context;
    PyGILState_STATE gil = PyGILState_Ensure();
    int rc = PyErr_CheckSignals() < 0 ? TAMIS_EINVAL : 0; /* the exception stands before that */

    /* From now on the library would say that the build has failed with this code.  Later calls are
     * told that the build was interrupted and is closed. */
    if (rc < 0) LOCKED((PyObject *)self, self->was_interrupted = self->use.is_closed = true);
    (void)phase;
    (void)done;
    (void)all;
    PyGILState_Release(gil);
    return rc;
}

/* build_open(build, store, name, spec, memory_bytes, threads, flags, keep) */
PyObject *build_open(PyObject *module, PyObject *arguments)
{
    struct state *state = state_of(module);
    struct build_object *self;
    struct store_object *store;
    struct tamis_filter_spec filter;
    struct tamis_build_spec spec = TAMIS_INIT(struct tamis_build_spec);
    tamis_build *handle = NULL;
    PyObject *from;
    const char *name;
    int rc;

    if (!PyArg_ParseTuple(arguments, "O!O!sOO&O&O&O&", state->build_type, &self, state->store_type,
                          &store, &name, &from, to_u64, &spec.memory_bytes, to_u32, &spec.threads,
                          to_u32, &spec.flags, to_u32, &spec.keep) ||
        spec_init(&filter, module, from) < 0)
        return NULL;
    if (!store_enter(store)) return NULL;
    if (use_claim((PyObject *)self, &self->use, module, "build") < 0) {
        store_leave(store);
        return NULL;
    }
    self->spec = Py_NewRef(from);
    spec.filter = &filter;
    spec.progress = check_signals;
    spec.context = self;
    WITHOUT_GIL(rc = tamis_build_begin(store->use.handle, name, &spec, &handle));
    if (rc < 0)
        store_leave(store);
    else
        self->store = (struct store_object *)Py_NewRef((PyObject *)store);
    use_open((PyObject *)self, &self->use, rc < 0 ? NULL : handle);
    return none_or_error(module, rc);
}

typedef int build_call(tamis_build *build, const struct tamis_key *keys, size_t count);

/* What an exception gets as its answers: a 1 for each key that the build has taken; None if that
 * would take much memory. */
static PyObject *taken_keys(uint64_t taken)
{
    PyObject *bytes = NULL;

    if (taken > TAKEN_MAX) return Py_NewRef(Py_None);
    bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)taken);
    if (bytes) memset(PyBytes_AsString(bytes), 1, (size_t)taken);
    return bytes;
}

static PyObject *call_with_keys(PyObject *object, build_call *call, PyObject *keys)
{
    struct build_object *self = (struct build_object *)object;
    tamis_build *handle = build_enter(self);
    struct source source;
    Py_ssize_t count = -1;
    uint64_t taken = 0;
    PyObject *result;
    int rc = 0;

    if (!handle) return NULL;
    if (source_init(&source, keys) == 0) {
        while (rc == 0 && (count = source.type->next(&source)) > 0) {
            WITHOUT_GIL(rc = call(handle, source.keys, (size_t)count));
            if (rc == 0) taken += (uint64_t)count;
            if (rc == 0 && PyErr_CheckSignals() < 0) break;
        }
        source_clear(&source);
    }
    result =
        none_or_error(self->use.module, rc); /* where the keys have failed, an exception is set */
    if (!result) give_answers(self->use.module, taken_keys(taken));
    build_leave(self);
    return result;
}

static PyObject *build_add_many(PyObject *self, PyObject *keys)
{
    return call_with_keys(self, tamis_build_add, keys);
}

static PyObject *build_against(PyObject *self, PyObject *keys)
{
    return call_with_keys(self, tamis_build_against, keys);
}

static PyObject *build_except(PyObject *self, PyObject *keys)
{
    return call_with_keys(self, tamis_build_except, keys);
}

/* _publish() -> (whether the generation is in force, dict) */
static PyObject *build_publish(PyObject *object, PyObject *unused)
{
    struct build_object *self = (struct build_object *)object;
    struct tamis_build_result result = TAMIS_INIT(struct tamis_build_result);
    tamis_build *handle = build_enter(self);
    PyObject *dict;
    int rc;

    (void)unused;
    if (!handle) return NULL;
    WITHOUT_GIL(rc = tamis_build_publish(handle, &result));
    if (rc < 0) (void)none_or_error(self->use.module, rc);
    build_leave(self);
    if (rc < 0) return NULL;
    dict = dict_of_result(&result);
    return dict ? Py_BuildValue("NN", PyBool_FromLong(rc), dict) : NULL;
}

static PyObject *build_is_closed(PyObject *object, void *unused)
{
    struct build_object *self = (struct build_object *)object;

    (void)unused;
    return PyBool_FromLong(use_is_over(object, &self->use));
}

static PyMethodDef methods[] = {
    {"add_many", build_add_many, METH_O,
     "add_many($self, keys, /)\n--\n\nAdd keys that the generation is to have."},
    {"against", build_against, METH_O,
     "against($self, keys, /)\n--\n\nGive known good keys: those that would answer yes become "
     "exceptions."},
    {"except_many", build_except, METH_O,
     "except_many($self, keys, /)\n--\n\nGive keys that must answer absent in any case."},
    {"close", build_close, METH_NOARGS,
     "close($self, /)\n--\n\nGive the build up, unless it is published."},
    {"_publish", build_publish, METH_NOARGS,
     "Make the generation, verify it, and put it in force."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", build_is_closed, NULL, "Whether the build is over.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)build_dealloc},
    {Py_tp_traverse, (void *)build_traverse},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

PyType_Spec build_spec = {
    .name = "tamis._tamis.Build",
    .basicsize = sizeof(struct build_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
