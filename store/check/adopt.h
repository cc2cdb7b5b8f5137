/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * adopt.h: files in segments/ that no list of a sound catalog has.
 *
 *     of another store, or newer than the catalog    left alone, and reported
 *     of a list that lacks it                        taken into that list
 *     of a filter that the catalog does not have     the filter is entered into the catalog
 *     of a filter that was dropped, replaced,        put aside (lost.h)
 *     or made by a process that died
 */
#pragma once

#include "check/rescue.h"

/*
 * Decides about each of them.  in_lists: numbers, sorted, of what the lists have; garbage:
 * likewise, what the next writer removes.  Returns how many changes the caller has to commit, or an
 * error. After the commit the caller calls tamis__rescue_tell().  `rescue` begins as zeros, but for
 * `repair` and, unless nothing is to be written, `txn`.
 */
int tamis__adopt(struct tamis__rescue_work *rescue, struct tamis__catalog_txn *txn,
                 const struct tamis__numbers *in_lists, const struct tamis__numbers *garbage);
