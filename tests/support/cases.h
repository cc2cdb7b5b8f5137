/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cases.h: a case of a test program is written once, and registers itself; cases.c has main().
 *
 *     CASE(header_truncated_is_refused)
 *     {
 *         assert_int_equal(...);
 *     }
 *
 * Cases run in the order in which they stand in the file.  `program 'header_*'` runs those whose
 * names match.
 */
#ifndef TAMIS_SUPPORT_CASES_H
#define TAMIS_SUPPORT_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void cases_add(const struct CMUnitTest *test);

/* Ends the case: what it needs is not here, and `why` says what.  A program that skips all of its
 * cases ends with the status that ctest lists as skipped. */
void cases_skip(const char *why);

/* A case; one with a setup and a teardown of cmocka's (either may be NULL), which knows their
 * `state`; and one that knows what they have in *state as its `parameter`. */
#define CASE(name)                                                                                 \
    CASES_REGISTER_(name, NULL, NULL)                                                              \
    static void name(__attribute__((unused)) void **no_state)
#define CASE_WITH(name, setup, teardown)                                                           \
    CASES_REGISTER_(name, setup, teardown)                                                         \
    static void name(__attribute__((unused)) void **state)

#define CASE_OF(name, setup, teardown, parameter)                                                  \
    static void name##_body(parameter);                                                            \
    CASE_WITH(name, setup, teardown)                                                               \
    {                                                                                              \
        name##_body(*state);                                                                       \
    }                                                                                              \
    static void name##_body(__attribute__((unused)) parameter)

#define CASES_REGISTER_(name, setup, teardown)                                                     \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void name##_add(void)                                      \
    {                                                                                              \
        cases_add(&(const struct CMUnitTest){#name, name, (setup), (teardown), NULL});             \
    }

/* The body that follows runs once, before the first case. */
#define CASES_PREPARE                                                                              \
    static void cases_own_preparation(void);                                                       \
    __attribute__((constructor)) static void cases_add_preparation(void)                           \
    {                                                                                              \
        cases_prepare_with(cases_own_preparation);                                                 \
    }                                                                                              \
    static void cases_own_preparation(void)
void cases_prepare_with(void (*prepare)(void));

#endif
