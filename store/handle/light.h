/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * light.h: copies of small filters that are not open (light.c), for those who write them out or
 * tell what they have.
 */
#pragma once

#include "segment/cabinet.h"
#include "txn/store.h"

struct tamis_cabinet {
    struct tamis_store *store; /* a reference */
    struct tamis__cabinet drawers;
    struct tamis__peek *look; /* at the catalog, without its lock; NULL: none yet */
    unsigned char *piece;     /* TAMIS__PIECE_BYTES for who writes filters out; NULL: none yet */
};

/* A sheet as somebody read it, checked, and what a segment of plain memory has of it. */
struct tamis__sheet_copy {
    _Alignas(64) uint64_t words[TAMIS__SHEET_BYTES_MAX / 8]; /* blocks are read as in the drawer */
    struct tamis__segment_header header;                     /* constant part */
    struct tamis__segment segment;                           /* of these words */
};

/*
 * Copies the only segment of a filter that is not open.  It was the whole filter at a moment of
 * this call, and the record is of that moment; bits that come in meanwhile may be in the copy.
 * Nobody is waited for.
 *
 * created_at   as in tamis_light_find()
 * Returns 1, or 0: the filter must be opened.
 */
int tamis__light_copy_named(struct tamis_cabinet *cabinet, const char *name, int64_t created_at,
                            struct tamis__record *record, struct tamis__sheet_copy *copy);
/* The same of a light handle: it is the whole filter, or was when the call began. */
int tamis__light_copy(struct tamis_cabinet *cabinet, const struct tamis_light *light,
                      struct tamis__sheet_copy *copy);
/* Asks the copy for keys.  Returns 1, or 0: only an open filter can be asked. */
int tamis__light_ask_copy(const struct tamis__sheet_copy *copy, const struct tamis_key *keys,
                          size_t count, uint8_t *answers);
