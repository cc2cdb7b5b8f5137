/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * encoding.h: what the first bytes of a text say of the rest.
 *
 * A key is bytes. The lines of a UTF-16 text are no keys that anybody asks for, and a byte order
 * mark makes the first key one that nobody asks for.
 */
#pragma once

#include <stddef.h>

#define ENCODING_MARK_BYTES 3 /* EF BB BF, the byte order mark of UTF-8 */

/* So many bytes tell all of it, unless the first line is shorter. */
#define ENCODING_LOOK_BYTES 4

enum encoding { ENCODING_BYTES, ENCODING_MARK, ENCODING_UTF16, ENCODING_UTF32 };

enum encoding encoding_of(const char *text, size_t bytes);
