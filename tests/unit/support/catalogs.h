/* SPDX-License-Identifier: BSD-2-Clause */
/* catalogs.h: catalogs with many records in them, made without making the filters' files. */
#ifndef TAMIS_UNIT_CATALOGS_H
#define TAMIS_UNIT_CATALOGS_H

#include "fixture.h"
#include "txn/store.h"

/* A record that the store could have made: filter `id`, with that many segments. */
void catalogs_record(struct tamis__record *record, const char *name, uint64_t id,
                     uint32_t segments);

struct tamis__catalog_txn *catalogs_begin(tamis_store *store, enum tamis__lock lock);
void catalogs_commit(struct tamis__catalog_txn *txn); /* commit and end */

/*
 * Enter filters "f<number>" for each number from `first` on; every 50th has 64 segments, so that
 * its record lies on overflow pages.  Remove those of a step again.  One transaction each.
 */
void catalogs_put_range(tamis_store *store, uint64_t first, uint64_t count);
void catalogs_forget_range(tamis_store *store, uint64_t first, uint64_t count, uint64_t step);

/* Forget what the drops have noted, as the next writer would after removing the files. */
void catalogs_clear_garbage(tamis_store *store);

/* The whole of catalog.mdb, the caller's to free. */
unsigned char *catalogs_read_file(const char *store_path, size_t *bytes);

/* Changes bit 6 of the last byte of that filter's key, wherever it stands, older pages too. */
void catalogs_damage_key(const char *path, unsigned filter);

#endif
