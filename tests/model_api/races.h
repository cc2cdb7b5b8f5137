/* SPDX-License-Identifier: BSD-2-Clause */
/* races.h: processes and threads that race on one store, judged by what must hold in any order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One race, from a seed.  False: `complaint` says what does not hold. */
bool race(uint64_t seed, char *complaint, size_t bytes);
