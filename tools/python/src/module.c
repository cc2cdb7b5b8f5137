/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module.c: the module tamis._tamis: its types and functions, and how it begins and ends.
 */
#include "module.h"

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
     "shard(key, shards, key_rule=None, /)\n--\n\nThe shard of a key, of a filter in so many "
     "shards "
     "and with this key rule (docs/cluster.md)."},
    {"shard_many", module_shard_many, METH_VARARGS,
     "shard_many(keys, shards, key_rule=None, /)\n--\n\nThe shard of each key, as 32-bit numbers: "
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
