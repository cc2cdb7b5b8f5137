/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_streams.h: what the targets of the formats of store/exchange/ have in common. */
#ifndef TAMIS_TESTS_FUZZ_STREAMS_H
#define TAMIS_TESTS_FUZZ_STREAMS_H

#include "exchange/exchange.h"
#include "fuzz.h"

/*
 * Parse and load a stream, into memory.  Whatever is refused has a reason and a place inside the
 * stream.  Of what is accepted each segment got all its bytes, in order; and it comes out again:
 * byte for byte where `exact`, else at least as a stream that is accepted in turn.
 */
void fuzz_stream(const struct tamis__format *format, const uint8_t *data, size_t bytes, bool exact);

#endif
