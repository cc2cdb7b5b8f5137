/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * many.c: add_many() and the like: keys go through the library in chunks, without the GIL.
 *
 * Answers are a byte for each key.  If a chunk fails, the exception has the answers so far, and
 * those of this chunk with TAMIS_ANSWER_REFUSED for what was not dealt with: nobody is told again
 * that a key was new.
 */
#include "source.h"

/* A chunk of fewer keys is over before another thread could have begun; see filter.c. */
#define RELEASE_KEYS 64

typedef int64_t batch_call(tamis_filter *filter, const struct tamis_key *keys, size_t count,
                           uint8_t *answers);

struct answers {
    uint8_t *bytes; /* NULL if nobody wants them */
    size_t count, room;
};

/* Room for a chunk more.  Returns 0, or -1 with an exception. */
static int make_room(struct answers *answers)
{
    uint8_t *bytes;
    size_t room;

    if (answers->room - answers->count >= CHUNK_KEYS) return 0;
    room = 2 * answers->room + CHUNK_KEYS;
    bytes = PyMem_Realloc(answers->bytes, room);
    if (!bytes) {
        PyErr_NoMemory();
        return -1;
    }
    answers->bytes = bytes;
    answers->room = room;
    return 0;
}

static int64_t call_chunk(struct filter_object *self, batch_call *call,
                          const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    PyThreadState *released = NULL;
    int64_t done;

    if (count >= RELEASE_KEYS || self->is_durable) released = PyEval_SaveThread();
    done = call(self->handle, keys, count, answers);
    if (released) PyEval_RestoreThread(released);
    return done;
}

/* The number of ones; -1 with an exception. */
static int64_t call_chunks(struct filter_object *self, batch_call *call, struct source *source,
                           struct answers *answers, bool wants_answers)
{
    int64_t ones = 0, done;
    Py_ssize_t count;

    while ((count = source->type->next(source)) > 0) {
        if (wants_answers && make_room(answers) < 0) return -1;
        if (!filter_enter(self)) return -1;
        done = call_chunk(self, call, source->keys, (size_t)count,
                          wants_answers ? answers->bytes + answers->count : NULL);
        filter_leave(self);
        answers->count += (size_t)count;
        if (done < 0) {
            if (wants_answers)
                raise_with_answers(self->module, (int)done, answers->bytes, answers->count);
            else
                raise_error(self->module, (int)done);
            return -1;
        }
        ones += done;
        if (PyErr_CheckSignals() < 0) return -1;
    }
    return count < 0 ? -1 : ones;
}

/* With answers: bytes.  Without: how many ones. */
static PyObject *call_many(PyObject *object, batch_call *call, PyObject *keys, bool wants_answers)
{
    struct filter_object *self = (struct filter_object *)object;
    struct answers answers = {.bytes = NULL};
    struct source source;
    PyObject *result = NULL;
    int64_t ones = -1;

    if (!filter_enter(self)) return NULL;
    if (source_init(&source, keys) < 0) goto out;
    if (wants_answers && source.hint > 0 && source.hint < PY_SSIZE_T_MAX / 2) {
        answers.room = (size_t)source.hint + CHUNK_KEYS;
        answers.bytes = PyMem_Malloc(answers.room);
        if (!answers.bytes) answers.room = 0; /* the hint may be wrong; make_room() tries again */
    }
    ones = call_chunks(self, call, &source, &answers, wants_answers);
    source_clear(&source);
    if (ones >= 0)
        result = wants_answers ? PyBytes_FromStringAndSize((const char *)answers.bytes,
                                                           (Py_ssize_t)answers.count)
                               : PyLong_FromLongLong(ones);
out:
    PyMem_Free(answers.bytes);
    filter_leave(self);
    return result;
}

PyObject *filter_add_many(PyObject *self, PyObject *keys)
{
    return call_many(self, tamis_filter_add_batch, keys, true);
}

PyObject *filter_contains_many(PyObject *self, PyObject *keys)
{
    return call_many(self, tamis_filter_contains_batch, keys, true);
}

PyObject *filter_remove_many(PyObject *self, PyObject *keys)
{
    return call_many(self, tamis_filter_remove_batch, keys, true);
}

PyObject *filter_update(PyObject *self, PyObject *keys)
{
    return call_many(self, tamis_filter_add_batch, keys, false);
}

/* ---- Counts ------------------------------------------------------------------------------- */

/* Appends the counts of a chunk.  Returns 0, or -1 with an exception. */
static int append_counts(PyObject *list, const uint64_t *counts, Py_ssize_t count)
{
    PyObject *number;
    Py_ssize_t i;
    int rc = 0;

    for (i = 0; i < count && rc == 0; i++) {
        number = PyLong_FromUnsignedLongLong(counts[i]);
        rc = number ? PyList_Append(list, number) : -1;
        Py_XDECREF(number);
    }
    return rc;
}

static int count_chunks(struct filter_object *self, struct source *source, PyObject *list)
{
    uint64_t counts[CHUNK_KEYS];
    Py_ssize_t count;
    int64_t done;

    while ((count = source->type->next(source)) > 0) {
        if (!filter_enter(self)) return -1;
        WITHOUT_GIL(
            done = tamis_filter_count_batch(self->handle, source->keys, (size_t)count, counts));
        filter_leave(self);
        if (done < 0) raise_error(self->module, (int)done);
        if (done < 0 || append_counts(list, counts, count) < 0 || PyErr_CheckSignals() < 0)
            return -1;
    }
    return count < 0 ? -1 : 0;
}

PyObject *filter_count_many(PyObject *object, PyObject *keys)
{
    struct filter_object *self = (struct filter_object *)object;
    struct source source;
    PyObject *list = PyList_New(0);

    if (!list) return NULL;
    if (source_init(&source, keys) < 0) {
        Py_DECREF(list);
        return NULL;
    }
    if (count_chunks(self, &source, list) < 0) Py_CLEAR(list);
    source_clear(&source);
    return list;
}
