/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.h: the short form of a record, in which words that can be foretold take no room
 * (docs/format.md, 2.12). */
#pragma once

#include "base/base.h"

/* Most words of a record. */
#define TAMIS__PACK_WORDS_MAX 64u

/* The word at index `at` of a record, as far as those before it tell. */
typedef uint64_t tamis__foretell_fn(const uint64_t *record, size_t at);

/* Packs a record of `words` words, and returns the bytes that were written: a word that says which
 * of them are not as foretold, and these. */
size_t tamis__pack(const uint64_t *record, size_t words, tamis__foretell_fn *foretell,
                   void *packed);
/* Makes the record of that many words anew.  Returns false if `packed` is not what tamis__pack()
 * makes of it. */
bool tamis__unpack(const void *packed, size_t bytes, tamis__foretell_fn *foretell, uint64_t *record,
                   size_t words);
