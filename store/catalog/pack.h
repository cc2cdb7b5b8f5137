/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.h: the short form of a record, in which words that are 0 take no room (docs/format.md,
 * 2.3). */
#pragma once

#include "base/base.h"

/* Packs at most 64 words, and returns the bytes that were written: a word that says which of them
 * are not 0, and these. */
size_t tamis__pack(const void *record, size_t bytes, void *packed);
/* Returns the bytes of the record, or 0 if `packed` does not have as many words as its first one
 * says, or if these are more than `most` bytes. */
size_t tamis__unpack(const void *packed, size_t bytes, void *record, size_t most);
