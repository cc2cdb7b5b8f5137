/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * many.c: add_many() and the like: keys go through the library in chunks, without the GIL.
 *
 * Answers are a byte for each key.  Whatever ends a call before its last key, of the library, of
 * the caller's iterable or a signal, gets the answers so far as its attribute `answers`: a byte for
 * each key that went to the library, TAMIS_ANSWER_REFUSED for those of the last chunk that were not
 * dealt with.  Nobody is told again that a key was new, so these must not be lost.
 *
 * update() returns a number alone and may take a stream without end, so it keeps answers for that
 * purpose up to UPDATE_ANSWERS keys.
 */
#include "source.h"

/* A chunk of fewer keys is over before another thread could have begun; see filter.c. */
#define RELEASE_KEYS 64
#define UPDATE_ANSWERS ((size_t)1 << 24)

typedef int64_t batch_call(tamis_filter *filter, const struct tamis_key *keys, size_t count,
                           uint8_t *answers);

struct answers {
    uint8_t *bytes; /* NULL if none are kept any more */
    size_t count, room, limit;
};

/* Makes room for the answers of another chunk.  Beyond the limit it drops all answers.  Returns 0,
 * or -1 with an exception. */
static int grow_answers(struct answers *answers)
{
    uint8_t *bytes;
    size_t room;

    if (answers->limit - answers->count < CHUNK_KEYS) {
        PyMem_Free(answers->bytes);
        answers->bytes = NULL;
        answers->room = answers->limit = answers->count = 0;
        return 0;
    }
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

/* The answers as bytes; None if they were dropped. */
static PyObject *answers_of(const struct answers *answers)
{
    if (answers->limit == 0) return Py_NewRef(Py_None);
    return PyBytes_FromStringAndSize((const char *)answers->bytes, (Py_ssize_t)answers->count);
}

static int64_t call_chunk(struct filter_object *self, batch_call *call,
                          const struct tamis_key *keys, size_t count, uint8_t *answers)
{
    PyThreadState *released = NULL;
    int64_t done;

    if (count >= RELEASE_KEYS || self->is_durable) released = PyEval_SaveThread();
    done = call(self->use.handle, keys, count, answers);
    if (released) PyEval_RestoreThread(released);
    return done;
}

/* Hands all keys of the source to the call, chunk by chunk.  Returns how many answers were 1; -1
 * with an exception. */
static int64_t call_chunks(struct filter_object *self, batch_call *call, struct source *source,
                           struct answers *answers)
{
    int64_t ones = 0, done;
    Py_ssize_t count;

    while ((count = source->type->next(source)) > 0) {
        if (grow_answers(answers) < 0 || !filter_enter(self)) return -1;
        done = call_chunk(self, call, source->keys, (size_t)count,
                          answers->bytes ? answers->bytes + answers->count : NULL);
        if (done < 0)
            raise_error(self->use.module, (int)done); /* filter_leave() may close the handle, which
                                                         has a sentence of its own */
        filter_leave(self);
        if (answers->bytes) answers->count += (size_t)count;
        if (done < 0 || PyErr_CheckSignals() < 0) return -1;
        ones += done;
    }
    return count < 0 ? -1 : ones;
}

static void guess_room(struct answers *answers, Py_ssize_t hint)
{
    if (hint <= 0 || (size_t)hint > answers->limit / 2) return;
    answers->room = (size_t)hint + CHUNK_KEYS;
    answers->bytes = PyMem_Malloc(answers->room);
    if (!answers->bytes) answers->room = 0; /* the hint may be wrong; grow_answers() tries again */
}

/* Returns the answers as bytes if they are wanted, else how many of them were 1. */
static PyObject *call_many(PyObject *object, batch_call *call, PyObject *keys, bool wants_answers)
{
    struct filter_object *self = (struct filter_object *)object;
    struct answers answers = {.limit = wants_answers ? PY_SSIZE_T_MAX : UPDATE_ANSWERS};
    struct source source;
    PyObject *result = NULL;
    int64_t ones = -1;

    if (!filter_enter(self)) return NULL;
    if (source_init(&source, keys) == 0) {
        guess_room(&answers, source.hint);
        ones = call_chunks(self, call, &source, &answers);
        source_clear(&source);
    }
    if (ones >= 0) result = wants_answers ? answers_of(&answers) : PyLong_FromLongLong(ones);
    if (!result) give_answers(self->use.module, answers_of(&answers));
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
            done = tamis_filter_count_batch(self->use.handle, source->keys, (size_t)count, counts));
        filter_leave(self);
        if (done < 0) raise_error(self->use.module, (int)done);
        if (done < 0 || append_counts(list, counts, count) < 0 || PyErr_CheckSignals() < 0)
            return -1;
    }
    return count < 0 ? -1 : 0;
}

PyObject *filter_count_many(PyObject *object, PyObject *keys)
{
    struct filter_object *self = (struct filter_object *)object;
    struct source source;
    PyObject *list;
    int rc;

    if (!filter_enter(self)) return NULL;
    list = PyList_New(0);
    rc = list ? source_init(&source, keys) : -1;
    if (rc == 0) {
        rc = count_chunks(self, &source, list);
        source_clear(&source);
    }
    if (rc < 0 && list) give_answers(self->use.module, list);
    filter_leave(self);
    return rc < 0 ? NULL : list;
}
