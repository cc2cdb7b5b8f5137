/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream_exceptions.h: the exceptions of a filter in a stream of format `tamis`, behind the data:
 *
 *     u32 bytes of the key, u32 how it became an exception (1 by hand, 2 found by the build, 3
 *     both), the key
 *
 * They stand in the order of their bytes, each key once.
 */
#pragma once

#include "exceptions/set.h"
#include "exchange/exchange.h"

/* The fewest bytes that an exception takes: those of the empty key. */
#define TAMIS__STREAM_EXCEPTION_BYTES 8u

/* Reads `count` exceptions into an empty set, and adds their bytes to the sum.  The memory that
 * this takes grows with what the stream has, not with what it says that it has. */
int tamis__stream_load_exceptions(struct tamis__reader *reader, uint64_t count,
                                  struct tamis__sum *sum, struct tamis__exceptions *set);
int tamis__stream_save_exceptions(const struct tamis__segment *index, struct tamis__writer *writer);
