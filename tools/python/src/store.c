/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c: the type Store: an open store, and what is done to the filters in it by name. */
#include <string.h>

#include "fields.h"

/* ---- Handles ------------------------------------------------------------------------------ */

static PyObject *store_close(PyObject *object, PyObject *unused)
{
    struct store_object *self = (struct store_object *)object;

    (void)unused;
    store_close_handle(use_close(object, &self->use));
    return Py_NewRef(Py_None);
}

static void store_dealloc(PyObject *object)
{
    struct store_object *self = (struct store_object *)object;

    PyObject_GC_UnTrack(object);
    store_close_handle(self->use.handle);
    Py_XDECREF(self->use.module);
    free_object(object);
}

/* store_open(store, path, flags, mode, busy_timeout_ms) */
PyObject *store_open(PyObject *module, PyObject *arguments)
{
    struct store_object *self;
    struct tamis_store_options options = TAMIS_INIT(struct tamis_store_options);
    tamis_store *handle = NULL;
    PyObject *path;
    const char *path_bytes;
    int rc;

    if (!PyArg_ParseTuple(arguments, "O!O&O&O&O&", state_of(module)->store_type, &self,
                          PyUnicode_FSConverter, &path, to_u32, &options.flags, to_u32,
                          &options.mode, to_i64, &options.busy_timeout_ms))
        return NULL;
    if (use_claim((PyObject *)self, &self->use, module, "store") < 0) {
        Py_DECREF(path);
        return NULL;
    }
    options.busy_fn = give_up_gil;
    path_bytes = PyBytes_AsString(path);
    WITHOUT_GIL(rc = tamis_store_open_with(path_bytes, &options, &handle));
    use_open((PyObject *)self, &self->use, handle);
    Py_DECREF(path);
    return none_or_error(module, rc);
}

/* ---- Lists -------------------------------------------------------------------------------- */

struct list {
    PyObject *list;
    const char *only; /* NULL, or the only name that is wanted, which comes first */
};

/* What the functions below return to the library, which calls them without the GIL: an exception is
 * set, or enough was seen.  No code of the library is that low. */
#define LIST_FAILED (-100)
#define LIST_ENOUGH (-101)

static int append(PyObject *list, PyObject *dict)
{
    int rc = dict && PyList_Append(list, dict) == 0 ? 0 : LIST_FAILED;

    Py_XDECREF(dict);
    return rc;
}

static int list_one(void *context, const struct tamis_filter_stat *stat)
{
    const struct list *list = context;
    PyGILState_STATE gil;
    int rc;

    if (list->only && strcmp(stat->name, list->only) != 0) return LIST_ENOUGH;
    gil = PyGILState_Ensure();
    rc = append(list->list, dict_of_stat(stat));
    PyGILState_Release(gil);
    return rc == 0 && list->only ? LIST_ENOUGH : rc;
}

/* _list(prefix, is_live, only_this_name) */
static PyObject *store_list(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    struct list list = {.list = NULL};
    const char *prefix;
    int is_live, only_this_name, rc;

    if (!PyArg_ParseTuple(arguments, "spp", &prefix, &is_live, &only_this_name) ||
        !store_enter(self))
        return NULL;
    list.list = PyList_New(0);
    list.only = only_this_name ? prefix : NULL;
    if (list.list) {
        WITHOUT_GIL(rc = (is_live ? tamis_store_list_live
                                  : tamis_store_list)(self->use.handle, prefix, list_one, &list));
        if (rc < 0 && rc > LIST_FAILED) raise_error(self->use.module, rc);
        if (rc < 0 && rc != LIST_ENOUGH) Py_CLEAR(list.list);
    }
    store_leave(self);
    return list.list;
}

static int list_generation(void *context, const struct tamis_generation_stat *stat)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    int rc = append(context, dict_of_generation(stat));

    PyGILState_Release(gil);
    return rc;
}

/* _generations(name) */
static PyObject *store_generations(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    const char *name;
    PyObject *list;
    int rc;

    if (!PyArg_ParseTuple(arguments, "s", &name) || !store_enter(self)) return NULL;
    list = PyList_New(0);
    if (list) {
        WITHOUT_GIL(rc = tamis_filter_generations(self->use.handle, name, list_generation, list));
        if (rc < 0 && rc > LIST_FAILED) raise_error(self->use.module, rc);
        if (rc < 0) Py_CLEAR(list);
    }
    store_leave(self);
    return list;
}

/* ---- Changes ------------------------------------------------------------------------------ */

/* drop(name) */
static PyObject *store_drop(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    const char *name;
    int rc;

    if (!PyArg_ParseTuple(arguments, "s:drop", &name) || !store_enter(self)) return NULL;
    WITHOUT_GIL(rc = tamis_filter_drop(self->use.handle, name));
    store_leave(self);
    return none_or_error(self->use.module, rc);
}

/* rename(old_name, new_name) */
static PyObject *store_rename(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    const char *old_name, *new_name;
    int rc;

    if (!PyArg_ParseTuple(arguments, "ss:rename", &old_name, &new_name) || !store_enter(self))
        return NULL;
    WITHOUT_GIL(rc = tamis_filter_rename(self->use.handle, old_name, new_name));
    store_leave(self);
    return none_or_error(self->use.module, rc);
}

/* _set_pages(name, pages) */
static PyObject *store_set_pages(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    uint32_t pages;
    const char *name;
    int rc;

    if (!PyArg_ParseTuple(arguments, "sO&", &name, to_u32, &pages) || !store_enter(self))
        return NULL;
    WITHOUT_GIL(rc = tamis_filter_set_pages(self->use.handle, name, pages));
    store_leave(self);
    return none_or_error(self->use.module, rc);
}

/* _rollback(name, generation) */
static PyObject *store_rollback(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    uint64_t generation;
    const char *name;
    int rc;

    if (!PyArg_ParseTuple(arguments, "sO&", &name, to_u64, &generation) || !store_enter(self))
        return NULL;
    WITHOUT_GIL(rc = tamis_filter_rollback(self->use.handle, name, generation));
    store_leave(self);
    return none_or_error(self->use.module, rc);
}

/* The texts of a tuple of names, into `texts`, which are good as long as the tuple is; false with
 * an exception. */
static bool take_names(PyObject *names, const char **texts, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        Py_ssize_t bytes = 0;
        if (!PyUnicode_Check(name)) {
            PyErr_Format(PyExc_TypeError, "the name of a filter is a str, not %R", name);
            return false;
        }
        texts[i] = PyUnicode_AsUTF8AndSize(name, &bytes);
        if (!texts[i]) return false;
        if (strlen(texts[i]) != (size_t)bytes) {
            PyErr_SetString(PyExc_ValueError, "embedded null character");
            return false;
        }
    }
    return true;
}

/* _create_many(names, spec, flags): how many were made */
static PyObject *store_create_many(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    struct tamis_filter_spec spec;
    const char **texts = NULL;
    PyObject *names, *from, *module;
    unsigned flags;
    int64_t made = -1;

    if (!PyArg_ParseTuple(arguments, "O!OO&", &PyTuple_Type, &names, &from, to_u32, &flags) ||
        !store_enter(self))
        return NULL;
    module = self->use.module;
    const Py_ssize_t count = PyTuple_Size(names);
    texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
    if (!texts) PyErr_NoMemory();
    if (texts && spec_init(&spec, module, from) == 0 && take_names(names, texts, count)) {
        WITHOUT_GIL(
            made = tamis_filter_create_many(self->use.handle, texts, (size_t)count, &spec, flags));
        if (made < 0) raise_error(module, (int)made);
    }
    PyMem_Free((void *)texts);
    store_leave(self);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(made);
}

/* Enters the filters one after the other and puts their handles into `sources`.  Returns how many
 * it entered; fewer than `count` with an exception. */
static Py_ssize_t enter_sources(PyObject *module, PyObject *filters, tamis_filter **sources,
                                Py_ssize_t count)
{
    Py_ssize_t i;

    for (i = 0; i < count; i++) {
        PyObject *filter = PyTuple_GetItem(filters, i);
        if (!PyObject_TypeCheck(filter, state_of(module)->filter_type)) {
            PyErr_SetString(PyExc_TypeError, "filters are made of filters");
            break;
        }
        sources[i] = filter_enter((struct filter_object *)filter);
        if (!sources[i]) break;
    }
    return i;
}

/* _merge(name, filters, flags) */
static PyObject *store_merge(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    struct tamis_merge merge = TAMIS_INIT(struct tamis_merge);
    tamis_filter **sources = NULL;
    PyObject *filters, *module;
    Py_ssize_t count, entered = 0;
    const char *name;
    int rc = 0;

    if (!PyArg_ParseTuple(arguments, "sO!O&", &name, &PyTuple_Type, &filters, to_u32,
                          &merge.flags) ||
        !store_enter(self))
        return NULL;
    module = self->use.module;
    count = PyTuple_Size(filters);
    sources = PyMem_Calloc((size_t)count + 1, sizeof *sources);
    if (!sources) PyErr_NoMemory();
    if (sources) entered = enter_sources(module, filters, sources, count);
    if (sources && entered == count) {
        merge.sources = sources;
        merge.count = (size_t)count;
        WITHOUT_GIL(rc = tamis_filter_create_merged(self->use.handle, name, &merge, NULL));
        if (rc < 0)
            raise_error(
                module,
                rc); /* filter_leave() may close a handle, which has a sentence of its own */
    }
    while (entered > 0)
        filter_leave((struct filter_object *)PyTuple_GetItem(filters, --entered));
    PyMem_Free(sources);
    store_leave(self);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* _verify(name or None): the number of problems */
static PyObject *store_verify(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    const char *name;
    int64_t problems;

    if (!PyArg_ParseTuple(arguments, "z", &name) || !store_enter(self)) return NULL;
    WITHOUT_GIL(problems = tamis_store_verify(self->use.handle, name, NULL, NULL));
    store_leave(self);
    return problems < 0 ? raise_error(self->use.module, (int)problems)
                        : PyLong_FromLongLong(problems);
}

static PyObject *store_is_closed(PyObject *object, void *unused)
{
    struct store_object *self = (struct store_object *)object;

    (void)unused;
    return PyBool_FromLong(use_is_over(object, &self->use));
}

static PyMethodDef methods[] = {
    {"drop", store_drop, METH_VARARGS,
     "drop($self, name, /)\n--\n\nRemove a filter and its files.  Open handles of it, in any "
     "process, fail from "
     "then on."},
    {"rename", store_rename, METH_VARARGS,
     "rename($self, old_name, new_name, /)\n--\n\nGive a filter another name."},
    {"close", store_close, METH_NOARGS,
     "close($self, /)\n--\n\nClose the store.  Filters that are open stay open."},
    {"_list", store_list, METH_VARARGS, "Dicts of the filters."},
    {"_generations", store_generations, METH_VARARGS, "Dicts of the generations of a filter."},
    {"_set_pages", store_set_pages, METH_VARARGS, "Change the pages of a filter."},
    {"_rollback", store_rollback, METH_VARARGS, "Put a kept generation in force."},
    {"_create_many", store_create_many, METH_VARARGS, "Make many filters."},
    {"_merge", store_merge, METH_VARARGS, "Make a filter of others."},
    {"_import", store_import, METH_VARARGS, "Make a filter of a stream."},
    {"_publish", store_publish, METH_VARARGS, "Make a stream the next generation of a filter."},
    {"_verify", store_verify, METH_VARARGS, "The number of problems."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"closed", store_is_closed, NULL, "Whether the store is closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void *)store_dealloc},
    {Py_tp_traverse, (void *)visit_type},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

PyType_Spec store_spec = {
    .name = "tamis._tamis.Store",
    .basicsize = sizeof(struct store_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
