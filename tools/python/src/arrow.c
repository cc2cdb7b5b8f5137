/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arrow.c: keys out of an Arrow array of strings or binaries, by Arrow's C data interface: what
 * pyarrow, polars, pandas and DuckDB hand out by __arrow_c_array__() or __arrow_c_stream__().
 * Nothing of these is needed to read it.
 *
 * An array has `length` values from `offset` on.  buffers[0] says by bits which of them are there
 * (NULL: all).  Then:
 *
 *     u, z       buffers[1]: int32 offsets, one more than values; buffers[2]: the bytes
 *     U, Z       the same with int64 offsets
 *     w:N        buffers[1]: values of N bytes
 *     c .. L     buffers[1]: integers of 1, 2, 4 or 8 bytes, signed (lower case) or not
 *     f, g       buffers[1]: floats of 4 or 8 bytes
 *     vu, vz     buffers[1]: views of 16 bytes, each with a length (int32) first.  A value of up to
 *                12 bytes follows.  Of a longer one its first 4 bytes follow, then the number of
 *                the buffer after buffers[1] that has it, and its place in there (int32 each).
 *
 * The bytes of integers and floats are the keys, as those of an array of numpy are.
 *
 * In a dictionary the array itself has integers, which are places in the array `dictionary`, and
 * that has the values.
 *
 * An array of the first interface stays with its capsule, which is held.  Arrays of a stream are
 * ours, one at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "source.h"

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

struct arrow {
    PyObject *capsules; /* the tuple of __arrow_c_array__(), or the capsule of a stream */
    struct ArrowArrayStream *stream; /* NULL: `array` is the only one */
    const struct ArrowArray *array;
    struct ArrowArray of_stream; /* release is NULL if there is none */
    char layout;                 /* 'u', 'U', 'w' or 'v' */
    int64_t fixed_bytes;         /* of w:N, and of numbers, whose layout is 'w' too */
    char index;                  /* format of the places in a dictionary; '\0': there is none */
    int64_t at;                  /* in `array` */
};

/* ---- Values ------------------------------------------------------------------------------- */

static struct tamis_key view_at(const struct ArrowArray *array, int64_t i)
{
    const char *view = (const char *)array->buffers[1] + 16 * i;
    int32_t length, buffer, place;

    memcpy(&length, view, 4);
    memcpy(&buffer, view + 8, 4);
    memcpy(&place, view + 12, 4);
    return (struct tamis_key){
        .data = length <= 12 ? view + 4 : (const char *)array->buffers[2 + buffer] + place,
        .bytes = (size_t)length,
    };
}

/* Value i of an array, or of a dictionary. */
static struct tamis_key value_at(const struct arrow *arrow, const struct ArrowArray *array,
                                 int64_t i)
{
    const void *second = array->buffers[1];
    int64_t begin, end;

    i += array->offset;
    switch (arrow->layout) {
    case 'v':
        return view_at(array, i);
    case 'w':
        begin = i * arrow->fixed_bytes, end = begin + arrow->fixed_bytes;
        break;
    case 'U':
        begin = ((const int64_t *)second)[i], end = ((const int64_t *)second)[i + 1];
        break;
    default:
        begin = ((const int32_t *)second)[i], end = ((const int32_t *)second)[i + 1];
    }
    if (begin == end) return (struct tamis_key){.data = NULL};
    return (struct tamis_key){
        .data = (const char *)(arrow->layout == 'w' ? second : array->buffers[2]) + begin,
        .bytes = (size_t)(end - begin),
    };
}

static bool is_null(const struct ArrowArray *array, int64_t i)
{
    const uint8_t *valid = array->buffers[0];

    i += array->offset;
    return array->null_count != 0 && valid && !(valid[i / 8] >> (i % 8) & 1);
}

/* The place of value i in the dictionary; -1: in none. */
static int64_t place_at(const struct arrow *arrow, int64_t i)
{
    const void *places = arrow->array->buffers[1];
    uint64_t wide;

    i += arrow->array->offset;
    switch (arrow->index) {
    case 'c':
        return ((const int8_t *)places)[i];
    case 'C':
        return ((const uint8_t *)places)[i];
    case 's':
        return ((const int16_t *)places)[i];
    case 'S':
        return ((const uint16_t *)places)[i];
    case 'i':
        return ((const int32_t *)places)[i];
    case 'I':
        return ((const uint32_t *)places)[i];
    case 'l':
        return ((const int64_t *)places)[i];
    default:
        wide = ((const uint64_t *)places)[i];
        return wide > INT64_MAX ? -1 : (int64_t)wide;
    }
}

/* Returns NULL, or why value i is no key. */
static const char *why_no_key(const struct arrow *arrow, int64_t i)
{
    const struct ArrowArray *dictionary = arrow->array->dictionary;
    int64_t place;

    if (is_null(arrow->array, i)) return "it is null; drop the nulls first";
    if (!arrow->index) return NULL;
    place = place_at(arrow, i);
    if (place < 0 || place >= dictionary->length) return "its place is outside of the dictionary";
    return is_null(dictionary, place) ? "it is null; drop the nulls first" : NULL;
}

/* ---- Arrays ------------------------------------------------------------------------------- */

/* Looks through an array before its first key goes to the library.  Returns 0, or -1 with an
 * exception.
 */
static int look_through(const struct arrow *arrow)
{
    const bool may_have_nulls = arrow->array->null_count != 0 && arrow->array->buffers[0];

    if (!may_have_nulls && !arrow->index) return 0;
    for (int64_t i = 0; i < arrow->array->length; i++) {
        const char *why = why_no_key(arrow, i);
        if (!why) continue;
        PyErr_Format(PyExc_ValueError, "value %lld of the Arrow array is no key: %s", (long long)i,
                     why);
        return -1;
    }
    return 0;
}

/* The next array of the stream.  Returns 1; 0: there is none; -1 with an exception. */
static int next_array(struct arrow *arrow)
{
    const char *why;

    if (arrow->of_stream.release) arrow->of_stream.release(&arrow->of_stream);
    arrow->of_stream.release = NULL;
    arrow->array = NULL;
    if (!arrow->stream) return 0;
    if (arrow->stream->get_next(arrow->stream, &arrow->of_stream) != 0) {
        why = arrow->stream->get_last_error(arrow->stream);
        arrow->of_stream.release = NULL;
        PyErr_Format(PyExc_ValueError, "the Arrow stream fails: %s",
                     why ? why : "it does not say why");
        return -1;
    }
    if (!arrow->of_stream.release) return 0;
    arrow->array = &arrow->of_stream;
    arrow->at = 0;
    return look_through(arrow) < 0 ? -1 : 1;
}

static Py_ssize_t next_values(struct source *source)
{
    struct arrow *arrow = source->own;
    Py_ssize_t count = 0;
    int rc;

    /* The keys of a chunk are of one array, which lives until the next chunk is asked for. */
    while (arrow->array && arrow->at == arrow->array->length) {
        rc = next_array(arrow);
        if (rc <= 0) return rc;
    }
    while (arrow->array && count < CHUNK_KEYS && arrow->at < arrow->array->length) {
        const int64_t i = arrow->at++;
        source->keys[count++] = arrow->index
                                    ? value_at(arrow, arrow->array->dictionary, place_at(arrow, i))
                                    : value_at(arrow, arrow->array, i);
    }
    return count;
}

static void clear_arrow(struct source *source)
{
    struct arrow *arrow = source->own;

    if (arrow->of_stream.release) arrow->of_stream.release(&arrow->of_stream);
    Py_XDECREF(arrow->capsules);
    PyMem_Free(arrow);
}

static const struct source_type arrow_type = {.next = next_values, .clear = clear_arrow};

/* ---- Opening ------------------------------------------------------------------------------ */

/* The bytes of a number of this format; 0: it is none. */
static int64_t bytes_of_number(const char *format)
{
    static const char formats[] = "cCsSiIlLfg", bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    const char *found = format[0] && !format[1] ? strchr(formats, format[0]) : NULL;

    return found ? bytes[found - formats] : 0;
}

/* What to do about a format that is not known. */
static const char *remedy(const char *format)
{
    if (format[0] == 't')
        return "times are numbers in a unit of their own: cast them to int64, or to strings";
    if (strcmp(format, "+s") == 0) return "this is a table: give one column of it";
    if (format[0] == '+') return "flatten or decode it first";
    return "cast it to strings or integers first";
}

static int read_values(struct arrow *arrow, const char *format)
{
    bool is_known;

    arrow->layout = format[0];
    if (format[0] == 'z') arrow->layout = 'u';
    if (format[0] == 'Z') arrow->layout = 'U';
    arrow->fixed_bytes = bytes_of_number(format);
    if (strncmp(format, "w:", 2) == 0) arrow->fixed_bytes = strtoll(format + 2, NULL, 10);
    if (arrow->fixed_bytes > 0) arrow->layout = 'w';
    is_known = arrow->fixed_bytes > 0 || strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0 ||
               (format[0] && strchr("uzUZ", format[0]) && !format[1]);
    if (is_known) return 0;
    PyErr_Format(PyExc_TypeError,
                 "keys of an Arrow array are strings, binaries or numbers, not of format '%s'; %s",
                 format, remedy(format));
    return -1;
}

static int read_schema(struct arrow *arrow, const struct ArrowSchema *schema)
{
    if (!schema->dictionary) return read_values(arrow, schema->format);
    arrow->index = schema->format[0];
    if (schema->format[1] == '\0' && strchr("cCsSiIlL", arrow->index) && arrow->index &&
        !schema->dictionary->dictionary)
        return read_values(arrow, schema->dictionary->format);
    PyErr_Format(PyExc_TypeError, "a dictionary in Arrow has integers, not format '%s'",
                 schema->format);
    return -1;
}

static int open_array(struct arrow *arrow)
{
    const struct ArrowSchema *schema = NULL;

    if (PyTuple_Check(arrow->capsules) && PyTuple_Size(arrow->capsules) == 2) {
        schema = PyCapsule_GetPointer(PyTuple_GetItem(arrow->capsules, 0), "arrow_schema");
        arrow->array = PyCapsule_GetPointer(PyTuple_GetItem(arrow->capsules, 1), "arrow_array");
    } else {
        PyErr_SetString(PyExc_TypeError, "__arrow_c_array__() has not returned a pair of capsules");
    }
    if (!schema || !arrow->array || read_schema(arrow, schema) < 0) return -1;
    return look_through(arrow);
}

static int open_stream(struct arrow *arrow)
{
    struct ArrowSchema schema = {.release = NULL};
    int rc;

    arrow->stream = PyCapsule_GetPointer(arrow->capsules, "arrow_array_stream");
    if (!arrow->stream) return -1;
    if (arrow->stream->get_schema(arrow->stream, &schema) != 0) {
        PyErr_SetString(PyExc_ValueError, "the Arrow stream has no schema");
        return -1;
    }
    rc = read_schema(arrow, &schema);
    if (schema.release) schema.release(&schema);
    return rc < 0 ? -1 : next_array(arrow) < 0 ? -1 : 0;
}

/* The result of the object's method, or NULL: with an exception, or because there is no such
 * method. */
static PyObject *capsules_of(PyObject *object, const char *method)
{
    PyObject *bound = PyObject_GetAttrString(object, method), *result = NULL;

    if (!bound && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    if (bound) result = PyObject_CallNoArgs(bound);
    Py_XDECREF(bound);
    return result;
}

int source_of_arrow(struct source *source, PyObject *object)
{
    struct arrow *arrow;
    PyObject *capsules;
    bool is_stream = false;

    if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) return 0;
    capsules = capsules_of(object, "__arrow_c_array__");
    if (!capsules && !PyErr_Occurred()) {
        capsules = capsules_of(object, "__arrow_c_stream__");
        is_stream = true;
    }
    if (!capsules) return PyErr_Occurred() ? -1 : 0;
    arrow = PyMem_Calloc(1, sizeof *arrow);
    if (!arrow) {
        Py_DECREF(capsules);
        PyErr_NoMemory();
        return -1;
    }
    arrow->capsules = capsules;
    source->own = arrow;
    source->type = &arrow_type; /* so that source_clear() gives it back */
    if ((is_stream ? open_stream(arrow) : open_array(arrow)) < 0) return -1;
    source->hint = arrow->array ? (Py_ssize_t)arrow->array->length : 0;
    return 1;
}
