/* SPDX-License-Identifier: BSD-2-Clause */
/* many.h: the methods of Filter that take many keys. */
#pragma once

#include "module.h"

PyObject *filter_add_many(PyObject *self, PyObject *keys);
PyObject *filter_contains_many(PyObject *self, PyObject *keys);
PyObject *filter_remove_many(PyObject *self, PyObject *keys);
PyObject *filter_count_many(PyObject *self, PyObject *keys);
PyObject *filter_update(PyObject *self, PyObject *keys);
