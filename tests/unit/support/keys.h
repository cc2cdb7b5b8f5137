/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keys.h: keys that are known by a number.
 *
 * key_... and keys_...: the number's own 8 bytes.  text_... and texts_...: what random_key() makes
 * of it, 20 characters.
 */
#ifndef TAMIS_UNIT_KEYS_H
#define TAMIS_UNIT_KEYS_H

#include "fixture.h"

/* What tamis_filter_add() and tamis_filter_contains() return for one key. */
int key_add(tamis_filter *filter, uint64_t number);
int key_has(tamis_filter *filter, uint64_t number);
int text_add(tamis_filter *filter, uint64_t number);
int text_has(tamis_filter *filter, uint64_t number);

/* Add the keys from .. end - 1, each without an error; returns how many were new. */
uint64_t keys_add(tamis_filter *filter, uint64_t from, uint64_t end);
uint64_t texts_add(tamis_filter *filter, uint64_t from, uint64_t end);

/* How many of the keys from .. end - 1 are answered with yes, none with an error. */
uint64_t keys_found(tamis_filter *filter, uint64_t from, uint64_t end);
uint64_t texts_found(tamis_filter *filter, uint64_t from, uint64_t end);

/* One exception by hand more, or less: how many it was, 0 or 1, without an error. */
int64_t key_except(tamis_store *store, const char *name, uint64_t number);
int64_t key_unexcept(tamis_store *store, const char *name, uint64_t number);

#endif
