/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base.h: what every file of the library may use: the usual headers of C, the public headers,
 * errors, checks of arguments and keys, bytes, growing arrays, and the points where tests stop.
 *
 * Each header of store/ brings it, by itself or by another header.  So a file names only the
 * headers of its own purpose.
 */
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/key.h"
#include "base/point.h"
#include "tamis.h"

/* For what the loops over keys call: a call would cost as much as the work. */
#define TAMIS__INLINE static inline __attribute__((always_inline))
