/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exchange.c: filters as streams, and the shard of a key.
 *
 * A stream goes to a callable that takes bytes, or comes from one that takes a number of bytes and
 * returns as many or fewer.  The library calls them from the thread that called it, without the
 * GIL, so each of them takes the GIL while it runs.
 */
#include <string.h>

#include "fields.h"
#include "source.h"

/* What a callable that raised returns to the library; the exception stays set. */
#define RAISED TAMIS_EBUSY

static int write_piece(void *context, const void *data, size_t bytes)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *done = PyObject_CallFunction(context, "y#", data, (Py_ssize_t)bytes);
    int rc = done ? 0 : RAISED;

    Py_XDECREF(done);
    PyGILState_Release(gil);
    return rc;
}

PyObject *filter_export(PyObject *object, PyObject *arguments)
{
    struct filter_object *self = (struct filter_object *)object;
    struct tamis_sink sink = {.size = sizeof sink, .write = write_piece};
    const char *format;
    uint32_t flags;
    int rc;

    if (!PyArg_ParseTuple(arguments, "OsO&", &sink.context, &format, to_u32, &flags) ||
        !filter_enter(self))
        return NULL;
    WITHOUT_GIL(rc = tamis_filter_export(self->use.handle, format, flags, &sink));
    filter_leave(self);
    return none_or_error(self->use.module, rc);
}

static int64_t read_piece(void *context, void *buffer, size_t bytes)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *piece = PyObject_CallFunction(context, "n", (Py_ssize_t)bytes);
    Py_ssize_t length = -1;
    char *data;

    if (piece && PyBytes_AsStringAndSize(piece, &data, &length) < 0) length = -1;
    if (length > (Py_ssize_t)bytes) {
        PyErr_SetString(PyExc_ValueError, "read(n) returned more than n bytes");
        length = -1;
    }
    if (length > 0) memcpy(buffer, data, (size_t)length);
    Py_XDECREF(piece);
    PyGILState_Release(gil);
    return length < 0 ? RAISED : length;
}

/* What an import or a publication is called with. */
struct importing {
    struct tamis_source source;
    struct tamis_import_spec spec;
    const char *name, *format;
};

/* Takes the first arguments; *rest gets those behind them, or NULL with an exception. */
static PyObject *importing_init(struct importing *importing, PyObject *arguments)
{
    struct tamis_import_spec *spec = &importing->spec;
    PyObject *first = PyTuple_GetSlice(arguments, 0, 9), *rest = NULL;

    *importing =
        (struct importing){.source = {.size = sizeof importing->source, .read = read_piece},
                           .spec = TAMIS_INIT(struct tamis_import_spec)};
    /* The tuple that the caller has holds all of them. */
    if (first &&
        PyArg_ParseTuple(first, "OsszO&O&O&dz", &importing->source.context, &importing->name,
                         &importing->format, &spec->hash_set, to_u64, &spec->m_bits, to_u32,
                         &spec->k, to_u64, &spec->capacity, &spec->fp_rate, &spec->origin))
        rest = PyTuple_GetSlice(arguments, 9, PyTuple_Size(arguments));
    Py_XDECREF(first);
    return rest;
}

PyObject *store_import(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    struct importing importing;
    PyObject *rest = importing_init(&importing, arguments);
    int rc;

    if (!rest) return NULL;
    Py_DECREF(rest);
    if (!store_enter(self)) return NULL;
    WITHOUT_GIL(rc = tamis_filter_import(self->use.handle, importing.name, importing.format,
                                         &importing.spec, &importing.source, NULL));
    store_leave(self);
    return none_or_error(self->use.module, rc);
}

PyObject *store_publish(PyObject *object, PyObject *arguments)
{
    struct store_object *self = (struct store_object *)object;
    struct tamis_publish_spec spec = TAMIS_INIT(struct tamis_publish_spec);
    struct importing importing;
    PyObject *rest = importing_init(&importing, arguments);
    int rc;

    if (!rest) return NULL;
    rc = PyArg_ParseTuple(rest, "O&O&", to_u32, &spec.flags, to_u32, &spec.keep);
    Py_DECREF(rest);
    if (!rc || !store_enter(self)) return NULL;
    spec.import = &importing.spec;
    WITHOUT_GIL(rc = tamis_filter_publish(self->use.handle, importing.name, importing.format, &spec,
                                          &importing.source, NULL));
    store_leave(self);
    return none_or_error(self->use.module, rc < 0 ? rc : 0);
}

/* ---- Shards ------------------------------------------------------------------------------- */

static int shards_are_some(uint32_t shards)
{
    if (shards == 0) PyErr_SetString(PyExc_ValueError, "shards: 0; give 1 or more");
    return shards > 0;
}

/* How keys are spread over shards: by their forms, where the filter has a key rule. */
struct spread {
    PyObject *module;
    const char *key_rule; /* NULL: bytes */
    uint32_t shards;
};

/* Sets *shard to that of a key whose form does not fit the stack.  Returns 0, or -1 with an
 * exception. */
static int shard_of_large(const struct spread *spread, const void *key, size_t key_bytes,
                          size_t form_bytes, uint32_t *shard)
{
    void *form = PyMem_Malloc(form_bytes);
    int64_t bytes = TAMIS_ENOMEM;

    if (form) bytes = tamis_key_form(spread->key_rule, key, key_bytes, form, form_bytes);
    if (bytes >= 0) *shard = tamis_shard(form, (size_t)bytes, spread->shards);
    PyMem_Free(form);
    if (bytes < 0) (void)raise_error(spread->module, (int)bytes);
    return bytes < 0 ? -1 : 0;
}

static int shard_of(const struct spread *spread, const void *key, size_t key_bytes, uint32_t *shard)
{
    char form[1024];
    int64_t bytes;

    if (!spread->key_rule) {
        *shard = tamis_shard(key, key_bytes, spread->shards);
        return 0;
    }
    bytes = tamis_key_form(spread->key_rule, key, key_bytes, form, sizeof form);
    if (bytes > (int64_t)sizeof form)
        return shard_of_large(spread, key, key_bytes, (size_t)bytes, shard);
    if (bytes < 0) {
        (void)raise_error(spread->module, (int)bytes);
        return -1;
    }
    *shard = tamis_shard(form, (size_t)bytes, spread->shards);
    return 0;
}

PyObject *module_shard(PyObject *module, PyObject *arguments)
{
    struct spread spread = {.module = module};
    PyObject *from;
    struct key key;
    uint32_t shard = 0;
    int rc;

    if (!PyArg_ParseTuple(arguments, "OO&|z", &from, to_u32, &spread.shards, &spread.key_rule) ||
        !shards_are_some(spread.shards) || key_init(&key, from) < 0)
        return NULL;
    rc = shard_of(&spread, key.data, key.bytes, &shard);
    key_clear(&key);
    return rc < 0 ? NULL : PyLong_FromUnsignedLong(shard);
}

/* Appends the shards of a chunk to *bytes, which may become another object.  Returns 0, or -1 with
 * an exception. */
static int append_shards(PyObject **bytes, const struct source *source, Py_ssize_t count,
                         const struct spread *spread)
{
    uint32_t chunk[CHUNK_KEYS];
    PyObject *more, *longer;

    for (Py_ssize_t i = 0; i < count; i++)
        if (shard_of(spread, source->keys[i].data, source->keys[i].bytes, &chunk[i]) < 0) return -1;
    more = PyBytes_FromStringAndSize((const char *)chunk, count * (Py_ssize_t)sizeof *chunk);
    longer = more ? PySequence_InPlaceConcat(*bytes, more) : NULL;
    Py_XDECREF(more);
    if (!longer) return -1;
    Py_DECREF(*bytes);
    *bytes = longer;
    return PyErr_CheckSignals();
}

PyObject *module_shard_many(PyObject *module, PyObject *arguments)
{
    struct source source;
    PyObject *keys, *bytes;
    Py_ssize_t count = -1;
    struct spread spread = {.module = module};

    if (!PyArg_ParseTuple(arguments, "OO&|z", &keys, to_u32, &spread.shards, &spread.key_rule) ||
        !shards_are_some(spread.shards))
        return NULL;
    bytes = PyByteArray_FromStringAndSize(NULL, 0); /* it grows without a copy each time */
    if (!bytes) return NULL;
    if (source_init(&source, keys) == 0) {
        while ((count = source.type->next(&source)) > 0)
            if (append_shards(&bytes, &source, count, &spread) < 0) {
                count = -1;
                break;
            }
        source_clear(&source);
    }
    if (count == 0) return bytes;
    give_answers(module, bytes);
    return NULL;
}
