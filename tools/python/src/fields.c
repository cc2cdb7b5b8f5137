/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <string.h>

#include "fields.h"

/* ---- Numbers ------------------------------------------------------------------------------ */

int to_u64(PyObject *object, void *value)
{
    PyObject *number = PyNumber_Index(object);

    if (!number) return 0;
    *(uint64_t *)value = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return !PyErr_Occurred();
}

int to_i64(PyObject *object, void *value)
{
    PyObject *number = PyNumber_Index(object);

    if (!number) return 0;
    *(int64_t *)value = PyLong_AsLongLong(number);
    Py_DECREF(number);
    return !PyErr_Occurred();
}

int to_u32(PyObject *object, void *value)
{
    uint64_t wide;

    if (!to_u64(object, &wide)) return 0;
    if (wide > UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "the number does not fit 32 bits");
        return 0;
    }
    *(uint32_t *)value = (uint32_t)wide;
    return 1;
}

/* ---- Specs -------------------------------------------------------------------------------- */

int spec_init(struct tamis_filter_spec *spec, PyObject *module, PyObject *from)
{
    const char *kind, *secret;
    Py_ssize_t secret_bytes;
    int rc;

    *spec = (struct tamis_filter_spec){.size = sizeof *spec};
    if (from == Py_None) return 0;
    if (!PyTuple_Check(from)) {
        PyErr_SetString(PyExc_TypeError, "a spec is a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(from, "O&dzO&O&zO&O&O&O&O&O&O&y#O&z:spec", to_u64, &spec->capacity,
                          &spec->fp_rate, &kind, to_u32, &spec->k, to_u64, &spec->m_bits,
                          &spec->hash_set, to_u64, &spec->seed, to_u32, &spec->on_full, to_u32,
                          &spec->slices, to_i64, &spec->window_ns, to_u64, &spec->window_items,
                          to_u32, &spec->counter_bits, to_u32, &spec->flags, &secret, &secret_bytes,
                          to_u32, &spec->pages, &spec->key_rule))
        return -1;
    if (secret_bytes != 0 && secret_bytes != TAMIS_SECRET_BYTES) {
        PyErr_Format(PyExc_ValueError, "a secret has %d bytes", TAMIS_SECRET_BYTES);
        return -1;
    }
    if (secret_bytes > 0) memcpy(spec->secret, secret, TAMIS_SECRET_BYTES);
    rc = kind ? tamis_kind_from_name(kind, &spec->kind) : 0;
    if (rc < 0) raise_error(module, rc);
    return rc < 0 ? -1 : 0;
}

/* ---- Structs ------------------------------------------------------------------------------ */

struct field {
    const char *name;
    enum { U32, U64, I64, REAL, DIGEST } type;
    size_t offset;
};

#define FIELD(of, type, name)                                                                      \
    {                                                                                              \
#name, type, offsetof(struct of, name)                                                     \
    }
#define GENERATION(type, name) FIELD(tamis_generation_stat, type, name)
static const struct field generation_fields[] = {
    GENERATION(U64, generation),    GENERATION(U32, in_force),
    GENERATION(U32, segment_count), GENERATION(U64, items),
    GENERATION(U64, size_bytes),    GENERATION(REAL, fp_rate),
    GENERATION(U64, exceptions),    GENERATION(I64, published_at),
    GENERATION(DIGEST, key_digest), {NULL, U32, 0},
};
#define RESULT(type, name) FIELD(tamis_build_result, type, name)
static const struct field result_fields[] = {
    RESULT(U64, keys),          RESULT(U64, distinct),    RESULT(U64, generation),
    RESULT(U64, exceptions),    RESULT(U64, found),       RESULT(U64, conflicts),
    RESULT(U64, sampled),       RESULT(U64, sampled_yes), RESULT(U64, size_bytes),
    RESULT(DIGEST, key_digest), {NULL, U32, 0},
};

static PyObject *value_of(const struct field *field, const void *from)
{
    const char *at = (const char *)from + field->offset;

    switch (field->type) {
    case U32:
        return PyLong_FromUnsignedLong(*(const uint32_t *)(const void *)at);
    case U64:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)(const void *)at);
    case I64:
        return PyLong_FromLongLong(*(const int64_t *)(const void *)at);
    case REAL:
        return PyFloat_FromDouble(*(const double *)(const void *)at);
    default:
        return PyBytes_FromStringAndSize(at, 16);
    }
}

/* Puts the value into the dict, and takes over its reference.  Returns 0, or -1 with an exception.
 */
static int put(PyObject *dict, const char *name, PyObject *value)
{
    int rc = value ? PyDict_SetItemString(dict, name, value) : -1;

    Py_XDECREF(value);
    return rc;
}

static PyObject *dict_of(const struct field *field, const void *from)
{
    PyObject *dict = PyDict_New();

    for (; dict && field->name; field++)
        if (put(dict, field->name, value_of(field, from)) < 0) Py_CLEAR(dict);
    return dict;
}

/* A word, or "" for a number that has none. */
static PyObject *word(const char *name)
{
    return PyUnicode_FromString(name ? name : "");
}

/* The value of a field of the library's table (tamis_fields.h). */
static PyObject *value_of_field(uint32_t type, const struct tamis_field_value *value)
{
    switch (type) {
    case TAMIS_FIELD_TEXT:
    case TAMIS_FIELD_WORD:
        if (!value->text) Py_RETURN_NONE;
        return PyUnicode_DecodeUTF8(value->text, (Py_ssize_t)strlen(value->text), "replace");
    case TAMIS_FIELD_LIMIT:
        if (value->number == UINT64_MAX) Py_RETURN_NONE;
        return PyLong_FromUnsignedLongLong(value->number);
    case TAMIS_FIELD_YES:
        return PyBool_FromLong(value->number != 0);
    case TAMIS_FIELD_REAL:
        return PyFloat_FromDouble(value->real);
    case TAMIS_FIELD_TIME:
    case TAMIS_FIELD_SPAN:
        return PyLong_FromLongLong(value->ns);
    default:
        return PyLong_FromUnsignedLongLong(value->number);
    }
}

PyObject *dict_of_stat(const struct tamis_filter_stat *stat)
{
    struct tamis_field field = TAMIS_INIT(struct tamis_field);
    struct tamis_field_value value = TAMIS_INIT(struct tamis_field_value);
    PyObject *dict = PyDict_New();

    for (uint32_t i = 0;
         dict && tamis_field(TAMIS_FIELDS_FILTER, TAMIS_SHOWN_BY_BINDINGS, i, &field) > 0; i++)
        if (tamis_field_get(&field, stat, &value) > 0 &&
            put(dict, field.name, value_of_field(field.type, &value)) < 0)
            Py_CLEAR(dict);
    return dict;
}

PyObject *dict_of_generation(const struct tamis_generation_stat *stat)
{
    PyObject *dict = dict_of(generation_fields, stat);

    if (dict && put(dict, "kind", word(tamis_kind_name(stat->kind))) < 0) Py_CLEAR(dict);
    return dict;
}

PyObject *dict_of_result(const struct tamis_build_result *result)
{
    return dict_of(result_fields, result);
}
