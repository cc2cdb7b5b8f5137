/* SPDX-License-Identifier: BSD-2-Clause */
/* print.h: operations as a program in C that carries them out and says what comes of each. */
#pragma once

#include "ops.h"

void print_program(const struct op *ops, uint32_t count, uint64_t seed, const char *complaint);
