/* SPDX-License-Identifier: BSD-2-Clause */
/* fields.h: between Python's values and the library's structs: a spec out of a tuple, a dict out of
 * a stat. */
#pragma once

#include "module.h"

/*
 * A spec out of a tuple, in the order of struct tamis_filter_spec: capacity, fp_rate, kind (str or
 * None), k, m_bits, hash_set (str or None), seed, on_full, slices, window_ns, window_items,
 * counter_bits, flags, secret (bytes), pages, key_rule (str or None).  None is a spec of all zero.
 * The spec's hash_set and key_rule point into the tuple.  Returns 0, or -1 with an exception.
 */
int spec_init(struct tamis_filter_spec *spec, PyObject *module, PyObject *from);

/* A new dict by the names of the fields (of a stat: those of tamis_fields.h); NULL with an
 * exception. */
PyObject *dict_of_stat(const struct tamis_filter_stat *stat);
PyObject *dict_of_generation(const struct tamis_generation_stat *stat);
PyObject *dict_of_result(const struct tamis_build_result *result);

/* Converters for "O&": a whole number that fits, else OverflowError or TypeError. */
int to_u64(PyObject *object, void *value);
int to_i64(PyObject *object, void *value);
int to_u32(PyObject *object, void *value);
