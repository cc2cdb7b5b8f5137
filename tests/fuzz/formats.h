/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * formats.h: one input through a format of the command (tools/tamis/input/format.h), in one piece
 * and in two: the keys must be the same, and all of them bytes of the text or of its scratch.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct format;

/* Takes the text apart.  `field` is as with --field; NULL: none. */
void fuzz_format(const struct format *format, const char *field, const uint8_t *data, size_t bytes);
