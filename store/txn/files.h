/* SPDX-License-Identifier: BSD-2-Clause */
/* files.h: lists and removes the files of a filter, or of one generation of it. */
#pragma once

#include "txn/store.h"

/* Numbers of segments; free() the list. */
struct tamis__numbers {
    uint64_t *list;
    size_t count, room;
};
int tamis__numbers_append(struct tamis__numbers *numbers, uint64_t number);
/* Appends the files of a record to a struct tamis__numbers: its segments, its spares and the index
 * of its exceptions.  It is also for tamis__catalog_each() and _each_generation(). */
int tamis__numbers_append_files(void *numbers, const struct tamis__record *record);
/* Notes a segment as garbage, and as a file to be unlinked after the commit. */
int tamis__remove_later(struct tamis__catalog_txn *txn, struct tamis__numbers *files,
                        uint64_t number);
/* Unlinks the files.  One that cannot be unlinked stays noted as garbage, for the next writer. */
void tamis__remove_files(struct tamis_store *store, struct tamis__numbers *files);

/* Lists all files of a filter: the list in force, the kept generations, and their indexes of
 * exceptions. */
int tamis__list_files(struct tamis__catalog_txn *txn, const struct tamis__record *record,
                      struct tamis__numbers *files);

/* Forgets a filter that is dropped, and its kept generations.  Notes all of its segments as
 * garbage, those in force too.  `files` are to be unlinked after the commit. */
int tamis__forget_all(struct tamis__catalog_txn *txn, const struct tamis__record *record,
                      struct tamis__numbers *files);

/* The kept generations of a filter; free() the list. */
struct tamis__kept {
    struct {
        uint64_t generation, publication;
    } * list;
    size_t count, room;
};

/* For tamis__catalog_each_generation(): appends to the struct tamis__kept that is the context. */
int tamis__note_kept(void *context, const struct tamis__record *record);

/* Forgets one generation.  Its files are to be removed after the commit. */
int tamis__generation_forget(struct tamis__catalog_txn *txn, const struct tamis__record *record,
                             struct tamis__numbers *files);
/* Keeps `keep` generations and forgets the others.  Their files are to be removed after the
 * commit. */
int tamis__generations_trim(struct tamis__catalog_txn *txn, uint64_t filter_id, uint32_t keep,
                            struct tamis__numbers *files);
