/* SPDX-License-Identifier: BSD-2-Clause */
/* durable.h: adding to durable filters, for add.c, and what durable.c needs of that. */
#ifndef TAMIS_STORE_DURABLE_H
#define TAMIS_STORE_DURABLE_H

#include "txn/store.h"

/* Keys of a batch that are handled together; what goes on the stack for a list of segments. */
#define TAMIS__CHUNK 1024u

/* A call between its first bit and the sync of its log: the segments whose `unlogged` it has
 * raised. */
#define TAMIS__FLIGHT_MAX 16u
struct tamis__flight {
    uint64_t numbers[TAMIS__FLIGHT_MAX];
    uint32_t count;
    uint8_t current;             /* index in numbers of the one that is written to */
    uint8_t where[TAMIS__CHUNK]; /* of each key of the chunk: the last that it was added to, as such
                                    an index */
};

/* Before a bit of the view's newest segment is set, unless it is in the flight already. */
int tamis__flight_enter(struct tamis__flight *flight, const struct tamis__view *view);

/* As tamis_filter_add() and tamis_filter_add_batch(), in a view that the caller has entered;
 * `answers` may be NULL. */
int tamis__durable_add(struct tamis_filter *filter, struct tamis__view **view, const void *key,
                       size_t key_bytes);
int64_t tamis__durable_add_batch(struct tamis_filter *filter, struct tamis__view **view,
                                 const struct tamis_key *keys, size_t count, uint8_t *answers);

/* What was merged into it has no log: bring it to the disk.  Between the two nobody is told SEEN
 * for its bits. */
void tamis__durable_begin_merge(const struct tamis__view *view);
int tamis__durable_end_merge(const struct tamis__view *view, int rc);

/* ---- add.c ---------------------------------------------------------------------------------- */

/* Chores that are due before these keys are added. */
int tamis__do_chores_for_chunk(struct tamis_filter *filter, struct tamis__view **view,
                               const struct tamis_key *keys, size_t count);
/* answers[i]: 1 where the newest slice has the key. */
void tamis__ask_newest_slice(const struct tamis__view *view, const struct tamis_key *keys,
                             size_t count, uint8_t *answers);
/*
 * Add a chunk; every segment that is written to is entered into the flight first, where that is not
 * NULL. Returns the new ones.  *stopped: 0; or why no more can be added (TAMIS_EBUSY, a full disk):
 * then what was added is answered, and the rest of the chunk is TAMIS_ANSWER_REFUSED.
 */
int64_t tamis__add_chunk(struct tamis_filter *filter, struct tamis__view **view,
                         struct tamis__flight *flight, const struct tamis_key *keys, size_t count,
                         uint8_t *answers, int *stopped);
/* TAMIS_EFULL. */
int tamis__fail_full(const struct tamis_filter *filter, const struct tamis__view *view);

#endif
