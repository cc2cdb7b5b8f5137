/* SPDX-License-Identifier: BSD-2-Clause */
/* open.h: the life of a handle (open.c). */
#ifndef TAMIS_HANDLE_OPEN_H
#define TAMIS_HANDLE_OPEN_H

#include "handle/view.h"

/* A handle on the filter of a record; the caller holds the catalog's lock. */
int tamis__filter_open_record(struct tamis_store *store, const struct tamis__record *record,
                              bool read_only, tamis_filter **filter);

/* After that, without the lock, of one that may write: what the machine or other handles left when
 * they went down is brought back.  Where that fails the handle is given back. */
int tamis__filter_come_up(struct tamis_store *store, tamis_filter **filter);

/* Give a handle back as it is; what closing has to do was done. */
void tamis__filter_free(struct tamis_filter *filter);

/* For struct tamis__entry, whose context is a `tamis_filter **`: open the filter that is being
 * made; with `record` NULL close it again. */
int tamis__open_entered(void *context, struct tamis_store *store,
                        const struct tamis__record *record);

#endif
