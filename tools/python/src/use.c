/* SPDX-License-Identifier: BSD-2-Clause */
/* use.c: how calls use the handle of an object beside its close (module.h). */
#include "module.h"

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

/* ---- Any object --------------------------------------------------------------------------- */

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

/* Takes the handle off the object, if that is closed and nobody uses it; else returns NULL. */
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

/* ---- Stores ------------------------------------------------------------------------------- */

tamis_store *store_enter(struct store_object *self)
{
    tamis_store *handle = use_begin((PyObject *)self, &self->use);

    if (!handle) raise_closed(use_module((PyObject *)self, &self->use), "store");
    return handle;
}

void store_close_handle(tamis_store *handle)
{
    if (handle) WITHOUT_GIL(tamis_store_close(handle));
}

void store_leave(struct store_object *self)
{
    store_close_handle(use_end((PyObject *)self, &self->use));
}

/* ---- Filters ------------------------------------------------------------------------------ */

tamis_filter *filter_enter(struct filter_object *self)
{
    tamis_filter *handle = use_begin((PyObject *)self, &self->use);

    if (!handle) raise_closed(use_module((PyObject *)self, &self->use), "filter");
    return handle;
}

int filter_close_handle(tamis_filter *handle)
{
    int rc;

    WITHOUT_GIL(rc = tamis_filter_close(handle));
    return rc;
}

void filter_close_quietly(struct filter_object *self, tamis_filter *handle)
{
    PyObject *type, *value, *traceback;
    int rc;

    PyErr_Fetch(&type, &value, &traceback);
    rc = filter_close_handle(handle);
    if (rc < 0 && rc != TAMIS_EDROPPED && rc != TAMIS_ENOSTORE) {
        raise_error(self->use.module, rc);
        PyErr_WriteUnraisable(self->use.module);
    }
    PyErr_Restore(type, value, traceback);
}

void filter_leave(struct filter_object *self)
{
    tamis_filter *handle = use_end((PyObject *)self, &self->use);

    if (handle) filter_close_quietly(self, handle);
}
