/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * others.h: do others use the store, or a filter of it?
 *
 * Each server has a shared lock on the directory of its store while it runs.  Who gets the lock for
 * itself is the only server of the store.  A process that has a filter open has its files open or
 * mapped, which the kernel tells by a lease for writing (fcntl(2)): it gives one only on a file
 * that nobody else has open.
 *
 * Small filters share a file, a drawer.  Who writes to one has a lock on a byte of its own there
 * (docs/format.md 3.8).  Who only reads has no lock.  So of a drawer that another process has open
 * it cannot be told whose filter that process uses.
 */
#pragma once

#include <stdbool.h>

#include "tamis.h"

/* Takes the shared lock, if this server has not got it yet.  Called now and then. */
void others_see_us(void);
/* Is this the only server that runs on the store?  False if it cannot be told. */
bool others_are_none(void);
/* Has another process the filter open?  USED_PERHAPS: it has one in the same drawer open, and may
 * be done with it soon.  This process must not have the filter open; what it has open of the drawer
 * is closed (handles.h).  USED if it cannot be told. */
enum use { UNUSED, USED, USED_PERHAPS };
enum use others_use(const char *filter);
