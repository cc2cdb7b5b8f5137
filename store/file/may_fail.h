/* SPDX-License-Identifier: BSD-2-Clause */
/* may_fail.h: what each wrapper of a system call asks first, so that a test can make any of them
 * fail. */
#ifndef TAMIS_FILE_MAY_FAIL_H
#define TAMIS_FILE_MAY_FAIL_H

#include "file/io.h"

/* The error number to fail with, or 0. */
static inline int may_fail(const char *verb, const char *what)
{
#ifdef TAMIS_TEST_POINTS
    return tamis__io_hook ? tamis__io_hook(verb, what) : 0;
#else
    (void)verb;
    (void)what;
    return 0;
#endif
}

#endif
