/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hidden.h: a variable that is used in the library alone, so it is reached without a look into a
 * table of addresses.
 *
 * With the test points (point.h) tests use it too, and the library may be a shared one
 * (TAMIS_FOR_MUTANTS of CMakeLists.txt).
 */
#pragma once

#ifdef TAMIS_TEST_POINTS
#define TAMIS__HIDDEN
#else
#define TAMIS__HIDDEN __attribute__((visibility("hidden")))
#endif
