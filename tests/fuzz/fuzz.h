/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz.h: what a fuzz target defines, and how it says that something is wrong. */
#ifndef TAMIS_TESTS_FUZZ_H
#define TAMIS_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Fuzzers look for crashes, so a wrong result is made one. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
