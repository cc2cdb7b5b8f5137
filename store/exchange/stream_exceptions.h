/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream_exceptions.h: the exceptions of a filter in a stream of format `tamis`, behind the data.
 * They stand in the order of their bytes, each key once.
 */
#pragma once

#include "exceptions/set.h"
#include "exchange/exchange.h"

/* The fewest bytes that an exception takes: those of the empty key. */
#define TAMIS__STREAM_EXCEPTION_BYTES 8u
/* What stands before each key. */
#define TAMIS__EXCEPTION_FIELDS(FIELD, s)                                                          \
    FIELD(s, 0, uint32_t, bytes, , "bytes of the key, which follows; at most 65535")               \
    FIELD(s, 4, uint32_t, how, , "1 set by hand, 2 found by the build, 3 both")
TAMIS__FILE_STRUCT(tamis__stream_exception, TAMIS__EXCEPTION_FIELDS, TAMIS__STREAM_EXCEPTION_BYTES);

/* Reads `count` exceptions into an empty set, and adds their bytes to the sum.  The memory that
 * this takes grows with what the stream has, not with what it says that it has. */
int tamis__stream_load_exceptions(struct tamis__reader *reader, uint64_t count,
                                  struct tamis__sum *sum, struct tamis__exceptions *set);
int tamis__stream_save_exceptions(const struct tamis__segment *index, struct tamis__writer *writer);
