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

PyObject *raise_with_answers(PyObject *module, int code, const uint8_t *answers, size_t count)
{
    PyObject *error = new_error(module, code);
    PyObject *given = PyBytes_FromStringAndSize((const char *)answers, (Py_ssize_t)count);

    if (error && given && PyObject_SetAttrString(error, "answers", given) == 0)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(given);
    return NULL;
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
     "shard(key, shards) -> int\n\nThe shard of a key, of a filter in so many shards "
     "(docs/cluster.md)."},
    {"shard_many", module_shard_many, METH_VARARGS,
     "shard_many(keys, shards) -> bytearray\n\nThe shard of each key, as 32-bit numbers: "
     "memoryview(...).cast(\"I\") reads them."},
    {"version", module_version, METH_NOARGS, "The version of the library."},
    {"simd", module_simd, METH_NOARGS, "The vector instructions that batches use."},
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
    Py_DECREF(errors);
    if (!state->by_code || !state->error || !state->closed_error) return -1;
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
