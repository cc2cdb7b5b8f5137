/* SPDX-License-Identifier: BSD-2-Clause */
/* errors.c: how errors of the library become exceptions, whose classes the module's state has. */
#include <string.h>

#include "module.h"

struct state *state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

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

/* Whether the exception has no answers of another call, and takes these.  No code of its class
 * runs: one that refuses new attributes takes this one. */
static bool takes_answers(PyObject *error, PyObject *answers)
{
    PyObject *name = PyUnicode_FromString("answers"), *old = NULL;
    bool has_taken = false;

    if (name) old = PyObject_GetAttr(error, name);
    PyErr_Clear();
    if (name && (!old || old == Py_None))
        has_taken = PyObject_GenericSetAttr(error, name, answers) == 0;
    PyErr_Clear();
    Py_XDECREF(name);
    Py_XDECREF(old);
    return has_taken;
}

void give_answers(PyObject *module, PyObject *answers)
{
    PyObject *type, *error, *traceback, *other;

    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback) (void)PyException_SetTraceback(error, traceback);
    if (!answers || takes_answers(error, answers)) {
        PyErr_Restore(type, error, traceback);
        Py_XDECREF(answers);
        return;
    }
    other = PyObject_CallFunctionObjArgs(state_of(module)->with_answers, error, answers, NULL);
    /* A second Ctrl-C may have ended that call. */
    if (!other) {
        PyObject *type_of_other, *traceback_of_other;
        PyErr_Fetch(&type_of_other, &other, &traceback_of_other);
        PyErr_NormalizeException(&type_of_other, &other, &traceback_of_other);
        Py_XDECREF(type_of_other);
        Py_XDECREF(traceback_of_other);
        (void)takes_answers(other, answers);
    }
    PyErr_SetObject((PyObject *)Py_TYPE(other), other);
    Py_DECREF(other);
    Py_DECREF(answers);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
}

PyObject *raise_closed(PyObject *module, const char *what)
{
    PyObject *class = module ? state_of(module)->closed_error : PyExc_ValueError;

    return PyErr_Format(class, "the %s is closed", what);
}
