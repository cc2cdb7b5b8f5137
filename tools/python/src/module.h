/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module.h: what the files of tamis._tamis share: the module's state, its objects, and errors.
 *
 * This extension is the part of `tamis` that must be fast or must hold a handle of the library. The
 * classes that users see are in ../tamis/, in Python: they derive from Store, Filter and Build
 * here.
 *
 * Every object begins as a closed one, without a handle, and the functions store_open(),
 * filter_open() and build_open() of the module open it.  So an object that was made past its class,
 * or whose opening has failed, is refused like a closed one.
 *
 * CLOSE.  The library forbids to close a handle beside another call on it.  So each call counts
 * itself in `running` of the object's struct use, and close() marks the object closed; if calls are
 * running then the last of them closes the handle.
 *
 * WITHOUT THE GIL.  A free-threaded Python (3.13t and later) runs all of this in several threads at
 * once.  What may change in an object after its first call is in its struct use, which only the
 * use_*() functions read and write, under the lock that such a Python has for each object;
 * elsewhere the GIL is that lock.  Who has called use_begin() may read the handle, and the module,
 * which are set before the first use can begin and stay until the last one has ended.
 * The module does not say Py_MOD_GIL_NOT_USED, so such a Python turns the GIL on: this has not been
 * tried for long enough.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <pyconfig.h>
#if !defined Py_LIMITED_API && !defined Py_GIL_DISABLED /* which has no stable ABI */
#define Py_LIMITED_API 0x030B0000 /* one binary for Python 3.11 and all later ones */
#endif
#include <Python.h>
#include <stdbool.h>

#include <tamis.h>

/* The slots of a type hold functions as void *, which ISO C does not know and POSIX does. */
#pragma GCC diagnostic ignored "-Wpedantic"

struct state {
    PyTypeObject *store_type;
    PyTypeObject *filter_type;
    PyTypeObject *build_type;
    PyObject *by_code; /* dict: code -> class, of tamis._errors */
    PyObject *error;   /* the base class, for a code that this version does not know */
    PyObject *closed_error;
    PyObject *with_answers; /* a function of tamis._errors */
};

struct use {
    PyObject *module; /* NULL before the object is opened */
    void *handle;
    unsigned running; /* calls; of a store builds too */
    bool is_closed;
};

struct store_object {
    PyObject ob_base;
    struct use use; /* its handle is a tamis_store */
};

struct filter_object {
    PyObject ob_base;
    struct use use;  /* its handle is a tamis_filter */
    bool is_durable; /* each add waits for the disk, so it gives up the GIL */
};

struct build_object {
    PyObject ob_base;
    struct use use;             /* its handle is a tamis_build */
    struct store_object *store; /* counted in its `running`: it cannot close before the build */
    PyObject *spec;             /* its texts are read until the build is closed */
    bool was_interrupted;       /* by an exception of a signal's handler, so it is closed */
};

/* Runs a statement, which waits for nothing, under the lock of the object. */
#ifdef Py_GIL_DISABLED
#define LOCKED(object, statement)                                                                  \
    do {                                                                                           \
        Py_BEGIN_CRITICAL_SECTION(object);                                                         \
        statement;                                                                                 \
        Py_END_CRITICAL_SECTION();                                                                 \
    } while (0)
#else
#define LOCKED(object, statement)                                                                  \
    do {                                                                                           \
        (void)(object);                                                                            \
        statement;                                                                                 \
    } while (0)
#endif

/* The object is opened by this call and by no other: 0, or -1 with an exception. */
int use_claim(PyObject *object, struct use *use, PyObject *module, const char *what);
/* Its handle, which may be NULL where opening has failed. */
void use_open(PyObject *object, struct use *use, void *handle);
/* Counts a call.  Returns the handle; NULL: there is none. */
void *use_begin(PyObject *object, struct use *use);
/* Each returns NULL, or the handle, which the object has lost and the caller is to close. */
void *use_end(PyObject *object, struct use *use);
void *use_close(PyObject *object, struct use *use);
bool use_is_over(PyObject *object, struct use *use);
PyObject *use_module(PyObject *object, struct use *use);

/* Runs a statement without the GIL. */
#define WITHOUT_GIL(statement)                                                                     \
    do {                                                                                           \
        PyThreadState *released = PyEval_SaveThread();                                             \
        statement;                                                                                 \
        PyEval_RestoreThread(released);                                                            \
    } while (0)

struct state *state_of(PyObject *module);

/* Raises the exception of a code, with the library's sentence; returns NULL. */
PyObject *raise_error(PyObject *module, int code);

/* Gives the exception that is set an attribute `answers`: what a call for many keys had answered
 * before it.  Takes the reference; of NULL, which could not be made, the exception gets none. */
void give_answers(PyObject *module, PyObject *answers);

/* None; of a code below 0 its exception.  An exception that is set already, by a callable or by the
 * handler of a signal, stands before that. */
PyObject *none_or_error(PyObject *module, int rc);

/* Raises ClosedError; returns NULL. */
PyObject *raise_closed(PyObject *module, const char *what);

/* Counts a call.  Returns the handle; NULL with an exception if there is none. */
tamis_store *store_enter(struct store_object *self);
void store_leave(struct store_object *self);
tamis_filter *filter_enter(struct filter_object *self);
void filter_leave(struct filter_object *self);
/* Each closes a handle, which may be NULL, without the GIL; the object has lost it before. */
void store_close_handle(tamis_store *handle);
int filter_close_handle(tamis_filter *handle);
/* The same, and reports an error of that as Python does where nobody can catch it.  Of a filter
 * that was dropped, or whose store was removed, nothing is left that could be lost. */
void filter_close_quietly(struct filter_object *self, tamis_filter *handle);

/* The callback of a store: an add that waits under the GIL gives it up (filter.c). */
int give_up_gil(void *context, int64_t waited_ms, int64_t holder);

extern PyType_Spec store_spec, filter_spec, build_spec;

/* Functions of the module. */
PyObject *store_open(PyObject *module, PyObject *arguments);
PyObject *filter_open(PyObject *module, PyObject *arguments);
PyObject *build_open(PyObject *module, PyObject *arguments);
PyObject *module_shard(PyObject *module, PyObject *arguments);
PyObject *module_shard_many(PyObject *module, PyObject *arguments);

/* The methods of Filter that take many keys (many.c). */
PyObject *filter_add_many(PyObject *self, PyObject *keys);
PyObject *filter_contains_many(PyObject *self, PyObject *keys);
PyObject *filter_remove_many(PyObject *self, PyObject *keys);
PyObject *filter_count_many(PyObject *self, PyObject *keys);
PyObject *filter_update(PyObject *self, PyObject *keys);

/* Filter._export(write, format, flags) */
PyObject *filter_export(PyObject *self, PyObject *arguments);
/* Store._import(read, name, format, hash_set, m_bits, k, capacity, fp_rate) */
PyObject *store_import(PyObject *self, PyObject *arguments);
PyObject *store_publish(PyObject *self, PyObject *arguments);

/* Of heap types: the type is visited, and let go after the object. */
int visit_type(PyObject *self, visitproc visit, void *arg);
void free_object(PyObject *self);
