/* SPDX-License-Identifier: BSD-2-Clause */
/* loaders.h: what the fuzz targets of the module's loaders have in common. */
#ifndef TAMIS_TESTS_LOADERS_H
#define TAMIS_TESTS_LOADERS_H

#include "fake_server.h"
#include "fuzz.h"

/* No command may ask for a larger filter here. */
#define LOADERS_MAX_BYTES ((uint64_t)32 << 20)

/* Loads the module, the first time; `loading`: the targets load dumps, and the store has a filter
 * of others since before. */
void loaders_begin(bool loading);
/* What was asked for since fake_account_begin() follows from so many bytes of input, and from
 * `more` that a command may ask for. */
void loaders_judge(size_t bytes, uint64_t more);
/* Asks, adds to, saves and deletes the key; then nothing is left, in memory or in the store.
 * `loaded`: the input was taken, all of it. */
void loaders_end(bool loaded);
/* How many inputs were. */
extern unsigned loaders_loaded;

/* Puts the checksums of a stream of format tamis right, as otherwise nothing that is wrong gets
 * past them: that of its head, and that of all of it unless `head_only`. */
void loaders_seal(uint8_t *stream, size_t bytes, bool head_only);

/* A payload: byte 0 has flags, 1 and 2 the encoding, and the rest is the body of RESTORE behind the
 * id of the type. */
#define LOADERS_CUCKOO 1u
#define LOADERS_SEAL 2u
#define LOADERS_VALKEY 8u /* the type of valkey-bloom */
void loaders_payload(const uint8_t *data, size_t bytes, bool loading);

#endif
