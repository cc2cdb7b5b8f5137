/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module.c: the module tamis._tamis: its state, its types and functions, and how errors of the
 * library become exceptions.
 */
#include <string.h>

#include "module.h"

struct state *state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

int visit_type(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    return 0;
}

void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc free_memory = (freefunc)PyType_GetSlot(type, Py_tp_free);

    free_memory(self);
    Py_DECREF(type);
}

/* ---- Use ---------------------------------------------------------------------------------- */

int use_claim(PyObject *object, struct use *use, PyObject *module, const char *what)
{
    bool is_first;

    LOCKED(object, {
        is_first = !use->module;
        if (is_first) use->module = Py_NewRef(module);
    });
    if (!is_first) (void)PyErr_Format(PyExc_ValueError, "the %s was opened already", what);
    return is_first ? 0 : -1;
}

void use_open(PyObject *object, struct use *use, void *handle)
{
    LOCKED(object, use->handle = handle);
}

void *use_begin(PyObject *object, struct use *use)
{
    void *handle;

    LOCKED(object, {
        handle = use->is_closed ? NULL : use->handle;
        if (handle) use->running++;
    });
    return handle;
}

/* The handle of a closed object that nobody uses, which loses it. */
static void *last_handle(struct use *use)
{
    void *handle = use->handle;

    if (!use->is_closed || use->running > 0) return NULL;
    use->handle = NULL;
    return handle;
}

void *use_end(PyObject *object, struct use *use)
{
    void *handle;

    LOCKED(object, {
        use->running--;
        handle = last_handle(use);
    });
    return handle;
}

void *use_close(PyObject *object, struct use *use)
{
    void *handle;

    LOCKED(object, {
        use->is_closed = use->handle != NULL; /* one that is being opened stays open */
        handle = last_handle(use);
    });
    return handle;
}

bool use_is_over(PyObject *object, struct use *use)
{
    bool is_over;

    LOCKED(object, is_over = !use->handle || use->is_closed);
    return is_over;
}

PyObject *use_module(PyObject *object, struct use *use)
{
    PyObject *module;

    LOCKED(object, module = use->module);
    return module;
}

/* ---- Errors ------------------------------------------------------------------------------- */

/* A new exception for the code; NULL with another exception if it cannot be made. */
static PyObject *new_error(PyObject *module, int code)
{
    struct state *state = state_of(module);
    const char *said = tamis_last_error();
    PyObject *number = PyLong_FromLong(code), *sentence = NULL, *class, *made = NULL;

    /* A name in the sentence may come from a damaged file, so it need not be UTF-8. */
    sentence = PyUnicode_DecodeUTF8(said, (Py_ssize_t)strlen(said), "replace");
    if (!number || !sentence) goto out;
    class = PyDict_GetItemWithError(state->by_code, number);
    if (!class && PyErr_Occurred()) goto out;
    if (!class) class = state->error;
    made = PyObject_CallFunctionObjArgs(class, sentence, NULL);
out:
    Py_XDECREF(number);
    Py_XDECREF(sentence);
    return made;
}

PyObject *raise_error(PyObject *module, int code)
{
    PyObject *error = new_error(module, code);

    if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return NULL;
}

PyObject *none_or_error(PyObject *module, int rc)
{
    if (PyErr_Occurred()) return NULL;
    return rc < 0 ? raise_error(module, rc) : Py_NewRef(Py_None);
}

/* Whether the exception has no answers of another call, and takes these.  No code of its class
 * runs: one that refuses new attributes takes this one. */
static bool takes_answers(PyObject *error, PyObject *answers)
{
    PyObject *name = PyUnicode_FromString("answers"), *old = NULL;
    bool has_taken = false;

    if (name) old = PyObject_GetAttr(error, name);
    PyErr_Clear();
    if (name && (!old || old == Py_None))
        has_taken = PyObject_GenericSetAttr(error, name, answers) == 0;
    PyErr_Clear();
    Py_XDECREF(name);
    Py_XDECREF(old);
    return has_taken;
}

void give_answers(PyObject *module, PyObject *answers)
{
    PyObject *type, *error, *traceback, *other;

    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback) (void)PyException_SetTraceback(error, traceback);
    if (!answers || takes_answers(error, answers)) {
        PyErr_Restore(type, error, traceback);
        Py_XDECREF(answers);
        return;
    }
    other = PyObject_CallFunctionObjArgs(state_of(module)->with_answers, error, answers, NULL);
    /* A second Ctrl-C may have ended that call. */
    if (!other) {
        PyObject *type_of_other, *traceback_of_other;
        PyErr_Fetch(&type_of_other, &other, &traceback_of_other);
        PyErr_NormalizeException(&type_of_other, &other, &traceback_of_other);
        Py_XDECREF(type_of_other);
        Py_XDECREF(traceback_of_other);
        (void)takes_answers(other, answers);
    }
    PyErr_SetObject((PyObject *)Py_TYPE(other), other);
    Py_DECREF(other);
    Py_DECREF(answers);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
}

PyObject *raise_closed(PyObject *module, const char *what)
{
    PyObject *class = module ? state_of(module)->closed_error : PyExc_ValueError;

    return PyErr_Format(class, "the %s is closed", what);
}

/* ---- The module --------------------------------------------------------------------------- */

static PyObject *module_version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(tamis_version());
}

static PyObject *module_simd(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(tamis_simd());
}

static PyMethodDef functions[] = {
    {"store_open", store_open, METH_VARARGS, "Open a Store that has no handle yet."},
    {"filter_open", filter_open, METH_VARARGS, "Open a Filter that has no handle yet."},
    {"build_open", build_open, METH_VARARGS, "Begin a Build that has no handle yet."},
    {"shard", module_shard, METH_VARARGS,
     "shard(key, shards, /)\n--\n\nThe shard of a key, of a filter in so many shards "
     "(docs/cluster.md)."},
    {"shard_many", module_shard_many, METH_VARARGS,
     "shard_many(keys, shards, /)\n--\n\nThe shard of each key, as 32-bit numbers: "
     "memoryview(...).cast(\"I\") reads them."},
    {"version", module_version, METH_NOARGS, "version()\n--\n\nThe version of the library."},
    {"simd", module_simd, METH_NOARGS, "simd()\n--\n\nThe vector instructions that batches use."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);

    if (type && PyModule_AddType(module, (PyTypeObject *)type) < 0) Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static int fill_module(PyObject *module)
{
    struct state *state = state_of(module);
    PyObject *errors = PyImport_ImportModule("tamis._errors");

    if (!errors) return -1;
    state->by_code = PyObject_GetAttrString(errors, "BY_CODE");
    state->error = PyObject_GetAttrString(errors, "Error");
    state->closed_error = PyObject_GetAttrString(errors, "ClosedError");
    state->with_answers = PyObject_GetAttrString(errors, "with_answers");
    Py_DECREF(errors);
    if (!state->by_code || !state->error || !state->closed_error || !state->with_answers) return -1;
    state->store_type = add_type(module, &store_spec);
    state->filter_type = state->store_type ? add_type(module, &filter_spec) : NULL;
    state->build_type = state->filter_type ? add_type(module, &build_spec) : NULL;
    return state->build_type ? 0 : -1;
}

static int visit_module(PyObject *module, visitproc visit, void *arg)
{
    struct state *state = state_of(module);

    Py_VISIT(state->store_type);
    Py_VISIT(state->filter_type);
    Py_VISIT(state->build_type);
    Py_VISIT(state->by_code);
    Py_VISIT(state->error);
    Py_VISIT(state->closed_error);
    Py_VISIT(state->with_answers);
    return 0;
}

static int clear_module(PyObject *module)
{
    struct state *state = state_of(module);

    Py_CLEAR(state->store_type);
    Py_CLEAR(state->filter_type);
    Py_CLEAR(state->build_type);
    Py_CLEAR(state->by_code);
    Py_CLEAR(state->error);
    Py_CLEAR(state->closed_error);
    Py_CLEAR(state->with_answers);
    return 0;
}

static void free_module(void *module)
{
    clear_module(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill_module},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tamis._tamis",
    .m_doc = "Handles of libtamis, for the classes of `tamis`.",
    .m_size = sizeof(struct state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = visit_module,
    .m_clear = clear_module,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__tamis(void);
PyMODINIT_FUNC PyInit__tamis(void)
{
    return PyModuleDef_Init(&definition);
}
