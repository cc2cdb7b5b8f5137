/* SPDX-License-Identifier: BSD-2-Clause */
/* chunk.h: adds many keys, or asks for them, in chunks (chunk.c). */
#pragma once

#include "handle/flight.h"
#include "handle/hashed.h"

/* Does the chores that are due before these keys are added. */
int tamis__do_chores_for_chunk(struct tamis_filter *filter, struct tamis__view **view,
                               struct tamis__hashed_keys *chunk);
/* Sets answers[i] to 1 if the key need not be added: the newest slice has it, or any slice if the
 * window counts from the first add. */
void tamis__ask_known(const struct tamis__view *view, struct tamis__hashed_keys *chunk,
                      uint8_t *answers);
/*
 * Adds a chunk, or more keys to a view of one segment.  Every segment that is written to is entered
 * into the flight first, unless that is NULL.  Returns the number of new keys. *stopped is 0, or
 * why no more keys can be added (TAMIS_EBUSY, a full disk): then the keys that were added have
 * their answers, and the rest of the chunk has TAMIS_ANSWER_REFUSED.
 */
int64_t tamis__add_chunk(struct tamis_filter *filter, struct tamis__view **view,
                         struct tamis__flight *flight, struct tamis__hashed_keys *chunk,
                         uint8_t *answers, int *stopped);

/* Asks the view for at most TAMIS__CHUNK keys, or for any number if it has one segment. */
size_t tamis__contains_chunk(struct tamis__view *view, struct tamis__hashed_keys *chunk,
                             uint8_t *answers);
/* Has the newest segment so much room that a batch of `keys` keys may take room for all of them,
 * known or not? */
bool tamis__has_plenty(const struct tamis__view *view, size_t keys);
